-- Times are milliseconds since 1970 UTC. Enumerations are the numbers of the Rust types of the same name.
-- item_id 0 stands for "the submission as a whole". Texts are compared byte by byte, as Rust does.

-- Ids are handed out in blocks, so that they are known before the commit that uses them and are never used again.
CREATE TABLE id_block (
    kind text COLLATE "C" PRIMARY KEY,
    next bigint NOT NULL
);

CREATE TABLE workflow (
    name      text COLLATE "C" NOT NULL,
    version   bigint NOT NULL,
    text      text COLLATE "C" NOT NULL,
    stored_at bigint NOT NULL,
    PRIMARY KEY (name, version)
);

CREATE TABLE submission (
    id               bigint PRIMARY KEY,
    external_id      text COLLATE "C" UNIQUE,
    owner            text COLLATE "C",
    channel          text COLLATE "C" NOT NULL,
    workflow         text COLLATE "C" NOT NULL,
    workflow_version bigint NOT NULL,
    status           smallint NOT NULL,
    priority         integer NOT NULL,
    received_at      bigint NOT NULL,
    deadline_at      bigint,
    warn_at          bigint,
    escalate_at      bigint,
    warned           boolean NOT NULL DEFAULT false,
    escalated        boolean NOT NULL DEFAULT false,
    breached_at      bigint,
    next_check       bigint,
    completed_at     bigint,
    error            text COLLATE "C",
    metadata         text COLLATE "C" NOT NULL
);
-- When the deadline next has something to say; NULL when it never will again.
CREATE INDEX submission_next_check ON submission (next_check) WHERE next_check IS NOT NULL;

CREATE TABLE item (
    submission_id bigint NOT NULL,
    id            bigint NOT NULL,
    parent_id     bigint,
    kind          text COLLATE "C" NOT NULL,
    ordinal       bigint NOT NULL,
    key           text COLLATE "C",
    label         text COLLATE "C",
    content       bytea,
    data          text COLLATE "C" NOT NULL,
    PRIMARY KEY (submission_id, id)
);
CREATE UNIQUE INDEX item_key ON item (submission_id, key) WHERE key IS NOT NULL;

CREATE TABLE artifact (
    submission_id bigint NOT NULL,
    key           text COLLATE "C" NOT NULL,
    item_id       bigint,
    hash          bytea NOT NULL,
    size          bigint NOT NULL,
    media_type    text COLLATE "C" NOT NULL,
    PRIMARY KEY (submission_id, key)
);

-- Ids of jobs and the tokens of claims. What a transaction that fails has drawn stays unused.
CREATE SEQUENCE job_number;
CREATE SEQUENCE claim_token;

CREATE TABLE job (
    id               bigint PRIMARY KEY,
    queue            text COLLATE "C" NOT NULL,
    submission_id    bigint NOT NULL,
    item_id          bigint NOT NULL,
    stage            text COLLATE "C" NOT NULL,
    processor        text COLLATE "C" NOT NULL,
    join_id          bigint,
    priority         integer NOT NULL,
    state            smallint NOT NULL,
    attempt          integer NOT NULL DEFAULT 0,
    -- When it becomes ready (scheduled), or when its lease (running) or the wait for its report (awaiting) ends.
    due_at           bigint,
    token            bigint,
    worker           text COLLATE "C",
    dedup_key        text COLLATE "C",
    dirty            boolean NOT NULL DEFAULT false,
    limit_key        text COLLATE "C",
    limit_running    bigint,
    limit_per_minute bigint,
    await_report_ms  bigint,
    overdue          boolean NOT NULL DEFAULT false,
    cursor           bigint NOT NULL DEFAULT 0,
    payload          text COLLATE "C",
    payload_blob     bytea,
    next_payload     text COLLATE "C",
    next_payload_blob bytea,
    resume           text COLLATE "C",
    error            text COLLATE "C",
    parked_until     text COLLATE "C",
    created_at       bigint NOT NULL
);
CREATE INDEX job_ready ON job (queue, priority DESC, id) WHERE state = 0 AND limit_key IS NULL;
CREATE INDEX job_limited ON job (limit_key, state, priority DESC, id) WHERE limit_key IS NOT NULL;
CREATE INDEX job_due ON job (state, due_at) WHERE due_at IS NOT NULL;
-- What waits for somebody: parked, awaiting, dead, cancelled.
CREATE INDEX job_resting ON job (state, id) WHERE state > 2;
CREATE INDEX job_submission ON job (submission_id, item_id);
-- A dedup key guards live jobs only.
CREATE UNIQUE INDEX job_dedup ON job (dedup_key) WHERE dedup_key IS NOT NULL AND state < 5;

