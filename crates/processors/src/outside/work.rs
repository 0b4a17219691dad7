//! Which work of a workflow a program is asked about: the submission, the item with what earlier stages have found about
//! it, its file, and behind a join the parts.
//!
//! What is long comes as files in a folder of the call's own, which goes when the call ends: a copy of the received file,
//! the parts as one line of JSON each, so that a join of a million parts needs no memory on either side. Copies, because
//! a program that changes what it is given must not change what is stored.

use bindery_core::{
    ContentHash, StepError,
    item::{Item, ItemKind},
};
use bindery_engine::{
    context::StepContext,
    part_results::{PartResults, describe},
    workflow::Over,
};
use bindery_files::ScratchFolder;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::{
    fs::File,
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
};

/// What a program is told beside its input, and the files that it may read meanwhile.
#[derive(Debug)]
pub(super) struct Work {
    /// As JSON; none outside of a workflow.
    pub(super) description: Option<Value>,
    /// Removed with it.
    _folder: Option<ScratchFolder>,
}

/// How a program gets what is too long for its request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Delivery {
    /// As files: the program is on this machine.
    Paths,
    /// Inside the request, as far as that goes.
    Inline,
}

/// The most that is put into one request for an endpoint.
const MOST_INLINE: usize = 32 * 1024 * 1024;

/// What intake says of a file.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct FileData {
    size: Option<u64>,
    media_type: Option<String>,
}

/// What a stage says of a page that it has read: where the whole of it is kept, with every word and its box.
#[derive(Debug, Deserialize)]
struct KeptPage {
    content: ContentHash,
}

impl Work {
    /// Work outside of a workflow, of which nothing more is to be said than its input.
    pub(super) const fn none() -> Self {
        Self { description: None, _folder: None }
    }

    /// Looks up what the step works on.
    pub(super) fn look_up(context: &StepContext, delivery: Delivery) -> Result<Self, StepError> {
        let Ok(submission) = context.submission() else { return Ok(Self::none()) };
        let stage = context.stage()?;
        let mut lookup = Lookup { context, delivery, folder: None };
        let mut work = Map::new();
        work.insert("submission".to_owned(), submission.public_id().into());
        work.insert("workflow".to_owned(), submission.workflow.name.to_string().into());
        work.insert("stage".to_owned(), stage.name.to_string().into());
        work.insert("over".to_owned(), stage.over.as_str().into());
        let item = context.item_id().map(|_| context.item()).transpose()?;
        if let Some(item) = &item {
            work.insert("item".to_owned(), describe(item));
            if let Some(file) = context.file_of(item)? {
                work.insert("file".to_owned(), lookup.describe_file(&file, item.id == file.id)?);
            }
            if let Some(before) = PartResults::of_stages_before(context, stage.over)? {
                let results = before.of_item(item.id)?;
                if let Some(page) = kept_page(item, &results).filter(|_| delivery == Delivery::Paths) {
                    work.insert("words_path".to_owned(), path_text(&lookup.fetch(page, "page.json")?));
                }
                work.insert("results".to_owned(), results.into());
            }
        }
        if let Some(aggregation) = &stage.aggregation {
            work.insert("parts".to_owned(), lookup.parts(item.as_ref(), aggregation.counts)?);
        }
        Ok(Self { description: Some(work.into()), _folder: lookup.folder })
    }
}

fn kept_page(item: &Item, results: &Map<String, Value>) -> Option<ContentHash> {
    let mut kept = results.values().rev().filter_map(|result| KeptPage::deserialize(result).ok());
    kept.find(|_| item.kind == ItemKind::Page).map(|page| page.content)
}

struct Lookup<'c> {
    context: &'c StepContext,
    delivery: Delivery,
    folder: Option<ScratchFolder>,
}

