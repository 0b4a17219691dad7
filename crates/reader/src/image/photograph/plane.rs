//! How a flat page is seen from one side, and how an edge of it bends.

/// How much of an edge must lie on its curve, and how near to it in parts of the paper.
pub(super) const ON_CURVE: f32 = 0.8;
pub(super) const NEAR: f32 = 0.008;

pub(super) type Point = (f32, f32);

/// A curve that begins and ends at 0: `a·x(1-x) + b·x(1-x)(1-2x) + c·x²(1-x)²`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bend(pub(super) [f32; 3]);

impl Bend {
    /// Of the points of an edge that should lie at some height of the unit square; None if they lie on no such curve.
    pub(super) fn through(points: &[Point], to_square: &Homography, height: f32) -> Option<Self> {
        let points: Vec<Point> =
            points.iter().map(|point| to_square.apply(*point)).map(|(x, y)| (x, y - height)).collect();
        if points.len() < 20 {
            return None;
        }
        let bend = Self::fitted(&points);
        // A thumb or a clip at the edge is left out, and the rest looked at once more.
        let near = |bend: &Self, (x, y): &Point, by: f32| (bend.at(*x) - y).abs() < by;
        let kept: Vec<Point> = points.iter().copied().filter(|point| near(&bend, point, 4.0 * NEAR)).collect();
        let bend = Self::fitted(&kept);
        let on = points.iter().filter(|point| near(&bend, point, NEAR)).count();
        (on as f32 >= ON_CURVE * points.len() as f32).then_some(bend)
    }

    fn parts(x: f32) -> [f32; 3] {
        let hump = x * (1.0 - x);
        [hump, hump * (1.0 - 2.0 * x), hump * hump]
    }

    /// Least squares.
    fn fitted(points: &[Point]) -> Self {
        let mut rows = [[0.0_f64; 4]; 3];
        for (x, y) in points {
            let parts = Self::parts(*x);
            for (row, one) in rows.iter_mut().zip(parts) {
                for (sum, other) in row.iter_mut().zip(parts) {
                    *sum += f64::from(one * other);
                }
                row[3] += f64::from(one * y);
            }
        }
        let solved = solve(rows).unwrap_or_default();
        Self(solved.map(|value| value as f32))
    }

    pub(super) fn at(&self, x: f32) -> f32 {
        Self::parts(x.clamp(0.0, 1.0)).iter().zip(self.0).map(|(part, weight)| part * weight).sum()
    }

    pub(super) fn most(&self) -> f32 {
        (0..=20).map(|at| self.at(at as f32 / 20.0).abs()).fold(0.0, f32::max)
    }
}

/// Gauss with the largest element as pivot.
fn solve<const N: usize, const M: usize>(mut rows: [[f64; M]; N]) -> Option<[f64; N]> {
    for at in 0..N {
        let pivot = (at..N).max_by(|one, other| rows[*one][at].abs().total_cmp(&rows[*other][at].abs()))?;
        rows.swap(at, pivot);
        if rows[at][at].abs() < 1e-12 {
            return None;
        }
        let row = rows[at];
        for other in (0..N).filter(|other| *other != at) {
            let by = rows[other][at] / row[at];
            for (value, own) in rows[other].iter_mut().zip(row) {
                *value -= by * own;
            }
        }
    }
    let mut solved = [0.0; N];
    for (at, value) in solved.iter_mut().enumerate() {
        *value = rows[at][M - 1] / rows[at][at];
    }
    Some(solved)
}

/// How a plane is seen from another one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Homography([f32; 9]);

impl Homography {
    /// From the unit square to four corners, from the top left one clockwise.
    pub(super) fn of_square(corners: &[Point; 4]) -> Option<Self> {
        let square = [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)];
        let mut rows = [[0.0_f64; 9]; 8];
        for (at, ((u, v), (x, y))) in square.iter().zip(corners).enumerate() {
            let (x, y) = (f64::from(*x), f64::from(*y));
            rows[2 * at] = [*u, *v, 1.0, 0.0, 0.0, 0.0, -u * x, -v * x, x];
            rows[2 * at + 1] = [0.0, 0.0, 0.0, *u, *v, 1.0, -u * y, -v * y, y];
        }
        let solved = solve(rows)?;
        let mut matrix = [1.0; 9];
        for (value, solved) in matrix.iter_mut().zip(solved) {
            *value = solved as f32;
        }
        Some(Self(matrix))
    }

    pub(super) fn apply(&self, (x, y): Point) -> Point {
        let row = |at: usize| self.0[at] * x + self.0[at + 1] * y + self.0[at + 2];
        (row(0) / row(6), row(3) / row(6))
    }

    pub(super) fn inverse(&self) -> Option<Self> {
        // The cofactor at a row and column; those of a matrix, turned over, are its inverse but for a factor.
        let at = |row: usize, column: usize| self.0[row % 3 * 3 + column % 3];
        let cofactor = |row: usize, column: usize| {
            at(row + 1, column + 1) * at(row + 2, column + 2) - at(row + 1, column + 2) * at(row + 2, column + 1)
        };
        let determinant: f32 = (0..3).map(|column| at(0, column) * cofactor(0, column)).sum();
        let mut adjugate = [0.0; 9];
        for (index, value) in adjugate.iter_mut().enumerate() {
            *value = cofactor(index % 3, index / 3);
        }
        (determinant.abs() > 1e-12).then(|| Self(adjugate.map(|value| value / determinant)))
    }
}
