//! Processors: the code that a stage runs, in three steps.

use crate::{
    context::StepContext,
    reuse::Reusable,
    runner::processes::Service,
    workflow::{Stage, Target, builtin},
};
use bindery_core::{
    ContentHash, Name, StepError, Timestamp,
    item::{Item, ItemKind},
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::{collections::BTreeMap, fmt, sync::Arc};

/// A stage's work on one item, in three steps. Each is given what the one before it returned; a step that fails leaves
/// its input behind, and a retry begins there. Steps must be safe to run twice with the same input: a lease can expire
/// after the work is done.
pub trait Processor: Send + Sync {
    /// Unique in the application.
    fn name(&self) -> &str;

    /// Raise it when the steps' results change meaning: work resumed from an older version starts at validation.
    fn version(&self) -> u32 {
        1
    }

    /// What kind of work it is; `--runner auto` and the workers choose by it how it is run.
    fn kind(&self) -> Kind {
        Kind::Cpu
    }

    /// Whether it only hands on what earlier stages have found, to people or programs outside. A submission's result is
    /// then that of the stage before, and is there whether or not it could be handed on.
    fn hands_on(&self) -> bool {
        false
    }

    /// Whether it looks at what an earlier stage has found, beside its own input. `workflows check` refuses stages whose
    /// output nobody reads, so in doubt this is true.
    fn reads(&self, _here: &Stage, _earlier: &Stage) -> bool {
        true
    }

    /// How its results are known again, where work on the same content need not be done twice.
    fn reuse(&self) -> Option<&dyn Reusable> {
        None
    }

    /// Is the input what we can work on? Returns what the next step needs.
    fn validate(&self, _context: &StepContext, input: Value) -> Result<Value, StepError> {
        Ok(input)
    }

    /// The work itself.
    fn process(&self, context: &StepContext, input: Value) -> Result<Value, StepError>;

    /// The result in its final shape.
    fn extract(&self, _context: &StepContext, processed: Value) -> Result<Extracted, StepError> {
        Ok(Extracted::new(processed))
    }

    /// What a person's word makes of a result. What it means is the processor's matter, and what makes no sense is
    /// refused in one sentence. Unless said otherwise, the person's fields are laid over what was found.
    fn correct(&self, found: Value, correction: &Correction) -> Result<Extracted, StepError> {
        Ok(Extracted::new(correction.laid_over(found)))
    }
}

/// What a person says about a result.
#[derive(Debug, Clone, PartialEq)]
pub struct Correction {
    /// None of them: it is right as it is.
    pub fields: Map<String, Value>,
    pub by: Option<String>,
    pub at: Timestamp,
}

impl Correction {
    /// The person's fields over what was found.
    pub fn laid_over(&self, found: Value) -> Value {
        match found {
            Value::Object(mut found) => {
                found.extend(self.fields.clone());
                Value::Object(found)
            }
            found if self.fields.is_empty() => found,
            _ => Value::Object(self.fields.clone()),
        }
    }

    /// The fields that say something else than what was found.
    pub fn differences(&self, found: &Value) -> impl Iterator<Item = (&String, &Value)> {
        self.fields.iter().filter(|(name, value)| found.get(name.as_str()) != Some(*value))
    }

    /// Who has said it, as evidence.
    pub fn source(&self) -> String {
        self.by.clone().unwrap_or_else(|| "a person".to_owned())
    }
}

/// What kind of work a processor does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Computes.
    #[default]
    Cpu,
    /// Mostly waits for others: files, services.
    Io,
    /// May hang, crash or swell on a bad input: it runs in a process of its own, under limits.
    Risky,
}

impl Kind {
    pub const ALL: [Self; 3] = [Self::Cpu, Self::Io, Self::Risky];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Cpu => "cpu",
            Self::Io => "io",
            Self::Risky => "risky",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// What a processor found. `T` is its output: a value on the wire, or a type that becomes one.
#[derive(Debug, Default)]
pub struct Extracted<T = Value> {
    /// Kept as the outcome's output, and the input of the item's next stage.
    pub output: T,
    /// The same where it is in the blob store already, because it is too long to be held as a value; `output` is then not
    /// looked at.
    pub output_blob: Option<ContentHash>,
    /// 0 to 1; compared with the stage's threshold.
    pub confidence: Option<f64>,
    /// The parts that the next stage works on, when the item was taken apart.
    pub children: Option<Children>,
    /// Why a person should look, one sentence each. They are read where somebody is asked: because of the confidence, or
    /// because the target is `__backoffice__`.
    pub reasons: Vec<String>,
    /// Where the work goes on; `__next__` unless said otherwise.
    pub target: Option<Target>,
    /// Bytes to keep under a readable key.
    pub artifacts: Vec<NewArtifact>,
    /// A type, such as a document's class, to show with the item.
    pub label: Option<String>,
    /// There was nothing to do, and why.
    pub skipped: Option<String>,
    /// Events about the submission, appended in the commit that stores the result.
    pub events: Vec<Announcement>,
    /// In millionths of the currency unit.
    pub cost_micros: i64,
}

impl<T> Extracted<T> {
    pub fn new(output: T) -> Self {
        Extracted::<()>::default().with_output(output)
    }

    /// The same with another output.
    pub fn with_output<U>(self, output: U) -> Extracted<U> {
        let Self { output_blob, confidence, children, reasons, target, artifacts, label, skipped, .. } = self;
        let Self { events, cost_micros, .. } = self;
        Extracted {
            output,
            output_blob,
            confidence,
            children,
            reasons,
            target,
            artifacts,
            label,
            skipped,
            events,
            cost_micros,
        }
    }

