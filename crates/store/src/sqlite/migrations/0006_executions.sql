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
CREATE INDEX execution_owner ON execution (owner) WHERE owner IS NOT NULL;
CREATE INDEX execution_parent ON execution (parent_id, parent_task) WHERE parent_id IS NOT NULL;
CREATE INDEX execution_ended ON execution (ended_at) WHERE ended_at IS NOT NULL;

-- What one commit added to the history: a JSON array of events.
CREATE TABLE execution_history (
    execution_id INTEGER NOT NULL,
    first_event  INTEGER NOT NULL,
    last_event   INTEGER NOT NULL,
    events       TEXT    NOT NULL,
    PRIMARY KEY (execution_id, first_event)
) WITHOUT ROWID;

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
