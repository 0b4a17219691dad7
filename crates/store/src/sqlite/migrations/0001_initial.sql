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

CREATE TABLE item (
    submission_id INTEGER NOT NULL,
    id            INTEGER NOT NULL,
    parent_id     INTEGER,
    kind          TEXT NOT NULL,
    ordinal       INTEGER NOT NULL,
    key           TEXT,
    label         TEXT,
    content       BLOB,
    data          TEXT NOT NULL,
    PRIMARY KEY (submission_id, id)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX item_key ON item (submission_id, key) WHERE key IS NOT NULL;

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
    created_at       INTEGER NOT NULL
) STRICT;
CREATE INDEX job_ready ON job (queue, priority DESC, id) WHERE state = 0 AND limit_key IS NULL;
CREATE INDEX job_limited ON job (limit_key, state, priority DESC, id) WHERE limit_key IS NOT NULL;
CREATE INDEX job_due ON job (state, due_at) WHERE due_at IS NOT NULL;
-- What waits for somebody: parked, awaiting, dead, cancelled. (A partial index with IN would cost every write a
-- temporary table.)
CREATE INDEX job_resting ON job (state, id) WHERE state > 2;
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
    PRIMARY KEY (submission_id, stage, item_id, processor)
) STRICT, WITHOUT ROWID;

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
    completed_at  INTEGER
) STRICT;
CREATE INDEX review_open ON review (status, priority DESC, id) WHERE status < 2;
CREATE INDEX review_submission ON review (submission_id);

CREATE TABLE worker (
    name       TEXT PRIMARY KEY,
    started_at INTEGER NOT NULL,
    seen_at    INTEGER NOT NULL,
    running    INTEGER NOT NULL,
    finished   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
