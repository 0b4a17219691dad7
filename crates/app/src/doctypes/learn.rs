//! A template from what people have corrected, and what it would change.

use super::{DocType, DocTypes, SuggestError, unknown};
use crate::{
    app::App,
    error::{AppResult, UnknownName},
    settings::Settings,
};
use bindery_fields::extract::template::suggest::{
    Change, LEARNED_MARK, ReadDocument, Sender, Suggestion, changes, suggest,
};
use bindery_pipeline::documents::{PastDocument, past_documents};
use serde_json::{Value, json};
use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
};

/// Why no template was learned; nothing was stored.
#[derive(Debug, thiserror::Error)]
pub enum LearnRefused {
    #[error("{named:?} names no sender: expected words that stand on their documents")]
    NoSender { named: String },
    #[error("no document of {sender:?} was corrected ({seen} found); a template is learned from two or more")]
    NothingCorrected { sender: String, seen: String },
    #[error("{0}")]
    Suggest(SuggestError),
    #[error(transparent)]
    Doctype(UnknownName),
    #[error("there is no folder of templates")]
    NoFolder,
    #[error("{} is there, and was not learned; it stays as it is", file.display())]
    WrittenByHand { file: PathBuf },
    #[error("{} cannot be written: {error}", file.display())]
    Unwritable { file: PathBuf, error: io::Error },
}

/// Whose documents are looked at, checked.
#[derive(Debug)]
pub struct SenderName {
    text: String,
    sender: Sender,
}

impl SenderName {
    /// Words that stand on every document of the sender, or their VAT id.
    pub fn parse(text: &str) -> Result<Self, LearnRefused> {
        let sender = Sender::new(text).ok_or_else(|| LearnRefused::NoSender { named: text.to_owned() })?;
        Ok(Self { text: text.to_owned(), sender })
    }
}

/// What a template is learned from, and where it goes.
#[derive(Debug)]
pub struct Learning {
    pub sender: SenderName,
    /// None: the type of which most documents were corrected.
    pub doctype: Option<String>,
    /// So many submissions are looked at, the newest first.
    pub submissions: usize,
    /// The file that the template is stored in.
    pub target: Option<PathBuf>,
}

/// A template, and what it would do to the documents that were read before.
#[derive(Debug)]
pub struct Learned {
    suggestion: Suggestion,
    doctype: String,
    /// How many documents of the sender and the type there are.
    pub documents: usize,
    changed: Vec<(String, Vec<Change>)>,
    /// The template that counts for such documents already.
    pub standing: Option<String>,
    pub target: Option<PathBuf>,
}

impl Settings {
    /// A file in the folder of templates. One that somebody wrote by hand stays.
    pub fn template_file(&self, sender: &SenderName) -> Result<PathBuf, LearnRefused> {
        let folder = self.templates.as_ref().ok_or(LearnRefused::NoFolder)?;
        let file = folder.join(format!("{}.yaml", sender.sender.slug()));
        match fs::read_to_string(&file) {
            Ok(text) if !text.starts_with(LEARNED_MARK) => Err(LearnRefused::WrittenByHand { file }),
            _ => Ok(file),
        }
    }

    /// A type that is named has to be there.
    pub fn check_doctype_name(&self, named: Option<&str>) -> AppResult<()> {
        let types = self.known_doctypes()?;
        match named.filter(|name| types.get(name).is_none()) {
            Some(name) => Err(LearnRefused::Doctype(unknown(name, &self.listed_doctypes()?)).into()),
            None => Ok(()),
        }
    }
}

impl Learned {
    /// Learns a template, and stores it where a file is named.
    pub async fn from_corrections(app: &App, settings: &Settings, learning: Learning) -> AppResult<Self> {
        let Learning { sender, doctype, submissions, target } = learning;
        let (types, templates) = (settings.known_doctypes()?, settings.known_templates()?);
        let is_wanted = |document: &PastDocument| sender.sender.is_named_on(&document.pages);
        let mut documents = past_documents(&app.engine, submissions, is_wanted).await?;
        let doctype = chosen_type(&types, doctype.as_deref(), &documents, &sender.text)?;
        documents.retain(|document| document.doctype == doctype.name);
        let read: Vec<_> = documents.iter().map(to_read).collect();
        let suggestion = suggest(&sender.sender, doctype, &read).map_err(LearnRefused::Suggest)?;
        let changed = documents.iter().filter_map(|document| {
            let changes = changes(doctype, to_read(document), &templates, &suggestion.template);
            let name = format!("{} {}", document.submission, document.document);
            (!changes.is_empty()).then_some((name, changes))
        });
        let changed = changed.collect();
        let standing = documents.iter().find_map(|document| templates.for_document(doctype, &document.pages));
        let standing = standing.map(|it| it.name.to_string()).filter(|name| *name != sender.sender.slug());
        if let Some(file) = &target {
            bindery_files::write(file, &suggestion.yaml)
                .map_err(|error| LearnRefused::Unwritable { file: file.clone(), error })?;
        }
        let (doctype, documents) = (doctype.name.to_string(), documents.len());
        Ok(Self { suggestion, doctype, documents, changed, standing, target })
    }

    pub fn yaml(&self) -> &str {
        &self.suggestion.yaml
    }

    /// Fields that were corrected and are not learned, with the reason.
    pub fn not_learned(&self) -> impl Iterator<Item = (&str, &str)> {
        self.suggestion.not_learned.iter().map(|left| (left.field.as_str(), left.because.as_str()))
    }

    /// How many documents it would change.
    pub fn would_change(&self) -> usize {
        self.changed.len()
    }

    /// How many values it would change: to what a person confirmed, away from it, or those that nobody has looked at.
    pub fn count(&self, confirmed: Option<bool>) -> usize {
        self.changed.iter().flat_map(|(_, changes)| changes).filter(|change| change.confirmed == confirmed).count()
    }

    pub fn to_json(&self) -> Value {
        let changed = self.changed.iter().map(|(document, fields)| json!({"document": document, "fields": fields}));
        let suggestion = &self.suggestion;
        json!({
            "template": suggestion.template.name, "doctype": self.doctype, "yaml": suggestion.yaml,
            "learned": suggestion.learned, "not_learned": suggestion.not_learned,
            "documents": self.documents, "would_change": self.changed.len(),
            "to_confirmed": self.count(Some(true)), "away_from_confirmed": self.count(Some(false)),
            "unconfirmed": self.count(None), "changes": changed.collect::<Vec<_>>(),
            "counts_already": self.standing, "written": self.target.as_deref().map(Path::new),
        })
    }
}

fn to_read(document: &PastDocument) -> ReadDocument<'_> {
    ReadDocument { pages: &document.pages, extraction: &document.extraction }
}

/// The type that is named, or of which most documents of the sender were corrected.
fn chosen_type<'t>(
    types: &'t DocTypes,
    named: Option<&str>,
    documents: &[PastDocument],
    sender: &str,
) -> Result<&'t DocType, LearnRefused> {
    let mut corrected: BTreeMap<&str, usize> = BTreeMap::new();
    for document in documents.iter().filter(|document| to_read(document).is_corrected()) {
        *corrected.entry(&document.doctype).or_default() += 1;
    }
    let most = corrected.into_iter().max_by_key(|(_, count)| *count).map(|(name, _)| name);
    named.or(most).and_then(|name| types.get(name)).ok_or_else(|| {
        let seen =
            if documents.len() == 1 { "1 document".to_owned() } else { format!("{} documents", documents.len()) };
        LearnRefused::NothingCorrected { sender: sender.to_owned(), seen }
    })
}
