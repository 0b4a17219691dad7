//! `bindery doctypes learn`: a template from what people have corrected, and what it would change.

use crate::{exit::Exit, failure::Failure, output};
use bindery_app::Settings;
use bindery_fields::{
    DocType, DocTypes,
    extract::{
        Templates,
        template::suggest::{Change, LEARNED_MARK, ReadDocument, Sender, SuggestError, Suggestion, changes, suggest},
    },
};
use bindery_pipeline::documents::{PastDocument, past_documents};
use serde_json::{Value, json};
use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Words that stand on every document of the sender, such as their name; or their VAT id
    #[arg(value_name = "SENDER")]
    sender: String,

    /// The type of their documents; without it, the one of which most were corrected
    #[arg(long = "type", value_name = "NAME")]
    doctype: Option<String>,

    /// Store the template in this file; without a name, in the folder of templates (--templates)
    #[arg(long, value_name = "FILE", num_args = 0..=1)]
    #[expect(clippy::option_option, reason = "not asked for, asked for, asked for with a name: as clap tells them")]
    write: Option<Option<PathBuf>>,

    /// Look at the documents of so many submissions, the newest first
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..))]
    submissions: u32,
}

/// What the template would do to the documents that were read before.
#[derive(Debug, Default)]
struct Effect {
    /// How many documents of the sender and the type there are.
    documents: usize,
    changed: Vec<(String, Vec<Change>)>,
}

impl Effect {
    fn count(&self, confirmed: Option<bool>) -> usize {
        self.changed.iter().flat_map(|(_, changes)| changes).filter(|change| change.confirmed == confirmed).count()
    }
}

pub(super) async fn run(settings: &Settings, args: Args, as_json: bool) -> anyhow::Result<Exit> {
    let sender = Sender::new(&args.sender).ok_or_else(|| {
        Failure::usage(format!("{:?} names no sender: expected words that stand on their documents", args.sender))
    })?;
    let (types, templates) = (settings.known_doctypes()?, settings.known_templates()?);
    if let Some(unknown) = args.doctype.as_deref().filter(|name| types.get(name).is_none()) {
        return Err(super::unknown(unknown, &super::known_types(settings)?).into());
    }
    let file = args.write.map(|file| target(settings, &sender, file)).transpose()?;
    let app = settings.existing().await?;
    let is_wanted = |document: &PastDocument| sender.is_named_on(&document.pages);
    let mut documents = past_documents(&app.engine, args.submissions as usize, is_wanted).await?;
    let doctype = chosen_type(&types, args.doctype.as_deref(), &documents, &args.sender)?;
    documents.retain(|document| document.doctype == doctype.name);
    let suggestion =
        suggest(&sender, doctype, &documents.iter().map(read).collect::<Vec<_>>()).map_err(|error| refusal(&error))?;
    let effect = effect(doctype, &documents, &templates, &suggestion);
    let standing = documents.iter().find_map(|document| templates.for_document(doctype, &document.pages));
    let standing = standing.map(|template| template.name.to_string()).filter(|name| *name != sender.slug());
    if let Some(file) = &file {
        bindery_files::write(file, &suggestion.yaml)
            .map_err(|error| Failure::usage(format!("{} cannot be written: {error}", file.display())))?;
    }
    if as_json {
        output::json(&described(&suggestion, doctype, &effect, standing.as_deref(), file.as_deref()))?;
        return Ok(Exit::Ok);
    }
    output::line(suggestion.yaml.trim_end())?;
    tell(&suggestion, &effect, standing.as_deref(), file.as_deref());
    Ok(Exit::Ok)
}

fn read(document: &PastDocument) -> ReadDocument<'_> {
    ReadDocument { pages: &document.pages, extraction: &document.extraction }
}

fn refusal(error: &SuggestError) -> Failure {
    let hint = match error {
        SuggestError::TooFew { .. } => "`bindery review correct sub_1 doc_1_1 number=2026-7` corrects one",
        SuggestError::NothingInCommon { .. } => "docs/fields.md says how a template is written by hand",
    };
    Failure::usage(error.to_string()).hint(hint)
}

