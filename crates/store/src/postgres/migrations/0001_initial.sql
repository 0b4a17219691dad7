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
-- The parts of an item are looked up by it: the pages of a file, the files of a mail.
CREATE INDEX item_parent ON item (submission_id, parent_id, id) WHERE parent_id IS NOT NULL;

CREATE TABLE artifact (
    submission_id bigint NOT NULL,
    key           text COLLATE "C" NOT NULL,
    item_id       bigint,
    hash          bytea NOT NULL,
    size          bigint NOT NULL,
    media_type    text COLLATE "C" NOT NULL,
    PRIMARY KEY (submission_id, key)
);

-- Ids of jobs, and numbers of claims and of connections. What a transaction that fails has drawn stays unused.
CREATE SEQUENCE job_number;
CREATE SEQUENCE claim_token;
CREATE SEQUENCE connection_number;

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
    created_at       bigint NOT NULL,
    -- When it was last claimed to be run, and when it was given up.
    claimed_at       bigint,
    ended_at         bigint,
    -- How long the wait for a retry is, or for what it is parked for, to tell its end from a clock that was wrong.
    lease_ms         bigint NOT NULL DEFAULT 0,
    -- Claimed only to be carried to somebody who adopts it; the attempt begins then.
    carried          boolean NOT NULL DEFAULT false,
    -- When somebody outside is next to be told about a job that waits for a report.
    announce_at      bigint NOT NULL DEFAULT 0,
    -- What indexes see in place of the state: a running job lies on the shelf of the ready ones.
    shelf            smallint NOT NULL GENERATED ALWAYS AS (CASE WHEN state = 2 THEN 0 ELSE state END) STORED,
    -- Jobs with a limit are counted while they run, so their index does see the state.
    limit_state      smallint GENERATED ALWAYS AS (CASE WHEN limit_key IS NOT NULL THEN state END) STORED,
    -- Whether a worker died while it held the job: it then runs apart from other work, with at most so many others that
    -- are under the same suspicion. 0: it is not a suspect.
    suspect          integer NOT NULL DEFAULT 0,
    -- With how many of them (itself included) the run under way has begun. 0: it has not.
    begun_with       integer NOT NULL DEFAULT 0,
    -- How many workers died while they ran it and nothing else.
    losses           integer NOT NULL DEFAULT 0,
    -- Claims whose token is not greater do not hold: they are from before the job became ready the last time.
    fence            bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 80);
-- Claiming an ordinary job writes nothing to its row: a row of `claim` says who has it, its state stays that of a ready
-- job, and its fence says which claims are from before. What others look at while it runs is marked in its row (state 2
-- and the token): jobs with a limit, which are counted, with a dedup key, which take newer requests in, and suspects. That
-- too changes no column that an index knows, so that the row is rewritten in its own page: indexes see the shelf instead
-- of the state, and a running job lies on the shelf of the ready ones.
CREATE INDEX job_limited ON job (limit_key, limit_state, suspect, priority DESC, id) WHERE limit_key IS NOT NULL;
CREATE INDEX job_due ON job (shelf, due_at) WHERE due_at IS NOT NULL;
-- What waits for somebody: parked, awaiting, dead, cancelled.
CREATE INDEX job_resting ON job (shelf, id) WHERE shelf > 2;
CREATE INDEX job_announce ON job (announce_at) WHERE shelf = 4;
CREATE INDEX job_submission ON job (submission_id, item_id);
-- Ordinary claims do not meet suspects. No index knows the state, so that a claim touches none.
CREATE INDEX job_suspect ON job (losses, suspect DESC, id) WHERE suspect > 0;
-- A dedup key guards live jobs only.
CREATE UNIQUE INDEX job_dedup ON job (dedup_key) WHERE dedup_key IS NOT NULL AND shelf < 5;

