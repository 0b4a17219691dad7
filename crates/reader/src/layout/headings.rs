//! What looks like a heading by its size or weight, and is an entry of a form or a bill: a total, a date, a name with its
//! value; and what does not look like one, for its paragraph goes on behind it.

use super::{characters::is_cjk, inlines::Joint, lines::Line};
use crate::model::{Inlines, Span};

/// Whether a text says a value and names nothing that follows it.
pub(crate) fn is_entry(text: &str, lines: &[(Line, Joint)], level: u8) -> bool {
    let letters = text.chars().filter(|character| character.is_alphabetic()).count();
    let digits = text.chars().filter(char::is_ascii_digit).count();
    // "15.00", "04/29/20 - 05/03/20", "12 %"; "2024" and "3" may be years and chapters.
    let figures_alone =
        letters < 2 && (digits == 0 || digits > 4 || text.contains(['.', ',', '/', '%', '$', '€', '£']));
    if figures_alone || ends_in_amount(text) {
        return true;
    }
    // Names and values side by side, in rows of a form. Large text may stand in two places of a title page.
    let most = usize::from(level < 3);
    lines.iter().any(|(line, _)| column_gaps(line) > most)
}

/// Whether a text is made of single letters with indexes or of slanted ones: a piece of a formula.
pub(crate) fn is_formula(text: &Inlines) -> bool {
    let plain = text.text();
    let is_word = |part: &str| part.chars().count() >= 3;
    let words = plain.split(|letter: char| !letter.is_alphabetic()).any(is_word);
    let letters = plain.chars().any(char::is_alphabetic);
    // Two of Chinese are a word.
    let marked = |span: &Span| span.style.superscript || span.style.subscript || span.style.italic;
    letters && !words && !plain.chars().any(is_cjk) && text.0.iter().any(marked)
}

/// So many letters of text at least follow a heading within its line.
const FEWEST_BEHIND: usize = 60;
/// What begins a caption or a remark, and no part of a text.
const NO_HEADINGS: [&str; 16] = [
    "fig",
    "figure",
    "table",
    "tab",
    "abb",
    "abbildung",
    "tabelle",
    "box",
    "scheme",
    "chart",
    "plate",
    "note",
    "notes",
    "hinweis",
    "source",
    "quelle",
];

/// Takes the heading off a paragraph that begins with one: a few bold words with a full stop or colon behind them, and a
/// new sentence in plain type. Names before a colon are those of who speaks, or of an entry of a form.
pub(crate) fn take_run_in(text: &mut Inlines) -> Option<Inlines> {
    let [first, second, ..] = text.0.as_slice() else { return None };
    let head = first.text.trim();
    let behind: String = text.0[1..].iter().map(|span| span.text.as_str()).collect();
    let words: Vec<&str> = head.split_whitespace().collect();
    let name = words.first()?.trim_end_matches(['.', ':']).to_lowercase();
    let begins = head.starts_with(char::is_uppercase) && behind.trim_start().starts_with(char::is_uppercase);
    let is_phrase = words.len() >= 2 && words[1..].iter().any(|word| word.starts_with(char::is_lowercase));
    let ends = head.ends_with('.') || (head.ends_with(':') && is_phrase);
    let letters = |text: &str| text.chars().filter(|sign| sign.is_alphabetic()).count();
    let fits = first.style.bold
        && !second.style.bold
        && first.link.is_none()
        && begins
        && ends
        && words.len() <= 8
        && (3..=80).contains(&letters(head))
        && letters(&behind) >= FEWEST_BEHIND
        // "Mr." and "No." are parts of what follows.
        && (words.len() > 1 || letters(head) >= 5)
        && !NO_HEADINGS.contains(&name.as_str());
    if !fits {
        return None;
    }
    let mut heading = text.0.remove(0);
    heading.text.truncate(heading.text.trim_end().len());
    if let Some(rest) = text.0.first_mut() {
        rest.text = rest.text.trim_start().to_owned();
    }
    Some(Inlines(vec![heading]))
}

/// "Total 671,15 €", "Amount due: $ 1,204.50", "Sum (1,204.50)".
fn ends_in_amount(text: &str) -> bool {
    let currency = |word: &str| matches!(word, "€" | "$" | "£" | "¥" | "EUR" | "USD" | "GBP" | "CHF" | "%");
    let mut words = text.split_whitespace().rev().peekable();
    let marked = words.next_if(|word| currency(word)).is_some();
    let Some(word) = words.next() else { return false };
    let amount = word.trim_matches(|sign: char| matches!(sign, '(' | ')' | '-' | '+' | '$' | '€' | '£' | '¥' | '%'));
    let marked = marked || amount.len() < word.trim_matches(['(', ')', '-', '+']).len();
    let figures = amount.starts_with(|sign: char| sign.is_ascii_digit())
        && amount.chars().all(|sign| sign.is_ascii_digit() || matches!(sign, '.' | ',' | '\''));
    // "1,204.50" and "671,15", but not "3.2", the number of a section.
    let cents = amount.rsplit_once(['.', ',']).is_some_and(|(_, cents)| cents.len() == 2 && amount.len() > 4);
    figures && (marked || cents)
}

/// How many gaps part a line as they part columns. The gap behind the number of a heading does not.
fn column_gaps(line: &Line) -> usize {
    let behind_number = line.words.first().is_some_and(|word| word.letters <= 5);
    let gaps = line.words.windows(2).map(|pair| pair[1].x0 - pair[0].x1);
    gaps.skip(usize::from(behind_number)).filter(|gap| *gap > 2.5 * line.size).count()
}

#[cfg(test)]
mod tests {
    use super::is_entry;

    #[test]
    fn values_are_no_headings() {
        for entry in
            ["15.00", "04/29/20 - 05/03/20", "Total TTC 671,15 €", "Amount due: $ 1,204.50", "Rate 19 %", "-", "$12"]
        {
            assert!(is_entry(entry, &[], 2), "{entry}");
        }
        for heading in ["2024", "3", "Results for 2024", "Section 3.2", "3.2 Results", "Table 14.1", "Q3", "結果"] {
            assert!(!is_entry(heading, &[], 2), "{heading}");
        }
    }
}
