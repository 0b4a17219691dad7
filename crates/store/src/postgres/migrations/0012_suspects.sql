-- Attempts are counted when they end, not when a job is claimed.
UPDATE job SET attempt = greatest(attempt - 1, 0) WHERE state = 2 AND NOT carried;

ALTER TABLE job
    -- Whether a worker died while it held the job: it then runs apart from other work, with at most so many others that
    -- are under the same suspicion. 0: it is not a suspect.
    ADD COLUMN suspect integer NOT NULL DEFAULT 0,
    -- With how many of them (itself included) the run under way has begun. 0: it has not.
    ADD COLUMN begun_with integer NOT NULL DEFAULT 0,
    -- How many workers died while they ran it and nothing else.
    ADD COLUMN losses integer NOT NULL DEFAULT 0;
-- How long the leases of a claim are, to tell their end from a clock that was wrong.
ALTER TABLE claim ADD COLUMN lease_ms bigint NOT NULL DEFAULT 0;

-- Ordinary claims do not meet suspects. No index knows the state, so that a claim touches none.
DROP INDEX job_limited;
CREATE INDEX job_limited ON job (limit_key, limit_state, suspect, priority DESC, id) WHERE limit_key IS NOT NULL;
CREATE INDEX job_suspect ON job (losses, suspect DESC, id) WHERE suspect > 0;

CREATE OR REPLACE FUNCTION jobs_begin_ready() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO ready (queue, priority, id)
        SELECT queue, priority, id FROM begun WHERE state = 0 AND limit_key IS NULL AND suspect = 0;
    RETURN NULL;
END $$;
DROP TRIGGER job_becomes_ready ON job;
CREATE TRIGGER job_becomes_ready AFTER UPDATE OF state, priority, suspect ON job FOR EACH ROW
    WHEN (NEW.state = 0 AND NEW.limit_key IS NULL AND NEW.suspect = 0
          AND (OLD.state <> 0 OR OLD.priority <> NEW.priority OR OLD.suspect <> 0))
    EXECUTE FUNCTION job_becomes_ready();
