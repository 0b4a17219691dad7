//! Which way each kind of file goes, on the samples: Office files are converted, pages of a PDF are read each as it needs.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

#[allow(dead_code, reason = "other tests need more of it")]
mod sample_files;

use bindery_reader::{
    OcrMode, ReadError, ReadOptions, Reader,
    combine::{CombinedDocument, page_markdown},
    model::{PageKind, ReadBy},
    render,
};

/// How each page of a sample is read where no page may go to OCR.
fn ways(name: &str) -> Vec<(PageKind, ReadBy)> {
    let reader = Reader::new(ReadOptions { ocr: OcrMode::Never, ..sample_files::options() }, None);
    // The name says something else than the content.
    let file = reader.open(sample_files::bytes(name), Some("file.xyz")).unwrap();
    let pages = (0..file.info().page_count).map(|index| reader.read_page(&*file, index).unwrap());
    pages.map(|page| (page.kind, page.read_by)).collect()
}

/// A file as the document that its pages make together.
fn combined(name: &str) -> CombinedDocument {
    let reader = Reader::new(sample_files::options(), None);
    let file = reader.open(sample_files::bytes(name), None).unwrap();
    let pages = (0..file.info().page_count).map(|index| {
        let page = reader.read_page(&*file, index).unwrap();
        page_markdown(page.number, &render::markdown(&page))
    });
    CombinedDocument::new("d", file.info().file_type.name(), pages.collect())
}

#[test]
fn s003_13_office_files_are_converted_and_of_a_pdf_each_page_goes_its_way() {
    for name in
        ["invitation.docx", "upper-floor.pptx", "stock.xlsx", "memo.doc", "stock.xls", "training.ppt", "minutes.odt"]
    {
        assert!(ways(name).iter().all(|way| *way == (PageKind::Text, ReadBy::Converted)), "{name}");
    }
    assert_eq!(ways("report.pdf"), [(PageKind::Text, ReadBy::Embedded); 2]);
    assert_eq!(ways("scan.pdf"), [(PageKind::Text, ReadBy::Embedded), (PageKind::Scan, ReadBy::Nothing)]);
    assert_eq!(ways("fax.tiff"), [(PageKind::Scan, ReadBy::Nothing); 2]);
}

#[test]
fn s003_14_office_documents_become_markdown_pages() {
    let word = combined("invitation.docx");
    assert_eq!((word.kind.as_str(), word.page_count), ("docx", 1));
    assert!(word.pages[0].contains("Invitation to the general meeting") && word.pages[0].contains("| Income |"));
    let slides = combined("upper-floor.pptx");
    assert_eq!((slides.kind.as_str(), slides.page_count), ("pptx", 3), "one for each slide");
    assert!(slides.pages[1].starts_with("## Page 2\n\n") && slides.pages[1].contains("- A workshop"));
    let sheets = combined("stock.xlsx");
    assert_eq!((sheets.kind.as_str(), sheets.pages.len()), ("xlsx", sheets.page_count), "one for each sheet");
    assert!(sheets.pages[0].contains("| A-100 | Offset paper 90 g | 120 |"), "{}", sheets.pages[0]);
}

#[test]
fn s003_17_pages_with_text_in_the_file_are_read_without_ocr() {
    // There is no engine: a page that went to one would be an error.
    let reader = Reader::new(sample_files::options(), None);
    let file = reader.open(sample_files::bytes("scan.pdf"), None).unwrap();
    let page = reader.read_page(&*file, 0).unwrap();
    assert_eq!((page.read_by, page.confidence), (ReadBy::Embedded, None));
    let markdown = page_markdown(1, &render::markdown(&page));
    assert!(markdown.starts_with("## Page 1\n\n"), "{markdown}");
    assert!(markdown.contains("The letter on the next page came on 19 January."), "{markdown}");
    assert!(matches!(reader.read_page(&*file, 1), Err(ReadError::NoOcr { .. })));
}
