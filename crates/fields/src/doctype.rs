//! A type of document: what its pages look like, and which fields it has. One YAML file each.

use crate::{classify::Recognition, extract::Schema};
use bindery_core::Name;
use bindery_yaml::{self as yaml, Fields, LoadError, Node, Problems, Wanted, YamlError};
use std::path::Path;

/// The name of the type that pages have when none fits.
pub const OTHER: &str = "other";

const WANTED: Wanted = Wanted { what: "document type", least: "`name`" };
const KEYS: &[&str] = &["name", "title", "recognise", "fields"];

/// What one file in `doctypes/` says.
#[derive(Debug, Clone)]
pub struct DocType {
    /// As results name it: "invoice".
    pub name: Name,
    /// As people read it: "Invoice".
    pub title: String,
    /// How its pages are recognised.
    pub recognise: Recognition,
    /// What is read from it.
    pub fields: Schema,
}

impl DocType {
    /// Reads a type, with all of its problems if it has any. `file` only appears in the messages.
    pub fn parse(text: &str, file: &str) -> Result<Self, YamlError> {
        let mut problems = Problems::default();
        let doctype = yaml::read(text, WANTED, &mut problems).and_then(|root| Self::read(&root, &mut problems));
        match doctype {
            Some(doctype) if problems.is_empty() => Ok(doctype),
            _ => Err(problems.into_error(Some(file))),
        }
    }

    fn read(root: &Node, problems: &mut Problems) -> Option<Self> {
        let fields = Fields::open(root, "", KEYS, problems)?;
        fields.require("name", "give the type the name that results show", problems);
        let name = fields.name("name", problems);
        let title = fields.text("title", problems).map(str::to_owned);
        let recognise = fields.get("recognise").map(|node| Recognition::read(node, "recognise", problems));
        let schema = fields.get("fields").map(|node| Schema::read(node, "fields", problems));
        let name = name?;
        Some(Self {
            title: title.unwrap_or_else(|| name.to_string()),
            name,
            recognise: recognise.unwrap_or_default(),
            fields: schema.unwrap_or_default(),
        })
    }
}

/// All types that are known.
#[derive(Debug, Clone, Default)]
pub struct DocTypes(Vec<DocType>);

impl DocTypes {
    /// Those that come with Bindery. An error here is a fault in the build, which the tests would have told.
    pub fn shipped() -> Result<Self, YamlError> {
        let read = |(file, text): &(&str, &str)| {
            let mut doctype = DocType::parse(text, file)?;
            doctype.fields.labels_are_ranked = false;
            Ok(doctype)
        };
        SHIPPED.iter().map(read).collect::<Result<_, _>>().map(Self)
    }

    /// Adds all `*.yaml` files of a folder. One with the name of a shipped type stands in its place.
    pub fn with_folder(self, folder: &Path) -> Result<Self, LoadError> {
        let load = |file: &Path| DocType::parse(&yaml::read_text(file)?, &file.display().to_string());
        let clash = |new: &DocType, other: &DocType| {
            (new.name == other.name).then(|| format!("another file describes the type {:?}, too", &*new.name))
        };
        let own = yaml::load_dir(folder, load, clash)?;
        let mut all = self.0;
        all.retain(|shipped| own.iter().all(|own| own.name != shipped.name));
        all.extend(own);
        Ok(Self(all))
    }

    /// The YAML of a shipped type.
    pub fn shipped_text(name: &str) -> Option<&'static str> {
        SHIPPED.iter().find(|(file, _)| file.strip_suffix(".yaml") == Some(name)).map(|(_, text)| *text)
    }

    pub fn get(&self, name: &str) -> Option<&DocType> {
        self.0.iter().find(|doctype| &*doctype.name == name)
    }

    pub fn iter(&self) -> impl Iterator<Item = &DocType> {
        self.0.iter()
    }
}

macro_rules! shipped {
    ($($file:literal)*) => { &[$(($file, include_str!(concat!("../../../doctypes/", $file)))),*] };
}

/// File name and YAML of each: the files of the repository's `doctypes` folder, so what people read there is what runs.
const SHIPPED: &[(&str, &str)] = shipped! {
    "agenda.yaml" "bank_statement.yaml" "contract.yaml" "credit_note.yaml" "email.yaml" "form.yaml" "id_card.yaml" "invoice.yaml"
    "letter.yaml" "minutes.yaml" "other.yaml" "payslip.yaml" "receipt.yaml" "report.yaml" "resume.yaml"
};
