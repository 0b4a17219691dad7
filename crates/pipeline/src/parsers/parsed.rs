//! What a parser made of a file, in one shape for all parsers.

use super::compare::words;
use crate::borders::Gap;
use bindery_core::{ContentHash, StepError};
use bindery_engine::{Extracted, context::StepContext, processor::NewArtifact};
use bindery_reader::model::Metadata;
use serde::{Deserialize, Serialize};

/// What a parser says of a file. Which of it there is depends on the parser.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct About {
    #[serde(rename = "type")]
    pub(super) file_type: String,
    /// Of what a service is sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) media_type: Option<String>,
    /// Of what is decoded here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) encoding: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) pages: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) metadata: Option<Metadata>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) warnings: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) by_ocr: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tables: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) missing: Option<Vec<Gap>>,
    /// `text` or `layout`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) read_as: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) model: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) api_version: Option<String>,
}

/// A text that was kept, with what is known of it.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Parsed {
    about: About,
    words: usize,
    characters: usize,
    content: ContentHash,
    bytes: u64,
    /// What a service said, where one was asked, and how long that is.
    raw: Option<(ContentHash, u64)>,
}

/// The result of a parser, with the keys under which it is stored.
#[derive(Debug, Serialize)]
pub(super) struct ParsedFile {
    #[serde(flatten)]
    about: About,
    words: usize,
    characters: usize,
    content: ContentHash,
    bytes: u64,
    parser: &'static str,
    markdown: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    json: Option<String>,
}

impl Parsed {
    /// Puts a text into the blob store. `about` has what only its parser knows, `raw` is what a service said.
    pub(super) fn keep(
        context: &StepContext,
        markdown: &str,
        about: About,
        raw: Option<(ContentHash, u64)>,
    ) -> Result<Self, StepError> {
        let stored = context.put_blob(markdown.as_bytes().to_vec())?;
        let (words, characters) = (words(markdown).count(), markdown.chars().count());
        Ok(Self { about, words, characters, content: stored.hash, bytes: stored.size, raw })
    }

    /// What it says of the text, and the text under a readable key.
    pub(super) fn finish(
        self,
        context: &StepContext,
        parser: &'static str,
    ) -> Result<Extracted<ParsedFile>, StepError> {
        let item = context.item()?.id;
        let Self { about, words, characters, content, bytes, raw } = self;
        let artifact = |ending: &str, media_type: &str, hash: ContentHash, size: u64| NewArtifact {
            key: format!("text-docs/{item}.{parser}.{ending}"),
            hash,
            size,
            media_type: media_type.to_owned(),
        };
        let text = artifact("md", "text/markdown", content, bytes);
        let raw = raw.map(|(hash, size)| artifact("json", "application/json", hash, size));
        let (markdown, json) = (text.key.clone(), raw.as_ref().map(|raw| raw.key.clone()));
        let output = ParsedFile { about, words, characters, content, bytes, parser, markdown, json };
        Ok(Extracted { artifacts: [text].into_iter().chain(raw).collect(), ..Extracted::new(output) })
    }
}
