-- Claimed only to be carried to somebody who adopts it; the attempt begins then.
ALTER TABLE job ADD COLUMN carried boolean NOT NULL DEFAULT false;
-- When somebody outside is next to be told about a job that waits for a report.
ALTER TABLE job ADD COLUMN announce_at bigint NOT NULL DEFAULT 0;
CREATE INDEX job_announce ON job (announce_at) WHERE state = 4;
