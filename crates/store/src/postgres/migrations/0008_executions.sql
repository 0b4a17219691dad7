-- State machines. A version never changes: executions are pinned to theirs.
CREATE TABLE machine (
    name      text COLLATE "C" NOT NULL,
    version   bigint NOT NULL,
    text      text COLLATE "C" NOT NULL,
    stored_at bigint NOT NULL,
    PRIMARY KEY (name, version)
);

CREATE SEQUENCE execution_number;
CREATE SEQUENCE letter_number;

CREATE TABLE execution (
    id          bigint PRIMARY KEY,
    machine     text COLLATE "C" NOT NULL,
    version     bigint NOT NULL,
    name        text COLLATE "C" NOT NULL,
    status      bigint NOT NULL,
    input       text COLLATE "C" NOT NULL,
    -- What the stepper needs to go on, as JSON; none before the first step and after success.
    state       text COLLATE "C",
    output      text COLLATE "C",
    error       text COLLATE "C",
    cause       text COLLATE "C",
    started_at  bigint NOT NULL,
    ended_at    bigint,
    -- Held: when the lease ends. Resting: when there is something to do; none: when a letter comes.
    due_at      bigint,
    token       bigint,
    owner       text COLLATE "C",
    -- How many events the history has, and how often it was started again.
    events      bigint NOT NULL DEFAULT 0,
    redrives    bigint NOT NULL DEFAULT 0,
    -- The task that started it, of another execution.
    parent_id   bigint,
    parent_task bigint,
    UNIQUE (machine, name)
);
CREATE INDEX execution_due ON execution (due_at) WHERE status = 0 AND due_at IS NOT NULL;
CREATE INDEX execution_owner ON execution (owner) WHERE owner IS NOT NULL;
CREATE INDEX execution_parent ON execution (parent_id, parent_task) WHERE parent_id IS NOT NULL;
CREATE INDEX execution_ended ON execution (ended_at) WHERE ended_at IS NOT NULL;

-- What one commit added to the history: a JSON array of events.
CREATE TABLE execution_history (
    execution_id bigint NOT NULL,
    first_event  bigint NOT NULL,
    last_event   bigint NOT NULL,
    events       text COLLATE "C" NOT NULL,
    PRIMARY KEY (execution_id, first_event)
);

-- What others tell an execution, until it has been taken in.
CREATE TABLE execution_letter (
    id           bigint PRIMARY KEY,
    execution_id bigint NOT NULL,
    text         text COLLATE "C" NOT NULL
);
CREATE INDEX execution_letter_to ON execution_letter (execution_id);

-- Tasks that end when their token is reported.
CREATE TABLE execution_token (
    token        text COLLATE "C" PRIMARY KEY,
    execution_id bigint NOT NULL,
    task         bigint NOT NULL
);
CREATE INDEX execution_token_of ON execution_token (execution_id);
