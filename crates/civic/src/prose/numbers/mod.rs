//! The numbers of a summary, looked up in the text that it summarises: a number that is not there was invented.
//!
//! Amounts of money, percentages, dates, times and plain numbers are compared by what they mean and not by how they are
//! written: `$1.2 million` is `1,200,000`, `5 percent` is `5.0%`, `March 3, 2026` is `3/3/2026`, `twelve` is `12`. Who
//! writes a number with `million` rounds it, so `$1.2 million` is also right for `$1,234,567`. A number that the source
//! does not state is told even if it follows from others, as a sum does: nobody has checked that it does.

mod mention;
mod words;

use bindery_fields::extract::value::{DateOrder, Decimal, date};
use mention::{Meaning, Mention, mentions};

/// What kind of number it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NumberKind {
    Money,
    Percentage,
    Date,
    Time,
    Count,
}

/// A number of a summary that its source does not state.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Unsupported {
    /// As the summary has it.
    pub text: String,
    pub kind: NumberKind,
}

/// All numbers of the summary that the source does not state, in the order of the summary, each once.
pub fn unsupported(summary: &str, source: &str) -> Vec<Unsupported> {
    // Councils of one country write dates one way; the source shows which.
    let order = match date::evident_order(source) {
        DateOrder::Unknown => DateOrder::MonthFirst,
        order => order,
    };
    let source = Source::read(source, order);
    let mut missing: Vec<Unsupported> = Vec::new();
    for mention in mentions(summary, order) {
        let found = Unsupported { kind: mention.meaning.kind(), text: mention.text };
        if !mention.is_list_marker && !source.states(&mention.meaning) && !missing.contains(&found) {
            missing.push(found);
        }
    }
    missing
}

/// All numbers of a text.
struct Source {
    mentions: Vec<Mention>,
    /// Every number on its own: also those of dates and in words.
    plain: Vec<Decimal>,
    in_words: Vec<Decimal>,
    speaks_of_percentages: bool,
}

impl Source {
    fn read(text: &str, order: DateOrder) -> Self {
        let mentions = mentions(text, order);
        let in_words = words::numbers(text);
        let mut plain = in_words.clone();
        for mention in &mentions {
            match &mention.meaning {
                Meaning::Money(number) | Meaning::Percentage(number) | Meaning::Count(number) => {
                    plain.extend(&number.readings);
                }
                Meaning::Date { year, month, day } => {
                    let parts = [year.map(i64::from), Some(i64::from(*month)), day.map(i64::from)];
                    plain.extend(parts.into_iter().flatten().filter_map(|part| Decimal::from_plain(&part.to_string())));
                }
                Meaning::Time(minutes) => {
                    let hours = minutes.iter().map(|minutes| minutes / 60);
                    plain.extend(hours.filter_map(|hour| Decimal::from_plain(&hour.to_string())));
                }
            }
        }
        let speaks_of_percentages = text.contains('%') || text.to_lowercase().contains("percent");
        Self { mentions, plain, in_words, speaks_of_percentages }
    }