impl Lookup<'_> {
    fn describe_file(&mut self, file: &Item, is_wanted: bool) -> Result<Value, StepError> {
        let data: FileData = serde_json::from_str(&file.data).unwrap_or_default();
        let mut described = json!({
            "id": file.public_id(), "name": file.label, "size": data.size, "media_type": data.media_type,
            "sha256": file.content.map(|hash| hash.to_string()),
        });
        if let Some(content) = file.content.filter(|_| is_wanted && self.delivery == Delivery::Paths) {
            described["path"] = path_text(&self.fetch(content, &file_name(file.label.as_deref()))?);
        }
        Ok(described)
    }

    /// The parts that a join has waited for: of one item, or of the submission.
    fn parts(&mut self, whole: Option<&Item>, counted: Over) -> Result<Value, StepError> {
        let Some(results) = PartResults::of_stages_before(self.context, counted)? else { return Ok(Value::Null) };
        let whole = whole.map(|whole| whole.id);
        let mut count = 0_u64;
        match self.delivery {
            Delivery::Paths => {
                let path = self.folder()?.join("parts.jsonl");
                let mut lines = BufWriter::new(File::create_new(&path).map_err(|error| unwritable(&error))?);
                results.visit(whole, |part| {
                    count += 1;
                    writeln!(lines, "{part}").map_err(|error| unwritable(&error))
                })?;
                lines.flush().map_err(|error| unwritable(&error))?;
                Ok(json!({"kind": counted.as_str(), "count": count, "path": path_text(&path)}))
            }
            Delivery::Inline => {
                let (mut parts, mut length) = (Vec::new(), 0);
                results.visit(whole, |part| {
                    length += part.to_string().len();
                    parts.push(part);
                    if length > MOST_INLINE { Err(too_long()) } else { Ok(()) }
                })?;
                Ok(json!({"kind": counted.as_str(), "count": parts.len(), "items": parts}))
            }
        }
    }

    fn folder(&mut self) -> Result<&Path, StepError> {
        if self.folder.is_none() {
            self.folder = Some(ScratchFolder::new().map_err(|error| unwritable(&error))?);
        }
        Ok(self.folder.as_ref().map_or(Path::new(""), |folder| folder.path()))
    }

    fn fetch(&mut self, content: ContentHash, name: &str) -> Result<PathBuf, StepError> {
        let path = self.folder()?.join(name);
        self.context.fetch_blob(content, &path)?;
        Ok(path)
    }
}

/// A name for the copy of a file: what programs tell types by, and nothing that could lead elsewhere.
fn file_name(label: Option<&str>) -> String {
    let last = label.and_then(|label| label.rsplit(['/', '\\']).next()).unwrap_or_default();
    let kept: String = last.chars().filter(|c| c.is_alphanumeric() || " ._-()+,".contains(*c)).collect();
    let kept = kept.trim_matches([' ', '.', '-']);
    // The end has the extension, and names of files have a limit in bytes.
    let mut from = kept.len().saturating_sub(100);
    while !kept.is_char_boundary(from) {
        from += 1;
    }
    match &kept[from..] {
        "" | "parts.jsonl" => "file".to_owned(),
        name => name.to_owned(),
    }
}

fn path_text(path: &Path) -> Value {
    path.display().to_string().into()
}

fn unwritable(error: &io::Error) -> StepError {
    StepError::retry(format!("a temporary file for the program cannot be written: {error}")).named("TemporaryFile")
}

fn too_long() -> StepError {
    let limit = MOST_INLINE / (1024 * 1024);
    let message = format!(
        "the results of the parts are longer than {limit} MB, the most that one request holds; a `command:` gets them as a file"
    );
    StepError::reject(message).named("PartsTooLong")
}

#[cfg(test)]
mod tests {
    use super::file_name;

    #[test]
    fn names_of_copies_lead_nowhere_and_keep_their_ending() {
        for (label, expected) in [
            (Some("in/March invoice.pdf"), "March invoice.pdf"),
            (Some("../../etc/passwd"), "passwd"),
            (Some("-rf.pdf"), "rf.pdf"),
            (Some("a\\b\u{202e}\0.pdf"), "b.pdf"),
            (Some(".."), "file"),
            (Some("parts.jsonl"), "file"),
            (None, "file"),
        ] {
            assert_eq!(file_name(label), expected, "{label:?}");
        }
        let long = file_name(Some(&format!("{}.pdf", "ü".repeat(300))));
        assert!(long.len() <= 100 && long.ends_with("ü.pdf"), "{long}");
    }
}
