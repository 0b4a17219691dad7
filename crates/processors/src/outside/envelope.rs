//! What is said to the outside, and what it may answer. The same for commands and HTTP endpoints.
//!
//! ```json
//! {"processor": "tone", "version": 1, "attempt": 1, "job": "job_7", "idempotency_key": "5b0c6f0e…", "settings": {},
//!  "work": {"submission": "sub_1", "stage": "tone", "over": "page", …}, "input": {"text": "Good."}}
//! {"output": {"tone": 1}, "confidence": 0.9, "cost": {"service": "example.com", "operation": "text", "micros": 20}}
//! {"error": {"kind": "Busy", "message": "try later", "class": "retry", "retry_after_seconds": 10}}
//! ```

use super::{failure::Failed, work::Work};
pub(super) use crate::contract::answer::Said;
use crate::produced::Produced;
use bindery_core::{StepError, error::Disposition};
use bindery_engine::context::{Cost, StepContext};
use bindery_http::{
    LONGEST_WAIT,
    text::{beginning, one_line},
};
use serde::Deserialize;
use serde_json::Value;
use std::time::Duration;

/// Kinds are names that reports group by; a longer one is a mistake.
const LONGEST_KIND: usize = 64;
/// Messages are sentences for people.
const LONGEST_MESSAGE: usize = 2000;

/// A request as JSON text, without the brace at its beginning, so that an id can be put in front.
#[derive(Debug)]
pub(super) struct Request {
    fields: String,
    /// Who asks, for headers and environments.
    pub(super) sender: Sender,
    /// The files that it names stay as long as it does.
    pub(super) work: Work,
}

/// Which work a request is part of: what tells a second try from other work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sender {
    /// The job, or the run or execution; none where nobody has said it.
    pub job: Option<String>,
    /// 1 for the first try.
    pub attempt: u32,
    /// The same for every try of the same work.
    pub idempotency_key: String,
}

impl Sender {
    pub fn from_context(context: &StepContext, processor: &str, input: &Value) -> Self {
        Self {
            job: context.work().map(|work| work.job),
            attempt: context.attempt(),
            idempotency_key: context.idempotency_key(processor, input),
        }
    }

    /// As headers of a request.
    pub fn headers(&self) -> impl Iterator<Item = (&'static str, String)> {
        let job = self.job.clone().map(|job| ("bindery-job", job));
        let attempt = ("bindery-attempt", self.attempt.to_string());
        [("idempotency-key", self.idempotency_key.clone()), attempt].into_iter().chain(job)
    }

    /// As variables of a program's environment.
    pub(super) fn variables(&self) -> impl Iterator<Item = (&'static str, String)> {
        let job = self.job.clone().map(|job| ("BINDERY_JOB", job));
        let attempt = ("BINDERY_ATTEMPT", self.attempt.to_string());
        [("BINDERY_IDEMPOTENCY_KEY", self.idempotency_key.clone()), attempt].into_iter().chain(job)
    }
}

impl Request {
    pub(super) fn new(processor: &str, version: u32, context: &StepContext, input: &Value, work: Work) -> Self {
        let about = work.description.as_ref().map(|work| format!("\"work\":{work},")).unwrap_or_default();
        let sender = Sender::from_context(context, processor, input);
        let fields = format!(
            "\"processor\":{},\"version\":{version},\"attempt\":{},\"job\":{},\"idempotency_key\":\"{}\",\
             \"settings\":{},{about}\"input\":{input}}}",
            Value::from(processor),
            sender.attempt,
            Value::from(sender.job.clone()),
            sender.idempotency_key,
            serde_json::to_string(context.settings()).unwrap_or_default(),
        );
        let request = Self { fields, sender, work };
        request.check();
        request
    }

    /// That what is promised is kept is looked at in every test.
    fn check(&self) {
        if cfg!(debug_assertions)
            && let Some(contract) = &self.work.contract
            && let Ok(request) = serde_json::from_str(&self.text())
        {
            let kept = contract.check_request(&request);
            assert!(kept.is_ok(), "a request breaks its own schema: {kept:?}");
        }
    }

