//! Tesseract on scanned pages with known text. Skipped, with a line that says so, where Tesseract or the pages are absent.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

#[allow(dead_code, reason = "other tests need more of it")]
mod made_pdf;

use bindery_reader::{
    OpenFile, ReadError, ReadOptions,
    model::{PageImage, PageKind, ReadBy},
    ocr::{OcrEngine, OcrRequest, tesseract::Tesseract},
    read::Reader,
    render,
};
use std::{fs, sync::Arc, time::Duration};

fn scan(name: &str) -> Option<Vec<u8>> {
    let engine = Tesseract::default();
    if let Err(error) = engine.check(&["eng".to_owned()]) {
        bindery_testkit::missing(error);
        return None;
    }
    let file = bindery_testkit::shared(format!("fixtures/documents/scans/{name}"))?;
    Some(fs::read(file).unwrap())
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

#[test]
fn goods_and_prices_of_a_receipt_stand_in_one_line() {
    let engine = Tesseract::default();
    if let Err(error) = engine.check(&["eng".to_owned()]) {
        bindery_testkit::missing(error);
        return;
    }
    let goods = [
        ("Offset paper", "12.40"),
        ("Black ink", "8.15"),
        ("Glue", "3.60"),
        ("Cover board", "22.75"),
        ("Thread", "1.95"),
        ("Needles", "4.30"),
        ("Linen tape", "6.85"),
        ("Total", "60.00"),
    ];
    let mut content = made_pdf::lines(60, 740, 14, "F2", &["HARBOUR STORES"]);
    for (row, (name, price)) in (0..).zip(goods) {
        content += &made_pdf::lines(20, 690 - 40 * row, 12, "F1", &[name]);
        content += &made_pdf::lines(225, 690 - 40 * row, 12, "F1", &[price]);
    }
    let whole = made_pdf::Sample::of(&[&content]).open().image(0, 200.0).unwrap().unwrap();
    // The left half of the page is a strip of paper.
    let (width, channels) = (whole.width as usize / 2 - 50, usize::from(whole.channels));
    let rows = whole.pixels.chunks(whole.width as usize * channels);
    let pixels = rows.flat_map(|row| row[..width * channels].to_vec()).collect();
    let strip = PageImage { width: u32::try_from(width).unwrap(), pixels, ..whole };
    let request =
        OcrRequest { languages: vec!["eng".to_owned()], find_orientation: true, time: Duration::from_secs(60) };
    let page = engine.read(&strip, &request).unwrap();
    for (name, price) in goods {
        let line_of = |text: &str| page.words.iter().find(|word| word.text == text).map(|word| word.line);
        let first = name.split(' ').next().unwrap();
        assert!(line_of(first).is_some(), "{first} is not among {:?}", page.words);
        assert_eq!(line_of(first), line_of(price), "{name} and {price}");
    }
}

#[test]
fn grey_print_on_grey_paper_is_read() {
    let engine = Tesseract::default();
    if let Err(error) = engine.check(&["eng".to_owned()]) {
        bindery_testkit::missing(error);
        return;
    }
    let sentences = [
        "The harbour was rebuilt after the great fire,",
        "and ships from all towns came back to it.",
        "Nobody counts them now.",
    ];
    let content = made_pdf::lines(60, 700, 12, "F1", &sentences);
    let page = made_pdf::Sample::of(&[&content]).open().image(0, 200.0).unwrap().unwrap();
    // Print that is a sixth darker than its paper, with the noise of a sensor.
    let mut random = 19_u32;
    let noisy = page.pixels.iter().map(|value| {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let noise = i32::try_from(random >> 29).unwrap() - 4;
        u8::try_from((150 + i32::from(*value) * 30 / 255 + noise).clamp(0, 255)).unwrap()
    });
    let grey = PageImage { pixels: noisy.collect(), ..page };
    let request =
        OcrRequest { languages: vec!["eng".to_owned()], find_orientation: true, time: Duration::from_secs(60) };
    let words: Vec<String> = engine.read(&grey, &request).unwrap().words.into_iter().map(|word| word.text).collect();
    assert_eq!(words.join(" "), sentences.join(" "));
}

#[test]
fn the_totals_of_real_receipts_are_read() {
    for (name, total) in [("070.jpg", "141.50"), ("508.jpg", "16.00")] {
        let Some(bytes) = scan(&format!("../receipts/{name}")) else { return };
        let reader = reader(&["eng"]);
        let file = reader.open(bytes, None).unwrap();
        let text = render::text(&reader.read_page(&*file, 0).unwrap());
        assert!(text.contains(total), "{name}: {total} is not in\n{text}");
    }
}
