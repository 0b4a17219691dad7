//! What is drawn in an OpenDocument file: frames, shapes, and documents within the document.

use super::text::Converter;
use crate::{
    model::{Block, BlockKind, Inlines},
    office::{
        collect::Collect as _,
        drawing::{chart_blocks, tidy_number},
    },
    package::{Element, resolve},
};

/// Objects within objects end somewhere.
const MOST_OBJECTS: usize = 1000;

impl Converter<'_, '_> {
    /// A frame or a drawn shape: its words, and what stands for its picture.
    pub(super) fn shape(&mut self, shape: Element<'_>) {
        let description = |element: Element<'_>| {
            let words = element.child("desc").or_else(|| element.child("title")).map(Element::text);
            words.map(|words| words.trim().to_owned()).filter(|words| !words.is_empty())
        };
        if let Some(alt) = description(shape) {
            self.out.push(Block::body(BlockKind::Picture { alt, source: None }));
        }
        let mut has_object = false;
        for part in shape.elements() {
            match part.name() {
                "object" => {
                    has_object = true;
                    self.object(part);
                }
                // The picture beside an object shows the same.
                "image" if has_object => {}
                "text-box" | "image" => self.blocks(part),
                "desc" | "title" | "event-listeners" | "glue-point" | "enhanced-geometry" | "image-map" => {}
                _ => self.block(part),
            }
        }
    }

    /// A chart, a formula or a text that is stored as a document of its own within the package.
    fn object(&mut self, object: Element<'_>) {
        self.objects += 1;
        if self.objects > MOST_OBJECTS {
            return;
        }
        if object.elements().next().is_some() {
            self.foreign(object);
            return;
        }
        let Some(target) = object.attribute("href") else { return };
        let part = format!("{}/content.xml", resolve("", target));
        let package = self.package;
        let Some(tree) = package.tree_or_warn(&part, &mut self.warnings) else { return };
        let root = tree.root();
        if let Some(chart) = root.find("chart").filter(|chart| chart.find("plot-area").is_some()) {
            if let Some(title) = chart.child("title") {
                let title = title.text();
                let text = Inlines::plain(format!("Chart: {}", title.trim()));
                self.out.push(Block::body(BlockKind::Paragraph { text }));
            }
            if let Some(table) = chart.child("table") {
                let from = self.out.len();
                self.table(table);
                tidy_numbers(self.out.get_mut(from..).unwrap_or_default());
            }
            return;
        }
        self.foreign(root);
    }

    /// Formulas keep what was typed beside what is drawn; charts of Office may be embedded as they are.
    fn foreign(&mut self, root: Element<'_>) {
        if root.is("math") || root.find("math").is_some() {
            let typed = root.find("annotation").map(Element::text);
            let text = typed.unwrap_or_else(|| root.text());
            self.out.push(Block::body(BlockKind::Paragraph { text: Inlines::plain(text) }));
            return;
        }
        let drawn = chart_blocks(root);
        if drawn.is_empty() {
            if let Some(body) = root.find("body") {
                self.blocks(body);
            }
        } else {
            self.out.extend(drawn);
        }
    }
}

/// Charts keep numbers as they are computed.
fn tidy_numbers(blocks: &mut [Block]) {
    for block in blocks {
        if let BlockKind::Table { table } = &mut block.kind {
            for cell in &mut table.cells {
                for span in &mut cell.text.0 {
                    span.text = tidy_number(&span.text);
                }
            }
        }
    }
}
