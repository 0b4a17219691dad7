//! Mails as they are sent (RFC 5322 and MIME). The text is shown once, though most mails carry it as HTML and as plain
//! text: as HTML where that tells more.

use super::{
    body::{html_is_richer, plain_blocks, unflowed},
    head::{Head, attachment_name, one_line, person},
    nested, tnef,
};
use crate::{
    converted::ConvertedFile,
    error::{ReadError, ReadResult},
    markup::html,
    model::{Attachment, Block, FileType, Page},
    options::{Limits, ReadOptions},
    plain::encoding,
};
use mail_parser::{
    Address, Encoding, HeaderName, HeaderValue, Message, MessageParser, MessagePart, MimeHeaders, PartType,
};
use std::panic::{AssertUnwindSafe, catch_unwind};

const MOST_PEOPLE: usize = 1000;

pub fn open(bytes: &[u8], options: &ReadOptions) -> ReadResult<ConvertedFile> {
    options.limits.check_file(bytes.len() as u64)?;
    let mut raw = prepared(bytes);
    nested::hide(&mut raw);
    let damaged = || ReadError::damaged("eml", "its headers cannot be read");
    // The parser is not ours; a fault in it is a fault of this file only.
    let parsed = catch_unwind(AssertUnwindSafe(|| MessageParser::default().parse(&raw)));
    let message = parsed.ok().flatten().filter(|message| !message.parts.is_empty()).ok_or_else(damaged)?;
    let mut warnings = Vec::new();
    let mut body = body_blocks(&message, &raw, &options.limits, &mut warnings);
    let attachments = attachments(&message, &options.limits, &mut body, &mut warnings);
    let head = head(&message, &attachments);
    let mut page = Page { label: head.subject.clone(), blocks: head.blocks(), ..Page::converted(1) };
    page.blocks.extend(body);
    page.warnings = warnings;
    Ok(ConvertedFile::new(FileType::Eml, head.metadata(), vec![page]).with_attachments(attachments))
}

/// As the parser wants it: of one byte a letter where ASCII goes, and beginning with a header.
fn prepared(bytes: &[u8]) -> Vec<u8> {
    let wide = encoding_rs::Encoding::for_bom(bytes).is_some() || encoding::wide_without_mark(bytes).is_some();
    let mut raw = if wide { encoding::decode(bytes, None).text.into_bytes() } else { bytes.to_vec() };
    let blank = raw.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    raw.drain(..blank);
    // A mailbox puts a line of its own before each mail.
    if raw.starts_with(b"From ") || raw.starts_with(b">From ") {
        let line = raw.iter().position(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        raw.drain(..line);
    }
    raw
}

fn head(message: &Message, attachments: &[Attachment]) -> Head {
    let raw_date = || message.header_raw(HeaderName::Date).and_then(one_line);
    let date = message.date().filter(|date| date.is_valid()).map(mail_parser::DateTime::to_rfc3339);
    Head {
        subject: message.subject().and_then(one_line),
        from: people(message.from().or_else(|| message.sender())),
        to: people(message.to()),
        cc: people(message.cc()),
        bcc: people(message.bcc()),
        date: date.or_else(raw_date),
        attachments: attachments.iter().map(|attachment| attachment.name.clone()).collect(),
    }
}

fn people(addresses: Option<&Address>) -> Option<String> {
    let all = addresses?.iter().take(MOST_PEOPLE);
    let all: Vec<String> = all.filter_map(|one| person(one.name.as_deref(), one.address.as_deref())).collect();
    (!all.is_empty()).then(|| all.join(", "))
}

fn body_blocks(message: &Message, raw: &[u8], limits: &Limits, warnings: &mut Vec<String>) -> Vec<Block> {
    let mut view = |ids: &[u32]| -> Vec<Block> {
        ids.iter()
            .filter_map(|id| message.part(*id))
            .flat_map(|part| part_blocks(part, raw, limits, warnings))
            .collect()
    };
    if has_broken_body(message) {
        return view(&[0]);
    }
    if message.html_body == message.text_body {
        return view(&message.html_body);
    }
    let (html, plain) = (view(&message.html_body), view(&message.text_body));
    if html_is_richer(&html, &plain) { html } else { plain }
}

/// A mail in several parts of which none can be found; the parser gives its text as something attached.
fn has_broken_body(message: &Message) -> bool {
    message.html_body.is_empty()
        && message.text_body.is_empty()
        && message.attachments.first() == Some(&0)
        && message.part(0).is_some_and(MessagePart::is_text)
}

fn part_blocks(part: &MessagePart, raw: &[u8], limits: &Limits, warnings: &mut Vec<String>) -> Vec<Block> {
    match &part.body {
        PartType::Html(html) => {
            let html = redecoded(part, raw, html);
            let read = html::convert(&html, limits);
            warnings.extend(read.warnings);
            read.blocks
        }
        PartType::Text(text) => {
            let text = redecoded(part, raw, text);
            let attribute = |name| part.content_type().and_then(|kind| kind.attribute(name)).unwrap_or_default();
            if part.is_content_type("text", "enriched") || part.is_content_type("text", "richtext") {
                return html::convert(&text, limits).blocks;
            }
            if attribute("format").eq_ignore_ascii_case("flowed") {
                return plain_blocks(&unflowed(&text, attribute("delsp").eq_ignore_ascii_case("yes")));
            }
            plain_blocks(&text)
        }
        _ => Vec::new(),
    }
}

/// Where the declared encoding is missing or wrong, the bytes are looked at again.
fn redecoded<'t>(part: &MessagePart, raw: &[u8], text: &'t str) -> std::borrow::Cow<'t, str> {
    let is_wrong = text.contains('\u{fffd}') || text.contains('\0');
    if !is_wrong {
        return text.into();
    }
    let bytes = raw.get(part.offset_body as usize..part.offset_end as usize).unwrap_or_default();
    let decoded = match part.encoding {
        Encoding::None => Some(bytes.to_vec()),
        Encoding::QuotedPrintable => mail_parser::decoders::quoted_printable::quoted_printable_decode(bytes),
        Encoding::Base64 => mail_parser::decoders::base64::base64_decode(bytes),
    };
    let Some(bytes) = decoded.filter(|bytes| !bytes.is_empty()) else { return text.into() };
    let again = encoding::decode(&bytes, html::declared_encoding(&bytes));
    if again.lossy { text.to_owned().into() } else { again.text.into() }
}

