//! Number formats: how a cell shows the number it holds.

use super::{
    dates::{Moment, plain_moment},
    decimal::{Decimal, general},
};
use std::fmt::Write as _;

/// No number is padded to more digits than this.
const WIDEST: usize = 20;

/// Shows a number by a format code such as `#,##0.00 "€"`, `0%` or `yyyy-mm-dd`. Codes that are not understood show the
/// number as it is.
pub(in crate::office) fn shown(value: f64, code: &str, from_1904: bool) -> String {
    let sections = sections(code);
    let (section, magnitude) = choose(&sections, value);
    if section.trim().is_empty() {
        // An empty section hides the number; who reads the file wants it all the same.
        return general(value);
    }
    let tokens = tokens(section);
    if tokens.iter().any(|token| matches!(token, Token::General)) {
        let text = general(magnitude);
        return with_literals(&tokens, &text);
    }
    if tokens.iter().any(|token| matches!(token, Token::Date(..) | Token::Elapsed(..))) {
        return date(&tokens, value, from_1904).unwrap_or_else(|| general(value));
    }
    if tokens.iter().any(|token| matches!(token, Token::Digit(_))) {
        return number(&tokens, magnitude).unwrap_or_else(|| general(value));
    }
    if tokens.iter().any(|token| matches!(token, Token::Text)) {
        return with_literals(&tokens, &general(value));
    }
    with_literals(&tokens, "")
}

/// The format codes that have numbers and no text of their own. Those that depend on the place of the reader are shown
/// so that day and month cannot be mistaken.
pub(in crate::office) fn built_in(id: u32) -> Option<&'static str> {
    Some(match id {
        0 => "General",
        1 => "0",
        2 => "0.00",
        3 | 41 | 42 => "#,##0",
        4..=8 | 43 | 44 => "#,##0.00",
        9 => "0%",
        10 => "0.00%",
        11 => "0.00E+00",
        12 => "# ?/?",
        13 => "# ??/??",
        14 | 27..=36 | 50..=58 => "yyyy-mm-dd",
        15 => "d-mmm-yy",
        16 => "d-mmm",
        17 => "mmm-yy",
        18 => "h:mm AM/PM",
        19 => "h:mm:ss AM/PM",
        20 => "h:mm",
        21 => "h:mm:ss",
        22 => "yyyy-mm-dd hh:mm",
        37 | 38 => "#,##0 ;(#,##0)",
        39 | 40 => "#,##0.00;(#,##0.00)",
        45 => "mm:ss",
        46 => "[h]:mm:ss",
        47 => "mm:ss.0",
        48 => "##0.0E+0",
        49 => "@",
        _ => return None,
    })
}

#[derive(Debug, Clone, PartialEq)]
enum Token {
    Literal(String),
    /// `0`, `#` or `?`.
    Digit(char),
    Point,
    Comma,
    Percent,
    /// `E+`; whether a plus sign is shown.
    Exponent(bool),
    Slash,
    General,
    Text,
    /// A letter of a date or time, and how often it is repeated.
    Date(char, usize),
    Elapsed(char, usize),
    Fraction(usize),
    /// Whether in full ("AM/PM") or as one letter.
    HalfDay(bool),
}

/// Splits at semicolons that are not quoted, escaped or within brackets.
fn sections(code: &str) -> Vec<&str> {
    let mut sections = Vec::new();
    let mut from = 0;
    let (mut quoted, mut bracket, mut escaped) = (false, false, false);
    for (at, character) in code.char_indices() {
        if std::mem::take(&mut escaped) {
            continue;
        }
        match character {
            '\\' if !quoted => escaped = true,
            '"' => quoted = !quoted,
            '[' if !quoted => bracket = true,
            ']' if !quoted => bracket = false,
            ';' if !quoted && !bracket => {
                sections.push(code.get(from..at).unwrap_or_default());
                from = at + 1;
            }
            _ => {}
        }
    }
    sections.push(code.get(from..).unwrap_or_default());
    sections
}

