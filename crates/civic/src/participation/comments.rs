//! Until when comments are taken, where speakers register and where comments are written.

use super::{contacts::around, online::urls};
use crate::{lines::one_line, pattern::pattern};
use regex::Regex;
use std::sync::LazyLock;

/// A moment as agendas name it.
const MOMENT: &str = r"(?:(?:\d{1,2}(?::\d{2})?\s*[ap]\.?\s?m\b\.?|(?:12:00\s+)?noon|midnight|close of business|\d{1,2}:\d{2})(?:[ ,]+(?:on|the|of|day|meeting|business|before|prior|to|at|this|same|that|date|\w+day,?|(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)\w*\.?|\d{1,2}(?:st|nd|rd|th)?,?|20\d{2})\b)*|(?:at least\s+)?(?:\w+|\d+)\s+(?:\(\d+\)\s+)?(?:business\s+)?(?:hours?|days?|minutes?)\s+(?:before|prior to|in advance of|preceding)\s+the\s+(?:start of the\s+|scheduled\s+)?meeting|(?:\w+day,\s+)?(?:january|february|march|april|may|june|july|august|september|october|november|december)\s+\d{1,2}(?:,\s+20\d{2})?(?:,?\s+at\s+\d{1,2}(?::\d{2})?\s*[ap]\.?m\.?)?|the (?:business )?day (?:before|prior to) the meeting)";

static DEADLINE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(&format!(
        r"(?i)\b(?:comments?|e-?comments?|correspondence|requests? to speak|speaker (?:cards?|requests?|slips?)|(?:written|public) (?:comments?|testimony|materials?|statements?)|emails?|registration|sign[- ]?up|register)\b(?:[^.\n]|\.\S){{0,140}}?\b(?:by|before|no later than|not later than|until|prior to|deadline(?: is|:)?|(?:must be )?received)\s+(?:by\s+)?(?P<when>{MOMENT})"
    ))
});
static REGISTERS: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)\bregist(?:er|ration)\b|sign[- ]?up|request(?:s|ing)? to speak|speaker (?:card|request|form|slip)|to speak\b",
    )
});
static WRITES: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)comment (?:card|form)|web ?form|e-?comments?\b|written comments?|submit(?:ting|ted)? (?:\w+ ){0,3}comments?|comments? (?:may|can) be|provide (?:\w+ )?comment",
    )
});
static TELLS: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)(?:[^.\n]{0,220}\b(?:to (?:provide|submit|make|give|offer) (?:\w+ ){0,2}comments?|wish(?:es|ing)? to (?:speak|comment|address|offer)|may (?:also )?(?:submit|participate|comment)|interested in giving public comment)\b[^\n]{0,260}?(?:\.(?:\s|$)|\n|$))",
    )
});

#[derive(Debug, Default)]
pub(super) struct Comments {
    pub(super) deadline: Option<String>,
    pub(super) sign_up_url: Option<String>,
    pub(super) form_url: Option<String>,
    pub(super) instructions: Option<String>,
}

pub(super) fn find(text: &str) -> Comments {
    let mut comments = Comments::default();
    let when = DEADLINE.captures(text).and_then(|found| Some(found.name("when")?.as_str()));
    comments.deadline = when.map(|when| one_line(when).trim_end_matches([',', ' ']).to_owned());
    for (place, url) in urls(text) {
        let before = around(text, place.start..place.start, 130, 0);
        // What was said two sentences ago was said of another link.
        let said = before.rfind("\n\n").map_or(before, |at| before.get(at..).unwrap_or(before));
        let (registers, writes) = (last(&REGISTERS, said), last(&WRITES, said));
        if registers.is_some() && registers >= writes {
            comments.sign_up_url.get_or_insert_with(|| url.to_owned());
        } else if writes.is_some() {
            comments.form_url.get_or_insert_with(|| url.to_owned());
        }
    }
    let mut told = TELLS.find_iter(text).map(|found| one_line(found.as_str().trim_start_matches(['>', ' ', '-', '•'])));
    comments.instructions = told.find(|sentence| sentence.to_lowercase().contains("comment"));
    comments
}

/// Where a pattern is found last: what stands nearest to a link speaks of it.
fn last(pattern: &Regex, text: &str) -> Option<usize> {
    pattern.find_iter(text).last().map(|found| found.start())
}
