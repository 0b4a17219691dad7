//! What drawings of Office files say in words: alternative texts, charts and diagrams.

use crate::{
    model::{Block, BlockKind, Inlines, Marker, Table},
    package::{Element, Package, Relations},
};
use std::collections::BTreeMap;

/// The words that stand for a picture. Names such as "Picture 3" are the program's own and say nothing.
pub(super) fn alternative_text(properties: Element<'_>) -> Option<String> {
    let written = |name: &str| properties.attribute(name).map(str::trim).filter(|text| !text.is_empty());
    written("descr").or_else(|| written("title")).map(str::to_owned)
}

/// The chart or diagram that a `graphicData` refers to, as blocks.
pub(super) fn graphic_blocks(
    graphic: Element<'_>,
    package: &Package<'_>,
    relations: &Relations,
    warnings: &mut Vec<String>,
) -> Vec<Block> {
    let mut blocks = Vec::new();
    let related = |id: Option<&str>| id.and_then(|id| relations.get(id)).filter(|relation| !relation.external);
    for element in graphic.descendants() {
        match element.name() {
            "chart" => {
                if let Some(relation) = related(element.prefixed_attribute("id"))
                    && let Some(tree) = package.tree_or_warn(&relation.target, warnings)
                {
                    blocks.extend(chart_blocks(tree.root()));
                }
            }
            "relIds" => {
                if let Some(relation) = related(element.attribute("dm"))
                    && let Some(tree) = package.tree_or_warn(&relation.target, warnings)
                {
                    blocks.extend(diagram_blocks(tree.root()));
                }
            }
            _ => {}
        }
    }
    blocks
}

/// A chart: its title, and its numbers as a table with a row for each category and a column for each series.
pub(super) fn chart_blocks(root: Element<'_>) -> Vec<Block> {
    let mut blocks = Vec::new();
    let Some(chart) = root.find("chart") else { return blocks };
    let rich = |title: Element<'_>| paragraphs_text(title).replace('\n', " ").trim().to_owned();
    let title = chart.child("title").map(rich).filter(|title| !title.is_empty());
    if let Some(title) = title {
        blocks.push(Block::body(BlockKind::Paragraph { text: Inlines::plain(format!("Chart: {title}")) }));
    }
    let plot = chart.child("plotArea").unwrap_or(chart);
    // The axis of the categories names the first column, the others what is counted.
    let (mut first_column, mut counted) = (String::new(), Vec::new());
    for axis in plot.elements().filter(|element| element.name().ends_with("Ax")) {
        let Some(title) = axis.child("title").map(rich).filter(|title| !title.is_empty()) else { continue };
        let across = matches!(axis.child("axPos").and_then(|place| place.attribute("val")), Some("b" | "t"));
        if first_column.is_empty() && (axis.is("catAx") || axis.is("dateAx") || (axis.is("valAx") && across)) {
            first_column = title;
        } else if !counted.contains(&title) {
            counted.push(title);
        }
    }
    if !counted.is_empty() {
        let text = format!("Axis: {}", counted.join(", "));
        blocks.push(Block::body(BlockKind::Paragraph { text: Inlines::plain(text) }));
    }
    let mut categories: BTreeMap<usize, String> = BTreeMap::new();
    let mut series: Vec<(String, BTreeMap<usize, String>)> = Vec::new();
    for one in plot.descendants().filter(|element| element.is("ser")) {
        let name = one.child("tx").map(|name| points(name).into_values().collect::<Vec<_>>().join(" "));
        let name = name.filter(|name| !name.trim().is_empty());
        for source in ["cat", "xVal"] {
            if let Some(found) = one.child(source) {
                categories.extend(points(found));
            }
        }
        let values = one.child("val").or_else(|| one.child("yVal")).map(points).unwrap_or_default();
        series.push((name.unwrap_or_else(|| format!("Series {}", series.len() + 1)), values));
    }
    let rows: std::collections::BTreeSet<usize> =
        series.iter().flat_map(|(_, values)| values.keys()).chain(categories.keys()).copied().collect();
    if rows.is_empty() {
        return blocks;
    }
    let mut table = vec![vec![Inlines::plain(first_column)]];
    if let Some(head) = table.first_mut() {
        head.extend(series.iter().map(|(name, _)| Inlines::plain(name.clone())));
    }
    for row in rows {
        let mut cells = vec![Inlines::plain(categories.get(&row).cloned().unwrap_or_default())];
        cells.extend(series.iter().map(|(_, values)| Inlines::plain(values.get(&row).cloned().unwrap_or_default())));
        table.push(cells);
    }
    blocks.push(Block::body(BlockKind::Table { table: Table::from_rows(table, 1) }));
    blocks
}

