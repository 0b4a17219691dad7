//! The work. Every processor is pure: what comes out depends on the file and the page alone, so that the result after
//! any number of crashes can be compared with the one that is computed here.

use bindery_core::{
    StepError,
    item::{Item, ItemKind},
    outcome::OutcomeStatus,
};
use bindery_engine::{
    Child, Children, Extracted, Processor, Registry,
    context::StepContext,
    workflow::{Stage, Workflow},
};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, HashSet};

/// Files into pages, two processors per page, a check that people sometimes have to complete, a join per file, documents,
/// a join of them all, one result. Nothing is said about attempts: what counts is what users get.
pub(crate) const TORTURE: &str = "
name: torture
version: 1
stages:
  - {name: split, component: splitter, over: file, parallel: true, retry: {initial_seconds: 0}}
  - {name: read, over: page, parallel: true, processors: [left, right], complete_when: any, retry: {initial_seconds: 0}}
  - {name: check, component: checker, over: page, parallel: true, confidence_threshold: 0.5, backoffice_queue: task.check}
  - {name: file_done, component: grouper, aggregation: {type: fan_in, collect_by: file_id, expect_count_from: page_count}}
  - {name: extract, component: extractor, over: document, parallel: true, retry: {initial_seconds: 0}}
  - {name: documents_done, component: extraction_aggregator, aggregation: {type: fan_in, collect_by: request_id, expect_count_from: document_count}}
  - {name: consolidate, component: consolidator}
";

/// One file with so many pages that they are stored in several commits.
pub(crate) const WIDE: &str = "
name: wide
version: 1
stages:
  - {name: split, component: wide_splitter, over: file, parallel: true, retry: {initial_seconds: 0}}
  - {name: tick, component: ticker, over: page, parallel: true}
  - {name: pages_done, component: extraction_aggregator, aggregation: {type: fan_in, collect_by: file_id, expect_count_from: page_count}}
";

/// Three chunks.
pub(crate) const WIDE_PAGES: usize = 4_100;

/// Asserts that the work is done with the limits that we ship, so that whatever survives here survives there.
pub(crate) fn assert_shipped_limits() {
    for yaml in [TORTURE, WIDE] {
        for stage in Workflow::parse(yaml, None).unwrap().stages {
            let limits = (stage.max_attempts, stage.max_worker_losses);
            assert_eq!(limits, (3, 10), "stage {} has limits of its own", stage.name);
            assert!(stage.processors.iter().all(|processor| processor.max_attempts.is_none()));
        }
    }
    assert_eq!((Stage::DEFAULT_MAX_ATTEMPTS, Stage::DEFAULT_MAX_WORKER_LOSSES), (3, 10));
}

/// Which workflow, and how much of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) enum Shape {
    Torture {
        files: usize,
    },
    /// The same with one page that kills whoever reads it with `left`.
    Guilty {
        files: usize,
    },
    Wide,
}

impl Shape {
    pub(crate) fn workflow(self) -> &'static str {
        match self {
            Self::Torture { .. } | Self::Guilty { .. } => "torture",
            Self::Wide => "wide",
        }
    }

    pub(crate) fn files(self) -> usize {
        match self {
            Self::Torture { files } | Self::Guilty { files } => files,
            Self::Wide => 1,
        }
    }

    /// What is in a file: its number, and whether one of its pages is guilty.
    pub(crate) fn text(self, file: usize) -> String {
        let guilty = matches!(self, Self::Guilty { .. }) && file == GUILTY_FILE;
        format!("{file}{}\n", if guilty { GUILTY } else { "" })
    }
}

const GUILTY: &str = " guilty";
const GUILTY_FILE: usize = 1;
/// One that both processors can read, and that nobody doubts.
const GUILTY_PAGE: usize = 3;

fn pages_of(file: usize) -> usize {
    4 + file * 7 % 9
}

fn split_fails(file: usize) -> bool {
    file % 7 == 3
}

fn left_fails(file: usize, page: usize) -> bool {
    (file + page).is_multiple_of(5)
}

fn right_fails(file: usize, page: usize) -> bool {
    (file + page).is_multiple_of(3)
}

fn is_doubtful(page: usize) -> bool {
    page % 6 == 2
}

fn extract_fails(file: usize, document: usize) -> bool {
    (file + document) % 11 == 5
}

const PAGES_PER_DOCUMENT: usize = 3;

fn extracted(file: usize, document: usize, pages: &[usize]) -> Value {
    json!({"file": file, "document": document, "sum": pages.iter().map(|page| file * 1_000 + page).sum::<usize>()})
}

