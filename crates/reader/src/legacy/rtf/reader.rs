//! Reads RTF sign by sign. Groups nest, and each keeps its own looks and its own destination: the text, a table of
//! fonts, a footnote. What is not known is left out, as the format asks.

use super::{
    super::{
        code_page::CodePage,
        flow::{Flow, Paragraph, heading_by_name, marker_of},
        objects::{Content, damaged},
        rows::{Row, RowCell},
    },
    lexer::{Lexer, Token},
    object,
};
use crate::model::{Attachment, Block, BlockKind, Marker, Metadata, Role, Style};
use std::collections::HashMap;

mod output;
mod words;

/// Groups in groups; deeper ones are counted, and share the looks of the one around them.
const DEEPEST: usize = 2000;
const MOST_CELLS: usize = 1024;
/// Headers and footers that differ from each other.
const MOST_REPEATED: usize = 500;
const MOST_OBJECT_BYTES: usize = 256 << 20;

/// Where text goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Destination {
    Text,
    Skip,
    Fonts,
    Styles,
    Info(&'static str),
    FieldInstruction,
    ListText,
    PropertyName,
    PropertyValue,
    HtmlTag,
    ObjectClass,
    ObjectData,
}

/// What ends with a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ends {
    Nothing,
    Flow(Role),
    Field,
    Object,
    Property,
    Style,
}

#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "what RTF switches is independent of each other")]
struct State {
    destination: Destination,
    ends: Ends,
    style: Style,
    hidden: bool,
    deleted: bool,
    /// Set so small that nobody sees it.
    tiny: bool,
    font: i32,
    /// How many signs stand in for a letter that is written as its number.
    unicode_skip: usize,
    /// Inside of RTF that HTML carried along is to be left out.
    beside_html: bool,
    style_index: i32,
    outline: Option<u8>,
    in_table: bool,
    in_list: bool,
    list_level: u8,
    /// `\*` was read: the word that follows may be unknown.
    starred: bool,
}

#[derive(Debug, Default)]
struct Font {
    name: String,
    code_page: Option<CodePage>,
}

#[derive(Debug, Default)]
struct Field {
    instruction: String,
    link: Option<String>,
}

/// What was read.
#[derive(Debug, Default)]
pub(crate) struct RtfText {
    pub(crate) blocks: Vec<Block>,
    pub(crate) metadata: Metadata,
    /// The HTML that the RTF was made from, if it carries it.
    pub(crate) html: Option<String>,
    pub(crate) attachments: Vec<Attachment>,
    pub(crate) warnings: Vec<String>,
}

#[derive(Debug)]
pub(super) struct Reader {
    state: State,
    stack: Vec<State>,
    /// Groups beyond the deepest that is kept.
    uncounted: usize,
    default_page: CodePage,
    default_font: i32,
    fonts: HashMap<i32, Font>,
    headings: HashMap<i32, u8>,
    style_name: String,
    bytes: Vec<u8>,
    /// The first half of a letter that takes two numbers.
    high_surrogate: Option<u16>,
    skip: usize,
    /// Nothing was read in this group yet.
    at_group_start: bool,
    flows: Vec<Flow>,
    fields: Vec<Field>,
    list_text: Option<String>,
    row: Row,
    cell: RowCell,
    row_open: bool,
    property_name: String,
    property_value: String,
    object_class: String,
    object_data: Vec<u8>,
    object_digit: Option<u8>,
    /// Whether anything was deleted while changes were tracked.
    deletions: bool,
    footnotes: usize,
    outside: Vec<Block>,
    read: RtfText,
    times: HashMap<&'static str, [i32; 6]>,
}

