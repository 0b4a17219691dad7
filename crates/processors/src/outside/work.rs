//! Which work of a workflow a program is asked about: the submission, the item with what earlier stages have found about
//! it, its file, and behind a join the parts.
//!
//! What is long comes as files in a folder of the call's own, which goes when the call ends: a copy of the received file,
//! the parts as one line of JSON each, so that a join of a million parts needs no memory on either side. Copies, because
//! a program that changes what it is given must not change what is stored. Endpoints get a URL for each file, where this
//! process is reached ([`served`]), and the bytes inside the request elsewhere.

use super::{
    config::Wants,
    envelope::Said,
    returned,
    served::{self, Served},
};
use crate::{
    contract::{
        StageContract,
        given::{FileGiven, ItemGiven, OverGiven, PageGiven, PartsGiven, WorkGiven},
    },
    produced::Produced,
};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use bindery_core::{
    ContentHash, StepError,
    item::{Item, ItemKind},
};
use bindery_engine::{context::StepContext, part_results::PartResults, workflow::Over};
use bindery_files::ScratchFolder;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::{
    fs::{self, File},
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
};

/// What a program is told beside its input, and the files that it may read and write meanwhile.
#[derive(Debug)]
pub(super) struct Work {
    /// As JSON; none outside of a workflow.
    pub(super) description: Option<Value>,
    /// What may be answered; none outside of a workflow.
    pub(super) contract: Option<StageContract>,
    stage: Option<String>,
    item: Option<String>,
    /// Where a program may write files.
    returns: Option<PathBuf>,
    /// Dropped before the folder.
    _served: Vec<Served>,
    /// Removed with it.
    _folder: Option<ScratchFolder>,
}

/// How a program gets what is too long for its request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Delivery {
    /// As files: the program is on this machine.
    Paths,
    /// By URLs where this process is reached, else inside the request, as far as that goes.
    Requests,
}

/// The most that is put into one request for an endpoint.
const MOST_INLINE: usize = 32 * 1024 * 1024;
/// Where the files are that a program is given, and where it writes its own.
const GIVEN: &str = "given";
const RETURNED: &str = "returned";

/// What intake says of a file.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct FileData {
    size: Option<u64>,
    media_type: Option<String>,
}

/// What a stage says of a page that it has read: its text, and where the whole of it is kept, with every word and its box.
#[derive(Debug, Deserialize)]
struct KeptPage {
    content: ContentHash,
    #[serde(default)]
    markdown: Option<String>,
}

impl Work {
    /// Work outside of a workflow, of which nothing more is to be said than its input.
    pub(super) const fn none() -> Self {
        Self {
            description: None,
            contract: None,
            stage: None,
            item: None,
            returns: None,
            _served: Vec::new(),
            _folder: None,
        }
    }

    /// Looks up what the step works on.
    pub(super) fn look_up(context: &StepContext, delivery: Delivery, wants: Wants) -> Result<Self, StepError> {
        let Ok(submission) = context.submission() else { return Ok(Self::none()) };
        let stage = context.stage()?;
        let workflow = context.workflow()?;
        let contract = workflow.index_of(&stage.name).and_then(|index| StageContract::of_stage(workflow, index));
        let mut lookup = Lookup { context, delivery, wants, folder: None, served: Vec::new(), inline: 0 };
        let mut work = WorkGiven {
            submission: submission.public_id(),
            workflow: workflow.name.to_string(),
            stage: stage.name.to_string(),
            over: OverGiven(stage.over.as_str()),
            item: None,
            file: None,
            page: None,
            results: None,
            parts: None,
            folder: None,
        };
        let item = context.item_id().map(|_| context.item()).transpose()?;
        if let Some(item) = &item {
            work.item = Some(lookup.describe_item(item)?);
            if let Some(file) = context.file_of(item)? {
                work.file = Some(lookup.describe_file(&file, item.id == file.id)?);
            }
            if let Some(before) = PartResults::of_stages_before(context, stage.over)? {
                let results = before.of_item(item.id)?;
                work.page = lookup.describe_page(item, &results)?;
                work.results = Some(results);
            }
        }
        if let Some(aggregation) = &stage.aggregation {
            work.parts = lookup.parts(item.as_ref(), aggregation.counts)?;
        }
        let returns = (delivery == Delivery::Paths).then(|| lookup.subfolder(RETURNED)).transpose()?;
        work.folder = returns.as_deref().map(path_text);
        let description = serde_json::to_value(work).map_err(|error| StepError::bug(error.to_string()))?;
        Ok(Self {
            description: Some(without_nulls(description)),
            contract,
            stage: Some(stage.name.to_string()),
            item: item.map(|item| item.public_id()),
            returns,
            _served: lookup.served,
            _folder: lookup.folder,
        })
    }

    /// The stage, for sentences.
    pub(super) fn stage(&self) -> Option<&str> {
        self.stage.as_deref()
    }

