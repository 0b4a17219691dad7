//! Where everything is: boxes, labels, and the curves between them.

use super::layers::{Beside, Item, ItemId, Layers, Link, layers};

#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Point {
    pub(super) x: f64,
    pub(super) y: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Size {
    pub(super) width: f64,
    pub(super) height: f64,
}

/// A line that may bend.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Route {
    pub(super) start: Point,
    /// Two handles and an end each.
    pub(super) curves: Vec<[Point; 3]>,
    /// The middle of the label.
    pub(super) label: Option<Point>,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Places {
    pub(super) size: Size,
    /// The left upper corner of each box.
    pub(super) boxes: Vec<Point>,
    pub(super) routes: Vec<Route>,
}

/// Between two layers.
const GAP: f64 = 42.0;
/// How far a line that turns round reaches into the gap.
const TURN: f64 = 28.0;
/// Arrows are straight where they meet a box.
const RUN_IN: f64 = 9.0;
/// Between neighbours.
const BETWEEN_BOXES: f64 = 28.0;
const BETWEEN_LANES: f64 = 16.0;
const LANE_WIDTH: f64 = 4.0;
/// Around everything, and above or below a line that turns round there.
const MARGIN: f64 = 15.0;
const MARGIN_OF_TURN: f64 = 36.0;
/// How much a link counts that is the only one at both of its ends: what follows each other should stand in one line.
const ONLY: f64 = 10.0;
/// Between two lines at the edge of a box.
const BETWEEN_PORTS: f64 = 26.0;
const ROUNDS: usize = 24;

/// `labels` are the sizes of the labels of the links; none has no label.
pub(super) fn places(sizes: &[Size], links: &[(usize, usize)], labels: &[Option<Size>]) -> Places {
    let links: Vec<Link> = links
        .iter()
        .zip(labels)
        .map(|((from, to), label)| Link { from: *from, to: *to, has_label: label.is_some() })
        .collect();
    let layers = layers(sizes.len(), &links);
    let size_of = |item: ItemId| match layers.items[item] {
        Item::Box(number) => sizes[number],
        Item::Lane { link, has_label: true } => labels[link].unwrap_or_default(),
        Item::Lane { .. } => Size { width: LANE_WIDTH, height: 0.0 },
    };
    let item_sizes: Vec<Size> = (0..layers.items.len()).map(size_of).collect();
    let centres = centres(&layers, &item_sizes);
    let last = layers.rows.len().saturating_sub(1);
    let turns_at = |layer: usize, end: fn(&Link) -> usize| {
        let back = links.iter().zip(&layers.leads_back).filter(|(_, is_back)| **is_back);
        back.map(|(link, _)| end(link)).any(|number| layers.layer_of[number] == layer)
    };
    let mut top = if turns_at(0, |link| link.to) { MARGIN_OF_TURN } else { MARGIN };
    let below = if turns_at(last, |link| link.from) { MARGIN_OF_TURN } else { MARGIN };
    let mut bands = Vec::new();
    for layer in &layers.rows {
        let height = layer.iter().map(|item| item_sizes[*item].height).fold(0.0, f64::max);
        bands.push((top, top + height));
        top += height + GAP;
    }
    let right = (0..item_sizes.len()).map(|item| centres[item] + item_sizes[item].width / 2.0).fold(0.0, f64::max);
    let place = Placing { layers: &layers, links: &links, sizes: &item_sizes, centres: &centres, bands: &bands };
    Places {
        size: Size { width: right + MARGIN, height: top - GAP + below },
        boxes: (0..sizes.len()).map(|number| place.corner(number)).collect(),
        routes: place.routes(),
    }
}

/// The middle of every item, from left to right. In turns, each layer is fitted to the one above and the one below.
fn centres(layers: &Layers, sizes: &[Size]) -> Vec<f64> {
    let mut centres = vec![0.0; sizes.len()];
    for row in &layers.rows {
        place_row(layers, row, sizes, &vec![(0.0, 1.0); row.len()], &mut centres);
    }
    let height = layers.rows.len();
    for round in 0..ROUNDS {
        let downwards = round % 2 == 0;
        // In the last rounds both sides count.
        let both = round + 4 >= ROUNDS;
        for step in 0..height {
            let row = &layers.rows[if downwards { step } else { height - 1 - step }];
            let wishes = row.iter().map(|item| {
                // Lines that pass should be straight.
                let weight = if layers.is_lane(*item) { 4.0 } else { 1.0 };
                (wanted_place(layers, sizes, &centres, *item, downwards, both), weight)
            });
            place_row(layers, row, sizes, &wishes.collect::<Vec<_>>(), &mut centres);
        }
    }
    for row in &layers.rows {
        let exact = |item: ItemId| match layers.above[item][..] {
            [above] if layers.weight(above, item) > 1.0 => (centres[above], 100.0),
            _ => (centres[item], 1.0),
        };
        let wishes: Vec<(f64, f64)> = row.iter().map(|item| exact(*item)).collect();
        place_row(layers, row, sizes, &wishes, &mut centres);
    }
    let leftmost = centres.iter().zip(sizes).map(|(centre, size)| centre - size.width / 2.0);
    let leftmost = leftmost.fold(f64::INFINITY, f64::min);
    centres.into_iter().map(|centre| centre + MARGIN - leftmost).collect()
}

