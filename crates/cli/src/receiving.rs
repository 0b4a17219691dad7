//! Taking files in: what is said about them, which workflow they are for, and whether they are here already.

use crate::{
    commands::checklists,
    config::{App, Settings},
    exit::Exit,
    failure::Failure,
    output,
};
use bindery_core::{SubmissionId, submission::BY_CONTENT};
use bindery_engine::intake::{Intake, Received};
use bindery_pipeline::{
    DEFAULT_WORKFLOW,
    analysis::{self, ANALYZER, CHECKLIST_WORKFLOW, state_checklist},
    documents,
    intake::{OWN_KEY, Taken, Unreadable, rules, state_doctype, take_in},
};
use serde_json::{Map, Value, json};
use std::{collections::BTreeSet, path::PathBuf};

/// What is said about files, wherever they come from.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct About {
    /// What happens to them (default: what the rules in bindery.toml say, or `documents`); `bindery workflows` lists what there is
    #[arg(long, short, value_name = "NAME")]
    workflow: Option<String>,

    /// Their document type: the workflow `documents` reads its fields and classifies nothing; `bindery doctypes` lists the types
    #[arg(long, value_name = "NAME")]
    doctype: Option<String>,

    /// The checklist they are compared with as a whole: its name, or a file; `bindery checklists` lists those there are
    #[arg(long, value_name = "NAME")]
    checklist: Option<String>,

    /// Whose they are
    #[arg(long, value_name = "NAME")]
    owner: Option<String>,

    /// Greater is sooner; negative is later
    #[arg(long, default_value_t = 0, allow_negative_numbers = true, value_name = "NUMBER")]
    priority: i32,

    /// Anything to keep with them, as key=value; may be given several times
    #[arg(long, value_name = "KEY=VALUE", value_parser = key_value)]
    meta: Vec<(String, String)>,
}

impl About {
    /// A workflow that does not exist or cannot run here is told before anything is copied.
    pub(crate) async fn check(&self, app: &App, settings: &Settings) -> anyhow::Result<()> {
        self.metadata()?;
        self.checklist_yaml(settings)?;
        let by_rule = settings.rules.iter().map(|rule| rule.workflow.as_str()).chain([DEFAULT_WORKFLOW]);
        let possible: BTreeSet<&str> = match self.stated_workflow() {
            Some(said) => BTreeSet::from([said]),
            None => by_rule.collect(),
        };
        let mut classifies = false;
        for name in possible {
            let workflow = app.engine.catalog().workflow(&name.into(), None).await?;
            app.engine.check_processors(&workflow)?;
            classifies |= documents::classifies(&workflow);
            if self.checklist.is_some() && analysis::analysis_stage(&workflow).is_none() {
                let message = format!("--checklist: the workflow {name:?} compares nothing with a checklist");
                let hint = format!("use --workflow {CHECKLIST_WORKFLOW}, or add a stage with {ANALYZER}");
                return Err(Failure::usage(message).hint(hint).into());
            }
        }
        self.check_doctype(settings, classifies)
    }

    /// The workflow that is named, or follows from the checklist.
    fn stated_workflow(&self) -> Option<&str> {
        self.workflow.as_deref().or_else(|| self.checklist.as_ref().map(|_| CHECKLIST_WORKFLOW))
    }

    /// The text of the checklist that is named; every problem is told before anything is copied.
    fn checklist_yaml(&self, settings: &Settings) -> anyhow::Result<Option<String>> {
        self.checklist.as_deref().map(|named| checklists::yaml_of(settings, named)).transpose()
    }

    fn check_doctype(&self, settings: &Settings, classifies: bool) -> anyhow::Result<()> {
        let Some(name) = &self.doctype else { return Ok(()) };
        let known = settings.known_doctypes()?;
        if known.get(name).is_none() {
            let mut names: Vec<&str> = known.iter().map(|doctype| &*doctype.name).collect();
            names.sort_unstable();
            let message = format!("--doctype: there is no document type {name:?}; known are {}", names.join(", "));
            return Err(Failure::usage(message).hint("--doctypes names a folder with types of your own").into());
        }
        if !classifies {
            let workflow = self.workflow.as_deref().unwrap_or(DEFAULT_WORKFLOW);
            let message = format!("--doctype: the workflow {workflow:?} has no types of documents");
            return Err(Failure::usage(message).hint("leave --doctype out, or use --workflow documents").into());
        }
        Ok(())
    }

    /// What was taken in as a submission that can be stored.
    pub(crate) fn intake(&self, settings: &Settings, taken: Taken, channel: &str) -> anyhow::Result<Intake> {
        let metadata = self.metadata()?;
        let by_rule = || rules::choose(&settings.rules, &taken.files, &metadata);
        let workflow = self.stated_workflow().unwrap_or_else(by_rule).to_owned();
        let mut intake = taken.into_intake(&workflow);
        intake.metadata.extend(metadata);
        if let Some(doctype) = &self.doctype {
            state_doctype(&mut intake, doctype);
        }
        if let Some(yaml) = self.checklist_yaml(settings)? {
            state_checklist(&mut intake, &yaml);
        }
        intake.owner.clone_from(&self.owner);
        intake.priority = self.priority;
        channel.clone_into(&mut intake.channel);
        Ok(intake)
    }