/// The section for a value, and the value as that section shows it: a section of its own for negative numbers shows
/// them without a sign.
fn choose<'c>(sections: &[&'c str], value: f64) -> (&'c str, f64) {
    let section = |at: usize| sections.get(at).copied().unwrap_or("General");
    if let Some(found) = sections.iter().take(2).find(|section| condition(section).is_some_and(|holds| holds(value))) {
        return (found, value.abs());
    }
    let has_condition = sections.iter().take(2).any(|section| condition(section).is_some());
    if has_condition {
        let other = sections.iter().take(3).find(|section| condition(section).is_none());
        return (other.copied().unwrap_or("General"), value);
    }
    match sections.len() {
        2.. if value < 0.0 => (section(1), -value),
        3.. if value == 0.0 => (section(2), value),
        _ => (section(0), value),
    }
}

/// `[>=100]` before a section.
fn condition(section: &str) -> Option<Box<dyn Fn(f64) -> bool>> {
    let mut rest = section.trim_start();
    while let Some(inside) = rest.strip_prefix('[') {
        let (inside, after) = inside.split_once(']')?;
        rest = after;
        let sign: String = inside.chars().take_while(|character| "<>=".contains(*character)).collect();
        let Ok(limit) = inside.get(sign.len()..)?.trim().parse::<f64>() else { continue };
        return Some(match sign.as_str() {
            "<" => Box::new(move |value| value < limit),
            "<=" => Box::new(move |value| value <= limit),
            ">" => Box::new(move |value| value > limit),
            ">=" => Box::new(move |value| value >= limit),
            "=" => Box::new(move |value| (value - limit).abs() < f64::EPSILON),
            "<>" => Box::new(move |value| (value - limit).abs() >= f64::EPSILON),
            _ => continue,
        });
    }
    None
}

fn tokens(section: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let characters: Vec<char> = section.chars().collect();
    let mut at = 0;
    let lower = |at: usize| characters.get(at).map(char::to_ascii_lowercase);
    let matches_at = |at: usize, word: &str| word.chars().enumerate().all(|(n, c)| lower(at + n) == Some(c));
    while let Some(&character) = characters.get(at) {
        at += 1;
        match character {
            '"' => {
                let end = characters.iter().skip(at).position(|c| *c == '"').unwrap_or(characters.len() - at);
                tokens.push(Token::Literal(characters.iter().skip(at).take(end).collect()));
                at += end + 1;
            }
            '\\' => {
                tokens.extend(characters.get(at).map(|next| Token::Literal(next.to_string())));
                at += 1;
            }
            // As wide as the next character; only a space is shown.
            '_' => {
                tokens.push(Token::Literal(" ".to_owned()));
                at += 1;
            }
            '*' => at += 1,
            '[' => {
                let end = characters.iter().skip(at).position(|c| *c == ']').unwrap_or(characters.len() - at);
                let inside: String = characters.iter().skip(at).take(end).collect();
                at += end + 1;
                let first = inside.chars().next().map_or(' ', |c| c.to_ascii_lowercase());
                if let Some(currency) = inside.strip_prefix('$') {
                    tokens.push(Token::Literal(currency.split('-').next().unwrap_or_default().to_owned()));
                } else if "hms".contains(first) && inside.chars().all(|c| c.eq_ignore_ascii_case(&first)) {
                    tokens.push(Token::Elapsed(first, inside.len()));
                }
            }
            '0' | '#' | '?' => tokens.push(Token::Digit(character)),
            '.' if matches!(tokens.last(), Some(Token::Date('s', _) | Token::Elapsed('s', _))) => {
                let digits = characters.iter().skip(at).take_while(|c| **c == '0').count();
                at += digits;
                tokens.push(if digits > 0 { Token::Fraction(digits) } else { Token::Literal(".".to_owned()) });
            }
            '.' => tokens.push(Token::Point),
            ',' => tokens.push(Token::Comma),
            '%' => tokens.push(Token::Percent),
            '@' => tokens.push(Token::Text),
            '/' => tokens.push(Token::Slash),
            'E' | 'e' if matches!(characters.get(at), Some('+' | '-')) => {
                tokens.push(Token::Exponent(characters.get(at) == Some(&'+')));
                at += 1;
            }
            'G' | 'g' if matches_at(at - 1, "general") => {
                tokens.push(Token::General);
                at += 6;
            }
            'A' | 'a' if matches_at(at - 1, "am/pm") => {
                tokens.push(Token::HalfDay(true));
                at += 4;
            }
            'A' | 'a' if matches_at(at - 1, "a/p") => {
                tokens.push(Token::HalfDay(false));
                at += 2;
            }
            _ if "ymdhsYMDHS".contains(character) => {
                let letter = character.to_ascii_lowercase();
                let more = characters.iter().skip(at).take_while(|c| c.to_ascii_lowercase() == letter).count();
                at += more;
                tokens.push(Token::Date(letter, more + 1));
            }
            _ => tokens.push(Token::Literal(character.to_string())),
        }
    }
    tokens
}

