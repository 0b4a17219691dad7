//! Numbers as lists print them.

/// `form` as HTML names it: '1' decimal, 'a' and 'A' letters, 'i' and 'I' Roman.
pub(crate) fn written(number: i64, form: char) -> String {
    let written = match form {
        'a' => letters(number),
        'A' => letters(number).map(|text| text.to_uppercase()),
        'i' => roman(number),
        'I' => roman(number).map(|text| text.to_uppercase()),
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

/// None where the Romans had no number.
fn roman(number: i64) -> Option<String> {
    const SIGNS: [(i64, &str); 13] = [
        (1000, "m"),
        (900, "cm"),
        (500, "d"),
        (400, "cd"),
        (100, "c"),
        (90, "xc"),
        (50, "l"),
        (40, "xl"),
        (10, "x"),
        (9, "ix"),
        (5, "v"),
        (4, "iv"),
        (1, "i"),
    ];
    if !(1..4000).contains(&number) {
        return None;
    }
    let mut rest = number;
    let mut text = String::new();
    for (value, sign) in SIGNS {
        while rest >= value {
            text.push_str(sign);
            rest -= value;
        }
    }
    Some(text)
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
