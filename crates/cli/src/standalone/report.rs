//! What is said about a run that has ended: a line for each input, what to know about the factors, and how it went.

use super::Ended;
use crate::{exit::Exit, output};
use bindery_app::{
    runs::{
        CircuitSnapshot, CircuitState, Conflict, FactorPolicy, INVALID_INPUT, InputReport, Output, Passed,
        ProcessingResult, circuits,
    },
    supervisor::SILENT_AFTER,
};
use serde_json::json;
use std::time::Duration;

/// How many inputs are listed before the rest is only counted.
const MOST_LISTED: usize = 50;

/// How many values of a factor are shown where inputs disagree.
const MOST_VALUES: usize = 3;

/// How many factors are listed about which inputs disagree.
const MOST_CONFLICTS: usize = 10;

const LONGEST_MESSAGE: usize = 160;

/// The part of a run's id that people type.
pub(crate) fn short_id(run_id: &str) -> &str {
    run_id.get(..8).unwrap_or(run_id)
}

/// Millionths as an amount; nothing for nothing.
pub(crate) fn money(micros: i64) -> String {
    if micros == 0 {
        return String::new();
    }
    let amount = format!("{:.6}", micros as f64 / 1e6);
    amount.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Most steps take less than a millisecond.
pub(crate) fn step_time(took: Duration) -> String {
    if took < Duration::from_millis(10) {
        format!("{:.2} ms", took.as_secs_f64() * 1_000.0)
    } else {
        output::duration(took)
    }
}

/// Tells of a run, and what to do next. Data goes to stdout, everything else to stderr.
pub(crate) fn conclude(ended: Ended, as_json: bool) -> anyhow::Result<Exit> {
    let (result, interrupted) = match ended {
        Ended::Done { result, interrupted } => (result, interrupted),
        Ended::Left { run_id } => {
            output::note(retry_hint(run_id.as_deref()));
            return Ok(Exit::Interrupted);
        }
    };
    let circuits = circuits();
    if as_json {
        let mut answer = serde_json::to_value(&result)?;
        if let Some(fields) = answer.as_object_mut() {
            fields.insert("circuits".to_owned(), json!(circuits));
        }
        output::json(&answer)?;
    } else {
        list(&result);
        if let Output::Factors(factors) = &result.output {
            output::json(factors)?;
        }
        for warning in &result.warnings {
            output::note(format!("warning: {warning}"));
        }
        disagreements(&result);
    }
    circuits.iter().filter_map(trouble).for_each(output::note);
    output::note(conclusion(&result));
    if let Some(next) = next(&result, interrupted) {
        output::note(next);
    }
    Ok(match (result.success, interrupted) {
        (true, _) => Exit::Ok,
        (false, true) => Exit::Interrupted,
        (false, false) => Exit::SubmissionFailed,
    })
}

fn retry_hint(run_id: Option<&str>) -> String {
    let Some(run_id) = run_id else { return "stopped before the run began".to_owned() };
    let short = short_id(run_id);
    let seconds = SILENT_AFTER.as_secs();
    format!("run {run_id} was left; what is done is kept. In {seconds} s `bindery runs retry {short}` goes on with it")
}

/// All inputs of a small run; of a large one those that need attention. What was not run is only counted.
fn list(result: &ProcessingResult) {
    let small = result.inputs.len() <= MOST_LISTED;
    let is_listed = |report: &&InputReport| match report.passed {
        Passed::Failed { .. } => true,
        Passed::Succeeded { .. } | Passed::Skipped { .. } | Passed::NotRun => small,
    };
    let listed: Vec<&InputReport> = result.inputs.iter().filter(is_listed).collect();
    if listed.is_empty() {
        return;
    }
    output::note_table(&["INPUT", "RESULT", "TIME#", ""], listed.iter().take(MOST_LISTED).map(|report| row(report)));
    let more = listed.len().saturating_sub(MOST_LISTED);
    if more > 0 {
        let short = short_id(&result.run_id);
        output::note(format!("… and {more} more that failed; `bindery runs show {short}` lists them all"));
    }
    output::note("");
}

fn row(report: &InputReport) -> [String; 4] {
    let (came_to, message) = match &report.passed {
        Passed::Succeeded { .. } => ("success".to_owned(), report.note.clone().unwrap_or_default()),
        Passed::Skipped { run_id, .. } => ("skipped".to_owned(), format!("done by run {}", short_id(run_id))),
        Passed::Failed { step, exception, message, .. } => {
            (format!("failed at {step}"), format!("{exception}: {message}"))
        }
        Passed::NotRun => ("not run".to_owned(), String::new()),
    };
    let took = report.times.total();
    let took = if took.is_zero() { String::new() } else { step_time(took) };
    [output::short(&report.input_id, 60), came_to, took, output::short(&message, LONGEST_MESSAGE)]
}

fn disagreements(result: &ProcessingResult) {
    result.conflicts.iter().take(MOST_CONFLICTS).map(disagreement).for_each(output::note);
    let more = result.conflicts.len().saturating_sub(MOST_CONFLICTS);
    if more > 0 {
        let short = short_id(&result.run_id);
        output::note(format!("… and about {more} more; `bindery runs show {short} --result` has them all"));
    }
}

fn disagreement(conflict: &Conflict) -> String {
    let mut said: Vec<String> = conflict
        .found
        .iter()
        .take(MOST_VALUES)
        .map(|found| format!("{} says {}", found.input_id, output::short(&found.value.to_string(), 40)))
        .collect();
    if conflict.found.len() > MOST_VALUES {
        said.push(format!("{} more", conflict.found.len() - MOST_VALUES));
    }
    let counts = match conflict.policy {
        FactorPolicy::Last => "the last one counts",
        FactorPolicy::First => "the first one counts",
        FactorPolicy::All => "all are kept",
    };
    format!("note: inputs disagree about {}: {}; {counts}", conflict.factor, said.join(", "))
}

fn trouble(circuit: &CircuitSnapshot) -> Option<String> {
    let state = match circuit.state {
        CircuitState::Closed => return None,
        CircuitState::Open => "open",
        CircuitState::HalfOpen => "half open",
    };
    let failures = output::count(u64::from(circuit.failures), "failure");
    let why = circuit.last_error.as_deref().unwrap_or("no reason was given");
    let again = match circuit.retry_in_ms {
        Some(wait) => format!("; it is tried again in {}", output::duration(Duration::from_millis(wait))),
        None => String::new(),
    };
    let why = output::short(why, LONGEST_MESSAGE);
    Some(format!("note: the circuit of {} is {state} after {failures} in a row: {why}{again}", circuit.name))
}

fn conclusion(result: &ProcessingResult) -> String {
    let metrics = &result.metrics;
    let took = output::duration(Duration::from_secs_f64(result.duration.max(0.0) / 1_000.0));
    let run = format!("run {}", result.run_id);
    if result.inputs.is_empty()
        && let Some(error) = &result.error
    {
        return format!("{run} was refused, nothing was run: {}: {}", error.exception, error.message);
    }
    let parts = [
        (metrics.succeeded, "succeeded"),
        (metrics.failed, "failed"),
        (metrics.skipped, "skipped"),
        (metrics.not_run, "not run"),
    ];
    let counts: Vec<String> =
        parts.into_iter().filter(|(number, _)| *number > 0).map(|(number, what)| format!("{number} {what}")).collect();
    let ended = if result.success { "succeeded" } else { "failed" };
    let cost = match money(metrics.cost_micros) {
        nothing if nothing.is_empty() => nothing,
        amount => format!(", cost {amount}"),
    };
    format!(
        "{run} {ended} in {took}: {} of {}, {} per second, {}{cost}",
        counts.join(", "),
        output::count(metrics.inputs as u64, "input"),
        rate(metrics.throughput_per_second),
        metrics.runner
    )
}

fn rate(per_second: f64) -> String {
    if per_second >= 10.0 { format!("{per_second:.0}") } else { format!("{per_second:.1}") }
}

fn next(result: &ProcessingResult, interrupted: bool) -> Option<String> {
    // One that was refused has nothing to go on with.
    if result.success || result.inputs.is_empty() {
        return None;
    }
    let short = short_id(&result.run_id);
    if interrupted {
        return Some(format!("interrupted; what is done is kept. `bindery runs retry {short}` goes on with the rest"));
    }
    let again = format!("`bindery runs retry {short}` tries again what did not succeed");
    let unreadable =
        |report: &InputReport| matches!(&report.passed, Passed::Failed { exception, .. } if exception == INVALID_INPUT);
    // Trying again does not make it readable.
    Some(if result.inputs.iter().any(unreadable) {
        format!("{again}; what could not be read: repair it and give it to `bindery process` with --previous {short}")
    } else {
        again
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn money_is_shown_without_needless_zeros() {
        assert_eq!([0, 1, 1_500_000, 20_000_000, -250_000].map(money), ["", "0.000001", "1.5", "20", "-0.25"]);
    }
}