    /// Takes away what a try has left that failed.
    pub(super) fn empty_returns(&self) -> Result<(), StepError> {
        let Some(folder) = &self.returns else { return Ok(()) };
        fs::remove_dir_all(folder).and_then(|()| fs::create_dir(folder)).map_err(|error| unwritable(&error))
    }

    /// Keeps what the answer says beside its output.
    pub(super) fn keep(&self, context: &StepContext, output: Value, said: Said) -> Result<Produced, StepError> {
        if let (Some(said), Some(asked)) = (&said.item, &self.item)
            && said != asked
        {
            let message = format!("answered about another item: /item is {said:?}, and was asked about {asked:?}");
            return Err(StepError::bug(message).named("BadAnswer"));
        }
        let files = returned::keep_files(context, self.returns.as_deref(), said.files.unwrap_or_default())?;
        let children = said.children.map(|children| returned::children(children, &files)).transpose()?;
        Ok(Produced {
            output,
            confidence: said.confidence.map(|share| share.0),
            review: said.review.unwrap_or_default(),
            files,
            children,
        })
    }
}

/// What is not there is not written. What stages have found stays as they said it.
fn without_nulls(value: Value) -> Value {
    const OURS: [&str; 3] = ["file", "page", "parts"];
    let Value::Object(fields) = value else { return value };
    let there = fields.into_iter().filter(|(_, value)| !value.is_null());
    let stripped = |(name, value): (String, Value)| match value {
        Value::Object(inner) if OURS.contains(&name.as_str()) => {
            let inner: Map<String, Value> = inner.into_iter().filter(|(_, value)| !value.is_null()).collect();
            (name, Value::Object(inner))
        }
        value => (name, value),
    };
    there.map(stripped).collect()
}

fn kept_page(item: &Item, results: &Map<String, Value>) -> Option<KeptPage> {
    let mut kept = results.values().rev().filter_map(|result| KeptPage::deserialize(result).ok());
    kept.find(|_| item.kind == ItemKind::Page)
}

struct Lookup<'c> {
    context: &'c StepContext,
    delivery: Delivery,
    wants: Wants,
    folder: Option<ScratchFolder>,
    served: Vec<Served>,
    /// How many bytes the request holds that would better be files.
    inline: usize,
}

/// How a file gets to the program.
enum Given {
    Path(String),
    Url(String),
    Inline(Vec<u8>),
}

