-- What people decide. All of it may be missing: a review from before waits, is anybody's, and can be kept for ever.
-- The chain has gone on without the answer.
ALTER TABLE review ADD COLUMN goes_on INTEGER;
-- What a person should know about, as JSON.
ALTER TABLE review ADD COLUMN skills TEXT;
-- How long somebody may keep it without deciding, and until when the one who has it may.
ALTER TABLE review ADD COLUMN claim_ms INTEGER;
ALTER TABLE review ADD COLUMN assigned_until INTEGER;
-- What was decided, as JSON.
ALTER TABLE review ADD COLUMN decision TEXT;
