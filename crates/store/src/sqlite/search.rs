//! The index of texts, on FTS5.

use super::{
    backend::SqliteStore,
    rows,
    writer::{Tx, WriteResult},
};
use crate::{
    error::{StoreError, StoreResult},
    query::IdKind,
    search::{ChunkRow, CollectionView, Hit, IndexedDocument, Query, Search, SearchRequest, Snippet, Term},
};
use async_trait::async_trait;
use bindery_core::SubmissionId;
use rusqlite::{Connection, Row};
use serde_json::json;

#[async_trait]
impl Search for SqliteStore {
    async fn index_document(&self, document: IndexedDocument) -> StoreResult<()> {
        let rows = document.rows()?;
        self.writer().write(move |tx| index(tx, &document, &rows)).await
    }

    async fn remove_document(&self, collection: &str, document_id: &str) -> StoreResult<bool> {
        let (collection, document_id) = (collection.to_owned(), document_id.to_owned());
        self.writer().write(move |tx| remove(tx, &collection, &document_id)).await
    }

    async fn owned_documents(&self, owner: &str) -> StoreResult<u64> {
        let owner = owner.to_owned();
        let sql = "SELECT count(*) FROM indexed_document WHERE owner = ?1";
        let counted = self.readers().read(move |db| db.query_row(sql, [owner], |row| row.get::<_, i64>(0))).await?;
        Ok(counted.unsigned_abs())
    }

    async fn remove_documents_of(&self, owner: &str, limit: usize) -> StoreResult<u64> {
        let owner = owner.to_owned();
        self.writer().write(move |tx| remove_owned(tx, &owner, limit)).await
    }

    async fn search(&self, request: SearchRequest) -> StoreResult<Vec<Hit>> {
        self.readers().read(move |db| search(db, &request)).await
    }

    async fn collections(&self) -> StoreResult<Vec<CollectionView>> {
        self.readers().read(collections).await
    }
}

fn remove(tx: &Tx<'_>, collection: &str, document_id: &str) -> WriteResult<bool> {
    let key = (collection, document_id);
    tx.db.prepare_cached("DELETE FROM indexed_chunk WHERE collection = ?1 AND document_id = ?2")?.execute(key)?;
    let removed = tx
        .db
        .prepare_cached("DELETE FROM indexed_document WHERE collection = ?1 AND document_id = ?2")?
        .execute(key)?;
    Ok(removed > 0)
}

fn remove_owned(tx: &Tx<'_>, owner: &str, limit: usize) -> WriteResult<u64> {
    let sql = "SELECT collection, document_id FROM indexed_document WHERE owner = ?1 LIMIT ?2";
    let key = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
    let found: Vec<(String, String)> = rows::collect(tx.db, sql, (owner, limit as i64), key)?;
    for (collection, document_id) in &found {
        remove(tx, collection, document_id)?;
    }
    Ok(found.len() as u64)
}