/// The cached points of a reference, or a literal value.
fn points(element: Element<'_>) -> BTreeMap<usize, String> {
    let mut found = BTreeMap::new();
    for point in element.descendants().filter(|element| element.is("pt")) {
        let index = point.attribute("idx").and_then(|index| index.parse().ok()).unwrap_or(0);
        if let Some(value) = point.child("v") {
            // Of categories with several levels, the innermost comes first and counts.
            found.entry(index).or_insert_with(|| tidy_number(&value.text()));
        }
    }
    if found.is_empty()
        && let Some(value) = element.child("v")
    {
        found.insert(0, value.text());
    }
    found
}

/// Charts keep numbers as they are computed; 17 digits of a binary fraction are nobody's number.
pub(super) fn tidy_number(text: &str) -> String {
    let text = text.trim();
    match text.parse::<f64>() {
        Ok(number) if text.len() > 12 && number.is_finite() && text.contains(['.', 'E', 'e']) => {
            let rounded = format!("{number:.10}");
            let rounded = rounded.trim_end_matches('0').trim_end_matches('.');
            let tiny = number != 0.0 && number.abs() < 1e-6;
            if tiny { text.to_owned() } else { rounded.to_owned() }
        }
        _ => text.to_owned(),
    }
}

/// A diagram (SmartArt): its texts as a list, in the depth of the points that hold them.
pub(super) fn diagram_blocks(root: Element<'_>) -> Vec<Block> {
    let mut texts: BTreeMap<&str, String> = BTreeMap::new();
    let mut order: Vec<&str> = Vec::new();
    for point in root.path(&["ptLst"]).into_iter().flat_map(|list| list.all("pt").collect::<Vec<_>>()) {
        let Some(id) = point.attribute("modelId") else { continue };
        if !matches!(point.attribute("type").unwrap_or("node"), "node" | "asst" | "doc") {
            continue;
        }
        order.push(id);
        texts.insert(id, point.child("t").map(paragraphs_text).unwrap_or_default().trim().replace('\n', " "));
    }
    let mut parents: BTreeMap<&str, (&str, u32)> = BTreeMap::new();
    for link in root.path(&["cxnLst"]).into_iter().flat_map(|list| list.all("cxn").collect::<Vec<_>>()) {
        if link.attribute("type").is_some_and(|kind| kind != "parOf") {
            continue;
        }
        if let (Some(from), Some(to)) = (link.attribute("srcId"), link.attribute("destId")) {
            let place = link.attribute("srcOrd").and_then(|place| place.parse().ok()).unwrap_or(0);
            parents.insert(to, (from, place));
        }
    }
    // The way from the top to each point, as places among siblings: sorting by it is the order of the tree.
    let mut items: Vec<(Vec<u32>, usize, String)> = Vec::new();
    for (position, id) in order.iter().enumerate() {
        let text = texts.get(id).cloned().unwrap_or_default();
        let mut way = Vec::new();
        let mut at = *id;
        while let Some((parent, place)) = parents.get(at) {
            way.push(*place);
            at = parent;
            if way.len() > 32 {
                break;
            }
        }
        way.reverse();
        if !text.is_empty() {
            items.push((way, position, text));
        }
    }
    items.sort();
    let item = |(way, _, text): (Vec<u32>, usize, String)| {
        let depth = u8::try_from(way.len().saturating_sub(1)).unwrap_or(u8::MAX).min(8);
        Block::body(BlockKind::ListItem { depth, marker: Marker::Bullet, text: Inlines::plain(text) })
    };
    items.into_iter().map(item).collect()
}

