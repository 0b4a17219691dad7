//! Kinds of text, by how they begin and how their lines look.

use crate::{
    error::{ReadError, ReadResult},
    model::FileType,
};
use std::borrow::Cow;

/// How much of a file is looked at.
const SAMPLE: usize = 64 << 10;

pub(super) fn detect(bytes: &[u8], name: Option<&str>) -> ReadResult<FileType> {
    let sample = bytes.get(..bytes.len().min(SAMPLE)).unwrap_or_default();
    let Some(text) = decode(sample) else { return Err(ReadError::UnknownType { looks_like: None }) };
    let cut = bytes.len() > sample.len();
    let text = text.trim_start_matches(['\u{feff}', ' ', '\t', '\r', '\n']);
    if let Some(found) = by_beginning(text) {
        return Ok(found);
    }
    if is_mail(text) {
        return Ok(FileType::Eml);
    }
    if let Some(found) = name.and_then(by_name) {
        return Ok(found);
    }
    if is_json(text, cut) {
        return Ok(FileType::Json);
    }
    Ok(by_lines(text, cut))
}

/// The text, if it is one: by a byte order mark, else as UTF-8, else as any encoding that extends ASCII.
fn decode(sample: &[u8]) -> Option<Cow<'_, str>> {
    if let Some((encoding, length)) = encoding_rs::Encoding::for_bom(sample) {
        return Some(encoding.decode_without_bom_handling(sample.get(length..)?).0);
    }
    let zeros = sample.split(|byte| *byte == 0).count() - 1;
    if zeros > 0 {
        // UTF-16 without a mark: nearly every second byte is zero in text of the Latin script.
        let at = |odd: usize| sample.iter().skip(odd).step_by(2).filter(|byte| **byte == 0).count();
        let half = sample.len() / 2;
        return match (at(0), at(1)) {
            (0, high) if high * 10 > half * 7 => Some(encoding_rs::UTF_16LE.decode_without_bom_handling(sample).0),
            (low, 0) if low * 10 > half * 7 => Some(encoding_rs::UTF_16BE.decode_without_bom_handling(sample).0),
            _ if zeros * 200 < sample.len() && controls(sample) * 50 < sample.len() => {
                Some(String::from_utf8_lossy(sample))
            }
            _ => None,
        };
    }
    // Text of any old encoding has few control characters; anything else has many.
    (controls(sample) * 20 <= sample.len()).then(|| String::from_utf8_lossy(sample))
}

fn controls(sample: &[u8]) -> usize {
    let is_control = |byte: &&u8| **byte < 0x20 && !matches!(**byte, b'\t' | b'\n' | b'\r' | 0x0c | 0x1b);
    sample.iter().filter(is_control).count()
}

/// Whether the first of two, ignoring case, begins the second.
fn begins(text: &str, beginning: &str) -> bool {
    text.get(..beginning.len()).is_some_and(|head| head.eq_ignore_ascii_case(beginning))
}

/// Elements that a piece of HTML without a head may begin with.
const HTML_ELEMENTS: &[&str] = &[
    "head", "body", "title", "meta", "table", "div", "p", "h1", "h2", "h3", "ul", "ol", "span", "br", "a", "font",
    "center", "script", "style", "article", "section", "main", "nav", "b", "i", "img", "pre",
];

