//! One slide: its shapes in reading order.

use crate::{
    model::{Block, BlockKind, Cell, Role, Table},
    office::{
        drawing::{alternative_text, graphic_blocks},
        drawn_text::{LevelStyles, inlines, text_blocks},
        flatten::flattened,
        order::{Place, reading_order},
    },
    package::{Element, Package, Relations, Tree},
};

/// PowerPoint allows 75 columns.
const MOST_COLUMNS: usize = 1000;

/// What a slide is read with: its relations, and the layout and master that it takes its looks from.
#[derive(Debug)]
pub(super) struct SlideContext<'a, 'b> {
    pub(super) package: &'a Package<'b>,
    pub(super) relations: &'a Relations,
    pub(super) layout: Option<&'a Tree>,
    pub(super) master: Option<&'a Tree>,
    pub(super) warnings: Vec<String>,
}

/// A shape with what it says.
#[derive(Debug)]
struct Shape {
    is_title: bool,
    place: Option<Place>,
    blocks: Vec<Block>,
}

/// The blocks of a slide, title first; footers of the slide behind everything else.
pub(super) fn slide_blocks(root: Element<'_>, context: &mut SlideContext<'_, '_>) -> Vec<Block> {
    let Some(shapes) = root.path(&["cSld", "spTree"]) else { return Vec::new() };
    let mut blocks = ordered(context.shapes(shapes));
    blocks.sort_by_key(|block| block.role == Role::Footer);
    blocks
}

fn ordered(shapes: Vec<Shape>) -> Vec<Block> {
    let (titles, others): (Vec<Shape>, Vec<Shape>) = shapes.into_iter().partition(|shape| shape.is_title);
    let mut blocks: Vec<Block> = titles.into_iter().flat_map(|shape| shape.blocks).collect();
    if others.iter().all(|shape| shape.place.is_some()) {
        let places: Vec<Place> = others.iter().filter_map(|shape| shape.place).collect();
        let mut others: Vec<Option<Shape>> = others.into_iter().map(Some).collect();
        for index in reading_order(&places) {
            let shape = others.get_mut(index).and_then(Option::take);
            blocks.extend(shape.into_iter().flat_map(|shape| shape.blocks));
        }
    } else {
        blocks.extend(others.into_iter().flat_map(|shape| shape.blocks));
    }
    blocks
}

impl SlideContext<'_, '_> {
    fn shapes(&mut self, tree: Element<'_>) -> Vec<Shape> {
        let mut shapes = Vec::new();
        for element in tree.elements() {
            self.shape(element, &mut shapes);
        }
        shapes
    }