-- The ready jobs that have no limit, in blocks: jobs that were stored together stand in one row. A claim takes whole rows
-- out and puts back what it does not need. A row may name jobs that are not ready any more, or have become ready again
-- since, with another fence: a claim looks at the jobs themselves. None is ever missing: triggers see to that, however a job
-- becomes ready; only a claim that is given back does it by itself.
CREATE TABLE ready (
    queue         text COLLATE "C" NOT NULL,
    priority      integer NOT NULL,
    first_job     bigint NOT NULL,
    submission_id bigint NOT NULL,
    fence         bigint NOT NULL,
    -- They have dedup keys, so that a claim marks them.
    keyed         boolean NOT NULL,
    jobs          bigint[] NOT NULL
);
CREATE INDEX ready_order ON ready (queue, priority DESC, first_job);
CREATE INDEX ready_of ON ready (submission_id);

CREATE FUNCTION jobs_begin_ready() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO ready (queue, priority, first_job, submission_id, fence, keyed, jobs)
        SELECT queue, priority, min(id), submission_id, fence, dedup_key IS NOT NULL, array_agg(id ORDER BY id)
        FROM begun WHERE state = 0 AND limit_key IS NULL AND suspect = 0
        GROUP BY queue, priority, submission_id, fence, dedup_key IS NOT NULL, id >> 7;
    RETURN NULL;
END $$;
CREATE TRIGGER jobs_begin_ready AFTER INSERT ON job REFERENCING NEW TABLE AS begun
    FOR EACH STATEMENT EXECUTE FUNCTION jobs_begin_ready();

-- No claim from before holds.
CREATE FUNCTION job_turns_ready() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    NEW.fence := nextval('claim_token') << 24;
    RETURN NEW;
END $$;
CREATE TRIGGER job_turns_ready BEFORE UPDATE OF state ON job FOR EACH ROW
    WHEN (NEW.state = 0 AND OLD.state <> 0) EXECUTE FUNCTION job_turns_ready();

CREATE FUNCTION job_becomes_ready() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO ready (queue, priority, first_job, submission_id, fence, keyed, jobs)
        VALUES (NEW.queue, NEW.priority, NEW.id, NEW.submission_id, NEW.fence, NEW.dedup_key IS NOT NULL, ARRAY[NEW.id]);
    RETURN NULL;
END $$;
CREATE TRIGGER job_becomes_ready AFTER UPDATE OF state, priority, suspect ON job FOR EACH ROW
    WHEN (NEW.state = 0 AND NEW.limit_key IS NULL AND NEW.suspect = 0
          AND (OLD.state <> 0 OR OLD.suspect <> 0 OR (NEW.dedup_key IS NOT NULL AND OLD.priority <> NEW.priority)))
    EXECUTE FUNCTION job_becomes_ready();

-- Takes rows with the most urgent `most` jobs out: of some queues (NULL: all that have ready jobs, found by jumping from
-- one to the next in the index), or of some submissions. With the last rows come jobs that are too many. What another
-- claim has in hand is skipped; where that is all there is, it is waited for, but not for long, since it puts back what it
-- does not need. The jumps go backwards, because what was claimed a moment ago stands in the way at the front of each
-- queue, and passing it once is enough. What begins with `q.only.` is claimed by name alone.
CREATE FUNCTION take_ready(wanted text[], submissions bigint[], most bigint) RETURNS SETOF ready LANGUAGE plpgsql AS $$
DECLARE
    page bigint := 8;
    candidates refcursor;
    candidate record;
    taken ready;
    priorities integer[] := '{}';
    ids bigint[] := '{}';
    last_priority integer;
    last_job bigint;
    has_more boolean;
    has_skipped boolean;
    waits integer := 0;
