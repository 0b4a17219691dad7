//! Lists of a Word file, counted as Word counts them.

use crate::{
    model::Marker,
    numerals::{alphabetic, roman},
    package::{Element, Tree},
};
use std::collections::{HashMap, HashSet};

const LEVELS: usize = 9;

/// The lists of the file, and how far each has been counted.
#[derive(Debug, Default)]
pub(super) struct Numbering {
    abstracts: HashMap<u32, Vec<Level>>,
    lists: HashMap<u32, List>,
    /// By abstract list: lists that share one go on counting where the other stopped.
    counters: HashMap<u32, [Option<u32>; LEVELS]>,
    restarted: HashSet<(u32, usize)>,
}

#[derive(Debug, Clone)]
struct Level {
    start: u32,
    format: String,
    /// "%1.%2" stands for the numbers of the first and second level.
    text: String,
    restarts: bool,
    /// All numbers in this level are shown as 1, 2, 3, whatever their own level says.
    legal: bool,
}

#[derive(Debug, Default, Clone)]
struct List {
    of: u32,
    start_overrides: HashMap<usize, u32>,
    level_overrides: HashMap<usize, Level>,
}

impl Numbering {
    pub(super) fn read(tree: Option<&Tree>) -> Self {
        let mut numbering = Self::default();
        let Some(tree) = tree else { return numbering };
        let root = tree.root();
        let mut by_style: HashMap<&str, u32> = HashMap::new();
        let mut links: Vec<(u32, &str)> = Vec::new();
        for element in root.all("abstractNum") {
            let Some(id) = number(element.attribute("abstractNumId")) else { continue };
            let mut levels: Vec<Level> = Vec::new();
            for level in element.all("lvl") {
                let at = number(level.attribute("ilvl")).unwrap_or(0) as usize;
                while levels.len() <= at.min(LEVELS - 1) {
                    levels.push(Level::default());
                }
                if let Some(place) = levels.get_mut(at) {
                    *place = Level::parse(level);
                }
            }
            numbering.abstracts.insert(id, levels);
            let value = |name: &str| element.child(name).and_then(|found| found.attribute("val"));
            if let Some(style) = value("styleLink") {
                by_style.insert(style, id);
            }
            if let Some(style) = value("numStyleLink") {
                links.push((id, style));
            }
        }
        // A list may be defined by a style, and that style by another list.
        for (id, style) in links {
            if let Some(levels) = by_style.get(style).and_then(|defined| numbering.abstracts.get(defined)).cloned() {
                numbering.abstracts.insert(id, levels);
            }
        }
        for element in root.all("num") {
            let Some(id) = number(element.attribute("numId")) else { continue };
            let of = element.child("abstractNumId").and_then(|found| number(found.attribute("val"))).unwrap_or(0);
            let mut list = List { of, ..List::default() };
            for change in element.all("lvlOverride") {
                let at = number(change.attribute("ilvl")).unwrap_or(0) as usize;
                if let Some(start) = change.child("startOverride").and_then(|found| number(found.attribute("val"))) {
                    list.start_overrides.insert(at, start);
                }
                if let Some(level) = change.child("lvl") {
                    list.level_overrides.insert(at, Level::parse(level));
                }
            }
            numbering.lists.insert(id, list);
        }
        numbering
    }

    /// Counts one more item of a list. None if there is no such list or its items show no mark.
    pub(super) fn next(&mut self, list_id: u32, depth: u8) -> Option<Marker> {
        let depth = usize::from(depth).min(LEVELS - 1);
        let list = self.lists.get(&list_id)?;
        let levels = self.abstracts.get(&list.of)?;
        let level_at = |at: usize| list.level_overrides.get(&at).or_else(|| levels.get(at));
        let level = level_at(depth)?;
        let counters = self.counters.entry(list.of).or_default();

        let overridden = list.start_overrides.get(&depth).copied();
        let restart = overridden.filter(|_| self.restarted.insert((list_id, depth)));
        let current = counters.get_mut(depth)?;
        *current = Some(match (restart, *current) {
            (Some(start), _) => start,
            (None, Some(count)) => count.saturating_add(1),
            (None, None) => level.start,
        });
        for (below, counter) in counters.iter_mut().enumerate().skip(depth + 1) {
            if level_at(below).is_none_or(|level| level.restarts) {
                *counter = None;
            }
        }
        for (above, counter) in counters.iter_mut().enumerate().take(depth) {
            counter.get_or_insert_with(|| level_at(above).map_or(1, |level| level.start));
        }
        if level.format == "bullet" {
            return Some(Marker::Bullet);
        }
        let mut shown = String::new();
        let mut rest = level.text.chars();
        while let Some(character) = rest.next() {
            let at = rest.as_str().chars().next().and_then(|digit| digit.to_digit(10)).filter(|_| character == '%');
            let Some(at @ 1..) = at else {
                shown.push(character);
                continue;
            };
            rest.next();
            let at = at as usize - 1;
            let count = counters.get(at).copied().flatten().unwrap_or(1);
            let format = level_at(at).map_or("decimal", |level| level.format.as_str());
            shown.push_str(&formatted(count, if level.legal { "decimal" } else { format }));
        }
        let bare = bare(&shown);
        (!bare.is_empty()).then(|| Marker::Number(bare.to_owned()))
    }
}

