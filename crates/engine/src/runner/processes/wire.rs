//! The messages between parent and child, and the forms that values take in them. Whatever goes in comes out the same.

use crate::{
    context::Cost,
    processor::{Announcement, Child, Children, Extracted, NewArtifact},
    runner::{Limits, Ran},
    steps::{StepTimes, Stopped},
    work_id::WorkId,
    workflow::Target,
};
use bindery_core::{ContentHash, Disposition, Name, StepError, Timestamp, item::ItemKind, outcome::Step};
use bindery_store::blobs::BlobsPlace;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Map, Value};
use std::time::Duration;

/// From parent to child.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) enum Order {
    /// What the orders after this one are about.
    Setup(Setup),
    Run(Run),
}

/// What is the same for all inputs of a task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Setup {
    pub(super) processor: String,
    pub(super) version: u32,
    pub(super) settings: Map<String, Value>,
    pub(super) time: Option<Duration>,
    pub(super) memory: Option<u64>,
    pub(super) blobs: Option<BlobsPlace>,
}

impl Setup {
    pub(super) fn limits(&self) -> Limits {
        Limits { time: self.time, memory: self.memory }
    }
}

/// One input.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Run {
    pub(super) place: usize,
    pub(super) from: Step,
    pub(super) value: Value,
    pub(super) attempt: u32,
    pub(super) work: Option<WorkId>,
}

/// From child to parent, as the child writes it.
#[derive(Debug, Serialize)]
pub(super) enum Reply<'a> {
    Ready {
        pid: u32,
    },
    Done {
        place: usize,
        #[serde(serialize_with = "write_result")]
        result: &'a Result<Extracted, Box<Stopped>>,
        times: StepTimes,
        costs: &'a [Cost],
    },
    /// It was told to stop before it began with this one.
    NotBegun {
        place: usize,
    },
}

/// The same, as the parent reads it.
#[derive(Debug, Deserialize)]
pub(super) enum Answer {
    Ready { pid: u32 },
    Done { place: usize, result: Box<Result<WireExtracted, WireStopped>>, times: StepTimes, costs: Vec<Cost> },
    NotBegun { place: usize },
}

/// What became of an input, in the parent's own types.
pub(super) fn to_ran(result: Result<WireExtracted, WireStopped>, times: StepTimes, costs: Vec<Cost>) -> Ran {
    let result = result.map(Extracted::from).map_err(|stopped| Box::new(Stopped::from(stopped)));
    Ran { result, times, costs, peak_memory: None }
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference to the field")]
fn write_result<S: Serializer>(result: &&Result<Extracted, Box<Stopped>>, serializer: S) -> Result<S::Ok, S::Error> {
    let wire: Result<ExtractedRef<'_>, WireStopped> = match result {
        Ok(extracted) => Ok(ExtractedRef::from(extracted)),
        Err(stopped) => Err(WireStopped::from(stopped.as_ref().clone())),
    };
    wire.serialize(serializer)
}

/// [`Extracted`] as it is written: its children are asked for one by one, so that they are never all in memory.
#[derive(Debug, Serialize)]
struct ExtractedRef<'a> {
    output: &'a Value,
    output_blob: Option<ContentHash>,
    confidence: Option<f64>,
    children: Option<ChildrenRef<'a>>,
    reasons: &'a [String],
    target: Option<WireTarget>,
    artifacts: Vec<WireArtifact>,
    label: Option<&'a str>,
    skipped: Option<&'a str>,
    events: &'a [Announcement],
    cost_micros: i64,
}

impl<'a> From<&'a Extracted> for ExtractedRef<'a> {
    fn from(extracted: &'a Extracted) -> Self {
        Self {
            output: &extracted.output,
            output_blob: extracted.output_blob,
            confidence: extracted.confidence,
            children: extracted.children.as_ref().map(|list| ChildrenRef { kind: list.kind, list }),
            reasons: &extracted.reasons,
            target: extracted.target.clone().map(WireTarget::from),
            artifacts: extracted.artifacts.iter().cloned().map(WireArtifact::from).collect(),
            label: extracted.label.as_deref(),
            skipped: extracted.skipped.as_deref(),
            events: &extracted.events,
            cost_micros: extracted.cost_micros,
        }
    }
}

#[derive(Debug, Serialize)]
pub(crate) struct ChildrenRef<'a> {
    pub(crate) kind: ItemKind,
    #[serde(serialize_with = "one_by_one")]
    pub(crate) list: &'a Children,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference to the field")]
fn one_by_one<S: Serializer>(children: &&Children, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq((0..children.count).map(|index| WireChild::from(children.child(index))))
}

