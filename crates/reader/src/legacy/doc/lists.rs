//! Lists of a Word file: what stands before each item, counted as Word counts.

use crate::{
    legacy::{
        bytes::{Bytes, u16_at, u32_at, wide_text},
        flow::marker_of,
    },
    markup::written,
    model::Marker,
};
use std::collections::HashMap;

const LEVELS: usize = 9;
const MOST_LISTS: usize = 4096;

#[derive(Debug, Clone, Default)]
struct Level {
    start: i64,
    form: u8,
    /// Signs below 9 stand for the number of that level.
    pattern: String,
}

#[derive(Debug, Default)]
pub(super) struct Lists {
    /// By the list's own number.
    levels: HashMap<u32, Vec<Level>>,
    /// Paragraphs name a list by its place here, from 1.
    overrides: Vec<u32>,
    counts: HashMap<u32, [Option<i64>; LEVELS]>,
}

impl Lists {
    /// `lists` reaches beyond its own size: the levels lie behind it.
    pub(super) fn read(lists: &[u8], overrides: &[u8]) -> Self {
        let mut read = Self::default();
        read.read_levels(lists);
        let count = (u32_at(overrides, 0).unwrap_or_default() as usize).min(MOST_LISTS);
        read.overrides = (0..count).map_while(|index| u32_at(overrides, 4 + index * 16)).collect();
        read
    }

    fn read_levels(&mut self, lists: &[u8]) -> Option<()> {
        let count = usize::from(u16_at(lists, 0)?).min(MOST_LISTS);
        let mut rest = Bytes::at(lists, 2 + count * 28);
        for index in 0..count {
            let list = lists.get(2 + index * 28..)?.get(..28)?;
            let simple = list.get(26)? & 1 != 0;
            let mut levels = Vec::new();
            for _ in 0..if simple { 1 } else { LEVELS } {
                levels.push(level(&mut rest)?);
            }
            self.levels.insert(u32_at(list, 0)?, levels);
        }
        Some(())
    }

    /// The marker of the next item of this list and level; None if it has none.
    pub(super) fn next(&mut self, list: u16, level: u8) -> Option<Marker> {
        let index = usize::from(list).checked_sub(1)?;
        let Some(id) = self.overrides.get(index) else { return Some(Marker::Bullet) };
        let Some(levels) = self.levels.get(id) else { return Some(Marker::Bullet) };
        let place = usize::from(level).min(levels.len().saturating_sub(1));
        let this = levels.get(place)?;
        let counts = self.counts.entry(*id).or_default();
        let count = counts.get_mut(place)?;
        *count = Some(count.map_or(this.start, |count| count.saturating_add(1)));
        counts.iter_mut().skip(place + 1).for_each(|deeper| *deeper = None);
        if this.form == 23 {
            return Some(Marker::Bullet);
        }
        let mut printed = String::new();
        for letter in this.pattern.chars() {
            let Some(level) = levels.get(letter as usize).filter(|_| (letter as usize) < LEVELS) else {
                printed.push(letter);
                continue;
            };
            let number = counts.get(letter as usize).copied().flatten().unwrap_or(level.start);
            printed.push_str(&number_in(number, level.form));
        }
        (!printed.trim().is_empty()).then(|| marker_of(&printed))
    }
}

fn level(rest: &mut Bytes) -> Option<Level> {
    let head = rest.take(28)?;
    let start = u32_at(head, 0)?.cast_signed().into();
    let (letters, paragraphs) = (usize::from(*head.get(24)?), usize::from(*head.get(25)?));
    rest.take(letters + paragraphs)?;
    let length = usize::from(rest.u16()?);
    let pattern = wide_text(rest.take(length * 2)?);
    Some(Level { start, form: *head.get(4)?, pattern })
}

/// The number in the form that Word has this code for.
fn number_in(number: i64, code: u8) -> String {
    match code {
        1 => written(number, 'I'),
        2 => written(number, 'i'),
        3 => written(number, 'A'),
        4 => written(number, 'a'),
        5 => {
            let ending = match (number % 10, number % 100) {
                (_, 11..=13) => "th",
                (1, _) => "st",
                (2, _) => "nd",
                (3, _) => "rd",
                _ => "th",
            };
            format!("{number}{ending}")
        }
        22 => format!("{number:02}"),
        _ => number.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_count_on_and_start_again_below() {
        let level = |form, pattern: &str| Level { start: 1, form, pattern: pattern.to_owned() };
        let mut lists = Lists {
            levels: HashMap::from([(7, vec![level(0, "\0."), level(4, "\0.\u{1})"), level(23, "\u{b7}")])]),
            overrides: vec![7],
            counts: HashMap::new(),
        };
        let mut next = |level| lists.next(1, level);
        let number = |text: &str| Some(Marker::Number(text.to_owned()));
        assert_eq!(next(0), number("1"));
        assert_eq!(next(1), number("1.a"));
        assert_eq!(next(1), number("1.b"));
        assert_eq!(next(0), number("2"));
        assert_eq!(next(1), number("2.a"));
        assert_eq!(next(2), Some(Marker::Bullet));
        assert_eq!(lists.next(0, 0), None);
    }
}
