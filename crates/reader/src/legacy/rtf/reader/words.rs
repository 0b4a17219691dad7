//! What each word of RTF does.

use super::{CodePage, DEEPEST, Destination, Ends, Field, Flow, MOST_CELLS, Reader, Row};
use crate::{
    legacy::rows::RowCell,
    model::{Role, Style},
};

impl Reader {
    pub(super) fn word(&mut self, word: &str, number: Option<i32>) {
        if self.state.destination == Destination::Skip {
            // Inside of a shape that is left out there may still be its text, and what a picture shows.
            match word {
                "sn" => self.state.destination = Destination::PropertyName,
                "sv" => {
                    self.state.destination = Destination::PropertyValue;
                    self.state.ends = Ends::Property;
                }
                "shptxt" => self.begin_text(),
                _ => {}
            }
            return;
        }
        if self.looks(word, number)
            || self.sign(word)
            || self.paragraph_word(word, number)
            || self.table_word(word, number)
            || self.destination(word, number)
        {
            return;
        }
        // Unknown, and marked as a destination that may be left out.
        if self.state.starred {
            self.state.destination = Destination::Skip;
        }
    }

    /// Words that change how text looks.
    fn looks(&mut self, word: &str, number: Option<i32>) -> bool {
        let on = number != Some(0);
        let style = &mut self.state.style;
        match word {
            "b" | "ab" => style.bold = on,
            "i" | "ai" => style.italic = on,
            "strike" | "striked" => style.struck = on,
            "ul" | "uld" | "uldb" | "ulw" | "uldash" | "ulth" | "ulwave" => style.underlined = on,
            "ulnone" => style.underlined = false,
            "super" | "up" => style.superscript = on,
            "sub" | "dn" => style.subscript = on,
            "nosupersub" => (style.superscript, style.subscript) = (false, false),
            "v" => self.state.hidden = on,
            "deleted" => {
                self.state.deleted = on;
                self.deletions |= on;
            }
            "plain" => {
                self.state.style = Style::default();
                self.state.hidden = false;
                self.state.deleted = false;
                self.state.tiny = false;
                self.state.font = self.default_font;
            }
            "fs" => self.state.tiny = number.is_some_and(|half_points| (1..=3).contains(&half_points)),
            "f" => self.state.font = number.unwrap_or_default(),
            "uc" => self.state.unicode_skip = usize::try_from(number.unwrap_or(1)).unwrap_or_default().min(32),
            _ => return false,
        }
        true
    }

    /// Words that stand for a sign.
    fn sign(&mut self, word: &str) -> bool {
        let text = match word {
            "tab" | "nestcell" => "\t",
            "line" | "lbr" | "softline" | "nestrow" => "\n",
            "emdash" => "—",
            "endash" => "–",
            "lquote" => "‘",
            "rquote" => "’",
            "ldblquote" => "“",
            "rdblquote" => "”",
            "bullet" => "•",
            "emspace" | "enspace" | "qmspace" => " ",
            "zwnj" => "\u{200c}",
            "zwj" => "\u{200d}",
            "chftn" => &(self.footnotes + 1).to_string(),
            _ => return false,
        };
        self.emit(text);
        true
    }

    fn paragraph_word(&mut self, word: &str, number: Option<i32>) -> bool {
        match word {
            "par" | "sect" | "page" => self.end_paragraph(),
            "pard" => {
                self.state.in_table = false;
                self.state.in_list = false;
                self.state.list_level = 0;
                self.state.outline = None;
                self.state.style_index = 0;
            }
            "s" => self.state.style_index = number.unwrap_or_default(),
            "outlinelevel" => {
                self.state.outline = number
                    .and_then(|level| u8::try_from(level).ok())
                    .filter(|level| *level < 9)
                    .map(|level| (level + 1).min(6));
            }
            "intbl" => self.state.in_table = number != Some(0),
            "itap" => self.state.in_table = number.unwrap_or(1) > 0,
            "ls" => self.state.in_list = number.unwrap_or_default() > 0,
            "ilvl" | "pnlvl" => self.state.list_level = number.unwrap_or_default().clamp(0, 8) as u8,
            "pnlvlblt" | "pnlvlbody" => self.state.in_list = true,
            "htmlrtf" => self.state.beside_html = number != Some(0),
            _ => return false,
        }
        true
    }

    fn table_word(&mut self, word: &str, number: Option<i32>) -> bool {
        match word {
            "trowd" => {
                self.row = Row::default();
                self.cell = RowCell::default();
                self.row_open = true;
            }
            "trleft" => self.row.left = number.unwrap_or_default(),
            "trhdr" => self.row.header = true,
            "clmrg" => self.cell.merged_left = true,
            "clvmrg" => self.cell.merged_up = true,
            "clmgf" | "clvmgf" => {}
            "cellx" => {
                let cell = RowCell { right: number, ..std::mem::take(&mut self.cell) };
                if self.row.cells.len() < MOST_CELLS {
                    self.row.cells.push(cell);
                }
            }
            "cell" => {
                let paragraph = self.paragraph();
                if let Some(flow) = self.flows.last_mut() {
                    flow.end_cell(&paragraph);
                }
            }
            "row" => {
                self.row_open = false;
                if let Some(flow) = self.flows.last_mut() {
                    flow.end_row(self.row.clone());
                }
            }
            _ => return false,
        }
        true
    }

