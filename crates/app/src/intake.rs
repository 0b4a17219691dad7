//! Taking files in: what is said about them, which workflow they are for, and whether they are here already.

use crate::{
    app::App,
    checklists,
    error::{AppResult, IntakeRefused, Named, UnknownName},
    notice::Notice,
    settings::Settings,
};
use bindery_core::{SubmissionId, submission::BY_CONTENT};
pub use bindery_engine::intake::Received;
use bindery_engine::{intake::Intake, intake_more::AddedFiles, reuse::state_anew};
pub use bindery_pipeline::intake::Unreadable;
use bindery_pipeline::{
    DEFAULT_WORKFLOW,
    analysis::{self, CHECKLIST_WORKFLOW, state_checklist},
    documents,
    intake::{OWN_KEY, Taken, look_at, rules, state_doctype, take_in},
};
use serde_json::{Map, Value, json};
use std::{collections::BTreeSet, path::PathBuf};

/// What is said about files, wherever they come from.
#[derive(Debug, Clone, Default)]
pub struct About {
    /// None: what the rules of the settings say, or the default.
    pub workflow: Option<String>,
    /// Their document type; none: they are classified.
    pub doctype: Option<String>,
    /// The checklist they are compared with as a whole: its name, or a file.
    pub checklist: Option<String>,
    pub owner: Option<String>,
    /// Greater is sooner.
    pub priority: i32,
    /// Keys and values to keep with them.
    pub metadata: Vec<(String, String)>,
}

impl About {
    /// A workflow that does not exist or cannot run here is told before anything is copied.
    pub async fn check(&self, app: &App, settings: &Settings) -> AppResult<()> {
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
                return Err(IntakeRefused::NoChecklist { workflow: name.to_owned() }.into());
            }
        }
        self.check_doctype(settings, classifies)
    }

    /// The workflow that is named, or follows from the checklist.
    fn stated_workflow(&self) -> Option<&str> {
        self.workflow.as_deref().or_else(|| self.checklist.as_ref().map(|_| CHECKLIST_WORKFLOW))
    }

    /// The text of the checklist that is named; every problem is told before anything is copied.
    fn checklist_yaml(&self, settings: &Settings) -> AppResult<Option<String>> {
        self.checklist.as_deref().map(|named| checklists::yaml_of(settings, named)).transpose()
    }

    fn check_doctype(&self, settings: &Settings, classifies: bool) -> AppResult<()> {
        let Some(name) = &self.doctype else { return Ok(()) };
        let known = settings.known_doctypes()?;
        if known.get(name).is_none() {
            let mut names: Vec<&str> = known.iter().map(|doctype| &*doctype.name).collect();
            names.sort_unstable();
            return Err(UnknownName::new(Named::Doctype, name, names).into());
        }
        if !classifies {
            let workflow = self.workflow.as_deref().unwrap_or(DEFAULT_WORKFLOW);
            return Err(IntakeRefused::NoDoctypes { workflow: workflow.to_owned() }.into());
        }
        Ok(())
    }

    /// What was taken in as a submission that can be stored.
    pub(crate) fn intake(&self, settings: &Settings, taken: Taken, channel: &str) -> AppResult<Intake> {
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

    fn metadata(&self) -> Result<Map<String, Value>, IntakeRefused> {
        let mut metadata = Map::new();
        for (key, value) in &self.metadata {
            if key == OWN_KEY {
                return Err(IntakeRefused::OwnKey { key: key.clone() });
            }
            if metadata.insert(key.clone(), Value::String(value.clone())).is_some() {
                return Err(IntakeRefused::KeyTwice { key: key.clone() });
            }
        }
        Ok(metadata)
    }
}

/// Paths to take in as one submission.
#[derive(Debug, Clone)]
pub struct Delivery {
    /// Files, folders, or `-` for standard input.
    pub paths: Vec<PathBuf>,
    pub about: About,
    /// How they came, as the submission keeps it.
    pub channel: &'static str,
    /// The sender's own id for it. The same id again is the same submission.
    pub external_id: Option<String>,
    /// Take the files in also if the same ones were taken in before, and take nothing over that was found in them.
    pub anew: bool,
}

