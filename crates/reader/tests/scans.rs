//! Tesseract on scanned pages with known text. Skipped, with a line that says so, where Tesseract or the pages are absent.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]
#![expect(clippy::print_stdout, reason = "a test that is skipped says so")]

use bindery_reader::{
    ReadError, ReadOptions,
    model::{PageKind, ReadBy},
    ocr::tesseract::Tesseract,
    read::Reader,
    render,
};
use std::{fs, path::PathBuf, sync::Arc};

const SCANS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/fixtures/documents/scans");

fn scan(name: &str) -> Option<Vec<u8>> {
    let engine = Tesseract::default();
    if let Err(error) = engine.check(&["eng".to_owned()]) {
        println!("skipped: {error}");
        return None;
    }
    let file = PathBuf::from(SCANS).join(name);
    let bytes = fs::read(&file).ok();
    if bytes.is_none() {
        println!("skipped: {} is absent", file.display());
    }
    bytes
}

fn reader(languages: &[&str]) -> Reader {
    let languages = languages.iter().map(ToString::to_string).collect();
    Reader::new(ReadOptions { languages, ..ReadOptions::default() }, Some(Arc::new(Tesseract::default())))
}

#[test]
fn a_scan_is_read_and_its_words_lie_where_they_are_printed() {
    let Some(bytes) = scan("phototest.tif") else { return };
    let reader = reader(&["eng"]);
    let file = reader.open(bytes, None).unwrap();
    let page = reader.read_page(&*file, 0).unwrap();
    assert_eq!((page.kind, page.read_by, page.rotation), (PageKind::Scan, ReadBy::Ocr, 0));
    assert!(render::text(&page).starts_with("This is a lot of 12 point text to test the"));
    assert!(page.confidence.unwrap() > 0.9 && page.reason.contains("Tesseract 5"), "{}", page.reason);
    let (first, last) = (&page.words[0], page.words.last().unwrap());
    assert_eq!((first.text.as_str(), last.text.as_str()), ("This", "fox."));
    assert!(first.bbox.y0 < last.bbox.y0);
}

#[test]
fn pages_on_their_head_or_side_are_read_upright() {
    for (name, rotation) in [("phototest-rotated-180.png", 180), ("phototest-rotated-R.png", 270)] {
        let Some(bytes) = scan(name) else { return };
        let reader = reader(&["eng"]);
        let file = reader.open(bytes, None).unwrap();
        let page = reader.read_page(&*file, 0).unwrap();
        assert_eq!(page.rotation, rotation, "{name}");
        let size = page.size.unwrap();
        assert!(size.width > size.height, "{name} is wider than high once upright");
        let (first, second) = (&page.words[0], &page.words[1]);
        assert_eq!((first.text.as_str(), second.text.as_str()), ("This", "is"), "{name}");
        assert!(first.bbox.x1 < second.bbox.x0 && first.bbox.width() > first.bbox.height(), "{name}: {first:?}");
        let picture = reader.picture_of(&*file, &page, 300.0).unwrap().unwrap();
        assert!(picture.width > picture.height, "the picture is turned with the page");
    }
}

#[test]
fn a_language_that_is_not_installed_is_named_with_what_to_install() {
    let Some(bytes) = scan("phototest.tif") else { return };
    let reader = reader(&["eng", "xyz"]);
    let file = reader.open(bytes, None).unwrap();
    let error = reader.read_page(&*file, 0).unwrap_err();
    assert!(matches!(error, ReadError::NoOcr { .. }));
    assert!(error.to_string().contains("the language xyz (on Debian: apt-get install tesseract-ocr-xyz"), "{error}");
}
