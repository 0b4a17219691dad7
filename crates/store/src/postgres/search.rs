//! The index of texts, on vectors of words.

use super::{
    backend::PostgresStore,
    fail::TxResult,
    rows::get,
    session::{Tx, transaction},
};
use crate::{
    error::{StoreError, StoreResult},
    query::IdKind,
    search::{ChunkRow, CollectionView, Hit, IndexedDocument, Search, SearchRequest, Snippet, Term},
    store::Queue as _,
};
use async_trait::async_trait;
use bindery_core::SubmissionId;
use std::ops::Range;
use tokio_postgres::Row;

#[async_trait]
impl Search for PostgresStore {
    async fn index_document(&self, document: IndexedDocument) -> StoreResult<()> {
        let rows = document.rows()?;
        // Before the transaction: who draws numbers inside of one keeps others from drawing any until it ends.
        let ids = self.reserve_ids(IdKind::Chunk, u32::try_from(rows.len()).unwrap_or(u32::MAX)).await?;
        transaction!(self.db, Quiet, tx => index(&tx, &document, &rows, &ids).await)
    }

    async fn remove_document(&self, collection: &str, document_id: &str) -> StoreResult<bool> {
        transaction!(self.db, Quiet, tx => remove(&tx, collection, document_id).await)
    }

    async fn owned_documents(&self, owner: &str) -> StoreResult<u64> {
        let sql = "SELECT count(*) FROM indexed_document WHERE owner = $1";
        let counted = self.db.ask(sql, &[&owner], |row| get::<i64>(row, 0)).await?;
        Ok(counted.first().copied().unwrap_or_default().unsigned_abs())
    }

    async fn remove_documents_of(&self, owner: &str, limit: usize) -> StoreResult<u64> {
        transaction!(self.db, Quiet, tx => remove_owned(&tx, owner, limit).await)
    }

    async fn search(&self, request: SearchRequest) -> StoreResult<Vec<Hit>> {
        // Only such a transaction may use the index of words.
        transaction!(self.db, Read, tx => search(&tx, &request).await)
    }

    async fn collections(&self) -> StoreResult<Vec<CollectionView>> {
        let sql = "SELECT collection, count(*), sum(pages)::bigint, sum(chunks)::bigint FROM indexed_document \
                   GROUP BY collection ORDER BY collection";
        self.db.ask(sql, &[], collection).await
    }
}

async fn remove(tx: &Tx, collection: &str, document_id: &str) -> TxResult<bool> {
    // The document first, as when it is indexed: whoever comes second waits there.
    let sql = "DELETE FROM indexed_document WHERE collection = $1 AND document_id = $2";
    let removed = tx.execute(sql, &[&collection, &document_id]).await?;
    tx.execute("DELETE FROM indexed_chunk WHERE collection = $1 AND document_id = $2", &[&collection, &document_id])
        .await?;
    Ok(removed > 0)
}

async fn remove_owned(tx: &Tx, owner: &str, limit: usize) -> TxResult<u64> {
    let sql = "SELECT collection, document_id FROM indexed_document WHERE owner = $1 \
               ORDER BY collection, document_id LIMIT $2 FOR UPDATE";
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let key = |row: &Row| Ok((get::<String>(row, 0)?, get::<String>(row, 1)?));
    let found = tx.collect(sql, &[&owner, &limit], key).await?;
    for (collection, document_id) in &found {
        remove(tx, collection, document_id).await?;
    }
    Ok(found.len() as u64)
}

async fn index(tx: &Tx, document: &IndexedDocument, rows: &[ChunkRow], ids: &Range<i64>) -> TxResult<()> {
    if let Some(submission) = document.submission {
        let find = "SELECT 1 FROM submission WHERE id = $1 FOR KEY SHARE";
        if tx.first(find, &[&submission.raw()]).await?.is_none() {
            // It was deleted meanwhile: its text must not come back.
            return Err(StoreError::not_found(submission).into());
        }
    }
    // Two that index the same document for the first time wait for each other, too.
    let upsert = "INSERT INTO indexed_document (collection, document_id, file_guid, file_name, metadata, pages, chunks, \
         indexed_at, submission_id, owner) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) \
         ON CONFLICT (collection, document_id) DO UPDATE SET \
         file_guid = excluded.file_guid, file_name = excluded.file_name, metadata = excluded.metadata, \
         pages = excluded.pages, chunks = excluded.chunks, indexed_at = excluded.indexed_at, \
         submission_id = excluded.submission_id, owner = excluded.owner";
    let (collection, id) = (&document.collection, &document.document_id);
    let (pages, chunks) = (document.pages(), rows.len() as i64);
    let about = (&document.file_guid, &document.file_name, &document.metadata);
    let submission = document.submission.map(SubmissionId::raw);
    let (at, owner) = (tx.millis(), &document.owner);
    tx.execute(upsert, &[collection, id, about.0, about.1, about.2, &pages, &chunks, &at, &submission, owner]).await?;
    tx.execute("DELETE FROM indexed_chunk WHERE collection = $1 AND document_id = $2", &[collection, id]).await?;
    let insert = "INSERT INTO indexed_chunk (id, collection, document_id, ordinal, page, text, words) \
         SELECT $1 + place - 1, $2, $3, ordinal, page, text, words \
         FROM unnest($4::bigint[], $5::bigint[], $6::text[], $7::text[]) \
         WITH ORDINALITY AS chunk (ordinal, page, text, words, place)";
    let ordinals: Vec<i64> = rows.iter().map(|row| row.ordinal).collect();
    let pages: Vec<i64> = rows.iter().map(|row| row.page).collect();
    let texts: Vec<&str> = rows.iter().map(|row| row.text.as_str()).collect();
    let words: Vec<&str> = rows.iter().map(|row| row.words.as_str()).collect();
    tx.execute(insert, &[&ids.start, collection, id, &ordinals, &pages, &texts, &words]).await?;
    Ok(())
}