/// Where an item would like to be: in the middle of those it is linked to on one side, or on both.
fn wanted_place(layers: &Layers, sizes: &[Size], centres: &[f64], item: ItemId, downwards: bool, both: bool) -> f64 {
    let (first, second) =
        if downwards { (&layers.above[item], &layers.below[item]) } else { (&layers.below[item], &layers.above[item]) };
    let others = first.iter().chain(if both || first.is_empty() { &second[..] } else { &[] });
    let (mut sum, mut weights) = (0.0, 0.0);
    for other in others {
        let weight = layers.weight(item, *other);
        sum += centres[*other] * weight;
        weights += weight;
    }
    match layers.beside.get(&item) {
        _ if weights > 0.0 => sum / weights,
        Some(Beside { owner, side, .. }) => {
            centres[*owner] + side * (f64::midpoint(sizes[*owner].width, sizes[item].width) + BETWEEN_LANES)
        }
        None => centres[item],
    }
}

impl Layers {
    /// Where a line passes that shows no label.
    fn is_lane(&self, item: ItemId) -> bool {
        matches!(self.items[item], Item::Lane { has_label: false, .. })
    }

    fn weight(&self, one: ItemId, other: ItemId) -> f64 {
        let (upper, lower) = if self.layer_of[one] < self.layer_of[other] { (one, other) } else { (other, one) };
        if self.below[upper].len() == 1 && self.above[lower].len() == 1 { ONLY } else { 1.0 }
    }
}

/// As near to what is wanted, each with its weight, as the order and the room between neighbours allow: those who would
/// overlap are moved together to their mean.
fn place_row(layers: &Layers, row: &[ItemId], sizes: &[Size], wishes: &[(f64, f64)], centres: &mut [f64]) {
    let mut offset = 0.0;
    let mut offsets = Vec::with_capacity(row.len());
    // Each group: the sum of the weights, the weighted sum of the places, and how many are in it.
    let mut groups: Vec<(f64, f64, usize)> = Vec::new();
    for (place, (item, (wanted, weight))) in row.iter().zip(wishes).enumerate() {
        if let Some(before) = place.checked_sub(1).map(|before| row[before]) {
            let gap = if layers.is_lane(*item) || layers.is_lane(before) { BETWEEN_LANES } else { BETWEEN_BOXES };
            offset += f64::midpoint(sizes[before].width, sizes[*item].width) + gap;
        }
        offsets.push(offset);
        groups.push((*weight, weight * (wanted - offset), 1));
        while let [.., before, last] = groups[..]
            && before.1 / before.0 > last.1 / last.0
        {
            groups.pop();
            groups.pop();
            groups.push((before.0 + last.0, before.1 + last.1, before.2 + last.2));
        }
    }
    let mut place = 0;
    for (weight, sum, count) in groups {
        for _ in 0..count {
            centres[row[place]] = sum / weight + offsets[place];
            place += 1;
        }
    }
}

struct Placing<'a> {
    layers: &'a Layers,
    links: &'a [Link],
    sizes: &'a [Size],
    centres: &'a [f64],
    /// The upper and lower edge of each layer.
    bands: &'a [(f64, f64)],
}

