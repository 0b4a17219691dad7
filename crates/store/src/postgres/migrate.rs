//! Bringing the schema forward, safe beside running workers and beside others that do the same.

use super::{
    fail::{TxError, TxResult},
    open::PostgresOptions,
};
use crate::{
    error::{StoreError, StoreResult},
    rows::pending_migrations,
};
use std::cmp::Ordering;
use tokio_postgres::{Client, Transaction};

/// Applied in order; `bindery_version` says how many the schema has. Never edit one that was released.
const MIGRATIONS: [&str; 1] = [include_str!("migrations/0001_initial.sql")];

/// Held while a schema is looked at and changed. The number is arbitrary.
const LOCK: i64 = 0x4249_4E44_4552_5900;

/// All missing migrations in one transaction.
pub(super) async fn migrate(client: &mut Client, options: &PostgresOptions, place: &str) -> StoreResult<()> {
    let schema = &options.schema;
    run(client, options, place).await.map_err(|error| match error.explain(place) {
        StoreError::NotWritable { path, detail } => {
            let hint =
                format!("{detail}; our tables are in schema {schema}, which the user must be able to make or own");
            StoreError::NotWritable { path, detail: hint }
        }
        other => other,
    })
}

/// Whether our tables are there, as new as this program knows them. Changes nothing but what a copy to another server
/// has left behind.
pub(super) async fn is_there(client: &Client, options: &PostgresOptions, place: &str) -> StoreResult<bool> {
    let schema = &options.schema;
    let wrong = |error: tokio_postgres::Error| TxError::from(error).explain(place);
    let sql = "SELECT to_regclass($1) IS NOT NULL";
    let ours: bool = client.query_one(sql, &[&format!("{schema}.bindery_version")]).await.map_err(wrong)?.get(0);
    if !ours {
        return Ok(false);
    }
    let found: i64 = client.query_one("SELECT version FROM bindery_version", &[]).await.map_err(wrong)?.get(0);
    let known = MIGRATIONS.len() as i64;
    match found.cmp(&known) {
        Ordering::Less => return Err(StoreError::Older { path: place.into(), found, known }),
        Ordering::Greater => return Err(StoreError::Newer { path: place.into(), found, known }),
        Ordering::Equal => {}
    }
    for schema in options.domains.iter().map(|domain| domain.schema()) {
        let found = client.query_opt(VERSION, &[&schema.name]).await.map_err(wrong)?.map_or(0, |row| row.get(0));
        let known = schema.postgres.len() as i64;
        if !pending_migrations(found, schema.postgres, place.as_ref())?.is_empty() {
            return Err(StoreError::Older { path: place.into(), found, known });
        }
    }
    if let Err(error) = client.batch_execute(KEEP_POSITIONS_GROWING).await {
        // Whoever may only look, writes no events.
        tracing::debug!(error = %error, "the positions of events were not compared with the server's");
    }
    Ok(true)
}

/// How many migrations a domain has applied.
const VERSION: &str = "SELECT version FROM domain_version WHERE domain = $1";

async fn run(client: &mut Client, options: &PostgresOptions, place: &str) -> TxResult<()> {
    let schema = &options.schema;
    let tx = client.transaction().await?;
    tx.execute("SELECT pg_advisory_xact_lock($1)", &[&LOCK]).await?;
    let exists = "SELECT 1 FROM pg_namespace WHERE nspname = $1";
    if tx.query_opt(exists, &[&schema]).await?.is_none() {
        tx.batch_execute(&format!("CREATE SCHEMA {schema}")).await?;
    }
    let applied = applied(&tx, schema, place).await?;
    for (number, migration) in (1_i64..).zip(MIGRATIONS).skip(applied) {
        tx.batch_execute(migration).await?;
        tx.execute("UPDATE bindery_version SET version = $1", &[&number]).await?;
    }
    for domain in options.domains.iter().map(|domain| domain.schema()) {
        let applied = tx.query_opt(VERSION, &[&domain.name]).await?.map_or(0, |row| row.get(0));
        let missing = pending_migrations(applied, domain.postgres, place.as_ref())?;
        for migration in missing {
            tx.batch_execute(migration).await?;
        }
        if !missing.is_empty() {
            let sql = "INSERT INTO domain_version (domain, version) VALUES ($1, $2) \
                       ON CONFLICT (domain) DO UPDATE SET version = excluded.version";
            tx.execute(sql, &[&domain.name, &(domain.postgres.len() as i64)]).await?;
        }
    }
    tx.batch_execute(KEEP_POSITIONS_GROWING).await?;
    Ok(tx.commit().await?)
}

/// How many migrations the schema has. Somebody else's tables stay as they are.
async fn applied(tx: &Transaction<'_>, schema: &str, place: &str) -> TxResult<usize> {
    let ours = "SELECT to_regclass($1) IS NOT NULL";
    let ours: bool = tx.query_one(ours, &[&format!("{schema}.bindery_version")]).await?.get(0);
    if !ours {
        let tables = "SELECT count(*) FROM pg_tables WHERE schemaname = $1";
        if tx.query_one(tables, &[&schema]).await?.get::<_, i64>(0) > 0 {
            let detail = format!("schema {schema} has tables of another program");
            return Err(StoreError::NotOurs { path: place.into(), detail }.into());
        }
        tx.batch_execute(
            "CREATE TABLE bindery_version (version bigint NOT NULL); INSERT INTO bindery_version VALUES (0)",
        )
        .await?;
    }
    let found: i64 = tx.query_one("SELECT version FROM bindery_version", &[]).await?.get(0);
    let known = MIGRATIONS.len() as i64;
    if found > known {
        return Err(TxError::Store(StoreError::Newer { path: place.into(), found, known }));
    }
    Ok(usize::try_from(found).unwrap_or(0))
}

/// Positions of events are counted by the server's transactions. Another server, to which the database was copied, may
/// have counted fewer: then it counts from where the copied events end.
pub(super) const KEEP_POSITIONS_GROWING: &str = "\
    UPDATE feed SET base = pg_current_xact_id()::text::bigint - 1 - (last.seq >> 20) \
    FROM (SELECT coalesce(max(seq), 0) AS seq FROM event) AS last \
    WHERE ((pg_snapshot_xmax(pg_current_snapshot())::text::bigint - feed.base) << 20) <= last.seq";
