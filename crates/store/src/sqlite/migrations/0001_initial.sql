-- Times are milliseconds since 1970 UTC. Enumerations are the numbers of the Rust types of the same name.
-- item_id 0 stands for "the submission as a whole".

-- Ids are handed out in blocks, so that they are known before the commit that uses them and are never used again.
CREATE TABLE id_block (
    kind TEXT PRIMARY KEY,
    next INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE workflow (
    name      TEXT NOT NULL,
    version   INTEGER NOT NULL,
    text      TEXT NOT NULL,
    stored_at INTEGER NOT NULL,
    PRIMARY KEY (name, version)
) STRICT, WITHOUT ROWID;

CREATE TABLE submission (
    id               INTEGER PRIMARY KEY,
    external_id      TEXT UNIQUE,
    owner            TEXT,
    channel          TEXT NOT NULL,
    workflow         TEXT NOT NULL,
    workflow_version INTEGER NOT NULL,
    status           INTEGER NOT NULL,
    priority         INTEGER NOT NULL,
    received_at      INTEGER NOT NULL,
    deadline_at      INTEGER,
    warn_at          INTEGER,
    escalate_at      INTEGER,
    warned           INTEGER NOT NULL DEFAULT 0,
    escalated        INTEGER NOT NULL DEFAULT 0,
    breached_at      INTEGER,
    next_check       INTEGER,
    completed_at     INTEGER,
    error            TEXT,
    metadata         TEXT NOT NULL
) STRICT;
-- When the deadline next has something to say; NULL when it never will again.
CREATE INDEX submission_next_check ON submission (next_check) WHERE next_check IS NOT NULL;

-- Rows with a rowid. A row of a table without one that is longer than a quarter of a page goes on in a page of its own,
-- so that an outcome of 1 kB took more than 4 kB.
CREATE TABLE item (
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
CREATE UNIQUE INDEX item_of ON item (submission_id, id);
CREATE UNIQUE INDEX item_key ON item (submission_id, key) WHERE key IS NOT NULL;
-- The parts of an item are looked up by it: the pages of a file, the files of a mail.
CREATE INDEX item_parent ON item (submission_id, parent_id, id) WHERE parent_id IS NOT NULL;

CREATE TABLE artifact (
    submission_id INTEGER NOT NULL,
    key           TEXT NOT NULL,
    item_id       INTEGER,
    hash          BLOB NOT NULL,
    size          INTEGER NOT NULL,
    media_type    TEXT NOT NULL,
    PRIMARY KEY (submission_id, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE job (
    id               INTEGER PRIMARY KEY,
    queue            TEXT NOT NULL,
    submission_id    INTEGER NOT NULL,
    item_id          INTEGER NOT NULL,
    stage            TEXT NOT NULL,
    processor        TEXT NOT NULL,
    join_id          INTEGER,
    priority         INTEGER NOT NULL,
    state            INTEGER NOT NULL,
    attempt          INTEGER NOT NULL DEFAULT 0,
    -- When it becomes ready (scheduled), or when its lease (running) or the wait for its report (awaiting) ends.
    due_at           INTEGER,
    token            INTEGER,
    worker           TEXT,
    dedup_key        TEXT,
    dirty            INTEGER NOT NULL DEFAULT 0,
    limit_key        TEXT,
    limit_running    INTEGER,
    limit_per_minute INTEGER,
    await_report_ms  INTEGER,
    overdue          INTEGER NOT NULL DEFAULT 0,
    cursor           INTEGER NOT NULL DEFAULT 0,
    payload          TEXT,
    payload_blob     BLOB,
    next_payload     TEXT,
    next_payload_blob BLOB,
    resume           TEXT,
    error            TEXT,
    parked_until     TEXT,
    created_at       INTEGER NOT NULL,
    -- When it was last claimed to be run, and when it was given up.
    claimed_at       INTEGER,
    ended_at         INTEGER,
    -- Claimed only to be carried to somebody who adopts it; the attempt begins then.
    carried          INTEGER NOT NULL DEFAULT 0,
    -- When somebody outside is next to be told about a job that waits for a report.
    announce_at      INTEGER NOT NULL DEFAULT 0,
    -- Whether a worker died while it held the job: it then runs apart from other work, with at most so many others that
    -- are under the same suspicion. 0: it is not a suspect.
    suspect          INTEGER NOT NULL DEFAULT 0,
    -- With how many of them (itself included) the run under way has begun. 0: it has not.
    begun_with       INTEGER NOT NULL DEFAULT 0,
    -- How many workers died while they ran it and nothing else.
    losses           INTEGER NOT NULL DEFAULT 0,
    -- How long its lease or its wait is, to tell the end of either from a clock that was wrong.
    lease_ms         INTEGER NOT NULL DEFAULT 0
) STRICT;
-- Ordinary claims do not meet suspects.
CREATE INDEX job_ready ON job (queue, priority DESC, id) WHERE state = 0 AND limit_key IS NULL AND suspect = 0;
CREATE INDEX job_limited ON job (limit_key, state, suspect, priority DESC, id) WHERE limit_key IS NOT NULL;
CREATE INDEX job_suspect ON job (losses, suspect DESC, id) WHERE suspect > 0 AND state = 0;
CREATE INDEX job_due ON job (state, due_at) WHERE due_at IS NOT NULL;
-- What waits for somebody: parked, awaiting, dead, cancelled. (A partial index with IN would cost every write a
-- temporary table.)
CREATE INDEX job_resting ON job (state, id) WHERE state > 2;
CREATE INDEX job_announce ON job (announce_at) WHERE state = 4;
CREATE INDEX job_submission ON job (submission_id, item_id);
-- A dedup key guards live jobs only.
CREATE UNIQUE INDEX job_dedup ON job (dedup_key) WHERE dedup_key IS NOT NULL AND state < 5;

-- Token buckets of limits that have a rate.
CREATE TABLE rate (
    limit_key   TEXT PRIMARY KEY,
    tokens      REAL NOT NULL,
    refilled_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE queue (
    name           TEXT PRIMARY KEY,
    paused_because TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE outcome (
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
    finished_at       INTEGER NOT NULL,
    -- What later work on the same content finds it by, the hash of what it depends on beside its input, what a person's
    -- decision about it is about, and what was found beside the output, as JSON.
    reuse_key         BLOB,
    recipe            BLOB,
    subject           BLOB,
    made              TEXT
) STRICT;
CREATE INDEX outcome_reuse ON outcome (reuse_key, submission_id) WHERE reuse_key IS NOT NULL;
CREATE UNIQUE INDEX outcome_of ON outcome (submission_id, stage, item_id, processor);
-- What failed is listed by itself, among a million that did not.
CREATE INDEX outcome_failed ON outcome (submission_id, stage, item_id, processor) WHERE status = 2;

CREATE TABLE joins (
    id            INTEGER PRIMARY KEY,
    submission_id INTEGER NOT NULL,
    stage         TEXT NOT NULL,
    scope_id      INTEGER NOT NULL,
    expected      INTEGER NOT NULL,
    declared      INTEGER NOT NULL,
    arrived       INTEGER NOT NULL DEFAULT 0,
    failed        INTEGER NOT NULL DEFAULT 0,
    closed_at     INTEGER,
    updated_at    INTEGER NOT NULL,
    outer_id      INTEGER,
    on_close      TEXT NOT NULL,
    generation    INTEGER NOT NULL DEFAULT 1
) STRICT;
CREATE INDEX joins_submission ON joins (submission_id);
CREATE INDEX joins_stage ON joins (submission_id, stage, scope_id);

CREATE TABLE event (
    seq           INTEGER PRIMARY KEY,
    kind          TEXT NOT NULL,
    submission_id INTEGER,
    item_id       INTEGER,
    subject       TEXT,
    id            TEXT,
    at            INTEGER NOT NULL,
    data          TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX event_id ON event (id) WHERE id IS NOT NULL;
CREATE INDEX event_submission ON event (submission_id) WHERE submission_id IS NOT NULL;

CREATE TABLE consumer (
    name       TEXT PRIMARY KEY,
    position   INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE review (
    id            INTEGER PRIMARY KEY AUTOINCREMENT,
    submission_id INTEGER NOT NULL,
    item_id       INTEGER NOT NULL,
    stage         TEXT NOT NULL,
    processor     TEXT NOT NULL,
    join_id       INTEGER,
    queue         TEXT NOT NULL,
    status        INTEGER NOT NULL,
    priority      INTEGER NOT NULL,
    reason        TEXT NOT NULL,
    input         TEXT,
    input_blob    BLOB,
    assigned_to   TEXT,
    created_at    INTEGER NOT NULL,
    completed_at  INTEGER,
    -- The chain has gone on without the answer.
    goes_on       INTEGER,
    -- What a person should know about, as JSON.
    skills        TEXT,
    -- How long somebody may keep it without deciding, and until when the one who has it may.
    claim_ms      INTEGER,
    assigned_until INTEGER,
    -- What was decided, as JSON.
    decision      TEXT,
    -- The hash of what is asked about: the same content asks the same question.
    subject       BLOB
) STRICT;
CREATE INDEX review_subject ON review (subject) WHERE subject IS NOT NULL;
CREATE INDEX review_open ON review (status, priority DESC, id) WHERE status < 2;
CREATE INDEX review_submission ON review (submission_id);
CREATE INDEX review_item ON review (submission_id, item_id);

CREATE TABLE worker (
    name       TEXT PRIMARY KEY,
    started_at INTEGER NOT NULL,
    seen_at    INTEGER NOT NULL,
    running    INTEGER NOT NULL,
    finished   INTEGER NOT NULL,
    -- When it said that it stops. It is back when it was seen after that.
    left_at    INTEGER
) STRICT, WITHOUT ROWID;

-- State machines. A version never changes: executions are pinned to theirs.
CREATE TABLE machine (
    name      TEXT    NOT NULL,
    version   INTEGER NOT NULL,
    text      TEXT    NOT NULL,
    stored_at INTEGER NOT NULL,
    PRIMARY KEY (name, version)
) WITHOUT ROWID;

CREATE TABLE execution (
    id          INTEGER PRIMARY KEY,
    machine     TEXT    NOT NULL,
    version     INTEGER NOT NULL,
    name        TEXT    NOT NULL,
    status      INTEGER NOT NULL,
    input       TEXT    NOT NULL,
    -- What the stepper needs to go on, as JSON; none before the first step and after success.
    state       TEXT,
    output      TEXT,
    error       TEXT,
    cause       TEXT,
    started_at  INTEGER NOT NULL,
    ended_at    INTEGER,
    -- Held: when the lease ends. Resting: when there is something to do; none: when a letter comes.
    due_at      INTEGER,
    token       INTEGER,
    holder      TEXT,
    -- Whose it is: it is deleted with everything of that person.
    owner       TEXT,
    -- How many events the history has, and how often it was started again.
    events      INTEGER NOT NULL DEFAULT 0,
    redrives    INTEGER NOT NULL DEFAULT 0,
    -- The task that started it, of another execution.
    parent_id   INTEGER,
    parent_task INTEGER,
    UNIQUE (machine, name)
);
CREATE INDEX execution_due ON execution (due_at) WHERE status = 0 AND due_at IS NOT NULL;
CREATE INDEX execution_holder ON execution (holder) WHERE holder IS NOT NULL;
CREATE INDEX execution_owner ON execution (owner) WHERE owner IS NOT NULL;
CREATE INDEX execution_parent ON execution (parent_id, parent_task) WHERE parent_id IS NOT NULL;
CREATE INDEX execution_ended ON execution (ended_at) WHERE ended_at IS NOT NULL;

-- What one commit added to the history: a JSON array of events.
CREATE TABLE execution_history (
    execution_id INTEGER NOT NULL,
    first_event  INTEGER NOT NULL,
    last_event   INTEGER NOT NULL,
    events       TEXT    NOT NULL
);
CREATE UNIQUE INDEX execution_history_of ON execution_history (execution_id, first_event);

-- What others tell an execution, until it has been taken in.
CREATE TABLE execution_letter (
    id           INTEGER PRIMARY KEY,
    execution_id INTEGER NOT NULL,
    text         TEXT    NOT NULL
);
CREATE INDEX execution_letter_to ON execution_letter (execution_id);

-- Tasks that end when their token is reported.
CREATE TABLE execution_token (
    token        TEXT PRIMARY KEY,
    execution_id INTEGER NOT NULL,
    task         INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX execution_token_of ON execution_token (execution_id);

-- What can be searched: the documents of collections, and their texts in chunks.
CREATE TABLE indexed_document (
    collection  TEXT NOT NULL,
    document_id TEXT NOT NULL,
    file_guid   TEXT NOT NULL,
    file_name   TEXT NOT NULL,
    metadata    TEXT NOT NULL,
    pages       INTEGER NOT NULL,
    chunks      INTEGER NOT NULL,
    indexed_at  INTEGER NOT NULL,
    -- Whose text it is: it leaves the index with the submission.
    submission_id INTEGER,
    -- Whose it is where it is of no submission.
    owner       TEXT,
    PRIMARY KEY (collection, document_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX indexed_document_owner ON indexed_document (owner) WHERE owner IS NOT NULL;
CREATE INDEX indexed_document_of ON indexed_document (submission_id) WHERE submission_id IS NOT NULL;

CREATE TABLE indexed_chunk (
    id          INTEGER PRIMARY KEY,
    collection  TEXT NOT NULL,
    document_id TEXT NOT NULL,
    ordinal     INTEGER NOT NULL,
    page        INTEGER NOT NULL,
    text        TEXT NOT NULL,
    -- The words of the text in the form in which they are compared, separated by spaces.
    words       TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX indexed_chunk_place ON indexed_chunk (collection, document_id, ordinal);

-- The words are made by us, so there is nothing left to tokenise but spaces.
CREATE VIRTUAL TABLE indexed_words USING fts5 (words, content = 'indexed_chunk', content_rowid = 'id', tokenize = 'ascii');
-- Rows are only added and removed.
CREATE TRIGGER indexed_chunk_added AFTER INSERT ON indexed_chunk BEGIN
    INSERT INTO indexed_words (rowid, words) VALUES (new.id, new.words);
END;
CREATE TRIGGER indexed_chunk_removed AFTER DELETE ON indexed_chunk BEGIN
    INSERT INTO indexed_words (indexed_words, rowid, words) VALUES ('delete', old.id, old.words);
END;
-- Words that are taken out of the index leave no trace in it.
INSERT INTO indexed_words (indexed_words, rank) VALUES ('secure-delete', 1);

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

-- Blobs of moderate size, most of which results name: stored with what names them. The time is that of the last put or touch.
CREATE TABLE small_blob (
    hash    BLOB PRIMARY KEY NOT NULL,
    touched INTEGER NOT NULL,
    bytes   BLOB NOT NULL
) STRICT;

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

-- How many migrations each domain has applied to its tables.
CREATE TABLE domain_version (
    domain  TEXT PRIMARY KEY,
    version INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
