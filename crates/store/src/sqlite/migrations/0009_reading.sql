-- Documents of agendas, by their address: what was last fetched from there, or why nothing was.
CREATE TABLE civic_document (
    url            TEXT NOT NULL,
    content_sha256 TEXT,
    data           TEXT NOT NULL,
    PRIMARY KEY (url)
) STRICT, WITHOUT ROWID;
CREATE INDEX civic_document_of ON civic_document (content_sha256) WHERE content_sha256 IS NOT NULL;

-- What a file says, by its content and by the rules that it was read by.
CREATE TABLE civic_text (
    content_sha256 TEXT NOT NULL,
    reader         TEXT NOT NULL,
    data           TEXT NOT NULL,
    PRIMARY KEY (content_sha256, reader)
) STRICT, WITHOUT ROWID;

-- Words for topics that mean none that is known, with how often they came.
CREATE TABLE civic_unknown_topic (
    banana TEXT NOT NULL,
    topic  TEXT NOT NULL,
    data   TEXT NOT NULL,
    PRIMARY KEY (banana, topic)
) STRICT, WITHOUT ROWID;

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
