//! Running a case, and what came of it.

use super::{
    answers::Answers,
    case::{Case, details, kind},
    compare::Wildcards,
    sequence::{difference_of_details, difference_of_order, short},
};
use crate::asl::{
    definition::Definition,
    stepper::{Command, Event, Execution, Identity, Moment, StepLimits, TimerId, step},
};
use serde_json::Value;
use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    fmt,
};

/// When recorded runs are taken to have happened: 2026-11-15T00:00:00Z.
pub const RECORDED_AT: i64 = 1_794_700_800_000;
/// A run that takes more steps is ended.
const MOST_STEPS: usize = 100_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tier {
    Outcome = 1,
    Order = 2,
    Details = 3,
    Causes = 4,
}

impl Tier {
    pub const ALL: [Self; 4] = [Self::Outcome, Self::Order, Self::Details, Self::Causes];
}

#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// Everything is as recorded.
    Same,
    /// The first tier that differs, and how.
    Differs { tier: Tier, difference: String },
    /// The definition was taken by whoever recorded it, and not by us.
    Rejected(String),
    /// It cannot be run.
    Skipped(&'static str),
}

#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    pub name: String,
    pub needs_services: bool,
    pub verdict: Verdict,
}

/// How many cases reached each tier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Summary {
    pub cases: usize,
    pub skipped: usize,
    /// By tier, the first one first.
    pub reached: [usize; 4],
}

impl Report {
    fn reaches(&self, tier: Tier) -> bool {
        match &self.verdict {
            Verdict::Same => true,
            Verdict::Differs { tier: differing, .. } => tier < *differing,
            Verdict::Rejected(_) | Verdict::Skipped(_) => false,
        }
    }
}

impl Summary {
    /// Of the cases that need services, or of those that do not.
    pub fn from_reports(reports: &[Report], needs_services: bool) -> Self {
        let mut summary = Self::default();
        for report in reports.iter().filter(|report| report.needs_services == needs_services) {
            if matches!(report.verdict, Verdict::Skipped(_)) {
                summary.skipped += 1;
                continue;
            }
            summary.cases += 1;
            for (count, tier) in summary.reached.iter_mut().zip(Tier::ALL) {
                *count += usize::from(report.reaches(tier));
            }
        }
        summary
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [outcome, order, details, causes] = self.reached;
        write!(
            f,
            "{} cases: outcome {outcome}, order {order}, details {details}, causes {causes}; {} skipped",
            self.cases, self.skipped
        )
    }
}

pub fn replay_all(cases: &[Case]) -> Vec<Report> {
    cases.iter().map(replay_case).collect()
}

/// One case, with its name and whom it needs.
pub fn replay_case(case: &Case) -> Report {
    Report {
        name: format!("{} {}", case.name, case.snapshot).trim_end().to_owned(),
        needs_services: !case.needs.is_empty(),
        verdict: replay(case),
    }
}

/// Runs one case and compares it.
pub fn replay(case: &Case) -> Verdict {
    if case.is_made_up() {
        return Verdict::Skipped("the definition has a resource that the recorder made up");
    }
    let definition = match Definition::from_value(&case.definition) {
        Ok(definition) => definition,
        Err(faults) => return Verdict::Rejected(faults.to_string()),
    };
    let ours = run(case, &definition);
    let mut wildcards = Wildcards::new(case.depends_on_chance());
    if let Some(started) = case.events.first().and_then(details) {
        wildcards.learn(&super::case::decoded(&started["input"]), &case.input());
    }
    let differences = [
        difference_of_outcome(&case.events, &ours, &wildcards),
        difference_of_order(&case.events, &ours),
        difference_of_details(&case.events, &ours, &wildcards, false),
        difference_of_details(&case.events, &ours, &wildcards, true),
    ];
    let first = differences.into_iter().zip(Tier::ALL).find_map(|(difference, tier)| Some((difference?, tier)));
    first.map_or(Verdict::Same, |(difference, tier)| Verdict::Differs { tier, difference })
}

