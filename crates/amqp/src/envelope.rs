//! A job as the message that components exchange.
//!
//! The message is a copy: what counts stays in the store. For a program outside it is complete. Our own workers adopt
//! the job itself, so what would cost much to look up may be missing in theirs.

use crate::{
    error::AmqpResult,
    publisher::{Outgoing, header},
    topology::{DIRECT, Names},
};
use bindery_core::{
    ItemId, Name, Payload, SubmissionId, Timestamp,
    item::{Item, ItemKind},
    job::{Job, Token},
};
use bindery_engine::{Engine, EngineError, catalog::SubmissionInfo, message::ENVELOPE_KEY, workflow::Stage};
use bindery_store::query::{ItemCounts, ItemFilter};
use lapin::types::{FieldTable, ShortString};
use serde::Serialize;
use serde_json::{Map, Value};
use std::{
    collections::{BTreeSet, HashMap},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

/// The headers of a message that carries a job of ours.
pub const JOB_HEADER: &str = "bindery-job";
pub const TOKEN_HEADER: &str = "bindery-token";
/// Stands between the jobs where a message carries several.
pub(crate) const JOB_SEPARATOR: char = ',';
pub const REQUEST_HEADER: &str = "request_id";
pub const COMPONENT_HEADER: &str = "component";

/// Who is said to have sent a submission to its first stage.
const ROUTER: &str = "workflow_router";

/// How many items are remembered; forgetting is harmless.
const REMEMBERED: usize = 200_000;

/// How long the number of pages and documents is believed where it need not be exact: counting them takes as long as
/// there are many.
const FRESH_FOR: Duration = Duration::from_secs(5);

/// The envelope without its payload, which is spliced in as the text that it is.
#[derive(Debug, Serialize)]
pub(crate) struct Head<'a> {
    pub(crate) request_id: String,
    pub(crate) trace_id: String,
    pub(crate) workflow_name: &'a Name,
    pub(crate) current_stage: &'a Name,
    pub(crate) deadline_utc: Option<Timestamp>,
    pub(crate) page_index: Option<i64>,
    pub(crate) page_count: Option<u64>,
    pub(crate) file_index: Option<i64>,
    pub(crate) document_id: Option<String>,
    pub(crate) document_count: Option<u64>,
    pub(crate) source_component: Option<&'a str>,
    pub(crate) created_at: Timestamp,
    /// Fields that are none of ours.
    #[serde(flatten)]
    pub(crate) others: Map<String, Value>,
}

impl Head<'_> {
    /// The whole message, with a payload that is JSON already.
    pub(crate) fn with_payload(&self, payload: &str) -> Vec<u8> {
        let mut body = serde_json::to_vec(self).unwrap_or_else(|_| b"{}".to_vec());
        body.pop();
        // In the exchange of components a payload is an object.
        let payload = if payload == "null" { "{}" } else { payload };
        body.extend_from_slice(b",\"payload\":");
        body.extend_from_slice(payload.as_bytes());
        body.push(b'}');
        body
    }
}

/// What an envelope says about an item.
#[derive(Debug, Clone)]
struct Brief {
    kind: ItemKind,
    parent: Option<ItemId>,
    ordinal: i64,
    public_id: String,
}

impl From<Item> for Brief {
    fn from(item: Item) -> Self {
        Self { kind: item.kind, parent: item.parent, ordinal: item.ordinal, public_id: item.public_id() }
    }
}

#[derive(Debug, Default)]
struct Known {
    items: HashMap<ItemId, Brief>,
    counts: Option<(ItemCounts, Instant)>,
}

/// How much is looked up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Detail {
    /// Everything, for a program outside.
    Full,
    /// What is at hand or cheap.
    Cheap,
}

/// Writes messages.
#[derive(Debug)]
pub(crate) struct Envelopes {
    engine: Engine,
    names: Names,
    known: Mutex<HashMap<SubmissionId, Known>>,
    /// Whoever reads holds it: several would read the same at once.
    reading: tokio::sync::Mutex<()>,
}

impl Envelopes {
    pub(crate) fn new(engine: Engine, names: Names) -> Self {
        Self { engine, names, known: Mutex::default(), reading: tokio::sync::Mutex::default() }
    }

