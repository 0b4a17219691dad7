//! Numbers as fractions: `# ?/?` shows 2.75 as "2 3/4".

use super::tokens::Token;

/// Beyond this, a number has no fraction to show.
const LARGEST: f64 = 1e12;
/// Denominators have no more digits.
const MOST_DIGITS: u32 = 3;

/// None where the code shows no fraction, or the number is too large for one.
pub(super) fn fraction(tokens: &[Token], value: f64) -> Option<String> {
    let is_digit = |token: &Token| matches!(token, Token::Digit(_));
    let slash = tokens.iter().position(|token| *token == Token::Slash)?;
    let (before, after) = (tokens.get(..slash)?, tokens.get(slash + 1..)?);
    if !before.last().is_some_and(is_digit) || value.abs() > LARGEST {
        return None;
    }
    let numerator_at = before.len() - before.iter().rev().take_while(|token| is_digit(token)).count();
    let has_whole = before.get(..numerator_at)?.iter().any(is_digit);
    let (fixed, taken) = denominator(after)?;
    let places = after.iter().take_while(|token| is_digit(token)).count();

    let whole = if has_whole { value.abs().floor() } else { 0.0 };
    let rest = value.abs() - whole;
    let (mut over, under) = match fixed {
        Some(under) => ((rest * f64::from(under)).round(), under),
        None => nearest(rest, 10u32.pow(u32::try_from(places).ok()?.min(MOST_DIGITS)) - 1),
    };
    let mut whole = whole;
    if has_whole && over >= f64::from(under) {
        (whole, over) = (whole + 1.0, 0.0);
    }
    let mut out = literals(before.get(..numerator_at)?.iter().take_while(|token| !is_digit(token)));
    out.push_str(if value < 0.0 && (whole > 0.0 || over > 0.0) { "-" } else { "" });
    let parts = match (whole > 0.0, over > 0.0) {
        (true, true) => format!("{whole} {over}/{under}"),
        (false, true) => format!("{over}/{under}"),
        _ => whole.to_string(),
    };
    out.push_str(&parts);
    out.push_str(&literals(after.iter().skip(taken)));
    Some(out.trim().to_owned())
}

fn literals<'t>(tokens: impl Iterator<Item = &'t Token>) -> String {
    tokens.filter_map(|token| if let Token::Literal(text) = token { Some(text.as_str()) } else { None }).collect()
}

/// The denominator that the code itself names, if it does, and how many tokens name it or leave places for it.
fn denominator(after: &[Token]) -> Option<(Option<u32>, usize)> {
    let mut digits = String::new();
    let mut taken = 0;
    for token in after {
        match token {
            Token::Literal(text) if text.len() == 1 && text.bytes().all(|byte| byte.is_ascii_digit()) => {
                digits.push_str(text);
            }
            Token::Digit(place) => digits.extend((*place == '0' && !digits.is_empty()).then_some('0')),
            _ => break,
        }
        taken += 1;
    }
    let named = digits.parse::<u32>().ok().filter(|under| *under > 0);
    (taken > 0).then_some((named, taken))
}

/// The fraction that comes nearest to a number, with a denominator of no more than `most`.
fn nearest(number: f64, most: u32) -> (f64, u32) {
    let mut best = (number.round(), 1, (number - number.round()).abs());
    for under in 2..=most {
        let over = (number * f64::from(under)).round();
        let off = (number - over / f64::from(under)).abs();
        if off + 1e-12 < best.2 {
            best = (over, under, off);
        }
    }
    (best.0, best.1)
}