    fn states(&self, wanted: &Meaning) -> bool {
        match wanted {
            Meaning::Count(number) => self.plain.iter().any(|value| number.agrees_with(*value)),
            // Tables say what their figures are in their headings, so a figure alone will do; but a small whole number
            // of something else is no amount of money.
            Meaning::Money(number) => {
                self.mentions.iter().any(|mention| match &mention.meaning {
                    Meaning::Money(other) => number.agrees_with_any(other),
                    Meaning::Count(other) => other.looks_like_money() && number.agrees_with_any(other),
                    _ => false,
                }) || number.looks_like_money() && self.in_words.iter().any(|value| number.agrees_with(*value))
            }
            Meaning::Percentage(number) => {
                let in_words = self.speaks_of_percentages.then_some(&self.in_words);
                self.mentions.iter().any(|mention| match &mention.meaning {
                    Meaning::Percentage(other) => number.agrees_with_any(other),
                    Meaning::Count(other) => self.speaks_of_percentages && number.agrees_with_any(other),
                    _ => false,
                }) || in_words.into_iter().flatten().any(|value| number.agrees_with(*value))
            }
            Meaning::Date { year, month, day } => self.mentions.iter().any(|mention| match &mention.meaning {
                Meaning::Date { year: other_year, month: other_month, day: other_day } => {
                    let same_day = day.is_none() || day == other_day;
                    let same_year = match (year, other_year) {
                        (Some(year), Some(other)) => year == other,
                        // The year stands in the heading, the days below it.
                        (Some(year), None) => {
                            Decimal::from_plain(&year.to_string()).is_some_and(|year| self.plain.contains(&year))
                        }
                        (None, _) => true,
                    };
                    month == other_month && same_day && same_year
                }
                _ => false,
            }),
            Meaning::Time(minutes) => self.mentions.iter().any(|mention| match &mention.meaning {
                Meaning::Time(others) => others.iter().any(|other| minutes.contains(other)),
                _ => false,
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn unsupported_texts(summary: &str, source: &str) -> Vec<String> {
        unsupported(summary, source).into_iter().map(|number| number.text).collect()
    }

    #[track_caller]
    fn assert_supported(summary: &str, source: &str) {
        assert_eq!(unsupported_texts(summary, source), Vec::<String>::new(), "{summary:?} by {source:?}");
    }

    #[test]
    fn amounts_are_compared_by_what_they_mean() {
        for (summary, source) in [
            ("It costs $1.2 million.", "not to exceed $1,200,000.00"),
            ("It costs $1,200,000.", "a sum of $1.2 million"),
            ("It costs $1.2M.", "a total of 1,200,000 for the project"),
            ("It costs **$1.2 million**.", "$1,234,567"),
            ("It costs $45,000.", "FORTY-FIVE THOUSAND DOLLARS"),
            ("It costs $45K.", "USD 45,000"),
            ("It costs 45,000 dollars.", "$45,000"),
            ("It costs €1.200.000,50.", "1200000.50 EUR"),
            ("It costs $950.", "a fee of $950.00 per year"),
            ("It costs $12.50.", "Fee | 12.50"),
        ] {
            assert_supported(summary, source);
        }
        for (summary, source, missing) in [
            ("It costs $1.3 million.", "$1,234,567", "$1.3 million"),
            ("It costs $1,234,567.", "$1.2 million", "$1,234,567"),
            ("It costs $500.", "500 trees", "$500"),
            ("It costs $30,000 in all.", "$10,000 and $20,000", "$30,000"),
            ("It costs $1.2 billion.", "$1.2 million", "$1.2 billion"),
        ] {
            assert_eq!(unsupported_texts(summary, source), [missing], "{summary:?} by {source:?}");
        }
    }

    #[test]
    fn invented_numbers_are_found_beside_those_that_are_stated() {
        let source = "The council will vote on a park for $1,200,000. (item-7)";
        let summary = "A park for **$1.2 million**, 15% more, by May 5, 2026.";
        assert_eq!(unsupported_texts(summary, source), ["15%", "May 5, 2026"]);
    }

    #[test]
    fn percentages_are_compared_by_what_they_mean() {
        assert_supported("up 5.0%", "an increase of 5 percent");
        assert_supported("up 5 percent", "an increase of five percent");
        assert_supported("up 2.5 per cent", "Change in % | 2.5");
        assert_eq!(
            unsupported_texts("up 15%", "up 5% for 15 years and 1.5 percent"),
            Vec::<String>::new(),
            "15 stands there"
        );
        assert_eq!(unsupported_texts("up 7%", "up 5% for 15 years"), ["7%"]);
        assert_eq!(unsupported_texts("up 15%", "15 years"), ["15%"], "nothing there is a percentage");
    }

    #[test]
    fn dates_and_times_are_compared_by_what_they_mean() {
        assert_supported("on March 3, 2026 at 6:00 p.m.", "3/3/2026, 18:00");
        assert_supported("on March 3 at 6 pm", "2026-03-03 6:00 P.M.");
        assert_supported("on March 3, 2026", "Calendar of 2026: March 3, budget; March 10, parks");
        assert_supported("in June 2026", "by 06/30/2026");
        assert_supported("from 7:30 to 9 p.m.", "7:30 p.m. - 9:00 p.m.");
        assert_supported("in 2026", "adopted 3/3/2026");
        assert_supported("on 4 July", "July 4th");
        assert_eq!(unsupported_texts("on March 4, 2026", "3/3/2026"), ["March 4, 2026"]);
        assert_eq!(unsupported_texts("on March 3, 2027", "3/3/2026"), ["March 3, 2027"]);
        assert_eq!(unsupported_texts("at 7:00 p.m.", "at 6:00 p.m."), ["7:00 p.m"]);
        assert_eq!(unsupported_texts("in July 2026", "by 06/30/2026"), ["July 2026"]);
    }

    #[test]
    fn counts_are_looked_up_and_list_markers_are_not() {
        assert_supported("1. Builds 12 homes\n2. Closes Ordinance 2026-0123", "twelve homes; Ordinance No. 2026-123");
        assert_supported("a vote of 7-2", "seven in favor, two against");
        assert_supported("Section 12.04.030 for 350 people", "three hundred and fifty people, section 12.04.030");
        let found = unsupported("It adds 14 units, 14 units.", "12 units");
        assert_eq!(found, [Unsupported { text: "14".to_owned(), kind: NumberKind::Count }], "once");
    }

    #[test]
    fn all_kinds_are_told_in_the_order_of_the_summary() {
        let found = unsupported("On May 5, 2026 it takes $9,999 or 8% of 77.", "nothing of that");
        let kinds: Vec<NumberKind> = found.iter().map(|number| number.kind).collect();
        assert_eq!(kinds, [NumberKind::Date, NumberKind::Money, NumberKind::Percentage, NumberKind::Count]);
    }

    proptest! {
        #[test]
        fn nothing_that_is_written_panics(summary in "\\PC{0,60}", source in "[0-9a-z $%.,:/-]{0,80}") {
            let _ = unsupported(&summary, &source);
            let _ = unsupported(&source, &summary);
        }

        #[test]
        fn a_text_supports_itself(text in "[0-9a-zA-Z $%.,:/\n-]{0,80}") {
            prop_assert_eq!(unsupported(&text, &text), vec![]);
        }

        #[test]
        fn words_of_numbers_do_not_overflow(words in prop::collection::vec("(nine|ninety|hundred|thousand|million|billion|and|first)", 0..40)) {
            let _ = words::numbers(&words.join(" "));
        }
    }
}