    #[must_use]
    pub fn with_confidence(mut self, confidence: f64) -> Self {
        self.confidence = Some(confidence);
        self
    }

    #[must_use]
    pub fn with_children(mut self, children: Children) -> Self {
        self.children = Some(children);
        self
    }
}

/// An event that a processor appends with its result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Announcement {
    pub kind: String,
    pub data: Value,
}

/// Bytes, or the hash of bytes that are stored already, under a readable key.
#[derive(Debug, Clone)]
pub struct NewArtifact {
    pub key: String,
    pub hash: ContentHash,
    pub size: u64,
    pub media_type: String,
}

/// A part of an item.
#[derive(Debug, Clone, Default)]
pub struct Child {
    pub label: Option<String>,
    /// An id that outside programs know it by; unique in its submission.
    pub key: Option<String>,
    pub content: Option<ContentHash>,
    /// Kept with the item, and the input of its first stage.
    pub data: Map<String, Value>,
    /// More input for its first stage, which is not kept with the item: what is long, such as texts.
    pub input: Map<String, Value>,
}

/// The parts that an item was taken apart into, made one by one so that a million of them need no memory. A retry asks
/// for them again and skips those that are stored, so they must come in the same order each time.
pub struct Children {
    pub kind: ItemKind,
    pub count: usize,
    make: Box<dyn Fn(usize) -> Child + Send + Sync>,
}

impl Children {
    pub fn new(kind: ItemKind, children: Vec<Child>) -> Self {
        let count = children.len();
        let children: Arc<[Child]> = children.into();
        Self { kind, count, make: Box::new(move |index| children.get(index).cloned().unwrap_or_default()) }
    }

    /// `make` is given the place of each child, from 0.
    pub fn generate(kind: ItemKind, count: usize, make: impl Fn(usize) -> Child + Send + Sync + 'static) -> Self {
        Self { kind, count, make: Box::new(make) }
    }

    pub fn child(&self, index: usize) -> Child {
        (self.make)(index)
    }
}

impl fmt::Debug for Children {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}s", self.count, self.kind)
    }
}

/// The processors that a program knows, by name.
#[derive(Clone, Default)]
pub struct Registry {
    processors: BTreeMap<Name, Arc<dyn Processor>>,
    services: Vec<Arc<dyn Service>>,
    /// Workflows that domains ship, by name.
    workflows: BTreeMap<&'static str, &'static str>,
    page_images: Option<Arc<dyn PageImages>>,
}

/// Draws pages, for programs that want to see them. Whoever reads files registers it.
pub trait PageImages: Send + Sync {
    /// A page as PNG; none where it has no picture, such as that of a text file.
    fn png(&self, context: &StepContext, page: &Item, dpi: u32) -> Result<Option<Vec<u8>>, StepError>;
}

impl Registry {
    /// The processors that come with the engine itself: those that only wait for a join and go on.
    pub fn with_builtin() -> Self {
        let mut registry = Self::default();
        for name in ["docproc-aggregator", "extraction_aggregator"] {
            registry.register(Forward(name));
        }
        registry
    }

    /// Adds a processor, or replaces the one of the same name.
    pub fn register(&mut self, processor: impl Processor + 'static) {
        self.processors.insert(Name::from(processor.name()), Arc::new(processor));
    }

    /// Adds a service that child processes offer, or replaces the one of the same name.
    pub fn register_service(&mut self, service: Arc<dyn Service>) {
        self.services.retain(|known| known.name() != service.name());
        self.services.push(service);
    }

    /// Adds who draws pages, or replaces it.
    pub fn register_page_images(&mut self, images: Arc<dyn PageImages>) {
        self.page_images = Some(images);
    }

    pub fn page_images(&self) -> Option<&Arc<dyn PageImages>> {
        self.page_images.as_ref()
    }

    /// Adds a workflow that a domain ships, or replaces the one of the same name.
    pub fn register_workflow(&mut self, (name, yaml): (&'static str, &'static str)) {
        self.workflows.insert(name, yaml);
    }

    /// Name and YAML of every workflow that ships, with the engine or with a domain.
    pub fn shipped_workflows(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        builtin::all().into_iter().chain(self.workflows.iter().map(|(name, yaml)| (*name, *yaml)))
    }

    /// The YAML of the one with this name.
    pub fn shipped_workflow(&self, name: &str) -> Option<&'static str> {
        builtin::find(name).or_else(|| self.workflows.get(name).copied())
    }

    pub fn services(&self) -> &[Arc<dyn Service>] {
        &self.services
    }

    pub fn get(&self, name: &str) -> Option<&Arc<dyn Processor>> {
        self.processors.get(name)
    }

    pub fn names(&self) -> Vec<String> {
        self.processors.keys().map(ToString::to_string).collect()
    }

    /// By name.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<dyn Processor>> {
        self.processors.values()
    }
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.processors.keys()).finish()
    }
}

/// Does nothing and goes on: the waiting was the work, and the join has done it. Later stages read the results from the
/// store.
#[derive(Debug, Clone, Copy)]
pub struct Forward(pub &'static str);

impl Processor for Forward {
    fn name(&self) -> &str {
        self.0
    }

    fn reads(&self, _here: &Stage, _earlier: &Stage) -> bool {
        false
    }

    fn process(&self, context: &StepContext, _input: Value) -> Result<Value, StepError> {
        Ok(serde_json::json!({"request_id": context.submission()?.public_id(), "source_component": self.0}))
    }
}
