-- Calls of language models, what each day has cost, and answers by what was asked.
CREATE TABLE model_call (
    id   TEXT NOT NULL,
    day  TEXT NOT NULL,
    data TEXT NOT NULL,
    PRIMARY KEY (id)
) STRICT, WITHOUT ROWID;
CREATE INDEX model_call_of ON model_call (day);

CREATE TABLE model_day (
    day  TEXT NOT NULL,
    data TEXT NOT NULL,
    PRIMARY KEY (day)
) STRICT, WITHOUT ROWID;

CREATE TABLE model_answer (
    key     TEXT NOT NULL,
    kept_at INTEGER,
    data    TEXT NOT NULL,
    PRIMARY KEY (key)
) STRICT, WITHOUT ROWID;
