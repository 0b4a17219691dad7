-- Attempts are counted when they end, not when a job is claimed.
UPDATE job SET attempt = max(attempt - 1, 0) WHERE state = 2 AND carried = 0;

-- Whether a worker died while it held the job: it then runs apart from other work, with at most so many others that are
-- under the same suspicion. 0: it is not a suspect.
ALTER TABLE job ADD COLUMN suspect INTEGER NOT NULL DEFAULT 0;
-- With how many of them (itself included) the run under way has begun. 0: it has not.
ALTER TABLE job ADD COLUMN begun_with INTEGER NOT NULL DEFAULT 0;
-- How many workers died while they ran it and nothing else.
ALTER TABLE job ADD COLUMN losses INTEGER NOT NULL DEFAULT 0;
-- How long its lease is, to tell the end of a lease from a clock that was wrong.
ALTER TABLE job ADD COLUMN lease_ms INTEGER NOT NULL DEFAULT 0;

-- Ordinary claims do not meet suspects.
DROP INDEX job_ready;
CREATE INDEX job_ready ON job (queue, priority DESC, id) WHERE state = 0 AND limit_key IS NULL AND suspect = 0;
DROP INDEX job_limited;
CREATE INDEX job_limited ON job (limit_key, state, suspect, priority DESC, id) WHERE limit_key IS NOT NULL;
CREATE INDEX job_suspect ON job (losses, suspect DESC, id) WHERE suspect > 0 AND state = 0;