fn difference_of_outcome(recorded: &[Value], ours: &[Value], wildcards: &Wildcards) -> Option<String> {
    let (Some(expected), Some(own)) = (recorded.last(), ours.last()) else {
        return Some("there is no history".to_owned());
    };
    if kind(expected) != kind(own) {
        let shown = details(own).map(short).unwrap_or_default();
        return Some(format!("it ends with {} {shown}, recorded is {}", kind(own), kind(expected)));
    }
    let key = match kind(own) {
        "ExecutionSucceeded" => "output",
        // There is only one error that it can have.
        "ExecutionTimedOut" => return None,
        _ => "error",
    };
    let of = |event: &Value| details(event).map_or(Value::Null, |details| details[key].clone());
    let (expected, own) = (of(expected), of(own));
    let differs = !wildcards.same(&expected, &own);
    differs.then(|| format!("the {key} is {}, recorded is {}", short(&own), short(&expected)))
}

/// Our history of the case, as the service writes histories.
fn run(case: &Case, definition: &Definition) -> Vec<Value> {
    let mut execution = Execution::new(identity(), case.input());
    let mut answers = Answers::from_events(&case.events);
    let mut events = VecDeque::from([Event::Started]);
    let mut timers: BTreeSet<(i64, TimerId)> = BTreeSet::new();
    let mut history = Vec::new();
    let mut runs: BTreeMap<String, usize> = BTreeMap::new();
    let mut now = RECORDED_AT;
    let mut deadline =
        definition.timeout_seconds.map(|seconds| now.saturating_add_unsigned(seconds.saturating_mul(1_000)));
    let mut ending = case.events.last().and_then(stopped);
    for seed in 0..MOST_STEPS {
        let event = match (events.pop_front(), timers.first().copied()) {
            (Some(event), _) => event,
            (None, _) if history.len() + 1 == case.events.len() && ending.is_some() => match ending.take() {
                Some(event) => event,
                None => break,
            },
            (None, Some((until, timer))) if deadline.is_none_or(|deadline| until <= deadline) => {
                timers.pop_first();
                now = now.max(until);
                Event::TimerFired { timer }
            }
            (None, _) => match deadline.take() {
                Some(until) => {
                    now = now.max(until);
                    Event::ExecutionTimedOut
                }
                None => break,
            },
        };
        let moment = Moment { limits: StepLimits::default(), ..Moment::new(now, seed as u64) };
        let done = step(definition, &mut execution, event, moment);
        for happened in &done.history {
            if happened.kind == "MapStateExited"
                && let Some(name) = happened.details.as_ref().and_then(|details| details.get("name")?.as_str())
            {
                *runs.entry(name.to_owned()).or_default() += 1;
            }
        }
        history.extend(done.history.iter().map(crate::asl::stepper::HistoryEvent::to_json));
        for command in done.commands {
            match command {
                Command::RunTask { task, state, .. } => {
                    let index = execution.task_state(task).map_or(0, |(_, index)| index);
                    events.extend(answers.for_task(definition, &state, index, task, &runs));
                }
                Command::ReadItems { task, state, .. } => {
                    let map = definition.machines().iter().find_map(|machine| machine.states.get(&state));
                    events.extend(map.map(|map| answers.for_reader(map, task, &runs)));
                }
                Command::WriteResults { task, state, .. } => {
                    let map = definition.machines().iter().find_map(|machine| machine.states.get(&state));
                    let output = map.and_then(|map| answers.map_result(map, &runs)).unwrap_or_default();
                    events.push_back(Event::TaskSucceeded { task, output });
                }
                Command::StartTimer { timer, until } => {
                    timers.insert((until, timer));
                }
                Command::CancelTimer { timer } => timers.retain(|(_, own)| *own != timer),
                Command::Continue => events.push_back(Event::Continued),
                Command::CancelTask { .. } | Command::Finish => {}
            }
        }
    }
    history
}

/// Somebody stopped the recorded run: it is stopped at the same event.
fn stopped(last: &Value) -> Option<Event> {
    let text = |key: &str| details(last).and_then(|details| details[key].as_str()).map(str::to_owned);
    (kind(last) == "ExecutionAborted").then(|| Event::Stopped { error: text("error"), cause: text("cause") })
}

fn identity() -> Identity {
    Identity {
        id: "arn:aws:states:us-east-1:111111111111:execution:replayed:run".to_owned(),
        name: "run".to_owned(),
        role: "arn:aws:iam::111111111111:role/replayed".to_owned(),
        machine_id: "arn:aws:states:us-east-1:111111111111:stateMachine:replayed".to_owned(),
        machine_name: "replayed".to_owned(),
    }
}