impl Lookup<'_> {
    fn describe_item(&mut self, item: &Item) -> Result<ItemGiven, StepError> {
        // The bytes of a received file are in `work.file`.
        let own = item.content.filter(|_| item.kind != ItemKind::File && self.delivery == Delivery::Paths);
        let data: Map<String, Value> = serde_json::from_str(&item.data).unwrap_or_default();
        let path = match own {
            Some(content) => {
                Some(path_text(&self.fetch(content, &format!("item-{}", file_name(item.label.as_deref())))?))
            }
            None => None,
        };
        Ok(ItemGiven {
            id: item.public_id(),
            kind: item.kind.to_string(),
            ordinal: item.ordinal,
            label: item.label.clone(),
            parent: item.parent.map(|parent| parent.to_string()),
            data: Some(data).filter(|data| !data.is_empty() && item.kind != ItemKind::File),
            path,
        })
    }

    fn describe_file(&mut self, file: &Item, is_wanted: bool) -> Result<FileGiven, StepError> {
        let data: FileData = serde_json::from_str(&file.data).unwrap_or_default();
        let mut described = FileGiven {
            id: file.public_id(),
            name: file.label.clone(),
            size: data.size,
            media_type: data.media_type,
            sha256: file.content.map(|hash| hash.to_string()),
            path: None,
            url: None,
            content_base64: None,
        };
        if let Some(content) = file.content.filter(|_| is_wanted) {
            let media_type = described.media_type.clone().unwrap_or_else(|| OCTETS.to_owned());
            match self.give_blob(content, &file_name(file.label.as_deref()), &media_type, data.size)? {
                Given::Path(path) => described.path = Some(path),
                Given::Url(url) => described.url = Some(url),
                Given::Inline(bytes) => described.content_base64 = Some(STANDARD.encode(bytes)),
            }
        }
        Ok(described)
    }

    /// What was read of a page: the text always, words and image where the processor wants them.
    fn describe_page(&mut self, item: &Item, results: &Map<String, Value>) -> Result<Option<PageGiven>, StepError> {
        if item.kind != ItemKind::Page {
            return Ok(None);
        }
        let kept = kept_page(item, results);
        let mut page = PageGiven::default();
        if self.wants.words
            && let Some(kept) = &kept
        {
            match self.give_blob(kept.content, "page.json", "application/json", None)? {
                Given::Path(path) => page.words_path = Some(path),
                Given::Url(url) => page.words_url = Some(url),
                Given::Inline(bytes) => page.words = serde_json::from_slice(&bytes).ok(),
            }
        }
        if let Some(dpi) = self.wants.image_dpi
            && let Some(png) = self.context.page_png(item, dpi)?
        {
            page.dpi = Some(dpi.into());
            match self.give_bytes(png, "page.png", "image/png")? {
                Given::Path(path) => page.image_path = Some(path),
                Given::Url(url) => page.image_url = Some(url),
                Given::Inline(bytes) => page.image_base64 = Some(STANDARD.encode(bytes)),
            }
        }
        page.text = kept.and_then(|kept| kept.markdown);
        Ok(Some(page))
    }

    /// The parts that a join has waited for: of one item, or of the submission.
    fn parts(&mut self, whole: Option<&Item>, counted: Over) -> Result<Option<PartsGiven>, StepError> {
        let Some(results) = PartResults::of_stages_before(self.context, counted)? else { return Ok(None) };
        let whole = whole.map(|whole| whole.id);
        let mut given = PartsGiven { kind: counted.as_str().to_owned(), count: 0, path: None, items: None };
        match self.delivery {
            Delivery::Paths => {
                let path = self.subfolder(GIVEN)?.join("parts.jsonl");
                let mut lines = BufWriter::new(File::create_new(&path).map_err(|error| unwritable(&error))?);
                results.visit(whole, |part| {
                    given.count += 1;
                    writeln!(lines, "{part}").map_err(|error| unwritable(&error))
                })?;
                lines.flush().map_err(|error| unwritable(&error))?;
                given.path = Some(path_text(&path));
            }
            Delivery::Requests => {
                let mut parts = Vec::new();
                results.visit(whole, |part| {
                    self.inline += part.to_string().len();
                    parts.push(part);
                    if self.inline > MOST_INLINE { Err(too_long("the results of the parts are")) } else { Ok(()) }
                })?;
                given.count = parts.len() as u64;
                given.items = Some(parts);
            }
        }
        Ok(Some(given))
    }

    fn give_blob(
        &mut self,
        content: ContentHash,
        name: &str,
        media_type: &str,
        size: Option<u64>,
    ) -> Result<Given, StepError> {
        if self.delivery == Delivery::Requests && !served::is_announced() {
            let known = size.and_then(|size| usize::try_from(size).ok()).unwrap_or(0);
            if self.inline + known > MOST_INLINE {
                return Err(too_long(&format!("{name} is")));
            }
            return self.inline(self.context.blob(content)?, name);
        }
        let path = self.fetch(content, name)?;
        self.hand_over(&path, media_type)
    }

    fn give_bytes(&mut self, bytes: Vec<u8>, name: &str, media_type: &str) -> Result<Given, StepError> {
        if self.delivery == Delivery::Requests && !served::is_announced() {
            return self.inline(bytes, name);
        }
        let path = self.subfolder(GIVEN)?.join(name);
        fs::write(&path, bytes).map_err(|error| unwritable(&error))?;
        self.hand_over(&path, media_type)
    }

    fn inline(&mut self, bytes: Vec<u8>, name: &str) -> Result<Given, StepError> {
        self.inline += bytes.len();
        if self.inline > MOST_INLINE { Err(too_long(&format!("{name} is"))) } else { Ok(Given::Inline(bytes)) }
    }

    fn hand_over(&mut self, path: &Path, media_type: &str) -> Result<Given, StepError> {
        if self.delivery == Delivery::Paths {
            return Ok(Given::Path(path_text(path)));
        }
        let served = Served::file(path, media_type).map_err(|error| unwritable(&error))?;
        let served = served.ok_or_else(|| StepError::bug("this process serves no files"))?;
        let url = served.url.clone();
        self.served.push(served);
        Ok(Given::Url(url))
    }

    fn subfolder(&mut self, name: &str) -> Result<PathBuf, StepError> {
        if self.folder.is_none() {
            self.folder = Some(ScratchFolder::new().map_err(|error| unwritable(&error))?);
        }
        let path = self.folder.as_ref().map(|folder| folder.join(name)).unwrap_or_default();
        if !path.is_dir() {
            fs::create_dir(&path).map_err(|error| unwritable(&error))?;
        }
        Ok(path)
    }

    fn fetch(&mut self, content: ContentHash, name: &str) -> Result<PathBuf, StepError> {
        let path = self.subfolder(GIVEN)?.join(name);
        self.context.fetch_blob(content, &path)?;
        Ok(path)
    }
}

/// The media type of bytes of which nobody has said what they are.
const OCTETS: &str = "application/octet-stream";

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
        "" | "parts.jsonl" | "page.json" | "page.png" => "file".to_owned(),
        name => name.to_owned(),
    }
}

fn path_text(path: &Path) -> String {
    path.display().to_string()
}

fn unwritable(error: &io::Error) -> StepError {
    StepError::retry(format!("a temporary file for the program cannot be written: {error}")).named("TemporaryFile")
}

fn too_long(what: &str) -> StepError {
    let limit = MOST_INLINE / (1024 * 1024);
    let message = format!(
        "{what} longer than {limit} MB, the most that one request holds; a `command:` gets files, and so does an endpoint \
         of a worker with `--listen` and `--files-url`, except for parts"
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