fn by_beginning(text: &str) -> Option<FileType> {
    if begins(text, "{\\rtf") {
        return Some(FileType::Rtf);
    }
    if begins(text, "<!doctype html") || begins(text, "<html") {
        return Some(FileType::Html);
    }
    if begins(text, "<?xml") || begins(text, "<!--") || begins(text, "<!doctype") {
        let head: String = text.chars().take(4096).collect::<String>().to_ascii_lowercase();
        return Some(match () {
            () if head.contains("<html") => FileType::Html,
            () if begins(text, "<!--") && !head.contains("<?xml") => FileType::Html,
            () => FileType::Xml,
        });
    }
    let tag = text.strip_prefix('<')?;
    let name: String = tag.chars().take_while(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase();
    let after = tag.get(name.len()..)?.chars().next()?;
    if HTML_ELEMENTS.contains(&name.as_str()) && (after == '>' || after == '/' || after.is_whitespace()) {
        return Some(FileType::Html);
    }
    let is_element = tag.starts_with(char::is_alphabetic) && text.contains("</") && text.trim_end().ends_with('>');
    is_element.then_some(FileType::Xml)
}

/// Lines of "Name: value" from the first on, one of which only a mail has.
fn is_mail(text: &str) -> bool {
    const KNOWN: &[&str] = &[
        "from",
        "to",
        "subject",
        "date",
        "received",
        "return-path",
        "message-id",
        "mime-version",
        "content-type",
        "cc",
        "delivered-to",
        "reply-to",
        "sender",
        "dkim-signature",
        "x-mailer",
        "content-transfer-encoding",
    ];
    let mut known = 0;
    let mut telling = false;
    let mut lines = text.lines().peekable();
    // A mailbox file puts "From somebody at a time" before the mail.
    lines.next_if(|line| line.starts_with("From ") || line.starts_with(">From "));
    for (number, line) in lines.enumerate() {
        if line.is_empty() {
            break;
        }
        if number > 0 && line.starts_with([' ', '\t']) {
            continue;
        }
        let Some((name, value)) = line.split_once(':') else { break };
        if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_graphic()) {
            break;
        }
        let name = name.to_ascii_lowercase();
        known += usize::from(KNOWN.contains(&name.as_str()));
        telling |=
            matches!(name.as_str(), "received" | "return-path" | "message-id" | "mime-version" | "dkim-signature")
                || (matches!(name.as_str(), "from" | "to") && value.contains('@'))
                || (name == "content-type" && value.contains('/'));
    }
    known >= 2 && telling
}

/// Types of text that look like any other text.
fn by_name(name: &str) -> Option<FileType> {
    let extension = name.rsplit_once('.')?.1.to_ascii_lowercase();
    Some(match extension.as_str() {
        "csv" => FileType::Csv,
        "tsv" | "tab" => FileType::Tsv,
        "md" | "markdown" | "mdown" => FileType::Markdown,
        "txt" | "text" | "log" => FileType::Text,
        "json" | "geojson" | "jsonl" | "ndjson" => FileType::Json,
        "htm" | "html" | "xhtml" => FileType::Html,
        "eml" => FileType::Eml,
        _ => return None,
    })
}

fn is_json(text: &str, cut: bool) -> bool {
    if !text.starts_with(['{', '[']) {
        return false;
    }
    match serde_json::from_str::<serde::de::IgnoredAny>(text) {
        Ok(_) => true,
        // Several values after each other, or a sample that ends within one.
        Err(error) => (cut && error.is_eof()) || (error.line() > 1 && is_json_lines(text)),
    }
}

fn is_json_lines(text: &str) -> bool {
    let mut lines = text.lines().filter(|line| !line.trim().is_empty()).take(3);
    lines.all(|line| serde_json::from_str::<serde::de::IgnoredAny>(line).is_ok())
}

/// Tables of text have the same number of the same separator in nearly every line; Markdown has marks that plain text
/// rarely has.
fn by_lines(text: &str, cut: bool) -> FileType {
    let mut lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).take(200).collect();
    if cut && lines.len() > 1 {
        lines.pop();
    }
    if lines.len() >= 2 {
        if same_count(&lines, '\t') {
            return FileType::Tsv;
        }
        if [',', ';', '|'].into_iter().any(|separator| same_count(&lines, separator)) && !is_markdown(&lines) {
            return FileType::Csv;
        }
    }
    if is_markdown(&lines) { FileType::Markdown } else { FileType::Text }
}