fn index(tx: &Tx<'_>, document: &IndexedDocument, rows: &[ChunkRow]) -> WriteResult<()> {
    if let Some(submission) = document.submission
        && !tx.db.prepare_cached("SELECT 1 FROM submission WHERE id = ?1")?.exists([submission.raw()])?
    {
        // It was deleted meanwhile: its text must not come back.
        return Err(StoreError::not_found(submission).into());
    }
    remove(tx, &document.collection, &document.document_id)?;
    let mut insert = tx.db.prepare_cached(
        "INSERT INTO indexed_document (collection, document_id, file_guid, file_name, metadata, pages, chunks, \
         indexed_at, submission_id, owner) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
    )?;
    insert.execute((
        &document.collection,
        &document.document_id,
        &document.file_guid,
        &document.file_name,
        &document.metadata,
        document.pages(),
        rows.len() as i64,
        tx.now.as_millis(),
        document.submission.map(SubmissionId::raw),
        &document.owner,
    ))?;
    let mut insert = tx.db.prepare_cached(
        "INSERT INTO indexed_chunk (id, collection, document_id, ordinal, page, text, words) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    )?;
    for (id, row) in tx.reserve(IdKind::Chunk.as_str(), rows.len() as i64)?.zip(rows) {
        let values = (id, &document.collection, &document.document_id, row.ordinal, row.page, &row.text, &row.words);
        insert.execute(values)?;
    }
    Ok(())
}

/// `?1` are the terms, `?2` all that a page can be found by, `?3` the collection.
///
/// A cross join keeps its order: the index is asked first, once for each term, and not once for each row of another
/// table. What is asked with `IN` is looked up; as a join it would be gone through for each row.
const SEARCH: &str = "\
WITH term AS MATERIALIZED (
    SELECT key AS number, value ->> 0 AS alternative, value ->> 1 AS excluded, value ->> 2 AS words
    FROM json_each(?1)
), has AS (
    SELECT DISTINCT term.number, term.alternative, term.excluded, chunk.collection, chunk.document_id, chunk.page
    FROM term CROSS JOIN indexed_words ON indexed_words MATCH term.words
    CROSS JOIN indexed_chunk AS chunk ON chunk.id = indexed_words.rowid
    WHERE ?3 IS NULL OR chunk.collection = ?3
), found AS (
    SELECT DISTINCT collection, document_id, page FROM (
        SELECT alternative, collection, document_id, page, max(excluded) AS excluded, count(*) AS terms
        FROM has GROUP BY alternative, collection, document_id, page
    ) AS page
    WHERE excluded = 0
    AND terms = (SELECT count(*) FROM term WHERE term.alternative = page.alternative AND term.excluded = 0)
), scored AS MATERIALIZED (
    SELECT chunk.id, chunk.collection, chunk.document_id, chunk.page, -bm25(indexed_words) AS score
    FROM indexed_words CROSS JOIN indexed_chunk AS chunk ON chunk.id = indexed_words.rowid
    WHERE indexed_words MATCH ?2
    AND (chunk.collection, chunk.document_id, chunk.page) IN (SELECT collection, document_id, page FROM found)
), page AS (
    SELECT id, collection, document_id, page,
        sum(score) OVER (PARTITION BY collection, document_id, page) AS score,
        row_number() OVER (PARTITION BY collection, document_id, page ORDER BY score DESC, id) AS place
    FROM scored
)
SELECT page.collection, page.document_id, document.file_guid, document.file_name, page.page, page.score, chunk.text
FROM page JOIN indexed_document AS document USING (collection, document_id)
JOIN indexed_chunk AS chunk ON chunk.id = page.id
WHERE page.place = 1
ORDER BY page.score DESC, page.collection, page.document_id, page.page
LIMIT ?4 OFFSET ?5";

fn search(db: &Connection, request: &SearchRequest) -> rusqlite::Result<Vec<Hit>> {
    let (terms, any) = match_clause(&request.query);
    let parameters = (terms, any, &request.collection, request.limit as i64, request.offset as i64);
    let mut statement = db.prepare_cached(SEARCH)?;
    let hits = statement.query_map(parameters, |row| {
        Ok(Hit {
            collection: row.get(0)?,
            document_id: row.get(1)?,
            file_guid: row.get(2)?,
            file_name: row.get(3)?,
            page: row.get(4)?,
            score: row.get(5)?,
            snippet: Snippet::from_text(row.get_ref(6)?.as_str()?, &request.query),
        })
    })?;
    hits.collect()
}

/// The terms as JSON, and all that a page can be found by in one expression.
fn match_clause(query: &Query) -> (String, String) {
    let terms: Vec<_> = query
        .clauses()
        .map(|asked| json!([asked.alternative, u8::from(asked.excluded), asked.term.for_sqlite()]))
        .collect();
    let any: Vec<String> = query.wanted_terms().map(Term::for_sqlite).collect();
    (json!(terms).to_string(), any.join(" OR "))
}

fn collections(db: &Connection) -> rusqlite::Result<Vec<CollectionView>> {
    let sql = "SELECT collection, count(*), sum(pages), sum(chunks) FROM indexed_document GROUP BY collection \
               ORDER BY collection";
    let mut statement = db.prepare_cached(sql)?;
    let views = statement.query_map([], |row| {
        let count = |column| row.get(column).map(|count: i64| count.max(0) as u64);
        Ok(CollectionView { collection: row.get(0)?, documents: count(1)?, pages: count(2)?, chunks: count(3)? })
    })?;
    views.collect()
}