/// [`Extracted`] as it is read.
#[derive(Debug, Deserialize)]
pub(super) struct WireExtracted {
    output: Value,
    output_blob: Option<ContentHash>,
    confidence: Option<f64>,
    children: Option<WireChildren>,
    reasons: Vec<String>,
    target: Option<WireTarget>,
    artifacts: Vec<WireArtifact>,
    label: Option<String>,
    skipped: Option<String>,
    events: Vec<Announcement>,
    cost_micros: i64,
}

impl From<WireExtracted> for Extracted {
    fn from(wire: WireExtracted) -> Self {
        Self {
            output: wire.output,
            output_blob: wire.output_blob,
            confidence: wire.confidence,
            children: wire.children.map(Children::from),
            reasons: wire.reasons,
            target: wire.target.map(Target::from),
            artifacts: wire.artifacts.into_iter().map(NewArtifact::from).collect(),
            label: wire.label,
            skipped: wire.skipped,
            events: wire.events,
            cost_micros: wire.cost_micros,
        }
    }
}

#[derive(Debug, Deserialize)]
pub(crate) struct WireChildren {
    kind: ItemKind,
    list: Vec<WireChild>,
}

impl From<WireChildren> for Children {
    fn from(wire: WireChildren) -> Self {
        Self::new(wire.kind, wire.list.into_iter().map(Child::from).collect())
    }
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct WireChild {
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<ContentHash>,
    #[serde(skip_serializing_if = "Map::is_empty")]
    data: Map<String, Value>,
    #[serde(skip_serializing_if = "Map::is_empty")]
    input: Map<String, Value>,
}

impl From<Child> for WireChild {
    fn from(Child { label, key, content, data, input }: Child) -> Self {
        Self { label, key, content, data, input }
    }
}

impl From<WireChild> for Child {
    fn from(WireChild { label, key, content, data, input }: WireChild) -> Self {
        Self { label, key, content, data, input }
    }
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct WireArtifact {
    key: String,
    hash: ContentHash,
    size: u64,
    media_type: String,
}

impl From<NewArtifact> for WireArtifact {
    fn from(NewArtifact { key, hash, size, media_type }: NewArtifact) -> Self {
        Self { key, hash, size, media_type }
    }
}

impl From<WireArtifact> for NewArtifact {
    fn from(WireArtifact { key, hash, size, media_type }: WireArtifact) -> Self {
        Self { key, hash, size, media_type }
    }
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum WireTarget {
    Next,
    Backoffice,
    End,
    Key(String),
}

impl From<Target> for WireTarget {
    fn from(target: Target) -> Self {
        match target {
            Target::Next => Self::Next,
            Target::Backoffice => Self::Backoffice,
            Target::End => Self::End,
            Target::Key(key) => Self::Key(key.to_string()),
        }
    }
}

impl From<WireTarget> for Target {
    fn from(target: WireTarget) -> Self {
        match target {
            WireTarget::Next => Self::Next,
            WireTarget::Backoffice => Self::Backoffice,
            WireTarget::End => Self::End,
            WireTarget::Key(key) => Self::Key(Name::from(key.as_str())),
        }
    }
}

/// [`Stopped`] and its error.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct WireStopped {
    step: Step,
    kind: String,
    message: String,
    disposition: WireDisposition,
    /// In a list, because an input that is null is not the same as none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    input: Option<[Value; 1]>,
}

impl From<Stopped> for WireStopped {
    fn from(Stopped { step, error, input }: Stopped) -> Self {
        let StepError { kind, message, disposition } = error;
        Self { step, kind, message, disposition: disposition.into(), input: input.map(|value| [value]) }
    }
}

impl From<WireStopped> for Stopped {
    fn from(WireStopped { step, kind, message, disposition, input }: WireStopped) -> Self {
        let error = StepError { kind, message, disposition: disposition.into() };
        Self { step, error, input: input.map(|[value]| value) }
    }
}

#[derive(Debug, Serialize, Deserialize)]
enum WireDisposition {
    Retry {
        after: Option<Duration>,
    },
    Review,
    Reject,
    Bug,
    Park {
        until: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        at: Option<Timestamp>,
    },
}

impl From<Disposition> for WireDisposition {
    fn from(disposition: Disposition) -> Self {
        match disposition {
            Disposition::Retry { after } => Self::Retry { after },
            Disposition::Review => Self::Review,
            Disposition::Reject => Self::Reject,
            Disposition::Bug => Self::Bug,
            Disposition::Park { until, at } => Self::Park { until, at },
        }
    }
}

impl From<WireDisposition> for Disposition {
    fn from(disposition: WireDisposition) -> Self {
        match disposition {
            WireDisposition::Retry { after } => Self::Retry { after },
            WireDisposition::Review => Self::Review,
            WireDisposition::Reject => Self::Reject,
            WireDisposition::Bug => Self::Bug,
            WireDisposition::Park { until, at } => Self::Park { until, at },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn round_trip(result: &Result<Extracted, Box<Stopped>>) -> Ran {
        let mut times = StepTimes::default();
        times.set(Step::Processing, Duration::from_nanos(1_234_567_891));
        let costs = [Cost { service: "ocr".to_owned(), operation: "page".to_owned(), micros: 1_500 }];
        let reply = Reply::Done { place: 7, result, times, costs: &costs };
        let text = serde_json::to_vec(&reply).unwrap();
        let Answer::Done { place: 7, result, times: read, costs: spent } = serde_json::from_slice(&text).unwrap()
        else {
            panic!("another answer")
        };
        assert_eq!(read, times);
        assert_eq!(spent, costs);
        to_ran(*result, read, spent)
    }

    fn children(count: usize) -> Children {
        Children::generate(ItemKind::Page, count, |index| Child {
            label: Some(format!("page {index}")),
            key: (index % 2 == 0).then(|| format!("p-{index}")),
            content: Some(ContentHash::of(&[index as u8])),
            data: Map::from_iter([("number".to_owned(), json!(index))]),
            input: Map::from_iter([("text".to_owned(), json!(format!("of page {index}")))]),
        })
    }

    #[test]
    fn everything_that_was_extracted_arrives() {
        let artifact = NewArtifact {
            key: "pages/1.txt".to_owned(),
            hash: ContentHash::of(b"text"),
            size: u64::MAX,
            media_type: "text/plain".to_owned(),
        };
        let sent = Extracted {
            output: json!({"text": "ä\u{0}\n", "sum": 0.1 + 0.2, "large": u64::MAX, "none": null}),
            output_blob: Some(ContentHash::of(b"output")),
            confidence: Some(0.1 + 0.7),
            children: Some(children(5)),
            target: Some(Target::Key(Name::from("__next__"))),
            artifacts: vec![artifact],
            reasons: vec!["two totals".to_owned()],
            label: Some("invoice".to_owned()),
            skipped: Some("empty".to_owned()),
            events: vec![Announcement { kind: "DoneEvent".to_owned(), data: json!({"pages": 2}) }],
            cost_micros: -3,
        };
        let expected = format!("{sent:?}");
        let result = Ok(sent);
        let got = round_trip(&result).result.unwrap();
        assert_eq!(format!("{got:?}"), expected);
        let (got, sent) = (got.children.unwrap(), children(5));
        for index in 0..5 {
            assert_eq!(format!("{:?}", got.child(index)), format!("{:?}", sent.child(index)));
        }
    }

    #[test]
    fn nothing_arrives_as_nothing() {
        let got = round_trip(&Ok(Extracted::default())).result.unwrap();
        assert_eq!(format!("{got:?}"), format!("{:?}", Extracted::<Value>::default()));
    }

    #[test]
    fn targets_stay_what_they_are() {
        for target in [Target::Next, Target::Backoffice, Target::End, Target::Key(Name::from("extraction"))] {
            let sent = Extracted { target: Some(target.clone()), ..Extracted::default() };
            assert_eq!(round_trip(&Ok(sent)).result.unwrap().target, Some(target));
        }
    }

    #[test]
    fn errors_keep_their_name_and_what_to_do_next() {
        let at = Timestamp::from_millis(1_767_225_600_000);
        let parked = StepError::park("language model budget", "spent");
        let errors = [
            StepError::retry("busy"),
            StepError::retry_after(Duration::from_millis(1_500), "later"),
            StepError::reject("no"),
            StepError::review("who knows"),
            StepError::bug("oh").named("Panic"),
            StepError::park("language model key", "no key"),
            StepError { disposition: Disposition::Park { until: "budget".to_owned(), at: Some(at) }, ..parked },
        ];
        for error in errors {
            for input in [None, Some(Value::Null), Some(json!([1]))] {
                let stopped = Stopped { step: Step::Extraction, error: error.clone(), input: input.clone() };
                let got = round_trip(&Err(Box::new(stopped))).result.unwrap_err();
                assert_eq!((got.step, &got.error, &got.input), (Step::Extraction, &error, &input));
            }
        }
    }

    #[test]
    fn orders_arrive() {
        let setup = Setup {
            processor: "reader".to_owned(),
            version: 3,
            settings: Map::from_iter([("depth".to_owned(), json!(2))]),
            time: Some(Duration::from_millis(250)),
            memory: Some(200 << 20),
            blobs: Some(BlobsPlace::folder("data/blobs")),
        };
        let work = WorkId { job: "job_1".to_owned(), about: "sub_1//read".to_owned() };
        let run =
            Run { place: 4, from: Step::Processing, value: json!({"a": [1.5e300]}), attempt: 2, work: Some(work) };
        for order in [Order::Setup(setup), Order::Run(run)] {
            let text = serde_json::to_vec(&order).unwrap();
            assert_eq!(serde_json::from_slice::<Order>(&text).unwrap(), order);
        }
    }
}
