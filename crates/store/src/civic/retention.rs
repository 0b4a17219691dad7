//! What goes by itself, and what goes with the person whose it is.

use super::{
    CivicRecords,
    alerts::{Alert, Notification, Watch},
    outbox::OUTBOX,
    work::{Question, Seen, Work, Writes, nouns, run},
};
use crate::{commit::CommitResult, error::StoreResult};
use bindery_core::Timestamp;

impl CivicRecords<'_> {
    /// Deletes what a person follows, and the messages about it, sent or not. Returns how many rows went.
    pub async fn delete_owner(&self, owner: &str) -> StoreResult<u64> {
        run(self.backend, DeleteOwner(owner.to_owned())).await
    }

    /// Deletes cached answers of language models that were given before, and calls before another time. What each day has
    /// cost stays. Returns how many rows went.
    pub async fn delete_model_records(&self, answers_before: Timestamp, calls_before: Timestamp) -> StoreResult<u64> {
        // Days are written as the first ten characters of a time.
        let day = calls_before.to_string().chars().take(10).collect();
        run(self.backend, DeleteModelRecords { answers_before, day }).await
    }
}

struct DeleteOwner(String);

impl Work for DeleteOwner {
    type Done = u64;

    fn cities(&self) -> Vec<String> {
        vec![OUTBOX.to_owned()]
    }

    fn questions(&self) -> Vec<Question> {
        vec![
            Question::of::<Alert>().whose("owner = ?", &self.0),
            Question::of::<Watch>().whose("owner = ?", &self.0),
            Question::of::<Notification>(),
        ]
    }

    fn writes(&self, seen: &Seen, _: &[CommitResult]) -> StoreResult<(Writes, u64)> {
        let alerts: Vec<Alert> = nouns(seen.answer(0))?;
        let is_theirs = |message: &Notification| {
            let of_alert = |id: &String| alerts.iter().any(|alert| alert.id == *id);
            message.alert_id.as_ref().is_some_and(of_alert)
                || message.channel.as_ref().is_some_and(|channel| channel.address == self.0)
                || message.key.contains(&self.0)
                || message.body.to_string().contains(&self.0)
        };
        let messages: Vec<Notification> = nouns(seen.answer(2))?;
        let keys: Vec<&str> = messages.iter().filter(|it| is_theirs(it)).map(|it| it.key.as_str()).collect();
        let count = (alerts.len() + seen.answer(1).len() + keys.len()) as u64;
        let mut writes = Writes::default();
        writes.statements = vec![
            Question::new("DELETE FROM civic_alert").whose("owner = ?", &self.0),
            Question::new("DELETE FROM civic_watch").whose("owner = ?", &self.0),
            Question::new("DELETE FROM civic_notification").whose("key = ANY(?)", &keys),
        ];
        Ok((writes, count))
    }
}

struct DeleteModelRecords {
    answers_before: Timestamp,
    day: String,
}

impl DeleteModelRecords {
    fn answers(&self, question: Question) -> Question {
        question.whose("kept_at < ?", self.answers_before)
    }

    fn calls(&self, question: Question) -> Question {
        question.whose("day < ?", &self.day)
    }
}

impl Work for DeleteModelRecords {
    type Done = u64;

    fn cities(&self) -> Vec<String> {
        Vec::new()
    }

    fn questions(&self) -> Vec<Question> {
        vec![
            self.answers(Question::new("SELECT count(*) FROM model_answer")),
            self.calls(Question::new("SELECT count(*) FROM model_call")),
        ]
    }

    fn writes(&self, seen: &Seen, _: &[CommitResult]) -> StoreResult<(Writes, u64)> {
        let count = |question: usize| seen.answer(question).first().map_or(Ok(0), |row| row.number(0));
        let mut writes = Writes::default();
        writes.statements = vec![
            self.answers(Question::new("DELETE FROM model_answer")),
            self.calls(Question::new("DELETE FROM model_call")),
        ];
        Ok((writes, u64::try_from(count(0)? + count(1)?).unwrap_or(0)))
    }
}
