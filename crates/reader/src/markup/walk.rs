//! From the tree of an HTML document to blocks: what a reader would see, in the order of the document.

use super::{
    flow::into_cell,
    grid::Grid,
    layout::is_data_table,
    place::{List, Place},
    style::style_of,
    tree::{Content, NodeId, Tree},
};
use crate::model::{Block, BlockKind, Style};

/// What has to be put back, or finished, where an element ends.
#[derive(Debug)]
enum Leave {
    Nothing,
    Block,
    Heading,
    Quote,
    List,
    Item,
    Preformatted,
    Table,
    Cell { rows: usize, columns: usize, header: bool },
}

#[derive(Debug)]
struct Frame {
    style: Style,
    link: Option<String>,
    leave: Leave,
}

#[derive(Debug)]
pub(super) struct Walk<'t> {
    tree: &'t Tree,
    style: Style,
    link: Option<String>,
    frames: Vec<Frame>,
    /// The last is where text goes.
    places: Vec<Place>,
    /// Tables that are read as tables, innermost last.
    grids: Vec<Grid>,
}

/// The blocks below `root`.
pub(super) fn blocks(tree: &Tree, root: NodeId) -> Vec<Block> {
    let (style, link, frames, places, grids) = (Style::default(), None, Vec::new(), vec![Place::default()], Vec::new());
    let mut walk = Walk { tree, style, link, frames, places, grids };
    walk.run(root);
    walk.flush();
    walk.places.pop().map(|place| place.blocks).unwrap_or_default()
}

