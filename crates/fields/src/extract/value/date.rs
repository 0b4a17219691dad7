//! Dates in figures and words, in the languages of Europe.

use super::Parsed;
use crate::pattern::constant_regex;
use bindery_core::fold::fold_text;
use jiff::civil::Date;
use regex::{Captures, Regex};
use std::sync::LazyLock;

/// Whether the day or the month comes first in `03/04/2018`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DateOrder {
    #[default]
    Unknown,
    DayFirst,
    MonthFirst,
    /// The month comes first as far as can be told, which is not far.
    LikelyMonthFirst,
}

/// The first letters of the months, lower case and without accents; enough to tell them apart in all languages.
const MONTHS: &[(&str, i8)] = &[
    ("jan", 1),
    ("ene", 1),
    ("feb", 2),
    ("fev", 2),
    ("fevr", 2),
    ("mar", 3),
    ("mrz", 3),
    ("maer", 3),
    ("apr", 4),
    ("avr", 4),
    ("abr", 4),
    ("may", 5),
    ("mai", 5),
    ("jun", 6),
    ("juin", 6),
    ("jul", 7),
    ("juil", 7),
    ("aug", 8),
    ("aou", 8),
    ("ago", 8),
    ("sep", 9),
    ("set", 9),
    ("oct", 10),
    ("okt", 10),
    ("nov", 11),
    ("dec", 12),
    ("dez", 12),
    ("dic", 12),
    // Italian, Dutch, Swedish and Portuguese.
    ("gen", 1),
    ("maa", 3),
    ("mei", 5),
    ("mag", 5),
    ("maj", 5),
    ("giu", 6),
    ("lug", 7),
    ("ott", 10),
    ("out", 10),
    // Polish and Czech.
    ("sty", 1),
    ("led", 1),
    ("lut", 2),
    ("uno", 2),
    ("brez", 3),
    ("kwi", 4),
    ("dub", 4),
    ("kve", 5),
    ("czer", 6),
    ("cervn", 6),
    ("lip", 7),
    ("cervenc", 7),
    ("sie", 8),
    ("srp", 8),
    ("wrz", 9),
    ("zar", 9),
    ("paz", 10),
    ("rij", 10),
    ("lis", 11),
    ("gru", 12),
    ("pros", 12),
];

/// The names of the months, as part of a pattern.
pub const MONTH_WORDS: &str = r"(?:jan(?:uary|uari|uar|vier|eiro|\.)?|gen(?:naio|\.)?|ene(?:ro|\.)?|jänner|stycznia|ledna|f[eé]v(?:rier|ereiro|r\.?|\.)?|feb(?:ruary|ruari|ruar|rero|braio|\.)?|lutego|února|m(?:ar(?:ch|s|zo|ço|ca|\.)?|ärz|rz\.?|aerz|aart)|března|apr(?:ile|il|\.)?|avr(?:il|\.)?|abr(?:il|\.)?|kwietnia|dubna|ma(?:ggio|io|ja|y(?:o)?|i|j)|mei|května|juin|giu(?:gno|\.)?|juil(?:let|\.)?|jun(?:ho|e|i|io|\.)?|jul(?:ho|y|i|io|\.)?|czerwca|června|lug(?:lio|\.)?|lipca|července|aug(?:ustus|usti|ust|\.)?|ao[uû]t|ago(?:sto|\.)?|sierpnia|srpna|sep(?:tember|tembre|tiembre|t\.?|\.)?|set(?:tembre|embro|iembre|\.)?|września|září|o[ck]t(?:ober|obre|ubre|\.)?|ott(?:obre|\.)?|out(?:ubro|\.)?|października|října|nov(?:ember|embre|embro|iembre|\.)?|listopad[au]|d[eé]c(?:ember|embre|\.)?|dez(?:ember|embro|\.)?|dic(?:iembre|embre|\.)?|grudnia|prosince)";

