//! Dates, times and spans of time as format codes show them.

use super::{
    super::dates::{Moment, plain_moment},
    WIDEST,
    tokens::Token,
};
use std::fmt::Write as _;

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

pub(super) fn date(tokens: &[Token], value: f64, from_1904: bool) -> Option<String> {
    let elapsed = tokens.iter().any(|token| matches!(token, Token::Elapsed(..)));
    if elapsed {
        return Some(duration(tokens, value));
    }
    let Some(moment) = Moment::from_serial(value, from_1904) else { return plain_moment(value, from_1904) };
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