/// Without the brackets around it and the dot behind it.
fn bare(shown: &str) -> &str {
    let shown = shown.trim();
    let shown = shown.strip_suffix(['.', ')', ':', ']']).unwrap_or(shown);
    shown.trim_start_matches(['(', '[']).trim_end_matches(['.', ')'])
}

impl Default for Level {
    fn default() -> Self {
        Self { start: 1, format: "decimal".to_owned(), text: String::new(), restarts: true, legal: false }
    }
}

impl Level {
    fn parse(element: Element<'_>) -> Self {
        let value = |name: &str| element.child(name).and_then(|found| found.attribute("val"));
        // Formats of one's own ("001") are within an alternative; its fallback is the nearest that all know.
        let format = value("numFmt")
            .or_else(|| element.find("numFmt").and_then(|found| found.attribute("val")))
            .unwrap_or("decimal");
        let legal = element.child("isLgl").is_some_and(|found| !matches!(found.attribute("val"), Some("0" | "false")));
        Self {
            start: value("start").and_then(|start| start.parse().ok()).unwrap_or(1),
            format: format.to_owned(),
            text: value("lvlText").unwrap_or_default().to_owned(),
            restarts: value("lvlRestart") != Some("0"),
            legal,
        }
    }
}

fn number(text: Option<&str>) -> Option<u32> {
    text?.trim().parse().ok()
}

/// A count in one of Word's formats.
pub(super) fn formatted(count: u32, format: &str) -> String {
    match format {
        "lowerLetter" => alphabetic(count, 'a'),
        "upperLetter" => alphabetic(count, 'A'),
        "lowerRoman" => roman(count).to_lowercase(),
        "upperRoman" => roman(count),
        "decimalZero" => format!("{count:02}"),
        "none" => String::new(),
        _ => count.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Limits;

    const LISTS: &str = "<numbering>\
        <abstractNum abstractNumId='0'>\
          <lvl ilvl='0'><start val='1'/><numFmt val='decimal'/><lvlText val='%1.'/></lvl>\
          <lvl ilvl='1'><start val='1'/><numFmt val='lowerLetter'/><lvlText val='(%2)'/></lvl>\
          <lvl ilvl='2'><start val='1'/><numFmt val='lowerRoman'/><lvlText val='%1.%2.%3'/></lvl></abstractNum>\
        <abstractNum abstractNumId='1'><lvl ilvl='0'><numFmt val='bullet'/><lvlText val='o'/></lvl></abstractNum>\
        <num numId='1'><abstractNumId val='0'/></num>\
        <num numId='2'><abstractNumId val='0'/></num>\
        <num numId='3'><abstractNumId val='0'/><lvlOverride ilvl='0'><startOverride val='5'/></lvlOverride></num>\
        <num numId='4'><abstractNumId val='1'/></num></numbering>";

    #[test]
    fn lists_are_counted_as_word_does() {
        let mut numbering = Numbering::read(Some(&Tree::parse(LISTS, &Limits::default()).unwrap()));
        let mut next = |list: u32, depth: u8| match numbering.next(list, depth) {
            Some(Marker::Number(number)) => number,
            Some(Marker::Bullet) => "*".to_owned(),
            None => "-".to_owned(),
        };
        let shown = [next(1, 0), next(1, 1), next(1, 1), next(1, 2), next(1, 0), next(1, 1)];
        assert_eq!(shown, ["1", "a", "b", "1.b.i", "2", "a"]);
        assert_eq!(next(2, 0), "3", "a list that shares its definition goes on");
        assert_eq!([next(3, 0), next(3, 0)], ["5", "6"], "a list with a start of its own begins there, once");
        assert_eq!([next(4, 0), next(9, 0)], ["*", "-"]);
    }
}
