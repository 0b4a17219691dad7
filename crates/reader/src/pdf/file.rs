//! An open PDF file.

use super::{
    about, annotations, attachments, encryption, fonts::FontCache, guard::catch_panics, interpreter::Shared, kind,
    layers::Layers, page, render,
};
use crate::{
    error::{ReadError, ReadResult, check_limit},
    file::OpenFile,
    layout::{PageContent, Repeated, layout},
    model::{About, Attachment, FileType, Page, PageImage, Rect},
    options::{Limits, ReadOptions},
    split,
};
use hayro_syntax::{DecryptionError, LoadPdfError, Pdf, object::Dict};
use std::{
    fmt,
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

/// Opens a PDF file; the bytes are shared, not copied.
pub fn open(bytes: impl Into<Arc<Vec<u8>>>, options: &ReadOptions) -> ReadResult<PdfFile> {
    let bytes = bytes.into();
    options.limits.check_file(bytes.len() as u64)?;
    let password = options.password.as_deref().unwrap_or_default();
    catch_panics("the file", || {
        let mut warnings = Vec::new();
        let pdf = load(&bytes, password).or_else(|error| {
            let open = encryption::with_open_pages(&bytes).and_then(|open| load(&Arc::new(open), "").ok());
            warnings
                .extend(open.as_ref().map(|_| "the files embedded in it are encrypted, and were not read".to_owned()));
            open.ok_or_else(|| load_error(error, options))
        })?;
        let page_count = pdf.pages().len();
        if page_count == 0 {
            return Err(ReadError::damaged("PDF", "it has no pages"));
        }
        check_limit("the number of pages", page_count as u64, options.limits.pages as u64)?;
        let shared = Shared {
            fonts: FontCache::default(),
            layers: Layers::read(pdf.xref()),
            time_per_page: options.limits.time_per_page,
        };
        let catalog = pdf.xref().get::<Dict<'_>>(pdf.xref().root_id()).unwrap_or_default();
        let about = About {
            file_type: FileType::Pdf,
            page_count,
            metadata: about::metadata(&pdf, &catalog),
            outline: about::outline(&catalog, &about::page_numbers(&pdf)),
            warnings,
        };
        let labels = about::labels(&catalog, page_count);
        drop(catalog);
        Ok(PdfFile {
            pdf: Arc::new(pdf),
            shared,
            about,
            labels,
            limits: options.limits.clone(),
            given_up: render::GivenUp::default(),
            repeated: OnceLock::new(),
            sampled: Mutex::default(),
        })
    })
}

fn load(bytes: &Arc<Vec<u8>>, password: &str) -> Result<Pdf, LoadPdfError> {
    let pdf = Pdf::new_with_password(Arc::clone(bytes), password);
    match pdf {
        Err(LoadPdfError::Decryption(DecryptionError::InvalidEncryption)) => {
            let right = encryption::with_key_length(bytes);
            right.map_or(pdf, |right| Pdf::new_with_password(Arc::new(right), password))
        }
        _ => pdf,
    }
}

fn load_error(error: LoadPdfError, options: &ReadOptions) -> ReadError {
    match error {
        LoadPdfError::Decryption(DecryptionError::PasswordProtected) if options.password.is_some() => {
            ReadError::WrongPassword
        }
        LoadPdfError::Decryption(DecryptionError::PasswordProtected) => ReadError::NeedsPassword,
        LoadPdfError::Decryption(DecryptionError::UnsupportedAlgorithm) => {
            ReadError::unsupported("the way in which the file is encrypted")
        }
        LoadPdfError::Decryption(_) => ReadError::damaged("PDF", "its encryption cannot be understood"),
        LoadPdfError::Invalid => ReadError::damaged("PDF", "neither its index nor its pages can be found"),
    }
}

/// A PDF file whose pages can be read from several threads at once.
pub struct PdfFile {
    pdf: Arc<Pdf>,
    shared: Shared,
    about: About,
    labels: Vec<String>,
    limits: Limits,
    given_up: render::GivenUp,
    /// What the pages have in common at their edges; looked for when the first page is read.
    repeated: OnceLock<Repeated>,
    /// The pages that were looked at for that, until they are read themselves.
    sampled: Mutex<Vec<(usize, PageContent)>>,
}

/// So many glyphs of sampled pages are kept for a file; more would cost more memory than taking a page apart again is worth.
const SAMPLED_GLYPHS: usize = 50_000;

impl fmt::Debug for PdfFile {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("PdfFile").field("about", &self.about).finish_non_exhaustive()
    }
}

