//! Finds the straight lines and boxes in what a page draws. Curves are only counted.

use super::{matrix::Matrix, state::State};
use crate::{
    layout::{Fill, PageContent, Rule},
    model::Rect,
};

/// A filled box that is thinner than this is a line.
const THIN: f64 = 3.0;
/// Lines may lean by this much.
const LEAN: f64 = 0.5;
/// More lines than this make no table, but would cost time.
const MOST_LINES: usize = 50_000;
/// A page with more shapes than this is a drawing, whatever the others are.
const MOST_DRAWINGS: usize = 5_000;
/// Smaller shapes are signs.
const LETTER: f64 = 8.0;

/// The path under construction, in the space of the page.
#[derive(Debug, Default)]
pub(super) struct Path {
    points: Vec<(f64, f64)>,
    /// Where each part begins in `points`, and whether it was closed.
    parts: Vec<(usize, bool)>,
    curved: bool,
}

impl Path {
    pub(super) fn clear(&mut self) {
        self.points.clear();
        self.parts.clear();
        self.curved = false;
    }

    pub(super) fn move_to(&mut self, ctm: &Matrix, x: f64, y: f64) {
        self.parts.push((self.points.len(), false));
        self.points.push(ctm.apply(x, y));
    }

    pub(super) fn line_to(&mut self, ctm: &Matrix, x: f64, y: f64) {
        if self.parts.is_empty() {
            self.move_to(ctm, x, y);
        } else {
            self.points.push(ctm.apply(x, y));
        }
    }

    pub(super) fn curve_to(&mut self, ctm: &Matrix, x: f64, y: f64) {
        self.curved = true;
        self.line_to(ctm, x, y);
    }

    pub(super) fn rectangle(&mut self, ctm: &Matrix, [x, y, width, height]: [f64; 4]) {
        self.move_to(ctm, x, y);
        self.line_to(ctm, x + width, y);
        self.line_to(ctm, x + width, y + height);
        self.line_to(ctm, x, y + height);
        self.close();
    }

    pub(super) fn close(&mut self) {
        if let Some((_, closed)) = self.parts.last_mut() {
            *closed = true;
        }
    }

    fn bounds(points: &[(f64, f64)]) -> [f64; 4] {
        points.iter().fold([f64::MAX, f64::MAX, f64::MIN, f64::MIN], |bounds, (x, y)| {
            [bounds[0].min(*x), bounds[1].min(*y), bounds[2].max(*x), bounds[3].max(*y)]
        })
    }

    /// Narrows a clip to the box around the path.
    pub(super) fn clip(&self, clip: [f64; 4]) -> [f64; 4] {
        if self.points.is_empty() {
            return clip;
        }
        intersection(clip, Self::bounds(&self.points))
    }

    fn each_part(&self) -> impl Iterator<Item = (&[(f64, f64)], bool)> {
        let ends = self.parts.iter().skip(1).map(|(start, _)| *start).chain([self.points.len()]);
        self.parts.iter().zip(ends).filter_map(|((start, closed), end)| Some((self.points.get(*start..end)?, *closed)))
    }

    pub(super) fn fill(&self, state: &State, content: &mut PageContent) {
        if self.curved || content.rules.len() + content.fills.len() > MOST_LINES {
            shape(&self.points, state, content);
            return;
        }
        for (points, _) in self.each_part() {
            if !is_box(points) {
                shape(points, state, content);
                continue;
            }
            let bounds = intersection(state.clip, Self::bounds(points));
            let [x0, y0, x1, y1] = bounds;
            let (width, height) = (x1 - x0, y1 - y0);
            if width < 0.0 || height < 0.0 || !(width + height).is_finite() {
                continue;
            }
            let colour = state.fill.rgb;
            if height <= THIN && width > height {
                let y = f64::midpoint(y0, y1);
                content.rules.push(rule((x0, y), (x1, y), height, colour));
            } else if width <= THIN && height > width {
                let x = f64::midpoint(x0, x1);
                content.rules.push(rule((x, y0), (x, y1), width, colour));
            } else if width > THIN && height > THIN {
                content.fills.push(Fill { bbox: rect(bounds), colour });
            }
        }
    }

