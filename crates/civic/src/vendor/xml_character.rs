//! The characters that XML writes as names and numbers.

/// What `&name;` stands for, by `name`; nothing, if it stands for none.
pub(super) fn character(name: &str) -> String {
    match name {
        "amp" => "&".into(),
        "lt" => "<".into(),
        "gt" => ">".into(),
        "quot" => "\"".into(),
        "apos" => "'".into(),
        other => {
            let code = other.strip_prefix('#').and_then(|digits| match digits.strip_prefix(['x', 'X']) {
                Some(digits) => u32::from_str_radix(digits, 16).ok(),
                None => digits.parse().ok(),
            });
            code.and_then(char::from_u32).map(String::from).unwrap_or_default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::character;

    #[test]
    fn names_and_numbers_stand_for_characters() {
        for (name, expected) in [("amp", "&"), ("#8211", "–"), ("#x2013", "–"), ("nbsp", ""), ("#x110000", "")] {
            assert_eq!(character(name), expected, "{name}");
        }
    }
}
