//! Measures state machines: `make bench-states`.
//!
//! | part | what is measured |
//! |---|---|
//! | `expressions` | JSONata, beside jsonata-js in the same run |
//! | `steps` | the stepper alone: transitions and items of a Map, with their history, kept nowhere |
//!
//! An argument names the one part that is to be measured, a second one the only expression. The last line is for
//! programs.

#![allow(clippy::print_stdout, reason = "the numbers are the result")]

mod documents;
mod expressions;
mod peer;
mod steps;

/// What goes wrong ends the measurement.
pub(crate) type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

fn main() -> Outcome<()> {
    let only = std::env::args().nth(1);
    let wanted = |name: &str| only.as_deref().is_none_or(|only| only == name);
    let mut numbers = Vec::new();
    if wanted("steps") {
        numbers.extend(steps::measure()?);
    }
    if wanted("expressions") {
        numbers.extend(expressions::measure(std::env::args().nth(2).as_deref())?);
    }
    println!("BENCH {}", numbers.join(" "));
    Ok(())
}
