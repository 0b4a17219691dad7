//! Pages as the text of one direction sees them: turned so that it runs from left to right, and with their corner at zero
//! again, for tables are looked for within a page.

use super::words::turn;
use crate::model::{Rect, Size};

/// Between the page as it is shown and the page as text of a direction sees it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Turned {
    angle: i16,
    /// Where the corner of the page comes to lie by turning it.
    shift: (f32, f32),
    pub(super) size: Size,
}

impl Turned {
    /// None for slanted text: lines of tables go along the page.
    pub(super) fn new(angle: i16, size: Size) -> Option<Self> {
        let Size { width, height } = size;
        let (shift, size) = match angle {
            0 => ((0.0, 0.0), size),
            90 => ((0.0, width), Size { width: height, height: width }),
            180 => ((width, height), size),
            -90 => ((height, 0.0), Size { width: height, height: width }),
            _ => return None,
        };
        Some(Self { angle, shift, size })
    }

    /// From the page to the turned page.
    pub(super) fn rect(&self, rect: Rect) -> Rect {
        if self.angle == 0 {
            return rect;
        }
        let corner = |x: f32, y: f32| {
            let (x, y) = turn((x, y), self.angle);
            (x + self.shift.0, y + self.shift.1)
        };
        let ((x0, y0), (x1, y1)) = (corner(rect.x0, rect.y0), corner(rect.x1, rect.y1));
        Rect::new(x0, y0, x1, y1)
    }

    /// From the turned page to where lines of the text are.
    pub(super) fn in_frame(&self, rect: Rect) -> Rect {
        let (x, y) = self.shift;
        Rect { x0: rect.x0 - x, y0: rect.y0 - y, x1: rect.x1 - x, y1: rect.y1 - y }
    }

    /// From the turned page back to the page.
    pub(super) fn back(&self, rect: Rect) -> Rect {
        let back = if self.angle == 180 { 180 } else { -self.angle };
        let Rect { x0, y0, x1, y1 } = self.in_frame(rect);
        let ((x0, y0), (x1, y1)) = (turn((x0, y0), back), turn((x1, y1), back));
        Rect::new(x0, y0, x1, y1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_turned_lies_on_the_page_and_comes_back() {
        let (size, rect) = (Size { width: 600.0, height: 800.0 }, Rect::new(10.0, 20.0, 110.0, 50.0));
        for angle in [0, 90, 180, -90] {
            let turned = Turned::new(angle, size).unwrap();
            let there = turned.rect(rect);
            assert!(there.x0 >= 0.0 && there.x1 <= turned.size.width, "{angle}: {there:?}");
            assert!(there.y0 >= 0.0 && there.y1 <= turned.size.height, "{angle}: {there:?}");
            assert_eq!(turned.back(there), rect, "{angle}");
        }
        // Text that runs down the page has its beginning at the left.
        assert_eq!(Turned::new(90, size).unwrap().rect(rect), Rect::new(20.0, 490.0, 50.0, 590.0));
        assert!(Turned::new(45, size).is_none());
    }
}
