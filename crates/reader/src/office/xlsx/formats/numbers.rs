//! Numbers as the places of a format code show them.

use super::{super::decimal::Decimal, WIDEST, tokens::Token};
use std::fmt::Write as _;

/// None where the code is not one for plain numbers.
pub(super) fn number(tokens: &[Token], value: f64) -> Option<String> {
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

    let decimal = Decimal::new(value).shifted(shift);
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