    /// The messages of some jobs, in their order. A job whose submission or workflow cannot be read has none. Where its
    /// routing key leads to several queues, a message goes straight to its own: a copy that nobody takes would end among
    /// the dead letters.
    pub(crate) async fn write(
        &self,
        jobs: &[(&Job, Option<Token>)],
        detail: Detail,
        shared_keys: &BTreeSet<Name>,
    ) -> AmqpResult<Vec<Option<Outgoing>>> {
        self.look_up(jobs.iter().map(|(job, _)| *job), detail).await?;
        let mut messages = Vec::with_capacity(jobs.len());
        for (job, token) in jobs {
            messages.push(self.message(job, *token, detail, shared_keys).await?);
        }
        Ok(messages)
    }

    async fn message(
        &self,
        job: &Job,
        token: Option<Token>,
        detail: Detail,
        shared_keys: &BTreeSet<Name>,
    ) -> AmqpResult<Option<Outgoing>> {
        let info = match self.engine.catalog().submission(job.submission).await {
            Ok(info) => info,
            Err(EngineError::Store(error)) if error.is_transient() => return Err(error.into()),
            Err(_) => return Ok(None),
        };
        let Some(stage) = info.workflow.index_of(&job.stage) else { return Ok(None) };
        let payload = match (&job.payload, detail) {
            (Payload::Inline(text), _) => text.clone(),
            (Payload::Blob(_), Detail::Full) => match self.engine.read_payload(&job.payload).await {
                Ok(value) => value.to_string(),
                Err(error) => {
                    // Others must not wait for this one; its report will be missed.
                    tracing::error!(job.id = %job.id, error = %error, "a payload cannot be read; nobody is told");
                    return Ok(None);
                }
            },
            // Our own workers read it from where it is.
            (Payload::Blob(hash), Detail::Cheap) => serde_json::json!({"blob": hash.to_string()}).to_string(),
        };
        let mut head = self.head(&info, stage, job.item, job.created_at);
        let (payload, others) = if detail == Detail::Full { taken_apart(payload) } else { (payload, Map::new()) };
        head.others = others;
        let body = head.with_payload(&payload);
        let Stage { component, routing_key, .. } = &info.workflow.stages[stage];
        let mut headers = FieldTable::default();
        header(&mut headers, REQUEST_HEADER, head.request_id);
        header(&mut headers, COMPONENT_HEADER, component.as_str());
        let id = match token {
            Some(token) => {
                header(&mut headers, JOB_HEADER, job.id.to_string());
                header(&mut headers, TOKEN_HEADER, token.0.to_string());
                format!("{}-{}", job.id, token.0)
            }
            None => format!("{}-{}", job.id, job.attempt),
        };
        if shared_keys.contains(routing_key) {
            let queue = self.names.at_broker(&info.workflow.stages[stage].queue());
            return Ok(Some(Outgoing::json(ShortString::default(), &queue, id, headers, body)));
        }
        Ok(Some(Outgoing::json(self.names.short(DIRECT), routing_key, id, headers, body)))
    }