    fn shape(&mut self, element: Element<'_>, shapes: &mut Vec<Shape>) {
        match element.name() {
            "sp" => shapes.extend(self.text_shape(element)),
            "pic" => {
                let place = own_place(element);
                let blocks = alternative_of(element).into_iter().collect();
                shapes.push(Shape { is_title: false, place, blocks });
            }
            "graphicFrame" => {
                let place = own_place(element);
                let blocks = self.graphic(element);
                shapes.push(Shape { is_title: false, place, blocks });
            }
            "grpSp" => {
                let inner = self.shapes(element);
                let is_title = inner.iter().any(|shape| shape.is_title);
                let mut blocks: Vec<Block> = alternative_of(element).into_iter().collect();
                blocks.extend(ordered(inner));
                shapes.push(Shape { is_title, place: own_place(element), blocks });
            }
            "AlternateContent" => {
                let chosen = element.child("Choice").filter(|choice| {
                    choice.descendants().any(|part| matches!(part.name(), "sp" | "pic" | "graphicFrame" | "grpSp"))
                });
                if let Some(chosen) = chosen.or_else(|| element.child("Fallback")) {
                    for child in chosen.elements() {
                        self.shape(child, shapes);
                    }
                }
            }
            _ => {}
        }
        // A hidden shape is not shown.
        let hidden = |element: Element<'_>| {
            element.elements().filter_map(|part| part.child("cNvPr")).any(|part| part.attribute("hidden") == Some("1"))
        };
        if hidden(element) {
            shapes.pop();
        }
    }

    fn text_shape(&mut self, element: Element<'_>) -> Option<Shape> {
        let placeholder = element.path(&["nvSpPr", "nvPr", "ph"]);
        let kind = placeholder.map(|found| found.attribute("type").unwrap_or("obj"));
        let of_layout = self.layout.and_then(|tree| same_placeholder(tree.root(), placeholder?));
        let of_master = self.master.and_then(|tree| same_placeholder(tree.root(), placeholder?));
        let place =
            own_place(element).or_else(|| of_layout.and_then(own_place)).or_else(|| of_master.and_then(own_place));
        let is_title = matches!(kind, Some("title" | "ctrTitle"));
        if kind == Some("sldNum") {
            return None;
        }
        let style_name = match kind {
            Some("title" | "ctrTitle") => "titleStyle",
            Some("dt" | "ftr" | "hdr") | None => "otherStyle",
            Some(_) => "bodyStyle",
        };
        let of_kind = self.master.and_then(|tree| tree.root().path(&["txStyles", style_name]));
        let layers = [list_style_of(Some(element)), list_style_of(of_layout), list_style_of(of_master), of_kind];
        let styles = LevelStyles(layers.into_iter().flatten().collect());
        let mut blocks = element
            .child("txBody")
            .or_else(|| element.child("txbx"))
            .map(|body| text_blocks(body, &styles, self.relations))
            .unwrap_or_default();
        if is_title {
            // A title of several lines is one title.
            let text = flattened(&blocks);
            blocks = if text.is_blank() {
                Vec::new()
            } else {
                vec![Block::body(BlockKind::Heading { level: 1, text: plain_title(text) })]
            };
        }
        if matches!(kind, Some("dt" | "ftr" | "hdr")) {
            for block in &mut blocks {
                block.role = Role::Footer;
            }
        }
        if blocks.is_empty() {
            blocks.extend(alternative_of(element));
        }
        Some(Shape { is_title, place, blocks })
    }

    /// A table, chart or diagram.
    fn graphic(&mut self, frame: Element<'_>) -> Vec<Block> {
        let mut blocks: Vec<Block> = alternative_of(frame).into_iter().collect();
        let Some(data) = frame.path(&["graphic", "graphicData"]) else { return blocks };
        if let Some(rows) = data.child("tbl") {
            blocks.extend(table(rows, self.relations));
        } else {
            let drawn = graphic_blocks(data, self.package, self.relations, &mut self.warnings);
            blocks.extend(drawn);
        }
        blocks
    }
}

/// A table of a slide or of its notes.
fn table(element: Element<'_>, relations: &Relations) -> Option<Block> {
    let mut table = Table::default();
    for (row, line) in element.all("tr").enumerate() {
        table.rows = row + 1;
        for (column, cell) in line.all("tc").enumerate().take(MOST_COLUMNS) {
            table.columns = table.columns.max(column + 1);
            let is_on = |name: &str| matches!(cell.attribute(name), Some("1" | "true"));
            let span = |name: &str| cell.attribute(name).and_then(|span| span.parse().ok()).unwrap_or(1);
            if is_on("hMerge") || is_on("vMerge") {
                continue;
            }
            let body = cell.child("txBody");
            let blocks = body.map(|body| text_blocks(body, &LevelStyles::default(), relations));
            let text = flattened(&blocks.unwrap_or_default());
            table.cells.push(Cell {
                row_span: span("rowSpan").clamp(1, 10_000),
                column_span: span("gridSpan").clamp(1, MOST_COLUMNS),
                ..Cell::at(row, column, text)
            });
        }
    }
    let marked = element.child("tblPr").and_then(|found| found.attribute("firstRow"));
    table.header_rows = usize::from(matches!(marked, Some("1" | "true")) && table.rows > 1);
    let says_something = table.cells.iter().any(|cell| !cell.text.is_blank());
    says_something.then(|| Block::body(BlockKind::Table { table }))
}