/// `$1` to `$3` are the terms, `$4` all that a page can be found by, `$5` the collection.
const SEARCH: &str = "\
WITH term AS MATERIALIZED (
    SELECT number, alternative, excluded, words::tsquery AS words
    FROM unnest($1::bigint[], $2::boolean[], $3::text[]) WITH ORDINALITY AS list (alternative, excluded, words, number)
), has AS (
    SELECT DISTINCT term.number, term.alternative, term.excluded, chunk.collection, chunk.document_id, chunk.page
    FROM term JOIN indexed_chunk AS chunk ON chunk.vector @@ term.words
    WHERE $5::text IS NULL OR chunk.collection = $5
), found AS MATERIALIZED (
    SELECT DISTINCT collection, document_id, page FROM (
        SELECT alternative, collection, document_id, page, bool_or(excluded) AS excluded, count(*) AS terms
        FROM has GROUP BY alternative, collection, document_id, page
    ) AS page
    WHERE NOT excluded
    AND terms = (SELECT count(*) FROM term WHERE term.alternative = page.alternative AND NOT term.excluded)
), scored AS (
    SELECT chunk.id, chunk.collection, chunk.document_id, chunk.page, ts_rank(chunk.vector, $4::text::tsquery) AS score
    FROM indexed_chunk AS chunk JOIN found USING (collection, document_id, page)
    WHERE chunk.vector @@ $4::text::tsquery
), page AS (
    SELECT id, collection, document_id, page,
        sum(score::double precision) OVER (PARTITION BY collection, document_id, page) AS score,
        row_number() OVER (PARTITION BY collection, document_id, page ORDER BY score DESC, id) AS place
    FROM scored
)
SELECT page.collection, page.document_id, document.file_guid, document.file_name, page.page, page.score, chunk.text
FROM page JOIN indexed_document AS document USING (collection, document_id)
JOIN indexed_chunk AS chunk ON chunk.id = page.id
WHERE page.place = 1
ORDER BY page.score DESC, page.collection, page.document_id, page.page
LIMIT $6 OFFSET $7";

async fn search(tx: &Tx, request: &SearchRequest) -> TxResult<Vec<Hit>> {
    let query = &request.query;
    let alternatives: Vec<i64> = query.clauses().map(|asked| asked.alternative as i64).collect();
    let excluded: Vec<bool> = query.clauses().map(|asked| asked.excluded).collect();
    let words: Vec<String> = query.clauses().map(|asked| asked.term.for_postgres()).collect();
    let any: Vec<String> = query.wanted_terms().map(Term::for_postgres).collect();
    let any = any.join(" | ");
    let (limit, offset) = (request.limit as i64, request.offset as i64);
    let map = |row: &Row| {
        Ok(Hit {
            collection: get(row, 0)?,
            document_id: get(row, 1)?,
            file_guid: get(row, 2)?,
            file_name: get(row, 3)?,
            page: u32::try_from(get::<i64>(row, 4)?).unwrap_or_default(),
            score: get(row, 5)?,
            snippet: Snippet::from_text(get(row, 6)?, query),
        })
    };
    tx.collect(SEARCH, &[&alternatives, &excluded, &words, &any, &request.collection, &limit, &offset], map).await
}

fn collection(row: &Row) -> TxResult<CollectionView> {
    let count = |column| get::<i64>(row, column).map(|count| count.max(0) as u64);
    Ok(CollectionView { collection: get(row, 0)?, documents: count(1)?, pages: count(2)?, chunks: count(3)? })
}
