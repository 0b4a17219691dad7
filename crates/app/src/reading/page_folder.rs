//! `--split`: a folder with each page as files of its own, and all pages combined once every one of them is there.
//!
//! ```text
//! report.pdf.pages/
//!   page_001.pdf     the page alone (PDF); page_001.png where the file is a picture; neither where it has no printed pages
//!   page_001.md      "## Page 1", and its text
//!   page_001.json    its words, with boxes in pixels
//!   manifest.json    {"documentId": "report.pdf", "pages": 2}
//!   combined.json    {"documentId", "type", "pageCount", "pages"}
//!   words.json       the words of all pages
//! ```
//!
//! A page that could not be read has no Markdown, and then nothing is combined: the gap is named, and reading that page
//! again fills it.

use bindery_reader::{
    About, OpenFile, ReadError, ReadPage,
    combine::{self, COMBINED, COMBINED_WORDS, Combined, Waiting},
    image::raster,
    model::FileType,
    render,
    split::{self, MANIFEST, Manifest, page_name},
};
use serde::Serialize;
use std::{
    fs, io,
    path::{Path, PathBuf},
};

/// Pages on their way into the folder.
#[derive(Debug)]
pub struct PageFolder {
    folder: PathBuf,
    manifest: Manifest,
    kind: FileType,
    pages: Pages,
    dpi: f32,
}

/// What a page is as a file of its own.
#[derive(Debug)]
enum Pages {
    Pdf,
    Pictures,
    /// Markdown is all there is.
    None,
}

/// What came of it.
#[derive(Debug)]
pub struct Finished {
    pub folder: PathBuf,
    /// What the combined document waits for, if it does.
    pub waiting: Option<Waiting>,
}

impl PageFolder {
    /// Makes the folder. What an earlier run left is removed, unless only some pages of the same file are read again.
    pub fn open(folder: PathBuf, id: &str, about: &About, only_some: bool, dpi: f32) -> io::Result<Self> {
        fs::create_dir_all(&folder)?;
        let manifest = Manifest { document_id: id.to_owned(), pages: about.page_count };
        let is_same = only_some && Manifest::read_from(&folder).is_ok_and(|old| old.as_ref() == Some(&manifest));
        remove_old(&folder, is_same)?;
        let kind = about.file_type;
        let is_picture = matches!(
            kind,
            FileType::Png | FileType::Jpeg | FileType::Tiff | FileType::Bmp | FileType::WebP | FileType::Gif
        );
        let pages = match kind {
            FileType::Pdf => Pages::Pdf,
            _ if is_picture => Pages::Pictures,
            _ => Pages::None,
        };
        Ok(Self { folder, manifest, kind, pages, dpi })
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The path of something that belongs to a page.
    pub fn path(&self, number: usize, ending: &str) -> PathBuf {
        self.folder.join(format!("{}.{ending}", page_name(number)))
    }

    /// Writes what a page is. An error of the page's own file is given back; its text is written all the same.
    pub fn page(&self, file: &dyn OpenFile, read: &ReadPage) -> io::Result<Option<ReadError>> {
        let number = read.page.number;
        // A page that cannot be read any more must not look as if it had been.
        for ending in ["md", "json"] {
            remove(&self.path(number, ending))?;
        }
        let own = self.own_file(file, number);
        if let Ok(Some((ending, bytes))) = &own {
            bindery_files::write(self.path(number, ending), bytes)?;
        }
        if read.error.is_none() {
            put_json(&self.path(number, "json"), &render::page_words(&read.page, self.dpi))?;
            let markdown = combine::page_markdown(number, &render::markdown(&read.page));
            bindery_files::write(self.path(number, "md"), markdown)?;
        }
        Ok(own.err())
    }

    fn own_file(&self, file: &dyn OpenFile, number: usize) -> Result<Option<(&'static str, Vec<u8>)>, ReadError> {
        match &self.pages {
            Pages::Pdf => Ok(file.page_file(number - 1)?.map(|page| ("pdf", page))),
            Pages::Pictures => {
                let Some(picture) = file.image(number - 1, self.dpi)? else { return Ok(None) };
                let png = raster::to_png(&picture).map_err(|what| ReadError::damaged(self.kind.name(), what))?;
                Ok(Some(("png", png)))
            }
            Pages::None => Ok(None),
        }
    }

    /// Writes the manifest, and what the pages make together if all of them are there.
    pub fn finish(self) -> io::Result<Finished> {
        let Self { folder, manifest, kind, .. } = self;
        manifest.write_to(&folder)?;
        let waiting = match combine::combine_folder(&folder, &folder, kind.name())? {
            Combined::Complete(document) => {
                if let Combined::Complete(words) = combine::combine_words(&folder, &folder)? {
                    put_json(&folder.join(COMBINED_WORDS), &words)?;
                }
                put_json(&folder.join(COMBINED), &document)?;
                None
            }
            Combined::Waiting(waiting) => Some(waiting),
        };
        Ok(Finished { folder, waiting })
    }
}

fn put_json(file: &Path, value: &impl Serialize) -> io::Result<()> {
    bindery_files::write(file, serde_json::to_vec(value)?)
}

/// A link, a pipe or a device was put there by somebody, and stays.
fn remove(file: &Path) -> io::Result<()> {
    if !fs::symlink_metadata(file).is_ok_and(|about| about.is_file()) {
        return Ok(());
    }
    match fs::remove_file(file) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Removes what is made of all pages, and the pages too unless they are kept. Files of other names stay.
fn remove_old(folder: &Path, keep_pages: bool) -> io::Result<()> {
    for name in [COMBINED, COMBINED_WORDS, MANIFEST] {
        remove(&folder.join(name))?;
    }
    if keep_pages {
        return Ok(());
    }
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let number = path.file_stem().and_then(|stem| stem.to_str()?.strip_prefix("page_")?.parse().ok());
        let is_ours =
            path.extension().is_some_and(|ending| ["pdf", "png", "md", "json"].iter().any(|ours| ending == *ours));
        if is_ours && number.is_some_and(|number| path.file_stem() == Some(split::page_name(number).as_ref())) {
            remove(&path)?;
        }
    }
    Ok(())
}