fn list_style_of(shape: Option<Element<'_>>) -> Option<Element<'_>> {
    shape.and_then(|shape| shape.path(&["txBody", "lstStyle"]))
}

fn plain_title(mut text: crate::model::Inlines) -> crate::model::Inlines {
    for span in &mut text.0 {
        span.style.bold = false;
        span.style.italic = false;
        span.text = span.text.replace('\n', " ");
    }
    text
}

fn alternative_of(element: Element<'_>) -> Option<Block> {
    let properties = element.elements().find_map(|part| part.child("cNvPr"))?;
    alternative_text(properties).map(|alt| Block::body(BlockKind::Picture { alt, source: None }))
}

/// Where a shape says that it is.
fn own_place(element: Element<'_>) -> Option<Place> {
    let transform = element
        .path(&["spPr", "xfrm"])
        .or_else(|| element.path(&["grpSpPr", "xfrm"]))
        .or_else(|| element.child("xfrm"))?;
    let number = |part: &str, name: &str| transform.child(part)?.attribute(name)?.parse::<i64>().ok();
    Some(Place {
        left: number("off", "x")?,
        top: number("off", "y")?,
        width: number("ext", "cx")?,
        height: number("ext", "cy")?,
    })
}

/// The shape of a layout or master that a placeholder takes its place and looks from: by its number, else by its type.
fn same_placeholder<'t>(root: Element<'t>, placeholder: Element<'_>) -> Option<Element<'t>> {
    let shapes = root.path(&["cSld", "spTree"])?;
    let of = |shape: Element<'t>| shape.path(&["nvSpPr", "nvPr", "ph"]);
    let index = placeholder.attribute("idx");
    let by_index = index.and_then(|index| {
        shapes.all("sp").find(|shape| of(*shape).is_some_and(|found| found.attribute("idx") == Some(index)))
    });
    // The body of a master stands for every kind of content; titles for centred titles.
    let wanted = match placeholder.attribute("type").unwrap_or("obj") {
        "ctrTitle" => "title",
        "subTitle" | "obj" => "body",
        other => other,
    };
    let kind_of = |found: Element<'_>| match found.attribute("type").unwrap_or("obj") {
        "ctrTitle" => "title".to_owned(),
        "subTitle" | "obj" => "body".to_owned(),
        other => other.to_owned(),
    };
    by_index.or_else(|| shapes.all("sp").find(|shape| of(*shape).is_some_and(|found| kind_of(found) == wanted)))
}

/// The words of a notes page; the picture of the slide, its number, header and footer are not among them.
pub(super) fn notes_blocks(root: Element<'_>, relations: &Relations) -> Vec<Block> {
    let Some(shapes) = root.path(&["cSld", "spTree"]) else { return Vec::new() };
    let mut blocks = Vec::new();
    for shape in shapes.descendants() {
        if shape.is("tbl") {
            blocks.extend(table(shape, relations));
        }
        if !shape.is("sp") {
            continue;
        }
        let kind = shape.path(&["nvSpPr", "nvPr", "ph"]).and_then(|found| found.attribute("type"));
        if matches!(kind, Some("sldImg" | "sldNum" | "hdr" | "ftr" | "dt")) {
            continue;
        }
        if let Some(body) = shape.child("txBody") {
            blocks.extend(text_blocks(body, &LevelStyles::default(), relations));
        }
    }
    for block in &mut blocks {
        block.role = Role::Note;
    }
    blocks
}

/// A comment's words, in the old form (`text`) or the new one (`txBody`).
pub(super) fn comment_text(comment: Element<'_>, relations: &Relations) -> crate::model::Inlines {
    if let Some(body) = comment.child("txBody") {
        let lines: Vec<Block> = body
            .all("p")
            .map(|paragraph| Block::body(BlockKind::Paragraph { text: inlines(paragraph, relations) }))
            .collect();
        return flattened(&lines);
    }
    crate::model::Inlines::plain(comment.child("text").map(Element::text).unwrap_or_default())
}
