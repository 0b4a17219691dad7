//! The places of a whole definition, boxes within boxes.

use super::{
    chart::{Chart, StateBox},
    places::{Places, Point, Size, places},
    text,
};

pub(super) const NAME_SIZE: f64 = 13.0;
pub(super) const SMALL_SIZE: f64 = 10.0;
pub(super) const LABEL_SIZE: f64 = 10.5;
pub(super) const LABEL_LINE: f64 = 13.0;
/// Beside the texts of a box.
pub(super) const LEFT: f64 = 16.0;
const RIGHT: f64 = 14.0;
/// From the upper edge of a box to the lines of its texts.
pub(super) const CAPTION_LINE: f64 = 17.0;
pub(super) const NAME_LINE: f64 = 33.0;
pub(super) const DETAIL_LINE: f64 = 13.0;
const BELOW: f64 = 11.0;
const LEAST_WIDTH: f64 = 120.0;
const WIDEST_TEXT: f64 = 250.0;
const WIDEST_LABEL: f64 = 200.0;
const LABEL_LINES: usize = 3;
/// Room for the number of visits beside the caption.
const COUNT: f64 = 44.0;
/// Of the circles at the start and the end.
pub(super) const DOT: f64 = 16.0;
const AROUND_INNER: f64 = 12.0;

/// A machine with the places of all that is in it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Plan<'a> {
    pub(super) chart: &'a Chart,
    pub(super) size: Size,
    pub(super) boxes: Vec<PlannedBox<'a>>,
    pub(super) arrows: Vec<PlannedArrow>,
    /// The outermost machine has circles where it starts and ends.
    pub(super) start: Option<Point>,
    pub(super) end: Option<Point>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct PlannedBox<'a> {
    pub(super) state: &'a StateBox,
    pub(super) corner: Point,
    pub(super) size: Size,
    pub(super) name: String,
    pub(super) details: Vec<String>,
    /// From the corner of the box.
    pub(super) inner: Vec<(Point, Plan<'a>)>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct PlannedArrow {
    /// The number of the arrow in the chart; none for the one from the start.
    pub(super) arrow: Option<usize>,
    pub(super) route: super::places::Route,
    pub(super) label: Vec<String>,
    pub(super) label_size: Size,
}

pub(super) fn from_chart(chart: &Chart) -> Plan<'_> {
    plan(chart, true)
}

fn plan(chart: &Chart, is_outermost: bool) -> Plan<'_> {
    let mut boxes: Vec<PlannedBox<'_>> = chart.boxes.iter().map(planned).collect();
    let mut sizes: Vec<Size> = Vec::new();
    let dot = Size { width: DOT, height: DOT };
    // The start comes first, for everything is reached from there.
    let first = usize::from(is_outermost);
    sizes.extend(is_outermost.then_some(dot));
    sizes.extend(boxes.iter().map(|planned| planned.size));
    let has_end = is_outermost && chart.arrows.iter().any(|arrow| arrow.to.is_none());
    let end = sizes.len();
    sizes.extend(has_end.then_some(dot));
    let mut links = Vec::new();
    let mut arrows = Vec::new();
    if is_outermost {
        links.push((0, 1));
        arrows.push((None, Vec::new()));
    }
    for (number, arrow) in chart.arrows.iter().enumerate() {
        let to = match arrow.to {
            Some(to) => to + first,
            None if has_end => end,
            None => continue,
        };
        links.push((arrow.from + first, to));
        arrows.push((Some(number), text::wrapped(&arrow.label, LABEL_SIZE, WIDEST_LABEL, LABEL_LINES)));
    }
    let label_sizes: Vec<Option<Size>> = arrows.iter().map(|(_, lines)| label_size(lines)).collect();
    let Places { size, boxes: corners, routes } = places(&sizes, &links, &label_sizes);
    for (planned, corner) in boxes.iter_mut().zip(corners.iter().skip(first)) {
        planned.corner = *corner;
    }
    let middle = |corner: &Point| Point { x: corner.x + DOT / 2.0, y: corner.y + DOT / 2.0 };
    let arrows = arrows.into_iter().zip(routes).zip(label_sizes).map(|(((arrow, label), route), size)| PlannedArrow {
        arrow,
        route,
        label,
        label_size: size.unwrap_or_default(),
    });
    Plan {
        chart,
        size,
        boxes,
        arrows: arrows.collect(),
        start: corners.first().filter(|_| is_outermost).map(middle),
        end: corners.get(end).filter(|_| has_end).map(middle),
    }
}

