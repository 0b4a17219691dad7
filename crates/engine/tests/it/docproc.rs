//! Seed 002's pipeline in miniature: the shipped `default` workflow with test processors behind its component names.
//!
//! A submission is one text file. Each line is a page, its first word the page's type. A type with a `?` behind it is
//! classified with little confidence; a page that says `blurred` makes the extraction of its document doubtful.

use crate::support::{Func, Rig};
use bindery_core::{
    Name, StepError, SubmissionId,
    item::{Item, ItemKind},
    job::{Job, JobState},
    outcome::Outcome,
};
use bindery_engine::{
    Child, Children, Extracted, Registry, Worker, WorkerOptions,
    context::StepContext,
    intake::Intake,
    message::{PipelineMessage, Published},
    stop_pair, view,
    view::AggregationState,
};
use bindery_store::query::{ItemFilter, JobFilter};
use serde_json::{Map, Value, json};
use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

pub(crate) const AGGREGATOR_QUEUE: &str = "q.extraction_aggregator";
pub(crate) const CONSOLIDATOR_QUEUE: &str = "q.consolidator";
pub(crate) const EXTRACTED: &str = "doc.extracted";

/// Five pages that are three documents.
pub(crate) const FIVE_PAGES: &str = "invoice one\ninvoice two\nid_card three\npayslip four\npayslip five\n";

pub(crate) fn default_yaml() -> String {
    include_str!("../../../../workflows/default.yaml").to_owned()
}

/// The default workflow, with the work of a component done by a program outside.
pub(crate) fn outside(component: &str) -> String {
    let line = format!("    component: {component}\n");
    let yaml = default_yaml();
    assert!(yaml.contains(&line));
    yaml.replace(&line, &format!("{line}    processors: [{{name: {component}, external: true}}]\n"))
}

/// How often the consolidator ran, over all engines that share the registry.
pub(crate) type Runs = Arc<AtomicUsize>;

pub(crate) fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        other => panic!("not an object: {other}"),
    }
}

/// Test processors for every component of the default workflow that does not come with the engine.
pub(crate) fn registry() -> (Registry, Runs) {
    let runs = Runs::default();
    let mut registry = Registry::with_builtin();
    registry.register(Func::new("splitter", split));
    registry.register(Func::new("ocr", |_, mut input| {
        input["ocr_text"] = input["text"].clone();
        input["ocr_confidence"] = json!(0.99);
        Ok(Extracted::new(input))
    }));
    registry.register(Func::new("classifier", |_, mut input| {
        let text = input["ocr_text"].as_str().unwrap_or_default().to_owned();
        let word = text.split_whitespace().next().unwrap_or_default();
        let confidence = if word.ends_with('?') { 0.4 } else { 0.95 };
        input["doc_type"] = json!(word.trim_end_matches('?'));
        Ok(Extracted::new(input).with_confidence(confidence))
    }));
    registry.register(Func::new("classification_aggregator", group));
    registry.register(Func::new("extractor", |_, input| {
        let blurred = input["ocr_texts"].to_string().contains("blurred");
        let confidence = if blurred { 0.5 } else { 0.91 };
        let output = json!({
            "doc_type": input["doc_type"], "extracted_data": {"pages": input["page_indices"], "total": "12.50"},
            "extraction_confidence": confidence,
        });
        Ok(Extracted::new(output).with_confidence(confidence))
    }));
    let counted = Arc::clone(&runs);
    registry.register(Func::new("consolidator", move |context, input| {
        counted.fetch_add(1, Ordering::SeqCst);
        consolidate(context, &input)
    }));
    (registry, runs)
}

fn split(context: &StepContext, _input: Value) -> Result<Extracted, StepError> {
    let mut pages = Vec::new();
    for file in context.items(Some(ItemKind::File), None)? {
        let bytes = context.blob(file.content.ok_or_else(|| StepError::reject("a file without bytes"))?)?;
        for line in String::from_utf8_lossy(&bytes).lines() {
            let data = object(json!({"page_index": pages.len(), "text": line}));
            pages.push(Child { data, ..Child::default() });
        }
    }
    Ok(Extracted::new(json!({"page_count": pages.len()})).with_children(Children::new(ItemKind::Page, pages)))
}

/// Consecutive pages of one type are one document.
fn group(context: &StepContext, _input: Value) -> Result<Extracted, StepError> {
    let mut documents: Vec<(String, Vec<Value>, Map<String, Value>)> = Vec::new();
    for outcome in context.outcomes("classify")? {
        let page = context.read(&outcome.output)?;
        let doc_type = page["doc_type"].as_str().unwrap_or("unknown").to_owned();
        if documents.last().is_none_or(|(last, ..)| *last != doc_type) {
            documents.push((doc_type, Vec::new(), Map::new()));
        }
        if let Some((_, indices, texts)) = documents.last_mut() {
            indices.push(page["page_index"].clone());
            texts.insert(page["page_index"].to_string(), page["ocr_text"].clone());
        }
    }
    let children = documents.into_iter().enumerate().map(|(index, (doc_type, indices, texts))| Child {
        label: Some(doc_type.clone()),
        key: Some(format!("uuid-doc-{index}")),
        data: object(json!({"doc_type": doc_type, "page_indices": indices})),
        input: object(json!({"ocr_texts": texts})),
        ..Child::default()
    });
    let children = Children::new(ItemKind::Document, children.collect());
    Ok(Extracted::new(json!({"document_count": children.count})).with_children(children))
}

