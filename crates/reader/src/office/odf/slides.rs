//! Slides of an OpenDocument presentation.

use super::{styles::Styles, text::Converter};
use crate::{
    model::{Block, BlockKind, Page, Role},
    office::{
        collect::Collect as _,
        flatten::flattened,
        order::{Place, reading_order},
    },
    package::{Element, Package},
};

pub(super) fn slide_page(number: usize, slide: Element<'_>, package: &Package<'_>, styles: &Styles) -> Page {
    let mut page = Page::converted(number);
    let mut converter = Converter::new(package, styles);
    let mut titles = Vec::new();
    let mut shapes: Vec<(Option<Place>, Vec<Block>)> = Vec::new();
    let mut notes = Vec::new();
    for shape in slide.elements() {
        match shape.name() {
            "notes" => {
                for frame in shape.elements() {
                    // The picture of the slide, its number and the footer are no notes.
                    let class = frame.attribute("class");
                    if !matches!(class, Some("page" | "page-number" | "footer" | "header" | "date-time")) {
                        let blocks = converter.captured(|converter| converter.block(frame));
                        notes.extend(blocks);
                    }
                }
                continue;
            }
            "annotation" => {
                converter.annotation(shape, None);
                continue;
            }
            "forms" | "page-thumbnail" => continue,
            _ => {}
        }
        let class = shape.attribute("class");
        if class == Some("page-number") {
            continue;
        }
        let mut blocks = converter.captured(|converter| converter.block(shape));
        if class == Some("title") {
            let text = flattened(&blocks);
            if !text.is_blank() {
                titles.push(Block::body(BlockKind::Heading { level: 1, text }));
            }
            continue;
        }
        if matches!(class, Some("footer" | "header" | "date-time")) {
            for block in &mut blocks {
                block.role = Role::Footer;
            }
        }
        shapes.push((place(shape), blocks));
    }
    page.label = titles.first().map(|title| flattened(std::slice::from_ref(title)).text().replace('\n', " "));
    page.blocks = titles;
    page.blocks.extend(in_order(shapes));
    page.blocks.sort_by_key(|block| block.role == Role::Footer);
    for note in &mut notes {
        note.role = Role::Note;
    }
    page.blocks.extend(notes);
    page.blocks.append(&mut converter.notes);
    page.blocks.append(&mut converter.comments);
    page.warnings = converter.warnings;
    page
}

fn in_order(shapes: Vec<(Option<Place>, Vec<Block>)>) -> Vec<Block> {
    if shapes.iter().any(|(place, _)| place.is_none()) {
        return shapes.into_iter().flat_map(|(_, blocks)| blocks).collect();
    }
    let places: Vec<Place> = shapes.iter().filter_map(|(place, _)| *place).collect();
    let mut shapes: Vec<Vec<Block>> = shapes.into_iter().map(|(_, blocks)| blocks).collect();
    let mut out = Vec::new();
    for index in reading_order(&places) {
        out.append(&mut shapes.get_mut(index).map(std::mem::take).unwrap_or_default());
    }
    out
}

fn place(shape: Element<'_>) -> Option<Place> {
    let length = |name: &str| shape.attribute(name).and_then(length);
    Some(Place {
        left: length("x")?,
        top: length("y")?,
        width: length("width")?,
        height: length("height").unwrap_or(1),
    })
}

/// A length such as "2.5cm", in thousandths of a millimetre.
fn length(text: &str) -> Option<i64> {
    let number = text.trim_end_matches(|character: char| character.is_ascii_alphabetic() || character == '%');
    let unit = match text.get(number.len()..)? {
        "mm" => 1000.0,
        "cm" => 10_000.0,
        "in" => 25_400.0,
        "pt" => 352.8,
        "pc" => 4233.0,
        "px" => 264.6,
        _ => return None,
    };
    Some((number.parse::<f64>().ok()? * unit) as i64)
}