impl Reader {
    pub(super) fn new() -> Self {
        let state = State {
            destination: Destination::Text,
            ends: Ends::Nothing,
            style: Style::default(),
            hidden: false,
            deleted: false,
            tiny: false,
            font: 0,
            unicode_skip: 1,
            beside_html: false,
            style_index: 0,
            outline: None,
            in_table: false,
            in_list: false,
            list_level: 0,
            starred: false,
        };
        Self {
            state,
            stack: Vec::new(),
            uncounted: 0,
            default_page: CodePage::WESTERN,
            default_font: 0,
            fonts: HashMap::new(),
            headings: HashMap::new(),
            style_name: String::new(),
            bytes: Vec::new(),
            high_surrogate: None,
            skip: 0,
            at_group_start: false,
            flows: vec![Flow::new(Role::Body)],
            fields: Vec::new(),
            list_text: None,
            row: Row::default(),
            cell: RowCell::default(),
            row_open: false,
            property_name: String::new(),
            property_value: String::new(),
            object_class: String::new(),
            object_data: Vec::new(),
            object_digit: None,
            deletions: false,
            footnotes: 0,
            outside: Vec::new(),
            read: RtfText::default(),
            times: HashMap::new(),
        }
    }

    pub(super) fn run(mut self, bytes: &[u8]) -> RtfText {
        let mut lexer = Lexer::new(bytes);
        while let Some(token) = lexer.next() {
            let at_start = std::mem::replace(&mut self.at_group_start, token == Token::Open);
            match token {
                Token::Open => self.open(),
                Token::Close => {
                    self.close();
                    // What follows the document is not part of it, unless a stray bracket ended it too early.
                    if self.stack.is_empty() && !lexer.has_more_text() {
                        break;
                    }
                }
                Token::Text(text) => self.text_bytes(text),
                Token::Hex(byte) => {
                    if self.skip > 0 {
                        self.skip -= 1;
                    } else {
                        self.add_bytes(&[byte]);
                    }
                }
                Token::Symbol(_) | Token::Word(..) if self.skip > 0 => self.skip -= 1,
                Token::Symbol(b'*') => {
                    self.flush_bytes();
                    self.state.starred = at_start;
                }
                Token::Symbol(sign) => self.symbol(sign),
                Token::Word("u", number) => self.unicode(number.unwrap_or_default()),
                Token::Word(word, number) => {
                    self.flush_bytes();
                    self.word(word, number);
                    self.state.starred = false;
                }
            }
        }
        self.finish()
    }