fn with_literals(tokens: &[Token], text: &str) -> String {
    let mut out = String::new();
    for token in tokens {
        match token {
            Token::Literal(literal) => out.push_str(literal),
            Token::General | Token::Text => out.push_str(text),
            Token::Percent => out.push('%'),
            Token::Slash => out.push('/'),
            _ => {}
        }
    }
    out.trim().to_owned()
}

fn number(tokens: &[Token], value: f64) -> Option<String> {
    let digit_at = |token: &Token| matches!(token, Token::Digit(_));
    let first_digit = tokens.iter().position(digit_at)?;
    let has_slash = tokens.iter().skip(first_digit).any(|token| matches!(token, Token::Slash));
    if has_slash {
        return None;
    }
    let exponent_at = tokens.iter().position(|token| matches!(token, Token::Exponent(_)));
    let mantissa_end = exponent_at.unwrap_or(tokens.len());
    let point = tokens.iter().take(mantissa_end).position(|token| *token == Token::Point).unwrap_or(mantissa_end);
    let last_whole = tokens.iter().take(point).rposition(digit_at);
    let comma_at =
        |from: usize, to: usize| tokens.iter().take(to).skip(from).filter(|token| **token == Token::Comma).count();
    let thousands = last_whole.is_some_and(|last| comma_at(first_digit, last) > 0);
    let last_digit = tokens.iter().take(mantissa_end).rposition(digit_at)?;
    // Commas behind the last digit each leave three digits away.
    let scaled_down = comma_at(last_digit, mantissa_end)
        + last_whole.map_or(0, |last| if last == last_digit { 0 } else { comma_at(last, point) });
    let percents = tokens.iter().filter(|token| **token == Token::Percent).count();
    let places = tokens.iter().take(mantissa_end).skip(point).filter(|token| digit_at(token)).count();
    let shift = i32::try_from(percents * 2).ok()? - i32::try_from(scaled_down * 3).ok()?;

    let decimal = Decimal::of(value).shifted(shift);
    let whole_places = tokens.iter().take(point).filter(|token| digit_at(token)).count();
    let mut exponent = 0;
    let decimal = if exponent_at.is_some() {
        // The exponent is a multiple of the number of digits before the point.
        let step = i32::try_from(whole_places.max(1)).ok()?;
        exponent = decimal.exponent().div_euclid(step) * step;
        let rounded = decimal.clone().shifted(-exponent).rounded(places);
        if rounded.exponent() >= step {
            exponent += step;
            rounded.shifted(-step)
        } else {
            rounded
        }
    } else {
        decimal.rounded(places)
    };
    let negative = value < 0.0 && !decimal.is_zero();
    let whole = decimal.whole();
    let fraction = decimal.fraction();

    let mut out = String::new();
    let mut place = whole_places;
    let mut fraction_digits = fraction.chars();
    let mut in_exponent = false;
    for (at, token) in tokens.iter().enumerate() {
        match token {
            Token::Literal(literal) => out.push_str(literal),
            Token::Percent => out.push('%'),
            Token::Digit(_) if in_exponent => {}
            Token::Digit(kind) if at < point => {
                // The first place takes all digits that there are no places for.
                let from = if place == whole_places { usize::MAX } else { place };
                let missing = place > whole.len();
                if negative && place == whole_places {
                    out.push('-');
                }
                if missing {
                    if *kind == '0' {
                        out.push('0');
                        push_separator(&mut out, thousands, place);
                    }
                } else {
                    let start = whole.len().saturating_sub(from);
                    let end = whole.len() - (place - 1);
                    for (index, digit) in whole.char_indices().take(end).skip(start) {
                        out.push(digit);
                        push_separator(&mut out, thousands, whole.len() - index);
                    }
                }
                place -= 1;
            }
            Token::Digit(kind) => match fraction_digits.next() {
                Some(digit) => out.push(digit),
                None if *kind == '0' => out.push('0'),
                None => {}
            },
            Token::Point => {
                if negative && whole_places == 0 {
                    out.push('-');
                }
                let forced = tokens.iter().take(mantissa_end).skip(at).any(|token| *token == Token::Digit('0'));
                if forced || !fraction.is_empty() {
                    out.push('.');
                }
            }
            Token::Exponent(plus) => {
                in_exponent = true;
                let digits = tokens.iter().skip(at).filter(|token| **token == Token::Digit('0')).count();
                let digits = digits.min(WIDEST);
                let sign = match (exponent < 0, plus) {
                    (true, _) => "-",
                    (false, true) => "+",
                    (false, false) => "",
                };
                let _ = write!(out, "E{sign}{:0digits$}", exponent.unsigned_abs());
            }
            _ => {}
        }
    }
    Some(out.trim().to_owned())
}

