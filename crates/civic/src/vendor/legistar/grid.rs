//! The tables of Legistar's pages: columns differ from client to client, so that cells are found by what stands above
//! them.

use crate::{
    html::{Element, Html},
    vendor::address,
};

/// A table with its headers, in lower case and with single blanks.
pub(super) struct Grid<'a> {
    pub(super) id: &'a str,
    pub(super) headers: Vec<String>,
    pub(super) rows: Vec<Element<'a>>,
}

pub(super) fn grids(html: &Html) -> Vec<Grid<'_>> {
    let tables = html.select("table.rgMasterTable").into_iter();
    tables
        .map(|table| {
            let (mut headers, mut rows) = (Vec::new(), Vec::new());
            for row in table.select("tr") {
                if row.has_class("rgRow") || row.has_class("rgAltRow") {
                    rows.push(row);
                } else {
                    let above: Vec<Element<'_>> = row.children().filter(|cell| cell.name() == "th").collect();
                    if rows.is_empty() && above.len() > headers.len() {
                        headers = above.iter().map(|cell| cell.text().to_lowercase()).collect();
                    }
                }
            }
            Grid { id: table.attribute("id").unwrap_or_default(), headers, rows }
        })
        .collect()
}

impl Grid<'_> {
    /// The cells of a row, each with its header.
    pub(super) fn cells<'r>(&'r self, row: &Element<'r>) -> Vec<(&'r str, Element<'r>)> {
        let cells = row.children().filter(|cell| cell.name() == "td");
        let headers = self.headers.iter().map(String::as_str).chain(std::iter::repeat(""));
        headers.zip(cells).collect()
    }
}

/// The text below one of some headers.
pub(super) fn text_below(cells: &[(&str, Element<'_>)], names: &[&str]) -> Option<String> {
    cell_below(cells, names).map(|cell| cell.text()).filter(|text| !text.is_empty())
}

pub(super) fn cell_below<'a>(cells: &[(&str, Element<'a>)], names: &[&str]) -> Option<Element<'a>> {
    cells.iter().find(|(header, _)| names.contains(header)).map(|(_, cell)| *cell)
}

/// Where a link leads: its address, or the window that a click opens.
pub(super) fn target(base: &str, link: &Element<'_>) -> Option<String> {
    let opened = || {
        let script = link.attribute("onclick")?;
        let inside = script.split_once("window.open(").or_else(|| script.split_once("radopen("))?.1;
        let quote = inside.find(['\'', '"'])?;
        let rest = inside.get(quote + 1..)?;
        let end = rest.find(['\'', '"'])?;
        address::absolute(base, rest.get(..end)?)
    };
    link.attribute("href").and_then(|href| address::absolute(base, href)).or_else(opened)
}