static YEAR_FIRST: LazyLock<Regex> = LazyLock::new(|| {
    constant_regex(r"\b(?P<y>(?:19|20)\d{2})([-/.])(?P<m>\d{1,2})([-/.])(?P<d>\d{1,2})(?:\b|T\d{2}:)")
});
static FIGURES: LazyLock<Regex> = LazyLock::new(|| {
    // A time may follow, or a label go before, without a space: `Date30/05/201710:18`.
    constant_regex(
        r"(?i)(?:\b|date|datum|fecha|data|dato|tarikh)(?P<a>\d{1,2})(?P<s>[-/.]) ?(?P<b>\d{1,2})(?P<t>[-/.]) ?(?P<y>(?:19|20)\d{2}|\d{2})(?:\b|[0-2]?\d:[0-5]\d|[a-z]{2,3}\b)",
    )
});
/// `30 / 05 / 2017`, as forms and some tills space it.
static SPACED_FIGURES: LazyLock<Regex> = LazyLock::new(|| {
    constant_regex(r"\b(?P<a>\d{1,2}) (?P<s>[-/.]) (?P<b>\d{1,2}) (?P<t>[-/.]) (?P<y>(?:19|20)\d{2}|\d{2})\b")
});
static DAY_MONTH: LazyLock<Regex> = LazyLock::new(|| {
    constant_regex(&format!(
        r"(?i)\b(?P<d>\d{{1,2}})(?:\.|er|st|nd|rd|th|º)?(?: de | of | day of | ?[-/] ?| {{1,2}}|\. )?(?P<m>{MONTH_WORDS})(?: ?,? (?:de |del )?| ?[-/'’] ?|\.|, ?| {{2}}|)(?P<y>(?:19|20)\d{{2}}|\d{{2}})(?:\b|[0-2]?\d:[0-5]\d)"
    ))
});
static MONTH_DAY: LazyLock<Regex> = LazyLock::new(|| {
    constant_regex(&format!(
        r"(?i)\b(?P<m>{MONTH_WORDS})(?: {{1,2}}|\. ?| ?[-/] ?)(?P<d>\d{{1,2}})(?:st|nd|rd|th)?(?: ?, {{0,2}}| ?[ /-] ?)(?P<y>(?:19|20)\d{{2}})(?:\b|[0-2]?\d:[0-5]\d)"
    ))
});

/// A date that stands in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundDate {
    pub range: std::ops::Range<usize>,
    pub parsed: Parsed,
}

/// No date has fewer figures: a day and a year of two.
pub(crate) const FEWEST_FIGURES: usize = 3;

/// All dates of a text, from left to right.
pub fn find(text: &str, order: DateOrder) -> Vec<FoundDate> {
    let mut found: Vec<FoundDate> = Vec::new();
    // Most texts have no figures, and patterns take their time.
    if text.bytes().filter(u8::is_ascii_digit).count() < FEWEST_FIGURES {
        return found;
    }
    let mut add = |range: std::ops::Range<usize>, parsed: Option<Parsed>| {
        let is_free = found.iter().all(|other| range.end <= other.range.start || range.start >= other.range.end);
        // The 9 of `A-808-9 of February 18` is the end of a number, not a day; but one date may follow another with a
        // mere dash: `02/26/20-03/03/20`.
        let follows = |mark: &str| {
            let before = text[..range.start].strip_suffix(mark).map(str::len);
            before.is_some_and(|end| found.iter().any(|other| other.range.end == end))
        };
        let stands_free = !text[..range.start].ends_with(['-', '/', '.']) || follows("-");
        if let (Some(parsed), true) = (parsed, is_free && stands_free) {
            found.push(FoundDate { range, parsed });
        }
    };
    for words in [&*MONTH_DAY, &*DAY_MONTH] {
        for captures in words.captures_iter(text) {
            let year = printed_year(&captures, text);
            add(whole(&captures).start..year.end, in_words(&captures, &text[year]));
        }
    }
    for captures in YEAR_FIRST.captures_iter(text) {
        let date = civil(year(&captures["y"]), captures["m"].parse().ok(), captures["d"].parse().ok());
        // A time may follow without a space, and is no part of the date.
        let end = captures.name("d").map_or(0, |day| day.end());
        add(whole(&captures).start..end, date.map(|date| Parsed::sure(date.to_string())));
    }
    for captures in FIGURES.captures_iter(text).chain(SPACED_FIGURES.captures_iter(text)) {
        // What is glued to a date is no part of it.
        let start = captures.name("a").map_or(0, |first| first.start());
        let year = printed_year(&captures, text);
        add(start..year.end, in_figures(&captures, &text[year], order));
    }
    found.sort_by_key(|date| date.range.start);
    found
}