fn label_size(lines: &[String]) -> Option<Size> {
    let width = lines.iter().map(|line| text::width(line, LABEL_SIZE)).fold(0.0, f64::max);
    (!lines.is_empty()).then_some(Size { width: width + 10.0, height: lines.len() as f64 * LABEL_LINE + 6.0 })
}

fn planned(state: &StateBox) -> PlannedBox<'_> {
    let name = text::fitted(&state.name, NAME_SIZE, WIDEST_TEXT);
    let details: Vec<String> = state.details.iter().map(|line| text::fitted(line, SMALL_SIZE, WIDEST_TEXT)).collect();
    let widest_detail = details.iter().map(|line| text::width(line, SMALL_SIZE)).fold(0.0, f64::max);
    let caption = text::width(state.kind, SMALL_SIZE) + COUNT;
    let texts = text::width(&name, NAME_SIZE).max(widest_detail).max(caption);
    let mut size = Size {
        width: (texts + LEFT + RIGHT).max(LEAST_WIDTH),
        height: NAME_LINE + details.len() as f64 * DETAIL_LINE + BELOW,
    };
    let mut inner = Vec::new();
    if !state.inner.is_empty() {
        let mut corner = Point { x: AROUND_INNER, y: size.height };
        let mut height: f64 = 0.0;
        for chart in &state.inner {
            let plan = plan(chart, false);
            let width = plan.size.width;
            height = height.max(plan.size.height);
            inner.push((corner, plan));
            corner.x += width + AROUND_INNER;
        }
        // Narrow branches stand in the middle of a box that its texts make wide.
        let spare = (size.width - corner.x).max(0.0);
        for (corner, _) in &mut inner {
            corner.x += spare / 2.0;
        }
        size = Size { width: size.width.max(corner.x), height: size.height + height + AROUND_INNER };
    }
    PlannedBox { state, corner: Point::default(), size, name, details, inner }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::asl::{definition::Definition, graph::layout, replay::Case};

    /// Boxes and labels of one machine, and of those within, stand apart from each other and inside of what holds them.
    fn check(plan: &Plan<'_>) {
        let of_label = |arrow: &PlannedArrow| {
            let middle = arrow.route.label?;
            let Size { width, height } = arrow.label_size;
            Some((Point { x: middle.x - width / 2.0, y: middle.y - height / 2.0 }, arrow.label_size))
        };
        let boxes = plan.boxes.iter().map(|planned| (planned.corner, planned.size));
        let taken: Vec<(Point, Size)> = boxes.chain(plan.arrows.iter().filter_map(of_label)).collect();
        for (number, (one, size)) in taken.iter().enumerate() {
            assert!(one.x >= 0.0 && one.y >= 0.0);
            assert!(one.x + size.width <= plan.size.width && one.y + size.height <= plan.size.height);
            for (other, other_size) in &taken[..number] {
                let apart_x = one.x >= other.x + other_size.width || other.x >= one.x + size.width;
                let apart_y = one.y >= other.y + other_size.height || other.y >= one.y + size.height;
                assert!(apart_x || apart_y, "{one:?} {other:?}");
            }
        }
        for planned in &plan.boxes {
            for (corner, inner) in &planned.inner {
                assert!(corner.x + inner.size.width <= planned.size.width);
                assert!(corner.y + inner.size.height <= planned.size.height);
                check(inner);
            }
        }
    }

    #[test]
    fn nothing_overlaps_in_real_machines() {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/conformance/asl/histories.jsonl");
        let Ok(text) = std::fs::read_to_string(file) else {
            eprintln!("skipped: there is no {file}");
            return;
        };
        let cases = Case::read_all(&text).unwrap_or_default();
        let definitions = cases.iter().filter_map(|case| Definition::from_value(&case.definition).ok());
        let drawn = definitions.map(|definition| check(&from_chart(&layout(&definition).chart))).count();
        assert!(drawn > 300, "{drawn}");
    }
}
