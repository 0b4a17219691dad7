//! Group commit: what callers commit at the same moment becomes one transaction.
//!
//! While one group is being written, the next gathers by itself, so no timer is needed. If a group fails for a reason
//! that lies in one of its members, each member is written by itself, so that one takes nothing with it.

use super::{
    commit,
    session::{Db, transaction},
};
use crate::{
    commit::{Commit, CommitResult},
    error::{StoreError, StoreResult},
};
use std::sync::Arc;
use tokio::sync::{Mutex, mpsc, oneshot};

/// A group is written when it has this many commits, so that nobody waits for an endless stream of others.
const LARGEST_GROUP: usize = 2_000;

/// So many groups are under way at once: while one waits for the server's disk, another one's statements run.
const WRITERS: usize = 2;

struct WriteRequest {
    commits: Vec<Commit>,
    answer: oneshot::Sender<StoreResult<Vec<CommitResult>>>,
}

/// Where callers hand their commits over.
#[derive(Debug)]
pub(super) struct Committer(mpsc::UnboundedSender<WriteRequest>);

impl Committer {
    pub(super) fn start(db: &Arc<Db>) -> Self {
        let (requests, inbox) = mpsc::unbounded_channel();
        let inbox = Arc::new(Mutex::new(inbox));
        for _ in 0..WRITERS {
            tokio::spawn(serve(Arc::clone(db), Arc::clone(&inbox)));
        }
        Self(requests)
    }

    /// Returns once the commits are durable.
    pub(super) async fn commit(&self, commits: Vec<Commit>) -> StoreResult<Vec<CommitResult>> {
        let (answer, result) = oneshot::channel();
        self.0.send(WriteRequest { commits, answer }).map_err(|_| StoreError::Closed)?;
        result.await.map_err(|_| StoreError::Closed)?
    }
}

/// Ends when the store is gone and everything handed over is written.
async fn serve(db: Arc<Db>, inbox: Arc<Mutex<mpsc::UnboundedReceiver<WriteRequest>>>) {
    loop {
        let group = {
            let mut inbox = inbox.lock().await;
            let Some(first) = inbox.recv().await else { return };
            let mut size = first.commits.len();
            let mut group = vec![first];
            while size < LARGEST_GROUP
                && let Ok(next) = inbox.try_recv()
            {
                size += next.commits.len();
                group.push(next);
            }
            group
        };
        write_group(&db, group).await;
    }
}

async fn write_group(db: &Db, group: Vec<WriteRequest>) {
    let all: Vec<&Commit> = group.iter().flat_map(|request| &request.commits).collect();
    match write(db, &all).await {
        Ok(results) => {
            let mut results = results.into_iter();
            for request in group {
                let own = results.by_ref().take(request.commits.len()).collect();
                // The caller may have gone; the effect stands all the same.
                let _ = request.answer.send(Ok(own));
            }
        }
        Err(error) if group.len() == 1 || error.is_transient() => {
            for request in group {
                let _ = request.answer.send(Err(error.clone()));
            }
        }
        Err(_) => {
            for request in group {
                let own: Vec<&Commit> = request.commits.iter().collect();
                let result = write(db, &own).await;
                let _ = request.answer.send(result);
            }
        }
    }
}

async fn write(db: &Db, commits: &[&Commit]) -> StoreResult<Vec<CommitResult>> {
    transaction!(db, Write, tx => commit::apply(&tx, commits).await)
}