/// The type that is named, or of which most documents of the sender were corrected.
fn chosen_type<'t>(
    types: &'t DocTypes,
    named: Option<&str>,
    documents: &[PastDocument],
    sender: &str,
) -> Result<&'t DocType, Failure> {
    let mut corrected: BTreeMap<&str, usize> = BTreeMap::new();
    for document in documents.iter().filter(|document| read(document).is_corrected()) {
        *corrected.entry(&document.doctype).or_default() += 1;
    }
    let most = corrected.into_iter().max_by_key(|(_, count)| *count).map(|(name, _)| name);
    named.or(most).and_then(|name| types.get(name)).ok_or_else(|| {
        let seen = output::count(documents.len() as u64, "document");
        let message =
            format!("no document of {sender:?} was corrected ({seen} found); a template is learned from two or more");
        Failure::usage(message).hint("`bindery review correct sub_1 doc_1_1 number=2026-7` corrects one")
    })
}

/// Where the template is stored. One that somebody wrote by hand stays.
fn target(settings: &Settings, sender: &Sender, file: Option<PathBuf>) -> anyhow::Result<PathBuf> {
    if let Some(file) = file {
        return Ok(file);
    }
    let Some(folder) = &settings.templates else {
        let hint = "`--templates ./templates`, or `--write FILE`";
        return Err(Failure::usage("--write: there is no folder of templates").hint(hint).into());
    };
    let file = folder.join(format!("{}.yaml", sender.slug()));
    match fs::read_to_string(&file) {
        Ok(text) if !text.starts_with(LEARNED_MARK) => {
            let message = format!("{} is there, and was not learned; it stays as it is", file.display());
            Err(Failure::usage(message).hint("--write FILE stores it under another name").into())
        }
        _ => Ok(file),
    }
}

fn effect(doctype: &DocType, documents: &[PastDocument], templates: &Templates, suggestion: &Suggestion) -> Effect {
    let changed = documents.iter().filter_map(|document| {
        let changes = changes(doctype, read(document), templates, &suggestion.template);
        let name = format!("{} {}", document.submission, document.document);
        (!changes.is_empty()).then_some((name, changes))
    });
    Effect { documents: documents.len(), changed: changed.collect() }
}

fn tell(suggestion: &Suggestion, effect: &Effect, standing: Option<&str>, file: Option<&Path>) {
    for left in &suggestion.not_learned {
        output::note(format!("not learned: {}: {}", left.field, left.because));
    }
    let documents = output::count(effect.documents as u64, "earlier document");
    let [right, wrong, open] = [Some(true), Some(false), None].map(|confirmed| effect.count(confirmed));
    let values = output::count((right + wrong + open) as u64, "value");
    output::note(format!(
        "it would change {} of {documents}, {values} in all: {right} to what a person confirmed, {wrong} away from it, {open} that nobody has looked at",
        effect.changed.len()
    ));
    if let Some(name) = standing {
        output::note(format!("the template {name} counts for such documents already; the first file by name counts"));
    }
    match file {
        Some(file) => output::note(format!("wrote {}", file.display())),
        None => output::note("nothing was stored; --write stores it"),
    }
}

fn described(
    suggestion: &Suggestion,
    doctype: &DocType,
    effect: &Effect,
    standing: Option<&str>,
    file: Option<&Path>,
) -> Value {
    let changed = effect.changed.iter().map(|(document, fields)| json!({"document": document, "fields": fields}));
    json!({
        "template": suggestion.template.name, "doctype": doctype.name, "yaml": suggestion.yaml,
        "learned": suggestion.learned, "not_learned": suggestion.not_learned,
        "documents": effect.documents, "would_change": effect.changed.len(),
        "to_confirmed": effect.count(Some(true)), "away_from_confirmed": effect.count(Some(false)),
        "unconfirmed": effect.count(None), "changes": changed.collect::<Vec<_>>(),
        "counts_already": standing, "written": file,
    })
}
