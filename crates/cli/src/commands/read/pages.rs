//! Which pages: `1-3,7`, `5-`, `-2`.

use std::{ops::Range, str::FromStr};

/// Ranges of page numbers from 1, as they were given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PageRanges(Vec<(usize, Option<usize>)>);

impl FromStr for PageRanges {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let expected = |part: &str| format!("{part:?} is not a page or a range of pages, such as 3, 1-3 or 5-");
        let number = |digits: &str, part: &str| -> Result<usize, String> {
            digits.trim().parse().ok().filter(|number| *number > 0).ok_or_else(|| expected(part))
        };
        let range = |part: &str| match part.split_once('-') {
            None => number(part, part).map(|page| (page, Some(page))),
            Some(("", "")) => Err(expected(part)),
            Some((first, last)) => {
                let first = if first.trim().is_empty() { 1 } else { number(first, part)? };
                let last = if last.trim().is_empty() { None } else { Some(number(last, part)?) };
                if last.is_some_and(|last| last < first) { Err(expected(part)) } else { Ok((first, last)) }
            }
        };
        text.split(',').map(range).collect::<Result<_, _>>().map(Self)
    }
}

impl PageRanges {
    /// As indexes from 0 of a file with so many pages, in their order, without what the file does not have.
    pub(super) fn ranges(&self, count: usize) -> Vec<Range<usize>> {
        let ranges = self.0.iter().map(|(first, last)| first - 1..last.unwrap_or(count).min(count));
        ranges.filter(|range| !range.is_empty()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_read_and_cut_to_the_file() {
        let ranges: PageRanges = "1-3,7,9-".parse().unwrap();
        assert_eq!(ranges.ranges(10), [0..3, 6..7, 8..10]);
        assert_eq!(ranges.ranges(2), vec![0..2; 1]);
        assert_eq!("-2".parse::<PageRanges>().unwrap().ranges(5), vec![0..2; 1]);
        for wrong in ["", "0", "3-1", "a", "-", "1,,2", "1-2-3"] {
            assert!(wrong.parse::<PageRanges>().is_err(), "{wrong}");
        }
    }
}
