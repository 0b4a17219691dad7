//! The machine-readable lines of passports and identity cards (ICAO 9303), with their check digits.

use super::date::DateOrder;
use jiff::civil::Date;

/// What the lines say; names with spaces, dates in full.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mrz {
    /// The lines as printed.
    pub lines: Vec<String>,
    pub document_code: String,
    pub issuing_country: String,
    pub document_number: String,
    pub surname: String,
    pub given_names: String,
    pub nationality: String,
    pub birth_date: Option<String>,
    pub expiry_date: Option<String>,
    pub sex: String,
    /// Each check digit: what it covers, and whether it holds.
    pub checks: Vec<(&'static str, bool)>,
}

impl Mrz {
    /// The value under a name that schemas use.
    pub fn get(&self, name: &str) -> Option<&str> {
        let text = match name {
            "document_number" => &self.document_number,
            "surname" => &self.surname,
            "given_names" => &self.given_names,
            "nationality" => &self.nationality,
            "issuing_country" => &self.issuing_country,
            "document_code" => &self.document_code,
            "sex" => &self.sex,
            "birth_date" => self.birth_date.as_ref()?,
            "expiry_date" => self.expiry_date.as_ref()?,
            _ => return None,
        };
        (!text.is_empty()).then_some(text)
    }
}

/// A line of capitals, digits and fillers, as OCR may have spaced it.
pub fn clean_line(line: &str) -> Option<String> {
    let squeezed: String =
        line.chars().filter(|c| !c.is_whitespace()).map(|c| if c == '«' { '<' } else { c }).collect();
    let is_mrz =
        squeezed.contains('<') && squeezed.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'<');
    (is_mrz && matches!(squeezed.len(), 30 | 36 | 44)).then_some(squeezed)
}

/// Reads the first lines that make a whole: three of 30, or two of 36 or 44 characters.
pub fn find(lines: &[String], this_year: i16) -> Option<(usize, Mrz)> {
    (0..lines.len()).find_map(|start| {
        let length = lines[start].len();
        let count = if length == 30 { 3 } else { 2 };
        let own = lines.get(start..start + count)?;
        if own.iter().any(|line| line.len() != length) {
            return None;
        }
        let mrz = if length == 30 { three_lines(own, this_year) } else { two_lines(own, this_year) };
        Some((start, mrz))
    })
}

fn three_lines(lines: &[String], this_year: i16) -> Mrz {
    let (first, second, third) = (&lines[0], &lines[1], &lines[2]);
    let composite = format!("{}{}{}{}", &first[5..30], &second[0..7], &second[8..15], &second[18..29]);
    let (surname, given_names) = names(third);
    Mrz {
        lines: lines.to_vec(),
        document_code: without_fillers(&first[0..2]),
        issuing_country: without_fillers(&first[2..5]),
        document_number: without_fillers(&first[5..14]),
        surname,
        given_names,
        nationality: without_fillers(&second[15..18]),
        birth_date: date(&second[0..6], this_year, true),
        expiry_date: date(&second[8..14], this_year, false),
        sex: without_fillers(&second[7..8]),
        checks: vec![
            ("document_number", holds(&first[5..14], &first[14..15])),
            ("birth_date", holds(&second[0..6], &second[6..7])),
            ("expiry_date", holds(&second[8..14], &second[14..15])),
            ("all", holds(&composite, &second[29..30])),
        ],
    }
}

fn two_lines(lines: &[String], this_year: i16) -> Mrz {
    let (first, second) = (&lines[0], &lines[1]);
    let end = second.len();
    let composite = format!("{}{}{}", &second[0..10], &second[13..20], &second[21..end - 1]);
    let (surname, given_names) = names(&first[5..]);
    Mrz {
        lines: lines.to_vec(),
        document_code: without_fillers(&first[0..2]),
        issuing_country: without_fillers(&first[2..5]),
        document_number: without_fillers(&second[0..9]),
        surname,
        given_names,
        nationality: without_fillers(&second[10..13]),
        birth_date: date(&second[13..19], this_year, true),
        expiry_date: date(&second[21..27], this_year, false),
        sex: without_fillers(&second[20..21]),
        checks: vec![
            ("document_number", holds(&second[0..9], &second[9..10])),
            ("birth_date", holds(&second[13..19], &second[19..20])),
            ("expiry_date", holds(&second[21..27], &second[27..28])),
            ("all", holds(&composite, &second[end - 1..end])),
        ],
    }
}