/// Letters that OCR reads for figures. All are of one byte, so places in a text stay as they are.
const CONFUSED: &[(char, char)] = &[
    ('O', '0'),
    ('o', '0'),
    ('Q', '0'),
    ('D', '0'),
    ('@', '0'),
    ('I', '1'),
    ('l', '1'),
    ('|', '1'),
    ('S', '5'),
    ('B', '8'),
];

/// `04t27t20`, `05lo4l20`: dates whose slashes OCR took for letters.
static LETTERED_SLASHES: LazyLock<Regex> = LazyLock::new(|| {
    constant_regex(r"\b(?P<a>[0-3oO]\d)(?P<s>[tlI1|/])(?P<b>[0-3oO]\d)(?P<t>[tlI1|/])(?P<y>(?:20)?\d\d)\b")
});

/// A text in which the slashes of dates that OCR took for letters are slashes again; None where there are none. At least one
/// of the two must be no figure: `0411212` is a number.
pub fn with_slashes_restored(text: &str) -> Option<String> {
    let restored = LETTERED_SLASHES.replace_all(text, |found: &Captures<'_>| {
        if [&found["s"], &found["t"]].iter().all(|mark| matches!(*mark, "1" | "/")) {
            return found[0].to_owned();
        }
        let figures = |part: &str| part.replace(['o', 'O'], "0");
        format!("{}/{}/{}", figures(&found["a"]), figures(&found["b"]), &found["y"])
    });
    (restored != text).then(|| restored.into_owned())
}

/// A text in which the letters among figures, as in `25-Q1-2@17`, are the figures that OCR took for them; None where
/// there are none.
pub fn with_figures_restored(text: &str) -> Option<String> {
    let is_confused = |c: char| CONFUSED.iter().any(|(read, _)| *read == c);
    let is_part = |c: char| c.is_ascii_digit() || is_confused(c);
    let mut restored = String::with_capacity(text.len());
    for run in text.split_inclusive(|c: char| !c.is_alphanumeric() && !is_confused(c)) {
        let part = run.trim_end_matches(|c: char| !c.is_alphanumeric() && !is_confused(c));
        let is_number =
            matches!(part.len(), 2 | 4) && part.chars().all(is_part) && part.bytes().any(|b| b.is_ascii_digit());
        let figure = |c: char| CONFUSED.iter().find(|(read, _)| *read == c).map_or(c, |(_, printed)| *printed);
        if is_number {
            restored.extend(run.chars().map(figure));
        } else {
            restored.push_str(run);
        }
    }
    (restored != text).then_some(restored)
}

/// A text that is a date and nothing else but a few words around it.
pub fn parse(text: &str, order: DateOrder) -> Option<Parsed> {
    let text = text.trim();
    if let Some(compact) = compact(text) {
        return Some(Parsed::sure(compact.to_string()));
    }
    find(text, order).into_iter().next().map(|date| date.parsed)
}

/// `20180305`, as files for machines have it.
fn compact(text: &str) -> Option<Date> {
    if text.len() != 8 || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    civil(text[..4].parse().ok(), text[4..6].parse().ok(), text[6..].parse().ok())
}

