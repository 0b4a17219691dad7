//! What was taken in. The same bytes twice are one file: they are read once, and the result says what is the same as what.

use bindery_core::{ContentHash, submission::BY_CONTENT};
use bindery_engine::intake::{Intake, IntakeFile};
pub use bindery_engine::reuse::OWN_KEY;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::collections::HashMap;

/// A file with the content of another one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Duplicate {
    pub name: String,
    /// The name of the file that is worked on in its place.
    pub same_as: String,
}

/// A file of a folder that could not be read; the others were taken in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unreadable {
    pub name: String,
    /// A sentence.
    pub reason: String,
}

impl Unreadable {
    pub(super) fn new(name: &str, reason: &impl ToString) -> Self {
        Self { name: name.to_owned(), reason: reason.to_string() }
    }
}

/// What was taken in.
#[derive(Debug, Default)]
pub struct Taken {
    /// In the order in which they were named; those of a folder by name. No two have the same content.
    pub files: Vec<IntakeFile>,
    pub duplicates: Vec<Duplicate>,
    /// What was left out, and why.
    pub notes: Vec<String>,
    /// What is in the folders that were named and could not be read.
    pub unreadable: Vec<Unreadable>,
    /// Which of the files has a content.
    pub(super) known: HashMap<ContentHash, usize>,
}

impl Taken {
    /// A file that is taken in alone.
    pub fn one(file: IntakeFile) -> Self {
        let mut taken = Self::default();
        taken.add(file);
        taken
    }

    /// Keeps a file, or notes whose content it has.
    pub(super) fn add(&mut self, file: IntakeFile) {
        let place = *self.known.entry(file.content).or_insert(self.files.len());
        match self.files.get(place) {
            Some(known) => self.duplicates.push(Duplicate { name: file.name, same_as: known.name.clone() }),
            None => self.files.push(file),
        }
    }

    pub fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.size).sum()
    }

    /// An external id for those who have none of their own: the same files under the same names, for the same purpose, are
    /// the same submission.
    pub fn content_id(&self, purpose: &Value) -> String {
        let files: Vec<Value> = self.files.iter().map(|file| json!([file.name, file.content.to_string()])).collect();
        let whole = json!([purpose, files, self.duplicates]).to_string();
        format!("{BY_CONTENT}{}", ContentHash::of(whole.as_bytes()))
    }

    /// What a submission of these files begins with.
    pub fn into_intake(self, workflow: &str) -> Intake {
        let mut intake = Intake::new(workflow, self.files);
        let mut own = Map::new();
        if !self.duplicates.is_empty() {
            own.insert("duplicates".to_owned(), json!(self.duplicates));
        }
        if !self.unreadable.is_empty() {
            own.insert("unreadable".to_owned(), json!(self.unreadable));
        }
        if !own.is_empty() {
            intake.metadata.insert(OWN_KEY.to_owned(), own.into());
        }
        intake
    }
}

const DOCTYPE: &str = "doctype";

/// States the type of all documents of a submission, which are not classified then.
pub fn state_doctype(intake: &mut Intake, doctype: &str) {
    own_metadata(intake)[DOCTYPE] = json!(doctype);
}

/// Where the metadata of a submission has what Bindery itself keeps with it.
pub(crate) fn own_metadata(intake: &mut Intake) -> &mut Value {
    intake.metadata.entry(OWN_KEY).or_insert_with(|| Value::Object(Map::new()))
}

/// A text that Bindery keeps with a submission, out of its metadata.
pub(crate) fn own_text(metadata: &str, key: &str) -> Option<String> {
    // Asked for every page, and hardly ever there.
    if !metadata.contains(key) {
        return None;
    }
    let said: Map<String, Value> = serde_json::from_str(metadata).unwrap_or_default();
    said.get(OWN_KEY)?.get(key)?.as_str().map(str::to_owned)
}

/// The type that the metadata of a submission states for all of its documents.
pub fn stated_doctype(metadata: &str) -> Option<String> {
    own_text(metadata, DOCTYPE)
}

/// The duplicates that the metadata of a submission tells of.
pub fn duplicates(metadata: &str) -> Vec<Duplicate> {
    let said: Map<String, Value> = serde_json::from_str(metadata).unwrap_or_default();
    let duplicates = said.get(OWN_KEY).and_then(|own| own.get("duplicates"));
    duplicates.and_then(|list| Vec::deserialize(list).ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(name: &str, content: &str) -> IntakeFile {
        let (content, size) = (ContentHash::of(content.as_bytes()), content.len() as u64);
        IntakeFile { name: name.to_owned(), content, size, media_type: "text/plain".to_owned(), key: None }
    }

    fn new_taken(files: &[(&str, &str)]) -> Taken {
        let mut taken = Taken::default();
        for (name, content) in files {
            taken.add(file(name, content));
        }
        taken
    }

    #[test]
    fn the_same_bytes_twice_are_one_file() {
        let taken = new_taken(&[("a", "1"), ("b", "2"), ("mail/a", "1")]);
        assert_eq!(taken.files.len(), 2);
        let same = Duplicate { name: "mail/a".to_owned(), same_as: "a".to_owned() };
        assert_eq!(taken.duplicates, std::slice::from_ref(&same));
        let metadata = Value::Object(taken.into_intake("documents").metadata).to_string();
        assert_eq!(duplicates(&metadata), [same]);
        assert_eq!(duplicates("{}"), []);
        assert_eq!(duplicates("{\"intake\": \"odd\"}"), []);
    }

    #[test]
    fn names_contents_and_purpose_make_the_id() {
        let id = |files: &[(&str, &str)], purpose: &str| new_taken(files).content_id(&json!(purpose));
        let one = id(&[("a", "1"), ("b", "2")], "documents");
        assert!(one.starts_with("content:") && one == id(&[("a", "1"), ("b", "2")], "documents"));
        let others = [
            id(&[("a", "1")], "documents"),
            id(&[("a", "1"), ("c", "2")], "documents"),
            id(&[("a", "1"), ("b", "2")], "read"),
        ];
        assert!(others.iter().all(|other| *other != one));
        assert_ne!(id(&[("a", "1")], "x"), id(&[("a", "1"), ("b", "1")], "x"), "a duplicate was put in, too");
    }
}
