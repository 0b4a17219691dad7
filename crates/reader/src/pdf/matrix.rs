//! The six numbers with which a PDF places things.

/// Maps (x, y) to (ax + cy + e, bx + dy + f).
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Matrix {
    pub(super) a: f64,
    pub(super) b: f64,
    pub(super) c: f64,
    pub(super) d: f64,
    pub(super) e: f64,
    pub(super) f: f64,
}

impl Matrix {
    pub(super) const IDENTITY: Self = Self { a: 1.0, b: 0.0, c: 0.0, d: 1.0, e: 0.0, f: 0.0 };

    pub(super) fn new(numbers: [f64; 6]) -> Self {
        Self { a: numbers[0], b: numbers[1], c: numbers[2], d: numbers[3], e: numbers[4], f: numbers[5] }
    }

    pub(super) fn translation(x: f64, y: f64) -> Self {
        Self { e: x, f: y, ..Self::IDENTITY }
    }

    /// First this matrix, then the other.
    pub(super) fn then(&self, other: &Self) -> Self {
        Self {
            a: self.a * other.a + self.b * other.c,
            b: self.a * other.b + self.b * other.d,
            c: self.c * other.a + self.d * other.c,
            d: self.c * other.b + self.d * other.d,
            e: self.e * other.a + self.f * other.c + other.e,
            f: self.e * other.b + self.f * other.d + other.f,
        }
    }

    pub(super) fn apply(&self, x: f64, y: f64) -> (f64, f64) {
        (self.a * x + self.c * y + self.e, self.b * x + self.d * y + self.f)
    }

    /// By how much lengths grow, on the whole.
    pub(super) fn scale(&self) -> f64 {
        (self.a * self.d - self.b * self.c).abs().sqrt()
    }

    /// The smallest upright box around a box that was mapped: x0, y0, x1, y1.
    pub(super) fn bounds(&self, [x0, y0, x1, y1]: [f64; 4]) -> [f64; 4] {
        let corners = [self.apply(x0, y0), self.apply(x1, y0), self.apply(x0, y1), self.apply(x1, y1)];
        corners.iter().fold([f64::MAX, f64::MAX, f64::MIN, f64::MIN], |bounds, (x, y)| {
            [bounds[0].min(*x), bounds[1].min(*y), bounds[2].max(*x), bounds[3].max(*y)]
        })
    }

    pub(super) fn is_finite(&self) -> bool {
        [self.a, self.b, self.c, self.d, self.e, self.f].iter().all(|number| number.is_finite())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_matrix_is_applied_first() {
        let moved = Matrix::translation(10.0, 0.0);
        let doubled = Matrix::new([2.0, 0.0, 0.0, 2.0, 0.0, 0.0]);
        assert_eq!(moved.then(&doubled).apply(1.0, 1.0), (22.0, 2.0));
        assert_eq!(doubled.then(&moved).apply(1.0, 1.0), (12.0, 2.0));
    }

    #[test]
    fn bounds_are_upright_even_if_the_matrix_flips() {
        let flipped = Matrix::new([1.0, 0.0, 0.0, -1.0, 0.0, 100.0]);
        let bounds = flipped.bounds([10.0, 20.0, 30.0, 40.0]);
        let expected = [10.0, 60.0, 30.0, 80.0];
        assert!(bounds.iter().zip(expected).all(|(is, expected)| (is - expected).abs() < 1e-9), "{bounds:?}");
    }
}
