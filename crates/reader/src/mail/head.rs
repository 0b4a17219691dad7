//! What stands above a mail's text, and the names of what is attached.

use crate::model::{Block, BlockKind, FileType, Inlines, Metadata, Span, Style};

/// Who wrote to whom, and when.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) subject: Option<String>,
    pub(super) from: Option<String>,
    pub(super) to: Option<String>,
    pub(super) cc: Option<String>,
    pub(super) bcc: Option<String>,
    /// RFC 3339 if it could be understood.
    pub(super) date: Option<String>,
    pub(super) attachments: Vec<String>,
}

impl Head {
    /// The subject as a heading, the rest as lines below it.
    pub(super) fn blocks(&self) -> Vec<Block> {
        let mut blocks = Vec::new();
        if let Some(subject) = &self.subject {
            blocks.push(Block::body(BlockKind::Heading { level: 1, text: Inlines::plain(subject) }));
        }
        let attached = (!self.attachments.is_empty()).then(|| self.attachments.join(", "));
        let mut text = Inlines::default();
        for (label, value) in [
            ("From", &self.from),
            ("To", &self.to),
            ("Cc", &self.cc),
            ("Bcc", &self.bcc),
            ("Date", &self.date),
            ("Attachments", &attached),
        ] {
            let Some(value) = value else { continue };
            let plain = |text: String| Span { text, ..Span::default() };
            if !text.0.is_empty() {
                text.push(plain("\n".to_owned()));
            }
            let bold = Style { bold: true, ..Style::default() };
            text.push(Span { text: format!("{label}:"), style: bold, link: None });
            text.push(plain(format!(" {value}")));
        }
        if !text.0.is_empty() {
            blocks.push(Block::body(BlockKind::Paragraph { text }));
        }
        blocks
    }

    pub(super) fn metadata(&self) -> Metadata {
        Metadata {
            title: self.subject.clone(),
            author: self.from.clone(),
            created: self.date.clone(),
            ..Metadata::default()
        }
    }
}

/// On one line, without what cannot be seen; None if nothing is left.
pub(super) fn one_line(text: &str) -> Option<String> {
    let text: String = text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect();
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    (!text.is_empty()).then_some(text)
}

/// "Name <address>", or what there is of it.
pub(super) fn person(name: Option<&str>, address: Option<&str>) -> Option<String> {
    match (name.and_then(one_line), address.and_then(one_line)) {
        (Some(name), Some(address)) if name.trim_matches('\'').eq_ignore_ascii_case(&address) => Some(address),
        // Some writers put the address into the name already.
        (Some(name), Some(address)) if name.contains(&format!("<{address}>")) => Some(name),
        (Some(name), Some(address)) => Some(format!("{name} <{address}>")),
        (name, address) => name.or(address),
    }
}

/// A name that is safe to write a file under. Without one, it is numbered and ends as its type does.
pub(super) fn attachment_name(name: Option<&str>, media_type: Option<&str>, number: usize) -> String {
    let clean = |letter: char| if letter.is_control() || matches!(letter, '/' | '\\' | ':') { '_' } else { letter };
    let name = name.and_then(one_line).map(|name| name.chars().map(clean).collect::<String>()).unwrap_or_default();
    let name = name.trim().trim_start_matches('.');
    if !name.is_empty() {
        return name.chars().take(200).collect();
    }
    let media_type = media_type.unwrap_or_default();
    let known = FileType::ALL.iter().find(|known| known.media_type().eq_ignore_ascii_case(media_type));
    let extension = match known {
        Some(known) => known.extension(),
        None if media_type.eq_ignore_ascii_case("text/calendar") => "ics",
        None => "bin",
    };
    format!("attachment-{number}.{extension}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_nowhere() {
        assert_eq!(attachment_name(Some("../../etc/passwd"), None, 1), "_.._etc_passwd");
        assert_eq!(attachment_name(Some("a\r\nb.pdf"), None, 1), "a b.pdf");
        assert_eq!(attachment_name(None, Some("image/png"), 2), "attachment-2.png");
        assert_eq!(attachment_name(Some(" "), Some("x/y"), 3), "attachment-3.bin");
    }

    #[test]
    fn people_have_names_or_addresses() {
        assert_eq!(person(Some("Anna"), Some("a@b.c")).as_deref(), Some("Anna <a@b.c>"));
        assert_eq!(person(Some("a@b.c"), Some("a@b.c")).as_deref(), Some("a@b.c"));
        assert_eq!(person(None, Some("a@b.c")).as_deref(), Some("a@b.c"));
        assert_eq!(person(Some(""), None), None);
    }
}
