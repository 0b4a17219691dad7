//! JSONata beside jsonata-js: the same expressions over the same documents, compared and then measured in turns.
//!
//! Both start from a document that was read, ours from `serde_json`'s and theirs from a JavaScript object, and both
//! have the expression parsed. So ours includes making ready what the expression looks at; what is left when that has
//! been done before, as for the items of a Map, stands beside it. What one evaluation takes is the mean of the best of
//! some batches.

use crate::{Outcome, documents, peer::Jsonata};
use bindery_states::jsonata::{Expression, JsonataError, Lent, Limits, Scope, Surroundings};
use serde_json::{Value, json};
use std::{hint::black_box, time::Instant};

const EXPRESSIONS: [(&str, &str); 9] = [
    ("choice_seed", r#"$not(($states.input.body.fileupload_status) = ("COMPLETE"))"#),
    ("path", "$states.input.body.document.pages[0].lines[2].text"),
    (
        "object_out",
        r#"{"id": $states.input.body.id, "status": $states.input.body.fileupload_status, "n": $count($states.input.body.document.pages), "name": $states.context.Execution.Name & "-" & $string($attempt + 1)}"#,
    ),
    (
        "filter_map",
        r#"$states.input.body.document.pages.lines[confidence < 0.8].{"t": text, "c": $round(confidence, 2)}"#,
    ),
    (
        "agg",
        "$sum($states.input.body.document.pages.lines.confidence) / $count($states.input.body.document.pages.lines)",
    ),
    ("group", "$states.input.body.document.pages.lines{kind: $count(text)}"),
    (
        "hof",
        r#"$map($filter($states.input.body.document.pages.lines, function($l){$contains($l.text, /inv(oice)?/i)}), function($l,$i){$uppercase($l.text) & ' ' & $i}) ~> $join(",")"#,
    ),
    ("sort", "$states.input.body.document.pages.lines^(>confidence, text)[[0..9]].text"),
    ("date", "$fromMillis($toMillis('2026-11-15T02:00:00Z') + 86400000, '[D01]/[M01]/[Y0001]')"),
];

const WARM_UP_SECONDS: f64 = 0.1;
/// Short ones: some of them are not disturbed, even where other programs run.
const BATCHES: usize = 15;
const BATCH_SECONDS: f64 = 0.01;

pub(crate) fn measure(only: Option<&str>) -> Outcome<Vec<String>> {
    let Some(mut peer) = Jsonata::start(&[WARM_UP_SECONDS, BATCHES as f64, BATCH_SECONDS])? else {
        return Ok(vec!["jsonata_min_ratio=absent".to_owned()]);
    };
    println!("JSONata beside jsonata-js {}, microseconds for one evaluation:", peer.version);
    println!(
        "{:<12} {:>7} {:>10} {:>12} {:>8} {:>15} {:>8}",
        "expression", "input", "ours", "jsonata-js", "ratio", "ours, prepared", "ratio"
    );
    let mut smallest = f64::INFINITY;
    for (size, document) in documents::all() {
        peer.tell(&json!({"document": size, "value": document}))?;
        for (name, source) in EXPRESSIONS.into_iter().filter(|(name, _)| only.is_none_or(|only| only == *name)) {
            let case = Case::new(source, &document)?;
            let told = json!({"expression": source, "document": size, "bindings": case.bindings()});
            let ours = seconds(|| case.evaluate());
            let scope = case.scope();
            let prepared = seconds(|| scope.evaluate(&case.expression));
            peer.tell(&told)?;
            let theirs = peer.answer()?;
            let result = scope.evaluate(&case.expression)?.unwrap_or_default();
            if !same(&result, &theirs["result"]) {
                return Err(format!("{name} over {size}: {result} is not {}", theirs["result"]).into());
            }
            let theirs = theirs["seconds"].as_f64().ok_or("jsonata-js has not said how long it took")?;
            smallest = smallest.min(theirs / ours);
            println!(
                "{name:<12} {size:>7} {:>10.1} {:>12.1} {:>8.1} {:>15.1} {:>8.1}",
                ours * 1e6,
                theirs * 1e6,
                theirs / ours,
                prepared * 1e6,
                theirs / prepared
            );
        }
    }
    Ok(vec![format!("jsonata_min_ratio={smallest:.2}")])
}

/// An expression, and what a state machine would give it.
struct Case<'d> {
    expression: Expression,
    input: &'d Value,
    context: Value,
    attempt: Value,
}

impl<'d> Case<'d> {
    fn new(source: &str, input: &'d Value) -> Outcome<Self> {
        let (expression, _) = Expression::parse_for_states(source)?;
        let context = json!({
            "Execution": {"Id": "arn:aws:states:eu-west-1:1:execution:ingest:run-1", "Name": "run-1"},
            "State": {"Name": "Decide", "EnteredTime": "2026-11-15T02:00:00.000Z"},
        });
        Ok(Self { expression, input, context, attempt: json!(2) })
    }

    /// Without the document, which the peer has already.
    fn bindings(&self) -> Value {
        json!({"states": {"context": self.context}, "attempt": self.attempt})
    }

    fn scope(&self) -> Scope<'_> {
        let states = vec![("input", Lent::new(self.input)), ("context", Lent::new(&self.context))];
        Scope::empty(Limits::default())
            .with_surroundings(Surroundings::new(1_794_708_000_000, 7))
            .lend("attempt", Lent::new(&self.attempt))
            .lend("states", Lent::object(states))
    }

    /// All that a state does for it.
    fn evaluate(&self) -> Result<Option<Value>, JsonataError> {
        self.scope().evaluate(&self.expression)
    }
}

/// For one turn of the work, as the peer measures it.
fn seconds<T>(work: impl Fn() -> T) -> f64 {
    let begun = Instant::now();
    let mut count = 0.0;
    while begun.elapsed().as_secs_f64() < WARM_UP_SECONDS {
        black_box(work());
        count += 1.0;
    }
    let each = (count * BATCH_SECONDS / WARM_UP_SECONDS).round().max(1.0) as usize;
    let batch = |_| {
        let begun = Instant::now();
        (0..each).for_each(|_| {
            black_box(work());
        });
        begun.elapsed().as_secs_f64() / each as f64
    };
    (0..BATCHES).map(batch).fold(f64::INFINITY, f64::min)
}

/// Whether two values are the same to JavaScript, which has one kind of number.
fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            one.len() == other.len()
                && one.iter().all(|(key, value)| other.get(key).is_some_and(|other| same(value, other)))
        }
        (Value::Number(one), Value::Number(other)) => one.as_f64() == other.as_f64(),
        _ => one == other,
    }
}
