//! Displayed formulas: signs of mathematics that stand alone between lines of text, written as LaTeX.
//!
//! ```text
//!  segments ──► clusters of signs that touch ──► displayed? ──► tree ──► LaTeX
//! ```
//!
//! A formula within a line of text stays text. One that is displayed but too involved for the tree (matrices, brackets over
//! several lines) stays text, too, and is counted, so that the page says so.

mod tree;

use super::{
    content::PageContent,
    inlines::Writer,
    lines::Line,
    tables,
    words::{Frame, Word},
};
use crate::{
    latex,
    model::{Block, BlockKind, Inlines, Rect, Role, Span, Style, Word as PageWord},
};
use tree::{Bar, Sign};

/// What was taken from the page.
#[derive(Debug, Default)]
pub(super) struct Formulas {
    pub(super) found: Vec<Formula>,
    /// How many are displayed on the page but not written as LaTeX.
    pub(super) not_read: usize,
}

#[derive(Debug)]
pub(super) struct Formula {
    pub(super) block: Block,
    pub(super) words: Vec<PageWord>,
}

impl Formula {
    fn new(cluster: &[usize], latex: String, number: Option<usize>, segments: &[Line], writer: &Writer<'_>) -> Self {
        let tag = number.map(|at| writer.plain_line(&segments[at]));
        let tag = tag.map(|tag| format!(" \\tag{{{}}}", tag.trim_matches(['(', ')', '[', ']'])));
        let style = Style { math: true, ..Style::default() };
        let text = Inlines(vec![Span { text: latex + &tag.unwrap_or_default(), style, link: None }]);
        let mut words = Vec::new();
        for at in cluster.iter().chain(&number) {
            writer.page_words(&segments[*at], &mut words);
        }
        let bbox = words.iter().map(|word| word.bbox).reduce(|one, other| one.union(&other));
        let block = Block { kind: BlockKind::Paragraph { text }, role: Role::Body, bbox };
        Self { block, words }
    }
}

/// More segments than this are no page with formulas.
const MOST_SEGMENTS: usize = 3_000;
/// A line with so many letters is running text.
const LONG: u32 = 15;

/// Takes displayed formulas out of the segments.
pub(super) fn take(segments: &mut Vec<Line>, writer: &Writer<'_>) -> Formulas {
    let mut formulas = Formulas::default();
    let fonts = writer.content.fonts.iter().map(|font| is_mathematical(&font.name)).collect::<Vec<_>>();
    let has_signs = || fonts.contains(&true) || writer.content.text.chars().any(is_strong);
    if writer.frame.angle != 0 || segments.len() > MOST_SEGMENTS || !has_signs() {
        return formulas;
    }
    let kinds = segments.iter().map(|line| Kind::classify(line, writer, &fonts)).collect::<Vec<_>>();
    let mut areas: Option<Vec<Rect>> = None;
    let mut taken = vec![false; segments.len()];
    for cluster in clusters(segments, &kinds) {
        let Some(number) = displayed(&cluster, segments, &kinds, writer) else { continue };
        let bbox = boxes(&cluster, segments);
        let areas = areas.get_or_insert_with(|| tables::ruled_areas(writer.content));
        if areas.iter().any(|area| area.intersection(&bbox).is_some()) {
            continue;
        }
        let written = |cluster: &[usize]| {
            let signs = cluster.iter().flat_map(|at| signs(&segments[*at], writer.content, writer.frame, &fonts));
            tree::latex(signs.collect(), bars(writer.content, &boxes(cluster, segments)))
        };
        let lines = match written(&cluster) {
            Some(latex) => vec![(cluster, latex)],
            // Several lines of formulas right under each other.
            None => lines_of(&cluster, segments)
                .into_iter()
                .map(|line| {
                    let relates = line.iter().any(|at| relates(&writer.plain_line(&segments[*at])));
                    written(&line).filter(|_| relates).map(|latex| (line, latex))
                })
                .collect::<Option<_>>()
                .unwrap_or_default(),
        };
        if lines.is_empty() {
            formulas.not_read += 1;
            continue;
        }
        let numbered = number.map(|at| nearest(&lines, segments[at].base, segments));
        for (index, (line, latex)) in lines.into_iter().enumerate() {
            let number = number.filter(|_| numbered == Some(index));
            for at in line.iter().chain(&number) {
                taken[*at] = true;
            }
            formulas.found.push(Formula::new(&line, latex, number, segments, writer));
        }
    }
    let mut taken = taken.into_iter();
    segments.retain(|_| !taken.next().unwrap_or(false));
    formulas
}

/// Fonts of mathematics, by the names that TeX and Office give them.
fn is_mathematical(name: &str) -> bool {
    const BEGINNINGS: [&str; 14] = [
        "CMMI", "CMSY", "CMEX", "CMBSY", "MSAM", "MSBM", "EUFM", "EUSM", "LMMathI", "LMMathS", "LMMathE", "MTMI",
        "MTSY", "MTEX",
    ];
    BEGINNINGS.iter().any(|beginning| name.starts_with(beginning))
        || ["Math", "Symbol", "StandardSym", "txmi", "txsy", "txex", "rmtmi", "rtxmi"]
            .iter()
            .any(|part| name.contains(part))
}

