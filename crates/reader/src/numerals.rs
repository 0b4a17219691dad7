//! Counts as letters and as Roman numerals.

/// a, b, … z, aa, bb, … as word processors count with letters.
pub(crate) fn alphabetic(count: u32, first: char) -> String {
    let Some(index) = count.checked_sub(1) else { return String::new() };
    let letter = char::from_u32(first as u32 + index % 26).unwrap_or(first);
    let times = (index / 26 + 1).min(50) as usize;
    std::iter::repeat_n(letter, times).collect()
}

/// In upper case. What Rome had no signs for stays in digits.
pub(crate) fn roman(count: u32) -> String {
    const SIGNS: [(u32, &str); 13] = [
        (1000, "M"),
        (900, "CM"),
        (500, "D"),
        (400, "CD"),
        (100, "C"),
        (90, "XC"),
        (50, "L"),
        (40, "XL"),
        (10, "X"),
        (9, "IX"),
        (5, "V"),
        (4, "IV"),
        (1, "I"),
    ];
    if count == 0 || count >= 4000 {
        return count.to_string();
    }
    let mut rest = count;
    let mut out = String::new();
    for (value, sign) in SIGNS {
        while rest >= value {
            out.push_str(sign);
            rest -= value;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_become_letters_and_roman_numerals() {
        assert_eq!([alphabetic(1, 'a'), alphabetic(26, 'A'), alphabetic(28, 'a')], ["a", "Z", "bb"]);
        assert_eq!([roman(4), roman(1990), roman(0), roman(5000)], ["IV", "MCMXC", "0", "5000"]);
    }
}
