-- Claimed only to be carried to somebody who adopts it; the attempt begins then.
ALTER TABLE job ADD COLUMN carried INTEGER NOT NULL DEFAULT 0;
-- When somebody outside is next to be told about a job that waits for a report.
ALTER TABLE job ADD COLUMN announce_at INTEGER NOT NULL DEFAULT 0;
CREATE INDEX job_announce ON job (announce_at) WHERE state = 4;
