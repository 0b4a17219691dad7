//! The graphics state that a content stream changes as it goes.

use super::matrix::Matrix;

/// Small enough to be copied whenever a stream saves it.
#[derive(Debug, Clone, Copy)]
pub(super) struct State {
    pub(super) ctm: Matrix,
    /// What is shown at most: x0, y0, x1, y1 on the page.
    pub(super) clip: [f64; 4],
    pub(super) fill: Paint,
    pub(super) stroke: Paint,
    pub(super) line_width: f64,
    pub(super) text: TextState,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct TextState {
    /// Into the fonts of the page.
    pub(super) font: Option<u16>,
    pub(super) size: f64,
    pub(super) character_spacing: f64,
    pub(super) word_spacing: f64,
    pub(super) horizontal_scale: f64,
    pub(super) leading: f64,
    pub(super) rise: f64,
    pub(super) mode: i64,
}

impl State {
    pub(super) fn new(ctm: Matrix, clip: [f64; 4]) -> Self {
        Self {
            ctm,
            clip,
            fill: Paint::BLACK,
            stroke: Paint::BLACK,
            line_width: 1.0,
            text: TextState {
                font: None,
                size: 0.0,
                character_spacing: 0.0,
                word_spacing: 0.0,
                horizontal_scale: 1.0,
                leading: 0.0,
                rise: 0.0,
                mode: 0,
            },
        }
    }
}

/// A colour, as near as the layout needs it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Paint {
    pub(super) rgb: u32,
    /// One number is an amount of ink, not of light.
    pub(super) inks: bool,
}

impl Paint {
    pub(super) const BLACK: Self = Self { rgb: 0, inks: false };

    pub(super) fn grey(level: f32) -> Self {
        Self::rgb([level; 3])
    }

    pub(super) fn rgb(levels: [f32; 3]) -> Self {
        let [red, green, blue] = levels.map(|level| byte(level.clamp(0.0, 1.0)));
        Self { rgb: red << 16 | green << 8 | blue, inks: false }
    }

    pub(super) fn cmyk([cyan, magenta, yellow, black]: [f32; 4]) -> Self {
        Self::rgb([cyan, magenta, yellow].map(|ink| (1.0 - ink.clamp(0.0, 1.0)) * (1.0 - black.clamp(0.0, 1.0))))
    }

    /// In the colour space that was set before; only the number of components is known of it.
    #[must_use]
    pub(super) fn with_components(self, components: &[f32]) -> Self {
        let paint = match components {
            [ink] if self.inks => Self::grey(1.0 - ink),
            [level] => Self::grey(*level),
            [red, green, blue] => Self::rgb([*red, *green, *blue]),
            [cyan, magenta, yellow, black] => Self::cmyk([*cyan, *magenta, *yellow, *black]),
            _ => return self,
        };
        Self { inks: self.inks, ..paint }
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the level is between 0 and 1")]
fn byte(level: f32) -> u32 {
    (level * 255.0).round() as u32
}