    pub(super) fn text(&self) -> String {
        format!("{{{}", self.fields)
    }

    pub(super) fn with_id(&self, id: u64) -> String {
        format!("{{\"id\":{id},{}", self.fields)
    }
}

/// What the outside said, once it kept to the protocol.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) result: Result<(Value, Said), StepError>,
    costs: Vec<Cost>,
}

impl Answer {
    /// An output alone.
    pub(super) fn bare(output: Value) -> Self {
        Self { result: Ok((output, Said::default())), costs: Vec::new() }
    }

    /// Notes the costs, keeps what was returned, and gives the result. `who` begins the sentences about what is wrong.
    pub(super) fn settle(self, context: &StepContext, work: &Work, who: &str) -> Result<Produced, Failed> {
        for cost in self.costs {
            context.charge(cost.service, cost.operation, cost.micros);
        }
        let (output, said) = self.result.map_err(Failed::of_answer)?;
        work.keep(context, output, said).map_err(|error| match error.kind.as_str() {
            "BadAnswer" | "TooMuchOutput" => {
                Failed::of_service(StepError { message: format!("{who} {}", error.message), ..error })
            }
            _ => Failed::of_client(error),
        })
    }
}

/// Reads an answer; `Err` with the end of a sentence that begins with who said it. `id` is what the answer must repeat.
pub(super) fn read(text: &[u8], id: Option<u64>, work: &Work) -> Result<Answer, String> {
    let whole = json(text)?;
    if !whole.is_object() {
        return Err(format!("answered with JSON that is no object: {}", beginning(text)));
    }
    let answer = read_answer(&whole, text, id)?;
    check(&whole, work)?;
    // What is held against its schema can be read; outside of workflows there is none.
    let said = Said::deserialize(&whole).map_err(|error| format!("answered what cannot be read: {error}"))?;
    let Value::Object(mut fields) = whole else { return Err("answered with JSON that is no object".to_owned()) };
    let output = fields.remove("output").unwrap_or_default();
    Ok(Answer { result: answer.result.map(|()| (output, said)), costs: answer.costs })
}

/// Holds an answer against what its stage takes.
fn check(whole: &Value, work: &Work) -> Result<(), String> {
    let Some(contract) = &work.contract else { return Ok(()) };
    contract.check_answer(whole).map_err(|wrong| format!("answered what its stage does not take: {wrong}"))
}

/// Reads an answer that is an output alone.
pub(super) fn read_bare(text: &[u8], work: &Work) -> Result<Answer, String> {
    let whole = serde_json::json!({"output": json(text)?});
    check(&whole, work)?;
    let Value::Object(mut whole) = whole else { return Err("answered nothing".to_owned()) };
    Ok(Answer::bare(whole.remove("output").unwrap_or_default()))
}

/// What an answer comes to, without its output.
struct Verdict {
    result: Result<(), StepError>,
    costs: Vec<Cost>,
}

fn read_answer(whole: &Value, text: &[u8], id: Option<u64>) -> Result<Verdict, String> {
    let none = serde_json::Map::new();
    let fields = whole.as_object().unwrap_or(&none);
    if let Some(id) = id {
        match fields.get("id") {
            Some(answered) if answered.as_u64() == Some(id) => {}
            Some(other) => return Err(format!("answered with the id {other} to the request with the id {id}")),
            None => return Err(format!("answered without the id {id} of its request")),
        }
    }
    let costs = read_costs(fields.get("cost"))?;
    let result = match (fields.get("output"), fields.get("error")) {
        (Some(_), Some(_)) => return Err("answered with both `output` and `error`".to_owned()),
        (None, None) => return Err(format!("answered with neither `output` nor `error`: {}", beginning(text))),
        (Some(_), None) => Ok(()),
        (None, Some(error)) => Err(read_error(error)?),
    };
    Ok(Verdict { result, costs })
}

