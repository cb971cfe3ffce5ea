-- What `filter` has learned: versions, assertions, what each saw in each version, and what people say of failures.
CREATE TABLE filter_versions (
    id INTEGER PRIMARY KEY,               -- in the order they were learned
    name TEXT NOT NULL UNIQUE,
    created INTEGER NOT NULL
);
CREATE TABLE filter_assertions (
    id INTEGER PRIMARY KEY,
    identity TEXT NOT NULL UNIQUE         -- JSON: as it stood in the newest version that has it
);
CREATE TABLE filter_seen (
    assertion INTEGER NOT NULL REFERENCES filter_assertions ON DELETE CASCADE,
    version INTEGER NOT NULL REFERENCES filter_versions ON DELETE CASCADE,
    seen TEXT NOT NULL,                   -- JSON: values with how often, passed, failed
    PRIMARY KEY (assertion, version)
) WITHOUT ROWID;
CREATE TABLE filter_tests (
    test TEXT NOT NULL,
    version INTEGER NOT NULL REFERENCES filter_versions ON DELETE CASCADE,
    lesson TEXT NOT NULL,                 -- JSON: runs, failures with their signatures, functions it ran
    PRIMARY KEY (test, version)
) WITHOUT ROWID;
CREATE TABLE filter_labels (
    test TEXT NOT NULL,
    assertion TEXT NOT NULL,              -- what the assertion says, or empty
    label TEXT NOT NULL,                  -- bug or update
    version TEXT NOT NULL,                -- where the failure was
    created INTEGER NOT NULL,
    PRIMARY KEY (test, assertion)
) WITHOUT ROWID;