impl Placing<'_> {
    fn band(&self, item: ItemId) -> (f64, f64) {
        self.bands[self.layers.layer_of[item]]
    }

    /// Boxes stand in the middle of their layer.
    fn corner(&self, item: ItemId) -> Point {
        let (top, bottom) = self.band(item);
        let Size { width, height } = self.sizes[item];
        Point { x: self.centres[item] - width / 2.0, y: f64::midpoint(top, bottom) - height / 2.0 }
    }

    fn routes(&self) -> Vec<Route> {
        let starts = self.ports(|link| link.from, |number, link| self.first_stop(number, link));
        let ends = self.ports(|link| link.to, |number, link| self.last_stop(number, link));
        (0..self.links.len()).map(|number| self.route(number, starts[number], ends[number])).collect()
    }

    fn first_stop(&self, number: usize, link: &Link) -> f64 {
        let lanes = &self.layers.lanes[number];
        let stop = if self.layers.leads_back[number] { lanes.last() } else { lanes.first() };
        self.centres[stop.copied().unwrap_or(link.to)]
    }

    fn last_stop(&self, number: usize, link: &Link) -> f64 {
        let lanes = &self.layers.lanes[number];
        let stop = if self.layers.leads_back[number] { lanes.first() } else { lanes.last() };
        self.centres[stop.copied().unwrap_or(link.from)]
    }

    /// Where links meet the edge of their box, side by side in the order of where they come from or lead to.
    fn ports(&self, end: impl Fn(&Link) -> usize, stop: impl Fn(usize, &Link) -> f64) -> Vec<f64> {
        let mut at_box: Vec<Vec<(f64, usize)>> = vec![Vec::new(); self.sizes.len()];
        for (number, link) in self.links.iter().enumerate() {
            at_box[end(link)].push((stop(number, link), number));
        }
        let mut ports = vec![0.0; self.links.len()];
        for (item, mut links) in at_box.into_iter().enumerate().filter(|(_, links)| !links.is_empty()) {
            links.sort_by(|one, other| one.0.total_cmp(&other.0));
            let room = (self.sizes[item].width - 28.0).max(0.0);
            let step = BETWEEN_PORTS.min(room / links.len() as f64);
            let first = self.centres[item] - step * (links.len() as f64 - 1.0) / 2.0;
            for (place, (_, number)) in links.iter().enumerate() {
                ports[*number] = first + step * place as f64;
            }
        }
        ports
    }

    fn route(&self, number: usize, start: f64, end: f64) -> Route {
        let link = &self.links[number];
        let lanes = &self.layers.lanes[number];
        let box_bottom = self.corner(link.from).y + self.sizes[link.from].height;
        let mut line = Line::new(start, box_bottom);
        line.straight_to(self.band(link.from).1);
        if self.layers.leads_back[number] {
            for (place, lane) in lanes.iter().rev().enumerate() {
                let (x, (top, bottom)) = (self.centres[*lane], self.band(*lane));
                if place == 0 {
                    line.turn_to(x, TURN);
                } else {
                    line.bend_to(x, bottom);
                }
                line.straight_to(top);
            }
            line.straight_to(self.band(link.to).0 - RUN_IN);
            line.turn_to(end, -TURN);
        } else {
            for lane in lanes {
                let (x, (top, bottom)) = (self.centres[*lane], self.band(*lane));
                line.bend_to(x, top);
                line.straight_to(bottom);
            }
            line.bend_to(end, self.band(link.to).0 - RUN_IN);
        }
        line.straight_to(self.corner(link.to).y);
        let shows = |lane: &&ItemId| matches!(self.layers.items[**lane], Item::Lane { has_label: true, .. });
        let middle = |lane: &ItemId| {
            let (top, bottom) = self.band(*lane);
            Point { x: self.centres[*lane], y: f64::midpoint(top, bottom) }
        };
        Route { start: line.start, curves: line.curves, label: lanes.iter().find(shows).map(middle) }
    }
}

/// A line that is drawn piece by piece, always up or down where a piece ends.
struct Line {
    start: Point,
    at: Point,
    curves: Vec<[Point; 3]>,
}

impl Line {
    fn new(x: f64, y: f64) -> Self {
        let start = Point { x, y };
        Self { start, at: start, curves: Vec::new() }
    }

    fn curve(&mut self, first: Point, second: Point, end: Point) {
        self.curves.push([first, second, end]);
        self.at = end;
    }

    fn straight_to(&mut self, y: f64) {
        if (y - self.at.y).abs() > 0.01 {
            let end = Point { y, ..self.at };
            self.curve(self.at, end, end);
        }
    }

    /// From one layer to the next.
    fn bend_to(&mut self, x: f64, y: f64) {
        let (half, end) = (f64::midpoint(self.at.y, y), Point { x, y });
        self.curve(Point { x: self.at.x, y: half }, Point { x, y: half }, end);
    }

    /// Round, to the same height.
    fn turn_to(&mut self, x: f64, depth: f64) {
        let (from, end) = (self.at, Point { x, y: self.at.y });
        self.curve(Point { x: from.x, y: from.y + depth }, Point { x, y: end.y + depth }, end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_overlaps() {
        let sizes = vec![Size { width: 100.0, height: 40.0 }; 6];
        let links = [(0, 1), (0, 2), (0, 3), (1, 4), (2, 4), (3, 4), (4, 0), (4, 5), (0, 5), (5, 5)];
        let labels: Vec<_> =
            (0..links.len()).map(|number| (number % 3 == 0).then_some(Size { width: 60.0, height: 20.0 })).collect();
        let places = places(&sizes, &links, &labels);
        let mut taken: Vec<(Point, Size)> = places.boxes.iter().copied().zip(sizes).collect();
        for (route, label) in places.routes.iter().zip(&labels) {
            assert_eq!(route.label.is_some(), label.is_some());
            taken.extend(route.label.zip(*label).map(|(middle, size)| {
                (Point { x: middle.x - size.width / 2.0, y: middle.y - size.height / 2.0 }, size)
            }));
        }
        for (number, (one, size)) in taken.iter().enumerate() {
            assert!(one.x >= 0.0 && one.y >= 0.0);
            assert!(one.x + size.width <= places.size.width && one.y + size.height <= places.size.height);
            for (other, other_size) in &taken[..number] {
                let apart_x = one.x >= other.x + other_size.width || other.x >= one.x + size.width;
                let apart_y = one.y >= other.y + other_size.height || other.y >= one.y + size.height;
                assert!(apart_x || apart_y, "{one:?} {other:?}");
            }
        }
        let end = places.routes[0].curves.last().unwrap()[2];
        assert!((end.y - places.boxes[1].y).abs() < 0.01, "an arrow ends at its box");
    }
}
