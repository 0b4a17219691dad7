//! Bytes and numbers become letters, and letters go to where the group says.

use super::{Destination, MOST_OBJECT_BYTES, Reader};
use crate::{
    legacy::field,
    plain::symbols::{is_symbol_font, symbol},
};

impl Reader {
    pub(super) fn text_bytes(&mut self, text: &[u8]) {
        let skipped = self.skip.min(text.len());
        self.skip -= skipped;
        self.add_bytes(text.get(skipped..).unwrap_or_default());
    }

    pub(super) fn add_bytes(&mut self, bytes: &[u8]) {
        match self.state.destination {
            Destination::Skip => {}
            Destination::ObjectData => self.object_digits(bytes),
            _ => self.bytes.extend_from_slice(bytes),
        }
    }

    pub(super) fn object_digits(&mut self, bytes: &[u8]) {
        for digit in bytes.iter().filter_map(|byte| char::from(*byte).to_digit(16)) {
            let digit = digit as u8;
            match self.object_digit.take() {
                None => self.object_digit = Some(digit),
                Some(high) if self.object_data.len() < MOST_OBJECT_BYTES => self.object_data.push(high << 4 | digit),
                Some(_) => {}
            }
        }
    }

    /// Bytes wait for the whole letter; what comes next may be of another font.
    pub(super) fn flush_bytes(&mut self) {
        if self.bytes.is_empty() {
            return;
        }
        let bytes = std::mem::take(&mut self.bytes);
        let font = self.fonts.get(&self.state.font);
        let text = match font {
            Some(font) if is_symbol_font(&font.name) && self.state.destination == Destination::Text => {
                bytes.iter().filter_map(|byte| symbol(&font.name, u32::from(*byte))).collect()
            }
            font => font.and_then(|font| font.code_page).unwrap_or(self.default_page).decode(&bytes),
        };
        self.emit(&text);
        self.bytes = bytes;
        self.bytes.clear();
    }

    pub(super) fn unicode(&mut self, number: i32) {
        self.flush_bytes();
        self.skip = self.state.unicode_skip;
        let code = (number as u32) & 0xffff;
        let half = code as u16;
        if (0xd800..0xdc00).contains(&half) {
            self.high_surrogate = Some(half);
            return;
        }
        let code = match self.high_surrogate.take() {
            Some(high) if (0xdc00..0xe000).contains(&half) => {
                0x1_0000 + ((u32::from(high) - 0xd800) << 10) + (code - 0xdc00)
            }
            _ if number > 0xffff => number as u32,
            _ => code,
        };
        let font = self.fonts.get(&self.state.font).map_or("Symbol", |font| font.name.as_str());
        let letter = if (0xf020..=0xf0ff).contains(&code) { symbol(font, code) } else { char::from_u32(code) };
        if let Some(letter) = letter.filter(|letter| *letter != '\0') {
            self.emit(letter.encode_utf8(&mut [0; 4]));
        }
    }

    /// Text to where it belongs.
    pub(super) fn emit(&mut self, text: &str) {
        match self.state.destination {
            Destination::Text => {
                if let Some(html) = &mut self.read.html {
                    if !self.state.beside_html {
                        html.push_str(text);
                    }
                    return;
                }
                if self.state.hidden || self.state.deleted || self.state.tiny {
                    return;
                }
                let link = self.fields.iter().rev().find_map(|field| field.link.as_deref());
                if let Some(flow) = self.flows.last_mut() {
                    flow.text(text, self.state.style, link);
                }
            }
            Destination::HtmlTag => {
                if let Some(html) = &mut self.read.html {
                    html.push_str(text);
                }
            }
            Destination::Fonts => {
                let font = self.fonts.entry(self.state.font).or_default();
                font.name.push_str(text);
                if let Some(end) = font.name.find(';') {
                    font.name.truncate(end);
                }
            }
            Destination::Styles => self.style_name.push_str(text),
            Destination::Info(name) => self.info(name, text),
            Destination::FieldInstruction => {
                if let Some(field) = self.fields.last_mut() {
                    field.instruction.push_str(text);
                }
            }
            Destination::ListText => self.list_text.get_or_insert_default().push_str(text),
            Destination::PropertyName => self.property_name.push_str(text),
            Destination::PropertyValue => self.property_value.push_str(text),
            Destination::ObjectClass => self.object_class.push_str(text),
            Destination::Skip | Destination::ObjectData => {}
        }
    }

    pub(super) fn info(&mut self, name: &str, text: &str) {
        let metadata = &mut self.read.metadata;
        let field = match name {
            "title" => &mut metadata.title,
            "author" => &mut metadata.author,
            "subject" => &mut metadata.subject,
            "keywords" => &mut metadata.keywords,
            "generator" => &mut metadata.creator,
            _ => return,
        };
        field.get_or_insert_default().push_str(text.trim_end_matches(';'));
    }
}

/// Where a field leads to, if it is a link.
pub(super) fn link_of(instruction: &str) -> Option<String> {
    let instruction = instruction.trim();
    let (name, rest) = instruction.split_once(char::is_whitespace)?;
    if !name.eq_ignore_ascii_case("HYPERLINK") {
        return None;
    }
    field::target(rest)
}
