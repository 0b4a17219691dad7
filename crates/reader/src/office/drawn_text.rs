//! Text in shapes (DrawingML), as slides and the drawings on sheets have it.

use super::math;
use crate::{
    model::{Block, BlockKind, Inlines, Marker, Span, Style},
    numerals::{alphabetic, roman},
    package::{Element, Relations},
};

/// Where the looks of a level come from when the paragraph does not say: nearest first.
#[derive(Debug, Default, Clone)]
pub(super) struct LevelStyles<'t>(pub(super) Vec<Element<'t>>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Bullet {
    None,
    Sign,
    Numbered { kind: String, start: u32 },
}

/// The paragraphs of a text body as paragraphs and items of lists.
pub(super) fn text_blocks(body: Element<'_>, styles: &LevelStyles<'_>, relations: &Relations) -> Vec<Block> {
    let mut blocks = Vec::new();
    // By level: what the last item was numbered with.
    let mut counts: Vec<Option<(String, u32)>> = Vec::new();
    for paragraph in body.all("p") {
        let text = inlines(paragraph, relations);
        let properties = paragraph.child("pPr");
        let level = properties.and_then(|found| found.attribute("lvl")).and_then(|level| level.parse().ok());
        let level: u8 = level.unwrap_or(0).min(8);
        if text.is_blank() {
            continue;
        }
        let bullet = bullet(properties, level, styles);
        let depth = usize::from(level);
        counts.truncate(depth + 1);
        counts.resize(depth + 1, None);
        let last = counts.get_mut(depth).and_then(Option::take);
        let kind = match bullet {
            Bullet::None if level == 0 => BlockKind::Paragraph { text },
            // Set in without a sign: still below what stands above it.
            Bullet::None | Bullet::Sign => BlockKind::ListItem { depth: level, marker: Marker::Bullet, text },
            Bullet::Numbered { kind, start } => {
                let count = match last {
                    Some((before, count)) if before == kind => count.saturating_add(1),
                    _ => start,
                };
                let marker = Marker::Number(numbered(&kind, count));
                if let Some(place) = counts.get_mut(depth) {
                    *place = Some((kind, count));
                }
                BlockKind::ListItem { depth: level, marker, text }
            }
        };
        blocks.push(Block::body(kind));
    }
    blocks
}

/// The first place that says something about the bullet of this level.
fn bullet(properties: Option<Element<'_>>, level: u8, styles: &LevelStyles<'_>) -> Bullet {
    let name = format!("lvl{}pPr", level + 1);
    let inherited = styles.0.iter().filter_map(|style| style.child(&name));
    for place in properties.into_iter().chain(inherited) {
        for property in place.elements() {
            match property.name() {
                "buNone" => return Bullet::None,
                "buChar" | "buBlip" => return Bullet::Sign,
                "buAutoNum" => {
                    let kind = property.attribute("type").unwrap_or("arabicPeriod").to_owned();
                    let start = property.attribute("startAt").and_then(|start| start.parse().ok()).unwrap_or(1);
                    return Bullet::Numbered { kind, start };
                }
                _ => {}
            }
        }
    }
    Bullet::None
}

fn numbered(kind: &str, count: u32) -> String {
    if kind.starts_with("alphaLc") {
        alphabetic(count, 'a')
    } else if kind.starts_with("alphaUc") {
        alphabetic(count, 'A')
    } else if kind.starts_with("romanLc") {
        roman(count).to_lowercase()
    } else if kind.starts_with("romanUc") {
        roman(count)
    } else {
        count.to_string()
    }
}

/// The runs of one paragraph.
pub(super) fn inlines(paragraph: Element<'_>, relations: &Relations) -> Inlines {
    let mut out = Inlines::default();
    collect(paragraph, relations, &mut out);
    out
}

fn collect(element: Element<'_>, relations: &Relations, out: &mut Inlines) {
    for part in element.elements() {
        match part.name() {
            "r" | "fld" => {
                // The number of a slide changes with its place and says nothing of it.
                if part.attribute("type").is_some_and(|kind| kind.eq_ignore_ascii_case("slidenum")) {
                    continue;
                }
                let properties = part.child("rPr");
                let text = part.child("t").map(Element::text).unwrap_or_default();
                let style = properties.map(style_of).unwrap_or_default();
                let link = properties.and_then(|found| found.child("hlinkClick")).and_then(|click| {
                    let relation = relations.get(click.prefixed_attribute("id")?)?;
                    relation.external.then(|| relation.target.clone())
                });
                out.push(Span { text, style, link });
            }
            "br" => out.push(Span { text: "\n".to_owned(), ..Span::default() }),
            "oMath" | "oMathPara" => {
                let style = Style { math: true, ..Style::default() };
                out.push(Span { text: math::office_math(part), style, ..Span::default() });
            }
            "AlternateContent" => {
                let chosen = part.all("Choice").find(|choice| choice.find("oMath").is_some());
                if let Some(chosen) = chosen.or_else(|| part.child("Fallback")) {
                    collect(chosen, relations, out);
                }
            }
            "m" => collect(part, relations, out),
            _ => {}
        }
    }
}

fn style_of(properties: Element<'_>) -> Style {
    let is_on = |name: &str| matches!(properties.attribute(name), Some("1" | "true"));
    let marked = |name: &str, none: &str| properties.attribute(name).is_some_and(|value| value != none);
    let baseline = properties.attribute("baseline").and_then(|value| value.parse::<i32>().ok()).unwrap_or(0);
    Style {
        bold: is_on("b"),
        italic: is_on("i"),
        struck: marked("strike", "noStrike"),
        underlined: marked("u", "none"),
        superscript: baseline > 0,
        subscript: baseline < 0,
        code: false,
        math: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{options::Limits, package::Tree};

    #[test]
    fn items_are_counted_by_level() {
        let item = |level: u8, text: &str| {
            format!("<p><pPr lvl='{level}'><buAutoNum type='alphaLcPeriod'/></pPr><r><t>{text}</t></r></p>")
        };
        let xml = format!(
            "<txBody>{}{}{}{}<p><r><rPr b='1'/><t>plain</t></r></p></txBody>",
            item(0, "x"),
            item(1, "y"),
            item(1, "z"),
            item(0, "w")
        );
        let tree = Tree::parse(&xml, &Limits::default()).unwrap();
        let blocks = text_blocks(tree.root(), &LevelStyles::default(), &Relations::default());
        let marks: Vec<String> = blocks
            .iter()
            .map(|block| match &block.kind {
                BlockKind::ListItem { depth, marker: Marker::Number(number), .. } => format!("{depth}{number}"),
                _ => "text".to_owned(),
            })
            .collect();
        assert_eq!(marks, ["0a", "1a", "1b", "0b", "text"]);
    }
}
