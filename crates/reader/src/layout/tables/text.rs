//! Words as tables see them: in rows across the page, and in the pieces of a row that belong together.

use super::{PlacedWord, rules::Line};
use crate::{layout::characters::is_right_to_left, model::Rect};

/// A word without what only leads the eye, such as dots between a label and its number.
#[derive(Debug, Clone, Copy)]
pub(super) struct Item<'a> {
    pub text: &'a str,
    pub bbox: Rect,
    /// Its place among the words that were given.
    pub word: usize,
}

/// Words of a row that stand together, with no more than a space between them.
#[derive(Debug, Clone)]
pub(super) struct Chunk {
    /// From left to right.
    pub items: Vec<usize>,
    pub bbox: Rect,
}

/// What stands at one height.
#[derive(Debug, Clone)]
pub(super) struct TextRow {
    /// From left to right.
    pub chunks: Vec<Chunk>,
    pub bbox: Rect,
}

impl TextRow {
    pub(super) fn middle(&self) -> f32 {
        self.bbox.center().1
    }
}

/// What of the words is text, and what are lines drawn with characters ("-----").
pub(super) fn items<'a>(words: &[PlacedWord<'a>]) -> (Vec<Item<'a>>, Vec<Rect>, usize) {
    let mut items = Vec::with_capacity(words.len());
    let mut drawn = Vec::new();
    let mut leaders = 0;
    for (index, word) in words.iter().enumerate() {
        let Rect { x0, y0, x1, y1 } = word.bbox;
        if ![x0, y0, x1, y1].iter().all(|value| value.is_finite()) || word.text.is_empty() {
            continue;
        }
        let count = word.text.chars().count();
        if count >= 4 && word.text.chars().all(|c| matches!(c, '-' | '=' | '_' | '—' | '─')) {
            let y = f32::midpoint(y0, y1);
            drawn.push(Rect::new(x0, y, x1, y));
            continue;
        }
        let text = word.text.trim_end_matches(is_leader);
        let dropped = word.text[text.len()..].chars().count();
        if text.is_empty() {
            leaders += 1;
            continue;
        }
        if dropped < 3 {
            items.push(Item { text: word.text, bbox: word.bbox, word: index });
            continue;
        }
        leaders += 1;
        // Dots are narrower than letters; half the width of a letter is near enough.
        #[expect(clippy::cast_precision_loss, reason = "a count of characters")]
        let share = (count - dropped) as f32 / (count as f32 - dropped as f32 * 0.5);
        let end = x0 + (x1 - x0) * share;
        items.push(Item { text, bbox: Rect::new(x0, y0, end, y1), word: index });
    }
    (items, drawn, leaders)
}

fn is_leader(c: char) -> bool {
    matches!(c, '.' | '…' | '·' | '‥' | '․')
}

