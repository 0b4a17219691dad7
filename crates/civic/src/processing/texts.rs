//! Texts of files: kept as blobs, and in memory only while somebody reads them.

use super::{
    Workshop,
    documents::{Paper, blob_trouble, store_trouble},
};
use crate::records::{Civic as _, KnownText};
use crate::{
    analyst::{Document, excerpt::excerpt},
    filter::compilation,
    text::DocumentText,
};
use bindery_core::StepError;
use std::sync::{Arc, PoisonError, Weak};

/// A text that is ready to be read, or why it is not worth it.
pub(super) enum Loaded {
    Text { document: Arc<Document>, note: Option<String> },
    Compilation { rule: &'static str, reason: String },
}

impl Workshop {
    /// Keeps the text of a file for good; where pages wait for OCR to be installed, only for now.
    pub(super) async fn keep_text(&self, read: DocumentText) -> Result<KnownText, StepError> {
        let length = read.length() as u64;
        let stored = self.blobs.put(read.text.into_bytes()).await.map_err(blob_trouble)?;
        let text = KnownText {
            content_sha256: read.content_sha256,
            reader: self.text_rules(),
            text: Some(stored.hash),
            length,
            file_type: read.file_type.to_owned(),
            page_count: read.page_count,
            pages_by_ocr: read.pages_by_ocr,
            warnings: read.warnings,
            read_at: Some(self.store.clock().now()),
            ..KnownText::default()
        };
        if !read.lacks_ocr {
            self.store.civic().put_text(text.clone()).await.map_err(store_trouble)?;
        }
        Ok(text)
    }

    /// The whole text of a file.
    pub(super) async fn whole_text(&self, text: &KnownText) -> Result<String, StepError> {
        let Some(hash) = text.text else { return Ok(String::new()) };
        let bytes = self.blobs.get(hash).await.map_err(blob_trouble)?;
        Ok(String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
    }

    /// Of a very long text the pages that say the most.
    pub(super) fn shorten(&self, text: String) -> String {
        match excerpt(&text, self.limits.longest_document) {
            Some(excerpt) => excerpt.text,
            None => text,
        }
    }

    /// The text under the name that an item has for it. Held in memory once, for as long as somebody uses it.
    pub(super) async fn load(&self, paper: &Paper, name: &str) -> Result<Loaded, StepError> {
        let key = (paper.text.content_sha256.clone(), name.to_owned());
        let note = || {
            let is_long = paper.text.length > self.limits.longest_document as u64;
            is_long.then(|| format!("{name}: it is very long, and only the parts that say the most were read"))
        };
        let kept = self.desk.loaded.lock().unwrap_or_else(PoisonError::into_inner).get(&key).and_then(Weak::upgrade);
        if let Some(document) = kept {
            return Ok(Loaded::Text { document, note: note() });
        }
        let whole = self.whole_text(&paper.text).await?;
        let (pages, by_ocr) = (paper.text.page_count, paper.text.pages_by_ocr);
        if let Some((rule, reason)) = compilation::decide(&whole, pages, by_ocr, &self.limits.compilations) {
            return Ok(Loaded::Compilation { rule, reason });
        }
        let document = Arc::new(Document { name: name.to_owned(), text: self.shorten(whole), page_count: pages });
        let mut loaded = self.desk.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        loaded.retain(|_, text| text.strong_count() > 0);
        loaded.insert(key, Arc::downgrade(&document));
        Ok(Loaded::Text { document, note: note() })
    }
}
