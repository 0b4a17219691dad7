//! Fields of word processors: text that is made by an instruction, of which the reader shows the result.

/// Where a HYPERLINK leads to: a place outside in quotes, and with `\l` a place inside.
pub(crate) fn target(arguments: &str) -> Option<String> {
    let mut target = String::new();
    let mut anchor = String::new();
    let mut wants_anchor = false;
    for argument in split(arguments) {
        match argument.as_str() {
            "\\l" => wants_anchor = true,
            // Switches with an argument of their own: tooltip and frame.
            "\\o" | "\\t" => wants_anchor = false,
            switch if switch.starts_with('\\') => {}
            text if wants_anchor => {
                text.clone_into(&mut anchor);
                wants_anchor = false;
            }
            text if target.is_empty() && anchor.is_empty() => text.clone_into(&mut target),
            _ => {}
        }
    }
    if !anchor.is_empty() {
        target = format!("{target}#{anchor}");
    }
    (!target.is_empty()).then_some(target)
}

/// Words, and texts in quotes; a backslash in quotes stands for the next sign.
fn split(arguments: &str) -> Vec<String> {
    let mut all = Vec::new();
    let mut letters = arguments.chars().peekable();
    while let Some(letter) = letters.next() {
        if letter.is_whitespace() {
            continue;
        }
        let mut text = String::new();
        if matches!(letter, '"' | '“' | '”') {
            while let Some(next) = letters.next() {
                match next {
                    '"' | '“' | '”' => break,
                    '\\' => text.extend(letters.next()),
                    next => text.push(next),
                }
            }
        } else {
            text.push(letter);
            while let Some(next) = letters.next_if(|next| !next.is_whitespace()) {
                text.push(next);
            }
        }
        all.push(text);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::target;

    #[test]
    fn links_lead_outside_or_inside() {
        assert_eq!(target(r#""http://a.b/c" \o "tip""#).as_deref(), Some("http://a.b/c"));
        assert_eq!(target(r#"\l "_Toc1""#).as_deref(), Some("#_Toc1"));
        assert_eq!(target(r"http://a.b \l x").as_deref(), Some("http://a.b#x"));
        assert_eq!(target(r#""C:\\docs\\a.doc""#).as_deref(), Some(r"C:\docs\a.doc"));
        assert_eq!(target(""), None);
    }
}