fn consolidated(mut documents: Vec<Value>) -> Value {
    documents.sort_by_key(|document| (document["file"].as_u64(), document["document"].as_u64()));
    // Long enough to be a blob.
    json!({"documents": documents, "padding": ".".repeat(10_000)})
}

/// What must be there when a submission is done.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Expected {
    /// (completed, failed) outcomes of each stage.
    pub(crate) outcomes: BTreeMap<&'static str, (usize, usize)>,
    pub(crate) joins: usize,
    pub(crate) stages_closed: usize,
    pub(crate) result: Option<Value>,
}

impl Expected {
    fn count(&mut self, stage: &'static str, fails: bool) {
        let (completed, failed) = self.outcomes.entry(stage).or_default();
        *(if fails { failed } else { completed }) += 1;
    }

    pub(crate) fn of(shape: Shape) -> Self {
        match shape {
            Shape::Torture { files } => Self::of_torture(files, false),
            Shape::Guilty { files } => Self::of_torture(files, true),
            Shape::Wide => Self {
                outcomes: BTreeMap::from([("split", (1, 0)), ("tick", (WIDE_PAGES, 0)), ("pages_done", (1, 0))]),
                joins: 2,
                stages_closed: 1,
                result: None,
            },
        }
    }

    fn of_torture(files: usize, guilty: bool) -> Self {
        // The end's and the documents' join.
        let mut expected = Self { joins: 2, stages_closed: 1, ..Self::default() };
        let mut documents = Vec::new();
        for file in 0..files {
            expected.count("split", split_fails(file));
            if split_fails(file) {
                continue;
            }
            let mut good = Vec::new();
            for page in 0..pages_of(file) {
                let kills = guilty && (file, page) == (GUILTY_FILE, GUILTY_PAGE);
                let (left, right) = (left_fails(file, page) || kills, right_fails(file, page));
                expected.count("read", left);
                expected.count("read", right);
                expected.joins += 1;
                if !(left && right) {
                    expected.count("check", false);
                    good.push(page);
                }
            }
            expected.count("file_done", false);
            expected.joins += 1;
            expected.stages_closed += 1;
            for (document, pages) in good.chunks(PAGES_PER_DOCUMENT).enumerate() {
                expected.count("extract", extract_fails(file, document));
                if !extract_fails(file, document) {
                    documents.push(extracted(file, document, pages));
                }
            }
        }
        expected.count("documents_done", false);
        expected.count("consolidate", false);
        expected.result = Some(consolidated(documents));
        expected
    }

    pub(crate) fn failed(&self) -> usize {
        self.outcomes.values().map(|(_, failed)| failed).sum()
    }

    pub(crate) fn total(&self) -> usize {
        self.outcomes.values().map(|(completed, failed)| completed + failed).sum()
    }
}

type Work = fn(&StepContext, &Value) -> Result<Extracted, StepError>;

struct Pure {
    name: &'static str,
    work: Work,
}

impl Processor for Pure {
    fn name(&self) -> &str {
        self.name
    }

    fn process(&self, _context: &StepContext, input: Value) -> Result<Value, StepError> {
        Ok(input)
    }

    fn extract(&self, context: &StepContext, processed: Value) -> Result<Extracted, StepError> {
        (self.work)(context, &processed)
    }
}

