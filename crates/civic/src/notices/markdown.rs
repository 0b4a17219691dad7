//! Summaries are Markdown. The little of it that they use becomes blocks of text here: paragraphs, lists, bold, italic,
//! links. Everything else is shown as it is written. Nothing of it can become markup: HTML is text like any other.

/// A paragraph, or a point of a list.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Block {
    /// What stands before a point: `•`, `2.`.
    pub(super) point: Option<String>,
    /// A point of a list in a list.
    pub(super) is_inner: bool,
    pub(super) spans: Vec<Span>,
}

/// Some words of one kind.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Span {
    pub(super) text: String,
    pub(super) bold: bool,
    pub(super) italic: bool,
    /// An address that may be opened.
    pub(super) link: Option<String>,
}

impl Block {
    pub(super) fn plain(&self) -> String {
        self.spans.iter().map(|span| span.text.as_str()).collect()
    }
}

/// Addresses that a reader may be sent to. Others are text.
pub(super) fn safe_link(url: &str) -> Option<&str> {
    let url = url.trim();
    let begins = |scheme: &str| url.get(..scheme.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(scheme));
    let is_safe = ["https://", "http://", "mailto:"].into_iter().any(begins);
    (is_safe && !url.contains(|letter: char| letter.is_control() || letter.is_whitespace())).then_some(url)
}

pub(super) fn blocks(markdown: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut lines: Vec<(Option<String>, bool, bool, String)> = Vec::new();
    let mut is_open = false;
    for line in markdown.lines() {
        let trimmed = line.trim();
        if trimmed.is_empty() || trimmed.chars().all(|letter| matches!(letter, '-' | '*' | '_')) && trimmed.len() >= 3 {
            is_open = false;
            continue;
        }
        let depth = line.chars().take_while(|letter| letter.is_whitespace()).count();
        if let Some((point, rest)) = point(trimmed) {
            lines.push((Some(point), depth >= 2, false, rest.to_owned()));
        } else if let Some(heading) = heading(trimmed) {
            lines.push((None, false, true, heading.to_owned()));
            is_open = false;
            continue;
        } else {
            let text = trimmed.trim_start_matches('>').trim_start();
            match lines.last_mut().filter(|_| is_open) {
                Some((_, _, _, open)) => {
                    open.push(' ');
                    open.push_str(text);
                }
                None => lines.push((None, false, false, text.to_owned())),
            }
        }
        is_open = true;
    }
    for (point, is_inner, is_heading, text) in lines {
        let mut spans = spans(&text);
        if is_heading {
            for span in &mut spans {
                span.bold = true;
            }
        }
        if !spans.is_empty() {
            blocks.push(Block { point, is_inner, spans });
        }
    }
    blocks
}

fn heading(line: &str) -> Option<&str> {
    let rest = line.trim_start_matches('#');
    let level = line.len() - rest.len();
    ((1..=6).contains(&level) && rest.starts_with(' ')).then(|| rest.trim().trim_end_matches('#').trim_end())
}

fn point(line: &str) -> Option<(String, &str)> {
    if let Some(rest) = ["- ", "* ", "+ ", "• "].iter().find_map(|mark| line.strip_prefix(mark)) {
        return Some(("•".to_owned(), rest.trim_start()));
    }
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let rest = line.get(digits..)?;
    let rest = rest.strip_prefix(". ").or_else(|| rest.strip_prefix(") "))?;
    (1..=3).contains(&digits).then(|| (format!("{}.", line.get(..digits).unwrap_or_default()), rest.trim_start()))
}

/// The words of one block.
fn spans(text: &str) -> Vec<Span> {
    let letters: Vec<char> = text.chars().collect();
    let mut out: Vec<Span> = Vec::new();
    let (mut bold, mut italic) = (false, false);
    let mut word = String::new();
    let mut place = 0;
    let flush = |word: &mut String, out: &mut Vec<Span>, bold: bool, italic: bool| {
        if !word.is_empty() {
            out.push(Span { text: std::mem::take(word), bold, italic, link: None });
        }
    };
    while let Some(letter) = letters.get(place).copied() {
        let next = letters.get(place + 1).copied();
        match letter {
            '\\' if next.is_some_and(|next| next.is_ascii_punctuation()) => {
                word.extend(next);
                place += 2;
                continue;
            }
            '*' | '_' if next == Some(letter) && closes(&letters, place, 2, bold) => {
                flush(&mut word, &mut out, bold, italic);
                bold = !bold;
                place += 2;
                continue;
            }
            '*' | '_' if next != Some(letter) && closes(&letters, place, 1, italic) => {
                flush(&mut word, &mut out, bold, italic);
                italic = !italic;
            }
            '`' => {}
            '[' => match link(&letters, place) {
                Some((shown, url, end)) => {
                    flush(&mut word, &mut out, bold, italic);
                    let link = safe_link(&url).map(str::to_owned);
                    out.push(Span { text: shown, bold, italic, link });
                    place = end;
                    continue;
                }
                None => word.push(letter),
            },
            other => word.push(if other.is_control() { ' ' } else { other }),
        }
        place += 1;
    }
    flush(&mut word, &mut out, bold, italic);
    out
}

