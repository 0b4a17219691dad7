//! Ids, drawn from the store in blocks, so that a commit's items and joins are known before it is made.

use bindery_core::{ItemId, JoinId, SubmissionId};
use bindery_store::{Store, StoreResult, query::IdKind};
use std::{
    ops::Range,
    sync::{Arc, Mutex, PoisonError},
};

/// How many ids are fetched at a time. Unused ones are lost at the end of the process, which is harmless.
const BLOCK: u32 = 10_000;

#[derive(Debug)]
pub struct IdPool {
    store: Arc<dyn Store>,
    items: Mutex<Range<i64>>,
    joins: Mutex<Range<i64>>,
}

impl IdPool {
    pub fn new(store: Arc<dyn Store>) -> Self {
        Self { store, items: Mutex::new(0..0), joins: Mutex::new(0..0) }
    }

    /// Submissions are few and people type their ids: these are drawn one by one and stay small.
    pub async fn submission(&self) -> StoreResult<SubmissionId> {
        Ok(SubmissionId::from_raw(self.store.reserve_ids(IdKind::Submission, 1).await?.start))
    }

    /// `count` item ids in ascending order.
    pub async fn items(&self, count: usize) -> StoreResult<Vec<ItemId>> {
        let ids = self.draw(&self.items, IdKind::Item, count).await?;
        Ok(ids.into_iter().map(ItemId::from_raw).collect())
    }

    /// `count` join ids in ascending order.
    pub async fn joins(&self, count: usize) -> StoreResult<Vec<JoinId>> {
        let ids = self.draw(&self.joins, IdKind::Join, count).await?;
        Ok(ids.into_iter().map(JoinId::from_raw).collect())
    }

    async fn draw(&self, pool: &Mutex<Range<i64>>, kind: IdKind, count: usize) -> StoreResult<Vec<i64>> {
        let mut ids = take(pool, count);
        if ids.len() < count {
            let missing = u32::try_from(count - ids.len()).unwrap_or(u32::MAX);
            let mut fresh = self.store.reserve_ids(kind, missing.max(BLOCK)).await?;
            ids.extend(fresh.by_ref().take(count - ids.len()));
            // Another caller may have refilled the pool meanwhile; keep the larger rest.
            let mut pool = pool.lock().unwrap_or_else(PoisonError::into_inner);
            if fresh.end - fresh.start > pool.end - pool.start {
                *pool = fresh;
            }
        }
        Ok(ids)
    }
}

fn take(pool: &Mutex<Range<i64>>, count: usize) -> Vec<i64> {
    pool.lock().unwrap_or_else(PoisonError::into_inner).by_ref().take(count).collect()
}