fn without_fillers(text: &str) -> String {
    text.replace('<', " ").trim().to_owned()
}

fn names(text: &str) -> (String, String) {
    let (surname, given) = text.split_once("<<").unwrap_or((text, ""));
    let spaced = |part: &str| part.split('<').filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
    (spaced(surname), spaced(given))
}

/// Weights 7, 3, 1; letters count from 10, fillers nothing.
fn holds(text: &str, check: &str) -> bool {
    let sum: u32 =
        text.chars().zip([7, 3, 1].into_iter().cycle()).map(|(c, weight)| c.to_digit(36).unwrap_or(0) * weight).sum();
    let expected = check.chars().next().map_or(0, |c| if c == '<' { 0 } else { c.to_digit(10).unwrap_or(u32::MAX) });
    sum % 10 == expected
}

/// `YYMMDD`. Nobody is born in the future, and documents do not expire longer than 60 years ahead.
fn date(text: &str, this_year: i16, is_past: bool) -> Option<String> {
    let part = |range: std::ops::Range<usize>| text.get(range)?.parse::<i8>().ok();
    let (year, month, day) = (i16::from(part(0..2)?), part(2..4)?, part(4..6)?);
    let century = this_year - this_year % 100;
    let mut full = century + year;
    if is_past && full > this_year {
        full -= 100;
    }
    if !is_past && full < this_year - 40 {
        full += 100;
    }
    Date::new(full, month, day).ok().map(|date| date.to_string())
}

/// The year that two-figure years are counted from: the newest one that the document states, or a fixed one.
pub fn year_of(dates: &[String]) -> i16 {
    // A card printed today says so itself by its dates; without any, the middle of the decade is as good as a clock,
    // and the same page gives the same answer in every year.
    const WITHOUT_DATES: i16 = 2026;
    let newest = dates
        .iter()
        .filter_map(|date| super::date::parse(date, DateOrder::Unknown)?.normalised.get(..4)?.parse().ok())
        .max();
    newest.map_or(WITHOUT_DATES, |year: i16| year.max(WITHOUT_DATES))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(lines: &[&str]) -> Mrz {
        let lines: Vec<String> = lines.iter().filter_map(|line| clean_line(line)).collect();
        find(&lines, 2026).unwrap().1
    }

    #[test]
    fn the_specimen_card_is_read_and_all_digits_hold() {
        let mrz = read(&[
            "I<UTOD231458907<<<<<<<<<<<<<<<",
            "7408122F1204159UTO<<<<<<<<<<<6",
            "ERIKSSON<<ANNA<MARIA<<<<<<<<<<",
        ]);
        assert_eq!(mrz.document_number, "D23145890");
        assert_eq!((&*mrz.surname, &*mrz.given_names), ("ERIKSSON", "ANNA MARIA"));
        assert_eq!(mrz.birth_date.as_deref(), Some("1974-08-12"));
        assert_eq!(mrz.expiry_date.as_deref(), Some("2012-04-15"));
        assert!(mrz.checks.iter().all(|(_, holds)| *holds), "{:?}", mrz.checks);
    }

    #[test]
    fn the_specimen_passport_is_read_and_a_wrong_digit_is_seen() {
        let mrz =
            read(&["P<UTOERIKSSON<<ANNA<MARIA<<<<<<<<<<<<<<<<<<<", "L898902C36UTO7408122F1204159ZE184226B<<<<<10"]);
        assert_eq!(mrz.document_number, "L898902C3");
        assert!(mrz.checks.iter().all(|(_, holds)| *holds), "{:?}", mrz.checks);
        let wrong =
            read(&["P<UTOERIKSSON<<ANNA<MARIA<<<<<<<<<<<<<<<<<<<", "L898902C36UTO7408132F1204159ZE184226B<<<<<10"]);
        assert!(wrong.checks.contains(&("birth_date", false)));
    }
}
