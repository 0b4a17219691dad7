//! What goes by itself, and what goes with the person whose it is.

use super::{
    CivicRecords,
    alerts::{Alert, Notification, Watch},
    notices::OUTBOX,
};
use bindery_store::{
    CommitResult, StoreResult,
    rows::{Answers, Query, RowWrites, UnitOfWork, column, decode, run},
};

impl CivicRecords<'_> {
    /// Deletes what a person follows, and the messages about it, sent or not. Returns how many rows went.
    pub async fn delete_owner(&self, owner: &str) -> StoreResult<u64> {
        run(self.store, DeleteOwner(owner.to_owned())).await
    }
}

struct DeleteOwner(String);

impl UnitOfWork for DeleteOwner {
    type Output = u64;

    fn lock_keys(&self) -> Vec<String> {
        vec![OUTBOX.to_owned()]
    }

    fn queries(&self) -> Vec<Query> {
        vec![
            Query::records::<Alert>().filter(column("owner").equals(&self.0)),
            Query::records::<Watch>().filter(column("owner").equals(&self.0)),
            Query::records::<Notification>(),
        ]
    }

    fn writes(&self, answers: &Answers, _: &[CommitResult]) -> StoreResult<(RowWrites, u64)> {
        let alerts: Vec<Alert> = decode(answers.rows(0))?;
        let is_theirs = |message: &Notification| {
            let of_alert = |id: &String| alerts.iter().any(|alert| alert.id == *id);
            message.alert_id.as_ref().is_some_and(of_alert)
                || message.channel.as_ref().is_some_and(|channel| channel.address == self.0)
                || message.key.contains(&self.0)
                || message.body.to_string().contains(&self.0)
        };
        let messages: Vec<Notification> = decode(answers.rows(2))?;
        let keys: Vec<&str> = messages.iter().filter(|it| is_theirs(it)).map(|it| it.key.as_str()).collect();
        let count = (alerts.len() + answers.rows(1).len() + keys.len()) as u64;
        let mut writes = RowWrites::default();
        writes.delete(Query::records::<Alert>().filter(column("owner").equals(&self.0)));
        writes.delete(Query::records::<Watch>().filter(column("owner").equals(&self.0)));
        writes.delete(Query::records::<Notification>().filter(column("key").is_any_of(&keys)));
        Ok((writes, count))
    }
}
