-- Progress is kept: how many outcomes a submission has by stage and status (kind 0), and how many items by kind (kind 1).
-- The writer counts the rows that it adds, once for each transaction; what is changed and removed is counted here,
-- whoever does it. A number may be below zero until the transaction ends.
CREATE TABLE progress (
    submission_id INTEGER NOT NULL,
    kind          INTEGER NOT NULL,
    name          TEXT NOT NULL,
    status        INTEGER NOT NULL,
    n             INTEGER NOT NULL,
    PRIMARY KEY (submission_id, kind, name, status)
) STRICT, WITHOUT ROWID;

-- These had no rowid. A row of such a table that is longer than a quarter of a page goes on in a page of its own, so that
-- an outcome of 1 kB took more than 4 kB.
CREATE TABLE outcome_new (
    submission_id     INTEGER NOT NULL,
    stage             TEXT NOT NULL,
    item_id           INTEGER NOT NULL,
    processor         TEXT NOT NULL,
    status            INTEGER NOT NULL,
    output            TEXT,
    output_blob       BLOB,
    confidence        REAL,
    error             TEXT,
    resume            TEXT,
    input_hash        BLOB,
    processor_version INTEGER NOT NULL,
    attempts          INTEGER NOT NULL,
    cost_micros       INTEGER NOT NULL,
    finished_at       INTEGER NOT NULL
) STRICT;
INSERT INTO outcome_new (submission_id, stage, item_id, processor, status, output, output_blob, confidence, error, resume,
        input_hash, processor_version, attempts, cost_micros, finished_at)
    SELECT submission_id, stage, item_id, processor, status, output, output_blob, confidence, error, resume, input_hash,
        processor_version, attempts, cost_micros, finished_at
    FROM outcome ORDER BY submission_id, stage, item_id, processor;
DROP TABLE outcome;
ALTER TABLE outcome_new RENAME TO outcome;
CREATE UNIQUE INDEX outcome_of ON outcome (submission_id, stage, item_id, processor);
-- What failed is listed by itself, among a million that did not.
CREATE INDEX outcome_failed ON outcome (submission_id, stage, item_id, processor) WHERE status = 2;

CREATE TABLE item_new (
    submission_id INTEGER NOT NULL,
    id            INTEGER NOT NULL,
    parent_id     INTEGER,
    kind          TEXT NOT NULL,
    ordinal       INTEGER NOT NULL,
    key           TEXT,
    label         TEXT,
    content       BLOB,
    data          TEXT NOT NULL
) STRICT;
INSERT INTO item_new (submission_id, id, parent_id, kind, ordinal, key, label, content, data)
    SELECT submission_id, id, parent_id, kind, ordinal, key, label, content, data FROM item ORDER BY submission_id, id;
DROP TABLE item;
ALTER TABLE item_new RENAME TO item;
CREATE UNIQUE INDEX item_of ON item (submission_id, id);
CREATE UNIQUE INDEX item_key ON item (submission_id, key) WHERE key IS NOT NULL;
CREATE INDEX item_parent ON item (submission_id, parent_id, id) WHERE parent_id IS NOT NULL;

CREATE TABLE execution_history_new (
    execution_id INTEGER NOT NULL,
    first_event  INTEGER NOT NULL,
    last_event   INTEGER NOT NULL,
    events       TEXT    NOT NULL
);
INSERT INTO execution_history_new (execution_id, first_event, last_event, events)
    SELECT execution_id, first_event, last_event, events FROM execution_history ORDER BY execution_id, first_event;
DROP TABLE execution_history;
ALTER TABLE execution_history_new RENAME TO execution_history;
CREATE UNIQUE INDEX execution_history_of ON execution_history (execution_id, first_event);

-- Counted once; from now on kept.
INSERT INTO progress (submission_id, kind, name, status, n)
    SELECT submission_id, 0, stage, status, count(*) FROM outcome GROUP BY submission_id, stage, status;
INSERT INTO progress (submission_id, kind, name, status, n)
    SELECT submission_id, 1, kind, 0, count(*) FROM item GROUP BY submission_id, kind;

CREATE TRIGGER outcome_status_counted AFTER UPDATE OF status ON outcome WHEN old.status <> new.status BEGIN
    INSERT INTO progress (submission_id, kind, name, status, n) VALUES (old.submission_id, 0, old.stage, old.status, -1)
        ON CONFLICT (submission_id, kind, name, status) DO UPDATE SET n = n - 1;
    INSERT INTO progress (submission_id, kind, name, status, n) VALUES (new.submission_id, 0, new.stage, new.status, 1)
        ON CONFLICT (submission_id, kind, name, status) DO UPDATE SET n = n + 1;
END;
CREATE TRIGGER outcome_removal_counted AFTER DELETE ON outcome BEGIN
    INSERT INTO progress (submission_id, kind, name, status, n) VALUES (old.submission_id, 0, old.stage, old.status, -1)
        ON CONFLICT (submission_id, kind, name, status) DO UPDATE SET n = n - 1;
    DELETE FROM progress
        WHERE submission_id = old.submission_id AND kind = 0 AND name = old.stage AND status = old.status AND n = 0;
END;
CREATE TRIGGER item_removal_counted AFTER DELETE ON item BEGIN
    INSERT INTO progress (submission_id, kind, name, status, n) VALUES (old.submission_id, 1, old.kind, 0, -1)
        ON CONFLICT (submission_id, kind, name, status) DO UPDATE SET n = n - 1;
    DELETE FROM progress
        WHERE submission_id = old.submission_id AND kind = 1 AND name = old.kind AND status = 0 AND n = 0;
END;
