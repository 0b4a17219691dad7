//! Lines that are joined by where they meet, and which of these groups are closed grids.

use super::rules::{Line, Lines, SNAP};

/// How far the end of a line may be from another that it meets in a closed grid. The next table may begin a little further
/// away.
const TOUCH: f32 = 3.2;
/// More lines than this are a drawing, and not looked at cell by cell.
const MOST_CELLS: usize = 10_000;

/// Which lines of a page are joined: those across come first, then those down.
#[derive(Debug)]
pub(super) struct Groups {
    parent: Vec<usize>,
}

/// The first line of a group, and its lines across and down.
type Group = (usize, Vec<Line>, Vec<Line>);

impl Groups {
    /// Joins lines that are no further from each other than `slack` where they meet. Lines of different groups in `apart`
    /// are not joined.
    pub(super) fn join(lines: &Lines, slack: f32, apart: &[Option<usize>]) -> Self {
        let (across, down) = (&lines.across, &lines.down);
        let mut groups = Self { parent: (0..across.len() + down.len()).collect() };
        let group_of = |at: usize| apart.get(at).copied().flatten();
        for (v, line) in down.iter().enumerate() {
            let start = across.partition_point(|other| other.at < line.from - slack);
            let near = across.iter().enumerate().skip(start).take_while(|(_, other)| other.at <= line.to + slack);
            for (h, other) in near {
                let meet = line.at >= other.from - slack && line.at <= other.to + slack;
                if meet && group_of(h) == group_of(across.len() + v) {
                    let (a, b) = (groups.root(h), groups.root(across.len() + v));
                    groups.parent[a.max(b)] = a.min(b);
                }
            }
        }
        groups
    }

    /// For each line the closed grid that it belongs to, if it does.
    pub(super) fn closed(lines: &Lines) -> Vec<Option<usize>> {
        let mut groups = Self::join(lines, TOUCH, &[]);
        let found = groups.lines(lines);
        let closed: Vec<usize> =
            found.iter().filter(|(_, across, down)| is_closed(across, down)).map(|(root, ..)| *root).collect();
        (0..groups.parent.len()).map(|at| Some(groups.root(at)).filter(|root| closed.contains(root))).collect()
    }

    /// The first of the lines that a line is joined with.
    pub(super) fn root(&mut self, mut at: usize) -> usize {
        while self.parent[at] != at {
            self.parent[at] = self.parent[self.parent[at]];
            at = self.parent[at];
        }
        at
    }

    pub(super) fn lines(&mut self, lines: &Lines) -> Vec<Group> {
        let (across, down) = (&lines.across, &lines.down);
        let mut found: Vec<Group> = Vec::new();
        for at in 0..self.parent.len() {
            let own = self.root(at);
            let place = found.iter().position(|(root, ..)| *root == own).unwrap_or_else(|| {
                found.push((own, Vec::new(), Vec::new()));
                found.len() - 1
            });
            match across.get(at) {
                Some(line) => found[place].1.push(*line),
                None => found[place].2.extend(down.get(at - across.len())),
            }
        }
        found
    }
}

/// Whether lines enclose at least two by two cells, and four in five of the cells on each of their sides.
fn is_closed(across: &[Line], down: &[Line]) -> bool {
    let (ys, xs) = (places(across), places(down));
    let cells = ys.len().saturating_sub(1) * xs.len().saturating_sub(1);
    if ys.len() < 3 || xs.len() < 3 || cells > MOST_CELLS {
        return false;
    }
    let drawn = |lines: &[Line], at: f32, from: f32, to: f32| {
        let same = lines.iter().filter(|line| (line.at - at).abs() <= 2.0 * SNAP);
        same.map(|line| line.covers(from, to)).sum::<f32>() >= 0.9
    };
    let mut closed = 0;
    for y in ys.windows(2) {
        for x in xs.windows(2) {
            let enclosed = drawn(across, y[0], x[0], x[1])
                && drawn(across, y[1], x[0], x[1])
                && drawn(down, x[0], y[0], y[1])
                && drawn(down, x[1], y[0], y[1]);
            closed += usize::from(enclosed);
        }
    }
    closed >= 4 && closed * 5 >= cells * 4
}

/// Where lines stand, those apart that a person sees apart.
fn places(lines: &[Line]) -> Vec<f32> {
    let mut places: Vec<f32> = lines.iter().map(|line| line.at).collect();
    places.sort_by(f32::total_cmp);
    places.dedup_by(|next, last| *next - *last <= 2.0 * SNAP);
    places
}
