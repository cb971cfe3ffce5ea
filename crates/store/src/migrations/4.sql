-- What `measure` saw: texts (elements and values) and snapshots, each once for a campaign.
CREATE TABLE texts (
    campaign INTEGER NOT NULL REFERENCES campaigns (id) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    text TEXT NOT NULL,
    PRIMARY KEY (campaign, number)
) WITHOUT ROWID;
CREATE TABLE snapshots (
    campaign INTEGER NOT NULL REFERENCES campaigns (id) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    content BLOB NOT NULL,                -- (element, value) pairs of text numbers, as measure encodes them
    PRIMARY KEY (campaign, number)
) WITHOUT ROWID;
