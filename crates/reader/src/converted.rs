//! A file that was converted as a whole when it was opened: office files, markup, mails, plain text, archives.
//!
//! Such files have no printed pages, so there is nothing to draw; what was read is kept and handed out.

use crate::{
    error::{ReadError, ReadResult},
    file::OpenFile,
    model::{About, Attachment, AttachmentName, FileType, Metadata, OutlineEntry, Page, PageImage, PageKind, ReadBy},
    options::Limits,
};

#[derive(Debug, Clone)]
pub struct ConvertedFile {
    pub about: About,
    pub pages: Vec<Page>,
    pub attachments: Vec<Attachment>,
}

impl ConvertedFile {
    /// A file with these pages. They are numbered in their order, and a page on which nothing was found is said to be
    /// blank.
    pub fn new(file_type: FileType, metadata: Metadata, mut pages: Vec<Page>) -> Self {
        for (index, page) in pages.iter_mut().enumerate() {
            page.number = index + 1;
            if page.blocks.is_empty() {
                page.kind = PageKind::Blank;
                page.read_by = ReadBy::Nothing;
                "there is no text".clone_into(&mut page.reason);
            }
        }
        let about = About { file_type, page_count: pages.len(), metadata, outline: Vec::new(), warnings: Vec::new() };
        Self { about, pages, attachments: Vec::new() }
    }

    #[must_use]
    pub fn with_attachments(mut self, attachments: Vec<Attachment>) -> Self {
        self.attachments = attachments;
        self
    }

    #[must_use]
    pub fn with_warnings(mut self, warnings: Vec<String>) -> Self {
        self.about.warnings.extend(warnings);
        self
    }

    #[must_use]
    pub fn with_outline(mut self, outline: Vec<OutlineEntry>) -> Self {
        self.about.outline = outline;
        self
    }

    /// Leaves out the pages over the limit, and says so.
    #[must_use]
    pub fn limit_pages(mut self, limits: &Limits) -> Self {
        let count = self.pages.len();
        if count > limits.pages {
            self.pages.truncate(limits.pages);
            self.about.page_count = limits.pages;
            self.about.warnings.push(format!("only the first {} of {count} pages were read", limits.pages));
        }
        self
    }
}

impl OpenFile for ConvertedFile {
    fn info(&self) -> &About {
        &self.about
    }

    fn page(&self, index: usize) -> ReadResult<Page> {
        let missing = || ReadError::NoSuchPage { page: index.saturating_add(1), count: self.pages.len() };
        self.pages.get(index).cloned().ok_or_else(missing)
    }

    fn is_converted(&self) -> bool {
        true
    }

    fn image(&self, _index: usize, _dpi: f32) -> ReadResult<Option<PageImage>> {
        Ok(None)
    }

    fn attachments(&self) -> ReadResult<Vec<Attachment>> {
        Ok(self.attachments.clone())
    }

    fn attachment_names(&self) -> ReadResult<Vec<AttachmentName>> {
        let name = |attachment: &Attachment| AttachmentName {
            name: attachment.name.clone(),
            media_type: attachment.media_type.clone(),
        };
        Ok(self.attachments.iter().map(name).collect())
    }

    fn attachment(&self, index: usize) -> ReadResult<Option<Vec<u8>>> {
        Ok(self.attachments.get(index).map(|attachment| attachment.bytes.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Block, BlockKind, Inlines};

    #[test]
    fn pages_are_numbered_and_a_missing_one_is_named() {
        let mut full = Page::converted(0);
        full.blocks.push(Block::body(BlockKind::Paragraph { text: Inlines::plain("a") }));
        let file = ConvertedFile::new(FileType::Text, Metadata::default(), vec![full, Page::converted(0)]);
        assert_eq!(file.info().page_count, 2);
        assert_eq!(file.page(0).unwrap().number, 1);
        assert_eq!(file.page(0).unwrap().kind, PageKind::Text);
        assert_eq!(file.page(1).unwrap().kind, PageKind::Blank);
        assert_eq!(file.page(2).unwrap_err().to_string(), "page 3 does not exist; the file has 2");
        assert_eq!(file.image(0, 100.0).unwrap(), None);
    }

    #[test]
    fn pages_over_the_limit_are_left_out_and_counted() {
        let pages = vec![Page::converted(1), Page::converted(2), Page::converted(3)];
        let limits = Limits { pages: 2, ..Limits::default() };
        let file = ConvertedFile::new(FileType::Text, Metadata::default(), pages).limit_pages(&limits);
        assert_eq!(file.about.page_count, 2);
        assert_eq!(file.about.warnings, ["only the first 2 of 3 pages were read"]);
    }
}
