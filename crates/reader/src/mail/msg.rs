//! Mails as Outlook saves them (.msg): a compound file in which every property is a stream.

use super::{
    body::{html_is_richer, plain_blocks},
    compressed_rtf,
    eml::has_extension,
    head::{Head, attachment_name, one_line, person},
};
use crate::{
    converted::ConvertedFile,
    error::{ReadError, ReadResult},
    legacy::{
        bytes::{Bytes, wide_text},
        code_page::CodePage,
        compound::{Compound, ROOT},
        rtf, time,
    },
    markup::html,
    model::{Attachment, Block, FileType, Page},
    options::{Limits, ReadOptions},
    plain::encoding,
};

const PROPERTIES: &str = "__properties_version1.0";
/// The head of the properties' stream: of the mail itself, of a mail in a mail, of recipients and attachments.
const MAIL_HEAD: usize = 32;
const NESTED_HEAD: usize = 24;
const PART_HEAD: usize = 8;

mod id {
    pub(super) const SUBJECT: u16 = 0x0037;
    pub(super) const SUBMITTED: u16 = 0x0039;
    pub(super) const REPRESENTED_NAME: u16 = 0x0042;
    pub(super) const REPRESENTED_ADDRESS: u16 = 0x0065;
    pub(super) const HEADERS: u16 = 0x007d;
    pub(super) const RECIPIENT_KIND: u16 = 0x0c15;
    pub(super) const SENDER_NAME: u16 = 0x0c1a;
    pub(super) const SENDER_ADDRESS: u16 = 0x0c1f;
    pub(super) const SHOWN_BCC: u16 = 0x0e02;
    pub(super) const SHOWN_CC: u16 = 0x0e03;
    pub(super) const SHOWN_TO: u16 = 0x0e04;
    pub(super) const DELIVERED: u16 = 0x0e06;
    pub(super) const BODY: u16 = 0x1000;
    pub(super) const RTF: u16 = 0x1009;
    pub(super) const HTML: u16 = 0x1013;
    pub(super) const CREATED: u16 = 0x3007;
    pub(super) const NAME: u16 = 0x3001;
    pub(super) const ADDRESS: u16 = 0x3003;
    pub(super) const DATA: u16 = 0x3701;
    pub(super) const SHORT_FILE_NAME: u16 = 0x3704;
    pub(super) const FILE_NAME: u16 = 0x3707;
    pub(super) const MEDIA_TYPE: u16 = 0x370e;
    pub(super) const SMTP_ADDRESS: u16 = 0x39fe;
    pub(super) const INTERNET_PAGE: u16 = 0x3fde;
    pub(super) const MESSAGE_PAGE: u16 = 0x3ffd;
    pub(super) const SENDER_SMTP: u16 = 0x5d01;
    pub(super) const REPRESENTED_SMTP: u16 = 0x5d02;
}

pub fn open(bytes: &[u8], options: &ReadOptions) -> ReadResult<ConvertedFile> {
    let limits = &options.limits;
    limits.check_file(bytes.len() as u64)?;
    let file = Compound::open(bytes, "msg")?;
    if file.child(ROOT, PROPERTIES).is_none() {
        return Err(ReadError::damaged("msg", "it holds no message"));
    }
    let mut object =
        Object { file: &file, storage: ROOT, fixed: fixed(&file, ROOT, MAIL_HEAD), page: CodePage::WESTERN };
    let number = |id| object.number(id).and_then(|number| CodePage::by_number(number as u32));
    object.page = number(id::MESSAGE_PAGE).or_else(|| number(id::INTERNET_PAGE)).unwrap_or(CodePage::WESTERN);
    let mut warnings = Vec::new();
    let attachments = attachments(&object, limits, &mut warnings);
    let head = head(&object, &attachments);
    let mut page = Page { label: head.subject.clone(), blocks: head.blocks(), warnings, ..Page::converted(1) };
    page.blocks.extend(body(&object, limits));
    Ok(ConvertedFile::new(FileType::Msg, head.metadata(), vec![page]).with_attachments(attachments))
}

/// A storage with properties: the mail, a recipient, an attachment.
struct Object<'f, 'b> {
    file: &'f Compound<'b>,
    storage: usize,
    /// Properties of few bytes: their number and value.
    fixed: Vec<(u16, u64)>,
    page: CodePage,
}

