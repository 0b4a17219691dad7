-- Documents of agendas, by their address: what was last fetched from there, or why nothing was.
CREATE TABLE civic_document (
    url            text COLLATE "C" NOT NULL,
    content_sha256 text COLLATE "C",
    data           text COLLATE "C" NOT NULL,
    PRIMARY KEY (url)
);
CREATE INDEX civic_document_of ON civic_document (content_sha256) WHERE content_sha256 IS NOT NULL;

-- What a file says, by its content and by the rules that it was read by.
CREATE TABLE civic_text (
    content_sha256 text COLLATE "C" NOT NULL,
    reader         text COLLATE "C" NOT NULL,
    data           text COLLATE "C" NOT NULL,
    PRIMARY KEY (content_sha256, reader)
);

-- Words for topics that mean none that is known, with how often they came.
CREATE TABLE civic_unknown_topic (
    banana text COLLATE "C" NOT NULL,
    topic  text COLLATE "C" NOT NULL,
    data   text COLLATE "C" NOT NULL,
    PRIMARY KEY (banana, topic)
);

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