    /// Words that say where the text of the group goes, and words of those places.
    fn destination(&mut self, word: &str, number: Option<i32>) -> bool {
        let destination = &mut self.state.destination;
        match word {
            "fonttbl" => *destination = Destination::Fonts,
            "stylesheet" => *destination = Destination::Styles,
            "fcharset" => {
                let charset = u32::try_from(number.unwrap_or_default()).unwrap_or_default();
                self.fonts.entry(self.state.font).or_default().code_page = CodePage::by_charset(charset);
            }
            "cpg" => {
                let page = CodePage::by_number(u32::try_from(number.unwrap_or_default()).unwrap_or_default());
                if page.is_some() {
                    self.fonts.entry(self.state.font).or_default().code_page = page;
                }
            }
            "ansicpg" => {
                if let Some(page) = number.and_then(|page| CodePage::by_number(u32::try_from(page).ok()?)) {
                    self.default_page = page;
                }
            }
            "mac" => self.default_page = CodePage::by_number(10000).unwrap_or(CodePage::WESTERN),
            "pc" => self.default_page = CodePage::by_number(437).unwrap_or(CodePage::WESTERN),
            "pca" => self.default_page = CodePage::by_number(850).unwrap_or(CodePage::WESTERN),
            "deff" => self.default_font = number.unwrap_or_default(),
            "title" => *destination = Destination::Info("title"),
            "author" => *destination = Destination::Info("author"),
            "subject" => *destination = Destination::Info("subject"),
            "keywords" => *destination = Destination::Info("keywords"),
            "generator" => *destination = Destination::Info("generator"),
            "creatim" => *destination = Destination::Info("creatim"),
            "revtim" => *destination = Destination::Info("revtim"),
            "yr" | "mo" | "dy" | "hr" | "min" | "sec" => self.time(word, number.unwrap_or_default()),
            "field" => {
                if self.fields.len() < DEEPEST {
                    self.fields.push(Field::default());
                    self.state.ends = Ends::Field;
                }
            }
            "fldinst" => *destination = Destination::FieldInstruction,
            "fldrslt" => {
                *destination = Destination::Text;
                if let Some(field) = self.fields.last_mut() {
                    field.link = super::output::link_of(&field.instruction);
                }
            }
            "listtext" | "pntext" => *destination = Destination::ListText,
            "footnote" => self.begin_flow(Role::Footnote),
            "header" | "headerl" | "headerr" | "headerf" => self.begin_flow(Role::Header),
            "footer" | "footerl" | "footerr" | "footerf" => self.begin_flow(Role::Footer),
            "annotation" => self.begin_flow(Role::Comment),
            "fromhtml" if self.read.html.is_none() => self.read.html = Some(String::new()),
            "htmltag" => *destination = Destination::HtmlTag,
            "object" => self.state.ends = Ends::Object,
            "objclass" => *destination = Destination::ObjectClass,
            "objdata" => *destination = Destination::ObjectData,
            "pn" => {
                // What it says belongs to the paragraph around it, and its text is a pattern.
                *destination = Destination::Skip;
                if let Some(outer) = self.stack.last_mut() {
                    outer.in_list = true;
                }
            }
            // Starred, but what is inside is text.
            "ud" | "mmath" | "moMath" | "moMathPara" | "shppict" => {
                if word == "ud" {
                    *destination = Destination::Text;
                }
            }
            "shpinst" | "colortbl" | "info" | "pict" | "nonshppict" | "shprslt" | "listtable" | "list"
            | "listlevel" | "leveltext" | "levelnumbers" | "listname" | "listoverridetable" | "upr"
            | "nonesttables" | "nesttableprops" | "tc" | "xe" | "rxe" | "mmathPict" | "themedata" | "filetbl"
            | "comment" | "doccomm" | "operator" | "company" | "manager" | "category" | "hlinkbase" | "vern"
            | "printim" | "buptim" | "ftnsep" | "ftnsepc" | "ftncn" | "aftnsep" | "aftnsepc" | "aftncn"
            | "bkmkstart" | "bkmkend" | "private" => {
                // Title, author and the like are inside of "info".
                *destination = Destination::Skip;
                if word == "info" {
                    *destination = Destination::Info("");
                }
            }
            _ => return false,
        }
        true
    }

    fn time(&mut self, word: &str, number: i32) {
        let Destination::Info(name @ ("creatim" | "revtim")) = self.state.destination else { return };
        let place = match word {
            "yr" => 0,
            "mo" => 1,
            "dy" => 2,
            "hr" => 3,
            "min" => 4,
            _ => 5,
        };
        if let Some(part) = self.times.entry(name).or_default().get_mut(place) {
            *part = number.clamp(0, 9999);
        }
    }

    fn begin_flow(&mut self, role: Role) {
        // Notes do not hold notes.
        if self.flows.len() >= 8 || self.read.html.is_some() {
            self.state.destination = Destination::Skip;
            return;
        }
        self.flows.push(Flow::new(role));
        self.state.ends = Ends::Flow(role);
        self.state.destination = Destination::Text;
        self.state.style = Style::default();
        self.state.in_table = false;
        self.list_text = None;
    }

    fn begin_text(&mut self) {
        self.state.destination = Destination::Text;
    }
}