    pub(super) fn stroke(&self, state: &State, content: &mut PageContent) {
        if self.curved || content.rules.len() > MOST_LINES {
            shape(&self.points, state, content);
            return;
        }
        let thickness = state.line_width * state.ctm.scale();
        for (points, closed) in self.each_part() {
            let closing = points.last().zip(points.first()).filter(|_| closed);
            let edges = points.windows(2).filter_map(|edge| Some((edge.first()?, edge.last()?)));
            for ((x0, y0), (x1, y1)) in edges.chain(closing) {
                let level = (y0 - y1).abs() <= LEAN;
                let upright = (x0 - x1).abs() <= LEAN;
                if level == upright {
                    if !level {
                        shape(&[(*x0, *y0), (*x1, *y1)], state, content);
                    }
                    continue;
                }
                let [cx0, cy0, cx1, cy1] = state.clip;
                let line = [
                    x0.min(*x1).max(cx0),
                    y0.min(*y1).max(cy0 - 1.0),
                    x0.max(*x1).min(cx1),
                    y0.max(*y1).min(cy1 + 1.0),
                ];
                if level && line[2] > line[0] {
                    let y = f64::midpoint(*y0, *y1);
                    if y >= cy0 - 1.0 && y <= cy1 + 1.0 {
                        content.rules.push(rule((line[0], y), (line[2], y), thickness, state.stroke.rgb));
                    }
                } else if upright && line[3] > line[1] {
                    let x = f64::midpoint(*x0, *x1);
                    if x >= cx0 - 1.0 && x <= cx1 + 1.0 {
                        content.rules.push(rule((x, line[1]), (x, line[3]), thickness, state.stroke.rgb));
                    }
                }
            }
        }
    }
}

/// Counts a curved or slanted shape, and keeps its place if it can be seen and is larger than a letter.
fn shape(points: &[(f64, f64)], state: &State, content: &mut PageContent) {
    content.shapes += 1;
    let [x0, y0, x1, y1] = intersection(state.clip, Path::bounds(points));
    if content.drawings.len() < MOST_DRAWINGS && x1 >= x0 && y1 >= y0 && (x1 - x0).max(y1 - y0) >= LETTER {
        content.drawings.push(rect([x0, y0, x1, y1]));
    }
}

/// Four corners along the axes, with or without the first one again.
fn is_box(points: &[(f64, f64)]) -> bool {
    let corners = match points {
        [first @ .., last] if first.len() == 4 && first.first().is_some_and(|start| near(*start, *last)) => first,
        _ => points,
    };
    let [a, b, c, d] = corners else { return false };
    let along = |p: &(f64, f64), q: &(f64, f64)| ((p.0 - q.0).abs() <= LEAN, (p.1 - q.1).abs() <= LEAN);
    let sides = [along(a, b), along(b, c), along(c, d), along(d, a)];
    sides.iter().all(|(upright, level)| *upright || *level)
}

fn near(one: (f64, f64), other: (f64, f64)) -> bool {
    (one.0 - other.0).abs() <= LEAN && (one.1 - other.1).abs() <= LEAN
}

pub(super) fn intersection(one: [f64; 4], other: [f64; 4]) -> [f64; 4] {
    [one[0].max(other[0]), one[1].max(other[1]), one[2].min(other[2]), one[3].min(other[3])]
}

#[expect(clippy::cast_possible_truncation, reason = "points on a page need no more than f32")]
pub(super) fn rect([x0, y0, x1, y1]: [f64; 4]) -> Rect {
    Rect::new(x0 as f32, y0 as f32, x1 as f32, y1 as f32)
}

#[expect(clippy::cast_possible_truncation, reason = "points on a page need no more than f32")]
fn rule(from: (f64, f64), to: (f64, f64), thickness: f64, colour: u32) -> Rule {
    Rule { from: (from.0 as f32, from.1 as f32), to: (to.0 as f32, to.1 as f32), thickness: thickness as f32, colour }
}
