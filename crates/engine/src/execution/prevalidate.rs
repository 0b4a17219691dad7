//! The check before any step runs: do the inputs belong to this owner, and to one call?

use super::{
    input::ProcessorInput,
    result::{Passed, RunError},
};
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};

/// The exception of an input that could not be read.
pub const INVALID_INPUT: &str = "InvalidInput";

/// What to do with inputs that share an id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Duplicates {
    /// The last one counts, in the place of the first; the result warns of it.
    #[default]
    LastWins,
    /// All of them are refused; the others are done.
    Refuse,
}

/// An input that may go on, or the reason why not.
pub(super) type Admitted = (ProcessorInput, Option<Passed>);

/// An error says that nothing may run.
pub(super) fn check_owner(inputs: &[ProcessorInput], account_id: &str, underwriting_id: &str) -> Result<(), RunError> {
    let foreign = |same: &str, field: &str, input: &ProcessorInput, found: &str, expected: &str| {
        let message = format!(
            "Input data is not for the same {same}: input {} has {field} {found:?}, expected {expected:?}",
            input.input_id
        );
        Err(RunError { exception: "PrevalidationError".to_owned(), message })
    };
    for input in inputs {
        if input.account_id != account_id {
            return foreign("account", "account_id", input, &input.account_id, account_id);
        }
        if input.underwriting_id != underwriting_id {
            return foreign("underwriting", "underwriting_id", input, &input.underwriting_id, underwriting_id);
        }
    }
    Ok(())
}

/// An error says that nothing may run.
pub(super) fn prevalidate(
    inputs: Vec<ProcessorInput>,
    account_id: &str,
    underwriting_id: &str,
    duplicates: Duplicates,
) -> Result<(Vec<Admitted>, Vec<String>), RunError> {
    check_owner(&inputs, account_id, underwriting_id)?;
    let mut ids = HashSet::with_capacity(inputs.len());
    if inputs.iter().all(|input| ids.insert(input.input_id.as_str())) {
        return Ok((inputs.into_iter().map(|input| readable(input, None)).collect(), Vec::new()));
    }
    let (admitted, warnings) = without_duplicates(inputs, duplicates);
    Ok((admitted.into_iter().map(|(input, refused)| readable(input, refused)).collect(), warnings))
}

/// What could not be read is refused with the reason for it.
fn readable(input: ProcessorInput, refused: Option<Passed>) -> Admitted {
    let refused = refused.or_else(|| Some(Passed::refusal(INVALID_INPUT, input.unreadable.clone()?)));
    (input, refused)
}

/// One input for each id, in the place of the first.
fn without_duplicates(inputs: Vec<ProcessorInput>, duplicates: Duplicates) -> (Vec<Admitted>, Vec<String>) {
    let mut places: HashMap<String, (usize, u32)> = HashMap::with_capacity(inputs.len());
    let mut admitted: Vec<Admitted> = Vec::with_capacity(inputs.len());
    let mut warnings = Vec::new();
    for input in inputs {
        match places.get_mut(&input.input_id) {
            None => {
                places.insert(input.input_id.clone(), (admitted.len(), 1));
                admitted.push((input, None));
            }
            Some((place, times)) => {
                *times += 1;
                admitted[*place].0 = input;
            }
        }
    }
    let mut repeated: Vec<(usize, u32)> = places.into_values().filter(|(_, times)| *times > 1).collect();
    repeated.sort_unstable();
    for (place, times) in repeated {
        let (input, refused) = &mut admitted[place];
        match duplicates {
            Duplicates::LastWins => {
                warnings.push(format!("input {} is given {times} times; the last one counts", input.input_id));
            }
            Duplicates::Refuse => {
                let message = format!("the input id {} is given {times} times, expected once", input.input_id);
                *refused = Some(Passed::refusal("DuplicateInput", message));
            }
        }
    }
    (admitted, warnings)
}
