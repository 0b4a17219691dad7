-- When a worker said that it stops. It is back when it was seen after that.
ALTER TABLE worker ADD COLUMN left_at bigint;
