//! Small PDF files that tests make themselves, and what is read of them.

use bindery_reader::{Block, BlockKind, OpenFile, Page, ReadOptions, pdf};
use std::fmt::Write as _;

/// A file of some pages; `extra` goes into each page's dictionary, `objects` are further objects from number 100 on.
pub(crate) struct Sample {
    pub(crate) pages: Vec<String>,
    pub(crate) extra: String,
    pub(crate) catalog: String,
    pub(crate) objects: Vec<String>,
}

impl Sample {
    pub(crate) fn of(pages: &[&str]) -> Self {
        Self {
            pages: pages.iter().map(|page| (*page).to_owned()).collect(),
            extra: String::new(),
            catalog: String::new(),
            objects: Vec::new(),
        }
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        let kids = (0..self.pages.len()).map(|index| format!("{} 0 R ", 10 + 2 * index)).collect::<Vec<_>>().concat();
        let mut objects = vec![
            (1, format!("<</Type/Catalog/Pages 2 0 R {}>>", self.catalog)),
            (2, format!("<</Type/Pages/Count {}/Kids[{kids}]/MediaBox[0 0 600 800]>>", self.pages.len())),
            (3, "<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>".to_owned()),
            (4, "<</Type/Font/Subtype/Type1/BaseFont/Helvetica-Bold/Encoding/WinAnsiEncoding>>".to_owned()),
            (5, "<</Type/Font/Subtype/Type1/BaseFont/Courier/Encoding/WinAnsiEncoding>>".to_owned()),
        ];
        for (index, content) in self.pages.iter().enumerate() {
            let number = 10 + 2 * index;
            let resources = "/Resources<</Font<</F1 3 0 R/F2 4 0 R/F3 5 0 R>>/XObject<</Im 100 0 R>>>>";
            let page = format!("<</Type/Page/Parent 2 0 R/Contents {} 0 R{resources}{}>>", number + 1, self.extra);
            objects.push((number, page));
            objects.push((number + 1, format!("<</Length {}>>stream\n{content}\nendstream", content.len())));
        }
        objects.extend(self.objects.iter().enumerate().map(|(index, object)| (100 + index, object.clone())));
        let mut file = "%PDF-1.7\n".to_owned();
        let mut offsets = Vec::new();
        for (number, object) in &objects {
            offsets.push((*number, file.len()));
            let _ = write!(file, "{number} 0 obj\n{object}\nendobj\n");
        }
        let start = file.len();
        file.push_str("xref\n0 1\n0000000000 65535 f \n");
        for (number, offset) in offsets {
            let _ = write!(file, "{number} 1\n{offset:010} 00000 n \n");
        }
        let _ = write!(file, "trailer<</Size 200/Root 1 0 R>>\nstartxref\n{start}\n%%EOF");
        file.into_bytes()
    }

    pub(crate) fn open(&self) -> pdf::PdfFile {
        pdf::open(self.bytes(), &ReadOptions::default()).expect("the sample is a PDF")
    }

    pub(crate) fn page(&self) -> Page {
        self.open().page(0).expect("the sample has a page")
    }
}

/// Lines of a grid, by where they stand across and down.
pub(crate) fn ruled(xs: &[u32], ys: &[u32]) -> String {
    let (Some((left, right)), Some((top, bottom))) = (xs.first().zip(xs.last()), ys.first().zip(ys.last())) else {
        return String::new();
    };
    let mut content = "0.6 w\n".to_owned();
    for y in ys {
        let _ = writeln!(content, "{left} {y} m {right} {y} l S");
    }
    for x in xs {
        let _ = writeln!(content, "{x} {top} m {x} {bottom} l S");
    }
    content
}

/// Lines of text from a place downwards.
pub(crate) fn lines(x: u32, y: u32, size: u32, font: &str, lines: &[&str]) -> String {
    let mut content = format!("BT /{font} {size} Tf {} TL {x} {y} Td\n", size + 2);
    for line in lines {
        let _ = writeln!(content, "({line}) Tj T*");
    }
    content + "ET\n"
}

pub(crate) fn text(block: &Block) -> String {
    match &block.kind {
        BlockKind::Heading { text, .. } | BlockKind::Paragraph { text } | BlockKind::ListItem { text, .. } => {
            text.text()
        }
        _ => String::new(),
    }
}

pub(crate) fn texts(page: &Page) -> Vec<String> {
    page.blocks.iter().map(text).collect()
}
