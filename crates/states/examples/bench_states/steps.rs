//! The stepper alone, on one core: no store, but every event of the history is made.

use crate::Outcome;
use bindery_states::asl::{
    definition::Definition,
    stepper::{Command, Event, Execution, Identity, Moment, Status, StepLimits, step},
};
use serde_json::{Value, json};
use std::{hint::black_box, time::Instant};

/// Each turn of the loop is a Pass and a Choice.
const TURNS: usize = 10_000;
const ITEMS: usize = 10_000;
/// The best of them counts.
const ROUNDS: usize = 7;

pub(crate) fn measure() -> Outcome<Vec<String>> {
    println!("The stepper alone, with its history:");
    let limits = StepLimits { history: u64::MAX, ..StepLimits::default() };
    for (language, machine) in [("JSONPath", path_loop()), ("JSONata", expression_loop())] {
        let seconds = best(&machine, &json!({"n": 0, "file": "inbox/letter.pdf"}), limits)?;
        let per_second = (2 * TURNS) as f64 / seconds;
        println!("  a loop of {} transitions, {language}: {per_second:.0} transitions a second", 2 * TURNS);
    }
    let items: Vec<Value> = (0..ITEMS).map(|number| json!({"id": number, "name": format!("page-{number}")})).collect();
    let input = json!({"items": items});
    let payload = StepLimits { payload: 4 << 20, ..limits };
    for (language, machine) in [("JSONPath", path_map()), ("JSONata", expression_map())] {
        let seconds = best(&machine, &input, payload)?;
        println!("  a Map of {ITEMS} items, {language}: {:.0} items a second", ITEMS as f64 / seconds);
    }
    half_way(&path_map(), &input, payload)?;
    Ok(Vec::new())
}

fn path_loop() -> Value {
    json!({"StartAt": "Count", "States": {
        "Count": {"Type": "Pass", "Next": "More",
            "Parameters": {"n.$": "States.MathAdd($.n, 1)", "file.$": "$.file"}},
        "More": {"Type": "Choice", "Default": "Done",
            "Choices": [{"Variable": "$.n", "NumericLessThan": TURNS, "Next": "Count"}]},
        "Done": {"Type": "Succeed"},
    }})
}

fn expression_loop() -> Value {
    json!({"StartAt": "Count", "QueryLanguage": "JSONata", "States": {
        "Count": {"Type": "Pass", "Next": "More",
            "Output": {"n": "{% $states.input.n + 1 %}", "file": "{% $states.input.file %}"}},
        "More": {"Type": "Choice", "Default": "Done",
            "Choices": [{"Condition": format!("{{% $states.input.n < {TURNS} %}}"), "Next": "Count"}]},
        "Done": {"Type": "Succeed"},
    }})
}

fn path_map() -> Value {
    json!({"StartAt": "Each", "States": {"Each": {"Type": "Map", "ItemsPath": "$.items", "End": true,
        "ItemProcessor": {"StartAt": "Note", "States": {"Note": {"Type": "Pass", "End": true}}}}}})
}

fn expression_map() -> Value {
    json!({"StartAt": "Each", "QueryLanguage": "JSONata", "States": {"Each": {"Type": "Map", "End": true,
        "Items": "{% $states.input.items %}",
        "ItemProcessor": {"StartAt": "Note", "States": {
            "Note": {"Type": "Pass", "Output": {"id": "{% $states.input.id %}"}, "End": true}}}}}})
}

fn start(input: &Value) -> Execution {
    let id = "arn:aws:states:eu-west-1:1:execution:bench:run".to_owned();
    Execution::new(Identity { id, name: "run".to_owned(), ..Identity::default() }, input.clone())
}

/// Steps until the end, or until there were as many steps.
fn run(definition: &Definition, execution: &mut Execution, limits: StepLimits, most: usize) -> usize {
    let (mut event, mut events) = (Event::Started, 0);
    for number in 0..most {
        let done = step(definition, execution, event, Moment { limits, ..Moment::new(number as i64, 7) });
        events += black_box(done.history).len();
        if !done.commands.contains(&Command::Continue) {
            break;
        }
        event = Event::Continued;
    }
    events
}

/// The seconds of the best of some runs.
fn best(machine: &Value, input: &Value, limits: StepLimits) -> Outcome<f64> {
    let definition = parsed(machine)?;
    let mut best = f64::INFINITY;
    for _ in 0..ROUNDS {
        let mut execution = start(input);
        let begun = Instant::now();
        run(&definition, &mut execution, limits, usize::MAX);
        best = best.min(begun.elapsed().as_secs_f64());
        if !matches!(execution.status(), Status::Succeeded { .. }) {
            return Err(format!("the machine ended with {:?}", execution.status()).into());
        }
    }
    Ok(best)
}

fn parsed(machine: &Value) -> Outcome<Definition> {
    Ok(Definition::parse(&machine.to_string()).map_err(|faults| faults.to_string())?)
}

/// What storing the state of a Map costs when half of its items are done.
fn half_way(machine: &Value, input: &Value, limits: StepLimits) -> Outcome<()> {
    let mut execution = start(input);
    let steps = ITEMS / 2 / limits.transitions;
    run(&parsed(machine)?, &mut execution, limits, steps);
    let mut times = [f64::INFINITY; 2];
    let mut size = 0;
    for _ in 0..ROUNDS {
        let begun = Instant::now();
        let stored = serde_json::to_vec(&execution)?;
        times[0] = times[0].min(begun.elapsed().as_secs_f64());
        let begun = Instant::now();
        let restored: Execution = serde_json::from_slice(&stored)?;
        times[1] = times[1].min(begun.elapsed().as_secs_f64());
        size = stored.len();
        if restored != execution {
            return Err("what was stored is not what it was".into());
        }
    }
    println!(
        "  the state of that Map half-way: {} KB (its input has {} KB), stored in {:.1} ms, restored in {:.1} ms",
        size / 1_000,
        input.to_string().len() / 1_000,
        times[0] * 1e3,
        times[1] * 1e3
    );
    Ok(())
}
