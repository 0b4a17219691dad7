//! Giving the space of deleted rows back, on a connection of its own, beside whoever else uses the file.
//!
//! Deleted content is overwritten inside its page at once (`secure_delete`). What is left of it are pages that have become
//! free, which go when the file is made shorter, and older copies of pages in the write-ahead log, which go when that is
//! emptied. Both are done in small steps that give way to others.

use super::open::{Options, explain, open_for_upkeep};
use crate::{error::StoreResult, retention::Reclaimed};
use rusqlite::Connection;

/// How many free pages are given back in one transaction.
const PAGES_AT_ONCE: u32 = 2_000;

/// How often the log is emptied anew where readers stood in the way.
const TRIES: u32 = 5;

pub(super) fn reclaim(options: &Options, whole: bool) -> StoreResult<Reclaimed> {
    let explain = |error: rusqlite::Error| explain(&error, &options.path, options.busy_timeout);
    let db = open_for_upkeep(options)?;
    let before = size(&db).map_err(explain)?;
    forget_samples(&db).map_err(explain)?;
    if whole {
        db.execute_batch("VACUUM").map_err(explain)?;
    }
    let mut left = free_pages(&db).map_err(explain)?;
    while left > 0 {
        shorten(&db).map_err(explain)?;
        let now = free_pages(&db).map_err(explain)?;
        if now >= left {
            // A file that was made before it could be shortened, or somebody who frees as fast.
            break;
        }
        left = now;
    }
    let mut is_empty = false;
    for _ in 0..TRIES {
        is_empty = empty_log(&db).map_err(explain)?;
        if is_empty {
            break;
        }
    }
    let bytes = before.saturating_sub(size(&db).map_err(explain)?);
    Ok(Reclaimed { bytes, complete: is_empty && left == 0 })
}

/// The query planner keeps samples of what indexes hold, also of rows that are gone. It makes new ones when it needs them.
fn forget_samples(db: &Connection) -> rusqlite::Result<()> {
    let has_samples = db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'sqlite_stat4'")?.exists([])?;
    if has_samples { db.execute_batch("DELETE FROM sqlite_stat4; DELETE FROM sqlite_stat1") } else { Ok(()) }
}

fn number(db: &Connection, pragma: &str) -> rusqlite::Result<u64> {
    db.pragma_query_value(None, pragma, |row| row.get::<_, i64>(0)).map(|number| number.max(0) as u64)
}

fn size(db: &Connection) -> rusqlite::Result<u64> {
    Ok(number(db, "page_count")? * number(db, "page_size")?)
}

fn free_pages(db: &Connection) -> rusqlite::Result<u64> {
    number(db, "freelist_count")
}

/// Each row that this returns is a page that went.
fn shorten(db: &Connection) -> rusqlite::Result<()> {
    let mut statement = db.prepare(&format!("PRAGMA incremental_vacuum({PAGES_AT_ONCE})"))?;
    let mut rows = statement.query([])?;
    while rows.next()?.is_some() {}
    Ok(())
}

/// Whether the write-ahead log is empty now. It is not while somebody reads what was there before.
fn empty_log(db: &Connection) -> rusqlite::Result<bool> {
    db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, i64>(0)).map(|busy| busy == 0)
}
