//! Where the ink of a word is, so that its box ends where its letters do.

use super::network::Tensor;

/// From 0 to 1, in shares of a line's length and height.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Area {
    pub(super) from: f32,
    pub(super) to: f32,
    pub(super) top: f32,
    pub(super) foot: f32,
}

/// A line of which each pixel is ink or paper.
#[derive(Debug)]
pub(super) struct Ink {
    dark: Vec<bool>,
    width: usize,
    height: usize,
}

/// What differs by this part of the greatest difference from the paper is ink.
const DIFFERS: f32 = 0.45;
/// Ink at an edge that so many empty rows part from the rest is of the line above or below.
const APART: usize = 2;

impl Ink {
    /// Of the first `width` columns of a tensor of colours.
    pub(super) fn find(line: &Tensor, width: usize) -> Self {
        let (height, padded) = match line.shape[..] {
            [_, _, height, padded] => (height, padded),
            _ => (0, 0),
        };
        let (width, plane) = (width.min(padded), height * padded);
        let grey = |x: usize, y: usize| {
            let at = y * padded + x;
            (0..3).map(|channel| line.values.get(channel * plane + at).copied().unwrap_or(1.0)).sum::<f32>() / 3.0
        };
        let values: Vec<f32> = (0..width * height).map(|at| grey(at % width, at / width)).collect();
        let mut sorted = values.clone();
        sorted.sort_by(f32::total_cmp);
        let paper = sorted.get(sorted.len() / 2).copied().unwrap_or(1.0);
        let mut differences: Vec<f32> = values.iter().map(|value| (value - paper).abs()).collect();
        let dark = differences.clone();
        differences.sort_by(f32::total_cmp);
        let greatest = differences.get(differences.len() * 98 / 100).copied().unwrap_or(0.0);
        let dark = dark.into_iter().map(|difference| greatest > 0.1 && difference > greatest * DIFFERS).collect();
        Self { dark, width, height }
    }

    fn is_dark(&self, x: usize, y: usize) -> bool {
        self.dark.get(y * self.width + x).copied().unwrap_or(false)
    }

    /// The area of the ink between two columns; all between them where there is none.
    pub(super) fn area_between(&self, from: f32, to: f32) -> Area {
        let columns = (from.max(0.0) as usize).min(self.width)..(to.max(0.0).ceil() as usize).min(self.width);
        let mut rows: Vec<bool> =
            (0..self.height).map(|y| columns.clone().filter(|x| self.is_dark(*x, y)).count() > 0).collect();
        cut_off(&mut rows);
        rows.reverse();
        cut_off(&mut rows);
        rows.reverse();
        let (width, height) = (self.width.max(1) as f32, self.height.max(1) as f32);
        let whole = Area { from: from / width, to: to / width, top: 0.0, foot: 1.0 };
        let (Some(top), Some(foot)) = (rows.iter().position(|row| *row), rows.iter().rposition(|row| *row)) else {
            return whole;
        };
        let has_ink = |x: &usize| (top..=foot).any(|y| self.is_dark(*x, y));
        let (Some(first), Some(last)) = (columns.clone().find(has_ink), columns.clone().rev().find(has_ink)) else {
            return whole;
        };
        Area {
            from: first as f32 / width,
            to: (last + 1) as f32 / width,
            top: top as f32 / height,
            foot: (foot + 1) as f32 / height,
        }
    }
}

/// Takes out ink at the beginning that belongs to the line beside.
fn cut_off(rows: &mut [bool]) {
    let edge = rows.iter().take_while(|row| **row).count();
    let rest = rows.get(edge..).unwrap_or_default();
    let gap = rest.iter().take_while(|row| !**row).count();
    // A line that lies at the edge with all its ink stays.
    let is_most = rest.iter().filter(|row| **row).count() < edge * 2;
    if edge > 0 && gap >= APART && !is_most {
        rows.iter_mut().take(edge).for_each(|row| *row = false);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A line of 100 by 48 pixels with ink in some of them.
    fn ink(is_ink: impl Fn(usize, usize) -> bool) -> Ink {
        let plane: Vec<f32> = (0..4800).map(|at| if is_ink(at % 100, at / 100) { -0.8 } else { 0.9 }).collect();
        Ink::find(&Tensor { shape: vec![1, 3, 48, 100], values: plane.repeat(3) }, 100)
    }

    #[test]
    fn a_word_ends_where_its_ink_does_and_strokes_of_other_lines_are_not_its() {
        let ink = ink(|x, y| (20..40).contains(&x) && (12..36).contains(&y) || y < 2 && x == 30);
        let area = ink.area_between(10.0, 55.0);
        assert_eq!(area, Area { from: 0.2, to: 0.4, top: 0.25, foot: 0.75 });
    }

    #[test]
    fn where_there_is_no_ink_all_of_the_place_is_the_words() {
        let area = ink(|_, _| false).area_between(10.0, 55.0);
        assert_eq!(area, Area { from: 0.1, to: 0.55, top: 0.0, foot: 1.0 });
    }
}