impl Walk<'_> {
    fn run(&mut self, root: NodeId) {
        let Some(mut node) = self.tree.first_child(root) else { return };
        loop {
            if self.enter(node) {
                if let Some(child) = self.tree.first_child(node) {
                    node = child;
                    continue;
                }
                self.leave();
            }
            while self.tree.next(node).is_none() {
                match self.tree.parent(node) {
                    Some(parent) if parent != root => node = parent,
                    _ => return,
                }
                self.leave();
            }
            if let Some(next) = self.tree.next(node) {
                node = next;
            }
        }
    }

    fn place(&mut self) -> &mut Place {
        if self.places.is_empty() {
            self.places.push(Place::default());
        }
        let last = self.places.len() - 1;
        &mut self.places[last]
    }

    /// Whether what is inside is to be read too; then [`Walk::leave`] follows.
    fn enter(&mut self, node: NodeId) -> bool {
        let tree = self.tree;
        match tree.content(node) {
            Content::Text(text) => {
                self.text(text);
                return false;
            }
            Content::Element { .. } => {}
            Content::Document | Content::Nothing => return false,
        }
        let name = tree.name(node).unwrap_or_default();
        let Some(style) = style_of(tree, node, name, self.style) else { return false };
        if self.enter_alone(node, name) {
            return false;
        }
        let leave = self.begin(node, name);
        let link = (name == "a").then(|| tree.attribute(node, "href")).flatten().and_then(shown_link);
        let before = self.link.clone();
        if link.is_some() {
            self.link = link;
        }
        self.frames.push(Frame { style: self.style, link: before, leave });
        self.style = style;
        true
    }

    /// Elements that stand for something themselves.
    fn enter_alone(&mut self, node: NodeId, name: &str) -> bool {
        let tree = self.tree;
        match name {
            "br" => match &mut self.place().preformatted {
                Some(text) => text.push('\n'),
                None => self.place().line.line_break(),
            },
            "hr" => {
                self.flush();
                self.place().blocks.push(Block::body(BlockKind::Break));
            }
            "img" => self.picture(node),
            "input" => {
                let value = tree.attribute(node, "value").unwrap_or_default();
                let checked = if tree.attribute(node, "checked").is_some() { "[x] " } else { "[ ] " };
                let kind = tree.attribute(node, "type").unwrap_or("text").to_ascii_lowercase();
                match kind.as_str() {
                    "hidden" | "password" | "file" => {}
                    "checkbox" | "radio" => self.text(checked),
                    "image" => self.picture(node),
                    _ => self.text(value),
                }
            }
            "option" if tree.attribute(node, "selected").is_none() => {}
            "wbr" | "col" | "colgroup" | "source" | "track" | "param" | "area" | "link" | "meta" | "base" => {}
            _ => return false,
        }
        true
    }

    fn begin(&mut self, node: NodeId, name: &str) -> Leave {
        let tree = self.tree;
        match name {
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => {
                self.flush();
                self.place().heading = name.get(1..).and_then(|level| level.parse().ok());
                Leave::Heading
            }
            "blockquote" => {
                self.flush();
                self.place().quotes += 1;
                Leave::Quote
            }
            "ul" | "ol" | "menu" | "dir" | "dl" => {
                self.flush();
                let start = tree.attribute(node, "start").and_then(|start| start.trim().parse().ok()).unwrap_or(1);
                let numbering = tree.attribute(node, "type").and_then(|kind| kind.chars().next()).unwrap_or('1');
                let next = (name == "ol").then_some(start);
                self.place().lists.push(List { next, numbering, waiting: None });
                Leave::List
            }
            "li" | "dd" => {
                self.flush();
                let value = tree.attribute(node, "value").and_then(|value| value.trim().parse().ok());
                self.place().begin_item(value);
                Leave::Item
            }
            "dt" => {
                self.flush();
                self.place().open_item = None;
                Leave::Block
            }
            "pre" | "listing" | "xmp" => {
                self.flush();
                // Line breaks in a cell are those of the cell.
                if self.place().preformatted.is_none() {
                    self.place().preformatted = Some(String::new());
                    return Leave::Preformatted;
                }
                Leave::Nothing
            }
            "table" => {
                self.flush();
                // A table inside of a cell flows into the cell.
                if self.grids.is_empty() && is_data_table(tree, node) {
                    self.grids.push(Grid::default());
                    return Leave::Table;
                }
                Leave::Block
            }
            "tr" => {
                if self.is_in_own_grid() {
                    if let Some(grid) = self.grids.last_mut() {
                        grid.start_row();
                    }
                } else {
                    self.flush();
                }
                Leave::Block
            }
            "td" | "th" => {
                if !self.is_in_own_grid() {
                    self.flush();
                    return Leave::Block;
                }
                let span = |name| tree.attribute(node, name).and_then(|span| span.trim().parse().ok()).unwrap_or(1);
                // Zero rows mean all that follow.
                let rows = if span("rowspan") == 0 { usize::MAX } else { span("rowspan") };
                let header = name == "th"
                    || tree
                        .parent(node)
                        .and_then(|row| tree.parent(row))
                        .is_some_and(|group| tree.name(group) == Some("thead"));
                let columns = span("colspan");
                self.places.push(Place::default());
                Leave::Cell { rows, columns, header }
            }
            "p" | "div" | "section" | "article" | "header" | "footer" | "nav" | "aside" | "main" | "address"
            | "figure" | "figcaption" | "caption" | "form" | "fieldset" | "legend" | "details" | "summary"
            | "center" | "hgroup" | "search" | "body" | "html" | "tbody" | "thead" | "tfoot" | "title" | "textarea"
            | "optgroup" => {
                self.flush();
                Leave::Block
            }
            _ => Leave::Nothing,
        }
    }

    /// Whether a row or cell that begins here belongs to the innermost table that is read as one.
    fn is_in_own_grid(&self) -> bool {
        !self.grids.is_empty() && self.places.len() == self.grids.len()
    }

    fn leave(&mut self) {
        let Some(frame) = self.frames.pop() else { return };
        match frame.leave {
            Leave::Nothing => {}
            Leave::Block => self.flush(),
            Leave::Heading => {
                self.flush();
                self.place().heading = None;
            }
            Leave::Quote => {
                self.flush();
                self.place().quotes = self.place().quotes.saturating_sub(1);
            }
            Leave::List => {
                self.flush();
                self.place().lists.pop();
                self.place().open_item = None;
            }
            Leave::Item => {
                self.flush();
                self.place().open_item = None;
                if let Some(list) = self.place().lists.last_mut() {
                    list.waiting = None;
                }
            }
            Leave::Preformatted => {
                if let Some(text) = self.place().preformatted.take() {
                    let text = text.strip_prefix('\n').unwrap_or(&text).trim_end().to_owned();
                    if !text.is_empty() {
                        self.place().open_item = None;
                        self.place().blocks.push(Block::body(BlockKind::Code { text }));
                    }
                }
            }
            Leave::Table => {
                self.flush();
                let table = self.grids.pop().map(Grid::finish).unwrap_or_default();
                // One column is no table, once what is blank is left out.
                if table.columns < 2 {
                    let lines = table.cells.into_iter().filter(|cell| !cell.text.is_blank());
                    let paragraphs = lines.map(|cell| Block::body(BlockKind::Paragraph { text: cell.text }));
                    self.place().blocks.extend(paragraphs);
                } else if table.cells.iter().any(|cell| !cell.text.is_blank()) {
                    self.place().open_item = None;
                    self.place().blocks.push(Block::body(BlockKind::Table { table }));
                }
            }
            Leave::Cell { rows, columns, header } => {
                self.flush();
                let blocks = self.places.pop().map(|place| place.blocks).unwrap_or_default();
                if let Some(grid) = self.grids.last_mut() {
                    grid.cell(into_cell(blocks), rows, columns, header);
                }
            }
        }
        (self.style, self.link) = (frame.style, frame.link);
    }

    fn text(&mut self, text: &str) {
        let (style, link) = (self.style, self.link.take());
        let place = self.place();
        match &mut place.preformatted {
            Some(before) => before.push_str(&text.replace('\u{a0}', " ")),
            None => place.line.add(text, style, link.as_deref()),
        }
        self.link = link;
    }

    /// A picture among words is read as its words; one before them stands for itself.
    fn picture(&mut self, node: NodeId) {
        let tree = self.tree;
        let alt = tree.attribute(node, "alt").unwrap_or_default().trim();
        if alt.is_empty() {
            return;
        }
        if self.place().line.is_blank() && self.place().preformatted.is_none() {
            let source = tree.attribute(node, "src").and_then(shown_link);
            self.place().pictures.push((alt.split_whitespace().collect::<Vec<_>>().join(" "), source));
        } else {
            self.text(alt);
        }
    }

    fn flush(&mut self) {
        self.place().flush();
    }
}

/// Links that lead somewhere.
fn shown_link(href: &str) -> Option<String> {
    let href: String = href.trim().chars().filter(|letter| !letter.is_control()).collect();
    let scheme = href.split(':').next().unwrap_or_default().to_ascii_lowercase();
    (!href.is_empty() && href != "#" && !matches!(scheme.as_str(), "javascript" | "data" | "vbscript")).then_some(href)
}
