//! Which checklist a submission is compared with: the one that it came with, or the one of its workflow.

use crate::intake::{own_metadata, own_text};
use bindery_core::StepError;
use bindery_engine::intake::Intake;
use bindery_fields::{
    DocTypes,
    checklist::{Checklist, shipped, shipped_text},
};
use serde_json::{Map, Value, json};

const KEY: &str = "checklist";

/// Stores a checklist's YAML with a submission. A later edit of the file does not change work under way.
pub fn state_checklist(intake: &mut Intake, yaml: &str) {
    own_metadata(intake)[KEY] = json!(yaml);
}

/// The checklist of a stage's settings: the name of a shipped one, or all of it.
pub fn checklist_of(settings: &Map<String, Value>, doctypes: Option<&DocTypes>) -> Result<Option<Checklist>, String> {
    let parse = |text: &str, place: &str| match doctypes {
        Some(doctypes) => Checklist::parse_for(text, place, doctypes),
        None => Checklist::parse(text, place),
    };
    let parsed = match settings.get(KEY) {
        None | Some(Value::Null) => return Ok(None),
        Some(Value::String(name)) => match shipped_text(name) {
            Some(text) => parse(text, name),
            None => return Err(unknown(name)),
        },
        // JSON is YAML on one line; the path of each mistake says where it is.
        Some(written) => parse(&written.to_string(), "settings.checklist"),
    };
    parsed.map(Some).map_err(|error| error.to_string())
}

fn unknown(name: &str) -> String {
    let known: Vec<String> = shipped().unwrap_or_default().iter().map(|checklist| checklist.name.to_string()).collect();
    format!("settings.checklist: there is no checklist {name:?}; known are {}, or write it out", known.join(", "))
}

/// The checklist of a submission; none where neither it nor its workflow has one.
pub(super) fn chosen(metadata: &str, settings: &Map<String, Value>) -> Result<Option<Checklist>, StepError> {
    let found = match own_text(metadata, KEY) {
        Some(yaml) => Checklist::parse(&yaml, "checklist").map(Some).map_err(|error| error.to_string()),
        None => checklist_of(settings, None),
    };
    found.map_err(|problems| StepError::reject(problems).named("BadChecklist"))
}
