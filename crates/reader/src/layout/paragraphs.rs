//! The lines of a column become paragraphs, headings, points of lists and code.

use super::{
    characters::is_hyphen,
    headings,
    inlines::{Joint, Text, Writer},
    lines::Line,
    lists::{self, Point},
    sizes::Sizes,
    words::Word,
};
use crate::model::{Block, BlockKind, Rect, Role};

/// Lines that belong together, with how each meets the one before.
#[derive(Debug)]
pub(crate) struct Paragraph {
    pub(crate) lines: Vec<(Line, Joint)>,
    pub(crate) point: Option<Point>,
    pub(crate) bold: bool,
    pub(crate) code: bool,
}

/// What is usual in a column.
#[derive(Debug)]
struct Usual {
    leading: f32,
    start: f32,
    end: f32,
}

/// A line with so many letters is one of running text.
const LETTERS_OF_TEXT: u32 = 30;
/// Fewer steps between such lines tell nothing.
const FEWEST_STEPS: usize = 4;

/// Where a line starts and ends in its reading direction.
fn ends(line: &Line, right_to_left: bool) -> (f32, f32) {
    if right_to_left { (-line.x1, -line.x0) } else { (line.x0, line.x1) }
}

impl Usual {
    fn measure(lines: &[Line], right_to_left: bool) -> Self {
        let steps_of = |letters: u32| {
            let step = |pair: &[Line]| {
                let (above, below) = (pair.first()?, pair.last()?);
                let same = (above.size - below.size).abs() <= 0.1 * below.size;
                let running = above.letters() >= letters && below.letters() >= letters;
                let step = below.base - above.base;
                (same && running && step > 0.5 * below.size && step < 2.2 * below.size).then_some(step / below.size)
            };
            lines.windows(2).filter_map(step).collect::<Vec<_>>()
        };
        // Lines of formulas and of figures stand closer, or further apart, than text does.
        let mut steps = steps_of(LETTERS_OF_TEXT);
        if steps.len() < FEWEST_STEPS {
            steps = steps_of(0);
        }
        steps.sort_by(f32::total_cmp);
        // The lower quarter: half of the steps may be between paragraphs of one line.
        let leading = steps.get(steps.len() / 4).copied().unwrap_or(1.2);
        Self {
            leading,
            start: lines.iter().map(|line| ends(line, right_to_left).0).fold(f32::MAX, f32::min),
            end: lines.iter().map(|line| ends(line, right_to_left).1).fold(f32::MIN, f32::max),
        }
    }
}

/// Groups the lines of a column, which come from top to bottom.
/// `sides` are those of the column.
pub(crate) fn group(lines: Vec<Line>, sides: (f32, f32), writer: &Writer<'_>) -> Vec<Paragraph> {
    let right_to_left = lines.iter().filter(|line| line.is_right_to_left()).count() * 2 > lines.len();
    let mut usual = Usual::measure(&lines, right_to_left);
    let column = if right_to_left { (-sides.1, -sides.0) } else { sides };
    let own_end = usual.end;
    let wrapped = wrapped_ends(&lines, &usual, right_to_left);
    let mut paragraphs: Vec<Paragraph> = Vec::new();
    for (line, wrapped) in lines.into_iter().zip(wrapped) {
        // Where lines are wrapped, they say themselves where they end. Other short lines have the whole column.
        usual.end = match (wrapped, paragraphs.last()) {
            (Some(end), _) => end,
            (None, Some(last)) if last.is_narrow(column) && begins_anew(&line, writer) => column.1,
            _ => own_end,
        };
        let bold = writer.is_bold(&line);
        let code = writer.is_monospace(&line);
        let point = if code { None } else { lists::point(&line, writer) };
        let joint = paragraphs.last().and_then(|paragraph| {
            let begins = writer.begins_with_mark(&line) || lists::begins_clause(&line, writer);
            let looks_alike = paragraph.bold == bold || goes_on_in_bold(paragraph, &line, bold, writer);
            if point.is_some() || begins || !looks_alike || paragraph.code != code {
                return None;
            }
            joint(paragraph, &line, &usual, writer, right_to_left)
        });
        match (joint, paragraphs.last_mut()) {
            (Some(joint), Some(paragraph)) => {
                paragraph.bold &= bold;
                paragraph.lines.push((line, joint));
            }
            _ => paragraphs.push(Paragraph { lines: vec![(line, Joint::Flow)], point, bold, code }),
        }
    }
    paragraphs
}