fn fixed(file: &Compound, storage: usize, head: usize) -> Vec<(u16, u64)> {
    let Some(stream) = file.child(storage, PROPERTIES).map(|id| file.stream(id)) else { return Vec::new() };
    let mut rest = Bytes::at(&stream, head);
    let mut all = Vec::new();
    while let (Some(_kind), Some(id), Some(_flags), Some(value)) = (rest.u16(), rest.u16(), rest.u32(), rest.u64()) {
        all.push((id, value));
    }
    all
}

impl<'f, 'b> Object<'f, 'b> {
    fn part(&self, storage: usize) -> Object<'f, 'b> {
        Object { file: self.file, storage, fixed: fixed(self.file, storage, PART_HEAD), page: self.page }
    }

    fn number(&self, id: u16) -> Option<u64> {
        self.fixed.iter().find(|(known, _)| *known == id).map(|(_, value)| *value)
    }

    fn stream(&self, id: u16, kind: u16) -> Option<usize> {
        self.file.child(self.storage, &format!("__substg1.0_{id:04X}{kind:04X}"))
    }

    fn bytes(&self, id: u16) -> Option<Vec<u8>> {
        self.stream(id, 0x0102).map(|stream| self.file.stream(stream)).filter(|bytes| !bytes.is_empty())
    }

    fn text(&self, id: u16) -> Option<String> {
        let text = match self.stream(id, 0x001f) {
            Some(stream) => wide_text(&self.file.stream(stream)),
            None => self.page.decode(&self.file.stream(self.stream(id, 0x001e)?)),
        };
        let text = text.trim_end_matches('\0').to_owned();
        (!text.trim().is_empty()).then_some(text)
    }

    fn storages(&self, prefix: &str) -> Vec<usize> {
        let is_one =
            |id: &usize| self.file.entry(*id).is_some_and(|entry| entry.is_storage && entry.name.starts_with(prefix));
        let mut all: Vec<usize> = self.file.children(self.storage).iter().copied().filter(is_one).collect();
        all.sort_by_key(|id| self.file.entry(*id).map(|entry| entry.name.clone()));
        all
    }
}

fn head(mail: &Object, attachments: &[Attachment]) -> Head {
    // An address of Exchange is a path that means nothing outside.
    let address = |ids: &[u16]| ids.iter().filter_map(|id| mail.text(*id)).find(|address| address.contains('@'));
    let name = mail.text(id::REPRESENTED_NAME).or_else(|| mail.text(id::SENDER_NAME));
    let from = person(
        name.as_deref(),
        address(&[id::REPRESENTED_SMTP, id::REPRESENTED_ADDRESS, id::SENDER_SMTP, id::SENDER_ADDRESS]).as_deref(),
    );
    let moment = |id| mail.number(id).and_then(time::from_windows);
    let sent = moment(id::SUBMITTED)
        .or_else(|| moment(id::DELIVERED))
        .or_else(|| header(mail, "date"))
        .or_else(|| moment(id::CREATED));
    let [to, cc, bcc] = recipients(mail);
    let shown = |people: Option<String>, id| people.or_else(|| mail.text(id).as_deref().and_then(one_line));
    Head {
        subject: mail.text(id::SUBJECT).as_deref().and_then(one_line),
        from: from.or_else(|| header(mail, "from")),
        to: shown(to, id::SHOWN_TO),
        cc: shown(cc, id::SHOWN_CC),
        bcc: shown(bcc, id::SHOWN_BCC),
        date: sent,
        attachments: attachments.iter().map(|attachment| attachment.name.clone()).collect(),
    }
}

/// A header of the mail as it was sent, where Outlook kept them.
fn header(mail: &Object, name: &str) -> Option<String> {
    let headers = mail.text(id::HEADERS)?;
    headers.lines().find_map(|line| {
        let (known, value) = line.split_once(':')?;
        known.eq_ignore_ascii_case(name).then(|| one_line(value))?
    })
}

