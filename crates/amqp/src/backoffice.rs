//! Reviews for people go out as messages, too, for back offices that listen to a queue.
//!
//! They follow the event log from a stored position, which moves only when the broker has confirmed. A message may
//! therefore come twice; the review itself can be completed once.

use crate::{
    envelope::{COMPONENT_HEADER, REQUEST_HEADER},
    error::AmqpResult,
    publisher::{Outgoing, Publisher, header},
    shared::Shared,
    topology::BACKOFFICE,
};
use bindery_core::{
    ItemId, Name, SubmissionId,
    event::{Event, kind},
    review::{Review, ReviewStatus},
};
use bindery_engine::{
    EngineError, EngineResult, StopSignal,
    feed::{self, Consumed},
    message::TASK_ID,
};
use bindery_store::query::ReviewFilter;
use lapin::types::FieldTable;
use serde_json::{Value, json};
use std::{
    collections::{HashMap, hash_map::Entry},
    time::Duration,
};

/// The name under which the position is stored.
pub const CONSUMER: &str = "amqp-backoffice";

/// Publishes reviews until it is asked to stop or the channel is gone.
pub(crate) async fn run(shared: &Shared, publisher: &Publisher, mut stop: StopSignal) {
    let consumer = Name::from(CONSUMER);
    let kinds = [Name::from(kind::REVIEW_REQUESTED)];
    while !stop.is_stopping() && publisher.is_open() {
        let mark = shared.engine.store().change_mark();
        let handle = async |events| publish(shared, publisher, events).await.map(|()| Vec::new());
        match feed::step(&shared.engine, &consumer, &kinds, handle).await {
            Ok(Consumed::Handled { .. } | Consumed::Overtaken) => continue,
            Ok(Consumed::Nothing) => {}
            Err(error) => tracing::warn!(error = %error, "reviews could not be published; trying again"),
        }
        tokio::select! {
            () = async {
                shared.engine.store().changed(mark, Duration::from_secs(1)).await;
                tokio::time::sleep(Duration::from_millis(100)).await;
            } => {}
            () = stop.stopping() => {}
        }
    }
}

async fn publish(shared: &Shared, publisher: &Publisher, events: Vec<Event>) -> EngineResult<()> {
    let mut open: HashMap<(SubmissionId, Option<ItemId>), Vec<Review>> = HashMap::new();
    let mut messages = Vec::new();
    for event in events {
        let Some(submission) = event.submission else { continue };
        let reviews = match open.entry((submission, event.item)) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(unknown) => {
                let statuses = ReviewStatus::OPEN.to_vec();
                let (submission, item) = (Some(submission), event.item);
                let filter = ReviewFilter { submission, item, statuses, ..ReviewFilter::default() };
                unknown.insert(shared.engine.store().reviews(filter).await?)
            }
        };
        let data: Value = serde_json::from_str(&event.data).unwrap_or_default();
        let is_meant = |review: &Review| review.item == event.item && data["stage"] == *review.stage.as_str();
        // One that is completed already needs nobody.
        let Some(place) = reviews.iter().position(is_meant) else { continue };
        let review = reviews.swap_remove(place);
        match message(shared, &review).await {
            Ok(message) => messages.extend(message),
            Err(crate::AmqpError::Engine(error)) => return Err(error),
            Err(other) => return Err(EngineError::Invalid(other.to_string())),
        }
    }
    let results = publisher.publish(messages).await;
    match results.into_iter().find_map(Result::err) {
        Some(why) => Err(EngineError::Invalid(format!("the broker did not take a review: {why}"))),
        None => Ok(()),
    }
}

async fn message(shared: &Shared, review: &Review) -> AmqpResult<Option<Outgoing>> {
    let info = shared.engine.catalog().submission(review.submission).await?;
    let Some(stage) = info.workflow.index_of(&review.stage) else { return Ok(None) };
    shared.envelopes.look_up_one(review.submission, review.item).await?;
    let mut head = shared.envelopes.head(&info, stage, review.item, review.created_at);
    let component = &info.workflow.stages[stage].component;
    head.source_component = Some(component.as_str());
    // An answer that is made of this message says by it what it answers.
    head.others.insert(TASK_ID.to_owned(), json!(review.id));
    // Without what was found the review is still worth telling about.
    let found = shared.engine.read_payload(&review.input).await.unwrap_or_else(|error| {
        tracing::error!(review.id = %review.id, error = %error, "what a review is about cannot be read");
        Value::Null
    });
    let payload = json!({
        "task_id": review.id,
        "task_type": review.queue.strip_prefix("task.").unwrap_or(&review.queue),
        "source_stage": review.stage,
        "priority": review.priority,
        "reason": review.reason(),
        "required_skills": review.skills,
        "input_data": found,
    });
    let body = head.with_payload(&payload.to_string());
    let mut headers = FieldTable::default();
    header(&mut headers, REQUEST_HEADER, head.request_id);
    header(&mut headers, COMPONENT_HEADER, component.as_str());
    Ok(Some(Outgoing::json(shared.names.short(BACKOFFICE), &review.queue, review.id.to_string(), headers, body)))
}
