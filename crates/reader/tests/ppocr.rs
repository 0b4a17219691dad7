//! PP-OCR on scanned pages with known text. Skipped, with a line that says so, where the models or the pages are absent;
//! where tests are run for others to rely on, absent models are a failure.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use bindery_reader::{
    EngineChoice, Page, ReadOptions, Reader,
    model::ReadBy,
    ocr::{local::LocalEngines, ppocr::PpOcr, tesseract::Tesseract},
    render,
};
use std::{env, fs, path::PathBuf};

/// Where `make setup-test` puts the models.
fn models() -> Option<PathBuf> {
    let path = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let cache = path("XDG_CACHE_HOME").or_else(|| Some(path("HOME")?.join(".cache")));
    path("BINDERY_TEST_OCR_MODELS").or_else(|| Some(cache?.join("bindery/test-tools/ppocr-v6")))
}

fn read(file: &str, choice: EngineChoice) -> Option<Page> {
    let engine = PpOcr::new(models());
    if let Err(error) = engine.check() {
        bindery_testkit::missing(error);
        return None;
    }
    let bytes = fs::read(bindery_testkit::shared(format!("fixtures/documents/{file}"))?).unwrap();
    let engine = LocalEngines::new(Tesseract::default(), engine).choose(choice);
    let reader = Reader::new(ReadOptions { engine: choice, ..ReadOptions::default() }, Some(engine));
    let file = reader.open(bytes, None).unwrap();
    Some(reader.read_page(&*file, 0).unwrap())
}

#[test]
fn a_page_that_lies_on_its_head_or_side_is_read_upright_in_its_order() {
    for (name, rotation) in [("phototest-rotated-180.png", 180), ("phototest-rotated-R.png", 270), ("phototest.tif", 0)]
    {
        let Some(page) = read(&format!("scans/{name}"), EngineChoice::PpOcr) else { return };
        assert_eq!((page.read_by, page.rotation), (ReadBy::Ocr, rotation), "{name}");
        let text = render::text(&page);
        assert!(text.starts_with("This is a lot of 12 point text to test the"), "{name}: {text}");
        assert!(text.trim_end().ends_with("over the lazy fox."), "{name}: {text}");
        let (first, last) = (&page.words[0].bbox, &page.words.last().unwrap().bbox);
        assert!(first.y0 < last.y0 && first.width() > first.height(), "{name}: {first:?} {last:?}");
        assert!(page.reason.contains("PP-OCRv6"), "{}", page.reason);
    }
}

#[test]
fn a_clean_page_stays_with_tesseract_and_a_receipt_goes_to_both() {
    if let Err(error) = Tesseract::default().check(&["eng".to_owned()]) {
        bindery_testkit::missing(error);
        return;
    }
    let Some(page) = read("scans/phototest.tif", EngineChoice::Auto) else { return };
    assert!(page.reason.contains("Tesseract") && !page.reason.contains("PP-OCR"), "{}", page.reason);
    let Some(page) = read("receipts/043.jpg", EngineChoice::Auto) else { return };
    assert!(page.reason.contains("PP-OCRv6 and Tesseract"), "{}", page.reason);
    let text = render::text(&page);
    assert!(text.contains("HEINEKEN") && text.contains("190.00") && text.contains("000416321536"), "{text}");
    let total = page.words.iter().find(|word| word.text == "TOTAL:").unwrap();
    // As people have marked it, in pixels of a picture that is 627 wide.
    let pixels = 627.0 / page.size.unwrap().width;
    let found = [total.bbox.x0, total.bbox.y0, total.bbox.x1, total.bbox.y1].map(|side| side * pixels);
    let near = found.iter().zip([25.0_f32, 955.0, 176.0, 1004.0]).all(|(side, marked)| (side - marked).abs() < 12.0);
    assert!(near, "{found:?}");
}

#[test]
fn a_receipt_that_is_not_narrow_goes_to_both_where_tesseract_is_unsure_of_many_words() {
    if let Err(error) = Tesseract::default().check(&["eng".to_owned()]) {
        bindery_testkit::missing(error);
        return;
    }
    let Some(page) = read("receipts/341.jpg", EngineChoice::Auto) else { return };
    assert!(page.reason.contains("PP-OCRv6 and Tesseract"), "{}", page.reason);
    let text = render::text(&page);
    for word in ["RM40.00", "RM50.00", "RM10.00", "16.00", "24.00", "RETURNABLE"] {
        assert!(text.to_uppercase().contains(word), "{word} is missing: {text}");
    }
}
