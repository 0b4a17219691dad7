//! What `bindery process` is given: files, folders and standard input become inputs of one owner.
//!
//! What cannot be read as an input becomes one that fails with the reason, so that it is in the result like any other
//! and the rest is done.

mod files;
mod parse;

use crate::error::InputsError;
use bindery_engine::execution::ProcessorInput;
use parse::Raw;
use serde_json::Value;

/// Who owns inputs that do not say whose they are.
const NOBODY: &str = "local";

/// Whose inputs they are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Owner {
    pub account_id: String,
    pub underwriting_id: String,
}

/// What was read, before it is clear whose it is.
#[derive(Debug)]
pub struct InputPile {
    raw: Vec<Raw>,
}

impl InputPile {
    /// Reads everything; an error says that there is nothing to run.
    pub fn read(paths: &[String]) -> Result<Self, InputsError> {
        let mut raw = Vec::new();
        for source in files::sources(paths)? {
            parse::read(&source, &mut raw);
        }
        if raw.is_empty() {
            return Err(InputsError::None { paths: paths.to_vec() });
        }
        Ok(Self { raw })
    }

    /// The account that is asked for, or that of the first input that names one, or the one of the run before.
    pub fn owner(&self, account: Option<&str>, underwriting: Option<&str>, before: Option<Owner>) -> Owner {
        let (account_before, underwriting_before) =
            before.map(|owner| (owner.account_id, owner.underwriting_id)).unzip();
        let find = |asked: Option<&str>, field: &str, before: Option<String>| {
            let named = asked.or_else(|| self.raw.iter().find_map(|raw| raw.named(field)));
            named.map(str::to_owned).or(before).unwrap_or_else(|| NOBODY.to_owned())
        };
        Owner {
            account_id: find(account, "account_id", account_before),
            underwriting_id: find(underwriting, "underwriting_id", underwriting_before),
        }
    }

    /// The inputs in their order. Those that name another owner keep it, so that the run is refused.
    pub fn into_inputs(self, owner: &Owner) -> Vec<ProcessorInput> {
        self.raw.into_iter().map(|raw| input_of(raw, owner)).collect()
    }
}

fn input_of(raw: Raw, owner: &Owner) -> ProcessorInput {
    let (account_id, underwriting_id) = (owner.account_id.as_str(), owner.underwriting_id.as_str());
    match raw {
        Raw::Data { id, data } => ProcessorInput::new(id, account_id, underwriting_id, data),
        Raw::Unreadable { id, why, text } => {
            ProcessorInput::new(id, account_id, underwriting_id, Value::String(text)).unreadable_because(why)
        }
        Raw::Input { id, place, value } => {
            match ProcessorInput::from_json(value.clone(), Some(account_id), Some(underwriting_id)) {
                Ok(input) => input,
                Err(error) => {
                    // Whose it is still counts: inputs of two owners are refused, whatever else is wrong with them.
                    let named = |field, own| parse::text_of(&value, field).unwrap_or(own).to_owned();
                    let id = parse::text_of(&value, "input_id").map_or(id, str::to_owned);
                    let (account, underwriting) =
                        (named("account_id", account_id), named("underwriting_id", underwriting_id));
                    ProcessorInput::new(id, account, underwriting, value)
                        .unreadable_because(format!("{place}: {error}"))
                }
            }
        }
    }
}