BEGIN
    LOOP
        has_more := false;
        has_skipped := false;
        IF submissions IS NULL THEN
            OPEN candidates NO SCROLL FOR WITH RECURSIVE busy AS (
                (SELECT queue FROM ready WHERE wanted IS NULL ORDER BY queue DESC LIMIT 1)
                UNION ALL
                SELECT (SELECT ready.queue FROM ready WHERE ready.queue < busy.queue ORDER BY ready.queue DESC LIMIT 1)
                FROM busy WHERE busy.queue IS NOT NULL),
            open AS (SELECT name FROM (SELECT queue FROM busy UNION SELECT unnest(wanted)) AS named(name)
                WHERE name IS NOT NULL AND (wanted IS NOT NULL OR NOT starts_with(name, 'q.only.'))
                AND name NOT IN (SELECT queue.name FROM queue))
            SELECT top.* FROM open CROSS JOIN LATERAL (
                SELECT ready.ctid AS place, ready.priority, ready.first_job,
                    row_number() OVER (ORDER BY ready.priority DESC, ready.first_job) AS number
                FROM ready WHERE ready.queue = open.name ORDER BY ready.priority DESC, ready.first_job LIMIT page) AS top
            ORDER BY top.priority DESC, top.first_job;
        ELSE
            OPEN candidates NO SCROLL FOR SELECT top.*, row_number() OVER () AS number FROM (
                SELECT ready.ctid AS place, ready.priority, ready.first_job FROM ready
                WHERE ready.submission_id = ANY(submissions)
                AND CASE WHEN wanted IS NULL THEN NOT starts_with(ready.queue, 'q.only.')
                    ELSE ready.queue = ANY(wanted) END
                AND ready.queue NOT IN (SELECT queue.name FROM queue)
                ORDER BY ready.priority DESC, ready.first_job LIMIT page) AS top;
        END IF;
        LOOP
            FETCH candidates INTO candidate;
            EXIT WHEN NOT FOUND;
            -- Rows overlap where jobs were stored at the same time: one that begins before the last job is looked at.
            IF cardinality(ids) >= most AND (candidate.priority < last_priority
                OR (candidate.priority = last_priority AND candidate.first_job > last_job)) THEN
                CLOSE candidates;
                RETURN;
            END IF;
            DELETE FROM ready WHERE ctid = (SELECT free.ctid FROM ready AS free WHERE free.ctid = candidate.place
                FOR UPDATE SKIP LOCKED) RETURNING * INTO taken;
            IF FOUND THEN
                RETURN NEXT taken;
                ids := ids || taken.jobs;
                priorities := priorities || array_fill(taken.priority, ARRAY[cardinality(taken.jobs)]);
                IF cardinality(ids) >= most THEN
                    SELECT job.priority, job.id INTO last_priority, last_job
                        FROM unnest(priorities, ids) AS job(priority, id)
                        ORDER BY job.priority DESC, job.id OFFSET most - 1 LIMIT 1;
                END IF;
            ELSE
                has_skipped := true;
            END IF;
            -- What comes next in this queue has not been looked at.
            has_more := candidate.number = page;
            EXIT WHEN has_more;
        END LOOP;
        CLOSE candidates;
        IF has_more THEN
            page := page * 4;
        ELSIF has_skipped AND cardinality(ids) = 0 AND waits < 5 THEN
            waits := waits + 1;
            PERFORM pg_sleep(0.002);
        ELSE
            RETURN;
        END IF;
    END LOOP;
END $$;

-- Until when a claim's jobs are leased, and by whom. Those that have ended since, or are another claim's by now, have
-- another token or a fence above this one. A claim's jobs have one lease as long as their worker extends them together.
-- One that extends some and not others has two from then on, under the same token.
CREATE TABLE claim (
    token      bigint NOT NULL,
    until      bigint NOT NULL,
    jobs       bigint[] NOT NULL,
    -- How long the leases are, to tell their end from a clock that was wrong.
    lease_ms   bigint NOT NULL DEFAULT 0,
    worker     text COLLATE "C" NOT NULL,
    claimed_at bigint NOT NULL,
    -- Claimed only to be carried to a worker that adopts the jobs.
    carried    boolean NOT NULL
);
CREATE INDEX claim_token_order ON claim (token);
-- It lives for seconds: squeezing it costs more than it saves.
ALTER TABLE claim ALTER COLUMN jobs SET STORAGE EXTERNAL;

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
    -- What later work on the same content finds it by, the hash of what it depends on beside its input, what a person's
    -- decision about it is about, and what was found beside the output, as JSON.
    reuse_key         bytea,
    recipe            bytea,
    subject           bytea,
    made              text COLLATE "C",
    PRIMARY KEY (submission_id, stage, item_id, processor)
);
CREATE INDEX outcome_reuse ON outcome (reuse_key, submission_id) WHERE reuse_key IS NOT NULL;
-- What failed is listed by itself, among a million that did not.
CREATE INDEX outcome_failed ON outcome (submission_id, stage, item_id, processor) WHERE status = 2;

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
CREATE INDEX joins_stage ON joins (submission_id, stage, scope_id);

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
    completed_at  bigint,
    -- The chain has gone on without the answer.
    goes_on       boolean,
    -- What a person should know about, as JSON.
    skills        text COLLATE "C",
    -- How long somebody may keep it without deciding, and until when the one who has it may.
    claim_ms      bigint,
    assigned_until bigint,
    -- What was decided, as JSON.
    decision      text COLLATE "C",
    -- The hash of what is asked about: the same content asks the same question.
    subject       bytea
);
CREATE INDEX review_subject ON review (subject) WHERE subject IS NOT NULL;
CREATE INDEX review_open ON review (status, priority DESC, id) WHERE status < 2;
CREATE INDEX review_submission ON review (submission_id);
CREATE INDEX review_item ON review (submission_id, item_id);