/// For each line that goes on with the one above it as wrapped text does: where its block ends. In such a block no line
/// has room for the first word of the next; two lines alone may have none by chance.
fn wrapped_ends(lines: &[Line], usual: &Usual, right_to_left: bool) -> Vec<Option<f32>> {
    let mut found = vec![None; lines.len()];
    let mut start = 0;
    while start < lines.len() {
        let goes_on = |pair: &&[Line]| {
            let [above, below] = pair else { return false };
            let size = above.size.max(below.size);
            let step = below.base - above.base;
            let indent = ends(below, right_to_left).0 - ends(above, right_to_left).0;
            step > 0.3 * size
                && step <= (usual.leading * 1.25 + 0.05) * size
                && (0.87..=1.15).contains(&(below.size / above.size))
                && indent.abs() <= 0.7 * size
        };
        let length = lines[start..].windows(2).take_while(goes_on).count() + 1;
        let block = &lines[start..start + length];
        let end = block.iter().map(|line| ends(line, right_to_left).1).fold(f32::MIN, f32::max);
        let full = |pair: &&[Line]| {
            let [above, below] = pair else { return false };
            let first = if right_to_left { below.words.last() } else { below.words.first() };
            end - ends(above, right_to_left).1 <= first.map_or(0.0, Word::width) + 0.6 * above.size
        };
        let full = block.windows(2).filter(full).count();
        let letters = block.iter().map(Line::letters).sum::<u32>() as usize;
        // The last line of a paragraph within the block is short. Short lines of one width are not wrapped.
        if length >= 4 && full * 4 >= (length - 1) * 3 && letters >= 20 * length {
            found[start + 1..start + length].fill(Some(end));
        }
        start += length;
    }
    found
}

/// Whether the bold words that a paragraph begins with only end in its next line, in the middle of a sentence.
fn goes_on_in_bold(paragraph: &Paragraph, line: &Line, bold: bool, writer: &Writer<'_>) -> bool {
    let ended = |last: char| matches!(last, '.' | '!' | '?' | ':' | ';');
    let last = paragraph.lines.last().and_then(|(last, _)| last_character(last, writer));
    paragraph.bold
        && !bold
        && writer.begins_bold(line)
        && !begins_anew(line, writer)
        && last.is_some_and(|last| !ended(last))
}

/// Whether a line does not look as if it went on with the one above it.
fn begins_anew(line: &Line, writer: &Writer<'_>) -> bool {
    let first = if line.is_right_to_left() { line.words.last() } else { line.words.first() };
    first.and_then(|word| writer.plain(word).chars().next()).is_some_and(|character| !character.is_lowercase())
}