    fn finish(mut self) -> RtfText {
        self.flush_bytes();
        while !self.stack.is_empty() {
            self.close();
        }
        if self.flows.last().is_some_and(|flow| !flow.line_is_blank()) {
            self.end_paragraph();
        }
        let body = self.flows.drain(..).flat_map(Flow::finish).collect::<Vec<_>>();
        let (before, after): (Vec<_>, Vec<_>) = self.outside.into_iter().partition(|block| block.role == Role::Header);
        self.read.blocks = before.into_iter().chain(body).chain(after).collect();
        for (name, time) in self.times {
            let [year, month, day, hour, minute, second] = time;
            if year > 1900 && (1..=12).contains(&month) && (1..=31).contains(&day) {
                let text = format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}");
                match name {
                    "creatim" => self.read.metadata.created = Some(text),
                    _ => self.read.metadata.modified = Some(text),
                }
            }
        }
        if self.deletions {
            self.read.warnings.push("tracked deletions are not shown".to_owned());
        }
        self.read
    }

    fn open(&mut self) {
        self.flush_bytes();
        self.skip = 0;
        if self.stack.len() >= DEEPEST {
            self.uncounted += 1;
            return;
        }
        self.stack.push(self.state.clone());
        self.state.ends = if self.state.destination == Destination::Styles { Ends::Style } else { Ends::Nothing };
        self.state.starred = false;
        if self.state.ends == Ends::Style {
            self.state.style_index = 0;
            self.state.outline = None;
            self.style_name.clear();
        }
    }

    fn close(&mut self) {
        self.flush_bytes();
        self.skip = 0;
        if self.uncounted > 0 {
            self.uncounted -= 1;
            return;
        }
        match self.state.ends {
            Ends::Nothing => {}
            Ends::Flow(role) => self.end_flow(role),
            Ends::Field => {
                self.fields.pop();
            }
            Ends::Object => self.end_object(),
            Ends::Property => self.end_property(),
            Ends::Style => self.end_style(),
        }
        if let Some(outer) = self.stack.pop() {
            self.state = outer;
        }
    }

    fn end_flow(&mut self, role: Role) {
        if self.flows.len() < 2 {
            return;
        }
        self.end_paragraph();
        let blocks = self.flows.pop().map(Flow::finish).unwrap_or_default();
        if role == Role::Footnote {
            self.footnotes += 1;
        }
        // Left and right pages often have the same header.
        let repeats = matches!(role, Role::Header | Role::Footer);
        let known = |block: &Block| repeats && (self.outside.len() >= MOST_REPEATED || self.outside.contains(block));
        let new: Vec<Block> = blocks.into_iter().filter(|block| !known(block)).collect();
        self.outside.extend(new);
    }

    fn end_style(&mut self) {
        let name = std::mem::take(&mut self.style_name);
        if let Some(level) = heading_by_name(name.trim_end_matches(';')).or(self.state.outline) {
            self.headings.insert(self.state.style_index, level);
        }
    }

    fn end_property(&mut self) {
        let value = std::mem::take(&mut self.property_value);
        if self.property_name.trim() == "wzDescription" && !value.trim().is_empty() {
            // Some writers put the path of the picture there; its name is enough.
            let alt = value.trim().rsplit(['\\', '/']).next().unwrap_or_default().to_owned();
            let in_table = self.in_table();
            if let Some(flow) = self.flows.last_mut() {
                if in_table {
                    flow.text(&alt, Style::default(), None);
                } else {
                    flow.push(BlockKind::Picture { alt, source: None });
                }
            }
        }
        self.property_name.clear();
    }

    fn end_object(&mut self) {
        let data = std::mem::take(&mut self.object_data);
        let class = std::mem::take(&mut self.object_class);
        self.object_digit = None;
        let number = self.read.attachments.len() + 1;
        match object::content(&class, &data, number) {
            Content::File(attachment) => self.read.attachments.push(attachment),
            Content::Damaged => self.read.warnings.push(damaged(number)),
            Content::Nothing => {}
        }
    }

    fn symbol(&mut self, sign: u8) {
        match sign {
            b'\\' | b'{' | b'}' => self.add_bytes(&[sign]),
            b'~' => self.write(" "),
            b'_' => self.write("-"),
            b'\r' | b'\n' => {
                self.flush_bytes();
                self.end_paragraph();
            }
            b'\t' => self.write("\t"),
            _ => {}
        }
    }

    fn write(&mut self, text: &str) {
        self.flush_bytes();
        self.emit(text);
    }

    fn in_table(&self) -> bool {
        self.state.in_table || self.row_open
    }

    fn end_paragraph(&mut self) {
        if self.state.destination != Destination::Text {
            return;
        }
        if let Some(html) = &mut self.read.html {
            if !self.state.beside_html {
                html.push_str("\r\n");
            }
            return;
        }
        let paragraph = self.paragraph();
        if let Some(flow) = self.flows.last_mut() {
            flow.end_paragraph(&paragraph);
        }
    }

    fn paragraph(&mut self) -> Paragraph {
        let heading = self.state.outline.or_else(|| self.headings.get(&self.state.style_index).copied());
        let printed = self.list_text.take();
        let list = match printed {
            Some(printed) if !printed.trim().is_empty() => Some((self.state.list_level, marker_of(&printed))),
            Some(_) => None,
            None => self.state.in_list.then_some((self.state.list_level, Marker::Bullet)),
        };
        Paragraph { heading, list, in_table: self.in_table() }
    }
}
