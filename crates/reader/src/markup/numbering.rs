//! Numbers as lists print them.

use crate::numerals::roman;

/// `form` as HTML names it: '1' decimal, 'a' and 'A' letters, 'i' and 'I' Roman.
pub(crate) fn written(number: i64, form: char) -> String {
    let written = match form {
        'a' => letters(number),
        'A' => letters(number).map(|text| text.to_uppercase()),
        'i' => u32::try_from(number).ok().map(|number| roman(number).to_lowercase()),
        'I' => u32::try_from(number).ok().map(roman),
        _ => None,
    };
    written.unwrap_or_else(|| number.to_string())
}

/// a to z, then aa, ab; None below 1.
fn letters(number: i64) -> Option<String> {
    let mut rest = u64::try_from(number).ok().filter(|number| *number > 0)?;
    let mut text = Vec::new();
    while rest > 0 {
        rest -= 1;
        text.push(char::from(b'a' + u8::try_from(rest % 26).ok()?));
        rest /= 26;
    }
    Some(text.into_iter().rev().collect())
}

#[cfg(test)]
mod tests {
    use super::written;

    #[test]
    fn numbers_are_written_as_the_list_wants() {
        let all = [
            ('1', 12, "12"),
            ('a', 1, "a"),
            ('a', 27, "aa"),
            ('A', 28, "AB"),
            ('i', 14, "xiv"),
            ('I', 1999, "MCMXCIX"),
            ('i', 0, "0"),
            ('a', -3, "-3"),
        ];
        for (form, number, text) in all {
            assert_eq!(written(number, form), text);
        }
    }
}
