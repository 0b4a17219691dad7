//! What a page looks like, whatever language it is in: named signals that a type's file may give a weight.

use super::{till, view::View};
use crate::pattern::pattern;
use bindery_reader::{Page, model::BlockKind};
use regex::Regex;

macro_rules! signals {
    ($($variant:ident $name:literal $sentence:literal;)*) => {
        /// Something that can be seen of a page without understanding its words.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Signal { $($variant,)* }

        impl Signal {
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// As files name it.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),* }
            }

            /// As reasons say it.
            pub fn sentence(self) -> &'static str {
                match self { $(Self::$variant => $sentence),* }
            }
        }
    };
}

signals! {
    FewWords "few_words" "it has only a few words";
    ManyWords "many_words" "it is full of text";
    MoneyTable "money_table" "it has a table with sums of money";
    ManyAmounts "many_amounts" "it states many sums of money";
    NoAmounts "no_amounts" "it states no sum of money";
    NegativeAmounts "negative_amounts" "it states sums below zero";
    DatedAmounts "dated_amounts" "its lines begin with a date and end with a sum";
    CardSize "card_size" "it has the size of a card or a passport";
    NarrowPage "narrow_page" "it is as narrow as a till roll";
    TallPage "tall_page" "it is at least twice as high as it is wide";
    TillWidth "till_width" "its lines have no more letters than those of a till roll";
    ChangeGiven "change_given" "the money given less the change is one of its sums";
    RoundedTotal "rounded_total" "its sum is rounded to what can be paid in coins";
    TimeOfDay "time_of_day" "a time of day stands beside a date";
    MachineLines "machine_lines" "it has the lines of an identity document that machines read";
    LabelLines "label_lines" "most of its lines are a label with a value";
    ShortLines "short_lines" "its lines are short and stand alone";
    LinesToFillIn "lines_to_fill_in" "it has lines to write on";
    Checkboxes "checkboxes" "it has boxes to tick";
    Bullets "bullets" "many of its lines begin with a bullet";
    NumberedItems "numbered_items" "it is a numbered list";
    Clauses "clauses" "its paragraphs are numbered as clauses are";
    DateRanges "date_ranges" "it names spans of years or months";
    Prose "prose" "it is running text";
    ContentsLines "contents_lines" "it has a table of contents";
    ContactAtTop "contact_at_top" "a telephone number or an e-mail stands at the top";
}

// Rows are folded: small letters, no accents, plain hyphens.
pattern!(AMOUNT, r"(?:^|[^\d.,])(-\s?)?(?:[$€£]\s?)?(-)?\d{1,3}(?:[., ']?\d{3})*[.,]\d{2}(?:\s?-)?(?:$|[^\d.,%])");
pattern!(BELOW_ZERO, r"(?:^|[\s(])-\s?(?:[$€£]\s?)?\d{1,3}(?:[., ']?\d{3})*[.,]\d{2}(?:\D|$)|\d[.,]\d{2}-(?:\s|$)");
pattern!(
    STARTS_WITH_DATE,
    r"^\W{0,2}(?:\d{1,2}[./-]\d{1,2}(?:[./-]\d{2,4})?|\d{4}-\d{2}-\d{2}|\d{1,2}\.? ?[a-z]{3,9}\.?)(?:\s|$)"
);
pattern!(ENDS_WITH_AMOUNT, r"\d[.,]\d{2}\s?(?:[-+$€£]|eur|usd|gbp|chf|cr|dr|[sh])?\s*$");
pattern!(LABEL, r"^[^:]{2,40}:\s*\S.{0,60}$");
pattern!(BLANK_TO_FILL, r"_{5,}|\.{12,}|…{4,}");
pattern!(CHECKBOX, r"\[\s?[x ]?\s?\]|[☐☑☒□■◻❏❑]|\(\s\)");
pattern!(BULLET, r"^[•·▪●◦‣*-]\s*\S");
pattern!(NUMBERED, r"^(?:\d{1,2}|[a-z]|[ivx]{1,4})[.)]\s+\S");
pattern!(
    CLAUSE,
    r"^(?:§+\s*\d|(?:article|art\.|articulo|artikel|clausula|section)\s+\d|\d{1,2}\.\d{1,2}\.?\s+\S|\(\d{1,2}\)\s)"
);
pattern!(
    DATE_RANGE,
    r"\b(?:(?:0?[1-9]|1[0-2])[/.]|[a-z]{3,10}\.? )?(?:19|20)\d\d\s?(?:-|to|bis|a|au|hasta)\s?(?:(?:(?:0?[1-9]|1[0-2])[/.]|[a-z]{3,10}\.? )?(?:19|20)\d\d\b|present|heute|now|today|to date|date|actualidad|actual|hoy|aujourd)"
);
pattern!(CONTENTS, r"(?:\.\s?){4,}\s*\d{1,4}$");
pattern!(CONTACT, r"[a-z0-9._-]+@[a-z0-9-]+\.[a-z]|\+\d{2}[\d ()/-]{7,}|\(\d{3}\)\s?\d{3}-\d{4}|\btel\b|\bphone\b");
pattern!(
    DATE_AND_TIME,
    r"\d{1,4}[./-](?:\d{1,2}|[a-z]{3})[./-]\d{2,4}\W{0,3}(?:time\W{0,3}|zeit\W{0,3}|hora\W{0,3}|heure\W{0,3}|ora\W{0,3})?(?:[01]?\d|2[0-3]):[0-5]\d"
);
pattern!(
    TIME_AND_DATE,
    r"\b(?:[01]?\d|2[0-3]):[0-5]\d(?::[0-5]\d)?\s?(?:[ap]\.?m\.?)?\W{0,3}(?:date\W{0,3}|datum\W{0,3})?\d{1,4}[./-]\d{1,2}[./-]\d{2,4}"
);
pattern!(MACHINE_LINE, r"^[a-z0-9<«]*(?:<<|<[a-z0-9]+<|<k<|«<|<«)[a-z0-9<«]*$");

