//! What a page consists of, from top to bottom as a person reads it.

use super::{Rect, Table};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Block {
    #[serde(flatten)]
    pub kind: BlockKind,
    pub role: Role,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub bbox: Option<Rect>,
}

impl Block {
    pub fn body(kind: BlockKind) -> Self {
        Self { kind, role: Role::Body, bbox: None }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum BlockKind {
    /// `level` from 1 to 6.
    Heading {
        level: u8,
        text: Inlines,
    },
    Paragraph {
        text: Inlines,
    },
    /// `depth` from 0.
    ListItem {
        depth: u8,
        marker: Marker,
        text: Inlines,
    },
    Table {
        table: Table,
    },
    /// Text whose spaces and line breaks count.
    Code {
        text: String,
    },
    Quote {
        text: Inlines,
    },
    /// A picture, with the words that stand for it.
    Picture {
        alt: String,
        /// Its address, where the file names one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        source: Option<String>,
    },
    /// A line across.
    Break,
}

/// Where on the page a block belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    #[default]
    Body,
    /// Repeated at the top of pages.
    Header,
    /// Repeated at the bottom of pages.
    Footer,
    Footnote,
    /// A speaker's note.
    Note,
    /// What a reviewer wrote beside the text.
    Comment,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Marker {
    Bullet,
    /// As printed, without the dot or bracket behind it: "3", "iv", "b".
    Number(String),
}

/// A run of text in which the looks may change. Line breaks that count are `\n`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Inlines(pub Vec<Span>);

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Span {
    pub text: String,
    #[serde(skip_serializing_if = "Style::is_plain", default)]
    pub style: Style,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub link: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
#[expect(clippy::struct_excessive_bools, reason = "looks are independent of each other")]
pub struct Style {
    pub bold: bool,
    pub italic: bool,
    pub struck: bool,
    pub underlined: bool,
    pub superscript: bool,
    pub subscript: bool,
    pub code: bool,
    /// A formula, written as LaTeX.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub math: bool,
}

impl Style {
    pub fn is_plain(&self) -> bool {
        *self == Self::default()
    }
}

impl Inlines {
    pub fn plain(text: impl Into<String>) -> Self {
        Self(vec![Span { text: text.into(), ..Span::default() }])
    }

    /// Adds a span; one that looks like the last is joined to it.
    pub fn push(&mut self, span: Span) {
        if span.text.is_empty() {
            return;
        }
        match self.0.last_mut() {
            Some(last) if last.style == span.style && last.link == span.link => last.text.push_str(&span.text),
            _ => self.0.push(span),
        }
    }

    /// The text alone.
    pub fn text(&self) -> String {
        self.0.iter().map(|span| span.text.as_str()).collect()
    }

    pub fn is_blank(&self) -> bool {
        self.0.iter().all(|span| span.text.trim().is_empty())
    }
}