/// After the digit that stands `place` places before the point.
fn push_separator(out: &mut String, thousands: bool, place: usize) {
    if thousands && place > 1 && place % 3 == 1 {
        out.push(',');
    }
}

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
const WEEKDAYS: [&str; 7] = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

fn date(tokens: &[Token], value: f64, from_1904: bool) -> Option<String> {
    let elapsed = tokens.iter().any(|token| matches!(token, Token::Elapsed(..)));
    if elapsed {
        return Some(duration(tokens, value));
    }
    let Some(moment) = Moment::of(value, from_1904) else { return plain_moment(value, from_1904) };
    let twelve = tokens.iter().any(|token| matches!(token, Token::HalfDay(_)));
    let mut out = String::new();
    for (at, token) in tokens.iter().enumerate() {
        match token {
            Token::Literal(literal) => out.push_str(literal),
            Token::Slash => out.push('/'),
            Token::Comma => out.push(','),
            Token::Point => out.push('.'),
            Token::HalfDay(full) => {
                let (morning, evening) = if *full { ("AM", "PM") } else { ("A", "P") };
                out.push_str(if moment.hour < 12 { morning } else { evening });
            }
            Token::Fraction(digits) => out.push_str(&milliseconds(moment.millisecond, *digits)),
            Token::Date(letter, count) => {
                let minutes = *letter == 'm' && is_minute(tokens, at);
                out.push_str(&date_part(moment, *letter, *count, minutes, twelve));
            }
            _ => {}
        }
    }
    Some(out.trim().to_owned())
}

fn date_part(moment: Moment, letter: char, count: usize, minutes: bool, twelve: bool) -> String {
    let padded = |number: u32| if count >= 2 { format!("{number:02}") } else { number.to_string() };
    let month = MONTHS.get(moment.month as usize - 1).copied().unwrap_or_default();
    let weekday = WEEKDAYS.get(moment.weekday).copied().unwrap_or_default();
    match (letter, count) {
        ('y', 1 | 2) => format!("{:02}", moment.year % 100),
        ('y', _) => format!("{:04}", moment.year),
        ('m', _) if minutes => padded(moment.minute),
        ('m', 3) => month.chars().take(3).collect(),
        ('m', 5) => month.chars().take(1).collect(),
        ('m', 4..) => month.to_owned(),
        ('m', _) => padded(moment.month),
        ('d', 3) => weekday.chars().take(3).collect(),
        ('d', 4..) => weekday.to_owned(),
        ('d', _) => padded(moment.day),
        ('h', _) if twelve => padded((moment.hour + 11) % 12 + 1),
        ('h', _) => padded(moment.hour),
        ('s', _) => padded(moment.second),
        _ => String::new(),
    }
}

fn milliseconds(milliseconds: u32, digits: usize) -> String {
    let all = format!("{milliseconds:03}000");
    format!(".{}", all.get(..digits.min(all.len())).unwrap_or_default())
}

