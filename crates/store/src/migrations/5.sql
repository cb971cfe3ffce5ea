-- History: what reports of test runners say, by version and run. Apart from campaigns.
CREATE TABLE history_versions (
    id INTEGER PRIMARY KEY,               -- ascending: the order in which versions came in
    name TEXT NOT NULL UNIQUE,
    created INTEGER NOT NULL              -- seconds since 1970
);
CREATE TABLE history_tests (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
);
CREATE TABLE history_runs (
    id INTEGER PRIMARY KEY,
    version INTEGER NOT NULL REFERENCES history_versions,
    name TEXT NOT NULL,
    UNIQUE (version, name)
);
-- A report that is in, with all its rows.
CREATE TABLE history_files (
    id INTEGER PRIMARY KEY,
    run INTEGER NOT NULL REFERENCES history_runs,
    digest BLOB NOT NULL,                 -- of its content
    executions INTEGER NOT NULL,
    ingested INTEGER NOT NULL,            -- seconds since 1970
    UNIQUE (run, digest)
);
-- Rows of a report in their order, packed: one or two bytes each (evidence/pack.rs).
CREATE TABLE history_rows (
    file INTEGER NOT NULL REFERENCES history_files,
    part INTEGER NOT NULL,
    content BLOB NOT NULL,
    PRIMARY KEY (file, part)
) WITHOUT ROWID;
-- The rows of a test in a version, added up: what scores are computed from.
CREATE TABLE history_tallies (
    version INTEGER NOT NULL,
    test INTEGER NOT NULL,
    passed INTEGER NOT NULL,
    failed INTEGER NOT NULL,
    errored INTEGER NOT NULL,
    skipped INTEGER NOT NULL,
    flips INTEGER NOT NULL,               -- between passing and failing, from one execution to the next
    runs INTEGER NOT NULL,
    flaky INTEGER NOT NULL,               -- runs in which it failed first and passed in the end
    first INTEGER,                        -- whether the first execution passed; null where all were skipped
    last INTEGER,
    PRIMARY KEY (version, test)           -- in the order in which they come in
) WITHOUT ROWID;
