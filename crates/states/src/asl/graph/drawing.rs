//! What is drawn: shapes, lines and texts, with their colours.

use super::{
    chart::Chart,
    path::{Path, Standing},
    places::{Point, Route, Size},
    plan::{
        CAPTION_LINE, DETAIL_LINE, DOT, LABEL_LINE, LABEL_SIZE, LEFT, NAME_LINE, NAME_SIZE, Plan, PlannedArrow,
        PlannedBox, SMALL_SIZE,
    },
};

/// Red, green, blue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Colour(pub(super) u8, pub(super) u8, pub(super) u8);

const WHITE: Colour = Colour(255, 255, 255);
const INK: Colour = Colour(17, 24, 39);
const GREY: Colour = Colour(107, 114, 128);
const PALE: Colour = Colour(209, 213, 219);
const LINE: Colour = Colour(100, 116, 139);
const TAKEN: Colour = Colour(21, 128, 61);
const FAILED: Colour = Colour(220, 38, 38);
const CURRENT: Colour = Colour(37, 99, 235);

/// Around the whole picture.
const AROUND: f64 = 12.0;

/// What is drawn, the lowest first.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Shape {
    /// Corners are rounded by the radius.
    Area {
        corner: Point,
        size: Size,
        radius: f64,
        fill: Colour,
        edge: Option<(Colour, f64)>,
    },
    /// Closed.
    Corners {
        points: Vec<Point>,
        fill: Colour,
        edge: Option<(Colour, f64)>,
    },
    Circle {
        middle: Point,
        radius: f64,
        fill: Option<Colour>,
        edge: Option<(Colour, f64)>,
    },
    Curve {
        route: Route,
        colour: Colour,
        width: f64,
        dashed: bool,
    },
    /// `at` is where the text starts, or its middle, on its line.
    Text {
        at: Point,
        size: f64,
        colour: Colour,
        centred: bool,
        text: String,
    },
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Drawing {
    pub(super) size: Size,
    pub(super) shapes: Vec<Shape>,
}

/// The colours of a box.
struct Style {
    fill: Colour,
    edge: Colour,
    width: f64,
    mark: Colour,
    name: Colour,
    small: Colour,
}

pub(super) fn draw(plan: &Plan<'_>, path: &Path) -> Drawing {
    let size = Size { width: plan.size.width + 2.0 * AROUND, height: plan.size.height + 2.0 * AROUND };
    let mut drawing = Drawing { size, shapes: Vec::new() };
    let everything = Shape::Area { corner: Point::default(), size, radius: 0.0, fill: WHITE, edge: None };
    drawing.shapes.push(everything);
    drawing.machine(plan, Point { x: AROUND, y: AROUND }, path);
    drawing
}

pub(super) fn kind_colour(kind: &str) -> Colour {
    match kind {
        "Task" => Colour(217, 119, 6),
        "Choice" => Colour(124, 58, 237),
        "Wait" => Colour(2, 132, 199),
        "Succeed" => Colour(22, 163, 74),
        "Fail" => Colour(220, 38, 38),
        "Map" => Colour(13, 148, 136),
        "Parallel" => Colour(67, 56, 202),
        _ => Colour(71, 85, 105),
    }
}

/// The same colour with as much white as is said, from 0 to 1.
fn lighter(colour: Colour, white: f64) -> Colour {
    let mix = |part: u8| (f64::from(part) + (255.0 - f64::from(part)) * white).round() as u8;
    Colour(mix(colour.0), mix(colour.1), mix(colour.2))
}

fn style(kind: &str, standing: Standing) -> Style {
    let mark = kind_colour(kind);
    let usual =
        Style { fill: lighter(mark, 0.93), edge: lighter(mark, 0.45), width: 1.2, mark, name: INK, small: GREY };
    match standing {
        Standing::Unknown => usual,
        Standing::Visited => Style { edge: TAKEN, width: 2.0, ..usual },
        Standing::Current => Style { edge: CURRENT, width: 2.6, fill: lighter(CURRENT, 0.9), ..usual },
        Standing::Failed => Style { edge: FAILED, width: 2.6, fill: lighter(FAILED, 0.88), ..usual },
        Standing::NotVisited => {
            Style { fill: WHITE, edge: PALE, width: 1.2, mark: PALE, name: GREY, small: Colour(156, 163, 175) }
        }
    }
}

fn moved(point: Point, by: Point) -> Point {
    Point { x: point.x + by.x, y: point.y + by.y }
}

impl Drawing {
    fn machine(&mut self, plan: &Plan<'_>, origin: Point, path: &Path) {
        // Lines first, and those that were taken over the others.
        let (taken, others): (Vec<_>, Vec<_>) =
            plan.arrows.iter().map(|arrow| (is_taken(plan.chart, arrow, path), arrow)).partition(|(taken, _)| *taken);
        for (taken, arrow) in others.into_iter().chain(taken) {
            self.arrow(plan.chart, arrow, origin, taken, path);
        }
        for arrow in &plan.arrows {
            self.label(arrow, origin);
        }
        for planned in &plan.boxes {
            self.state(planned, moved(planned.corner, origin), path);
        }
        if let Some(middle) = plan.start {
            let middle = moved(middle, origin);
            self.shapes.push(Shape::Circle { middle, radius: DOT / 2.0, fill: Some(INK), edge: None });
        }
        if let Some(middle) = plan.end {
            let middle = moved(middle, origin);
            let edge = Some((INK, 1.5));
            self.shapes.push(Shape::Circle { middle, radius: DOT / 2.0 - 0.75, fill: Some(WHITE), edge });
            self.shapes.push(Shape::Circle { middle, radius: DOT / 2.0 - 4.0, fill: Some(INK), edge: None });
        }
    }

