//! The blob sweep: mark what is named, remove what is not. Why that is safe is said in the [module documentation](super).

use crate::error::EngineResult;
use bindery_core::ContentHash;
use bindery_store::{
    Store,
    blobs::{BlobError, Blobs, Removal},
    retention::{Candidates, mentions},
};
use serde::Serialize;
use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
    time::{Duration, SystemTime},
};
use tokio::task::JoinSet;

/// How long after its last touch a blob may still be about to be named.
pub const GRACE: Duration = Duration::from_secs(60 * 60);

/// The same for blobs that no row has ever named: an import stores all blobs first, which may take hours.
pub const ORPHAN_GRACE: Duration = Duration::from_secs(24 * 60 * 60);

/// How many candidates are looked at together: each time, all rows are gone through.
const AT_ONCE: usize = 200_000;

/// How many blobs are read or removed at the same time.
const IN_FLIGHT: usize = 8;

/// How many payloads are read before what they name is stored.
const READ_AT_ONCE: usize = 500;

/// Larger blobs are files, and name nothing.
const LARGEST_PAYLOAD: u64 = 64 << 20;

/// Whether others may use the store while it is swept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Others {
    /// They may: blobs that were touched within the grace period stay for the next sweep.
    MayWork,
    /// It is asked: where nobody else uses the store, no blob has to wait.
    AreAskedFor,
}

/// What a sweep did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct BlobsSwept {
    pub removed: u64,
    pub bytes: u64,
    /// Named by others, too: they stay.
    pub shared: u64,
    /// Touched lately: they go with a later sweep.
    pub waiting: u64,
}

impl BlobsSwept {
    fn add(&mut self, other: Self) {
        self.removed += other.removed;
        self.bytes += other.bytes;
        self.shared += other.shared;
        self.waiting += other.waiting;
    }
}

/// Removes the blobs that deleted rows have named and nothing names any more. With `settled`, only those whose rows went
/// longer ago than the grace period: the others are not worth a look yet.
pub async fn sweep_candidates(
    store: &dyn Store,
    blobs: &Arc<dyn Blobs>,
    others: Others,
    settled: bool,
) -> EngineResult<BlobsSwept> {
    let mut swept = BlobsSwept::default();
    let before = settled.then(|| store.clock().now() - GRACE);
    loop {
        // The time first: whoever begins to use the store after the question touches later than that.
        let now = blobs.now().await?;
        let is_alone = others == Others::AreAskedFor && store.is_used_alone().await?;
        let unused_since = if is_alone { now } else { now - GRACE };
        let candidates = store.blob_candidates(before, AT_ONCE).await?;
        if candidates.0.is_empty() {
            return Ok(swept);
        }
        let portion = sweep(store, blobs, candidates, unused_since).await?;
        let is_over = portion.removed + portion.shared == 0;
        // Those that wait are counted once: the last time.
        swept.waiting = 0;
        swept.add(portion);
        if is_over {
            return Ok(swept);
        }
    }
}

/// Goes through all blobs and removes those that nothing names: what a crash between a put and its commit has left.
pub async fn sweep_orphans(store: &dyn Store, blobs: &Arc<dyn Blobs>) -> EngineResult<BlobsSwept> {
    let mut swept = BlobsSwept::default();
    let unused_since = blobs.now().await? - ORPHAN_GRACE;
    let (mut after, mut old) = (None, Vec::new());
    loop {
        let page = blobs.list(after, 10_000).await?;
        after = page.last().map(|listed| listed.hash);
        old.extend(page.iter().filter(|listed| listed.touched <= unused_since).map(|listed| listed.hash));
        if old.len() >= AT_ONCE || (after.is_none() && !old.is_empty()) {
            let candidates = Candidates::from_hashes(std::mem::take(&mut old));
            let mut portion = sweep(store, blobs, candidates, unused_since).await?;
            // Blobs in use are what a store consists of.
            portion.shared = 0;
            swept.add(portion);
        }
        if after.is_none() {
            return Ok(swept);
        }
    }
}

/// One mark phase, and the removal of what it did not find.
async fn sweep(
    store: &dyn Store,
    blobs: &Arc<dyn Blobs>,
    candidates: Candidates,
    unused_since: SystemTime,
) -> EngineResult<BlobsSwept> {
    let candidates = Arc::new(candidates);
    let marked = store.mark_blobs(Arc::clone(&candidates)).await?;
    let mut in_use = marked.in_use;
    for (submission, payload, named) in read_payloads(store, blobs, marked.unread).await? {
        for hash in named {
            if candidates.is_kept_by(hash, submission) {
                in_use.insert(hash);
            }
        }
        tracing::trace!(payload = %payload, "read a payload for the sweep");
    }
    let unused: Vec<ContentHash> = candidates.0.keys().filter(|hash| !in_use.contains(hash)).copied().collect();
    remember_what_goes_with(store, blobs, &candidates, &unused).await?;
    let removals =
        in_parallel(blobs, unused, move |blobs, hash| async move { blobs.remove_unused(hash, unused_since).await })
            .await?;
    let mut swept = BlobsSwept { shared: in_use.len() as u64, ..BlobsSwept::default() };
    let (mut settled, mut gone): (Vec<ContentHash>, Vec<ContentHash>) = (in_use.into_iter().collect(), Vec::new());
    for (hash, removal) in removals {
        match removal {
            Removal::Removed(size) => {
                swept.removed += 1;
                swept.bytes += size;
                gone.push(hash);
            }
            Removal::Missing => gone.push(hash),
            Removal::InUse => swept.waiting += 1,
        }
    }
    settled.extend_from_slice(&gone);
    store.settle_candidates(settled).await?;
    store.cache_mentions(HashMap::new(), gone).await?;
    Ok(swept)
}

