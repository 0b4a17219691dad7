//! A last stage for workflows of one's own: it binds what all stages have found into the submission's result.

use crate::{
    consolidate::Gather,
    intake,
    results::{KeptResult, name_of},
};
use bindery_core::{Name, StepError, item::ItemKind};
use bindery_engine::{
    Extracted,
    context::StepContext,
    part_results::PartResults,
    workflow::{Over, Stage},
};
use serde::Deserialize;
use serde_json::{Value, json};
use std::io::{self, Write};

/// Files, documents and pages, each with what the stages have found about it. `stages:` in its settings names those that
/// are wanted; without it all are.
///
/// The result is written as it is read: it may be longer than memory.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Collected;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Settings {
    stages: Option<Vec<Name>>,
}

impl Settings {
    /// Those of the stage, whose stages must exist.
    fn read(context: &StepContext) -> Result<Self, StepError> {
        let bad = |message: String| StepError::reject(message).named("BadWorkflow");
        let stage = context.stage()?;
        let settings = Value::Object(context.settings().clone());
        let settings = Self::deserialize(&settings).map_err(|error| {
            bad(format!("stage {}: settings: expected `stages`, a list of names: {error}", stage.name))
        })?;
        let workflow = context.workflow()?;
        for wanted in settings.stages.iter().flatten() {
            if !workflow.stages.iter().any(|known| known.name == *wanted) {
                let known: Vec<&str> = workflow.stages.iter().map(|known| &*known.name).collect();
                let known = known.join(", ");
                return Err(bad(format!(
                    "stage {}: settings.stages: there is no stage {wanted}; there are {known}",
                    stage.name
                )));
            }
        }
        Ok(settings)
    }

    fn wants(&self, stage: &Name) -> bool {
        self.stages.as_ref().is_none_or(|wanted| wanted.contains(stage))
    }
}

impl Gather for Collected {
    const NAME: &'static str = "collector";
    type Result = KeptResult;

    fn reads(&self, here: &Stage, earlier: &Stage) -> bool {
        let named = here.settings.get("stages").and_then(Value::as_array);
        earlier.over != Over::Submission && named.is_none_or(|named| named.iter().any(|name| *name == *earlier.name))
    }

    fn check(&self, context: &StepContext) -> Result<(), StepError> {
        Settings::read(context).map(|_| ())
    }

    fn gather(&self, context: &StepContext) -> Result<KeptResult, StepError> {
        let settings = Settings::read(context)?;
        let mut failed = None;
        let kept = KeptResult::keep_written(context, |into| {
            write(context, &settings, into).map_err(|error| match error {
                Broken::Disk(error) => error,
                Broken::Step(error) => {
                    failed = Some(error);
                    io::Error::other("the parts could not be read")
                }
            })
        });
        failed.map_or(kept, Err)
    }

    fn store(&self, context: &StepContext, result: Value) -> Result<Extracted, StepError> {
        KeptResult::read(&result)?.finish(context)
    }
}

enum Broken {
    Disk(io::Error),
    Step(StepError),
}

impl From<io::Error> for Broken {
    fn from(error: io::Error) -> Self {
        Self::Disk(error)
    }
}

impl From<StepError> for Broken {
    fn from(error: StepError) -> Self {
        Self::Step(error)
    }
}

fn write(context: &StepContext, settings: &Settings, into: &mut dyn Write) -> Result<(), Broken> {
    let submission = context.submission()?;
    let (id, workflow) = (json!(submission.public_id()), json!(submission.workflow.name));
    write!(into, "{{\"request_id\":{id},\"workflow\":{workflow}")?;
    let duplicates = intake::duplicates(&submission.metadata);
    if !duplicates.is_empty() {
        write!(into, ",\"duplicates\":{}", json!(duplicates))?;
    }
    write!(into, ",\"files\":[")?;
    for (place, file) in context.each_item(ItemKind::File)?.enumerate() {
        let file = file?;
        let comma = if place == 0 { "" } else { "," };
        write!(into, "{comma}{}", json!({"id": file.public_id(), "name": name_of(&file)}))?;
    }
    write!(into, "],\"parts\":[")?;
    let mut comma = "";
    for over in [Over::File, Over::Document, Over::Page] {
        let Some(results) = PartResults::of_stages_before(context, over)? else { continue };
        let results = results.retain_stages(|stage| settings.wants(stage));
        if results.is_empty() {
            continue;
        }
        let mut disk = Ok(());
        let visited = results.visit(None, |part| {
            if context.is_cancelled() {
                return Err(StepError::retry("stopped while parts were bound").named("Stopped"));
            }
            disk = write!(into, "{comma}{part}");
            comma = ",";
            // Looked at below; this only ends the visit.
            if disk.is_ok() { Ok(()) } else { Err(StepError::bug("the result could not be written")) }
        });
        disk?;
        visited?;
    }
    Ok(write!(into, "]}}")?)
}
