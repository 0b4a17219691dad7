-- What is kept, and for how long. A submission has a row here when something was said or done about that.
CREATE TABLE retention (
    submission_id INTEGER PRIMARY KEY,
    -- Why it must be kept; none: it is not on hold.
    hold_reason   TEXT,
    held_at       INTEGER,
    -- The parts of it that have expired, as bits.
    expired       INTEGER NOT NULL DEFAULT 0,
    -- When its deletion began, where that takes several transactions.
    deleting_at   INTEGER
) STRICT;
CREATE INDEX retention_held ON retention (submission_id) WHERE hold_reason IS NOT NULL;
CREATE INDEX retention_deleting ON retention (submission_id) WHERE deleting_at IS NOT NULL;

-- Blobs that a deleted row has named, until it is known whether others name them, too. Where the submission is not 0, what
-- it still says about the blob does not count: the part of it that needed the blob has expired.
CREATE TABLE blob_candidate (
    hash          BLOB NOT NULL,
    submission_id INTEGER NOT NULL,
    since         INTEGER NOT NULL,
    PRIMARY KEY (hash, submission_id)
) STRICT, WITHOUT ROWID;

-- The blobs that a payload in the blob store names, as bytes one after the other. A cache: payloads never change.
CREATE TABLE blob_mention (
    hash     BLOB PRIMARY KEY,
    mentions BLOB NOT NULL
) STRICT, WITHOUT ROWID;

-- When the next sweep of a kind is due, so that of many workers one makes it.
CREATE TABLE retention_sweep (
    name   TEXT PRIMARY KEY,
    due_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Whose text it is: it leaves the index with the submission.
ALTER TABLE indexed_document ADD COLUMN submission_id INTEGER;
CREATE INDEX indexed_document_of ON indexed_document (submission_id) WHERE submission_id IS NOT NULL;

-- Words that are taken out of the index leave no trace in it.
INSERT INTO indexed_words (indexed_words, rank) VALUES ('secure-delete', 1);