-- Token buckets of limits that have a rate.
CREATE TABLE rate (
    limit_key   text COLLATE "C" PRIMARY KEY,
    tokens      double precision NOT NULL,
    refilled_at bigint NOT NULL
);

CREATE TABLE queue (
    name           text COLLATE "C" PRIMARY KEY,
    paused_because text COLLATE "C" NOT NULL
);

CREATE TABLE outcome (
    submission_id     bigint NOT NULL,
    stage             text COLLATE "C" NOT NULL,
    item_id           bigint NOT NULL,
    processor         text COLLATE "C" NOT NULL,
    status            smallint NOT NULL,
    output            text COLLATE "C",
    output_blob       bytea,
    confidence        double precision,
    error             text COLLATE "C",
    resume            text COLLATE "C",
    input_hash        bytea,
    processor_version bigint NOT NULL,
    attempts          bigint NOT NULL,
    cost_micros       bigint NOT NULL,
    finished_at       bigint NOT NULL,
    PRIMARY KEY (submission_id, stage, item_id, processor)
);

CREATE TABLE joins (
    id            bigint PRIMARY KEY,
    submission_id bigint NOT NULL,
    stage         text COLLATE "C" NOT NULL,
    scope_id      bigint NOT NULL,
    expected      bigint NOT NULL,
    declared      boolean NOT NULL,
    arrived       bigint NOT NULL DEFAULT 0,
    failed        bigint NOT NULL DEFAULT 0,
    closed_at     bigint,
    updated_at    bigint NOT NULL,
    outer_id      bigint,
    on_close      text COLLATE "C" NOT NULL,
    generation    bigint NOT NULL DEFAULT 1
);
CREATE INDEX joins_submission ON joins (submission_id);

-- The number of the transaction that positions of events are counted from. A database that was moved to another server
-- gets another one, so that positions go on growing.
CREATE TABLE feed (
    base bigint NOT NULL
);
INSERT INTO feed (base) VALUES (pg_snapshot_xmin(pg_current_snapshot())::text::bigint - 1);

-- seq: the number of the transaction, counted from the base, and in the lower 20 bits the place inside it.
CREATE TABLE event (
    seq           bigint PRIMARY KEY,
    kind          text COLLATE "C" NOT NULL,
    submission_id bigint,
    item_id       bigint,
    subject       text COLLATE "C",
    id            text COLLATE "C",
    at            bigint NOT NULL,
    data          text COLLATE "C" NOT NULL
);
CREATE UNIQUE INDEX event_id ON event (id) WHERE id IS NOT NULL;
CREATE INDEX event_submission ON event (submission_id) WHERE submission_id IS NOT NULL;

CREATE TABLE consumer (
    name       text COLLATE "C" PRIMARY KEY,
    position   bigint NOT NULL,
    updated_at bigint NOT NULL
);

CREATE TABLE review (
    id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    submission_id bigint NOT NULL,
    item_id       bigint NOT NULL,
    stage         text COLLATE "C" NOT NULL,
    processor     text COLLATE "C" NOT NULL,
    join_id       bigint,
    queue         text COLLATE "C" NOT NULL,
    status        smallint NOT NULL,
    priority      integer NOT NULL,
    reason        text COLLATE "C" NOT NULL,
    input         text COLLATE "C",
    input_blob    bytea,
    assigned_to   text COLLATE "C",
    created_at    bigint NOT NULL,
    completed_at  bigint
);
CREATE INDEX review_open ON review (status, priority DESC, id) WHERE status < 2;
CREATE INDEX review_submission ON review (submission_id);

CREATE TABLE worker (
    name       text COLLATE "C" PRIMARY KEY,
    started_at bigint NOT NULL,
    seen_at    bigint NOT NULL,
    running    bigint NOT NULL,
    finished   bigint NOT NULL
);
