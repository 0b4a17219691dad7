//! Reading one stage. What it says about itself is checked here; what it says about its neighbours, in `check`.

use super::model::{
    Aggregation, CompleteWhen, LimitPer, OnFailed, OnReview, Over, Stage, StageLimits, StageProcessor, StageRunner,
};
use super::result_shape::ResultShape;
use bindery_core::{Backoff, Name, submission::SubmissionStatus};
use bindery_yaml::{Data, Fields, Node, Problems, name_of, suggest};
use std::collections::HashSet;

pub(super) const STAGE_KEYS: &[&str] = &[
    "name",
    "component",
    "routing_key",
    "over",
    "processors",
    "timeout_seconds",
    "max_attempts",
    "max_worker_losses",
    "retry",
    "parallel",
    "limits",
    "confidence_threshold",
    "backoffice_queue",
    "on_review",
    "review_timeout_seconds",
    "aggregation",
    "status",
    "complete_when",
    "runner",
    "memory_mb",
    "result",
    "settings",
];
pub(super) const PROCESSOR_KEYS: &[&str] = &["name", "external", "timeout_seconds", "max_attempts"];
pub(super) const RETRY_KEYS: &[&str] = &["initial_seconds", "factor", "max_seconds", "jitter"];
pub(super) const LIMIT_KEYS: &[&str] = &["concurrency", "rate_per_minute", "per"];
pub(super) const AGGREGATION_KEYS: &[&str] = &["type", "collect_by", "expect_count_from", "on_failed"];

/// A stage with what the checks between stages still need: what was written, and where.
#[derive(Debug)]
pub(super) struct StageDraft<'n> {
    pub(super) stage: Stage,
    /// `over` as it was written; the stage's own is inferred later where this is `None`.
    pub(super) written_over: Option<Over>,
    pub(super) fields: Fields<'n>,
}

/// `None` only together with a problem. The workflow's name is the first part of a routing key that is not written.
pub(super) fn read_stage<'n>(
    node: &'n Node,
    path: &str,
    workflow: &str,
    problems: &mut Problems,
) -> Option<StageDraft<'n>> {
    let fields = Fields::open(node, path, STAGE_KEYS, problems)?;
    fields.require("name", "every stage has a name of its own", problems);
    let name = fields.name("name", problems);
    let component = fields.name("component", problems);
    let routing_key = fields.name("routing_key", problems);
    let written_over = fields.choice("over", &Over::ALL.map(|over| (over.as_str(), over)), problems);
    let processors = read_processors(&fields, problems);
    let timeout = fields.seconds("timeout_seconds", problems).unwrap_or(Stage::DEFAULT_TIMEOUT);
    let max_attempts = fields.count("max_attempts", problems).unwrap_or(Stage::DEFAULT_MAX_ATTEMPTS);
    let max_worker_losses = fields.count("max_worker_losses", problems).unwrap_or(Stage::DEFAULT_MAX_WORKER_LOSSES);
    let backoff = read_backoff(&fields, problems);
    let limits = fields.get("limits").and_then(|node| read_limits(node, &fields.path_of("limits"), problems));
    let parallel = read_parallel(&fields, problems);
    let confidence_threshold = fields.number("confidence_threshold", 0.0, 1.0, problems);
    let backoffice_queue = fields.name("backoffice_queue", problems);
    if fields.get("confidence_threshold").is_some() && fields.get("backoffice_queue").is_none() {
        let message = "results below the threshold have nowhere to go";
        let hint = "add `backoffice_queue`, the queue where people find them, for example task.classification";
        fields.blame("confidence_threshold", message, Some(hint), problems);
    }
    let on_review = fields.choice("on_review", &[("wait", OnReview::Wait), ("continue", OnReview::Continue)], problems);
    let review_timeout = fields.seconds("review_timeout_seconds", problems);
    for key in ["on_review", "review_timeout_seconds"] {
        if fields.get(key).is_some() && fields.get("backoffice_queue").is_none() {
            let hint = "add `backoffice_queue`, the queue where people find what this stage asks them";
            fields.blame(key, "nobody is asked at this stage", Some(hint), problems);
        }
    }
    let aggregation = fields.get("aggregation");
    let aggregation = aggregation.and_then(|node| read_aggregation(node, &fields.path_of("aggregation"), problems));
    let status = read_status(&fields, problems);
    let complete_when =
        fields.choice("complete_when", &[("any", CompleteWhen::Any), ("all", CompleteWhen::All)], problems);
    let runner = fields.choice("runner", &StageRunner::ALL.map(|runner| (runner.as_str(), runner)), problems);
    let memory = fields.whole("memory_mb", " of megabytes", 16, 1 << 20, problems);
    if let (Some(StageRunner::Threads), Some(_)) = (runner, memory) {
        let message = "a thread cannot be held to a memory limit";
        fields.blame("memory_mb", message, Some("use `runner: processes`, or leave one of the two out"), problems);
    }
    let result = fields.get("result").map(|node| ResultShape::read(node, &fields.path_of("result"), problems));
    let settings = read_settings(&fields, problems);

    let name = name?;
    let component = component.unwrap_or_else(|| name.clone());
    let processors = processors.unwrap_or_else(|| vec![plain_processor(component.clone())]);
    let stage = Stage {
        routing_key: routing_key.unwrap_or_else(|| Name::from(format!("{workflow}.{name}"))),
        over: Over::Submission,
        processors,
        timeout,
        max_attempts,
        max_worker_losses,
        backoff,
        parallel,
        limits,
        confidence_threshold,
        backoffice_queue,
        on_review: on_review.unwrap_or_default(),
        review_timeout: review_timeout.unwrap_or(Stage::DEFAULT_REVIEW_TIMEOUT),
        aggregation,
        status,
        complete_when: complete_when.unwrap_or_default(),
        runner: runner.unwrap_or_default(),
        memory: memory.and_then(|megabytes| u64::try_from(megabytes).ok()).map(|megabytes| megabytes << 20),
        result: result.unwrap_or_default(),
        settings,
        name,
        component,
    };
    Some(StageDraft { stage, written_over, fields })
}