/// One JSON document, and nothing else.
fn json(text: &[u8]) -> Result<Value, String> {
    if text.trim_ascii().is_empty() {
        return Err("answered nothing".to_owned());
    }
    serde_json::from_slice(text).map_err(|error| format!("answered with no JSON ({error}): {}", beginning(text)))
}

fn read_error(error: &Value) -> Result<StepError, String> {
    let Value::Object(fields) = error else {
        return Err(format!("answered with an `error` that is no object: {error:.100}"));
    };
    let text = |key: &str| match fields.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.as_str())),
        Some(other) => Err(format!("answered with an `error.{key}` that is no text: {other:.100}")),
    };
    let message = text("message")?.filter(|message| !message.trim().is_empty());
    let message: String = message.unwrap_or("it gave no message").chars().take(LONGEST_MESSAGE).collect();
    let kind = text("kind")?.filter(|kind| !kind.is_empty());
    let kind: Option<String> = kind.map(|kind| kind.chars().take(LONGEST_KIND).collect());
    let after = match fields.get("retry_after_seconds") {
        None | Some(Value::Null) => None,
        Some(value) => Some(read_wait(value)?),
    };
    let class = text("class")?.unwrap_or("retry");
    if after.is_some() && class != "retry" {
        return Err(format!(
            "answered with `error.retry_after_seconds`, and with the class {class:?} instead of retry"
        ));
    }
    let step = match class {
        "retry" => StepError { disposition: Disposition::Retry { after }, ..StepError::retry(message) },
        "reject" => StepError::reject(message),
        "review" => StepError::review(message),
        "park" => StepError::park(text("until")?.unwrap_or(&message).to_owned(), message),
        other => {
            let other = one_line(other);
            return Err(format!("answered with the `error.class` {other:?}; known are retry, reject, review and park"));
        }
    };
    Ok(match kind {
        Some(kind) => step.named(&kind),
        None => step,
    })
}

fn read_wait(value: &Value) -> Result<Duration, String> {
    let seconds = value.as_f64().filter(|seconds| seconds.is_finite() && *seconds >= 0.0);
    let seconds = seconds.ok_or_else(|| {
        format!("answered with an `error.retry_after_seconds` that is no number from 0 on: {value:.100}")
    })?;
    Ok(Duration::try_from_secs_f64(seconds).unwrap_or(LONGEST_WAIT).min(LONGEST_WAIT))
}

