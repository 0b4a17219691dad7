//! Looks within a line of Markdown: emphasis, code, links. Signs without a partner are text.

use crate::model::{Inlines, Span, Style};

/// How far a partner is looked for, so that a line of signs alone costs no more than its length.
const FARTHEST_PARTNER: usize = 2000;

pub(super) fn inlines(text: &str) -> Inlines {
    let (inlines, plain, style) = (Inlines::default(), String::new(), Style::default());
    let mut writer = Writer { inlines, plain, style, has_links: text.contains("](") };
    let mut rest = text;
    while let Some(letter) = rest.chars().next() {
        rest = writer.step(rest, letter);
    }
    writer.flush(None);
    writer.inlines
}

struct Writer {
    inlines: Inlines,
    plain: String,
    style: Style,
    /// A line without any is not searched for them.
    has_links: bool,
}

impl Writer {
    fn flush(&mut self, link: Option<&str>) {
        let text = std::mem::take(&mut self.plain);
        self.inlines.push(Span { text, style: self.style, link: link.map(str::to_owned) });
    }

    /// Takes what stands first, and gives what is left.
    fn step<'t>(&mut self, rest: &'t str, letter: char) -> &'t str {
        let behind = rest.get(letter.len_utf8()..).unwrap_or_default();
        match letter {
            '\\' => {
                if let Some(escaped) = behind.chars().next().filter(char::is_ascii_punctuation) {
                    self.plain.push(escaped);
                    return behind.get(1..).unwrap_or_default();
                }
            }
            '`' => {
                if let Some((code, after)) = code(rest) {
                    self.flush(None);
                    let style = Style { code: true, ..self.style };
                    self.inlines.push(Span { text: code.to_owned(), style, link: None });
                    return after;
                }
            }
            '!' if self.has_links && behind.starts_with('[') => {
                if let Some((alt, _, after)) = link(behind) {
                    self.plain.push_str(alt);
                    return after;
                }
            }
            '[' if self.has_links => {
                if let Some((label, target, after)) = link(rest) {
                    self.flush(None);
                    self.plain.push_str(&without_signs(label));
                    self.flush(Some(target));
                    return after;
                }
            }
            '<' => {
                if let Some((target, after)) = behind.split_once('>')
                    && (target.starts_with("http://") || target.starts_with("https://"))
                    && !target.contains(' ')
                {
                    self.flush(None);
                    self.plain.push_str(target);
                    self.flush(Some(target));
                    return after;
                }
            }
            '*' | '_' | '~' => {
                if let Some(after) = self.emphasis(rest, letter) {
                    return after;
                }
            }
            _ => {}
        }
        self.plain.push(letter);
        behind
    }

    /// Turns a look on or off, if the sign here can do so.
    fn emphasis<'t>(&mut self, rest: &'t str, sign: char) -> Option<&'t str> {
        let double = rest.get(1..)?.starts_with(sign);
        let (before, width) = (self.plain.chars().next_back(), if double { 2 } else { 1 });
        let after = rest.get(width..)?;
        let on = match (sign, double) {
            ('~', true) => self.style.struck,
            ('~', false) => return None,
            (_, true) => self.style.bold,
            (_, false) => self.style.italic,
        };
        let inside_word = sign == '_'
            && before.is_some_and(char::is_alphanumeric)
            && after.chars().next().is_some_and(char::is_alphanumeric);
        let fits = if on {
            before.is_none_or(|letter| !letter.is_whitespace())
        } else {
            let mut end = after.len().min(FARTHEST_PARTNER);
            while !after.is_char_boundary(end) {
                end -= 1;
            }
            let partner = rest.get(..width)?;
            after.chars().next().is_some_and(|letter| !letter.is_whitespace())
                && after.get(..end)?.get(1..).is_some_and(|ahead| ahead.contains(partner))
        };
        if inside_word || !fits {
            return None;
        }
        self.flush(None);
        match (sign, double) {
            ('~', _) => self.style.struck = !on,
            (_, true) => self.style.bold = !on,
            (_, false) => self.style.italic = !on,
        }
        Some(after)
    }
}

fn code(rest: &str) -> Option<(&str, &str)> {
    let ticks = rest.len() - rest.trim_start_matches('`').len();
    let (fence, inside) = rest.split_at_checked(ticks)?;
    let mut window = inside.len().min(FARTHEST_PARTNER);
    while !inside.is_char_boundary(window) {
        window -= 1;
    }
    let end = inside.get(..window)?.find(fence)?;
    Some((inside.get(..end)?.trim(), inside.get(end + ticks..)?))
}

/// `[label](target "title")`: label, target and what follows.
fn link(rest: &str) -> Option<(&str, &str, &str)> {
    let mut window = rest.len().min(FARTHEST_PARTNER);
    while !rest.is_char_boundary(window) {
        window -= 1;
    }
    let near = rest.get(..window)?;
    let middle = near.find("](")?;
    let label = near.get(1..middle)?;
    // A label with a bracket of its own may hold a picture; others begin a new link.
    if label.contains('[') && !label.starts_with("![") {
        return None;
    }
    let end = middle + near.get(middle..)?.find(')')?;
    let target = near.get(middle + 2..end)?.split_whitespace().next().unwrap_or_default();
    Some((label, target.trim_matches(['<', '>']), rest.get(end + 1..)?))
}

fn without_signs(label: &str) -> String {
    label.chars().filter(|letter| !matches!(letter, '*' | '`')).collect()
}