/// The rows of the given items, from top to bottom; each from left to right.
pub(super) fn rows_of(items: &[Item<'_>], which: &[usize]) -> Vec<Vec<usize>> {
    let mut order: Vec<usize> = which.to_vec();
    let middle = |index: &usize| items[*index].bbox.center().1;
    order.sort_by(|a, b| middle(a).total_cmp(&middle(b)));
    let mut rows: Vec<(f32, f32, Vec<usize>)> = Vec::new();
    for index in order {
        let bbox = items[index].bbox;
        let fits = rows.last().is_some_and(|(top, bottom, _)| {
            let shared = bbox.y1.min(*bottom) - bbox.y0.max(*top);
            shared >= 0.5 * (bottom - top).min(bbox.height()).max(0.1)
        });
        match rows.last_mut() {
            Some((top, bottom, row)) if fits => {
                // The row is as tall as its tallest word, but a raised footnote mark does not stretch it.
                if bbox.height() > *bottom - *top {
                    (*top, *bottom) = (bbox.y0, bbox.y1);
                }
                row.push(index);
            }
            _ => rows.push((bbox.y0, bbox.y1, vec![index])),
        }
    }
    for (_, _, row) in &mut rows {
        row.sort_by(|a, b| items[*a].bbox.x0.total_cmp(&items[*b].bbox.x0));
    }
    rows.into_iter().map(|(_, _, row)| row).collect()
}

/// Cuts a row where the space is wider than `gap` times the height of the text, and at lines down. A currency in front of
/// amounts is never cut from the one that follows it, and never joined to the one before.
pub(super) fn chunks_of(items: &[Item<'_>], row: &[usize], gap: f32, down: &[Line]) -> Vec<Chunk> {
    let mut chunks: Vec<Chunk> = Vec::new();
    let leads = currency_leads(items, row);
    for &index in row {
        let item = &items[index];
        let begins_amount = leads && is_currency(item.text);
        let joins = chunks.last().is_some_and(|chunk| {
            let space = item.bbox.x0 - chunk.bbox.x1;
            let height = item.bbox.height().min(chunk.bbox.height()).max(1.0);
            // A list's mark belongs to what follows it, however far away that is printed.
            let marked = chunk.items.len() == 1 && chunk.items.first().is_some_and(|&at| is_mark(items[at].text));
            let in_front = leads
                && chunk.items.len() == 1
                && chunk.items.first().is_some_and(|&at| is_currency(items[at].text))
                && has_digit(item.text);
            let wide = if marked {
                4.0
            } else if in_front {
                AMOUNT_GAP
            } else {
                gap
            };
            let cut = || {
                let (from, to) = (chunk.bbox.x1 - 1.0, item.bbox.x0 + 1.0);
                let y = item.bbox.center().1;
                down.iter().any(|line| line.at >= from && line.at <= to && line.from <= y && line.to >= y)
            };
            let of_the_next = begins_amount && chunk.items.last().is_some_and(|&at| has_digit(items[at].text));
            space <= wide * height && !of_the_next && !cut()
        });
        match chunks.last_mut() {
            Some(chunk) if joins => {
                chunk.bbox = chunk.bbox.union(&item.bbox);
                chunk.items.push(index);
            }
            _ => chunks.push(Chunk { items: vec![index], bbox: item.bbox }),
        }
    }
    chunks
}

/// How far to its right, in heights of the text, the amount of a currency stands whose sign has a place of its own.
const AMOUNT_GAP: f32 = 14.0;

/// Whether the signs of currencies in a row stand in front of their amounts: the first does.
fn currency_leads(items: &[Item<'_>], row: &[usize]) -> bool {
    let of_amounts =
        |at: &&usize| is_currency(items[**at].text) || is_numeric(items[**at].text) && has_digit(items[**at].text);
    row.iter().find(of_amounts).is_some_and(|&at| is_currency(items[at].text))
}

fn has_digit(text: &str) -> bool {
    text.contains(|sign: char| sign.is_ascii_digit())
}

pub(super) fn is_currency(text: &str) -> bool {
    matches!(
        text,
        "$" | "€" | "£" | "¥" | "₹" | "₩" | "₽" | "₺" | "US$" | "R$" | "C$" | "A$" | "CHF" | "EUR" | "USD" | "GBP"
    )
}

/// The rows with their chunks.
pub(super) fn text_rows(items: &[Item<'_>], which: &[usize], gap: f32, down: &[Line]) -> Vec<TextRow> {
    rows_of(items, which)
        .into_iter()
        .filter_map(|row| {
            let chunks = chunks_of(items, &row, gap, down);
            let bbox = chunks.iter().map(|chunk| chunk.bbox).reduce(|a, b| a.union(&b))?;
            Some(TextRow { chunks, bbox })
        })
        .collect()
}

/// A bullet or the number of a list's entry.
pub(super) fn is_mark(text: &str) -> bool {
    let mut chars = text.chars();
    match (chars.next(), chars.next()) {
        (Some(only), None) => matches!(
            only,
            '•' | '◦'
                | '▪'
                | '■'
                | '□'
                | '●'
                | '○'
                | '❖'
                | '➢'
                | '✓'
                | '§'
                | '►'
                | '‣'
                | '·'
                | '\u{f0b7}'
                | '\u{f0a7}'
        ),
        _ => false,
    }
}

/// Numbers, percentages, amounts, dates in figures, and what stands for a missing number.
pub(super) fn is_numeric(text: &str) -> bool {
    let (mut letters, mut digits, mut others) = (0, 0, 0);
    for c in text.chars() {
        if c.is_alphabetic() {
            letters += 1;
        } else if c.is_numeric() {
            digits += 1;
        } else if !c.is_whitespace() {
            others += 1;
        }
    }
    if letters == 0 {
        return digits > 0 || (others > 0 && text.chars().count() <= 8);
    }
    digits > letters
        || (letters <= 2 && matches!(text.trim().to_lowercase().as_str(), "na" | "n/a" | "n.a." | "(x)" | "x"))
}

/// The words of a line, as they are read.
pub(super) fn line_text(items: &[Item<'_>], line: &[usize]) -> String {
    let mut words: Vec<&str> = line.iter().map(|&index| items[index].text).collect();
    let turned = |word: &&str| word.chars().any(is_right_to_left);
    if words.iter().filter(|word| turned(word)).count() * 2 > words.len() {
        words.reverse();
        // Numbers and words of the other direction keep their order.
        for run in words.chunk_by_mut(|one, other| turned(one) == turned(other)) {
            if run.first().is_some_and(|word| !turned(word)) {
                run.reverse();
            }
        }
    }
    words.join(" ")
}

impl Chunk {
    pub(super) fn is_numeric(&self, items: &[Item<'_>]) -> bool {
        self.items.len() <= 4 && self.items.iter().all(|&index| is_numeric(items[index].text))
    }
}