/// One cost, a list of them, or none.
fn read_costs(value: Option<&Value>) -> Result<Vec<Cost>, String> {
    let wrong = |why: &dyn std::fmt::Display| format!("answered with a `cost` that cannot be read: {why}");
    let costs: Vec<Cost> = match value {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Array(list)) => {
            list.iter().map(Cost::deserialize).collect::<Result<_, _>>().map_err(|error| wrong(&error))?
        }
        Some(one) => vec![Cost::deserialize(one).map_err(|error| wrong(&error))?],
    };
    match costs.iter().find(|cost| cost.micros < 0) {
        Some(cost) => Err(wrong(&format!("{} micros are less than nothing", cost.micros))),
        None => Ok(costs),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bindery_core::error::ErrorClass;
    use bindery_engine::context::CancelFlag;
    use serde_json::json;
    use std::sync::Arc;

    fn error_of(text: &str) -> StepError {
        read(text.as_bytes(), None, &Work::none()).unwrap().result.unwrap_err()
    }

    fn complaint(text: &str, id: Option<u64>) -> String {
        read(text.as_bytes(), id, &Work::none()).unwrap_err()
    }

    #[test]
    fn a_request_is_one_line_of_json() {
        let settings = json!({"words": ["a\nb"]});
        let context =
            StepContext::standalone(Arc::new(settings.as_object().unwrap().clone()), 2, CancelFlag::default());
        let request = Request::new("to\"ne", 7, &context, &json!({"text": "line\nline"}), Work::none());
        let key = context.idempotency_key("to\"ne", &json!({"text": "line\nline"}));
        let expected = json!({
            "processor": "to\"ne", "version": 7, "attempt": 2, "job": null, "idempotency_key": key,
            "settings": settings, "input": {"text": "line\nline"}
        });
        assert_eq!(serde_json::from_str::<Value>(&request.text()).unwrap(), expected);
        let with_id: Value = serde_json::from_str(&request.with_id(9)).unwrap();
        assert_eq!((&with_id["id"], &with_id["input"]), (&json!(9), &expected["input"]));
        assert!(!request.with_id(9).contains('\n'));
    }

    #[test]
    fn outputs_errors_and_costs_are_read() {
        let context = StepContext::standalone(Arc::default(), 1, CancelFlag::default());
        let text = br#"{"output": null, "cost": {"service": "s", "operation": "o", "micros": 5}}"#;
        assert_eq!(
            read(text, None, &Work::none()).unwrap().settle(&context, &Work::none(), "it").unwrap().output,
            Value::Null
        );
        assert_eq!(context.take_costs(), [Cost { service: "s".into(), operation: "o".into(), micros: 5 }]);

        let busy =
            error_of(r#"{"error": {"kind": "Busy", "message": "m", "class": "retry", "retry_after_seconds": 1.5}}"#);
        let after = Some(Duration::from_millis(1500));
        assert_eq!((busy.kind.as_str(), busy.disposition), ("Busy", Disposition::Retry { after }));
        assert_eq!(error_of(r#"{"error": {}}"#), StepError::retry("it gave no message"));
        assert_eq!(error_of(r#"{"error": {"message": "m", "class": "reject"}}"#), StepError::reject("m"));
        assert_eq!(error_of(r#"{"error": {"class": "review"}}"#).class(), ErrorClass::Review);
        let parked = error_of(r#"{"error": {"message": "no key", "class": "park", "until": "the key"}}"#);
        assert_eq!(parked, StepError::park("the key", "no key"));
        let long = error_of(&json!({"error": {"message": "x".repeat(9000), "retry_after_seconds": 1e300}}).to_string());
        assert_eq!(long.message.len(), LONGEST_MESSAGE);
        assert_eq!(long.disposition, Disposition::Retry { after: Some(LONGEST_WAIT) });
    }

    #[test]
    fn answers_that_break_the_protocol_are_described() {
        let cases = [
            ("  \n", "answered nothing"),
            ("hello", "answered with no JSON (expected value at line 1 column 1): hello"),
            ("[1]", "answered with JSON that is no object: [1]"),
            ("{}", "answered with neither `output` nor `error`: {}"),
            (r#"{"output": 1, "error": {}}"#, "answered with both `output` and `error`"),
            (r#"{"error": {"class": "maybe"}}"#, "known are retry, reject, review and park"),
            (r#"{"error": {"message": 5}}"#, "`error.message` that is no text: 5"),
            (r#"{"error": {"class": "reject", "retry_after_seconds": 5}}"#, "instead of retry"),
            (r#"{"error": {"retry_after_seconds": -1}}"#, "no number from 0 on: -1"),
            (r#"{"output": 1, "cost": {"service": "s"}}"#, "missing field `operation`"),
            (r#"{"output": 1, "cost": {"service": "s", "operation": "o", "micros": -1}}"#, "less than nothing"),
            (r#"{"output": 1} {"output": 2}"#, "trailing characters"),
        ];
        for (text, expected) in cases {
            let complaint = complaint(text, None);
            assert!(complaint.contains(expected), "{text}: {complaint}");
        }
        assert_eq!(complaint(r#"{"output": 1}"#, Some(4)), "answered without the id 4 of its request");
        assert_eq!(
            complaint(r#"{"output": 1, "id": "4"}"#, Some(4)),
            "answered with the id \"4\" to the request with the id 4"
        );
    }
}
