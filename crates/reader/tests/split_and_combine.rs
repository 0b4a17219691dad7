//! A PDF taken apart, its pages read, and put together again: the steps of a document through the reader.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use bindery_reader::{
    OcrMode, ReadError, ReadOptions,
    combine::{Combined, CombinedDocument, Waiting, combine_folder, combine_words, page_markdown},
    error::ReadResult,
    model::{PageImage, PageKind, ReadBy, Rect},
    ocr::{OcrEngine, OcrPage, OcrRequest, OcrWord},
    read::Reader,
    render,
    split::{MANIFEST, Manifest, SplitPdf, page_name},
};
use std::{fmt::Write as _, fs, sync::Arc};

/// A PDF of pages that say "Page number N"; those in `scanned` show a picture instead. Everything about the pages is
/// inherited from their parent.
fn pdf(pages: usize, scanned: &[usize]) -> Vec<u8> {
    let mut objects = vec![
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        String::new(),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>".to_owned(),
        // A grey picture of 4 by 4 pixels, half dark.
        "<< /Type /XObject /Subtype /Image /Width 4 /Height 4 /ColorSpace /DeviceGray /BitsPerComponent 8 /Length 32 \
         /Filter /ASCIIHexDecode >>\nstream\n00FF00FF00FF00FF00FF00FF00FF00FF\nendstream"
            .to_owned(),
    ];
    let mut kids = String::new();
    for number in 1..=pages {
        let content = if scanned.contains(&number) {
            "q 612 0 0 792 0 0 cm /Scan Do Q".to_owned()
        } else {
            format!("BT /Body 24 Tf 72 700 Td (Page number {number} of the report) Tj ET")
        };
        let place = objects.len() + 1;
        let _ = write!(kids, "{place} 0 R ");
        objects.push(format!("<< /Type /Page /Parent 2 0 R /Contents {} 0 R >>", place + 1));
        objects.push(format!("<< /Length {} >>\nstream\n{content}\nendstream", content.len()));
    }
    objects[1] = format!(
        "<< /Type /Pages /Kids [ {kids}] /Count {pages} /MediaBox [ 0 0 612 792 ] \
         /Resources << /Font << /Body 3 0 R >> /XObject << /Scan 4 0 R >> >> >>"
    );
    let mut bytes = b"%PDF-1.4\n".to_vec();
    let mut starts = Vec::new();
    for (index, object) in objects.iter().enumerate() {
        starts.push(bytes.len());
        bytes.extend_from_slice(format!("{} 0 obj\n{object}\nendobj\n", index + 1).as_bytes());
    }
    let table = bytes.len();
    let mut end = format!("xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1);
    for start in starts {
        let _ = writeln!(end, "{start:010} 00000 n ");
    }
    let _ = write!(end, "trailer\n<< /Size {} /Root 1 0 R >>\nstartxref\n{table}\n%%EOF\n", objects.len() + 1);
    bytes.extend_from_slice(end.as_bytes());
    bytes
}

/// An engine that always reads the same, and says what it was asked for.
#[derive(Debug)]
struct Parrot;

impl OcrEngine for Parrot {
    fn name(&self) -> String {
        "Parrot".to_owned()
    }

    fn read(&self, image: &PageImage, request: &OcrRequest) -> ReadResult<OcrPage> {
        assert_eq!(request.languages, ["deu"]);
        let word = |text: &str, left: f32| OcrWord {
            text: text.to_owned(),
            bbox: Rect::new(left, 100.0, left + 90.0, 140.0),
            confidence: 0.8,
            line: 1,
            paragraph: 1,
            block: 1,
        };
        let words = vec![word("read", 100.0), word("aloud", 200.0)];
        let (width, height, dpi) = (image.width, image.height, image.dpi);
        Ok(OcrPage { words, confidence: Some(0.8), width, height, dpi, ..OcrPage::default() })
    }
}

fn reader(ocr: OcrMode) -> Reader {
    let options = ReadOptions { ocr, languages: vec!["deu".to_owned()], ..ReadOptions::default() };
    Reader::new(options, Some(Arc::new(Parrot)))
}

fn text_of(reader: &Reader, pdf: Vec<u8>) -> String {
    let file = reader.open(pdf, None).unwrap();
    assert_eq!(file.info().page_count, 1);
    render::text(&reader.read_page(&*file, 0).unwrap())
}

#[test]
fn s003_15_a_pdf_becomes_one_file_for_each_page_and_then_a_manifest() {
    let folder = tempfile::tempdir().unwrap();
    let split = SplitPdf::open(pdf(12, &[]), &ReadOptions::default()).unwrap();
    let manifest = split.write_to(folder.path(), "report").unwrap();
    assert_eq!(manifest, Manifest { document_id: "report".to_owned(), pages: 12 });
    let json = fs::read_to_string(folder.path().join(MANIFEST)).unwrap();
    assert_eq!(json, r#"{"documentId":"report","pages":12}"#);
    let mut names: Vec<String> =
        fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    assert_eq!(names.len(), 13);
    assert_eq!((names[0].as_str(), names[1].as_str(), names[12].as_str()), (MANIFEST, "page_001.pdf", "page_012.pdf"));
    for number in [1, 7, 12] {
        let page = fs::read(folder.path().join(format!("{}.pdf", page_name(number)))).unwrap();
        assert!(page.len() < 2000, "a page holds nothing of the others");
        let text = text_of(&reader(OcrMode::Never), page);
        assert_eq!(text.trim(), format!("Page number {number} of the report"));
    }
}

#[test]
fn s003_16_each_page_says_whether_it_needs_ocr() {
    let reader = reader(OcrMode::Never);
    let split = SplitPdf::open(pdf(3, &[2]), &ReadOptions::default()).unwrap();
    let kinds: Vec<PageKind> = (0..3)
        .map(|index| {
            let file = reader.open(split.page(index).unwrap(), None).unwrap();
            reader.read_page(&*file, 0).unwrap().kind
        })
        .collect();
    assert_eq!(kinds, [PageKind::Text, PageKind::Scan, PageKind::Text]);
}

#[test]
fn s003_18_scanned_pages_are_read_by_the_engine_and_others_are_not() {
    let file = reader(OcrMode::Auto).open(pdf(2, &[2]), None).unwrap();
    let (text, scan) = {
        let reader = reader(OcrMode::Auto);
        (reader.read_page(&*file, 0).unwrap(), reader.read_page(&*file, 1).unwrap())
    };
    assert_eq!((text.read_by, text.confidence), (ReadBy::Embedded, None));
    assert_eq!((scan.read_by, scan.confidence), (ReadBy::Ocr, Some(0.8)));
    assert_eq!(render::text(&scan).trim(), "read aloud");
    assert!(scan.reason.contains("read by Parrot"), "{}", scan.reason);
    let words = serde_json::to_string(&render::page_words(&scan, 300.0)).unwrap();
    assert_eq!(
        words,
        r#"{"words":[{"bbox":[100,100,190,140],"text":"read"},{"bbox":[200,100,290,140],"text":"aloud"}]}"#
    );

    let forced = reader(OcrMode::Force).read_page(&*file, 0).unwrap();
    assert_eq!(render::text(&forced).trim(), "read aloud");
    let never = reader(OcrMode::Never).read_page(&*file, 1).unwrap();
    assert_eq!(never.read_by, ReadBy::Nothing);
    assert!(never.reason.ends_with("OCR is switched off"), "{}", never.reason);
    let without = Reader::new(ReadOptions::default(), None);
    assert!(matches!(without.read_page(&*file, 1), Err(ReadError::NoOcr { .. })));
    assert!(without.read_page(&*file, 0).is_ok(), "a page with text needs no engine");
}

#[test]
fn s003_19_pages_are_put_together_once_all_are_there() {
    let folder = tempfile::tempdir().unwrap();
    let waiting = combine_folder(folder.path(), folder.path(), "pdf").unwrap();
    assert_eq!(waiting, Combined::Waiting(Waiting::Manifest));
    SplitPdf::open(pdf(3, &[]), &ReadOptions::default()).unwrap().write_to(folder.path(), "d").unwrap();
    for number in 1..=3 {
        let markdown = page_markdown(number, &format!("Text {number}"));
        fs::write(folder.path().join(format!("{}.md", page_name(number))), markdown).unwrap();
        fs::write(folder.path().join(format!("{}.json", page_name(number))), r#"{"words":[]}"#).unwrap();
    }
    let Combined::Complete(document) = combine_folder(folder.path(), folder.path(), "pdf").unwrap() else {
        panic!("every page is there");
    };
    let pages = (1..=3).map(|number| format!("## Page {number}\n\nText {number}\n")).collect();
    assert_eq!(document, CombinedDocument::new("d", "pdf", pages));
    let Combined::Complete(words) = combine_words(folder.path(), folder.path()).unwrap() else {
        panic!("the words of every page are there");
    };
    assert_eq!(words.page_count, 3);
}

#[test]
fn s003_20_with_a_page_missing_there_is_no_document_and_after_it_arrives_there_is_one_in_order() {
    let folder = tempfile::tempdir().unwrap();
    SplitPdf::open(pdf(11, &[]), &ReadOptions::default()).unwrap().write_to(folder.path(), "d").unwrap();
    let write = |number: usize| {
        fs::write(folder.path().join(format!("{}.md", page_name(number))), page_markdown(number, "")).unwrap();
    };
    // Pages arrive in any order.
    [11, 3, 1, 10, 9, 2, 4, 6, 7, 8].into_iter().for_each(write);
    let waiting = combine_folder(folder.path(), folder.path(), "pdf").unwrap();
    assert_eq!(waiting, Combined::Waiting(Waiting::Pages(vec![5])));
    write(5);
    let Combined::Complete(document) = combine_folder(folder.path(), folder.path(), "pdf").unwrap() else {
        panic!("every page is there");
    };
    let starts: Vec<String> = document.pages.iter().map(|page| page.lines().next().unwrap().to_owned()).collect();
    assert_eq!(starts, (1..=11).map(|number| format!("## Page {number}")).collect::<Vec<_>>());
}

#[test]
fn what_is_no_pdf_is_one_sentence() {
    assert_eq!(SplitPdf::open(Vec::new(), &ReadOptions::default()).unwrap_err(), ReadError::Empty);
    let error = SplitPdf::open(b"%PDF-1.7\nnothing".to_vec(), &ReadOptions::default()).unwrap_err();
    assert!(matches!(error, ReadError::Damaged { .. }), "{error}");
    let split = SplitPdf::open(pdf(1, &[]), &ReadOptions::default()).unwrap();
    assert_eq!(split.page(1).unwrap_err(), ReadError::NoSuchPage { page: 2, count: 1 });
}
