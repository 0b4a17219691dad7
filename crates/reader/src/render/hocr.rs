//! Pages as hOCR: HTML in which every area, line and word carries its box in pixels.

use super::json::in_pixels;
use crate::model::{Block, Page, Rect, Word};
use std::fmt::Write as _;

/// What stands before the first page of an hOCR document.
pub const HOCR_HEAD: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
     <!DOCTYPE html PUBLIC \"-//W3C//DTD XHTML 1.0 Transitional//EN\" \"http://www.w3.org/TR/xhtml1/DTD/xhtml1-transitional.dtd\">\n\
     <html xmlns=\"http://www.w3.org/1999/xhtml\">\n<head>\n<title></title>\n\
     <meta http-equiv=\"Content-Type\" content=\"text/html;charset=utf-8\"/>\n\
     <meta name=\"ocr-system\" content=\"bindery\"/>\n\
     <meta name=\"ocr-capabilities\" content=\"ocr_page ocr_carea ocr_line ocrx_word ocrp_wconf\"/>\n</head>\n<body>\n";

/// What stands behind the last page.
pub const HOCR_END: &str = "</body>\n</html>\n";

/// A whole hOCR document for pages, with boxes at a density.
pub fn hocr(pages: &[Page], dpi: f32) -> String {
    let pages: String = pages.iter().map(|page| hocr_page(page, dpi)).collect();
    format!("{HOCR_HEAD}{pages}{HOCR_END}")
}

/// One page of such a document.
pub fn hocr_page(page: &Page, dpi: f32) -> String {
    let mut html = String::new();
    write_page(&mut html, page, dpi);
    html
}

fn write_page(html: &mut String, page: &Page, dpi: f32) {
    let number = page.number;
    let size = page.size.unwrap_or_default();
    let whole = in_pixels(&Rect::new(0.0, 0.0, size.width, size.height), dpi);
    let _ = writeln!(
        html,
        "<div class=\"ocr_page\" id=\"page_{number}\" title=\"{}; ppageno {}\">",
        title(whole),
        number.saturating_sub(1)
    );
    let (mut area, mut line, mut word_number) = (0, 0, 0);
    for in_area in page.words.chunk_by(|one, next| area_of(&page.blocks, one) == area_of(&page.blocks, next)) {
        area += 1;
        let _ =
            writeln!(html, "<div class=\"ocr_carea\" id=\"block_{number}_{area}\" title=\"{}\">", around(in_area, dpi));
        for in_line in in_area.chunk_by(same_line) {
            line += 1;
            let _ = write!(
                html,
                "<span class=\"ocr_line\" id=\"line_{number}_{line}\" title=\"{}\">",
                around(in_line, dpi)
            );
            for word in in_line {
                word_number += 1;
                // Text that the file itself holds is certain.
                let sure = (word.confidence.unwrap_or(1.0) * 100.0).round();
                let _ = write!(
                    html,
                    "<span class=\"ocrx_word\" id=\"word_{number}_{word_number}\" title=\"{}; x_wconf {sure}\">{}</span> ",
                    title(in_pixels(&word.bbox, dpi)),
                    escape(&word.text)
                );
            }
            html.push_str("</span>\n");
        }
        html.push_str("</div>\n");
    }
    html.push_str("</div>\n");
}

/// The block in whose box a word lies; blocks without a box hold none.
fn area_of(blocks: &[Block], word: &Word) -> Option<usize> {
    blocks.iter().position(|block| block.bbox.is_some_and(|bbox| bbox.contains(word.bbox.center())))
}

/// Whether the next word goes on in the line: its middle is at the height of the last, and it is not before it.
fn same_line(one: &Word, next: &Word) -> bool {
    let middle = next.bbox.center().1;
    middle >= one.bbox.y0 && middle <= one.bbox.y1 && next.bbox.x1 > one.bbox.x0
}

fn around(words: &[Word], dpi: f32) -> String {
    let bbox = words.iter().map(|word| word.bbox).reduce(|one, other| one.union(&other)).unwrap_or_default();
    title(in_pixels(&bbox, dpi))
}

fn title([left, top, right, bottom]: [i64; 4]) -> String {
    format!("bbox {left} {top} {right} {bottom}")
}

fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            // Not allowed in XML, not even escaped.
            control if control.is_control() && control != '\t' => safe.push(' '),
            other => safe.push(other),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Size;

    fn word(text: &str, left: f32, top: f32) -> Word {
        Word { text: text.into(), bbox: Rect::new(left, top, left + 36.0, top + 12.0), confidence: Some(0.914) }
    }

    #[test]
    fn lines_words_and_confidence_are_in_it() {
        let words = vec![word("A<b", 72.0, 72.0), word("c", 120.0, 72.0), word("d\u{1}", 72.0, 90.0)];
        let page = Page { words, size: Some(Size { width: 612.0, height: 792.0 }), ..Page::converted(2) };
        let html = hocr(&[page], 72.0);
        assert!(html.contains("id=\"page_2\" title=\"bbox 0 0 612 792; ppageno 1\""), "{html}");
        assert!(html.contains("title=\"bbox 72 72 108 84; x_wconf 91\">A&lt;b</span>"), "{html}");
        assert_eq!(html.matches("ocr_line\" id").count(), 2);
        assert!(!html.contains('\u{1}'));
    }
}
