//! What tells a till: what it prints below its sums, the money given, the change, the rounding; and how wide it prints.

use crate::extract::{
    label::plain_parts,
    learned::lexicon::{self, Categories, Category},
};
use crate::pattern::pattern;
use bindery_reader::{Page, Word};
use std::collections::BTreeSet;

/// More rows than this are no till roll.
const MOST_ROWS: usize = 300;
/// A coin is worth no more, in hundredths: what is rounded off is less.
const LARGEST_ROUNDING: i64 = 10;

/// Tills print lines of up to 48 letters, letters and invoices on paper of the usual size over 60.
const WIDEST_TILL: f32 = 52.0;
/// Fewer words are a cover or a label, whatever their width.
const FEWEST_WORDS: usize = 20;

/// Whether what is printed on a page is as wide as a till roll, counted in letters: no scan says how large it was on paper.
pub(super) fn has_till_width(page: &Page) -> bool {
    let words = page.words.iter().filter(|word| word.bbox.x0.is_finite() && word.bbox.x1.is_finite());
    let letters = |word: &Word| word.text.chars().count();
    let long = words.clone().filter(|word| letters(word) >= 3);
    let mut widths: Vec<f32> = long.map(|word| word.bbox.width() / letters(word) as f32).collect();
    let (mut lefts, mut rights): (Vec<f32>, Vec<f32>) = words.map(|word| (word.bbox.x0, word.bbox.x1)).unzip();
    if widths.len() < FEWEST_WORDS {
        return false;
    }
    for values in [&mut widths, &mut lefts, &mut rights] {
        values.sort_by(f32::total_cmp);
    }
    // Specks at the edges of a scan are no print.
    let aside = lefts.len() / 50;
    let width = rights[rights.len() - 1 - aside] - lefts[aside];
    let letter = widths[widths.len() / 2];
    letter > 0.0 && width <= WIDEST_TILL * letter
}

// The last sum of a folded row, perhaps with a mark of a currency or a tax behind it.
pattern!(LAST_SUM, r"(\d{1,3}(?:[ ,.']\d{3})*|\d+)[.,](\d{2})\s?[a-z*€£$]{0,3}\s*$");

/// The sums of a till, as far as they tell a slip from other papers.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct TillSums {
    /// Whether the money given less the change is one of the other sums.
    pub is_change_given: bool,
    /// Whether a line states what was rounded off.
    pub is_rounded: bool,
}

impl TillSums {
    /// From the folded rows of a page.
    pub(super) fn new(rows: &[String]) -> Self {
        let mut till = Self::default();
        let mut sums: BTreeSet<i64> = BTreeSet::new();
        let (mut given, mut change) = (Vec::new(), Vec::new());
        for row in rows.iter().take(MOST_ROWS) {
            let Some(sum) = last_sum(row) else { continue };
            let categories = categories(row);
            if categories.has(Category::Rounding) && sum < LARGEST_ROUNDING {
                till.is_rounded = true;
            }
            match (categories.has(Category::Change), categories.has_any(&[Category::Cash, Category::Paid])) {
                (true, _) => change.push(sum),
                (false, true) => given.push(sum),
                (false, false) => drop(sums.insert(sum)),
            }
        }
        let is_left = |given: &i64| change.iter().any(|change| *change > 0 && sums.contains(&(given - change)));
        till.is_change_given = given.iter().any(is_left);
        till
    }
}

fn categories(row: &str) -> Categories {
    let parts: Vec<String> = row.split_whitespace().flat_map(plain_parts).collect();
    let hits = lexicon::hits(parts.iter().map(String::as_str));
    hits.iter().fold(Categories::default(), |all, hit| all.union(hit.categories))
}

/// In hundredths.
fn last_sum(row: &str) -> Option<i64> {
    let found = LAST_SUM.captures(row)?;
    let whole: String = found[1].chars().filter(char::is_ascii_digit).collect();
    let cents: i64 = found[2].parse().ok()?;
    whole.parse::<i64>().ok().filter(|whole| *whole < 100_000_000).map(|whole| whole * 100 + cents)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn till(rows: &[&str]) -> TillSums {
        TillSums::new(&rows.iter().map(|row| (*row).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn money_given_less_the_change_is_the_total() {
        assert!(till(&["tea 5.00", "total rm 25.00", "cash 50.00", "change 25.00"]).is_change_given);
        assert!(till(&["summe eur 7,42", "bar 10,00", "ruckgeld 2,58"]).is_change_given);
        assert!(!till(&["total 25.00", "cash 25.00", "change 0.00"]).is_change_given, "nothing was given back");
        assert!(!till(&["total 25.00", "cash 60.00", "change 25.00"]).is_change_given, "the sum does not hold");
        assert!(!till(&["invoice total 25.00", "payable within 30 days"]).is_change_given);
    }

    #[test]
    fn only_what_coins_cannot_pay_is_rounded_off() {
        assert!(till(&["rounding adj -0.02", "total 17.20"]).is_rounded);
        assert!(!till(&["rounding 17.20"]).is_rounded);
    }

    #[test]
    fn long_figures_are_no_sum() {
        assert!(!till(&["cash 99999999999999999999.00", "change 1.00"]).is_change_given);
    }
}
