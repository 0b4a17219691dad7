//! What a program gets beside its input: `work` of its request, key by key.

use super::shape::{Described, described};
use serde::Serialize;
use serde_json::{Map, Value, json};

described! {
    /// Which work of a workflow a program is asked about.
    #[derive(Debug, Serialize)]
    open struct WorkGiven {
        /// The submission's id.
        submission: String,
        /// The workflow's name.
        workflow: String,
        /// The stage's name.
        stage: String,
        /// What the stage runs once for: submission, file, document or page.
        over: OverGiven,
        /// The file, page or document that is worked on; missing for the submission as a whole.
        item: Option<ItemGiven>,
        /// The received file that the item is, or was taken from.
        file: Option<FileGiven>,
        /// What was read of the page; missing where no stage has read it.
        page: Option<PageGiven>,
        /// What all earlier stages have found about the same item, by stage. Where a stage has several processors: by processor.
        results: Option<Map<String, Value>>,
        /// The parts that the stage's `aggregation` has waited for.
        parts: Option<PartsGiven>,
        /// For a `command`: an empty folder of this call. What files it holds when the program has answered are kept with
        /// the result.
        folder: Option<String>,
    }
}

/// The value of `over`.
#[derive(Debug, Serialize)]
#[serde(transparent)]
pub(crate) struct OverGiven(pub(crate) &'static str);

impl Described for OverGiven {
    fn schema() -> Value {
        json!({"enum": ["submission", "file", "document", "page"]})
    }
}

described! {
    /// An item.
    #[derive(Debug, Serialize)]
    open struct ItemGiven {
        /// By which answers and results name it.
        id: String,
        /// file, page or document.
        kind: String,
        /// Its place among its siblings, from 0.
        ordinal: i64,
        /// What people call it.
        label: Option<String>,
        /// The id of the item that it was taken from.
        parent: Option<String>,
        /// What was said of it when it was made: by intake, or by the stage that has taken its file apart.
        data: Option<Map<String, Value>>,
        /// For a `command`: where the bytes are that it was made with, if any.
        path: Option<String>,
    }
}

described! {
    /// A received file.
    #[derive(Debug, Serialize)]
    open struct FileGiven {
        /// The file's id.
        id: String,
        /// Its name, with folders as it was taken in.
        name: Option<String>,
        /// In bytes.
        size: Option<u64>,
        /// What its name says that it is, such as application/pdf.
        media_type: Option<String>,
        /// The hash of its bytes, in hexadecimal.
        sha256: Option<String>,
        /// For a `command` over files: a copy of the file, which goes when the program ends.
        path: Option<String>,
        /// For an endpoint over files, where the worker serves files (`--files-url`): answers GET with the bytes until the
        /// endpoint has answered.
        url: Option<String>,
        /// For an endpoint over files, where the worker serves none: the bytes, up to 32 MB.
        content_base64: Option<String>,
    }
}

described! {
    /// What was read of a page.
    #[derive(Debug, Default, Serialize)]
    open struct PageGiven {
        /// Its text, as Markdown.
        text: Option<String>,
        /// With `wants: [words]`, for a `command`: a JSON file with every word and its box.
        words_path: Option<String>,
        /// With `wants: [words]`, for an endpoint: the same by GET.
        words_url: Option<String>,
        /// With `wants: [words]`, for an endpoint whose worker serves no files: the same inline.
        words: Option<Value>,
        /// With `wants: [image]`, for a `command`: the page as PNG.
        image_path: Option<String>,
        /// With `wants: [image]`, for an endpoint: the same by GET.
        image_url: Option<String>,
        /// With `wants: [image]`, for an endpoint whose worker serves no files: the same inline.
        image_base64: Option<String>,
        /// The dots per inch of the image.
        dpi: Option<u64>,
    }
}

described! {
    /// The parts behind a join.
    #[derive(Debug, Serialize)]
    open struct PartsGiven {
        /// What they are: file, page or document.
        kind: String,
        /// How many there are.
        count: u64,
        /// For a `command`: a file with one line of JSON for each part.
        path: Option<String>,
        /// For an endpoint: the parts themselves, up to 32 MB.
        items: Option<Vec<Value>>,
    }
}

described! {
    /// A part: a line of `parts.path`, an entry of `parts.items`.
    #[derive(Debug, Serialize)]
    open struct PartGiven {
        /// The part's id.
        id: String,
        /// file, page or document.
        kind: String,
        /// Its place among its siblings, from 0.
        ordinal: i64,
        /// What people call it.
        label: Option<String>,
        /// The id of the item that it was taken from.
        parent: Option<String>,
        /// What the stages over it have found, by stage.
        results: Map<String, Value>,
        /// Where a stage has failed: stage, kind and message.
        errors: Vec<ErrorGiven>,
    }
}

described! {
    /// A stage that has failed on a part.
    #[derive(Debug, Serialize)]
    open struct ErrorGiven {
        /// The stage's name.
        stage: String,
        /// A name that reports group by.
        kind: String,
        /// One sentence.
        message: String,
    }
}

described! {
    /// A document, as `field_extractor` makes it and later stages get it.
    #[derive(Debug, Serialize)]
    open struct DocumentGiven {
        /// Its type, such as invoice.
        doc_type: String,
        /// The numbers of its pages in the file, from 1.
        page_indices: Vec<u64>,
        /// The name of the file.
        file: Option<String>,
        /// How sure its type is, from 0 to 1.
        type_confidence: f64,
        /// Its fields with their evidence (`fields`), rows of tables (`rows`), checks, and reasons for review.
        extraction: ExtractionGiven,
    }
}

described! {
    /// What was read of a document.
    #[derive(Debug, Serialize)]
    open struct ExtractionGiven {
        /// By name.
        fields: std::collections::BTreeMap<String, FieldGiven>,
        /// Why a person should look, one sentence each.
        needs_review: Vec<String>,
    }
}

described! {
    /// A field with its evidence.
    #[derive(Debug, Serialize)]
    open struct FieldGiven {
        /// As the page prints it.
        value: String,
        /// In one form for all papers: 1234.50, 2026-03-14.
        normalised: String,
        /// From 0 to 1.
        confidence: f64,
        /// How it was found; `program` for one that a program has stated.
        tier: String,
    }
}
