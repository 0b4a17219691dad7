//! Places on a page, in points (1/72 inch) from the top left corner of the page as it is shown, rotation applied.

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Size {
    pub width: f32,
    pub height: f32,
}

/// `x0 <= x1`, `y0 <= y1`; y grows downwards. Written as `[x0, y0, x1, y1]`.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(from = "[f32; 4]", into = "[f32; 4]")]
pub struct Rect {
    pub x0: f32,
    pub y0: f32,
    pub x1: f32,
    pub y1: f32,
}

impl From<[f32; 4]> for Rect {
    fn from([x0, y0, x1, y1]: [f32; 4]) -> Self {
        Self::new(x0, y0, x1, y1)
    }
}

impl From<Rect> for [f32; 4] {
    fn from(rect: Rect) -> Self {
        [rect.x0, rect.y0, rect.x1, rect.y1]
    }
}

impl Rect {
    /// The corners may come in any order.
    pub fn new(x0: f32, y0: f32, x1: f32, y1: f32) -> Self {
        Self { x0: x0.min(x1), y0: y0.min(y1), x1: x0.max(x1), y1: y0.max(y1) }
    }

    pub fn width(&self) -> f32 {
        self.x1 - self.x0
    }

    pub fn height(&self) -> f32 {
        self.y1 - self.y0
    }

    pub fn area(&self) -> f32 {
        self.width() * self.height()
    }

    pub fn center(&self) -> (f32, f32) {
        (f32::midpoint(self.x0, self.x1), f32::midpoint(self.y0, self.y1))
    }

    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        Self {
            x0: self.x0.min(other.x0),
            y0: self.y0.min(other.y0),
            x1: self.x1.max(other.x1),
            y1: self.y1.max(other.y1),
        }
    }

    /// What both cover; None if they do not overlap.
    pub fn intersection(&self, other: &Self) -> Option<Self> {
        let both = Self {
            x0: self.x0.max(other.x0),
            y0: self.y0.max(other.y0),
            x1: self.x1.min(other.x1),
            y1: self.y1.min(other.y1),
        };
        (both.x0 < both.x1 && both.y0 < both.y1).then_some(both)
    }

    pub fn contains(&self, (x, y): (f32, f32)) -> bool {
        x >= self.x0 && x <= self.x1 && y >= self.y0 && y <= self.y1
    }
}