/// Whether stars here change the kind: they end what is open, or begin something that ends later. A sign inside a word,
/// such as in `file_name`, is a sign.
fn closes(letters: &[char], place: usize, count: usize, is_open: bool) -> bool {
    let mark = letters.get(place).copied().unwrap_or_default();
    let at = |place: usize| letters.get(place).copied();
    let before = place.checked_sub(1).and_then(at);
    let after = at(place + count);
    let is_inside = |one: Option<char>, other: Option<char>| {
        mark == '_' && one.is_some_and(char::is_alphanumeric) && other.is_some_and(char::is_alphanumeric)
    };
    if is_inside(before, after) {
        return false;
    }
    if is_open {
        return before.is_some_and(|letter| !letter.is_whitespace());
    }
    if after.is_none_or(char::is_whitespace) {
        return false;
    }
    let rest = letters.get(place + count..).unwrap_or_default();
    rest.windows(count).any(|some| some.iter().all(|letter| *letter == mark))
}

/// `[text](address)`, and where it ends.
fn link(letters: &[char], place: usize) -> Option<(String, String, usize)> {
    let close = (place + 1..letters.len()).find(|at| letters.get(*at) == Some(&']'))?;
    if letters.get(close + 1) != Some(&'(') {
        return None;
    }
    let end = (close + 2..letters.len()).find(|at| letters.get(*at) == Some(&')'))?;
    let text: String = letters.get(place + 1..close)?.iter().filter(|letter| !matches!(letter, '*' | '\\')).collect();
    let url: String = letters.get(close + 2..end)?.iter().filter(|letter| **letter != '\\').collect();
    (!text.trim().is_empty()).then_some((text, url, end + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn render(markdown: &str) -> Vec<String> {
        let span = |span: &Span| {
            let text = if span.bold { format!("<b>{}</b>", span.text) } else { span.text.clone() };
            let text = if span.italic { format!("<i>{text}</i>") } else { text };
            span.link.as_ref().map_or(text.clone(), |link| format!("{text}({link})"))
        };
        let block = |block: &Block| {
            let point = block.point.as_ref().map(|point| format!("{point} ")).unwrap_or_default();
            format!("{point}{}", block.spans.iter().map(span).collect::<String>())
        };
        blocks(markdown).iter().map(block).collect()
    }

    #[test]
    fn what_summaries_use_is_understood() {
        assert_eq!(
            render("## What it is\nA loan of **$2.5 million**\nfor *parks*.\n\n- one\n  - two\n1. three\n---\n"),
            ["<b>What it is</b>", "A loan of <b>$2.5 million</b> for <i>parks</i>.", "• one", "• two", "1. three"]
        );
        assert_eq!(render("see [the report](https://x.example/a) now"), ["see the report(https://x.example/a) now"]);
        assert_eq!(render("\\*not bold\\* 2 * 3 file_name_x"), ["*not bold* 2 * 3 file_name_x"]);
    }

    #[test]
    fn what_would_do_harm_is_text() {
        assert_eq!(render("<script>x</script>"), ["<script>x</script>"]);
        assert_eq!(render("[click](javascript:alert(1)) [x](data:text/html,1)"), ["click) x"]);
        assert_eq!(render("**never closed, [never](closed"), ["**never closed, [never](closed"]);
        for bad in ["javascript:alert(1)", "JaVaScRiPt:x", "vbscript:x", "//x", "https://a b", "https://a\nb", ""] {
            assert_eq!(safe_link(bad), None, "{bad:?}");
        }
        assert_eq!(safe_link(" HTTPS://a.example/x "), Some("HTTPS://a.example/x"));
    }
}
