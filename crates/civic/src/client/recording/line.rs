//! One line of a recording.

use crate::client::error::Failure;
use bindery_core::time::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::{collections::BTreeMap, time::Duration};

/// An exchange. Everything but the address may be left out.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Line {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) at: Option<Timestamp>,
    /// With a `*` at its end, any that begins so.
    pub(super) url: String,
    /// None: a GET, or a POST where something is sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) method: Option<Method>,
    /// What was sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) sent: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) status: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) content_type: Option<String>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) headers: BTreeMap<String, String>,
    /// The file that holds the body.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) body: Option<String>,
    /// The body itself, for small ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) json: Option<Value>,
    /// There was no answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) failure: Option<Failed>,
}

/// How a page was asked for, where nothing else says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub(super) enum Method {
    Get,
    Post,
    Head,
}

/// Why there was no answer.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Failed {
    Late { millis: u64 },
    Unreachable(String),
    CutShort(String),
    TooLarge { limit: u64, said: Option<u64> },
    Invalid(String),
}

impl Failed {
    /// None: it says something about the recording, not about the server.
    pub(super) fn from_failure(failure: &Failure) -> Option<Self> {
        Some(match failure {
            Failure::Late(time) => Self::Late { millis: time.as_millis() as u64 },
            Failure::Unreachable(why) => Self::Unreachable(why.clone()),
            Failure::CutShort(why) => Self::CutShort(why.clone()),
            Failure::TooLarge { limit, said } => Self::TooLarge { limit: *limit, said: *said },
            Failure::Invalid(why) => Self::Invalid(why.clone()),
            Failure::NotRecorded { .. } | Failure::Recording(_) => return None,
        })
    }

    pub(super) fn failure(&self) -> Failure {
        match self.clone() {
            Self::Late { millis } => Failure::Late(Duration::from_millis(millis)),
            Self::Unreachable(why) => Failure::Unreachable(why),
            Self::CutShort(why) => Failure::CutShort(why),
            Self::TooLarge { limit, said } => Failure::TooLarge { limit, said },
            Self::Invalid(why) => Failure::Invalid(why),
        }
    }
}

/// The ends of names of files, and what is in them.
const TYPES: [(&str, &str); 8] = [
    ("html", "text/html"),
    ("json", "application/json"),
    ("xml", "application/xml"),
    ("pdf", "application/pdf"),
    ("txt", "text/plain"),
    ("csv", "text/csv"),
    ("docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
    ("doc", "application/msword"),
];

/// What a file of this name holds.
pub(super) fn type_of(name: &str) -> Option<&'static str> {
    let (_, end) = name.rsplit_once('.')?;
    TYPES.iter().find(|(known, _)| end.eq_ignore_ascii_case(known)).map(|(_, kind)| *kind)
}

/// How the name of a file ends that holds this. Vendors serve JSON as HTML, so the content counts before its label.
pub(super) fn end_for(content_type: Option<&str>, bytes: &[u8]) -> &'static str {
    if bytes.starts_with(b"%PDF-") {
        return "pdf";
    }
    if matches!(bytes.trim_ascii_start().first(), Some(b'{' | b'[')) {
        return "json";
    }
    let kind = content_type.unwrap_or_default().to_ascii_lowercase();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    if kind.ends_with("xml") && !kind.contains("xhtml") && !kind.contains("openxml") {
        return "xml";
    }
    TYPES.iter().find(|(_, known)| *known == kind).map_or("bin", |(end, _)| end)
}