/// Fonts of large signs and of the pieces of large brackets.
pub(super) fn has_large_brackets(name: &str) -> bool {
    ["CMEX", "LMMathExt", "MTEX"].iter().any(|beginning| name.starts_with(beginning)) || name.contains("txex")
}

/// Signs that only formulas have.
fn is_strong(sign: char) -> bool {
    matches!(
        sign,
        '∑' | '∏'
            | '∫'
            | '∮'
            | '√'
            | '∂'
            | '∇'
            | '∈'
            | '≤'
            | '≥'
            | '≠'
            | '≈'
            | '≡'
            | '∞'
            | '⊂'
            | '⊆'
            | '∪'
            | '∩'
            | '→'
            | '⇒'
            | '∀'
            | '∃'
    )
}

/// What a segment is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    /// Digits, brackets, single letters: part of a formula beside one.
    Neutral,
    /// It has signs of mathematics.
    Formula,
    /// "(12)": the number of a formula.
    Number,
}

impl Kind {
    fn classify(line: &Line, writer: &Writer<'_>, fonts: &[bool]) -> Self {
        if line.table.is_some() || line.letters() > 160 {
            return Self::Text;
        }
        let text = writer.plain_line(line);
        let inner = text.strip_prefix('(').and_then(|text| text.strip_suffix(')'));
        if inner.is_some_and(|inner| {
            inner.len() <= 6 && inner.starts_with(|sign: char| sign.is_ascii_digit() || sign == 'A')
        }) && !text.contains(' ')
        {
            return Self::Number;
        }
        let mut strong = text.chars().any(is_strong);
        let mut scripts = false;
        for word in &line.words {
            let glyphs = writer.frame.glyphs.get(word.range()).unwrap_or_default();
            let mut upright = String::new();
            for placed in glyphs {
                let Some(glyph) = writer.content.glyphs.get(placed.glyph as usize) else { continue };
                let mathematical = fonts.get(usize::from(glyph.font)).copied().unwrap_or_default();
                strong |= mathematical && !writer.content.glyph_text(glyph).trim().is_empty();
                let is_script = placed.size < 0.8 * line.size;
                scripts |= is_script;
                // "CMB" below a letter is an index.
                if !mathematical && !is_script {
                    upright.push_str(writer.content.glyph_text(glyph));
                }
            }
            let is_word = |part: &str| part.chars().count() >= 3 && !latex::is_function(part);
            if upright.split(|letter: char| !letter.is_alphabetic()).any(is_word) {
                return Self::Text;
            }
        }
        // Letters with an index or a Greek one that stand in a relation, whatever their fonts are called.
        let relates = text.contains(['=', '<', '>', '∼', '∝']);
        strong |= relates && (scripts || text.chars().any(|letter| matches!(letter, 'α'..='ω' | 'Α'..='Ω')));
        if strong { Self::Formula } else { Self::Neutral }
    }
}

/// Where a segment has its letters.
fn extent(line: &Line) -> Rect {
    Rect { x0: line.x0, y0: line.base - 0.75 * line.size, x1: line.x1, y1: line.base + 0.2 * line.size }
}

/// The lines of a cluster by their baselines, from top to bottom; none if it has but one. Small signs are part of the line
/// next to them.
fn lines_of(cluster: &[usize], segments: &[Line]) -> Vec<Vec<usize>> {
    let size = cluster.iter().map(|at| segments[*at].size).fold(0.0, f32::max);
    let mut order = cluster.to_vec();
    order.sort_by(|one, other| segments[*one].base.total_cmp(&segments[*other].base));
    let (large, small): (Vec<usize>, Vec<usize>) = order.into_iter().partition(|at| segments[*at].size >= 0.86 * size);
    let mut lines: Vec<(f32, Vec<usize>)> = Vec::new();
    for at in large {
        match lines.last_mut() {
            Some((base, line)) if segments[at].base - *base <= 0.9 * size => line.push(at),
            _ => lines.push((segments[at].base, vec![at])),
        }
    }
    for at in small {
        let distance = |base: f32| (segments[at].base - base).abs();
        let next = lines.iter_mut().min_by(|one, other| distance(one.0).total_cmp(&distance(other.0)));
        if let Some((_, line)) = next {
            line.push(at);
        }
    }
    if lines.len() < 2 { Vec::new() } else { lines.into_iter().map(|(_, line)| line).collect() }
}

/// Which of the lines stands at that height.
fn nearest(lines: &[(Vec<usize>, String)], base: f32, segments: &[Line]) -> usize {
    let distance = |line: &[usize]| line.iter().map(|at| (segments[*at].base - base).abs()).fold(f32::MAX, f32::min);
    let all = lines.iter().enumerate();
    all.min_by(|one, other| distance(&one.1.0).total_cmp(&distance(&other.1.0))).map_or(0, |(index, _)| index)
}

