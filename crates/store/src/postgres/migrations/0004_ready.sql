-- A claim changes no column that an index knows, so the row is rewritten in its own page and no index is touched: that
-- is half of what a job costs. For this, indexes see the shelf instead of the state, and a running job lies on the shelf
-- of the ready ones; ready jobs stand in a narrow table of their own, out of which claims take them; and leases are kept
-- for each claim, not for each job.

ALTER TABLE job
    ADD COLUMN shelf smallint NOT NULL GENERATED ALWAYS AS (CASE WHEN state = 2 THEN 0 ELSE state END) STORED,
    -- Jobs with a limit are counted while they run, so their index does see the state.
    ADD COLUMN limit_state smallint GENERATED ALWAYS AS (CASE WHEN limit_key IS NOT NULL THEN state END) STORED;
-- Room for the claimed form of every row in its own page.
ALTER TABLE job SET (fillfactor = 45);

DROP INDEX job_ready, job_limited, job_due, job_resting, job_dedup, job_announce;
CREATE INDEX job_limited ON job (limit_key, limit_state, priority DESC, id) WHERE limit_key IS NOT NULL;
CREATE INDEX job_due ON job (shelf, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX job_resting ON job (shelf, id) WHERE shelf > 2;
CREATE INDEX job_announce ON job (announce_at) WHERE shelf = 4;
CREATE UNIQUE INDEX job_dedup ON job (dedup_key) WHERE dedup_key IS NOT NULL AND shelf < 5;

-- The ready jobs that have no limit. A row may be out of date: whoever takes it looks at the job. None is ever missing:
-- the triggers see to that, whoever makes a job ready.
CREATE TABLE ready (
    queue    text COLLATE "C" NOT NULL,
    priority integer NOT NULL,
    id       bigint NOT NULL
);
CREATE INDEX ready_order ON ready (queue, priority DESC, id);

CREATE FUNCTION jobs_begin_ready() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO ready (queue, priority, id)
        SELECT queue, priority, id FROM begun WHERE state = 0 AND limit_key IS NULL;
    RETURN NULL;
END $$;
CREATE TRIGGER jobs_begin_ready AFTER INSERT ON job REFERENCING NEW TABLE AS begun
    FOR EACH STATEMENT EXECUTE FUNCTION jobs_begin_ready();

CREATE FUNCTION job_becomes_ready() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO ready (queue, priority, id) VALUES (NEW.queue, NEW.priority, NEW.id);
    RETURN NULL;
END $$;
CREATE TRIGGER job_becomes_ready AFTER UPDATE OF state, priority ON job FOR EACH ROW
    WHEN (NEW.state = 0 AND NEW.limit_key IS NULL AND (OLD.state <> 0 OR OLD.priority <> NEW.priority))
    EXECUTE FUNCTION job_becomes_ready();

-- Until when a claim's jobs are leased. Those that have ended since, or are somebody else's by now, carry another token.
CREATE TABLE claim (
    token bigint PRIMARY KEY,
    until bigint NOT NULL,
    jobs  bigint[] NOT NULL
);
-- It lives for seconds: squeezing it costs more than it saves.
ALTER TABLE claim ALTER COLUMN jobs SET STORAGE EXTERNAL;

INSERT INTO ready (queue, priority, id) SELECT queue, priority, id FROM job WHERE state = 0 AND limit_key IS NULL;
INSERT INTO claim (token, until, jobs)
    SELECT token, max(due_at), array_agg(id ORDER BY id) FROM job WHERE state = 2 AND token IS NOT NULL GROUP BY token;
UPDATE job SET due_at = NULL WHERE state = 2;
