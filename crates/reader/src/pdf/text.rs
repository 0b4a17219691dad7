//! Shows strings: each code becomes a glyph with its place and meaning.

use super::{
    fonts::{Certainty, Code, Font, FontPlace},
    interpreter::{Interpreter, MOST_GLYPHS},
    matrix::Matrix,
    state::State,
};
use crate::{
    layout::{Glyph, GlyphFlags},
    model::Rect,
};
use std::{rc::Rc, sync::Arc};

/// What is the same for all glyphs of one string.
struct Run {
    font: u16,
    flags: GlyphFlags,
    angle: i16,
    size: f64,
    colour: u32,
    /// One unit of text space along the line and up from it, on the page.
    along: (f64, f64),
    up: (f64, f64),
}

impl Interpreter<'_, '_> {
    /// A number between strings moves the text back by thousandths of the font size.
    pub(super) fn adjust(&mut self, thousandths: f64, state: &State) {
        let font = state.text.font.and_then(|font| self.fonts.get(usize::from(font)));
        let vertical = font.is_some_and(|font| font.font.is_vertical());
        let distance = -thousandths / 1000.0 * state.text.size;
        if vertical {
            self.move_text(0.0, distance);
        } else {
            self.move_text(distance * state.text.horizontal_scale, 0.0);
        }
    }

    fn move_text(&mut self, x: f64, y: f64) {
        self.text_matrix = Matrix::translation(x, y).then(&self.text_matrix);
    }

    pub(super) fn show(&mut self, bytes: &[u8], state: &State) {
        let text = &state.text;
        let Some(index) = text.font else { return };
        let Some(page_font) = self.fonts.get(usize::from(index)) else { return };
        let font = Arc::clone(&page_font.font);
        let resources = Rc::clone(&page_font.resources);
        let name = Rc::clone(&page_font.name);
        let place = FontPlace { name: &name, resources: &resources, xref: self.xref };

        let whole = self.text_matrix.then(&state.ctm);
        let along = (whole.a * text.horizontal_scale, whole.b * text.horizontal_scale);
        let up = if font.flipped { (-whole.c, -whole.d) } else { (whole.c, whole.d) };
        let height = up.0.hypot(up.1);
        let sign = if text.size < 0.0 { -1.0 } else { 1.0 };
        let size = (text.size * height * font.em).abs();
        let shown = !self.marks.hides() && size.is_finite() && size > 0.0;
        let vertical = font.is_vertical();
        let direction = if vertical { (-up.0 * sign, -up.1 * sign) } else { (along.0 * sign, along.1 * sign) };
        let run = Run {
            font: index,
            flags: GlyphFlags::default()
                .with(GlyphFlags::INVISIBLE, text.mode == 3 || text.mode == 7)
                .with(GlyphFlags::VERTICAL, vertical)
                .with(GlyphFlags::PAGING, self.marks.is_paging()),
            angle: degrees(direction),
            size,
            colour: if matches!(text.mode, 1 | 5) { state.stroke.rgb } else { state.fill.rgb },
            along,
            up,
        };

        let mut rest = bytes;
        // How far the string has come, in text space: along the line, or down it.
        let mut distance = 0.0;
        while !rest.is_empty() {
            let code = font.next_code(rest);
            rest = rest.get(code.length.max(1)..).unwrap_or_default();
            let width = f64::from(font.width(code));
            let spacing =
                text.character_spacing + if code.length == 1 && code.value == 32 { text.word_spacing } else { 0.0 };
            if let Some(down) = font.vertical(code) {
                if shown {
                    let hang = (f64::from(down.hang.0) * text.size, f64::from(down.hang.1) * text.size);
                    let origin = whole.apply(-hang.0 * text.horizontal_scale, distance + text.rise - hang.1);
                    let advance = (f64::from(down.advance) * text.size * height).abs();
                    self.push_glyph(&run, &font, &place, code, origin, width * text.size, advance);
                }
                distance += f64::from(down.advance) * text.size + spacing;
            } else {
                if shown {
                    let origin = whole.apply(distance * text.horizontal_scale, text.rise);
                    let advance = (width * text.size).abs() * along.0.hypot(along.1);
                    self.push_glyph(&run, &font, &place, code, origin, width * text.size, advance);
                }
                distance += width * text.size + spacing;
            }
        }
        if vertical {
            self.move_text(0.0, distance);
        } else {
            self.move_text(distance * text.horizontal_scale, 0.0);
        }
    }

