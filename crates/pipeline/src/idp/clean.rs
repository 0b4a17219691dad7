//! The clean-up that all page text has behind it: one kind of line end, words that a line end parted in one piece, no
//! runs of spaces.

/// Markdown as the chain hands it on. Code keeps its spaces, and what is set in stays set in.
pub(super) fn clean(markdown: &str) -> String {
    let unix = markdown.replace("\r\n", "\n").replace('\r', "\n");
    let mut lines: Vec<String> = Vec::new();
    let mut in_code = false;
    for line in unix.split('\n') {
        let fence = line.trim_start().starts_with("```");
        if in_code || fence {
            in_code ^= fence;
            lines.push(line.to_owned());
            continue;
        }
        let line = squeezed(line);
        match lines.last_mut() {
            Some(last) if is_parted(last, &line) => {
                last.truncate(last.trim_end().len() - 1);
                last.push_str(line.trim_start());
            }
            _ => lines.push(line),
        }
    }
    lines.join("\n")
}

/// Runs of spaces inside a line become one. Two at its end are a line break in Markdown.
fn squeezed(line: &str) -> String {
    let breaks = line.ends_with("  ") && !line.trim().is_empty();
    let body = line.trim_start();
    let indent = &line[..line.len() - body.len()];
    let mut squeezed = String::with_capacity(line.len());
    squeezed.push_str(&indent.replace('\t', "    "));
    for (index, word) in body.split([' ', '\t', '\u{a0}']).filter(|word| !word.is_empty()).enumerate() {
        if index > 0 {
            squeezed.push(' ');
        }
        squeezed.push_str(word);
    }
    if breaks {
        squeezed.push_str("  ");
    }
    if squeezed.trim().is_empty() { String::new() } else { squeezed }
}

/// A word ends with a hyphen at the end of the line and goes on, in small letters, on the next.
fn is_parted(last: &str, next: &str) -> bool {
    let parted = last.trim_end().strip_suffix('-').is_some_and(|before| before.ends_with(char::is_alphabetic));
    parted && next.trim_start().starts_with(char::is_lowercase)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_words_and_spaces_are_put_right() {
        assert_eq!(clean("one\r\ntwo\rthree"), "one\ntwo\nthree");
        assert_eq!(clean("an exam-\nple and a docu-  \nment"), "an example and a document");
        assert_eq!(clean("too   many\t spaces"), "too many spaces");
        assert_eq!(clean("a line  \nand its next"), "a line  \nand its next", "a line break stays");
        assert_eq!(clean("1 -\n2, Anglo-\nSaxon"), "1 -\n2, Anglo-\nSaxon", "no word was parted");
    }

    #[test]
    fn markup_keeps_its_shape() {
        assert_eq!(clean("- a\n    - b   c"), "- a\n    - b c");
        assert_eq!(clean("```\nx   =  1 -\ny\n```\nz   z"), "```\nx   =  1 -\ny\n```\nz z");
        assert_eq!(clean("| a | b |\n| --- | --- |"), "| a | b |\n| --- | --- |");
    }
}
