//! A person's decision, and what it leads to.

use super::{Subject, json_or_text};
use crate::{exit::Exit, failure::Failure, output, result_tables};
use bindery_app::{
    App, Signals, StoredResult, Supervisor,
    follow::{End, StoreWait, USUAL_SECONDS, follow},
    names,
};
use bindery_core::{ReviewId, SubmissionId, review::Decision};
use bindery_engine::{EngineError, WorkerOptions, decision::Decided};
use serde_json::{Map, Value, json};

#[derive(Debug, clap::Args)]
pub(super) struct Person {
    /// Who decides; kept with the result
    #[arg(long, value_name = "NAME", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    by: Option<String>,

    /// Do the work that follows here and now, and show what came of it
    #[arg(long)]
    work: bool,
}

/// Which words say what is meant, and what the others say about it.
pub(super) fn corrected<'w>(words: &'w [String], all: Option<&str>) -> anyhow::Result<(&'w [String], Decision)> {
    let first = words.iter().position(|word| word.contains('=')).unwrap_or(words.len());
    let (what, said) = words.split_at(first);
    let mut fields = match all.map(serde_json::from_str) {
        None => Map::new(),
        Some(Ok(Value::Object(fields))) => fields,
        Some(Ok(other)) => {
            return Err(Failure::usage(format!("--json-value: expected a JSON object, found {other}")).into());
        }
        Some(Err(error)) => return Err(Failure::usage(format!("--json-value: expected JSON: {error}")).into()),
    };
    for word in said {
        let Some((name, value)) = word.split_once('=').filter(|(name, _)| !name.is_empty()) else {
            return Err(Failure::usage(format!("expected a field as name=value, got {word:?}")).into());
        };
        fields.insert(name.to_owned(), parse_value(value));
    }
    if fields.is_empty() {
        let hint = "for instance grand_total=119.00; `bindery review accept` says that all is right";
        return Err(Failure::usage("say which fields are to be corrected, as name=value").hint(hint).into());
    }
    Ok((what, Decision::Corrected { fields }))
}

/// A number that would not be written the same again is a text: 119.00, 1e5.
fn parse_value(value: &str) -> Value {
    match json_or_text(value.to_owned()) {
        Value::Number(number) if number.to_string() != value => Value::String(value.to_owned()),
        said => said,
    }
}

pub(super) async fn run(
    app: &App,
    subject: Subject,
    decision: Decision,
    person: Person,
    as_json: bool,
) -> anyhow::Result<Exit> {
    let by = person.by.as_deref();
    let decided = match subject {
        Subject::Review(id) => app.engine.decide(id, by, &decision).await.map_err(|error| explain(id, error))?,
        Subject::Item(submission, item) => app.engine.decide_item(submission, item, by, &decision).await?,
    };
    let name = name_of(app, &decided).await?;
    if !as_json {
        output::line(format!("{} {name} of {}", decision.as_str(), decided.submission))?;
    }
    let ended = if person.work { Some(work(app, decided.submission).await?) } else { None };
    if as_json {
        return print_json(app, &decided, &name).await;
    }
    match ended {
        None => {
            let id = decided.submission;
            output::note(format!("`bindery worker` goes on with it; then `bindery result {id}` shows what came of it"));
        }
        Some(End::Final) => show(app, &decided, &name).await?,
        Some(End::Stuck) => {
            let id = decided.submission;
            output::note(format!("{id} is not finished: it waits for something else; `bindery status {id}` says what"));
        }
        Some(End::Interrupted) => output::note("stopped; `bindery worker` goes on with it"),
    }
    Ok(Exit::Ok)
}

/// Works in this process until the submission is final, or nothing more happens to it by itself.
async fn work(app: &App, id: SubmissionId) -> anyhow::Result<End> {
    let mut signals = Signals::new()?;
    let options = WorkerOptions { name: names::of_run(), ..WorkerOptions::default() };
    let mut supervisor = Supervisor::start(app, options);
    let mut wait = StoreWait::new(USUAL_SECONDS);
    match follow(app, id, &mut supervisor, &mut signals, &mut wait, |_| ()).await {
        Ok(end) => {
            supervisor.stop(&mut signals).await?;
            Ok(end)
        }
        Err(error) => {
            supervisor.abandon();
            Err(error.into())
        }
    }
}

/// What can be done instead.
fn explain(id: ReviewId, error: EngineError) -> anyhow::Error {
    match error {
        EngineError::Taken(message) => {
            let hint = format!(
                "`bindery review show {id}` shows how it stands; what is decided can be changed by naming the document: \
                 `bindery review correct SUBMISSION DOCUMENT field=value`"
            );
            Failure::usage(message).hint(hint).into()
        }
        other => other.into(),
    }
}

async fn name_of(app: &App, decided: &Decided) -> anyhow::Result<String> {
    let Some(id) = decided.item else { return Ok(format!("the result of {}", decided.stage)) };
    let item = app.store().item(decided.submission, id).await?;
    Ok(item.map_or_else(|| id.to_string(), |item| item.public_id()))
}

async fn print_json(app: &App, decided: &Decided, name: &str) -> anyhow::Result<Exit> {
    let submission = app.store().submission(decided.submission).await?;
    output::json(&json!({
        "submission": decided.submission, "item": name, "stage": decided.stage, "output": decided.output,
        "status": submission.map(|submission| submission.status),
    }))?;
    Ok(Exit::Ok)
}

/// The document as the result has it now, or the whole result where it was about something else.
async fn show(app: &App, decided: &Decided, name: &str) -> anyhow::Result<()> {
    let Some(stored) = StoredResult::find(app, decided.submission).await? else {
        output::note(format!("{} has no result; `bindery status {0}` says why", decided.submission));
        return Ok(());
    };
    let result = stored.without_index()?;
    let mut documents = result["documents"].as_array().into_iter().flatten();
    match documents.find(|document| document["document_id"] == name) {
        Some(document) => result_tables::show_document(document),
        None => result_tables::show(&stored, &result),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_taken_as_they_were_written() {
        assert_eq!(parse_value("4"), json!(4));
        assert_eq!(parse_value("119.00"), json!("119.00"));
        assert_eq!(parse_value("2026-0117"), json!("2026-0117"));
        assert_eq!(parse_value("{\"a\": 1}"), json!({"a": 1}));
    }

    #[test]
    fn the_words_before_the_fields_say_what_is_meant() {
        let words = ["sub_1", "doc_1_2", "number=7", "note=a=b"].map(str::to_owned);
        let (what, decision) = corrected(&words, None).unwrap();
        assert_eq!(what, ["sub_1", "doc_1_2"]);
        let fields = json!({"number": 7, "note": "a=b"}).as_object().cloned().unwrap();
        assert_eq!(decision, Decision::Corrected { fields });
        assert!(corrected(&words[..1], None).unwrap_err().to_string().contains("which fields"));
    }
}
