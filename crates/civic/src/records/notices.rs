//! Messages that are found out from what has happened: each stored once, however often it is found out, and told once,
//! by itself or in a digest.

use super::{
    CivicRecords,
    alerts::{GATHERED, Notification},
    outbox::OUTBOX,
};
use bindery_store::{
    CommitResult, StoreResult,
    rows::{Answers, Query, RowWrites, UnitOfWork, column, decode, run},
};
use std::collections::BTreeSet;

impl CivicRecords<'_> {
    /// Stores messages; those whose keys are there already stay as they are. Returns how many are new.
    pub async fn add_notifications(&self, messages: Vec<Notification>) -> StoreResult<usize> {
        if messages.is_empty() {
            return Ok(0);
        }
        run(self.store, Add(messages)).await
    }

    /// Stores a digest, a message for each way to send it, and what it tells is told with it. False, and nothing is
    /// stored, if it is there already or something of it was told by another one meanwhile.
    pub async fn add_digest(&self, messages: Vec<Notification>, tells: Vec<String>) -> StoreResult<bool> {
        run(self.store, AddDigest { messages, tells }).await
    }

    /// What waits for digests, by key.
    pub async fn gathered_notifications(&self) -> StoreResult<Vec<Notification>> {
        self.list(Query::records::<Notification>().filter(column("due_at").equals(GATHERED)).ascending(&["key"])).await
    }

    /// Those of these keys that are stored.
    pub async fn known_notifications(&self, keys: &[String]) -> StoreResult<Vec<Notification>> {
        self.list(Query::records::<Notification>().filter(column("key").is_any_of(keys)).ascending(&["key"])).await
    }

    /// A message that was given up is due again, with all its attempts before it. False if there is no such message, or
    /// it was sent.
    pub async fn retry_notification(&self, key: &str) -> StoreResult<bool> {
        run(self.store, Retry(key.to_owned())).await
    }
}

fn by_keys(keys: &[String]) -> Query {
    Query::records::<Notification>().filter(column("key").is_any_of(keys))
}

/// One that says that it was sent is only to be remembered.
fn fresh(message: &Notification, answers: &Answers) -> Notification {
    let mut message = message.clone();
    message.created_at = Some(answers.now);
    if message.sent_at.is_none() {
        message.due_at = message.due_at.or(Some(answers.now));
    }
    message
}

struct Add(Vec<Notification>);

impl UnitOfWork for Add {
    type Output = usize;

    fn lock_keys(&self) -> Vec<String> {
        vec![OUTBOX.to_owned()]
    }

    fn queries(&self) -> Vec<Query> {
        let keys: Vec<String> = self.0.iter().map(|message| message.key.clone()).collect();
        vec![by_keys(&keys)]
    }

    fn writes(&self, answers: &Answers, _: &[CommitResult]) -> StoreResult<(RowWrites, usize)> {
        let mut known: BTreeSet<String> =
            decode::<Notification>(answers.rows(0))?.into_iter().map(|message| message.key).collect();
        let mut writes = RowWrites::default();
        let mut added = 0;
        for message in &self.0 {
            if known.insert(message.key.clone()) {
                writes.add(&fresh(message, answers));
                added += 1;
            }
        }
        Ok((writes, added))
    }
}

struct AddDigest {
    messages: Vec<Notification>,
    tells: Vec<String>,
}

impl UnitOfWork for AddDigest {
    type Output = bool;

    fn lock_keys(&self) -> Vec<String> {
        vec![OUTBOX.to_owned()]
    }

    fn queries(&self) -> Vec<Query> {
        let keys: Vec<String> = self.messages.iter().map(|message| message.key.clone()).collect();
        vec![by_keys(&keys), by_keys(&self.tells)]
    }

    fn writes(&self, answers: &Answers, _: &[CommitResult]) -> StoreResult<(RowWrites, bool)> {
        let mut told: Vec<Notification> = decode(answers.rows(1))?;
        let is_late = !answers.rows(0).is_empty() || told.iter().any(|message| !message.is_gathered());
        if is_late || self.messages.is_empty() {
            return Ok((RowWrites::default(), false));
        }
        let mut writes = RowWrites::default();
        for message in &self.messages {
            writes.add(&fresh(message, answers));
        }
        for message in &mut told {
            (message.due_at, message.sent_at) = (None, Some(answers.now));
            message.told_in = self.messages.first().map(|digest| digest.key.clone());
            writes.put(message);
        }
        Ok((writes, true))
    }
}

struct Retry(String);

impl UnitOfWork for Retry {
    type Output = bool;

    fn lock_keys(&self) -> Vec<String> {
        vec![OUTBOX.to_owned()]
    }

    fn queries(&self) -> Vec<Query> {
        vec![by_keys(std::slice::from_ref(&self.0))]
    }

    fn writes(&self, answers: &Answers, _: &[CommitResult]) -> StoreResult<(RowWrites, bool)> {
        let mut writes = RowWrites::default();
        let mut found: Vec<Notification> = decode(answers.rows(0))?;
        found.retain(|message| message.sent_at.is_none() && !message.is_gathered());
        for message in &mut found {
            message.due_at = Some(answers.now);
            writes.put(message);
        }
        Ok((writes, !found.is_empty()))
    }
}