impl PdfFile {
    fn file_page(&self, index: usize) -> ReadResult<&hayro_syntax::page::Page<'_>> {
        let pages = self.pdf.pages();
        pages.get(index).ok_or(ReadError::NoSuchPage { page: index + 1, count: pages.len() })
    }

    /// What a page shows, before any layout.
    pub fn content(&self, index: usize) -> ReadResult<PageContent> {
        let page = self.file_page(index)?;
        catch_panics(&format!("page {}", index + 1), || Ok(page::content(page, &self.shared)))
    }

    /// Headers and footers are told by a few pages from the middle of the file, whichever page is asked for.
    fn repeated(&self) -> Option<&Repeated> {
        let count = self.about.page_count;
        if count < 2 {
            return None;
        }
        Some(self.repeated.get_or_init(|| {
            let middle = count / 2;
            let sample =
                if count < 5 { (0..count.min(3)).collect() } else { (middle - 1..middle + 3).collect::<Vec<_>>() };
            let pages = sample.into_iter().filter_map(|index| Some((index, self.content(index).ok()?)));
            let pages = pages.collect::<Vec<_>>();
            let repeated = Repeated::look_at(&pages);
            if pages.iter().map(|(_, content)| content.glyphs.len()).sum::<usize>() <= SAMPLED_GLYPHS {
                *self.sampled.lock().unwrap_or_else(PoisonError::into_inner) = pages;
            }
            repeated
        }))
    }

    /// What a page shows, which is known already if it was one of the sampled pages and has not been read since.
    fn content_once(&self, index: usize) -> ReadResult<PageContent> {
        let mut sampled = self.sampled.lock().unwrap_or_else(PoisonError::into_inner);
        let known = sampled.iter().position(|(page, _)| *page == index).map(|place| sampled.swap_remove(place).1);
        drop(sampled);
        known.map_or_else(|| self.content(index), Ok)
    }
}

impl OpenFile for PdfFile {
    fn info(&self) -> &About {
        &self.about
    }

    fn page(&self, index: usize) -> ReadResult<Page> {
        let file_page = self.file_page(index)?;
        let repeated = self.repeated().map(|repeated| repeated.on_page(index));
        let content = self.content_once(index)?;
        let decision = kind::decide(&content);
        let laid = layout(&content, repeated);
        let mut blocks = laid.blocks;
        blocks.extend(
            catch_panics("a comment", || Ok(annotations::comments(file_page, &page::transform(file_page))))
                .unwrap_or_default(),
        );
        let mut warnings = content.warnings;
        if laid.formulas_not_read > 0 {
            let count = laid.formulas_not_read;
            warnings.push(format!("formulas that are given as plain text because they are too involved: {count}"));
        }
        Ok(Page {
            number: index + 1,
            label: self.labels.get(index).filter(|label| !label.is_empty()).cloned(),
            size: Some(content.size),
            rotation: content.rotation,
            kind: decision.kind,
            read_by: decision.read_by,
            reason: decision.reason,
            confidence: decision.confidence,
            blocks,
            words: laid.words,
            warnings,
        })
    }

    /// Headers and footers.
    fn hints(&self) -> Option<String> {
        serde_json::to_string(self.repeated()?).ok()
    }

    fn at_hand(&self) -> Vec<usize> {
        let sampled = self.sampled.lock().unwrap_or_else(PoisonError::into_inner);
        sampled.iter().map(|(index, _)| *index).collect()
    }

    fn take_hints(&self, hints: &str) {
        if self.repeated.get().is_none()
            && let Ok(repeated) = serde_json::from_str::<Option<_>>(hints)
        {
            // Both are the same: it was found out by the same pages. Nothing at all is said where that could not be done.
            let _ = self.repeated.set(repeated.unwrap_or_default());
        }
    }

    fn page_file(&self, index: usize) -> ReadResult<Option<Vec<u8>>> {
        split::page_of(&self.pdf, index).map(Some)
    }

    fn pictures(&self, index: usize) -> ReadResult<Vec<Rect>> {
        self.content(index).map(|content| content.images)
    }

    fn image(&self, index: usize, dpi: f32) -> ReadResult<Option<PageImage>> {
        self.file_page(index)?;
        render::image_in_time(&self.pdf, index, dpi, &self.limits, &self.given_up).map(Some)
    }

    fn attachments(&self) -> ReadResult<Vec<Attachment>> {
        catch_panics("the embedded files", || {
            let xref = self.pdf.xref();
            let catalog = xref.get::<Dict<'_>>(xref.root_id()).unwrap_or_default();
            attachments::read(&catalog, &self.limits)
        })
    }
}
