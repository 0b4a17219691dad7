//! Where a meeting is, and whether one can take part from elsewhere, or only from there.

use crate::{lines::Line, pattern::pattern, prose::summary::facts::addresses_in};
use regex::Regex;
use std::sync::LazyLock;

static HYBRID: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)\bhybrid\b|in[- ]person and (?:virtual|remote|online|via|by)|(?:virtual|remote|online)(?:ly)? and in[- ]person|attend in[- ]person or|(?:zoom|virtually|remotely|online) or in[- ]person|in[- ]person or (?:via|by|on|through|virtual|remote)|(?:in lieu of|alternatives? to) in-person attendance",
    )
});
static ONLY_ONLINE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)\bvirtual[- ]only\b|(?:held|conducted|convened?|take place|meet)\s+(?:\w+\s+)?(?:entirely |exclusively |solely |fully |only )?(?:virtually|remotely|online|telephonically|electronically|(?:via|by|through|using) (?:video|tele|zoom|web|virtual|the zoom)\S*)|no (?:in-person|physical) (?:attendance|location|meeting)|will not be (?:open to the public|physically open)|closed to in-person|fully (?:virtual|remote)|this is a virtual meeting",
    )
});
static COME: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)\battend(?:ing|ance)? (?:\w+ ){0,3}in[- ]person|\bin[- ]person (?:attendance|participation|at\b)|members of the public (?:may|can) attend",
    )
});
static POSTED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)\bmail(?:ed|ing)?\b|p\.?\s?o\.? box|\boffice of\b|copies|posted (?:at|in|on)|inspect|located at the office|ethics",
    )
});
static ZIP: LazyLock<Regex> = LazyLock::new(|| pattern(r"\b\d{5}(?:-\d{4})?\b"));
static LABEL: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"(?i)^(?:meeting\s+)?(?:location|address|place|where|location/address|venue)\s*[:–-]+\s*")
});

/// Whether it is hybrid, and whether it is online only; none where nothing says so. A link alone says neither.
pub(super) fn kind(text: &str, has_link: bool) -> (Option<bool>, Option<bool>) {
    if HYBRID.is_match(text) {
        return (Some(true), Some(false));
    }
    if ONLY_ONLINE.is_match(text) && !COME.is_match(text) {
        return (Some(false), Some(true));
    }
    // People may come, and there is a link.
    if has_link && COME.is_match(text) {
        return (Some(true), Some(false));
    }
    (None, None)
}

/// The first street address that is no address for letters, with the room in front of it.
pub(super) fn address(lines: &[&Line]) -> Option<String> {
    const FIRST: usize = 60;
    const LONGEST: usize = 160;
    let fits = |at: usize, line: &Line| {
        let before = at.checked_sub(1).and_then(|at| lines.get(at)).map_or("", |line| line.text.as_str());
        let is_posted = POSTED.is_match(&line.text) || (line.text.len() < 60 && POSTED.is_match(before));
        !is_posted && !addresses_in(&line.text).is_empty()
    };
    let found: Vec<(usize, &&Line)> =
        lines.iter().enumerate().take(FIRST).filter(|(at, line)| fits(*at, line)).collect();
    // A whole address rather than a letterhead.
    let (at, line) = found.iter().find(|(_, line)| ZIP.is_match(&line.text)).or(found.first()).copied()?;
    let street = addresses_in(&line.text).into_iter().next()?;
    if line.text.len() > LONGEST {
        return Some(street);
    }
    let mut whole = LABEL.replace(&line.text, "").into_owned();
    // "Council Chamber, 12th Floor," is the line before.
    for before in lines.get(..at)?.iter().rev().take(3) {
        if !before.text.ends_with(',') || before.text.len() > 80 {
            break;
        }
        whole = format!("{} {whole}", LABEL.replace(&before.text, ""));
    }
    Some(whole.trim_end_matches(['.', ',', ' ']).to_owned())
}