fn attachments(
    message: &Message,
    limits: &Limits,
    body: &mut Vec<Block>,
    warnings: &mut Vec<String>,
) -> Vec<Attachment> {
    let mut all = Vec::new();
    let mut total = 0u64;
    for part in message.attachments().skip(usize::from(has_broken_body(message))) {
        let media_type = part.content_type().map(|kind| match kind.subtype() {
            Some(subtype) => format!("{}/{subtype}", kind.ctype()).to_ascii_lowercase(),
            None => kind.ctype().to_ascii_lowercase(),
        });
        total = total.saturating_add(part.contents().len() as u64);
        if all.len() >= limits.archive_entries || total > limits.unpacked_bytes {
            warnings.push("the mail has more attachments than the limit allows; the rest was left out".to_owned());
            break;
        }
        let name = part.attachment_name();
        if tnef::is_one(part.contents()) {
            let inside = tnef::read(part.contents(), limits);
            // Outlook puts the whole mail there, text and all.
            if body.is_empty() {
                body.extend(inside.blocks);
            }
            all.extend(inside.attachments);
            continue;
        }
        let number = all.len() + 1;
        if media_type.as_deref().is_some_and(nested::is_hidden) {
            let mut bytes = part.contents().to_vec();
            nested::unhide(&mut bytes);
            let name =
                name.map_or_else(|| nested_name(&bytes, number), |name| attachment_name(Some(name), None, number));
            let name = if has_extension(&name, "eml") { name } else { format!("{name}.eml") };
            all.push(Attachment { name, media_type: Some(FileType::Eml.media_type().to_owned()), bytes });
            continue;
        }
        let name = name
            .or_else(|| part.content_location())
            .or_else(|| part.content_id().filter(|id| id.contains('.') && !id.contains('@')));
        let name = attachment_name(name, media_type.as_deref(), number);
        all.push(Attachment { name, media_type, bytes: part.contents().to_vec() });
    }
    all
}

pub(super) fn has_extension(name: &str, extension: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(_, end)| end.eq_ignore_ascii_case(extension))
}

/// A mail in a mail is named by its subject.
fn nested_name(bytes: &[u8], number: usize) -> String {
    let parsed = catch_unwind(AssertUnwindSafe(|| {
        let head = MessageParser::default().parse_headers(bytes)?;
        head.header(HeaderName::Subject).and_then(HeaderValue::as_text).and_then(one_line)
    }));
    let subject = parsed.ok().flatten().map(|subject| subject.chars().take(80).collect::<String>());
    attachment_name(subject.as_deref(), Some(FileType::Eml.media_type()), number)
}
