//! Types of documents: those that are known, checking files, trying them on a document, and templates learned from
//! corrections.
//!
//! | file | what it does |
//! |---|---|
//! | `checks` | every problem of a file, and what is probably not meant |
//! | `trial` | what a document is taken for, and its fields, without storing anything |
//! | `learn` | a template from what people have corrected, and what it would change |

mod checks;
mod learn;
mod trial;

pub use bindery_fields::{
    DocType, DocTypes,
    extract::{Check, Field, FieldType, template::suggest::SuggestError},
};
pub use checks::{CheckedDoctype, check_doctype};
pub use learn::{LearnRefused, Learned, Learning, SenderName};
pub use trial::TrialRefused;

use crate::{
    error::{AppResult, Named, SettingsError, UnknownName},
    settings::{Setting, Settings},
};
use bindery_yaml as yaml;
use std::{collections::BTreeMap, path::Path};

/// A type that can be asked for.
#[derive(Debug)]
pub struct KnownDoctype {
    pub doctype: DocType,
    pub text: String,
    /// `shipped`, or a file.
    pub from: String,
}

impl Settings {
    /// By name: those that ship, and in place of some of them those in the user's folder.
    pub fn listed_doctypes(&self) -> AppResult<BTreeMap<String, KnownDoctype>> {
        // All problems of the folder are told before anything is shown.
        self.known_doctypes()?;
        let mut known = BTreeMap::new();
        for doctype in DocTypes::shipped()?.iter() {
            let text = DocTypes::shipped_text(&doctype.name).unwrap_or_default().to_owned();
            let from = "shipped".to_owned();
            known.insert(doctype.name.to_string(), KnownDoctype { doctype: doctype.clone(), text, from });
        }
        if let Some(folder) = &self.doctypes {
            let load = |file: &Path| {
                let text = yaml::read_text(file)?;
                let doctype = DocType::parse(&text, &file.display().to_string())?;
                Ok(KnownDoctype { doctype, text, from: file.display().to_string() })
            };
            let own = yaml::load_dir(folder, load, |_, _| None);
            for own in own.map_err(|error| SettingsError::Folder { setting: Setting::Doctypes, error })? {
                known.insert(own.doctype.name.to_string(), own);
            }
        }
        Ok(known)
    }
}

/// There is no such type among those that are known.
pub fn unknown(name: &str, known: &BTreeMap<String, KnownDoctype>) -> UnknownName {
    UnknownName::new(Named::Doctype, name, known.keys().cloned())
}