fn boxes(cluster: &[usize], segments: &[Line]) -> Rect {
    let boxes = cluster.iter().filter_map(|at| segments.get(*at)).map(extent);
    boxes.reduce(|one, other| one.union(&other)).unwrap_or_default()
}

/// Segments that are no text and stand so near to each other that they belong together, each with a sign of mathematics.
fn clusters(segments: &[Line], kinds: &[Kind]) -> Vec<Vec<usize>> {
    let mut clusters: Vec<Vec<usize>> = Vec::new();
    let candidates = (0..segments.len()).filter(|at| matches!(kinds[*at], Kind::Formula | Kind::Neutral));
    for at in candidates {
        let own = extent(&segments[at]);
        let touches = |other: &usize| {
            let (line, other) = (&segments[at], &segments[*other]);
            let size = line.size.max(other.size);
            let other = extent(other);
            let beside = (own.x0 - other.x1).max(other.x0 - own.x1);
            let apart = (own.y0 - other.y1).max(other.y0 - own.y1);
            // Side by side on one line, or above each other.
            beside < 2.0 * size && apart < -0.15 * size.min(line.size) || beside < 0.2 * size && apart < 0.45 * size
        };
        let (mut joined, apart): (Vec<_>, Vec<_>) =
            clusters.into_iter().partition(|cluster: &Vec<usize>| cluster.iter().any(touches));
        clusters = apart;
        let mut whole = vec![at];
        whole.extend(joined.drain(..).flatten());
        clusters.push(whole);
    }
    clusters.retain(|cluster| cluster.iter().any(|at| kinds[*at] == Kind::Formula));
    clusters
}

/// Whether a text says how one thing relates to another.
fn relates(text: &str) -> bool {
    text.chars().any(|sign| is_strong(sign) || matches!(sign, '=' | '<' | '>' | '∼' | '←' | '↔' | '⇔'))
}

/// Whether a cluster stands alone and says something; with the segment of its number, if it has one. None if not.
#[expect(clippy::option_option, reason = "the number of a formula is one thing, that it is none another")]
fn displayed(cluster: &[usize], segments: &[Line], kinds: &[Kind], writer: &Writer<'_>) -> Option<Option<usize>> {
    let bbox = boxes(cluster, segments);
    let size = cluster.iter().map(|at| segments[*at].size).fold(0.0, f32::max);
    let text = cluster.iter().map(|at| writer.plain_line(&segments[*at])).collect::<String>();
    if text.chars().filter(|sign| !sign.is_whitespace()).count() < 3 || !relates(&text) {
        return None;
    }
    let mut number = None;
    for (at, line) in segments.iter().enumerate().filter(|(at, _)| !cluster.contains(at)) {
        let other = extent(line);
        let apart = (bbox.y0 - other.y1).max(other.y0 - bbox.y1);
        if apart > -0.2 * size.min(line.size) {
            continue;
        }
        let beside = (bbox.x0 - other.x1).max(other.x0 - bbox.x1);
        if kinds[at] == Kind::Number && line.x0 > bbox.x1 && number.is_none() {
            number = Some(at);
            continue;
        }
        // Cells of a table stand beside each other; text of the next column does not count.
        let near = if line.letters() < LONG { 12.0 } else { 1.0 };
        if beside < near * size {
            return None;
        }
    }
    Some(number)
}

fn signs<'s>(
    line: &'s Line,
    content: &'s PageContent,
    frame: &'s Frame,
    fonts: &'s [bool],
) -> impl Iterator<Item = Sign> + 's {
    let of_word = move |word: &'s Word| frame.glyphs.get(word.range()).unwrap_or_default();
    line.words.iter().flat_map(of_word).filter_map(move |placed| {
        let glyph = content.glyphs.get(placed.glyph as usize)?;
        let name = content.fonts.get(usize::from(glyph.font)).map_or("", |font| font.name.as_str());
        let mathematical = fonts.get(usize::from(glyph.font)).copied().unwrap_or_default();
        let italic = content.fonts.get(usize::from(glyph.font)).is_some_and(|font| font.italic);
        // Large signs of TeX hang from the line.
        let hangs = has_large_brackets(name);
        Some(Sign {
            text: content.glyph_text(glyph).trim().to_owned(),
            x0: placed.x0,
            x1: placed.x1,
            base: placed.base,
            size: placed.size,
            hangs,
            upright: !mathematical && !italic,
        })
    })
}

/// Lines across within the formula, or right at its edges.
fn bars(content: &PageContent, bbox: &Rect) -> Vec<Bar> {
    let wider = Rect { x0: bbox.x0 - 3.0, y0: bbox.y0 - 4.0, x1: bbox.x1 + 3.0, y1: bbox.y1 + 4.0 };
    let within = content.rules.iter().filter(|rule| rule.is_horizontal()).map(super::Rule::bbox);
    let within = within.filter(|rule| rule.x0 >= wider.x0 && rule.x1 <= wider.x1 && wider.contains(rule.center()));
    within.map(|rule| Bar { x0: rule.x0, x1: rule.x1, y: f32::midpoint(rule.y0, rule.y1) }).collect()
}
