//! `bindery doctypes try`: what a document is taken for, and its fields, without storing anything.

use super::{Known, known_types, unknown};
use crate::{exit::Exit, failure::Failure, output, result_tables::show_document};
use bindery_app::Settings;
use bindery_fields::{
    DocType, DocTypes,
    classify::{Classifier, documents},
    extract::{Sources, Templates, extract},
};
use bindery_reader::{
    Attachment, EngineChoice, Page, ReadOptions, Reader, model::FileType, ocr::local::LocalEngines, read_file,
};
use bindery_yaml as yaml;
use serde_json::{Value, json};
use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// A document of any kind that `bindery read` reads
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// The type to read it as: a known name, or a YAML file; without it, what the pages look like
    #[arg(long = "type", value_name = "NAME or FILE")]
    doctype: Option<String>,

    /// The languages of scans, as Tesseract names them, joined by +
    #[arg(long, value_name = "NAMES", default_value = "eng")]
    languages: String,
}

pub(super) async fn run(settings: &Settings, args: Args, as_json: bool) -> anyhow::Result<Exit> {
    let chosen = args.doctype.as_deref().map(|name| choose(settings, name)).transpose()?;
    let (types, templates) = (settings.known_doctypes()?, settings.known_templates()?);
    let options =
        ReadOptions { languages: args.languages.split('+').map(str::to_owned).collect(), ..ReadOptions::default() };
    let reader = Reader::new(options, Some(LocalEngines::default().choose(EngineChoice::Auto)))
        .with_opener(Arc::new(settings.isolated_reader(1)?));
    // Reading keeps a core busy, and threads of the runtime must not be kept.
    let found = tokio::task::spawn_blocking(move || {
        let (pages, attachments) = read(&reader, &args.file)?;
        let trial = Trial { file: &args.file, pages: &pages, attachments: &attachments, templates: &templates };
        anyhow::Ok(match &chosen {
            Some(doctype) => vec![trial.as_type(doctype)],
            None => trial.as_recognised(&types),
        })
    });
    let found = found.await??;
    if as_json {
        output::json(&found)?;
        return Ok(Exit::Ok);
    }
    for (index, document) in found.iter().enumerate() {
        if index > 0 {
            output::line("")?;
        }
        show_document(document)?;
    }
    Ok(Exit::Ok)
}

/// A type by its file where there is one of that name, else by its name.
fn choose(settings: &Settings, name: &str) -> anyhow::Result<DocType> {
    let looks_like_file =
        Path::new(name).extension().is_some_and(|extension| extension == "yaml" || extension == "yml");
    if looks_like_file {
        let text = yaml::read_text(Path::new(name)).map_err(|error| Failure::usage(error.to_string()))?;
        return Ok(DocType::parse(&text, name).map_err(|error| Failure::usage(error.to_string()))?);
    }
    let mut all = known_types(settings)?;
    match all.remove(name) {
        Some(Known { doctype, .. }) => Ok(doctype),
        None => Err(unknown(name, &all).into()),
    }
}

fn read(reader: &Reader, path: &Path) -> anyhow::Result<(Vec<Page>, Vec<Attachment>)> {
    let failed = |error: bindery_reader::ReadError| Failure::usage(format!("{}: {error}", path.display()));
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