/// The text of DrawingML paragraphs below an element, one line each.
pub(super) fn paragraphs_text(element: Element<'_>) -> String {
    let mut lines = Vec::new();
    for paragraph in element.descendants().filter(|element| element.is("p")) {
        let mut line = String::new();
        for part in paragraph.descendants() {
            match part.name() {
                "t" => line.push_str(&part.text()),
                "br" | "tab" => line.push(' '),
                _ => {}
            }
        }
        lines.push(line);
    }
    if lines.is_empty() {
        // A title may refer to a cell instead of having text of its own.
        lines.extend(element.descendants().filter(|part| part.is("v")).map(Element::text));
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{options::Limits, package::Tree};

    #[test]
    fn a_chart_is_a_table_of_its_numbers() {
        let xml = "<chartSpace><chart><title><tx><rich><p><r><t>Sales</t></r></p></rich></tx></title><plotArea><barChart>\
            <ser><tx><strRef><strCache><pt idx='0'><v>East</v></pt></strCache></strRef></tx>\
            <cat><strRef><strCache><pt idx='0'><v>Q1</v></pt><pt idx='1'><v>Q2</v></pt></strCache></strRef></cat>\
            <val><numRef><numCache><pt idx='0'><v>20.399999999999999</v></pt><pt idx='1'><v>27</v></pt></numCache></numRef></val></ser></barChart>\
            <catAx><title><tx><rich><p><r><t>Quarter</t></r></p></rich></tx></title></catAx>\
            <valAx><axPos val='l'/><title><tx><rich><p><r><t>Euro</t></r></p></rich></tx></title></valAx></plotArea></chart></chartSpace>";
        let tree = Tree::parse(xml, &Limits::default()).unwrap();
        let blocks = chart_blocks(tree.root());
        let said = |block: &Block| match &block.kind {
            BlockKind::Paragraph { text } => text.text(),
            _ => String::new(),
        };
        assert_eq!((said(&blocks[0]).as_str(), said(&blocks[1]).as_str()), ("Chart: Sales", "Axis: Euro"));
        let BlockKind::Table { table } = &blocks[2].kind else { panic!("a table is expected") };
        let texts: Vec<String> = table.cells.iter().map(|cell| cell.text.text()).collect();
        assert_eq!(texts, ["Quarter", "East", "Q1", "20.4", "Q2", "27"]);
    }

    #[test]
    fn a_diagram_is_a_list_in_the_order_of_its_tree() {
        let xml = "<dataModel><ptLst><pt modelId='0' type='doc'/><pt modelId='2'><t><p><r><t>second</t></r></p></t></pt>\
            <pt modelId='1'><t><p><r><t>first</t></r></p></t></pt><pt modelId='3'><t><p><r><t>below</t></r></p></t></pt></ptLst>\
            <cxnLst><cxn srcId='0' destId='1' srcOrd='0'/><cxn srcId='0' destId='2' srcOrd='1'/><cxn srcId='1' destId='3' srcOrd='0'/></cxnLst></dataModel>";
        let tree = Tree::parse(xml, &Limits::default()).unwrap();
        let shown: Vec<(u8, String)> = diagram_blocks(tree.root())
            .into_iter()
            .map(|block| match block.kind {
                BlockKind::ListItem { depth, text, .. } => (depth, text.text()),
                _ => panic!("items are expected"),
            })
            .collect();
        assert_eq!(shown, [(0, "first".to_owned()), (1, "below".to_owned()), (0, "second".to_owned())]);
    }
}