fn plain_processor(name: Name) -> StageProcessor {
    StageProcessor { name, external: false, timeout: None, max_attempts: None }
}

/// `None` when the key is absent.
fn read_processors(fields: &Fields<'_>, problems: &mut Problems) -> Option<Vec<StageProcessor>> {
    let nodes = fields.list("processors", problems)?;
    if nodes.is_empty() {
        let hint = "leave the key out to run the one processor that is named like the component";
        fields.blame("processors", "the list is empty", Some(hint), problems);
    }
    let mut processors = Vec::with_capacity(nodes.len());
    let mut seen = HashSet::with_capacity(nodes.len());
    for (index, node) in nodes.iter().enumerate() {
        let path = format!("{}[{index}]", fields.path_of("processors"));
        let Some(processor) = read_processor(node, &path, problems) else { continue };
        if !seen.insert(processor.name.clone()) {
            let message = format!("the processor {:?} is already on this stage", &*processor.name);
            problems.add_with_hint(node.place, &path, message, "a processor runs once on an item; keep one of the two");
        }
        processors.push(processor);
    }
    Some(processors)
}

fn read_processor(node: &Node, path: &str, problems: &mut Problems) -> Option<StageProcessor> {
    if !matches!(node.data, Data::Mapping(_)) {
        return name_of(node, path, problems).map(plain_processor);
    }
    let fields = Fields::open(node, path, PROCESSOR_KEYS, problems)?;
    fields.require("name", "give the processor's registered name", problems);
    let name = fields.name("name", problems);
    let external = fields.bool("external", problems).unwrap_or(false);
    let timeout = fields.seconds("timeout_seconds", problems);
    let max_attempts = fields.count("max_attempts", problems);
    Some(StageProcessor { name: name?, external, timeout, max_attempts })
}

fn read_backoff(stage: &Fields<'_>, problems: &mut Problems) -> Backoff {
    let default = Backoff::default();
    let Some(node) = stage.get("retry") else { return default };
    let Some(fields) = Fields::open(node, &stage.path_of("retry"), RETRY_KEYS, problems) else { return default };
    let initial = fields.fractional_seconds("initial_seconds", problems).unwrap_or(default.initial);
    let factor = fields.number("factor", 1.0, 100.0, problems).unwrap_or(default.factor);
    let written_max = fields.fractional_seconds("max_seconds", problems);
    // Asking only for a long first wait is no mistake: the longest is then at least that.
    let max = written_max.unwrap_or(default.max.max(initial));
    if max < initial {
        let message = format!("the longest wait of {max:?} is shorter than the first of {initial:?}");
        fields.blame("max_seconds", message, Some("raise max_seconds or lower initial_seconds"), problems);
    }
    let jitter = fields.number("jitter", 0.0, 1.0, problems).unwrap_or(default.jitter);
    Backoff { initial, factor, max, jitter }
}