/// The order that dates in figures show: a number above 12 can only be a day.
pub fn evident_order(text: &str) -> DateOrder {
    for captures in FIGURES.captures_iter(text).chain(SPACED_FIGURES.captures_iter(text)) {
        let (first, second): (i8, i8) = match (captures["a"].parse(), captures["b"].parse()) {
            (Ok(first), Ok(second)) => (first, second),
            _ => continue,
        };
        match (first > 12, second > 12) {
            (true, false) if first <= 31 => return DateOrder::DayFirst,
            (false, true) if second <= 31 => return DateOrder::MonthFirst,
            _ => {}
        }
    }
    DateOrder::Unknown
}

/// Where the year stands. Of `20/06/2015:18` it is the 20: the 15 is the hour of the time behind it.
fn printed_year(captures: &Captures<'_>, text: &str) -> std::ops::Range<usize> {
    let year = captures.name("y").map_or(0..0, |year| year.range());
    let is_time = text[year.end..].starts_with(':')
        && text[year.end + 1..].bytes().take_while(u8::is_ascii_digit).count() == 2
        && text.get(year.end.saturating_sub(2)..year.end).is_some_and(|hour| hour < "24");
    if year.len() == 4 && is_time { year.start..year.start + 2 } else { year }
}

fn whole(captures: &Captures<'_>) -> std::ops::Range<usize> {
    captures.get(0).map_or(0..0, |whole| whole.range())
}

fn in_words(captures: &Captures<'_>, printed_year: &str) -> Option<Parsed> {
    let date = civil(year(printed_year), month_of(&captures["m"]), captures["d"].parse().ok())?;
    Some(Parsed::sure(date.to_string()))
}

/// The month by a word that [`MONTH_WORDS`] knows.
pub fn month_of(word: &str) -> Option<i8> {
    let word = fold_text(word);
    let month = MONTHS.iter().filter(|(start, _)| word.starts_with(start)).max_by_key(|(start, _)| start.len());
    // "März" is the only month whose umlaut is part of its first letters.
    month.map(|(_, month)| *month).or_else(|| word.starts_with("marz").then_some(3))
}

fn in_figures(captures: &Captures<'_>, printed_year: &str, order: DateOrder) -> Option<Parsed> {
    if captures["s"] != captures["t"] {
        return None;
    }
    let (first, second): (i8, i8) = (captures["a"].parse().ok()?, captures["b"].parse().ok()?);
    let year = year(printed_year);
    let day_first = civil(year, Some(second), Some(first));
    let month_first = civil(year, Some(first), Some(second));
    // Nobody writes the month first with dots.
    let order = if &captures["s"] == "." { DateOrder::DayFirst } else { order };
    let doubt = match (day_first, month_first) {
        (Some(date), Some(other))
            if date != other && matches!(order, DateOrder::Unknown | DateOrder::LikelyMonthFirst) =>
        {
            let printed = captures.name("a").zip(captures.name("y")).map(|(first, year)| first.start()..year.end());
            let base = whole(captures).start;
            let printed = printed.map_or("", |range| &captures[0][range.start - base..range.end - base]);
            Some(format!("{printed} can be read as {date} or as {other}"))
        }
        _ => None,
    };
    let date = match (day_first, month_first) {
        (Some(_), Some(date)) if matches!(order, DateOrder::MonthFirst | DateOrder::LikelyMonthFirst) => date,
        (Some(date), _) | (None, Some(date)) => date,
        (None, None) => return None,
    };
    Some(Parsed { normalised: date.to_string(), doubt, checksum: None })
}

/// Two figures mean this century up to 69, the last one from 70 on.
fn year(text: &str) -> Option<i16> {
    let year: i16 = text.parse().ok()?;
    Some(match (text.len(), year) {
        (2, 0..=69) => 2000 + year,
        (2, _) => 1900 + year,
        _ => year,
    })
}

