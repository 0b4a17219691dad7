//! Alerts, watches and the watchlist.

use super::{
    CivicRecords,
    alerts::{Alert, Watch},
};
use bindery_store::{
    CommitResult, StoreError, StoreResult,
    rows::{Answers, Query, RowWrites, UnitOfWork, column, decode, run},
};
use std::collections::BTreeSet;

/// What is of no city takes turns by itself.
const ALERTS: &str = "alerts";

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
