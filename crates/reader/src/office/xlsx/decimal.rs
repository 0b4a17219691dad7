//! Numbers as decimal digits.
//!
//! Spreadsheets compute with binary numbers and show decimal ones, of which fifteen digits count: 0.1 + 0.2 is shown as
//! 0.3, and 2.675 with two places as 2.68.

/// The digits that count.
const DIGITS: usize = 15;

/// A number without sign: 0.d1d2d3… times ten to the power of `point`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Decimal {
    digits: Vec<u8>,
    point: i32,
}

impl Decimal {
    /// The absolute value; what is not a number is zero.
    pub(super) fn new(value: f64) -> Self {
        if !value.is_finite() || value == 0.0 {
            return Self { digits: Vec::new(), point: 0 };
        }
        let shown = format!("{:.*e}", DIGITS - 1, value.abs());
        let (mantissa, exponent) = shown.split_once('e').unwrap_or((&shown, "0"));
        let digits = mantissa.bytes().filter(u8::is_ascii_digit).map(|digit| digit - b'0').collect();
        let mut decimal = Self { digits, point: exponent.parse::<i32>().unwrap_or(0) + 1 };
        decimal.trim();
        decimal
    }

    fn trim(&mut self) {
        while self.digits.last() == Some(&0) {
            self.digits.pop();
        }
        if self.digits.is_empty() {
            self.point = 0;
        }
    }

    pub(super) fn is_zero(&self) -> bool {
        self.digits.is_empty()
    }

    /// The power of ten of the first digit.
    pub(super) fn exponent(&self) -> i32 {
        if self.is_zero() { 0 } else { self.point - 1 }
    }

    /// Times a power of ten.
    pub(super) fn shifted(mut self, places: i32) -> Self {
        if !self.is_zero() {
            self.point = self.point.saturating_add(places);
        }
        self
    }

    /// Rounded to a number of places behind the point, halves upwards.
    pub(super) fn rounded(mut self, places: usize) -> Self {
        let keep = i64::from(self.point) + places as i64;
        let Ok(keep) = usize::try_from(keep) else { return Self { digits: Vec::new(), point: 0 } };
        if keep < self.digits.len() {
            let up = self.digits.get(keep).is_some_and(|digit| *digit >= 5);
            self.digits.truncate(keep);
            if up {
                self.add_one();
            }
            self.trim();
        }
        self
    }

    fn add_one(&mut self) {
        for digit in self.digits.iter_mut().rev() {
            if *digit < 9 {
                *digit += 1;
                return;
            }
            *digit = 0;
        }
        self.digits.insert(0, 1);
        self.point += 1;
    }

    /// The digits before the point; empty for less than one.
    pub(super) fn whole(&self) -> String {
        let count = usize::try_from(self.point).unwrap_or(0);
        (0..count).map(|at| char::from(b'0' + self.digits.get(at).copied().unwrap_or(0))).collect()
    }

    /// The digits behind the point, without zeros at the end.
    pub(super) fn fraction(&self) -> String {
        if self.is_zero() {
            return String::new();
        }
        let zeros = usize::try_from(-i64::from(self.point)).unwrap_or(0);
        let skipped = usize::try_from(self.point).unwrap_or(0);
        let digits = self.digits.iter().skip(skipped).map(|digit| char::from(b'0' + digit));
        std::iter::repeat_n('0', zeros).chain(digits).collect()
    }
}

/// A number without a format: as many digits as count, without an exponent unless it is huge or tiny.
pub(in crate::office) fn general(value: f64) -> String {
    let decimal = Decimal::new(value);
    let sign = if value < 0.0 && !decimal.is_zero() { "-" } else { "" };
    if !(-10..21).contains(&decimal.exponent()) {
        let exponent = decimal.exponent();
        let mantissa = decimal.shifted(-exponent);
        let fraction = mantissa.fraction();
        let point = if fraction.is_empty() { "" } else { "." };
        return format!("{sign}{}{point}{fraction}E{exponent:+}", mantissa.whole());
    }
    let (whole, fraction) = (decimal.whole(), decimal.fraction());
    let whole = if whole.is_empty() { "0" } else { &whole };
    if fraction.is_empty() { format!("{sign}{whole}") } else { format!("{sign}{whole}.{fraction}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_shown_with_the_digits_that_count() {
        let shown = [0.1 + 0.2, 1.0 / 3.0, -12.5, 0.0, 123_456_789_012.0, 1e25, 2.5e-15, f64::NAN].map(general);
        assert_eq!(shown, ["0.3", "0.333333333333333", "-12.5", "0", "123456789012", "1E+25", "2.5E-15", "0"]);
    }

    #[test]
    fn halves_are_rounded_upwards() {
        let rounded = |value: f64, places: usize| {
            let decimal = Decimal::new(value).rounded(places);
            (decimal.whole(), decimal.fraction())
        };
        assert_eq!(rounded(2.675, 2), ("2".to_owned(), "68".to_owned()));
        assert_eq!(rounded(0.995, 2), ("1".to_owned(), String::new()));
        assert_eq!(rounded(0.004, 2), (String::new(), String::new()));
        assert_eq!(rounded(0.05, 3), (String::new(), "05".to_owned()));
        assert_eq!(rounded(999.5, 0), ("1000".to_owned(), String::new()));
    }
}