    fn metadata(&self) -> anyhow::Result<Map<String, Value>> {
        let mut metadata = Map::new();
        for (key, value) in &self.meta {
            if key == OWN_KEY {
                let message = format!("--meta: the key {key:?} is Bindery's own; choose another");
                return Err(Failure::usage(message).into());
            }
            if metadata.insert(key.clone(), Value::String(value.clone())).is_some() {
                return Err(Failure::usage(format!("--meta: {key:?} is given twice")).into());
            }
        }
        Ok(metadata)
    }
}

pub(crate) fn key_value(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.trim().is_empty() => Ok((key.trim().to_owned(), value.to_owned())),
        _ => Err("expected key=value".to_owned()),
    }
}

/// What is taken in by `run` and `submit`.
#[derive(Debug, clap::Args)]
pub(crate) struct IntakeArgs {
    /// Files, folders (everything below them, by name), or - for standard input
    #[arg(required = true, value_name = "PATHS")]
    paths: Vec<PathBuf>,

    #[command(flatten)]
    about: About,

    /// Your own id for it. The same id again is the same submission
    #[arg(long, value_name = "ID", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    external_id: Option<String>,

    /// Take the files in also if the same ones were taken in before
    #[arg(long, conflicts_with = "external_id")]
    anew: bool,
}

/// Takes in what the flags say, or finds what was taken in before: under the same external id, or where none is given,
/// the same files with the same said about them.
pub(crate) async fn receive(app: &App, settings: &Settings, args: IntakeArgs) -> anyhow::Result<Receipt> {
    if let Some(id) = &args.external_id {
        if id.starts_with(BY_CONTENT) {
            let message = format!("external id {id:?}: ids of that form are Bindery's own; choose another");
            return Err(Failure::usage(message).into());
        }
        if let Some(known) = find(app, id).await? {
            output::note(format!("taken in before as {known}; nothing is taken in again"));
            return Ok(Receipt { received: Received::Already(known), unreadable: Vec::new() });
        }
    }
    args.about.check(app, settings).await?;
    let taken = take_in(&app.engine, &args.paths).await?;
    taken.notes.iter().for_each(output::note);
    note_unreadable(&taken.unreadable);
    for duplicate in &taken.duplicates {
        output::note(format!("{} has the same content as {} and is worked on once", duplicate.name, duplicate.same_as));
    }
    let said = format!("{} ({})", output::count(taken.files.len() as u64, "file"), output::bytes(taken.bytes()));
    let external_id = match (args.external_id, args.anew) {
        (Some(own), _) => Some(own),
        (None, true) => None,
        (None, false) => Some(content_id(app, settings, &args.about, &taken).await?),
    };
    let unreadable = taken.unreadable.clone();
    let mut intake = args.about.intake(settings, taken, "command line")?;
    intake.external_id = external_id;
    let received = app.engine.submit(intake).await?;
    match received {
        Received::New(id) => output::note(format!("took in {said} as {id}")),
        Received::Already(id) => {
            output::note(format!("the same files were taken in before as {id}; --anew works on them once more"));
        }
    }
    Ok(Receipt { received, unreadable })
}

/// What was taken in, and what was left out of it because it could not be read.
#[derive(Debug)]
pub(crate) struct Receipt {
    pub(crate) received: Received,
    pub(crate) unreadable: Vec<Unreadable>,
}

impl Receipt {
    /// The exit code of a command that did all it was asked to, but for files that it could not read.
    pub(crate) fn exit(&self) -> Exit {
        if self.unreadable.is_empty() { Exit::Ok } else { Exit::Partial }
    }
}

pub(crate) fn note_unreadable(unreadable: &[Unreadable]) {
    for Unreadable { name, reason } in unreadable {
        output::note(format!("not taken in: {name}: {reason}"));
    }
}

/// The same files for another workflow, for a newer version of it or for somebody else are another submission.
async fn content_id(app: &App, settings: &Settings, about: &About, taken: &Taken) -> anyhow::Result<String> {
    let metadata = about.metadata()?;
    let name = about.stated_workflow().unwrap_or_else(|| rules::choose(&settings.rules, &taken.files, &metadata));
    let workflow = app.engine.catalog().workflow(&name.into(), None).await?;
    let mut purpose = vec![json!(workflow.name), json!(workflow.version), json!(about.owner), json!(metadata)];
    purpose.extend(about.doctype.as_ref().map(|doctype| json!({"doctype": doctype})));
    purpose.extend(about.checklist_yaml(settings)?.map(|yaml| json!({"checklist": yaml})));
    Ok(taken.content_id(&Value::Array(purpose)))
}

/// The submission with this external id.
pub(crate) async fn find(app: &App, external_id: &str) -> anyhow::Result<Option<SubmissionId>> {
    Ok(app.store().find_submission(external_id).await?.map(|found| found.id))
}