pub(crate) fn registry() -> Registry {
    let mut registry = Registry::with_builtin();
    let processors: [(&'static str, Work); 8] = [
        ("splitter", split),
        ("left", |context, input| {
            if input["kills"] == true {
                std::process::abort();
            }
            read(context, input, left_fails)
        }),
        ("right", |context, input| read(context, input, right_fails)),
        ("checker", check),
        ("grouper", group),
        ("extractor", extract),
        ("consolidator", consolidate),
        ("wide_splitter", split_wide),
    ];
    for (name, work) in processors {
        registry.register(Pure { name, work });
    }
    registry.register(Pure { name: "ticker", work: |_, input| Ok(Extracted::new(input.clone())) });
    registry
}

fn number(value: &Value, field: &str) -> Result<usize, StepError> {
    let found = value[field].as_u64().and_then(|number| usize::try_from(number).ok());
    found.ok_or_else(|| StepError::bug(format!("{field} is missing in {value}")))
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}

/// Some work fails the first time that it is tried, whoever tries it.
fn first_try_fails(context: &StepContext, unlucky: bool) -> Result<(), StepError> {
    if unlucky && context.attempt() == 1 { Err(StepError::retry("not this time")) } else { Ok(()) }
}

/// The bytes of a file are its number, and whether it has a guilty page.
fn file_number(context: &StepContext, item: &Item) -> Result<(usize, bool), StepError> {
    let bytes = item.content.ok_or_else(|| StepError::bug("a file without bytes"))?;
    let text = String::from_utf8(context.blob(bytes)?).map_err(|error| StepError::bug(error.to_string()))?;
    let (number, guilty) = text.trim().strip_suffix(GUILTY).map_or((text.trim(), false), |number| (number, true));
    let number = number.parse().map_err(|_| StepError::bug(format!("not a number: {text}")))?;
    Ok((number, guilty))
}

fn split(context: &StepContext, _input: &Value) -> Result<Extracted, StepError> {
    let (file, guilty) = file_number(context, &context.item()?)?;
    first_try_fails(context, file % 5 == 2)?;
    if split_fails(file) {
        return Err(StepError::reject("not a file that can be read"));
    }
    let page = |page| {
        let mut data = object(json!({"file": file, "page": page}));
        if guilty && page == GUILTY_PAGE {
            data.insert("kills".to_owned(), json!(true));
        }
        Child { data, ..Child::default() }
    };
    let pages = (0..pages_of(file)).map(page).collect();
    Ok(Extracted::new(json!({"file": file})).with_children(Children::new(ItemKind::Page, pages)))
}

fn read(context: &StepContext, input: &Value, fails: fn(usize, usize) -> bool) -> Result<Extracted, StepError> {
    let (file, page) = (number(input, "file")?, number(input, "page")?);
    first_try_fails(context, page % 4 == 1)?;
    if fails(file, page) {
        return Err(StepError::reject("not a page that can be read"));
    }
    Ok(Extracted::new(json!({"text": format!("file {file}, page {page}")})))
}

fn check(context: &StepContext, _input: &Value) -> Result<Extracted, StepError> {
    let data: Value = serde_json::from_str(&context.item()?.data).map_err(|error| StepError::bug(error.to_string()))?;
    let page = number(&data, "page")?;
    Ok(Extracted::new(data).with_confidence(if is_doubtful(page) { 0.3 } else { 0.9 }))
}

fn group(context: &StepContext, _input: &Value) -> Result<Extracted, StepError> {
    let item = context.item()?;
    let (file, _) = file_number(context, &item)?;
    let pages: HashSet<_> =
        context.items(Some(ItemKind::Page), Some(item.id))?.into_iter().map(|page| page.id).collect();
    let mut good = Vec::new();
    for outcome in context.outcomes("check")? {
        if outcome.status == OutcomeStatus::Completed && outcome.item.is_some_and(|page| pages.contains(&page)) {
            good.push(number(&context.read(&outcome.output)?, "page")?);
        }
    }
    good.sort_unstable();
    let document = |(document, pages): (usize, &[usize])| Child {
        data: object(json!({"file": file, "document": document, "pages": pages})),
        ..Child::default()
    };
    let documents = good.chunks(PAGES_PER_DOCUMENT).enumerate().map(document).collect();
    Ok(Extracted::new(json!({"good": good.len()})).with_children(Children::new(ItemKind::Document, documents)))
}

fn extract(context: &StepContext, input: &Value) -> Result<Extracted, StepError> {
    let (file, document) = (number(input, "file")?, number(input, "document")?);
    first_try_fails(context, document % 3 == 1)?;
    if extract_fails(file, document) {
        return Err(StepError::reject("nothing to extract"));
    }
    let pages: Vec<usize> =
        serde_json::from_value(input["pages"].clone()).map_err(|error| StepError::bug(error.to_string()))?;
    Ok(Extracted::new(extracted(file, document, &pages)))
}

fn consolidate(context: &StepContext, _input: &Value) -> Result<Extracted, StepError> {
    let mut documents = Vec::new();
    for outcome in context.outcomes("extract")? {
        if outcome.status == OutcomeStatus::Completed {
            documents.push(context.read(&outcome.output)?);
        }
    }
    Ok(Extracted::new(consolidated(documents)))
}

/// Fails the first time. A fan-out that is cut off goes on with the attempt that was cut off.
fn split_wide(context: &StepContext, _input: &Value) -> Result<Extracted, StepError> {
    first_try_fails(context, true)?;
    let page = |page| Child { data: object(json!({"page": page})), ..Child::default() };
    let pages = Children::generate(ItemKind::Page, WIDE_PAGES, page);
    Ok(Extracted::new(json!({"pages": WIDE_PAGES})).with_children(pages))
}