    #[expect(clippy::too_many_arguments, reason = "the parts of a glyph come from different hands")]
    #[expect(clippy::cast_possible_truncation, reason = "points on a page need no more than f32")]
    fn push_glyph(
        &mut self,
        run: &Run,
        font: &Font,
        place: &FontPlace<'_, '_>,
        code: Code,
        origin: (f64, f64),
        width: f64,
        advance: f64,
    ) {
        let [x0, y0, x1, y1] = self.page;
        let middle = (origin.0 + run.along.0 * width / 2.0, origin.1 + run.along.1 * width / 2.0);
        let on_page = middle.0 >= x0 - 1.0 && middle.0 <= x1 + 1.0 && middle.1 >= y0 - 1.0 && middle.1 <= y1 + run.size;
        if !on_page || self.content.glyphs.len() > MOST_GLYPHS {
            return;
        }
        let start = self.content.text.len();
        let certainty = font.write_text(code, &mut self.content.text, place);
        let mapped = certainty != Certainty::Unknown;
        let blank = if mapped { tidy(&mut self.content.text, start) } else { false };
        if !mapped {
            self.content.text.push('\u{FFFD}');
        }
        let length = self.content.text.len() - start;
        let (Ok(text_start), Ok(text_length)) = (u32::try_from(start), u8::try_from(length)) else {
            self.content.text.truncate(start);
            return;
        };
        let facts = &font.facts;
        let height = run.up.0.hypot(run.up.1).max(f64::MIN_POSITIVE);
        let unit = (run.up.0 / height, run.up.1 / height);
        let (ascent, descent) = (f64::from(facts.ascent) * run.size, f64::from(facts.descent) * run.size);
        let wide = (run.along.0 * width, run.along.1 * width);
        let corners = [
            (origin.0 + unit.0 * ascent, origin.1 + unit.1 * ascent),
            (origin.0 + unit.0 * descent, origin.1 + unit.1 * descent),
        ];
        let bbox = corners.iter().fold([f64::MAX, f64::MAX, f64::MIN, f64::MIN], |bounds, (x, y)| {
            let (far_x, far_y) = (x + wide.0, y + wide.1);
            [
                bounds[0].min(*x).min(far_x),
                bounds[1].min(*y).min(far_y),
                bounds[2].max(*x).max(far_x),
                bounds[3].max(*y).max(far_y),
            ]
        });
        self.content.glyphs.push(Glyph {
            text_start,
            text_length,
            flags: run
                .flags
                .with(GlyphFlags::UNMAPPED, !mapped)
                .with(GlyphFlags::GUESSED, certainty == Certainty::Guessed)
                .with(GlyphFlags::BLANK, blank),
            font: run.font,
            angle: run.angle,
            size: run.size as f32,
            origin: (origin.0 as f32, origin.1 as f32),
            advance: advance as f32,
            bbox: Rect { x0: bbox[0] as f32, y0: bbox[1] as f32, x1: bbox[2] as f32, y1: bbox[3] as f32 },
            colour: run.colour,
        });
    }
}

#[expect(clippy::cast_possible_truncation, reason = "degrees of a turn are few")]
fn degrees((x, y): (f64, f64)) -> i16 {
    if y == 0.0 && x > 0.0 {
        return 0;
    }
    let degrees = y.atan2(x).to_degrees().round() as i16;
    if degrees <= -180 { 180 } else { degrees }
}

/// Takes ligatures apart and controls away in what was appended from `start` on; whether only space is left.
fn tidy(text: &mut String, start: usize) -> bool {
    let Some(added) = text.get(start..) else { return false };
    let mut characters = added.chars();
    if let (Some(character), None) = (characters.next(), characters.next()) {
        if character.is_ascii_graphic() {
            return false;
        }
        let replacement = match character {
            ' ' => return true,
            '\u{FB00}' => "ff",
            '\u{FB01}' => "fi",
            '\u{FB02}' => "fl",
            '\u{FB03}' => "ffi",
            '\u{FB04}' => "ffl",
            '\u{FB05}' | '\u{FB06}' => "st",
            character if character.is_whitespace() || character.is_control() => " ",
            _ => return false,
        };
        text.truncate(start);
        text.push_str(replacement);
        return replacement == " ";
    }
    let tidied = added.chars().filter(|character| !character.is_control()).collect::<String>();
    let blank = tidied.trim().is_empty();
    text.truncate(start);
    text.push_str(if blank { " " } else { &tidied });
    blank
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tidied(text: &str) -> (String, bool) {
        let mut whole = format!("x{text}");
        let blank = tidy(&mut whole, 1);
        (whole.split_off(1), blank)
    }

    #[test]
    fn ligatures_are_letters_and_controls_are_space() {
        assert_eq!(tidied("ﬃ"), ("ffi".to_owned(), false));
        assert_eq!(tidied("\u{A0}"), (" ".to_owned(), true));
        assert_eq!(tidied("\r"), (" ".to_owned(), true));
        assert_eq!(tidied("f\u{1}i"), ("fi".to_owned(), false));
        assert_eq!(tidied("ß"), ("ß".to_owned(), false));
    }

    #[test]
    fn directions_are_whole_degrees() {
        assert_eq!(degrees((1.0, 0.0)), 0);
        assert_eq!(degrees((0.0, 1.0)), 90);
        assert_eq!(degrees((-1.0, -0.0)), 180);
    }
}
