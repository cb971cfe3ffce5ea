CREATE TABLE campaigns (
    id INTEGER PRIMARY KEY,
    verb TEXT NOT NULL,
    created INTEGER NOT NULL,             -- seconds since 1970
    seed INTEGER NOT NULL,
    configuration TEXT NOT NULL,          -- JSON: what the user asked for
    environment TEXT NOT NULL,            -- JSON: interpreter, plugins, platform, commit
    suite TEXT NOT NULL,                  -- JSON: test ids in their original order
    finished INTEGER,                     -- seconds since 1970, or null while under way
    document TEXT                         -- JSON: the result
);
CREATE TABLE failures (
    id INTEGER PRIMARY KEY,
    phase TEXT NOT NULL,
    message TEXT NOT NULL,
    place TEXT NOT NULL,
    UNIQUE (phase, message, place)
);
CREATE TABLE runs (
    id INTEGER PRIMARY KEY,
    campaign INTEGER NOT NULL REFERENCES campaigns ON DELETE CASCADE,
    isolation TEXT NOT NULL,
    attempt INTEGER NOT NULL,
    asked_hash_seed INTEGER,
    tests BLOB NOT NULL,                  -- the order: test numbers, 32 bit little endian
    hash_seed INTEGER NOT NULL,
    ending TEXT NOT NULL,
    why TEXT,                             -- for a lost run
    cpu_us INTEGER NOT NULL,
    wall_us INTEGER NOT NULL,
    plain INTEGER NOT NULL,
    finished INTEGER NOT NULL
);
CREATE INDEX runs_of_campaign ON runs (campaign);
CREATE TABLE executions (
    run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
    position INTEGER NOT NULL,
    outcome TEXT NOT NULL,
    micros INTEGER NOT NULL,
    failure INTEGER REFERENCES failures,
    PRIMARY KEY (run, position)
) WITHOUT ROWID;