    fn arrow(&mut self, chart: &Chart, arrow: &PlannedArrow, origin: Point, taken: bool, path: &Path) {
        let is_catch = arrow.arrow.is_some_and(|number| chart.arrows[number].is_catch);
        let (colour, width) = match (taken, path.is_empty(), is_catch) {
            (true, ..) => (TAKEN, 2.2),
            (false, true, false) => (LINE, 1.3),
            (false, true, true) => (lighter(FAILED, 0.3), 1.3),
            (false, false, _) => (PALE, 1.2),
        };
        let curves = arrow.route.curves.iter().map(|points| points.map(|point| moved(point, origin)));
        let mut curves: Vec<[Point; 3]> = curves.collect();
        let Some(tip) = curves.last().map(|last| last[2]) else { return };
        // The line ends where the head begins, lest it shows at the tip.
        if let Some(last) = curves.last_mut() {
            last[2].y -= 5.0;
            last[1].y = last[1].y.min(last[2].y);
        }
        let route = Route { start: moved(arrow.route.start, origin), curves, label: None };
        self.shapes.push(Shape::Curve { route, colour, width, dashed: is_catch });
        let head = [(0.0, 0.0), (-4.2, -8.5), (4.2, -8.5)].map(|(x, y)| Point { x: tip.x + x, y: tip.y + y });
        self.shapes.push(Shape::Corners { points: head.to_vec(), fill: colour, edge: None });
    }

    /// On white, for the line passes behind it.
    fn label(&mut self, arrow: &PlannedArrow, origin: Point) {
        let Some(middle) = arrow.route.label.map(|middle| moved(middle, origin)) else { return };
        let size = arrow.label_size;
        let corner = Point { x: middle.x - size.width / 2.0, y: middle.y - size.height / 2.0 };
        self.shapes.push(Shape::Area { corner, size, radius: 3.0, fill: WHITE, edge: None });
        for (number, text) in arrow.label.iter().enumerate() {
            let at = Point { x: middle.x, y: corner.y + 2.0 + LABEL_LINE * (number as f64 + 0.75) };
            self.text(at, LABEL_SIZE, GREY, true, text.clone());
        }
    }

    fn text(&mut self, at: Point, size: f64, colour: Colour, centred: bool, text: String) {
        self.shapes.push(Shape::Text { at, size, colour, centred, text });
    }

    fn state(&mut self, planned: &PlannedBox<'_>, corner: Point, path: &Path) {
        let (kind, size) = (planned.state.kind, planned.size);
        let style = style(kind, path.status_of(&planned.state.name));
        let edge = Some((style.edge, style.width));
        let at = |x: f64, y: f64| Point { x: corner.x + x, y: corner.y + y };
        if kind == "Choice" {
            let (width, height, cut) = (size.width, size.height, 10.0);
            let points = [
                (cut, 0.0),
                (width - cut, 0.0),
                (width, height / 2.0),
                (width - cut, height),
                (cut, height),
                (0.0, height / 2.0),
            ];
            let points = points.map(|(x, y)| at(x, y)).to_vec();
            self.shapes.push(Shape::Corners { points, fill: style.fill, edge });
        } else {
            let radius = if matches!(kind, "Succeed" | "Fail" | "Wait") { 14.0 } else { 6.0 };
            let fill = if planned.inner.is_empty() { style.fill } else { lighter(style.fill, 0.4) };
            self.shapes.push(Shape::Area { corner, size, radius, fill, edge });
        }
        self.text(at(LEFT, CAPTION_LINE), SMALL_SIZE, style.mark, false, kind.to_owned());
        self.text(at(LEFT, NAME_LINE), NAME_SIZE, style.name, false, planned.name.clone());
        for (number, detail) in planned.details.iter().enumerate() {
            let line = NAME_LINE + DETAIL_LINE * (number as f64 + 1.0) + 1.0;
            self.text(at(LEFT, line), SMALL_SIZE, style.small, false, detail.clone());
        }
        let visits = path.visits(&planned.state.name);
        if visits > 1 {
            let text = format!("{visits}×");
            let width = super::text::width(&text, SMALL_SIZE);
            self.text(at(size.width - LEFT - width, CAPTION_LINE), SMALL_SIZE, style.edge, false, text);
        }
        for (place, plan) in &planned.inner {
            let frame = Shape::Area {
                corner: at(place.x, place.y),
                size: plan.size,
                radius: 5.0,
                fill: WHITE,
                edge: Some((PALE, 1.0)),
            };
            self.shapes.push(frame);
            self.machine(plan, at(place.x, place.y), path);
        }
    }
}

/// Whether an execution went this way. Of several between the same states the first is meant.
fn is_taken(chart: &Chart, arrow: &PlannedArrow, path: &Path) -> bool {
    match arrow.arrow {
        None => !path.is_empty(),
        Some(number) => was_taken(chart, number, path),
    }
}

/// The same for an arrow of a chart.
pub(super) fn was_taken(chart: &Chart, number: usize, path: &Path) -> bool {
    let arrow = &chart.arrows[number];
    let name = |place: usize| chart.boxes[place].name.as_str();
    let is_first = !chart.arrows[..number].iter().any(|other| other.from == arrow.from && other.to == arrow.to);
    is_first && path.was_taken(name(arrow.from), arrow.to.map(name))
}