/// What can be seen of this page.
pub(super) fn detect_signals(page: &Page, view: &View) -> Vec<Signal> {
    let rows = &view.rows;
    let count = |pattern: &Regex| rows.iter().filter(|row| pattern.is_match(row)).count();
    let amounts: usize = rows.iter().map(|row| AMOUNT.find_iter(row).count()).sum();
    let share = |part: usize, of_hundred: usize| !rows.is_empty() && part * 100 >= rows.len() * of_hundred;
    let numbered = count(&NUMBERED) + numbered_blocks(page);
    let labels = count(&LABEL);
    let bullets = count(&BULLET) + bullet_blocks(page);
    let long_rows = rows.iter().filter(|row| row.split(' ').nth(8).is_some()).count();
    let short_rows = rows.iter().filter(|row| row.split(' ').nth(4).is_none()).count();
    let dated = rows.iter().filter(|row| STARTS_WITH_DATE.is_match(row) && ENDS_WITH_AMOUNT.is_match(row)).count();
    let till = till::TillSums::new(rows);
    let machine = rows.iter().filter(|row| MACHINE_LINE.is_match(&row.replace(' ', ""))).count();

    let is_seen = |signal: &Signal| match signal {
        Signal::FewWords => view.words > 0 && view.words < 45,
        Signal::ManyWords => view.words >= 220,
        Signal::MoneyTable => has_money_table(page) || count(&ENDS_WITH_AMOUNT) >= 4 && amounts >= 8,
        Signal::ManyAmounts => amounts >= 6,
        Signal::NoAmounts => amounts == 0,
        Signal::NegativeAmounts => count(&BELOW_ZERO) >= 1,
        Signal::DatedAmounts => dated >= 4 && share(dated, 15),
        Signal::CardSize => has_size(page, 120.0..400.0, 1.3..1.75),
        Signal::NarrowPage => has_size(page, 120.0..300.0, 0.05..0.85),
        Signal::TallPage => page.size.is_some_and(|size| size.height >= 2.0 * size.width && size.width > 0.0),
        Signal::TillWidth => till::has_till_width(page),
        Signal::ChangeGiven => till.is_change_given,
        Signal::RoundedTotal => till.is_rounded,
        Signal::TimeOfDay => rows.iter().any(|row| DATE_AND_TIME.is_match(row) || TIME_AND_DATE.is_match(row)),
        Signal::MachineLines => machine >= 1,
        Signal::LabelLines => labels >= 4 && share(labels, 35),
        Signal::ShortLines => rows.len() >= 8 && share(short_rows, 60),
        Signal::LinesToFillIn => count(&BLANK_TO_FILL) >= 3,
        Signal::Checkboxes => rows.iter().map(|row| CHECKBOX.find_iter(row).count()).sum::<usize>() >= 2,
        Signal::Bullets => bullets >= 4 && share(bullets, 15),
        Signal::NumberedItems => numbered >= 4 && share(numbered, 12),
        Signal::Clauses => count(&CLAUSE) >= 3,
        Signal::DateRanges => rows.iter().map(|row| DATE_RANGE.find_iter(row).count()).sum::<usize>() >= 2,
        Signal::Prose => long_rows >= 5 && share(long_rows, 40),
        Signal::ContentsLines => count(&CONTENTS) >= 3,
        Signal::ContactAtTop => has_contact_at_top(view),
    };
    Signal::ALL.iter().copied().filter(is_seen).collect()
}