fn recipients(mail: &Object) -> [Option<String>; 3] {
    let mut people: [Vec<String>; 3] = Default::default();
    for storage in mail.storages("__recip_version1.0_").into_iter().take(1000) {
        let recipient = mail.part(storage);
        let address = [id::SMTP_ADDRESS, id::ADDRESS]
            .iter()
            .filter_map(|id| recipient.text(*id))
            .find(|address| address.contains('@'));
        let Some(text) = person(recipient.text(id::NAME).as_deref(), address.as_deref()) else { continue };
        let kind = recipient.number(id::RECIPIENT_KIND).unwrap_or(1) & 0xf;
        let list = match kind {
            2 => 1,
            3 => 2,
            _ => 0,
        };
        if let Some(list) = people.get_mut(list) {
            list.push(text);
        }
    }
    people.map(|list| (!list.is_empty()).then(|| list.join(", ")))
}

fn body(mail: &Object, limits: &Limits) -> Vec<Block> {
    let plain = mail.text(id::BODY).map(|text| plain_blocks(&text)).unwrap_or_default();
    let html = mail.bytes(id::HTML).map(|bytes| {
        let declared = html::declared_encoding(&bytes);
        let page = mail.number(id::INTERNET_PAGE).and_then(|page| encoding::by_code_page(page as u32));
        encoding::decode(&bytes, declared.or(page)).text
    });
    let html = html.or_else(|| mail.text(id::HTML));
    let mut rich = html.map(|html| html::convert(&html, limits).blocks).unwrap_or_default();
    if rich.is_empty()
        && let Some(packed) = mail.bytes(id::RTF)
        && let Some(text) = compressed_rtf::unpacked(&packed, usize::try_from(limits.part_bytes).unwrap_or(usize::MAX))
    {
        let read = rtf::convert(&text);
        rich = match read.html {
            Some(html) => html::convert(&html, limits).blocks,
            None => read.blocks,
        };
    }
    if html_is_richer(&rich, &plain) && !rich.is_empty() { rich } else { plain }
}

fn attachments(mail: &Object, limits: &Limits, warnings: &mut Vec<String>) -> Vec<Attachment> {
    let mut all = Vec::new();
    let mut total = 0u64;
    for storage in mail.storages("__attach_version1.0_") {
        let part = mail.part(storage);
        let size = part.stream(id::DATA, 0x0102).map_or(0, |stream| mail.file.size(stream));
        total = total.saturating_add(size);
        if all.len() >= limits.archive_entries || total > limits.unpacked_bytes {
            warnings.push("the mail has more attachments than the limit allows; the rest was left out".to_owned());
            break;
        }
        match attachment(&part, all.len() + 1) {
            Some(attachment) => all.push(attachment),
            None => warnings.push(format!("attachment {} holds no file", all.len() + 1)),
        }
    }
    all
}

fn attachment(part: &Object, number: usize) -> Option<Attachment> {
    let media_type = part.text(id::MEDIA_TYPE).as_deref().and_then(one_line);
    let name = part.text(id::FILE_NAME).or_else(|| part.text(id::SHORT_FILE_NAME)).or_else(|| part.text(id::NAME));
    if let Some(bytes) = part.bytes(id::DATA) {
        let name = attachment_name(name.as_deref(), media_type.as_deref(), number);
        return Some(Attachment { name, media_type, bytes });
    }
    // A mail, or an object of another program.
    let storage = part.stream(id::DATA, 0x000d)?;
    if part.file.child(storage, PROPERTIES).is_none() {
        let bytes = part.file.copied_out(storage, |_, _, bytes| bytes)?;
        let name = attachment_name(name.as_deref(), media_type.as_deref(), number);
        return Some(Attachment { name, media_type, bytes });
    }
    let bytes = part.file.copied_out(storage, as_outer_mail)?;
    let nested = Object { file: part.file, storage, fixed: Vec::new(), page: part.page };
    let subject = nested.text(id::SUBJECT).or(name);
    let name = attachment_name(subject.as_deref(), Some(FileType::Msg.media_type()), number);
    let name = if has_extension(&name, "msg") { name } else { format!("{name}.msg") };
    Some(Attachment { name, media_type: Some(FileType::Msg.media_type().to_owned()), bytes })
}

/// A mail of its own has eight more bytes before its properties than one in another mail.
fn as_outer_mail(depth: usize, name: &str, mut bytes: Vec<u8>) -> Vec<u8> {
    if depth == 0 && name == PROPERTIES && bytes.len() >= NESTED_HEAD {
        bytes.splice(NESTED_HEAD..NESTED_HEAD, [0; MAIL_HEAD - NESTED_HEAD]);
    }
    bytes
}