/// How a line goes on with a paragraph; None if it begins another.
fn joint(paragraph: &Paragraph, line: &Line, usual: &Usual, writer: &Writer<'_>, right_to_left: bool) -> Option<Joint> {
    let (last, _) = paragraph.lines.last()?;
    let size = last.size.max(line.size);
    let step = line.base - last.base;
    let ratio = line.size / last.size;
    if step < 0.3 * size || step > (usual.leading * 1.25 + 0.05) * size || !(0.87..=1.15).contains(&ratio) {
        return None;
    }
    if paragraph.code {
        return Some(Joint::Break);
    }
    let (last_start, last_end) = ends(last, right_to_left);
    let (start, end) = ends(line, right_to_left);
    let hyphen = last_character(last, writer).is_some_and(is_hyphen);
    if hyphen {
        return Some(Joint::Flow);
    }
    // What stands in columns is read row by row.
    if last.is_spread() && line.is_spread() {
        return Some(Joint::Break);
    }
    let indent = start - last_start;
    let centred = (f32::midpoint(start, end) - f32::midpoint(last_start, last_end)).abs() < 0.6 * size
        && indent.abs() > 0.6 * size;
    let first_word = line.words.first().map_or(0.0, Word::width);
    let room = usual.end - last_end;
    let would_have_fitted = room > first_word + 1.2 * size;
    if centred {
        // There is room on both sides.
        let by_intent = 2.0 * room > first_word + 1.2 * size && begins_anew(line, writer);
        return Some(if by_intent { Joint::Break } else { Joint::Flow });
    }
    if let Some(point) = &paragraph.point {
        let hangs = start >= point.text_start - 0.8 * size;
        return match (hangs, would_have_fitted) {
            (true, false) => Some(Joint::Flow),
            (true, true) => Some(Joint::Break),
            (false, false) if indent.abs() < 0.7 * size => Some(Joint::Flow),
            _ => None,
        };
    }
    let one_line = paragraph.lines.len() == 1;
    if indent > 0.7 * size && (!one_line || would_have_fitted) {
        return None;
    }
    if indent < -0.7 * size && !one_line {
        return None;
    }
    if is_entry(line, writer) && (is_entry(last, writer) || last.width() < 0.9 * (usual.end - usual.start)) {
        return Some(Joint::Break);
    }
    if !would_have_fitted {
        return Some(Joint::Flow);
    }
    let ended = last_character(last, writer)
        .is_some_and(|character| matches!(character, '.' | '!' | '?' | ':' | ';' | '。' | '؟'));
    if ended && last_start - usual.start < 2.0 * size {
        // Text that ends a sentence early ends a paragraph.
        return None;
    }
    // A sentence goes on where a line is almost full or the next begins small; else what ends early is a line of its own.
    let goes_on = !ended && (!begins_anew(line, writer) || last.width() > 0.75 * (usual.end - usual.start));
    Some(if goes_on { Joint::Flow } else { Joint::Break })
}

/// Whether a line is one of a name and what it stands for: "Payable until: 08/02/2026".
fn is_entry(line: &Line, writer: &Writer<'_>) -> bool {
    if line.letters() > LONGEST_ENTRY || !begins_anew(line, writer) {
        return false;
    }
    let text = writer.plain_line(line);
    text.split_once(": ").is_some_and(|(name, value)| {
        name.split_whitespace().count() <= 5
            && name.chars().all(|sign| !matches!(sign, '.' | ',' | ';'))
            && !value.is_empty()
    })
}

/// A longer line is running text.
const LONGEST_ENTRY: u32 = 60;

fn last_character(line: &Line, writer: &Writer<'_>) -> Option<char> {
    let word = if line.is_right_to_left() { line.words.first() } else { line.words.last() };
    writer.plain(word?).chars().next_back()
}

/// Heights that tell headings from text.
#[derive(Debug, Clone)]
pub(crate) struct Body {
    pub(crate) size: f32,
    /// Of the page alone.
    own: f32,
    sizes: Sizes,
    /// Most of the page is bold: then that tells no heading.
    bold: bool,
}

impl Body {
    /// The usual size of the text of a page. A page with enough text of the file's usual size takes that, so that a
    /// heading has one level on whatever page it stands.
    pub(crate) fn measure<'l>(lines: impl Iterator<Item = &'l Line>, in_file: Option<f32>) -> Self {
        let mut sizes = Sizes::default();
        for line in lines {
            sizes.add(line.size, line.letters());
        }
        let own = sizes.usual().unwrap_or(10.0);
        let size = in_file.filter(|size| sizes.letters_of(*size) * 5 >= sizes.all()).unwrap_or(own);
        Self { size, own, sizes, bold: false }
    }

    /// With whether most of the page is bold, as text is that OCR put behind a picture with a bold font.
    pub(crate) fn with_bold(self, bold: bool) -> Self {
        Self { bold, ..self }
    }

    /// Nothing is larger than this text, so nothing is a heading.
    pub(crate) fn without_headings() -> Self {
        Self { size: f32::MAX, own: f32::MAX, sizes: Sizes::default(), bold: false }
    }

    /// Whether a good part of the page is of that size: then it is no size for headings.
    fn is_common(&self, size: f32) -> bool {
        let all = self.sizes.all();
        all > 600 && self.sizes.letters_of(size) * 5 > all
    }

    /// The level of a heading; None for text.
    fn heading(&self, paragraph: &Paragraph, capitals: bool) -> Option<u8> {
        let size = paragraph.lines.first()?.0.size;
        let letters = paragraph.lines.iter().map(|(line, _)| line.letters()).sum::<u32>();
        let ratio = size / self.size;
        if paragraph.lines.len() > 4 || !(2..=240).contains(&letters) || paragraph.code {
            return None;
        }
        let lines = paragraph.lines.len();
        if ratio >= 1.15 && self.is_common(size) {
            return None;
        }
        match ratio {
            1.7.. => Some(1),
            1.35.. if lines <= 3 => Some(2),
            1.15.. if lines <= 3 => Some(3),
            _ if (paragraph.bold && !self.bold || capitals)
                && lines <= 2
                && letters <= 120
                && size >= 0.95 * self.own =>
            {
                Some(4)
            }
            _ => None,
        }
    }
}