fn read_limits(node: &Node, path: &str, problems: &mut Problems) -> Option<StageLimits> {
    let fields = Fields::open(node, path, LIMIT_KEYS, problems)?;
    if fields.get("concurrency").is_none() && fields.get("rate_per_minute").is_none() {
        let hint = "give `concurrency`, `rate_per_minute` or both";
        problems.add_with_hint(fields.place, path, "nothing is limited here", hint);
    }
    let concurrency = fields.count("concurrency", problems);
    let rate_per_minute = fields.count("rate_per_minute", problems);
    let choices = [("stage", LimitPer::Stage), ("submission", LimitPer::Submission), ("owner", LimitPer::Owner)];
    let per = fields.choice("per", &choices, problems).unwrap_or_default();
    Some(StageLimits { concurrency, rate_per_minute, per })
}

/// Limits only mean something where work runs side by side, so they switch it on.
fn read_parallel(fields: &Fields<'_>, problems: &mut Problems) -> bool {
    let limited = fields.get("limits").is_some();
    let written = fields.bool("parallel", problems);
    if limited && written == Some(false) {
        let message = "`parallel: false` already runs one item after the other, so `limits` would have no effect";
        let hint = "remove `parallel: false` to have the limits, or remove `limits`";
        fields.blame("parallel", message, Some(hint), problems);
    }
    written.unwrap_or(limited)
}

fn read_aggregation(node: &Node, path: &str, problems: &mut Problems) -> Option<Aggregation> {
    let fields = Fields::open(node, path, AGGREGATION_KEYS, problems)?;
    fields.choice("type", &[("fan_in", ())], problems);
    let scopes = [("submission_id", Over::Submission), ("request_id", Over::Submission), ("file_id", Over::File)];
    let scope = match fields.get("collect_by") {
        None => Some(Over::Submission),
        Some(_) => fields.choice("collect_by", &scopes, problems),
    };
    fields.require("expect_count_from", "say what to wait for: page_count, document_count or file_count", problems);
    let counts = [("page_count", Over::Page), ("document_count", Over::Document), ("file_count", Over::File)];
    let counts = fields.choice("expect_count_from", &counts, problems);
    let choices = [("continue", OnFailed::Continue), ("fail", OnFailed::Fail)];
    let on_failed = fields.choice("on_failed", &choices, problems).unwrap_or_default();
    let (scope, counts) = (scope?, counts?);
    if scope >= counts {
        let message = format!("a {scope} is not made of {counts}s, so there is nothing to collect");
        let hint = "collect by something larger than what is counted, for example collect_by: submission_id";
        fields.blame("collect_by", message, Some(hint), problems);
        return None;
    }
    Some(Aggregation { scope, counts, on_failed })
}

fn read_status(fields: &Fields<'_>, problems: &mut Problems) -> Option<SubmissionStatus> {
    let text = fields.text("status", problems)?;
    let allowed: Vec<&str> =
        SubmissionStatus::ALL.iter().filter(|status| !status.is_final()).map(|status| status.as_str()).collect();
    let found = SubmissionStatus::from_name(text);
    match found {
        Some(status) if status.is_final() => {
            let message = format!("a stage cannot end the submission, which is what the status {text:?} means");
            fields.blame("status", message, Some(&format!("use one of {}", allowed.join(", "))), problems);
            None
        }
        Some(status) => Some(status),
        None => {
            fields.blame("status", format!("unknown status {text:?}"), Some(&suggest(text, &allowed)), problems);
            None
        }
    }
}

fn read_settings(fields: &Fields<'_>, problems: &mut Problems) -> serde_json::Map<String, serde_json::Value> {
    let Some(node) = fields.get("settings") else { return serde_json::Map::new() };
    if !matches!(node.data, Data::Mapping(_)) {
        fields.blame("settings", format!("expected a mapping, found {}", node.describe()), None, problems);
        return serde_json::Map::new();
    }
    match node.to_json(&fields.path_of("settings"), problems) {
        Some(serde_json::Value::Object(settings)) => settings,
        _ => serde_json::Map::new(),
    }
}
