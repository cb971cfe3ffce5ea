-- Results a campaign has finished so far, so that it can go on where it was interrupted.
CREATE TABLE results (
    campaign INTEGER NOT NULL REFERENCES campaigns (id) ON DELETE CASCADE,
    key TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (campaign, key)
) WITHOUT ROWID;
