//! Text recognition: from a line in a picture to its words.
//!
//! The network gives, for each frame (8 pixels of a line that is 48 high), how likely each sign is there. Signs are put
//! together as CTC wants it: blanks fall away, and a sign that goes on over several frames is one sign.

use super::{
    frame::Frame,
    ink::{Area, Ink},
    network::{Network, Tensor},
};
use crate::model::PageImage;

/// The height of a line for the network, in pixels.
const HEIGHT: usize = 48;
/// Narrower lines are filled up, and wider ones compressed.
const NARROWEST: usize = 64;
const WIDEST: usize = 3200;
/// The model is trained on text without spaces and seldom sure of one: where a space reaches this between two signs, it is
/// one, though others are more likely.
const SPACE: f32 = 0.1;

/// A word of a line. Its area is in shares of the line's length and height.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct LineWord {
    pub(super) text: String,
    pub(super) confidence: f32,
    pub(super) area: Area,
}

/// A sign, with the frame in which it is likeliest.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Sign {
    class: usize,
    frame: usize,
    confidence: f32,
}

/// The words of a line, from left to right.
pub(super) fn words(
    picture: &PageImage,
    line: &Frame,
    network: &dyn Network,
    dictionary: &Dictionary,
) -> Result<Vec<LineWord>, String> {
    let width = (HEIGHT as f32 * line.length / line.height.max(1.0)).ceil().clamp(8.0, WIDEST as f32) as usize;
    let input = line.sampled(picture, width, HEIGHT, NARROWEST);
    let padded = width.max(NARROWEST);
    let ink = Ink::find(&input, width);
    let output = network.run(input)?;
    let frames = frames(&output, dictionary)?;
    // In pixels of the network's input.
    let frame_width = padded as f32 / frames.len().max(1) as f32;
    let words = dictionary.words(&frames);
    let middle = |sign: &Sign| (sign.frame as f32 + 0.5) * frame_width;
    let mut found = Vec::with_capacity(words.len());
    for (index, signs) in words.iter().enumerate() {
        let (Some(first), Some(last)) = (signs.first(), signs.last()) else { continue };
        let before = index.checked_sub(1).and_then(|index| words.get(index)?.last());
        let after = words.get(index + 1).and_then(|signs| signs.first());
        let from = before.map_or(0.0, |sign| f32::midpoint(middle(sign), middle(first)));
        let to = after.map_or(width as f32, |sign| f32::midpoint(middle(last), middle(sign)));
        found.push(LineWord {
            text: dictionary.text(signs),
            confidence: signs.iter().map(|sign| sign.confidence).sum::<f32>() / signs.len() as f32,
            area: ink.area_between(from, to),
        });
    }
    Ok(found)
}

/// The probabilities of all classes, frame by frame.
fn frames<'o>(output: &'o Tensor, dictionary: &Dictionary) -> Result<Vec<&'o [f32]>, String> {
    match output.shape[..] {
        [1, count, classes] if classes == dictionary.classes() && output.values.len() == count * classes => {
            Ok(output.values.chunks_exact(classes).collect())
        }
        _ => Err(format!("the recognition gives a tensor of {:?}, not of {}", output.shape, dictionary.classes())),
    }
}

/// The signs that a model knows. Class 0 is the blank, and the last one the space.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Dictionary {
    signs: Vec<String>,
}

impl Dictionary {
    /// From what the model's file carries: one sign a line.
    pub(super) fn parse(lines: &str) -> Self {
        Self { signs: lines.split('\n').map(|sign| sign.trim_end_matches('\r').to_owned()).collect() }
    }

    fn classes(&self) -> usize {
        self.signs.len() + 2
    }

    fn space(&self) -> usize {
        self.signs.len() + 1
    }

    /// The signs of each word.
    fn words(&self, frames: &[&[f32]]) -> Vec<Vec<Sign>> {
        let space = self.space();
        let mut words: Vec<Vec<Sign>> = Vec::new();
        let mut open: Vec<Sign> = Vec::new();
        for sign in signs(frames) {
            if sign.class == space {
                words.push(std::mem::take(&mut open));
                continue;
            }
            if let Some(last) = open.last() {
                let between = frames.get(last.frame..=sign.frame).unwrap_or_default();
                if between.iter().any(|frame| frame.get(space).is_some_and(|likely| *likely >= SPACE)) {
                    words.push(std::mem::take(&mut open));
                }
            }
            open.push(sign);
        }
        words.push(open);
        words.retain(|word| !word.is_empty());
        words
    }

