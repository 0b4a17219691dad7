//! Alerts, watches, the watchlist, and the messages that wait to be sent.

use super::{
    CivicRecords,
    alerts::{Alert, Notification, Sent, Watch},
};
use bindery_store::{
    CommitResult, StoreError, StoreResult,
    rows::{Answers, Query, RowWrites, UnitOfWork, column, decode, run},
};
use std::{collections::BTreeSet, time::Duration};

/// What is of no city takes turns by itself.
const ALERTS: &str = "alerts";
pub(super) const OUTBOX: &str = "outbox";

impl CivicRecords<'_> {
    /// Stores an alert, in place of the one with the same id.
    pub async fn put_alert(&self, alert: Alert) -> StoreResult<()> {
        run(self.store, PutAlert(alert)).await
    }

    /// False if there was none.
    pub async fn remove_alert(&self, id: &str) -> StoreResult<bool> {
        let find = Query::records::<Alert>().filter(column("id").equals(id));
        run(self.store, Remove(find)).await
    }

    /// Of one person, or of all; the active ones, or all.
    pub async fn alerts(&self, owner: Option<&str>, only_active: bool) -> StoreResult<Vec<Alert>> {
        let query = Query::records::<Alert>()
            .filter_some(owner.map(|it| column("owner").equals(it)))
            .filter_some(only_active.then_some(true).map(|it| column("active").equals(it)));
        self.list(query.ascending(&["id"])).await
    }

    /// The cities that somebody wants to hear of, each once.
    pub async fn watchlist(&self) -> StoreResult<Vec<String>> {
        let cities: BTreeSet<String> =
            self.alerts(None, true).await?.into_iter().flat_map(|alert| alert.cities).collect();
        Ok(cities.into_iter().collect())
    }

    /// Somebody follows something from now on; doing it twice does it once.
    pub async fn watch(&self, watch: Watch) -> StoreResult<()> {
        run(self.store, AddWatch(watch)).await
    }

    /// False if nobody watched.
    pub async fn unwatch(&self, watch: &Watch) -> StoreResult<bool> {
        let find = Query::records::<Watch>()
            .filter(column("owner").equals(&watch.owner))
            .filter(column("entity_type").equals(&watch.entity_type))
            .filter(column("entity_id").equals(&watch.entity_id));
        run(self.store, Remove(find)).await
    }

    /// What a person follows.
    pub async fn watches(&self, owner: &str) -> StoreResult<Vec<Watch>> {
        self.list(
            Query::records::<Watch>().filter(column("owner").equals(owner)).ascending(&["entity_type", "entity_id"]),
        )
        .await
    }

    /// What anybody follows, by person.
    pub async fn all_watches(&self) -> StoreResult<Vec<Watch>> {
        self.list(Query::records::<Watch>().ascending(&["owner", "entity_type", "entity_id"])).await
    }

    /// Who follows a thing.
    pub async fn watchers(&self, entity_type: &str, entity_id: &str) -> StoreResult<Vec<Watch>> {
        let query = Query::records::<Watch>()
            .filter(column("entity_type").equals(entity_type))
            .filter(column("entity_id").equals(entity_id));
        self.list(query.ascending(&["owner"])).await
    }

    /// Messages that are due, the oldest first, now the caller's for so long: an attempt begins. Who dies with one loses
    /// it to the next when that time is over.
    pub async fn take_notifications(&self, max: usize, lease: Duration) -> StoreResult<Vec<Notification>> {
        run(self.store, Take { max, lease }).await
    }

    /// What came of an attempt. False if there is no such message.
    pub async fn settle_notification(&self, key: &str, sent: Sent) -> StoreResult<bool> {
        run(self.store, Settle { key: key.to_owned(), sent }).await
    }

    /// Messages, sent or not, by key.
    pub async fn notifications(&self, only_waiting: bool) -> StoreResult<Vec<Notification>> {
        let mut query = Query::records::<Notification>();
        if only_waiting {
            query = query.filter(column("due_at").is_not_null());
        }
        self.list(query.ascending(&["key"])).await
    }
}