CREATE TABLE worker (
    name       text COLLATE "C" PRIMARY KEY,
    started_at bigint NOT NULL,
    seen_at    bigint NOT NULL,
    running    bigint NOT NULL,
    finished   bigint NOT NULL,
    -- When it said that it stops. It is back when it was seen after that.
    left_at    bigint
);

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
    holder      text COLLATE "C",
    -- Whose it is: it is deleted with everything of that person.
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
CREATE INDEX execution_holder ON execution (holder) WHERE holder IS NOT NULL;
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

-- What can be searched: the documents of collections, and their texts in chunks.
CREATE TABLE indexed_document (
    collection  text COLLATE "C" NOT NULL,
    document_id text COLLATE "C" NOT NULL,
    file_guid   text COLLATE "C" NOT NULL,
    file_name   text COLLATE "C" NOT NULL,
    metadata    text COLLATE "C" NOT NULL,
    pages       bigint NOT NULL,
    chunks      bigint NOT NULL,
    indexed_at  bigint NOT NULL,
    -- Whose text it is: it leaves the index with the submission.
    submission_id bigint,
    -- Whose it is where it is of no submission.
    owner       text COLLATE "C",
    PRIMARY KEY (collection, document_id)
);
CREATE INDEX indexed_document_owner ON indexed_document (owner) WHERE owner IS NOT NULL;
CREATE INDEX indexed_document_of ON indexed_document (submission_id) WHERE submission_id IS NOT NULL;

-- Words that were separated by us, each with its place: no dictionary or language has a say in it.
CREATE FUNCTION indexed_vector(words text) RETURNS tsvector LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
    SELECT coalesce(string_agg(word || ':' || place, ' '), '')::tsvector
    FROM unnest(string_to_array(words, ' ')) WITH ORDINALITY AS list (word, place) WHERE word <> ''
$$;

CREATE TABLE indexed_chunk (
    id          bigint PRIMARY KEY,
    collection  text COLLATE "C" NOT NULL,
    document_id text COLLATE "C" NOT NULL,
    ordinal     bigint NOT NULL,
    page        bigint NOT NULL,
    text        text COLLATE "C" NOT NULL,
    -- The words of the text in the form in which they are compared, separated by spaces.
    words       text COLLATE "C" NOT NULL,
    vector      tsvector GENERATED ALWAYS AS (indexed_vector(words)) STORED
);
CREATE UNIQUE INDEX indexed_chunk_place ON indexed_chunk (collection, document_id, ordinal);
CREATE INDEX indexed_chunk_words ON indexed_chunk USING gin (vector);

-- What is kept, and for how long. A submission has a row here when something was said or done about that.
CREATE TABLE retention (
    submission_id bigint PRIMARY KEY,
    -- Why it must be kept; none: it is not on hold.
    hold_reason   text COLLATE "C",
    held_at       bigint,
    -- The parts of it that have expired, as bits.
    expired       bigint NOT NULL DEFAULT 0,
    -- When its deletion began, where that takes several transactions.
    deleting_at   bigint
);
CREATE INDEX retention_held ON retention (submission_id) WHERE hold_reason IS NOT NULL;
CREATE INDEX retention_deleting ON retention (submission_id) WHERE deleting_at IS NOT NULL;