fn same_count(lines: &[&str], separator: char) -> bool {
    let count = |line: &str| {
        let mut quoted = false;
        line.chars()
            .filter(|character| {
                quoted ^= *character == '"';
                *character == separator && !quoted
            })
            .count()
    };
    let first = lines.first().map_or(0, |line| count(line));
    let same = lines.iter().filter(|line| count(line) == first).count();
    // Two lines with one comma each are prose.
    first > 0 && same * 10 >= lines.len() * 9 && (first >= 2 || lines.len() >= 3)
}

fn is_markdown(lines: &[&str]) -> bool {
    let heading = |line: &&&str| {
        let marks = line.bytes().take_while(|byte| *byte == b'#').count();
        (1..=6).contains(&marks) && line.as_bytes().get(marks) == Some(&b' ')
    };
    let headings = lines.iter().filter(heading).count();
    let fences = lines.iter().filter(|line| line.starts_with("```")).count();
    let links = lines.iter().filter(|line| line.contains("](")).count();
    let rules = lines.iter().filter(|line| line.starts_with("|--") || line.starts_with("| --")).count();
    let stars = lines.iter().filter(|line| line.contains("**")).count();
    // A single "# line" may be a comment of a script; two kinds of marks, or several headings, are meant.
    let kinds = [headings, fences / 2, links, rules, stars].iter().filter(|count| **count > 0).count();
    rules > 0 || kinds >= 2 || (headings >= 2 && lines.len() >= headings * 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(text: &str) -> FileType {
        detect(text.as_bytes(), None).unwrap()
    }

    #[test]
    fn text_is_told_by_its_looks() {
        assert_eq!(kind("<html><body>"), FileType::Html);
        assert_eq!(kind("<?xml version='1.0'?><html xmlns='x'>"), FileType::Html);
        assert_eq!(kind("<?xml version='1.0'?><invoice/>"), FileType::Xml);
        assert_eq!(kind("<invoice><a>1</a></invoice>"), FileType::Xml);
        assert_eq!(kind("<p>hello"), FileType::Html);
        assert_eq!(kind("{\"a\": [1, 2]}"), FileType::Json);
        assert_eq!(kind("{\"a\": 1}\n{\"a\": 2}\n"), FileType::Json);
        assert_eq!(kind("a,b,c\n1,2,3\n\"x,y\",2,3\n"), FileType::Csv);
        assert_eq!(kind("a;b\n1;2\n3;4\n"), FileType::Csv);
        assert_eq!(kind("a\tb\tc\n1\t2\t3\n"), FileType::Tsv);
        assert_eq!(kind("# Title\n\nSome **bold** text\n"), FileType::Markdown);
        assert_eq!(kind("Dear Sir,\n\nthank you, and good bye.\n"), FileType::Text);
        assert_eq!(kind("{not json}"), FileType::Text);
    }

    #[test]
    fn mails_are_told_by_their_headers() {
        assert_eq!(kind("From: a@b.org\nSubject: x\n\nhello"), FileType::Eml);
        assert_eq!(kind("Received: by x\n with y\nDate: today\n\n"), FileType::Eml);
        assert_eq!(kind("To: be\nor: not to be\n\n"), FileType::Text);
    }

    #[test]
    fn the_name_breaks_ties_between_texts_alone() {
        assert_eq!(detect(b"just words", Some("notes.md")).unwrap(), FileType::Markdown);
        assert_eq!(detect(b"one column\nof words", Some("a.CSV")).unwrap(), FileType::Csv);
        assert_eq!(detect(b"<html>", Some("a.txt")).unwrap(), FileType::Html);
    }

    #[test]
    fn text_in_sixteen_bits_is_text() {
        let wide: Vec<u8> = "a,b,c\n1,2,3\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert_eq!(detect(&wide, None).unwrap(), FileType::Csv);
        assert!(detect(&[0, 1, 2, 3, 0xff, 0, 9], None).is_err());
    }
}
