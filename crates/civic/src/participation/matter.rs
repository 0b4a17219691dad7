//! Which lines of an agenda tell how to take part: those in front of the items, those behind them, and those below a
//! heading about the public's comments. Staff reports are never asked.

use crate::{
    lines::Line,
    pattern::pattern,
    splitter::{begins_items, ends_items},
};
use regex::Regex;
use std::{collections::HashSet, fmt::Write as _, sync::LazyLock};

/// How many characters in front of the items, behind them, and below a heading are read.
const FRONT: usize = 12_000;
const BACK: usize = 4_000;
const BELOW: usize = 1_500;
/// An agenda is not longer; what follows is what was attached to it.
const AGENDA_PAGES: usize = 20;

/// What is attached begins so, at the top of a page.
static REPORT: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)^(?:.{0,40}\b)?(?:staff report|agenda report|council report|memorandum|agenda item (?:summary|report|transmittal)|request for council action|resolution no\.?|ordinance no\.?|minutes of)\b.{0,40}$",
    )
});
static ABOUT_COMMENTS: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)\b(?:public (?:comments?|participation|input|communications?)|how to (?:participate|join|comment|attend|watch|speak)|instructions for|written comments?|join (?:the|by|via)|zoom|virtual(?:ly)?|teleconference|watch the meeting|remote(?:ly)?|accessib\w+)\b",
    )
});

/// The lines that are asked, in their order.
pub(super) fn front_and_back(lines: &[Line]) -> Vec<&Line> {
    let report = |at: usize| {
        let line = lines.get(at);
        let before = at.checked_sub(1).and_then(|at| lines.get(at));
        let is_top = line.zip(before).is_some_and(|(line, before)| line.page > before.page);
        is_top && line.is_some_and(|line| REPORT.is_match(&line.text))
    };
    let first_page = lines.first().map_or(1, |line| line.page);
    let is_beyond = |line: &Line| line.page >= first_page + AGENDA_PAGES;
    let end = (1..lines.len()).find(|at| report(*at) || lines.get(*at).is_some_and(is_beyond)).unwrap_or(lines.len());
    let agenda = lines.get(..end).unwrap_or_default();

    let mut asked: HashSet<usize> = HashSet::new();
    let mut take = |from: usize, most: usize, stop: &dyn Fn(usize, &Line) -> bool| {
        let mut length = 0;
        for (at, line) in agenda.iter().enumerate().skip(from) {
            length += line.text.len() + 1;
            if length > most || (at > from && stop(at, line)) {
                break;
            }
            asked.insert(at);
        }
    };
    // A first line such as "Call to order" of an agenda without a head is no reason to read nothing.
    let begin = agenda.iter().position(|line| begins_items(&line.text)).unwrap_or(agenda.len());
    take(0, FRONT, &|at, _| at >= begin);
    for (at, line) in agenda.iter().enumerate().skip(begin) {
        if line.text.len() <= 120 && ABOUT_COMMENTS.is_match(&line.text) {
            take(at, BELOW, &|_, next| next.stands_out && next.begins);
        }
    }
    let adjourned = agenda.iter().rposition(|line| ends_items(&line.text));
    match adjourned {
        Some(at) => take(at, BACK, &|_, _| false),
        // Without that word the end of a file is the end of the agenda only where nothing was attached.
        None if end == lines.len() => {
            let mut length = 0;
            let fits = |line: &&Line| {
                length += line.text.len() + 1;
                length <= BACK
            };
            let behind = agenda.iter().rev().take_while(fits).count();
            take(agenda.len().saturating_sub(behind).max(begin), BACK, &|_, _| false);
        }
        None => {}
    }
    agenda.iter().enumerate().filter(|(at, _)| asked.contains(at)).map(|(_, line)| line).collect()
}

/// Lines as one text, in which a link's address stands behind its words.
pub(super) fn text_with_links<'l>(lines: impl Iterator<Item = &'l Line>) -> String {
    let mut text = String::new();
    for line in lines {
        if line.begins && !text.is_empty() {
            text.push('\n');
        }
        text.push_str(&line.text);
        for link in &line.links {
            let address = link.url.strip_prefix("mailto:").unwrap_or(&link.url);
            if !line.text.contains(address) {
                // Writing to a text cannot fail.
                let _ = write!(text, " <{address}>");
            }
        }
        text.push('\n');
    }
    text
}
