//! Messages: each stored once, however often it is found out, with the job that delivers it in the same transaction; and
//! told once, by itself or in a digest.
//!
//! Whether a message is tried again, and when, is its job's business. What came of each attempt is written to the message
//! while the job is held, so that a sender whose lease is lost changes nothing.

use super::{
    CivicRecords,
    alerts::{Delivery, GATHERED, Notification},
    jobs::{NOTICES_QUEUE, NOTICES_WORKFLOW, NOTICES_WORKFLOW_VERSION, NOTIFY, new_standing_submission},
};
use bindery_core::{
    JobId, Payload, SubmissionId,
    job::{NewJob, Token},
};
use bindery_store::{
    Changes, Commit, CommitResult, Guard, JobEnd, StoreError, StoreResult,
    query::{IdKind, QueueQuery},
    rows::{Answers, Query, RowWrites, UnitOfWork, column, decode, run},
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Messages take turns.
pub(super) const OUTBOX: &str = "outbox";

/// What the job of a message carries.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NoticePayload {
    /// Of the message.
    pub key: String,
}

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
        let Some(told_in) = messages.first().map(|digest| digest.key.clone()) else { return Ok(false) };
        run(self.store, Replace { messages, replaced: tells, told_in: Some(told_in) }).await
    }

    /// Stores messages in place of an announcement, which counts as sent then. False, and nothing is stored, if another
    /// one was faster.
    pub async fn announce(&self, announcement: &str, messages: Vec<Notification>) -> StoreResult<bool> {
        run(self.store, Replace { messages, replaced: vec![announcement.to_owned()], told_in: None }).await
    }

    /// Announcements for which nobody has found out yet who is told.
    pub async fn announcements(&self) -> StoreResult<Vec<Notification>> {
        let due = Query::records::<Notification>().filter(column("due_at").is_below(GATHERED)).ascending(&["key"]);
        let mut due: Vec<Notification> = self.list(due).await?;
        due.retain(|message| message.channel.is_none());
        Ok(due)
    }

    /// Messages, sent or not, by key.
    pub async fn notifications(&self, only_waiting: bool) -> StoreResult<Vec<Notification>> {
        let mut query = Query::records::<Notification>();
        if only_waiting {
            query = query.filter(column("due_at").is_not_null());
        }
        self.list(query.ascending(&["key"])).await
    }

    /// What waits for digests, by key.
    pub async fn gathered_notifications(&self) -> StoreResult<Vec<Notification>> {
        self.list(Query::records::<Notification>().filter(column("due_at").equals(GATHERED)).ascending(&["key"])).await
    }

    /// Those of these keys that are stored.
    pub async fn known_notifications(&self, keys: &[String]) -> StoreResult<Vec<Notification>> {
        self.list(by_keys(keys).ascending(&["key"])).await
    }

    /// Messages that wait for a digest wait no longer: nobody is told.
    pub async fn drop_gathered(&self, keys: Vec<String>, why: &str) -> StoreResult<()> {
        run(self.store, Settle { keys, claim: None, attempt: 0, delivery: Delivery::GivenUp(why.to_owned()) })
            .await
            .map(drop)
    }

    /// What came of an attempt to deliver a message. False, and nothing is stored, if the job is not held any more.
    pub async fn settle_notification(
        &self,
        key: &str,
        claim: Option<(JobId, Token)>,
        attempt: u32,
        delivery: Delivery,
    ) -> StoreResult<bool> {
        run(self.store, Settle { keys: vec![key.to_owned()], claim, attempt, delivery }).await
    }

    /// A message that was not sent is due now, with all attempts before it. False if there is no such message, or it was
    /// sent.
    pub async fn retry_notification(&self, key: &str) -> StoreResult<bool> {
        run(self.store, Retry(key.to_owned())).await
    }
}

fn by_keys(keys: &[String]) -> Query {
    Query::records::<Notification>().filter(column("key").is_any_of(keys))
}

