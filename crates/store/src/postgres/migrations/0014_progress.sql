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

-- What failed is listed by itself, among a million that did not.
CREATE INDEX outcome_failed ON outcome (submission_id, stage, item_id, processor) WHERE status = 2;

-- Counted once; from now on kept.
INSERT INTO progress (submission_id, kind, name, status, n)
    SELECT submission_id, 0, stage, status, count(*) FROM outcome GROUP BY submission_id, stage, status;
INSERT INTO progress (submission_id, kind, name, status, n)
    SELECT submission_id, 1, kind, 0, count(*) FROM item GROUP BY submission_id, kind;

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
