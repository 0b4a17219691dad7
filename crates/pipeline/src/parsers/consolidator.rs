//! What several parsers made of a submission, side by side.

use super::compare::agreement;
use crate::{
    borders::{Failed, FileEntry, Totals, rounded},
    consolidate::Gather,
    results::{name_of, of_each_in, reason},
    stage::{fields_of, lenient},
};
use bindery_core::{
    Name, StepError,
    item::{Item, ItemKind},
    outcome::{Outcome, OutcomeStatus},
};
use bindery_engine::{
    context::StepContext,
    workflow::{Over, Stage},
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// Parsers that agree on less than this have read different things: a person should look at both texts.
const DOUBTFUL_AGREEMENT: f64 = 0.8;

/// One result for the submission: for each file the text that has most of its words, what each parser did, and how far
/// two parsers agree. If no file could be read by any of them, the result is a failure.
#[derive(Debug, Clone, Copy)]
pub(super) struct ParsingResult;

/// The result of the `parsers` workflows.
#[derive(Debug, Serialize)]
pub(super) struct FilesParsed {
    submission: String,
    workflow: Name,
    parsers: Vec<Name>,
    totals: Totals,
    files: Vec<FileEntry<FileParsed>>,
    failed: Vec<Failed>,
    needs_review: Vec<Failed>,
}

/// What these workflows say of a file.
#[derive(Debug, Serialize)]
struct FileParsed {
    id: String,
    /// The one that has most of the file's words.
    #[serde(flatten)]
    best: Option<Reported>,
    #[serde(skip_serializing_if = "Option::is_none")]
    agreement: Option<f64>,
    /// What each parser said, with how it ended.
    parsers: Map<String, Value>,
}

/// What is understood of a parser's result, as results list it. A program outside reports what it likes.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct Reported {
    #[serde(rename = "type")]
    file_type: Option<String>,
    pages: Option<u64>,
    words: Option<u64>,
    by_ocr: Option<u64>,
    #[serde(rename(serialize = "text_by"))]
    parser: Option<String>,
    markdown: Option<String>,
    #[serde(skip_serializing)]
    content: Option<String>,
}

impl Reported {
    fn name(&self) -> &str {
        self.parser.as_deref().unwrap_or_default()
    }

    fn text(&self, context: &StepContext) -> Result<String, StepError> {
        let Some(content) = self.content.as_ref().and_then(|content| content.parse().ok()) else {
            return Ok(String::new());
        };
        Ok(String::from_utf8_lossy(&context.blob(content)?).into_owned())
    }
}

impl Gather for ParsingResult {
    const NAME: &'static str = "parsing_consolidator";
    type Result = FilesParsed;

    fn reads(&self, _here: &Stage, earlier: &Stage) -> bool {
        earlier.over == Over::File
    }

    fn gather(&self, context: &StepContext) -> Result<FilesParsed, StepError> {
        let stage = parsing_stage(context)?;
        let parsed = of_each_in(context, ItemKind::File, std::slice::from_ref(&stage.name), |file, found| {
            parsed_file(context, stage, file, found.first().map(Vec::as_slice).unwrap_or_default())
        })?;
        let (mut files, mut failed, mut needs_review) = (Vec::new(), Vec::new(), Vec::new());
        for parsed in parsed {
            files.push(parsed.entry);
            failed.extend(parsed.failed);
            needs_review.extend(parsed.doubt);
        }
        let mut errors = files.iter().map(|file| file.error.as_deref());
        if let Some(Some(first)) = errors.next()
            && errors.all(|error| error.is_some())
        {
            let message =
                format!("none of the parsers could read any of the {} files; the first: {first}", files.len());
            return Err(StepError::reject(message).named("NothingRead"));
        }
        let sum = |count: fn(&Reported) -> Option<u64>| {
            files.iter().filter_map(|file| file.own.best.as_ref().and_then(count)).sum::<u64>()
        };
        let submission = context.submission()?;
        Ok(FilesParsed {
            submission: submission.public_id(),
            workflow: submission.workflow.name.clone(),
            parsers: stage.processors.iter().map(|parser| parser.name.clone()).collect(),
            totals: Totals {
                files: files.len(),
                pages: sum(|best| best.pages),
                words: Some(sum(|best| best.words)),
                by_ocr: Some(sum(|best| best.by_ocr)),
                failed: failed.len(),
                doubtful: Some(needs_review.len()),
                ..Totals::default()
            },
            files,
            failed,
            needs_review,
        })
    }
}

/// The stage whose results these are: the first one over each file.
fn parsing_stage(context: &StepContext) -> Result<&Stage, StepError> {
    let workflow = context.workflow()?;
    workflow.stages.iter().find(|stage| stage.over == Over::File).ok_or_else(|| {
        let message = format!("workflow {} has no stage in which parsers read each file", workflow.name);
        StepError::reject(message).named("BadWorkflow")
    })
}

/// What became of a file.
struct ParsedFile {
    entry: FileEntry<FileParsed>,
    /// The parsers that failed.
    failed: Vec<Failed>,
    /// Why a person should look at it.
    doubt: Option<Failed>,
}

fn parsed_file(
    context: &StepContext,
    stage: &Stage,
    file: &Item,
    outcomes: &[Outcome],
) -> Result<ParsedFile, StepError> {
    let (name, id) = (name_of(file), file.public_id());
    let (mut failed, mut doubt) = (Vec::new(), None);
    let (mut parsers, mut read, mut first_error) = (Map::new(), Vec::new(), None);
    for parser in &stage.processors {
        let outcome = outcomes.iter().find(|outcome| outcome.processor == parser.name);
        let state = match outcome {
            Some(outcome) if outcome.status == OutcomeStatus::Completed => {
                let found = context.read(&outcome.output)?;
                read.push(lenient::<Reported>(&found));
                let mut state = fields_of(&found);
                state.insert("status".to_owned(), json!("completed"));
                Value::Object(state)
            }
            other => {
                let why = other.map_or_else(|| "did not report".to_owned(), reason);
                failed.push(Failed { parser: Some(parser.name.clone()), ..Failed::file(&name, &*why) });
                let state = json!({"status": "failed", "error": why});
                first_error.get_or_insert(why);
                state
            }
        };
        parsers.insert(parser.name.to_string(), state);
    }
    let mut agreed = None;
    if let [one, other, ..] = read.as_slice() {
        let share = agreement(&one.text(context)?, &other.text(context)?);
        agreed = Some(rounded(share));
        if share < DOUBTFUL_AGREEMENT {
            let percent = (share * 100.0).round();
            let why = format!("{} and {} agree on {percent} % of the words", one.name(), other.name());
            doubt = Some(Failed::file(&name, why));
        }
    }
    // Of equals the first, which is the one that the workflow names first.
    let best = read.into_iter().rev().max_by_key(|found| found.words.unwrap_or(0));
    let error = best.is_none().then(|| first_error.unwrap_or_else(|| "was not read".to_owned()));
    let own = FileParsed { id, best, agreement: agreed, parsers };
    Ok(ParsedFile { entry: FileEntry { name, own, read: None, error }, failed, doubt })
}