    pub(crate) fn head<'a>(
        &self,
        info: &'a Arc<SubmissionInfo>,
        stage: usize,
        item: Option<ItemId>,
        created_at: Timestamp,
    ) -> Head<'a> {
        let workflow = &info.workflow;
        let known = self.lock();
        let known = known.get(&info.id);
        let brief = |id: ItemId| known.and_then(|known| known.items.get(&id));
        let found = item.and_then(brief);
        let counts = known.and_then(|known| known.counts).map(|(counts, _)| counts);
        let page = found.filter(|brief| brief.kind == ItemKind::Page);
        let file = match found {
            Some(file) if file.kind == ItemKind::File => Some(file),
            Some(part) => part.parent.and_then(brief).filter(|parent| parent.kind == ItemKind::File),
            None => None,
        };
        let before = stage.checked_sub(1).map_or(ROUTER, |before| workflow.stages[before].component.as_str());
        Head {
            request_id: info.public_id(),
            trace_id: info.id.to_string(),
            workflow_name: &workflow.name,
            current_stage: &workflow.stages[stage].name,
            deadline_utc: workflow.sla.map(|sla| info.received_at + sla.deadline),
            page_index: page.map(|page| page.ordinal),
            page_count: counts.map(|counts| counts.pages).filter(|pages| *pages > 0),
            file_index: file.map(|file| file.ordinal),
            // An id names an item beyond doubt, also a page of one file among several.
            document_id: found.map(|brief| brief.public_id.clone()).or_else(|| item.map(|id| id.to_string())),
            document_count: counts.map(|counts| counts.documents).filter(|documents| *documents > 0),
            source_component: Some(before),
            created_at,
            others: Map::new(),
        }
    }

    /// Reads what an envelope says about an item.
    pub(crate) async fn look_up_one(&self, submission: SubmissionId, item: Option<ItemId>) -> AmqpResult<()> {
        let _reading = self.reading.lock().await;
        self.learn_counts(submission, Detail::Full).await?;
        self.learn_items(submission, item.into_iter().collect()).await
    }

    /// Reads what the envelopes of these jobs say about their items.
    async fn look_up(&self, jobs: impl Iterator<Item = &Job>, detail: Detail) -> AmqpResult<()> {
        let mut wanted: HashMap<SubmissionId, Vec<ItemId>> = HashMap::new();
        for job in jobs {
            wanted.entry(job.submission).or_default().extend(job.item);
        }
        let _reading = self.reading.lock().await;
        self.forget_some();
        for (submission, items) in wanted {
            self.learn_counts(submission, detail).await?;
            self.learn_items(submission, items).await?;
        }
        Ok(())
    }

    /// Those of the items that are not known yet, and the files that they are from.
    async fn learn_items(&self, submission: SubmissionId, items: Vec<ItemId>) -> AmqpResult<()> {
        let mut wanted = items;
        loop {
            {
                let mut known = self.lock();
                let known = known.entry(submission).or_default();
                wanted.retain(|item| !known.items.contains_key(item));
            }
            wanted.sort_unstable();
            wanted.dedup();
            if wanted.is_empty() {
                return Ok(());
            }
            let filter = ItemFilter { ids: Some(wanted), ..ItemFilter::default() };
            let read = self.engine.store().items(submission, filter).await?;
            wanted = read.iter().filter_map(|item| item.parent).collect();
            let mut known = self.lock();
            known.entry(submission).or_default().items.extend(read.into_iter().map(|item| (item.id, item.into())));
        }
    }

    async fn learn_counts(&self, submission: SubmissionId, detail: Detail) -> AmqpResult<()> {
        let is_fresh = |known: &Known| known.counts.is_some_and(|(_, read_at)| read_at.elapsed() < FRESH_FOR);
        if detail == Detail::Cheap && self.lock().get(&submission).is_some_and(is_fresh) {
            return Ok(());
        }
        let counts = self.engine.store().item_counts(submission).await?;
        self.lock().entry(submission).or_default().counts = Some((counts, Instant::now()));
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<SubmissionId, Known>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn forget_some(&self) {
        let mut known = self.lock();
        if known.values().map(|known| known.items.len() + 1).sum::<usize>() > REMEMBERED {
            known.clear();
        }
    }
}

/// A payload, and the fields of the envelope that it came in.
fn taken_apart(payload: String) -> (String, Map<String, Value>) {
    if !payload.contains(ENVELOPE_KEY) {
        return (payload, Map::new());
    }
    match serde_json::from_str(&payload) {
        Ok(Value::Object(mut fields)) => match fields.remove(ENVELOPE_KEY) {
            Some(Value::Object(others)) => (Value::Object(fields).to_string(), others),
            _ => (payload, Map::new()),
        },
        _ => (payload, Map::new()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bindery_engine::message::PipelineMessage;

    #[test]
    fn an_envelope_is_what_the_engine_reads() {
        let (workflow, stage) = (Name::from("default"), Name::from("extract"));
        let head = Head {
            request_id: "a \"quoted\" id".to_owned(),
            trace_id: "sub_1".to_owned(),
            workflow_name: &workflow,
            current_stage: &stage,
            deadline_utc: None,
            page_index: Some(2),
            page_count: Some(5),
            file_index: None,
            document_id: Some("item_3".to_owned()),
            document_count: None,
            source_component: Some("classifier"),
            created_at: Timestamp::from_millis(0),
            others: Map::new(),
        };
        let read: PipelineMessage = serde_json::from_slice(&head.with_payload(r#"{"doc_type":"invoice"}"#)).unwrap();
        assert_eq!(read.request_id, "a \"quoted\" id");
        assert_eq!((read.page_index, read.page_count, read.document_count), (Some(2), Some(5), None));
        assert_eq!(read.payload["doc_type"], "invoice");
        let read: PipelineMessage = serde_json::from_slice(&head.with_payload("null")).unwrap();
        assert_eq!(read.payload, serde_json::json!({}));
    }
}