type Named = (Option<i64>, ContentHash, Vec<ContentHash>);

/// What payloads name that were not read before. They never change, so each is read once.
async fn read_payloads(
    store: &dyn Store,
    blobs: &Arc<dyn Blobs>,
    unread: HashSet<(Option<i64>, ContentHash)>,
) -> EngineResult<Vec<Named>> {
    let payloads: HashSet<ContentHash> = unread.iter().map(|(_, payload)| *payload).collect();
    let payloads: Vec<ContentHash> = payloads.into_iter().collect();
    let mut known: HashMap<ContentHash, Vec<ContentHash>> = HashMap::new();
    for portion in payloads.chunks(READ_AT_ONCE) {
        let read =
            in_parallel(blobs, portion.to_vec(), |blobs, hash| async move { names(&*blobs, hash).await }).await?;
        let read: HashMap<ContentHash, Vec<ContentHash>> = read.into_iter().collect();
        store.cache_mentions(read.clone(), Vec::new()).await?;
        known.extend(read);
    }
    let named = |(submission, payload): (Option<i64>, ContentHash)| {
        (submission, payload, known.get(&payload).cloned().unwrap_or_default())
    };
    Ok(unread.into_iter().map(named).collect())
}

/// A payload that goes may be the only one that names others: they are candidates from now on.
async fn remember_what_goes_with(
    store: &dyn Store,
    blobs: &Arc<dyn Blobs>,
    candidates: &Candidates,
    unused: &[ContentHash],
) -> EngineResult<()> {
    for portion in unused.chunks(READ_AT_ONCE) {
        let read =
            in_parallel(blobs, portion.to_vec(), |blobs, hash| async move { names(&*blobs, hash).await }).await?;
        let mut with = Candidates::default();
        for (payload, named) in read {
            let ignored = candidates.0.get(&payload).cloned().unwrap_or_default();
            with.0.extend(
                named.into_iter().filter(|hash| !candidates.0.contains_key(hash)).map(|it| (it, ignored.clone())),
            );
        }
        if !with.0.is_empty() {
            store.add_candidates(with).await?;
        }
    }
    Ok(())
}

/// The blobs that a blob names: JSON may, anything else does not.
async fn names(blobs: &dyn Blobs, hash: ContentHash) -> Result<Vec<ContentHash>, BlobError> {
    let bytes = match blobs.size(hash).await {
        Ok(size) if size > LARGEST_PAYLOAD => return Ok(Vec::new()),
        Ok(_) => blobs.get(hash).await,
        Err(error) => Err(error),
    };
    let bytes = match bytes {
        Ok(bytes) => bytes,
        // What is not there, or is not what it was, names nothing that could be read.
        Err(BlobError::Missing { .. } | BlobError::Corrupt { .. }) => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut found = Vec::new();
    if matches!(bytes.first(), Some(b'{' | b'[' | b'"')) {
        mentions(&bytes, |hash| found.push(hash));
        found.sort_unstable();
        found.dedup();
    }
    Ok(found)
}

/// Does something with each blob, a few at a time. The first error ends it.
async fn in_parallel<T, F, Fut>(
    blobs: &Arc<dyn Blobs>,
    hashes: Vec<ContentHash>,
    work: F,
) -> EngineResult<Vec<(ContentHash, T)>>
where
    T: Send + 'static,
    F: Fn(Arc<dyn Blobs>, ContentHash) -> Fut,
    Fut: Future<Output = Result<T, BlobError>> + Send + 'static,
{
    let mut running: JoinSet<(ContentHash, Result<T, BlobError>)> = JoinSet::new();
    let mut done = Vec::with_capacity(hashes.len());
    let mut left = hashes.into_iter();
    loop {
        while running.len() < IN_FLIGHT
            && let Some(hash) = left.next()
        {
            let future = work(Arc::clone(blobs), hash);
            running.spawn(async move { (hash, future.await) });
        }
        match running.join_next().await {
            None => return Ok(done),
            Some(Ok((hash, result))) => done.push((hash, result?)),
            Some(Err(failure)) => match failure.try_into_panic() {
                Ok(panic) => std::panic::resume_unwind(panic),
                Err(_cancelled) => return Err(BlobError::ShuttingDown.into()),
            },
        }
    }
}
