-- What can be searched: the documents of collections, and their texts in chunks.
CREATE TABLE indexed_document (
    collection  text COLLATE "C" NOT NULL,
    document_id text COLLATE "C" NOT NULL,
    file_guid   text COLLATE "C" NOT NULL,
    file_name   text COLLATE "C" NOT NULL,
    metadata    text COLLATE "C" NOT NULL,
    pages       bigint NOT NULL,
    chunks      bigint NOT NULL,
    indexed_at  bigint NOT NULL,
    PRIMARY KEY (collection, document_id)
);

-- Words that were separated by us, each with its place: no dictionary or language has a say in it.
CREATE FUNCTION indexed_vector(words text) RETURNS tsvector LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
    SELECT coalesce(string_agg(word || ':' || place, ' '), '')::tsvector
    FROM unnest(string_to_array(words, ' ')) WITH ORDINALITY AS list (word, place) WHERE word <> ''
$$;

CREATE TABLE indexed_chunk (
    id          bigint PRIMARY KEY,
    collection  text COLLATE "C" NOT NULL,
    document_id text COLLATE "C" NOT NULL,
    ordinal     bigint NOT NULL,
    page        bigint NOT NULL,
    text        text COLLATE "C" NOT NULL,
    -- The words of the text in the form in which they are compared, separated by spaces.
    words       text COLLATE "C" NOT NULL,
    vector      tsvector GENERATED ALWAYS AS (indexed_vector(words)) STORED
);
CREATE UNIQUE INDEX indexed_chunk_place ON indexed_chunk (collection, document_id, ordinal);
CREATE INDEX indexed_chunk_words ON indexed_chunk USING gin (vector);