fn civil(year: Option<i16>, month: Option<i8>, day: Option<i8>) -> Option<Date> {
    Date::new(year?, month?, day?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn one(text: &str) -> Option<String> {
        parse(text, DateOrder::Unknown).map(|parsed| parsed.normalised)
    }

    #[test]
    fn a_time_right_behind_a_date_is_no_part_of_its_year() {
        let printed = |text: &str| {
            let all = find(text, DateOrder::DayFirst);
            all.first().map(|date| (date.parsed.normalised.clone(), text[date.range.clone()].to_owned()))
        };
        for (text, date, shown) in [
            ("20/06/2015:18", "2020-06-20", "20/06/20"),
            ("01-06-1921:05:33", "2019-06-01", "01-06-19"),
            ("22 Apr 202022:15", "2020-04-22", "22 Apr 2020"),
            ("22 Apr 2022:15", "2020-04-22", "22 Apr 20"),
            ("30/05/201710:18", "2017-05-30", "30/05/2017"),
            ("30/05/2017: paid", "2017-05-30", "30/05/2017"),
            ("30/05/2047:18", "2047-05-30", "30/05/2047"),
        ] {
            assert_eq!(printed(text), Some((date.to_owned(), shown.to_owned())), "{text}");
        }
    }

    #[test]
    fn dates_are_read_in_four_languages() {
        for text in [
            "05.03.2018",
            "5.3.2018",
            "5. März 2018",
            "5 March 2018",
            "March 5, 2018",
            "le 5 mars 2018",
            "5 de marzo de 2018",
            "05-Mar-2018",
            "Mar 5th, 2018",
            "2018-03-05",
            "2018/03/05",
            "20180305",
            "5. Mrz. 2018",
            "5 mar. 2018",
            "05.03.18",
        ] {
            assert_eq!(one(text).as_deref(), Some("2018-03-05"), "{text}");
        }
        for (text, date) in [
            ("1er août 2020", "2020-08-01"),
            ("31 déc. 2020", "2020-12-31"),
            ("15 juillet 2021", "2021-07-15"),
            ("3 de enero de 2022", "2022-01-03"),
            ("24 décembre 2021", "2021-12-24"),
            ("12 mai 2020", "2020-05-12"),
            ("7 juin 2020", "2020-06-07"),
            ("1 September 2020", "2020-09-01"),
            ("1. Oktober 2020", "2020-10-01"),
            ("9 septiembre 2020", "2020-09-09"),
            ("8 Jänner 2020", "2020-01-08"),
            ("4 février 2020", "2020-02-04"),
            ("August 3 , 2014", "2014-08-03"),
            ("3rd day of August, 2014", "2014-08-03"),
            ("12 maart 2021", "2021-03-12"),
            ("5 mei 2021", "2021-05-05"),
            ("1 gennaio 2021", "2021-01-01"),
            ("30 giugno 2021", "2021-06-30"),
            ("7 de março de 2021", "2021-03-07"),
            ("9 de outubro de 2021", "2021-10-09"),
            ("5 września 2021", "2021-09-05"),
            ("17 listopada 2021", "2021-11-17"),
            ("3. července 2021", "2021-07-03"),
            ("3. června 2021", "2021-06-03"),
            ("2 maj 2021", "2021-05-02"),
        ] {
            assert_eq!(one(text).as_deref(), Some(date), "{text}");
        }
    }

    #[test]
    fn day_and_month_are_told_apart_by_the_document_or_doubted() {
        let read = |text, order| parse(text, order).map(|parsed| (parsed.normalised, parsed.doubt.is_some()));
        assert_eq!(read("03/04/2018", DateOrder::DayFirst), Some(("2018-04-03".to_owned(), false)));
        assert_eq!(read("03/04/2018", DateOrder::MonthFirst), Some(("2018-03-04".to_owned(), false)));
        assert_eq!(read("03/04/2018", DateOrder::Unknown), Some(("2018-04-03".to_owned(), true)));
        assert_eq!(read("03/04/2018", DateOrder::LikelyMonthFirst), Some(("2018-03-04".to_owned(), true)));
        assert_eq!(read("13/04/2018", DateOrder::MonthFirst), Some(("2018-04-13".to_owned(), false)));
        assert_eq!(evident_order("11/03/2017 and 11/17/2017"), DateOrder::MonthFirst);
        assert_eq!(evident_order("01/02/2017"), DateOrder::Unknown);
    }

    #[test]
    fn what_is_no_date_is_none() {
        for text in ["31.02.2020", "2018", "1.2.3", "99/99/9999", "+33 4 50 44 68 99", "12:30", "201/113/40209"] {
            assert_eq!(one(text), None, "{text}");
        }
    }

    #[test]
    fn a_time_or_a_label_without_a_space_is_no_part_of_a_date() {
        for (text, date) in [
            ("30/05/201710:18", "2017-05-30"),
            ("Date31/01/2018", "2018-01-31"),
            ("21/09/17PM", "2017-09-21"),
            ("15/Feb/2018", "2018-02-15"),
            ("15.FEB.18", "2018-02-15"),
            ("25JUN18", "2018-06-25"),
            ("25Jun2018 10:18", "2018-06-25"),
            ("25 - Jun - 2018", "2018-06-25"),
            ("4 Mar '18", "2018-03-04"),
            ("Mar. 4, 2018", "2018-03-04"),
            ("Mar-04-2018", "2018-03-04"),
            ("30 / 05 / 2017", "2017-05-30"),
            // Tills print every letter as wide as every other, blanks included.
            ("15  Jun  18", "2018-06-15"),
            ("Jun  15,  2018", "2018-06-15"),
            ("30 - 05 - 17 10:18", "2017-05-30"),
            ("2017-05-30T10:18", "2017-05-30"),
        ] {
            assert_eq!(one(text).as_deref(), Some(date), "{text}");
        }
        assert_eq!(one("RE12/03/20181"), None);
    }

    #[test]
    fn letters_that_ocr_reads_for_figures_are_restored_in_numbers_alone() {
        for (read, meant) in [
            ("25-Q1-16", Some("25-01-16")),
            ("Date: 11/O9/2@17", Some("Date: 11/09/2017")),
            ("Q1-Nov-2017", Some("01-Nov-2017")),
            ("DO IT 12/03/2018", None),
            ("B2B l7S66", None),
        ] {
            assert_eq!(with_figures_restored(read).as_deref(), meant, "{read}");
        }
    }

    #[test]
    fn several_dates_of_a_line_are_found_from_left_to_right() {
        let dates = find("from 01.10.2018 to 31 October 2018, paid 2018-11-02", DateOrder::Unknown);
        let dates: Vec<&str> = dates.iter().map(|date| &*date.parsed.normalised).collect();
        assert_eq!(dates, ["2018-10-01", "2018-10-31", "2018-11-02"]);
        let dates = find("02/26/20-03/03/20", DateOrder::MonthFirst);
        let dates: Vec<&str> = dates.iter().map(|date| &*date.parsed.normalised).collect();
        assert_eq!(dates, ["2020-02-26", "2020-03-03"]);
    }

    #[test]
    fn the_end_of_a_number_is_not_a_day() {
        assert_eq!(one("invoice A-80881-9 of February 18, 2025").as_deref(), Some("2025-02-18"));
        assert_eq!(one("L-12-9 March 2025"), None);
    }

    proptest! {
        #[test]
        fn nothing_that_is_printed_panics(text in "\\PC{0,60}") {
            let _ = find(&text, DateOrder::Unknown);
            let _ = parse(&text, DateOrder::MonthFirst);
        }
    }
}
