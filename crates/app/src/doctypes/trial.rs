//! What a document is taken for, and its fields, without storing anything.

use super::{KnownDoctype, unknown};
use crate::{
    error::{AppResult, UnknownName, YamlError},
    settings::Settings,
};
use bindery_fields::{
    DocType, DocTypes,
    classify::{Classifier, documents},
    extract::{Sources, Templates, extract},
};
use bindery_reader::{
    Attachment, EngineChoice, Page, ReadError, ReadOptions, Reader, model::FileType, ocr::local::LocalEngines,
    read_file,
};
use bindery_yaml as yaml;
use serde_json::{Value, json};
use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

/// Why a document cannot be tried.
#[derive(Debug, thiserror::Error)]
pub enum TrialRefused {
    #[error("{}: {error}", path.display())]
    Unreadable { path: PathBuf, error: ReadError },
    /// A file with a type; every problem is told.
    #[error("{0}")]
    Doctype(YamlError),
    #[error(transparent)]
    Unknown(UnknownName),
}

impl Settings {
    /// Reads a document as the type that is named, or as what its pages look like: its documents, as results have them.
    pub async fn try_doctype(
        &self,
        file: PathBuf,
        named: Option<&str>,
        languages: Vec<String>,
    ) -> AppResult<Vec<Value>> {
        let chosen = named.map(|name| self.choose_doctype(name)).transpose()?;
        let (types, templates) = (self.known_doctypes()?, self.known_templates()?);
        let options = ReadOptions { languages, ..ReadOptions::default() };
        let reader = Reader::new(options, Some(LocalEngines::default().choose(EngineChoice::Auto)))
            .with_opener(Arc::new(self.isolated_reader(1)?));
        // Reading keeps a core busy, and threads of the runtime must not be kept.
        let found = tokio::task::spawn_blocking(move || {
            let (pages, attachments) = read(&reader, &file)?;
            let trial = Trial { file: &file, pages: &pages, attachments: &attachments, templates: &templates };
            Ok::<_, TrialRefused>(match &chosen {
                Some(doctype) => vec![trial.as_type(doctype)],
                None => trial.as_recognised(&types),
            })
        });
        Ok(found.await??)
    }

    /// A type by its file where the name is one of a file, else by its name.
    fn choose_doctype(&self, name: &str) -> AppResult<DocType> {
        let is_file = Path::new(name).extension().is_some_and(|extension| extension == "yaml" || extension == "yml");
        if is_file {
            let parsed = yaml::read_text(Path::new(name)).and_then(|text| DocType::parse(&text, name));
            return Ok(parsed.map_err(TrialRefused::Doctype)?);
        }
        let mut all = self.listed_doctypes()?;
        match all.remove(name) {
            Some(KnownDoctype { doctype, .. }) => Ok(doctype),
            None => Err(TrialRefused::Unknown(unknown(name, &all)).into()),
        }
    }
}

fn read(reader: &Reader, path: &Path) -> Result<(Vec<Page>, Vec<Attachment>), TrialRefused> {
    let failed = |error| TrialRefused::Unreadable { path: path.to_owned(), error };
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
    let bytes = read_file(path, reader.options()).map_err(failed)?;
    let file = reader.open(bytes, name.as_deref()).map_err(failed)?;
    let pages = (0..file.info().page_count).map(|index| reader.read_page(&*file, index));
    let pages = pages.collect::<Result<Vec<_>, _>>().map_err(failed)?;
    let is_pdf = file.info().file_type == FileType::Pdf;
    Ok((pages, if is_pdf { file.attachments().unwrap_or_default() } else { Vec::new() }))
}

struct Trial<'t> {
    file: &'t Path,
    pages: &'t [Page],
    attachments: &'t [Attachment],
    templates: &'t Templates,
}

impl Trial<'_> {
    /// The whole file as one document of a type.
    fn as_type(&self, doctype: &DocType) -> Value {
        let numbers: Vec<usize> = self.pages.iter().map(|page| page.number).collect();
        let because = json!([{"text": "it was asked for", "weight": 1.0}]);
        self.to_json(1, doctype, self.pages, &json!({"pages": numbers, "confidence": 1.0, "because": because}))
    }

    /// The documents that the pages are taken for.
    fn as_recognised(&self, types: &DocTypes) -> Vec<Value> {
        let classifier = Classifier::new(types);
        let classes: Vec<_> = self.pages.iter().map(|page| classifier.classify(page)).collect();
        let pages: Vec<_> = self.pages.iter().zip(&classes).collect();
        let found =
            documents(&pages, self.attachments, types).into_iter().enumerate().filter_map(|(index, document)| {
                let doctype = types.get(&document.doctype)?;
                let own: Vec<Page> =
                    self.pages.iter().filter(|page| document.pages.contains(&page.number)).cloned().collect();
                Some(self.to_json(index + 1, doctype, &own, &json!(document)))
            });
        found.collect()
    }

    /// A document as results have it.
    fn to_json(&self, number: usize, doctype: &DocType, pages: &[Page], about: &Value) -> Value {
        let sources = Sources { attachments: self.attachments, templates: self.templates };
        let found = extract(doctype, pages, &sources);
        json!({
            "document_id": format!("document {number}"), "file": self.file, "doc_type": doctype.name,
            "page_indices": about["pages"], "type_confidence": about["confidence"], "because": about["because"],
            "extraction_confidence": found.confidence, "evidence": found.fields, "rows": found.rows,
            "checks": found.checks, "doubts": found.doubts, "needs_review": found.needs_review,
        })
    }
}
