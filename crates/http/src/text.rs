//! The words of others as part of a sentence of ours.

/// A line that is quoted has at most this many characters.
pub const LONGEST_LINE: usize = 300;

/// Text from outside as part of a sentence: bounded, and without characters that would move a terminal's cursor.
pub fn one_line(text: &str) -> String {
    let mut characters = text.chars().map(|c| if c.is_control() { ' ' } else { c });
    let mut line: String = characters.by_ref().take(LONGEST_LINE).collect();
    if characters.next().is_some() {
        line.push_str("...");
    }
    line
}

/// The first bytes as part of a sentence.
pub fn beginning(text: &[u8]) -> String {
    // Four bytes for each of the characters that are kept at most.
    one_line(String::from_utf8_lossy(&text[..text.len().min(4 * LONGEST_LINE)]).trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_quoted_is_one_bounded_line() {
        assert_eq!(one_line("\u{1b}[31mred\nline"), " [31mred line");
        assert_eq!(beginning(&[b'x'; 5000]), format!("{}...", "x".repeat(LONGEST_LINE)));
        assert_eq!(beginning(b" \xff\n"), "\u{fffd}");
    }
}
