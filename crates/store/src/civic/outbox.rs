//! Alerts, watches, the watchlist, and the messages that wait to be sent.

use super::{
    CivicRecords,
    alerts::{Alert, Notification, Sent, Watch},
    work::{Question, Seen, Work, Writes, nouns, run},
};
use crate::{
    commit::CommitResult,
    error::{StoreError, StoreResult},
};
use std::{collections::BTreeSet, time::Duration};

/// What is of no city takes turns by itself.
const ALERTS: &str = "alerts";
pub(super) const OUTBOX: &str = "outbox";

impl CivicRecords<'_> {
    /// Stores an alert, in place of the one with the same id.
    pub async fn put_alert(&self, alert: Alert) -> StoreResult<()> {
        run(self.backend, PutAlert(alert)).await
    }

    /// False if there was none.
    pub async fn remove_alert(&self, id: &str) -> StoreResult<bool> {
        let find = Question::of::<Alert>().whose("id = ?", id);
        let remove = Question::new("DELETE FROM civic_alert").whose("id = ?", id);
        run(self.backend, Remove { find, remove }).await
    }

    /// Of one person, or of all; the active ones, or all.
    pub async fn alerts(&self, owner: Option<&str>, only_active: bool) -> StoreResult<Vec<Alert>> {
        let question =
            Question::of::<Alert>().given("owner = ?", owner).given("active = ?", only_active.then_some(true));
        self.list(question.by("id", None)).await
    }

    /// The cities that somebody wants to hear of, each once.
    pub async fn watchlist(&self) -> StoreResult<Vec<String>> {
        let cities: BTreeSet<String> =
            self.alerts(None, true).await?.into_iter().flat_map(|alert| alert.cities).collect();
        Ok(cities.into_iter().collect())
    }

    /// Somebody follows something from now on; doing it twice does it once.
    pub async fn watch(&self, watch: Watch) -> StoreResult<()> {
        run(self.backend, AddWatch(watch)).await
    }

    /// False if nobody watched.
    pub async fn unwatch(&self, watch: &Watch) -> StoreResult<bool> {
        let this = |question: Question| {
            question
                .whose("owner = ?", &watch.owner)
                .whose("entity_type = ?", &watch.entity_type)
                .whose("entity_id = ?", &watch.entity_id)
        };
        let (find, remove) = (this(Question::of::<Watch>()), this(Question::new("DELETE FROM civic_watch")));
        run(self.backend, Remove { find, remove }).await
    }

    /// What a person follows.
    pub async fn watches(&self, owner: &str) -> StoreResult<Vec<Watch>> {
        self.list(Question::of::<Watch>().whose("owner = ?", owner).by("entity_type, entity_id", None)).await
    }

    /// What anybody follows, by person.
    pub async fn all_watches(&self) -> StoreResult<Vec<Watch>> {
        self.list(Question::of::<Watch>().by("owner, entity_type, entity_id", None)).await
    }

    /// Who follows a thing.
    pub async fn watchers(&self, entity_type: &str, entity_id: &str) -> StoreResult<Vec<Watch>> {
        let question = Question::of::<Watch>().whose("entity_type = ?", entity_type).whose("entity_id = ?", entity_id);
        self.list(question.by("owner", None)).await
    }

    /// Messages that are due, the oldest first, now the caller's for so long: an attempt begins. Who dies with one loses
    /// it to the next when that time is over.
    pub async fn take_notifications(&self, max: usize, lease: Duration) -> StoreResult<Vec<Notification>> {
        run(self.backend, Take { max, lease }).await
    }

    /// What came of an attempt. False if there is no such message.
    pub async fn settle_notification(&self, key: &str, sent: Sent) -> StoreResult<bool> {
        run(self.backend, Settle { key: key.to_owned(), sent }).await
    }

    /// Messages, sent or not, by key.
    pub async fn notifications(&self, only_waiting: bool) -> StoreResult<Vec<Notification>> {
        let mut question = Question::of::<Notification>();
        if only_waiting {
            question = question.that("due_at IS NOT NULL");
        }
        self.list(question.by("key", None)).await
    }
}

struct PutAlert(Alert);

impl Work for PutAlert {
    type Done = ();