struct PutAlert(Alert);

impl UnitOfWork for PutAlert {
    type Output = ();

    fn lock_keys(&self) -> Vec<String> {
        vec![ALERTS.to_owned()]
    }

    fn queries(&self) -> Vec<Query> {
        vec![Query::records::<Alert>().filter(column("id").equals(&self.0.id))]
    }

    fn writes(&self, answers: &Answers, _: &[CommitResult]) -> StoreResult<(RowWrites, ())> {
        if self.0.id.is_empty() {
            return Err(StoreError::Invalid("id of an alert: expected a name, found an empty text".to_owned()));
        }
        let mut alert = self.0.clone();
        let known: Vec<Alert> = decode(answers.rows(0))?;
        alert.created_at = known.first().map_or(Some(answers.now), |known| known.created_at);
        let mut writes = RowWrites::default();
        writes.put(&alert);
        Ok((writes, ()))
    }
}

/// Takes rows away; true if there were any.
struct Remove(Query);

impl UnitOfWork for Remove {
    type Output = bool;

    fn lock_keys(&self) -> Vec<String> {
        vec![ALERTS.to_owned()]
    }

    fn queries(&self) -> Vec<Query> {
        vec![self.0.clone()]
    }

    fn writes(&self, answers: &Answers, _: &[CommitResult]) -> StoreResult<(RowWrites, bool)> {
        let mut writes = RowWrites::default();
        writes.delete(self.0.clone());
        Ok((writes, !answers.rows(0).is_empty()))
    }
}

struct AddWatch(Watch);

impl UnitOfWork for AddWatch {
    type Output = ();

    fn lock_keys(&self) -> Vec<String> {
        vec![ALERTS.to_owned()]
    }

    fn writes(&self, answers: &Answers, _: &[CommitResult]) -> StoreResult<(RowWrites, ())> {
        let mut writes = RowWrites::default();
        writes.add(&Watch { created_at: Some(answers.now), ..self.0.clone() });
        Ok((writes, ()))
    }
}

struct Take {
    max: usize,
    lease: Duration,
}

impl UnitOfWork for Take {
    type Output = Vec<Notification>;

    fn lock_keys(&self) -> Vec<String> {
        vec![OUTBOX.to_owned()]
    }

    /// What is due is seen by the time of the transaction, which is not known yet.
    fn queries(&self) -> Vec<Query> {
        vec![
            Query::records::<Notification>()
                .filter(column("due_at").is_not_null())
                .ascending(&["due_at", "key"])
                .limit(Some(self.max)),
        ]
    }

    fn writes(&self, answers: &Answers, _: &[CommitResult]) -> StoreResult<(RowWrites, Vec<Notification>)> {
        let mut due: Vec<Notification> = decode(answers.rows(0))?;
        due.retain(|notification| notification.due_at.is_some_and(|at| at <= answers.now));
        let mut writes = RowWrites::default();
        for notification in &mut due {
            notification.attempts += 1;
            notification.due_at = Some(answers.now + self.lease);
            writes.put(notification);
        }
        Ok((writes, due))
    }
}

struct Settle {
    key: String,
    sent: Sent,
}

impl UnitOfWork for Settle {
    type Output = bool;

    fn lock_keys(&self) -> Vec<String> {
        vec![OUTBOX.to_owned()]
    }

    fn queries(&self) -> Vec<Query> {
        vec![Query::records::<Notification>().filter(column("key").equals(&self.key))]
    }

    fn writes(&self, answers: &Answers, _: &[CommitResult]) -> StoreResult<(RowWrites, bool)> {
        let mut writes = RowWrites::default();
        let mut found: Vec<Notification> = decode(answers.rows(0))?;
        for notification in &mut found {
            // Whoever was slower than the lease comes after another one has sent it: it stays sent.
            if notification.sent_at.is_some() {
                continue;
            }
            match &self.sent {
                Sent::Delivered => {
                    (notification.sent_at, notification.due_at, notification.error) = (Some(answers.now), None, None);
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