/// "m" means minutes behind hours and before seconds.
fn is_minute(tokens: &[Token], at: usize) -> bool {
    let letter = |token: &Token| match token {
        Token::Date(letter, _) | Token::Elapsed(letter, _) => Some(*letter),
        _ => None,
    };
    let before = tokens.iter().take(at).rev().find_map(letter);
    let after = tokens.iter().skip(at + 1).find_map(letter);
    before == Some('h') || after == Some('s')
}

/// Hours, minutes and seconds that go on counting past a day.
fn duration(tokens: &[Token], value: f64) -> String {
    let total = (value.abs() * 86_400_000.0).round().min(1e18) as u64;
    let (hours, minutes, seconds) = (total / 3_600_000, total / 60_000, total / 1000);
    let mut out = String::from(if value < 0.0 { "-" } else { "" });
    for token in tokens {
        let (number, count) = match token {
            Token::Literal(literal) => {
                out.push_str(literal);
                continue;
            }
            Token::Fraction(digits) => {
                out.push_str(&milliseconds((total % 1000) as u32, *digits));
                continue;
            }
            Token::Elapsed('h', count) => (hours, *count),
            Token::Elapsed('m', count) => (minutes, *count),
            Token::Elapsed(_, count) => (seconds, *count),
            Token::Date('h', count) => (hours % 24, *count),
            Token::Date('m', count) => (minutes % 60, *count),
            Token::Date('s', count) => (seconds % 60, *count),
            _ => continue,
        };
        let _ = write!(out, "{number:0width$}", width = count.min(WIDEST));
    }
    out.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_shown_by_their_format() {
        for (value, code, expected) in [
            (1234.5, "General", "1234.5"),
            (1234.567, "#,##0.00", "1,234.57"),
            (-1234.567, "#,##0.00", "-1,234.57"),
            (-5.0, "0.00;(0.00)", "(5.00)"),
            (0.0, "0;-0;\"zero\"", "zero"),
            (0.256, "0.0%", "25.6%"),
            (1234.0, "[$€-407] #,##0.00", "€ 1,234.00"),
            (1234.0, "#,##0.00\\ \"kg\"", "1,234.00 kg"),
            (1_234_567.0, "0.0,,\"M\"", "1.2M"),
            (12_345.678, "0.00E+00", "1.23E+04"),
            (5.0, "000", "005"),
            (5_551_234.0, "000-0000", "555-1234"),
            (0.5, "#.##", ".5"),
            (3.0, "#.##", "3"),
            (1_000_000.0, "#,##0", "1,000,000"),
            (150.0, "[>100]\"high\";\"low\"", "high"),
            (0.5, "# ?/?", "0.5"),
            (7.0, "_(* #,##0_);_(* (#,##0)", "7"),
            (12.0, "@", "12"),
            (5.0, ";;;", "5"),
        ] {
            assert_eq!(shown(value, code, false), expected, "{value} as {code}");
        }
    }

    #[test]
    fn dates_and_times_are_shown_by_their_format() {
        for (value, code, expected) in [
            (45_351.0, "yyyy-mm-dd", "2024-02-29"),
            (45_351.0, "d. mmmm yyyy", "29. February 2024"),
            (45_351.0, "ddd, d-mmm-yy", "Thu, 29-Feb-24"),
            (45_351.75, "m/d/yyyy h:mm AM/PM", "2/29/2024 6:00 PM"),
            (45_351.520_845, "hh:mm:ss.000", "12:30:01.008"),
            (1.5, "[h]:mm", "36:00"),
            (0.000_694_444, "mm:ss", "01:00"),
            (45_351.0, "[$-409]mmmm\\ d", "February 29"),
            (-5.0, "yyyy", "-5"),
        ] {
            assert_eq!(shown(value, code, false), expected, "{value} as {code}");
        }
    }

    #[test]
    fn no_format_is_too_odd() {
        for code in ["", "[", "\"", "\\", "_", "*", "E+", "0E+", ".", ",", "%", "[h", "#,", "0.0.0", "/", "am/p"] {
            for value in [0.0, -1.5, 1e300, 1e-300, f64::NAN] {
                let _ = shown(value, code, false);
            }
        }
    }
}
