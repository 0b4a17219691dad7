-- What can be searched: the documents of collections, and their texts in chunks.
CREATE TABLE indexed_document (
    collection  TEXT NOT NULL,
    document_id TEXT NOT NULL,
    file_guid   TEXT NOT NULL,
    file_name   TEXT NOT NULL,
    metadata    TEXT NOT NULL,
    pages       INTEGER NOT NULL,
    chunks      INTEGER NOT NULL,
    indexed_at  INTEGER NOT NULL,
    PRIMARY KEY (collection, document_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE indexed_chunk (
    id          INTEGER PRIMARY KEY,
    collection  TEXT NOT NULL,
    document_id TEXT NOT NULL,
    ordinal     INTEGER NOT NULL,
    page        INTEGER NOT NULL,
    text        TEXT NOT NULL,
    -- The words of the text in the form in which they are compared, separated by spaces.
    words       TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX indexed_chunk_place ON indexed_chunk (collection, document_id, ordinal);

-- The words are made by us, so there is nothing left to tokenise but spaces.
CREATE VIRTUAL TABLE indexed_words USING fts5 (words, content = 'indexed_chunk', content_rowid = 'id', tokenize = 'ascii');
-- Rows are only added and removed.
CREATE TRIGGER indexed_chunk_added AFTER INSERT ON indexed_chunk BEGIN
    INSERT INTO indexed_words (rowid, words) VALUES (new.id, new.words);
END;
CREATE TRIGGER indexed_chunk_removed AFTER DELETE ON indexed_chunk BEGIN
    INSERT INTO indexed_words (indexed_words, rowid, words) VALUES ('delete', old.id, old.words);
END;