/// Takes in what is delivered, or finds what was taken in before: under the same external id, or where none is given, the
/// same files with the same said about them.
pub async fn receive(app: &App, settings: &Settings, delivery: Delivery) -> AppResult<Receipt> {
    let Delivery { paths, about, channel, external_id, anew } = delivery;
    if let Some(id) = &external_id {
        if id.starts_with(BY_CONTENT) {
            return Err(IntakeRefused::OwnId { id: id.clone() }.into());
        }
        if let Some(known) = find(app, id).await? {
            refuse_other_content(app, id, known, &paths).await?;
            let received = Received::Already(known);
            return Ok(Receipt { received, is_known_id: true, files: 0, bytes: 0, unreadable: Vec::new() });
        }
    }
    about.check(app, settings).await?;
    let taken = take_in(&app.engine, &paths).await?;
    report(app, &taken);
    let external_id = match (external_id, anew) {
        (Some(own), _) => Some(own),
        (None, true) => None,
        (None, false) => Some(content_id(app, settings, &about, &taken).await?),
    };
    let (files, bytes, unreadable) = (taken.files.len(), taken.bytes(), taken.unreadable.clone());
    let mut intake = about.intake(settings, taken, channel)?;
    intake.external_id = external_id;
    if anew {
        state_anew(&mut intake.metadata, None);
    }
    let received = app.engine.submit(intake).await?;
    Ok(Receipt { received, is_known_id: false, files, bytes, unreadable })
}

/// The same external id stands for the same files. Their names may be others. Files that are gone cannot be compared.
async fn refuse_other_content(app: &App, id: &str, known: SubmissionId, paths: &[PathBuf]) -> AppResult<()> {
    let before = app.engine.received_files(known).await?;
    if before.iter().any(|file| file.content.is_none()) {
        return Ok(());
    }
    let before: BTreeSet<_> = before.into_iter().filter_map(|file| file.content).collect();
    let taken = look_at(&app.engine, paths).await?;
    let now: BTreeSet<_> = taken.files.iter().map(|file| file.content).collect();
    if let Some(new) = taken.files.iter().find(|file| !before.contains(&file.content)) {
        let (id, new) = (id.to_owned(), new.name.clone());
        return Err(IntakeRefused::OtherContent { id, known, new }.into());
    }
    if taken.unreadable.is_empty() && now != before {
        let missing = before.difference(&now).count();
        return Err(IntakeRefused::MissingContent { id: id.to_owned(), known, missing }.into());
    }
    Ok(())
}

/// Adds files to a submission that exists.
pub async fn add(app: &App, to: SubmissionId, paths: &[PathBuf]) -> AppResult<AddedFiles> {
    let taken = take_in(&app.engine, paths).await?;
    report(app, &taken);
    Ok(app.engine.add_files(to, taken.files).await?)
}

/// Tells what to know about files that were taken in.
fn report(app: &App, taken: &Taken) {
    for note in &taken.notes {
        app.notify(&Notice::Intake(note.clone()));
    }
    for Unreadable { name, reason } in &taken.unreadable {
        app.notify(&Notice::NotTakenIn { name: name.clone(), reason: reason.clone() });
    }
    for duplicate in &taken.duplicates {
        app.notify(&Notice::SameContent { name: duplicate.name.clone(), same_as: duplicate.same_as.clone() });
    }
}

/// What was taken in, and what was left out of it because it could not be read.
#[derive(Debug)]
pub struct Receipt {
    pub received: Received,
    /// It was found by its external id, and nothing was looked at.
    pub is_known_id: bool,
    pub files: usize,
    pub bytes: u64,
    pub unreadable: Vec<Unreadable>,
}

/// The same files for another workflow, for a newer version of it or for somebody else are another submission.
async fn content_id(app: &App, settings: &Settings, about: &About, taken: &Taken) -> AppResult<String> {
    let metadata = about.metadata()?;
    let name = about.stated_workflow().unwrap_or_else(|| rules::choose(&settings.rules, &taken.files, &metadata));
    let workflow = app.engine.catalog().workflow(&name.into(), None).await?;
    let mut purpose = vec![json!(workflow.name), json!(workflow.version), json!(about.owner), json!(metadata)];
    purpose.extend(about.doctype.as_ref().map(|doctype| json!({"doctype": doctype})));
    purpose.extend(about.checklist_yaml(settings)?.map(|yaml| json!({"checklist": yaml})));
    Ok(taken.content_id(&Value::Array(purpose)))
}

/// The submission with this external id.
pub(crate) async fn find(app: &App, external_id: &str) -> AppResult<Option<SubmissionId>> {
    Ok(app.store().find_submission(external_id).await?.map(|found| found.id))
}
