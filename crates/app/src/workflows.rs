//! Workflows that can be asked for: those that ship, those in the store and the user's own; and checking files.

use crate::{app::App, error::AppResult, processors::Processors, settings::Settings};
use bindery_core::{Name, SubmissionId};
pub use bindery_engine::workflow::UnreadOutput;
use bindery_engine::workflow::{Over, RoutingClash, Workflow, builtin, load_file, routing_clashes, unread_outputs};
pub use bindery_processors::StageContract;
use std::{collections::BTreeMap, path::Path};

/// A workflow that can be asked for.
#[derive(Debug)]
pub struct KnownWorkflow {
    pub text: String,
    /// `shipped`, `stored`, or a file.
    pub from: String,
    pub workflow: Workflow,
}

/// Name and text of every workflow that ships.
fn shipped() -> impl Iterator<Item = (&'static str, &'static str)> {
    let councils = [bindery_civic::WORKFLOW, bindery_civic::NOTICES_WORKFLOW];
    builtin::all().into_iter().chain(bindery_pipeline::workflows::SHIPPED).chain(councils)
}

impl Settings {
    /// By name, the newest version of each: those that ship, those in the store, those in the user's folder.
    pub async fn known_workflows(&self) -> AppResult<BTreeMap<Name, KnownWorkflow>> {
        let mut known: BTreeMap<Name, KnownWorkflow> = BTreeMap::new();
        let mut add = |text: String, from: String, workflow: Workflow| {
            let newer = known.get(&workflow.name).is_none_or(|other| other.workflow.version <= workflow.version);
            if newer {
                known.insert(workflow.name.clone(), KnownWorkflow { text, from, workflow });
            }
        };
        for (name, text) in shipped() {
            add(text.to_owned(), "shipped".to_owned(), Workflow::parse(text, Some(name))?);
        }
        if let Some(app) = self.if_existing().await? {
            for stored in app.store().workflows().await? {
                let is_shipped = shipped().any(|known| known == (stored.name.as_str(), stored.text.as_str()));
                let from = if is_shipped { "shipped" } else { "stored" };
                let workflow = Workflow::parse(&stored.text, Some(&stored.name))?;
                add(stored.text, from.to_owned(), workflow);
            }
        }
        for loaded in self.own_workflows()? {
            add(loaded.text, loaded.file.display().to_string(), loaded.workflow);
        }
        Ok(known)
    }
}

/// Checks files one after the other, each also against those before it.
#[derive(Debug)]
pub struct WorkflowChecks {
    processors: Processors,
    others: BTreeMap<Name, Workflow>,
    good: Vec<Workflow>,
    /// Why files are not compared with what is stored, where that cannot be read.
    pub store_unread: Option<String>,
}

/// What was found in a file.
#[derive(Debug)]
pub enum CheckedWorkflow {
    /// All problems, each with its line.
    Unusable(String),
    Usable {
        name: Name,
        version: i64,
        stages: usize,
        /// Routing keys that lead to another queue in another workflow; with the stage of this one.
        clashes: Vec<(String, Name)>,
        /// What its stages find and nothing reads.
        unread: Vec<UnreadOutput>,
        /// Processors that this program does not have.
        missing_processors: Vec<Name>,
    },
}

impl WorkflowChecks {
    /// The workflows that files are compared with: those that ship, those in the store, those in the user's folder. A file
    /// is checked also where the store cannot be read or the folder holds other mistakes.
    pub async fn new(settings: &Settings) -> AppResult<Self> {
        let processors = settings.known_processors()?;
        let shipped = shipped().filter_map(|(_, text)| Workflow::parse(text, None).ok());
        let mut others: BTreeMap<Name, Workflow> = shipped.map(|workflow| (workflow.name.clone(), workflow)).collect();
        let stored = async {
            let Some(app) = settings.if_existing().await? else { return Ok(Vec::new()) };
            Ok(app.store().workflows().await?)
        };
        let stored: AppResult<Vec<_>> = stored.await;
        let store_unread = stored.as_ref().err().map(ToString::to_string);
        let parsed = stored.iter().flatten().filter_map(|stored| Workflow::parse(&stored.text, None).ok());
        others.extend(parsed.map(|workflow| (workflow.name.clone(), workflow)));
        let own = settings.own_workflows().unwrap_or_default().into_iter().map(|loaded| loaded.workflow);
        others.extend(own.map(|workflow| (workflow.name.clone(), workflow)));
        Ok(Self { processors, others, good: Vec::new(), store_unread })
    }

    pub fn check(&mut self, file: &Path) -> CheckedWorkflow {
        let workflow = match load_file(file) {
            Ok(loaded) => loaded.workflow,
            Err(problems) => return CheckedWorkflow::Unusable(problems.to_string()),
        };
        let clashes = clashes(&workflow, self.others.values().chain(&self.good));
        let processors = workflow.stages.iter().flat_map(|stage| &stage.processors);
        let registry = self.processors.registry();
        let missing = processors.filter(|known| !known.external && registry.get(&known.name).is_none());
        let checked = CheckedWorkflow::Usable {
            name: workflow.name.clone(),
            version: workflow.version,
            stages: workflow.stages.len(),
            clashes: clashes.iter().map(|clash| (clash.to_string(), clash.second.1.clone())).collect(),
            unread: unread_outputs(&workflow, registry),
            missing_processors: missing.map(|processor| processor.name.clone()).collect(),
        };
        self.good.push(workflow);
        checked
    }
}

/// What programs get and may answer at each stage that can be theirs.
pub fn stage_contracts(known: &KnownWorkflow) -> Vec<(Name, StageContract)> {
    let stages = known.workflow.stages.iter().enumerate();
    let contract = |index, name: &Name| Some((name.clone(), StageContract::of_stage(&known.workflow, index)?));
    stages.filter_map(|(index, stage)| contract(index, &stage.name)).collect()
}

/// The clashes of a workflow with others; a version of its own is none of them.
fn clashes<'w>(workflow: &'w Workflow, others: impl Iterator<Item = &'w Workflow>) -> Vec<RoutingClash> {
    let others = others.filter(|other| other.name != workflow.name).chain([workflow]);
    let mut clashes = routing_clashes(others);
    clashes.retain(|clash| clash.second.0 == workflow.name);
    clashes
}

impl App {
    /// What the last stage of a submission's workflow runs over where it makes no result for the submission as a whole:
    /// the name of the workflow, that of the stage, and what it runs over.
    pub async fn last_stage_without_result(
        &self,
        submission: SubmissionId,
    ) -> AppResult<Option<(Name, Name, &'static str)>> {
        let info = self.engine.catalog().submission(submission).await?;
        let last = info.workflow.stages.last().filter(|last| last.over != Over::Submission);
        Ok(last.map(|last| (info.workflow.name.clone(), last.name.clone(), last.over.as_str())))
    }
}