    fn cities(&self) -> Vec<String> {
        vec![ALERTS.to_owned()]
    }

    fn questions(&self) -> Vec<Question> {
        vec![Question::of::<Alert>().whose("id = ?", &self.0.id)]
    }

    fn writes(&self, seen: &Seen, _: &[CommitResult]) -> StoreResult<(Writes, ())> {
        if self.0.id.is_empty() {
            return Err(StoreError::Invalid("id of an alert: expected a name, found an empty text".to_owned()));
        }
        let mut alert = self.0.clone();
        let known: Vec<Alert> = nouns(seen.answer(0))?;
        alert.created_at = known.first().map_or(Some(seen.now), |known| known.created_at);
        let mut writes = Writes::default();
        writes.put(&alert);
        Ok((writes, ()))
    }
}

/// Takes rows away; true if there were any.
struct Remove {
    find: Question,
    remove: Question,
}

impl Work for Remove {
    type Done = bool;

    fn cities(&self) -> Vec<String> {
        vec![ALERTS.to_owned()]
    }

    fn questions(&self) -> Vec<Question> {
        vec![self.find.clone()]
    }

    fn writes(&self, seen: &Seen, _: &[CommitResult]) -> StoreResult<(Writes, bool)> {
        let mut writes = Writes::default();
        writes.statements.push(self.remove.clone());
        Ok((writes, !seen.answer(0).is_empty()))
    }
}

struct AddWatch(Watch);

impl Work for AddWatch {
    type Done = ();

    fn cities(&self) -> Vec<String> {
        vec![ALERTS.to_owned()]
    }

    fn questions(&self) -> Vec<Question> {
        Vec::new()
    }

    fn writes(&self, seen: &Seen, _: &[CommitResult]) -> StoreResult<(Writes, ())> {
        let mut writes = Writes::default();
        writes.add(&Watch { created_at: Some(seen.now), ..self.0.clone() });
        Ok((writes, ()))
    }
}

struct Take {
    max: usize,
    lease: Duration,
}

impl Work for Take {
    type Done = Vec<Notification>;

    fn cities(&self) -> Vec<String> {
        vec![OUTBOX.to_owned()]
    }

    /// What is due is seen by the time of the transaction, which is not known yet.
    fn questions(&self) -> Vec<Question> {
        vec![Question::of::<Notification>().that("due_at IS NOT NULL").by("due_at, key", Some(self.max))]
    }

    fn writes(&self, seen: &Seen, _: &[CommitResult]) -> StoreResult<(Writes, Vec<Notification>)> {
        let mut due: Vec<Notification> = nouns(seen.answer(0))?;
        due.retain(|notification| notification.due_at.is_some_and(|at| at <= seen.now));
        let mut writes = Writes::default();
        for notification in &mut due {
            notification.attempts += 1;
            notification.due_at = Some(seen.now + self.lease);
            writes.put(notification);
        }
        Ok((writes, due))
    }
}

struct Settle {
    key: String,
    sent: Sent,
}

impl Work for Settle {
    type Done = bool;

    fn cities(&self) -> Vec<String> {
        vec![OUTBOX.to_owned()]
    }

    fn questions(&self) -> Vec<Question> {
        vec![Question::of::<Notification>().whose("key = ?", &self.key)]
    }

    fn writes(&self, seen: &Seen, _: &[CommitResult]) -> StoreResult<(Writes, bool)> {
        let mut writes = Writes::default();
        let mut found: Vec<Notification> = nouns(seen.answer(0))?;
        for notification in &mut found {
            // Whoever was slower than the lease comes after another one has sent it: it stays sent.
            if notification.sent_at.is_some() {
                continue;
            }
            match &self.sent {
                Sent::Delivered => {
                    (notification.sent_at, notification.due_at, notification.error) = (Some(seen.now), None, None);
                }
                Sent::Later(at, error) => {
                    (notification.due_at, notification.error) = (Some(*at), Some(error.clone()));
                }
                Sent::GivenUp(error) => (notification.due_at, notification.error) = (None, Some(error.clone())),
            }
            writes.put(notification);
        }
        Ok((writes, !found.is_empty()))
    }
}