/// Everything comes from the store; the message is kept in the result, for tests to look at.
fn consolidate(context: &StepContext, message: &Value) -> Result<Extracted, StepError> {
    let extracted = context.outcomes("extract")?;
    let mut documents = Vec::new();
    for document in context.items(Some(ItemKind::Document), None)? {
        let Some(outcome) = extracted.iter().find(|outcome| outcome.item == Some(document.id)) else { continue };
        let output = context.read(&outcome.output)?;
        documents.push(json!({
            "document_id": document.public_id(), "doc_type": document.label,
            "extracted_data": output["extracted_data"], "extraction_confidence": outcome.confidence,
            "status": outcome.status,
        }));
    }
    Ok(Extracted::new(json!({"message": message, "documents": documents})))
}

/// An engine with a workflow and one submission in it.
pub(crate) struct Docproc {
    pub(crate) rig: Rig,
    pub(crate) id: SubmissionId,
    pub(crate) consolidated: Runs,
}

impl Docproc {
    /// Takes pages in; nothing has run yet.
    pub(crate) async fn received(yaml: &str, pages: &str) -> Self {
        Self::on(Rig::new, yaml, pages).await
    }

    pub(crate) async fn on(make: impl Fn(Registry) -> Rig, yaml: &str, pages: &str) -> Self {
        let (registry, consolidated) = registry();
        let rig = make(registry);
        rig.workflow(yaml).await;
        let mut intake = Intake::new("default", vec![rig.file("scan.txt", pages).await]);
        intake.external_id = Some("request-1".to_owned());
        let id = rig.submit(intake).await;
        Self { rig, id, consolidated }
    }

    /// Runs until the documents wait for an extractor outside.
    pub(crate) async fn awaiting_extraction(pages: &str) -> Self {
        let this = Self::received(&outside("extractor"), pages).await;
        this.rig.drain().await;
        this
    }

    pub(crate) async fn items(&self, kind: Option<ItemKind>) -> Vec<Item> {
        self.rig.store.items(self.id, ItemFilter { kind, ..ItemFilter::default() }).await.unwrap()
    }

    pub(crate) async fn documents(&self) -> Vec<Item> {
        self.items(Some(ItemKind::Document)).await
    }

    /// The extractor's message about each document.
    pub(crate) async fn messages(&self) -> Vec<PipelineMessage> {
        let documents = self.documents().await;
        documents.iter().map(|document| extracted_message(document, documents.len())).collect()
    }

    pub(crate) async fn publish(&self, message: &PipelineMessage) -> Published {
        self.rig.engine.publish(EXTRACTED, message.clone()).await.unwrap()
    }

    /// The row of `aggregation_state` for a stage.
    pub(crate) async fn state(&self, stage: &str) -> AggregationState {
        let states = view::AggregationStates::new(&self.rig.engine, self.id).await.unwrap().next().await.unwrap();
        let mut of_stage: Vec<AggregationState> = states.into_iter().filter(|state| state.stage == stage).collect();
        assert_eq!(of_stage.len(), 1, "one row for (request_id, {stage})");
        of_stage.remove(0)
    }

    pub(crate) async fn counts(&self, stage: &str) -> (i64, i64, bool) {
        let row = self.state(stage).await;
        (row.received_count, row.expected_count, row.is_complete)
    }

    /// The jobs that wait in a queue.
    pub(crate) async fn queued(&self, queue: &str) -> Vec<Job> {
        let filter = JobFilter { queue: Some(Name::from(queue)), ..JobFilter::default() };
        self.rig.store().jobs(filter).await.unwrap().into_iter().map(|view| view.job).collect()
    }

    pub(crate) async fn outcomes(&self, stage: &str) -> Vec<Outcome> {
        self.rig.store.outcomes(self.id, Some(&Name::from(stage))).await.unwrap()
    }

    /// What an outcome's processor returned.
    pub(crate) async fn output(&self, outcome: &Outcome) -> Value {
        self.rig.engine.read_payload(&outcome.output).await.unwrap()
    }

    pub(crate) async fn result(&self) -> Value {
        view::result(&self.rig.engine, self.id).await.unwrap().unwrap()
    }

    pub(crate) fn consolidations(&self) -> usize {
        self.consolidated.load(Ordering::SeqCst)
    }

    /// How often an aggregation has said that it is complete.
    pub(crate) async fn completions(&self, stage: &str) -> usize {
        let closed = self.rig.events_of(bindery_core::event::kind::STAGE_CLOSED).await;
        closed.iter().filter(|event| event.data.contains(&format!("\"{stage}\""))).count()
    }

    pub(crate) async fn pause(&self, queue: &str) {
        assert!(self.rig.store().pause(&Name::from(queue), None).await.unwrap());
    }

    pub(crate) async fn resume(&self, queue: &str) {
        assert!(self.rig.store().resume(&Name::from(queue)).await.unwrap());
    }
}

/// The seed's input message, as text from the wire.
pub(crate) fn extracted_message(document: &Item, document_count: usize) -> PipelineMessage {
    let text = json!({
        "request_id": "request-1",
        "document_id": document.public_id(),
        "document_count": document_count,
        "payload": {
            "doc_type": document.label,
            "extracted_data": {"total": format!("from {}", document.public_id())},
            "extraction_confidence": 0.91,
        },
    });
    serde_json::from_str(&text.to_string()).unwrap()
}

/// Runs a worker until something is so; it must become so in time.
pub(crate) async fn work_until(rig: &Rig, options: WorkerOptions, reached: impl AsyncFn() -> bool) {
    let (handle, stop) = stop_pair();
    let worker = Worker::new(rig.engine.clone(), options);
    let running = tokio::spawn(async move { worker.run(stop).await });
    let begun = Instant::now();
    while !reached().await {
        assert!(begun.elapsed() < Duration::from_secs(30), "not reached: {:#?}", rig.jobs().await);
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    handle.stop();
    running.await.unwrap().unwrap();
}

pub(crate) fn is_waiting(job: &Job) -> bool {
    job.state == JobState::Ready && job.attempt == 0
}
