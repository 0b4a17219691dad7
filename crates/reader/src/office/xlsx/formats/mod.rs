//! Number formats: how a cell shows the number it holds.

mod fractions;
mod moments;
mod numbers;
mod sections;
mod tokens;

use super::decimal::general;
use fractions::fraction;
use moments::date;
use numbers::number;
use sections::{choose, sections};
use tokens::{Token, tokens};

/// No number is padded to more digits than this.
const WIDEST: usize = 20;

/// Shows a number by a format code such as `#,##0.00 "€"`, `0%` or `yyyy-mm-dd`. Codes that are not understood show the
/// number as it is.
pub(in crate::office) fn format_number(value: f64, code: &str, from_1904: bool) -> String {
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
        let shown = fraction(&tokens, magnitude).or_else(|| number(&tokens, magnitude));
        return shown.unwrap_or_else(|| general(value));
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
            (0.5, "# ?/?", "1/2"),
            (-2.75, "# ??/??", "-2 3/4"),
            (3.0, "# ?/?", "3"),
            (0.999, "# ?/?", "1"),
            (1.375, "# ?/8\" in\"", "1 3/8 in"),
            (1.5, "?/?", "3/2"),
            (1e300, "# ?/?", &general(1e300)),
            (7.0, "_(* #,##0_);_(* (#,##0)", "7"),
            (12.0, "@", "12"),
            (5.0, ";;;", "5"),
        ] {
            assert_eq!(format_number(value, code, false), expected, "{value} as {code}");
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
            assert_eq!(format_number(value, code, false), expected, "{value} as {code}");
        }
    }

    #[test]
    fn no_format_is_too_odd() {
        for code in ["", "[", "\"", "\\", "_", "*", "E+", "0E+", ".", ",", "%", "[h", "#,", "0.0.0", "/", "am/p"] {
            for value in [0.0, -1.5, 1e300, 1e-300, f64::NAN] {
                let _ = format_number(value, code, false);
            }
        }
    }
}
