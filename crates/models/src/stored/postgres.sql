-- Calls of language models, what each day has cost, and answers by what was asked.
CREATE TABLE model_call (
    id   text COLLATE "C" NOT NULL,
    day  text COLLATE "C" NOT NULL,
    data text COLLATE "C" NOT NULL,
    PRIMARY KEY (id)
);
CREATE INDEX model_call_of ON model_call (day);

CREATE TABLE model_day (
    day  text COLLATE "C" NOT NULL,
    data text COLLATE "C" NOT NULL,
    PRIMARY KEY (day)
);

CREATE TABLE model_answer (
    key     text COLLATE "C" NOT NULL,
    kept_at bigint,
    data    text COLLATE "C" NOT NULL,
    PRIMARY KEY (key)
);