/// A telephone number or an e-mail in the upper part, as letterheads and résumés have it.
pub(super) fn has_contact_at_top(view: &View) -> bool {
    view.top_rows().iter().any(|row| CONTACT.is_match(row))
}

fn numbered_blocks(page: &Page) -> usize {
    list_items(page, |marker| matches!(marker, bindery_reader::model::Marker::Number(_)))
}

fn bullet_blocks(page: &Page) -> usize {
    list_items(page, |marker| matches!(marker, bindery_reader::model::Marker::Bullet))
}

/// Where words have no places, rows come from blocks, whose markers are not part of the text.
fn list_items(page: &Page, wanted: impl Fn(&bindery_reader::model::Marker) -> bool) -> usize {
    if !page.words.is_empty() {
        return 0;
    }
    let is_item = |kind: &BlockKind| matches!(kind, BlockKind::ListItem { marker, .. } if wanted(marker));
    page.blocks.iter().filter(|block| is_item(&block.kind)).count()
}

/// Whether a table has a column with at least two sums of money below each other.
fn has_money_table(page: &Page) -> bool {
    page.blocks.iter().any(|block| {
        let BlockKind::Table { table } = &block.kind else { return false };
        let mut sums = vec![0_usize; table.columns.min(64)];
        for cell in &table.cells {
            if let Some(sum) = sums.get_mut(cell.column)
                && AMOUNT.is_match(&cell.text.text())
            {
                *sum += 1;
            }
        }
        table.columns >= 3 && sums.iter().any(|sum| *sum >= 2)
    })
}

fn has_size(page: &Page, widths: std::ops::Range<f32>, aspects: std::ops::Range<f32>) -> bool {
    page.size.is_some_and(|size| {
        size.height > 0.0 && widths.contains(&size.width) && aspects.contains(&(size.width / size.height))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_of_money_are_told_from_other_numbers() {
        for sum in ["12.50", "$1,234.00", "1.234,56 €", "1 234,56", "-12,00", "- 4.20"] {
            assert!(AMOUNT.is_match(sum), "{sum}");
        }
        for other in ["1.1", "12.06.2023", "2023", "4.2 %", "8.00%", "1.234"] {
            assert!(!AMOUNT.is_match(other), "{other}");
        }
        assert!(BELOW_ZERO.is_match("total -12.00") && BELOW_ZERO.is_match("1.234,00-"));
        assert!(!BELOW_ZERO.is_match("total 12.00") && !BELOW_ZERO.is_match("a-12.00"));
    }

    #[test]
    fn a_time_of_day_stands_before_or_behind_its_date() {
        for row in ["date: 21/03/2018 10:12", "2018-03-21 18:05:33", "21-mar-18 time: 9:05 pm"] {
            assert!(DATE_AND_TIME.is_match(row), "{row}");
        }
        assert!(TIME_AND_DATE.is_match("14:22:10 21/03/2018") && TIME_AND_DATE.is_match("2:22 pm 21/03/18"));
        for row in ["due on 21/03/2018", "open 10:00 - 22:00", "21/03/2018 12.50"] {
            assert!(!DATE_AND_TIME.is_match(row) && !TIME_AND_DATE.is_match(row), "{row}");
        }
    }

    #[test]
    fn spans_of_time_are_found() {
        for span in ["2016 - 2019", "03/2014 - 05/2016", "mai 2010 - juni 2012", "2019 - present", "2019 - aujourd'hui"]
        {
            assert!(DATE_RANGE.is_match(span), "{span}");
        }
        assert!(!DATE_RANGE.is_match("2023-08-17"));
    }

    #[test]
    fn names_are_unique_and_every_pattern_compiles() {
        let mut names: Vec<_> = Signal::ALL.iter().map(|signal| signal.name()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), Signal::ALL.len());
        for pattern in [
            &AMOUNT,
            &BELOW_ZERO,
            &STARTS_WITH_DATE,
            &ENDS_WITH_AMOUNT,
            &LABEL,
            &BLANK_TO_FILL,
            &CHECKBOX,
            &BULLET,
            &NUMBERED,
            &CLAUSE,
            &DATE_RANGE,
            &CONTENTS,
            &CONTACT,
            &DATE_AND_TIME,
            &TIME_AND_DATE,
            &MACHINE_LINE,
        ] {
            assert!(!pattern.as_str().is_empty());
        }
    }
}