-- Blobs that a deleted row has named, until it is known whether others name them, too. Where the submission is not 0, what
-- it still says about the blob does not count: the part of it that needed the blob has expired.
CREATE TABLE blob_candidate (
    hash          bytea NOT NULL,
    submission_id bigint NOT NULL,
    since         bigint NOT NULL,
    PRIMARY KEY (hash, submission_id)
);

-- The blobs that a payload in the blob store names, as bytes one after the other. A cache: payloads never change.
CREATE TABLE blob_mention (
    hash     bytea PRIMARY KEY,
    mentions bytea NOT NULL
);

-- When the next sweep of a kind is due, so that of many workers one makes it.
CREATE TABLE retention_sweep (
    name   text COLLATE "C" PRIMARY KEY,
    due_at bigint NOT NULL
);

-- Progress is kept: how many outcomes a submission has by stage and status (kind 0), and how many items by kind (kind 1).
-- Whoever changes outcomes or items appends what that means for the counts, so that nobody waits for a row that
-- everybody changes. Now and then the appended rows are folded into one; a count is the sum of both.
CREATE TABLE progress (
    submission_id bigint NOT NULL,
    kind          smallint NOT NULL,
    name          text COLLATE "C" NOT NULL,
    status        smallint NOT NULL,
    n             bigint NOT NULL,
    PRIMARY KEY (submission_id, kind, name, status)
) WITH (fillfactor = 50);

CREATE TABLE progress_delta (
    submission_id bigint NOT NULL,
    kind          smallint NOT NULL,
    name          text COLLATE "C" NOT NULL,
    status        smallint NOT NULL,
    n             bigint NOT NULL
);
CREATE INDEX progress_delta_of ON progress_delta (submission_id);

CREATE FUNCTION outcomes_added() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO progress_delta (submission_id, kind, name, status, n)
        SELECT submission_id, 0, stage, status, count(*) FROM added GROUP BY submission_id, stage, status;
    RETURN NULL;
END $$;
CREATE TRIGGER outcomes_added AFTER INSERT ON outcome REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION outcomes_added();

CREATE FUNCTION outcomes_changed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO progress_delta (submission_id, kind, name, status, n)
        SELECT submission_id, 0, stage, status, sum(n) FROM (
            SELECT submission_id, stage, status, 1 AS n FROM added UNION ALL
            SELECT submission_id, stage, status, -1 FROM gone) AS both_sides
        GROUP BY submission_id, stage, status HAVING sum(n) <> 0;
    RETURN NULL;
END $$;
CREATE TRIGGER outcomes_changed AFTER UPDATE ON outcome REFERENCING OLD TABLE AS gone NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION outcomes_changed();

CREATE FUNCTION outcomes_removed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO progress_delta (submission_id, kind, name, status, n)
        SELECT submission_id, 0, stage, status, -count(*) FROM gone GROUP BY submission_id, stage, status;
    RETURN NULL;
END $$;
CREATE TRIGGER outcomes_removed AFTER DELETE ON outcome REFERENCING OLD TABLE AS gone
    FOR EACH STATEMENT EXECUTE FUNCTION outcomes_removed();

-- The kind of an item never changes.
CREATE FUNCTION items_added() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO progress_delta (submission_id, kind, name, status, n)
        SELECT submission_id, 1, kind, 0, count(*) FROM added GROUP BY submission_id, kind;
    RETURN NULL;
END $$;
CREATE TRIGGER items_added AFTER INSERT ON item REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION items_added();

CREATE FUNCTION items_removed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO progress_delta (submission_id, kind, name, status, n)
        SELECT submission_id, 1, kind, 0, -count(*) FROM gone GROUP BY submission_id, kind;
    RETURN NULL;
END $$;
CREATE TRIGGER items_removed AFTER DELETE ON item REFERENCING OLD TABLE AS gone
    FOR EACH STATEMENT EXECUTE FUNCTION items_removed();

-- How many migrations each domain has applied to its tables.
CREATE TABLE domain_version (
    domain  text COLLATE "C" PRIMARY KEY,
    version bigint NOT NULL
);