    /// A word's text. Forms that are as wide as ideographs are those that other scripts have: the model takes a colon
    /// for a wide one now and then.
    fn text(&self, signs: &[Sign]) -> String {
        let text = |sign: &Sign| sign.class.checked_sub(1).and_then(|at| self.signs.get(at)).map_or("", String::as_str);
        let text: String = signs.iter().map(text).collect();
        let wide = |letter: char| matches!(letter, '\u{2E80}'..='\u{9FFF}' | '\u{AC00}'..='\u{D7AF}');
        if text.contains(wide) {
            return text;
        }
        let narrow = |letter: char| match letter {
            '\u{FF01}'..='\u{FF5E}' => char::from_u32(u32::from(letter) - 0xFEE0).unwrap_or(letter),
            _ => letter,
        };
        text.chars().map(narrow).collect()
    }
}

/// The signs of a line: the likeliest of each frame, without blanks and repetitions.
fn signs(frames: &[&[f32]]) -> Vec<Sign> {
    let mut found: Vec<Sign> = Vec::new();
    let mut before = 0;
    for (frame, values) in frames.iter().enumerate() {
        let (class, confidence) = likeliest(values);
        if class != 0 {
            match found.last_mut().filter(|_| class == before) {
                Some(sign) if confidence > sign.confidence => (sign.frame, sign.confidence) = (frame, confidence),
                Some(_) => {}
                None => found.push(Sign { class, frame, confidence }),
            }
        }
        before = class;
    }
    found
}

fn likeliest(values: &[f32]) -> (usize, f32) {
    values.iter().copied().enumerate().fold((0, f32::MIN), |best, one| if one.1 > best.1 { one } else { best })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Frames over the blank, "a", "b", a wide colon and the space.
    fn dictionary() -> Dictionary {
        Dictionary::parse("a\nb\n：")
    }

    fn decoded(frames: &[[f32; 5]]) -> Vec<(String, f32)> {
        let frames: Vec<&[f32]> = frames.iter().map(<[f32; 5]>::as_slice).collect();
        let words = dictionary().words(&frames);
        let confidence = |signs: &[Sign]| signs.iter().map(|sign| sign.confidence).sum::<f32>() / signs.len() as f32;
        words.iter().map(|signs| (dictionary().text(signs), confidence(signs))).collect()
    }

    const BLANK: [f32; 5] = [0.99, 0.0, 0.0, 0.0, 0.01];
    const A: [f32; 5] = [0.1, 0.8, 0.1, 0.0, 0.0];
    const B: [f32; 5] = [0.1, 0.1, 0.8, 0.0, 0.0];

    #[test]
    fn repetitions_are_one_sign_unless_a_blank_parts_them() {
        let surer = [0.0, 0.9, 0.1, 0.0, 0.0];
        let words = decoded(&[BLANK, A, surer, A, BLANK, A, B, B]);
        assert_eq!(words.len(), 1);
        assert_eq!(words[0].0, "aab");
        assert!((words[0].1 - (0.9 + 0.8 + 0.8) / 3.0).abs() < 1e-6);
    }

    #[test]
    fn a_space_that_is_a_little_likely_parts_words() {
        let space = [0.2, 0.0, 0.0, 0.0, 0.8];
        let perhaps = [0.85, 0.0, 0.0, 0.0, 0.15];
        let text = |frames: &[[f32; 5]]| decoded(frames).into_iter().map(|(text, _)| text).collect::<Vec<_>>();
        assert_eq!(text(&[A, space, B]), ["a", "b"]);
        assert_eq!(text(&[A, perhaps, B, BLANK, A]), ["a", "ba"]);
        assert_eq!(text(&[space, A, space]), ["a"]);
        assert_eq!(text(&[BLANK, space]), Vec::<String>::new());
    }

    #[test]
    fn wide_forms_become_those_of_other_scripts() {
        let colon = [0.0, 0.0, 0.0, 1.0, 0.0];
        assert_eq!(decoded(&[A, colon])[0].0, "a:");
    }
}