/// No two live jobs have the same.
fn dedup_key(key: &str) -> String {
    format!("notice://{key}")
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

fn is_delivered_by_a_job(message: &Notification) -> bool {
    message.channel.is_some() && message.sent_at.is_none() && !message.is_gathered()
}

/// The submission that deliveries belong to, and what was given up under these keys.
fn queue_query(dedup_keys: Vec<String>) -> QueueQuery {
    QueueQuery { submissions: vec![NOTICES_WORKFLOW.to_owned()], dedup_keys }
}

/// The number of the submission where there is something to deliver and none before.
fn ids(messages: &[Notification], answers: &Answers) -> Option<(&'static str, i64)> {
    let is_missing = answers.queue.submissions.is_empty() && messages.iter().any(is_delivered_by_a_job);
    is_missing.then_some((IdKind::Submission.as_str(), 1))
}

/// A job for each message that is to be delivered.
fn commits(messages: &[Notification], answers: &Answers) -> StoreResult<Vec<Commit>> {
    let mut changes = Changes::default();
    let submission = if let Some(known) = answers.queue.submissions.values().next() {
        *known
    } else {
        let Some(id) = answers.ids.first().copied().map(SubmissionId::from_raw) else { return Ok(Vec::new()) };
        let workflow = (NOTICES_WORKFLOW, NOTICES_WORKFLOW_VERSION);
        let new =
            new_standing_submission(NOTICES_WORKFLOW.to_owned(), workflow, &serde_json::json!({}), (id, answers.now));
        changes.submissions.push(new);
        id
    };
    for message in messages.iter().filter(|message| is_delivered_by_a_job(message)) {
        let payload = Payload::json(&NoticePayload { key: message.key.clone() })
            .map_err(|error| StoreError::Invalid(format!("payload of {}: {error}", message.key)))?;
        let job = NewJob::new(NOTICES_QUEUE, submission, NOTIFY, NOTIFY);
        changes.jobs.push(NewJob { dedup_key: Some(dedup_key(&message.key)), payload, ..job });
    }
    Ok(if changes.jobs.is_empty() { Vec::new() } else { vec![Commit::always(changes)] })
}

struct Add(Vec<Notification>);

impl Add {
    fn new_ones(&self, answers: &Answers) -> StoreResult<Vec<Notification>> {
        let mut known: BTreeSet<String> =
            decode::<Notification>(answers.rows(0))?.into_iter().map(|message| message.key).collect();
        let new = self.0.iter().filter(|message| known.insert(message.key.clone()));
        Ok(new.map(|message| fresh(message, answers)).collect())
    }
}

impl UnitOfWork for Add {
    type Output = usize;

    fn lock_keys(&self) -> Vec<String> {
        vec![OUTBOX.to_owned()]
    }

    fn queries(&self) -> Vec<Query> {
        let keys: Vec<String> = self.0.iter().map(|message| message.key.clone()).collect();
        vec![by_keys(&keys)]
    }

    fn queue_query(&self) -> QueueQuery {
        queue_query(Vec::new())
    }

    fn ids(&self, answers: &Answers) -> StoreResult<Option<(&'static str, i64)>> {
        Ok(ids(&self.new_ones(answers)?, answers))
    }

    fn commits(&self, answers: &Answers) -> StoreResult<Vec<Commit>> {
        commits(&self.new_ones(answers)?, answers)
    }

    fn writes(&self, answers: &Answers, _: &[CommitResult]) -> StoreResult<(RowWrites, usize)> {
        let new = self.new_ones(answers)?;
        let mut writes = RowWrites::default();
        for message in &new {
            writes.add(message);
        }
        Ok((writes, new.len()))
    }
}

/// Messages that take the place of others, all or none.
struct Replace {
    messages: Vec<Notification>,
    /// Keys of messages that wait. They are told with the new ones.
    replaced: Vec<String>,
    told_in: Option<String>,
}

impl Replace {
    fn new_ones(&self, answers: &Answers) -> StoreResult<Option<Vec<Notification>>> {
        let replaced: Vec<Notification> = decode(answers.rows(1))?;
        let is_late = !answers.rows(0).is_empty() || replaced.iter().any(|message| message.due_at.is_none());
        Ok((!is_late).then(|| self.messages.iter().map(|message| fresh(message, answers)).collect()))
    }
}

impl UnitOfWork for Replace {
    type Output = bool;

    fn lock_keys(&self) -> Vec<String> {
        vec![OUTBOX.to_owned()]
    }

    fn queries(&self) -> Vec<Query> {
        let keys: Vec<String> = self.messages.iter().map(|message| message.key.clone()).collect();
        vec![by_keys(&keys), by_keys(&self.replaced)]
    }

    fn queue_query(&self) -> QueueQuery {
        queue_query(Vec::new())
    }

    fn ids(&self, answers: &Answers) -> StoreResult<Option<(&'static str, i64)>> {
        Ok(self.new_ones(answers)?.and_then(|new| ids(&new, answers)))
    }

    fn commits(&self, answers: &Answers) -> StoreResult<Vec<Commit>> {
        commits(&self.new_ones(answers)?.unwrap_or_default(), answers)
    }

    fn writes(&self, answers: &Answers, _: &[CommitResult]) -> StoreResult<(RowWrites, bool)> {
        let mut writes = RowWrites::default();
        let Some(new) = self.new_ones(answers)? else { return Ok((writes, false)) };
        for message in &new {
            writes.add(message);
        }
        for message in &mut decode::<Notification>(answers.rows(1))? {
            (message.due_at, message.sent_at) = (None, Some(answers.now));
            message.told_in.clone_from(&self.told_in);
            writes.put(message);
        }
        Ok((writes, true))
    }
}

struct Settle {
    keys: Vec<String>,
    claim: Option<(JobId, Token)>,
    attempt: u32,
    delivery: Delivery,
}

impl UnitOfWork for Settle {
    type Output = bool;

    fn lock_keys(&self) -> Vec<String> {
        vec![OUTBOX.to_owned()]
    }

    fn queries(&self) -> Vec<Query> {
        vec![by_keys(&self.keys)]
    }

    fn commits(&self, _: &Answers) -> StoreResult<Vec<Commit>> {
        let end = JobEnd::Hold { has_advanced: false };
        let held = |(job, token)| Commit { guard: Guard::Claim { job, token, end }, changes: Changes::default() };
        Ok(self.claim.map(held).into_iter().collect())
    }

    fn writes(&self, answers: &Answers, results: &[CommitResult]) -> StoreResult<(RowWrites, bool)> {
        let mut writes = RowWrites::default();
        if !results.iter().all(CommitResult::is_applied) {
            return Ok((writes, false));
        }
        for message in &mut decode::<Notification>(answers.rows(0))? {
            message.attempts = self.attempt;
            match &self.delivery {
                Delivery::Delivered => {
                    (message.sent_at, message.due_at, message.error) = (Some(answers.now), None, None);
                }
                Delivery::Later(at, error) => (message.due_at, message.error) = (Some(*at), Some(error.clone())),
                Delivery::GivenUp(error) => (message.due_at, message.error) = (None, Some(error.clone())),
            }
            writes.put(message);
        }
        Ok((writes, true))
    }
}

/// A dead letter goes, and a new job takes its place; one that waits for its next try goes on at once.
struct Retry(String);

impl Retry {
    fn messages(answers: &Answers) -> StoreResult<Vec<Notification>> {
        let mut found: Vec<Notification> = decode(answers.rows(0))?;
        found.retain(is_delivered_by_a_job);
        Ok(found)
    }
}

impl UnitOfWork for Retry {
    type Output = bool;

    fn lock_keys(&self) -> Vec<String> {
        vec![OUTBOX.to_owned()]
    }

    fn queries(&self) -> Vec<Query> {
        vec![by_keys(std::slice::from_ref(&self.0))]
    }

    fn queue_query(&self) -> QueueQuery {
        queue_query(vec![dedup_key(&self.0)])
    }

    fn ids(&self, answers: &Answers) -> StoreResult<Option<(&'static str, i64)>> {
        Ok(ids(&Self::messages(answers)?, answers))
    }

    fn commits(&self, answers: &Answers) -> StoreResult<Vec<Commit>> {
        commits(&Self::messages(answers)?, answers)
    }

    fn writes(&self, answers: &Answers, _: &[CommitResult]) -> StoreResult<(RowWrites, bool)> {
        let mut writes = RowWrites::default();
        let mut found = Self::messages(answers)?;
        for message in &mut found {
            message.due_at = Some(answers.now);
            writes.put(message);
        }
        if !found.is_empty() {
            writes.delete_dead_letters(answers.queue.dead_letters.iter().map(|letter| letter.job));
        }
        Ok((writes, !found.is_empty()))
    }
}