impl Paragraph {
    /// Whether it takes up so little of its column that its lines must have ended for other reasons than the column.
    fn is_narrow(&self, (start, end): (f32, f32)) -> bool {
        let reaches = self.lines.iter().map(|(line, _)| line.width()).fold(0.0, f32::max);
        reaches < 0.5 * (end - start)
    }

    fn letters(&self) -> u32 {
        self.lines.iter().map(|(line, _)| line.letters()).sum()
    }

    pub(crate) fn bbox(&self, writer: &Writer<'_>) -> Rect {
        let boxes = self.lines.iter().map(|(line, _)| writer.line_bbox(line));
        boxes.reduce(|one, other| one.union(&other)).unwrap_or_default()
    }

    pub(crate) fn block(&self, writer: &Writer<'_>, body: &Body, next: Option<&Self>) -> Option<Block> {
        let kind = if self.code && self.lines.len() > 1 {
            BlockKind::Code { text: self.code_text(writer) }
        } else {
            let mut text = Text::default();
            for (index, (line, joint)) in self.lines.iter().enumerate() {
                match (&self.point, index) {
                    (Some(point), 0) => writer.line(&mut text, &point.rest, Joint::Flow),
                    _ => writer.line(&mut text, line, *joint),
                }
            }
            let text = text.finish(writer.content);
            if text.is_blank() && self.point.is_none() {
                return None;
            }
            let ends_sentence = text.0.last().is_some_and(|span| span.text.trim_end().ends_with(['.', ',', ';']));
            let followed = next.is_some_and(|next| !next.bold);
            // Capitals alone make a heading only over running text.
            let over_text = next.is_some_and(|next| next.letters() >= 60);
            let capitals = over_text
                && self.point.is_none()
                && self.lines.len() == 1
                && text.0.iter().all(|span| !span.text.chars().any(char::is_lowercase));
            let capitals = capitals && lists::is_capitals(&text.text());
            let level = body
                .heading(self, capitals)
                .filter(|level| *level < 4 || (followed && !ends_sentence))
                .filter(|level| !headings::is_entry(&text.text(), &self.lines, *level) && !headings::is_formula(&text));
            match (&self.point, level) {
                (Some(point), None) => BlockKind::ListItem { depth: point.depth, marker: point.marker.clone(), text },
                (Some(point), Some(_)) if point.is_bullet() => {
                    BlockKind::ListItem { depth: point.depth, marker: point.marker.clone(), text }
                }
                // A heading is one line, and a numbered heading is a heading with its number.
                (_, Some(level)) => {
                    let mut whole = Text::default();
                    for (line, _) in &self.lines {
                        writer.line(&mut whole, line, Joint::Flow);
                    }
                    BlockKind::Heading { level, text: whole.finish(writer.content) }
                }
                (None, None) => BlockKind::Paragraph { text },
            }
        };
        Some(Block { kind, role: Role::Body, bbox: Some(self.bbox(writer)) })
    }

    /// Keeps the indents of lines, as the width of letters gives them.
    fn code_text(&self, writer: &Writer<'_>) -> String {
        let left = self.lines.iter().map(|(line, _)| line.x0).fold(f32::MAX, f32::min);
        let mut text = String::new();
        for (index, (line, _)) in self.lines.iter().enumerate() {
            if index > 0 {
                text.push('\n');
            }
            let letter = line.words.first().map_or(6.0, |word| word.width() / word.letters.max(1) as f32).max(1.0);
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "an indent is a small number of letters"
            )]
            let indent = ((line.x0 - left) / letter).round().clamp(0.0, 200.0) as usize;
            text.extend(std::iter::repeat_n(' ', indent));
            text.push_str(&writer.plain_line(line));
        }
        text
    }
}
