//! Paper that lies in shadow, made even: one threshold for the whole page then tells ink from paper everywhere.

use crate::model::PageImage;

/// How many parts of an inch a tile is wide: a few letters.
const TILES_PER_INCH: u32 = 5;
/// Paper whose brightness differs by more over the page is in shadow.
const UNEVEN: u8 = 40;
/// Darker than this nothing is paper, but a picture or the scanner's lid.
const DARKEST: u8 = 48;

/// Makes the paper equally bright everywhere, if it is not. Nothing is done to a page whose paper is even.
pub(super) fn even_out(grey: &mut PageImage) {
    let side = (grey.dpi.clamp(72, 1200) / TILES_PER_INCH).max(8) as usize;
    let (width, height) = (grey.width as usize, grey.height as usize);
    if width < side * 4 || height < side * 4 {
        return;
    }
    let tiles = Tiles::measure(grey, side).closed();
    if !tiles.uneven() {
        return;
    }
    for (y, row) in grey.pixels.chunks_exact_mut(width).enumerate() {
        tiles.even_row(y, row);
    }
}

/// How bright the paper is, tile by tile.
struct Tiles {
    side: usize,
    across: usize,
    down: usize,
    paper: Vec<u8>,
}

impl Tiles {
    /// The brightest tenth of a tile is paper even where it is full of letters.
    fn measure(grey: &PageImage, side: usize) -> Self {
        let width = grey.width as usize;
        let (across, down) = (width.div_ceil(side), (grey.height as usize).div_ceil(side));
        let mut paper = Vec::with_capacity(across * down);
        for tile_row in grey.pixels.chunks(width * side).take(down) {
            let mut histograms = vec![[0_u32; 256]; across];
            // Every second row and pixel is enough to know the brightness.
            for row in tile_row.chunks_exact(width).step_by(2) {
                for (tile, pixels) in histograms.iter_mut().zip(row.chunks(side)) {
                    for pixel in pixels.iter().step_by(2) {
                        tile[usize::from(*pixel)] += 1;
                    }
                }
            }
            paper.extend(histograms.iter().map(brightest_tenth));
        }
        Self { side, across, down, paper }
    }

    /// Dark tiles (pictures, thick letters) between bright ones take the brightness around them.
    fn closed(mut self) -> Self {
        const REACH: usize = 3;
        let widened = self.spread(REACH, Ord::max);
        self.paper = widened;
        self.paper = self.spread(REACH, Ord::min);
        self
    }

    /// For each tile the extreme over its neighbours: first along rows, then along columns.
    fn spread(&self, reach: usize, extreme: impl Fn(u8, u8) -> u8) -> Vec<u8> {
        let over = |values: &dyn Fn(usize) -> u8, at: usize, count: usize| {
            let near = at.saturating_sub(reach)..(at + reach + 1).min(count);
            near.map(values).reduce(&extreme).unwrap_or(255)
        };
        let mut rows = Vec::with_capacity(self.paper.len());
        for y in 0..self.down {
            let row = &self.paper[y * self.across..(y + 1) * self.across];
            rows.extend((0..self.across).map(|x| over(&|x| row[x], x, self.across)));
        }
        let mut all = Vec::with_capacity(self.paper.len());
        for y in 0..self.down {
            all.extend((0..self.across).map(|x| over(&|y| rows[y * self.across + x], y, self.down)));
        }
        all
    }

    /// Whether a good part of the paper is clearly darker than the rest. A dark picture or border is not paper.
    fn uneven(&self) -> bool {
        let mut paper: Vec<u8> = self.paper.iter().copied().filter(|value| *value >= DARKEST).collect();
        if paper.len() * 2 < self.paper.len() {
            return false;
        }
        paper.sort_unstable();
        let (dark, bright) = (paper[paper.len() / 10], paper[paper.len() * 9 / 10]);
        bright - dark > UNEVEN
    }

    /// Divides a row of pixels by the brightness of the paper there, between the middles of the tiles.
    fn even_row(&self, y: usize, row: &mut [u8]) {
        let half = self.side / 2;
        let place = |at: usize, count: usize| {
            let shifted = at.saturating_sub(half);
            let tile = (shifted / self.side).min(count - 1);
            let share = if at < half { 0.0 } else { (shifted % self.side) as f32 / self.side as f32 };
            (tile, (tile + 1).min(count - 1), share)
        };
        let (above, below, share_below) = place(y, self.down);
        // The brightness along this row, tile by tile; between them it is a straight line.
        let along: Vec<f32> = (0..self.across)
            .map(|x| {
                let of = |y: usize| f32::from(self.paper[y * self.across + x].max(DARKEST));
                of(above) + (of(below) - of(above)) * share_below
            })
            .collect();
        for (x, pixel) in row.iter_mut().enumerate() {
            let (left, right, share) = place(x, self.across);
            let paper = along[left] + (along[right] - along[left]) * share;
            *pixel = (f32::from(*pixel) * 250.0 / paper).min(255.0) as u8;
        }
    }
}

fn brightest_tenth(histogram: &[u32; 256]) -> u8 {
    let total: u32 = histogram.iter().sum();
    let mut seen = 0;
    for (value, count) in histogram.iter().enumerate().rev() {
        seen += count;
        if seen * 10 >= total {
            return value as u8;
        }
    }
    255
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(brightness: impl Fn(u32) -> f32) -> PageImage {
        let (width, height) = (900, 900);
        let pixel = |at: u32| {
            let (x, y) = (at % width, at / width);
            let ink = y % 40 < 12 && x % 20 < 12;
            (brightness(x) * if ink { 0.25 } else { 1.0 }) as u8
        };
        PageImage { width, height, channels: 1, pixels: (0..width * height).map(pixel).collect(), dpi: 300 }
    }

    #[test]
    fn shadow_is_taken_out_so_that_one_threshold_is_enough() {
        let mut shadowed = page(|x| 240.0 - 160.0 * x as f32 / 900.0);
        even_out(&mut shadowed);
        for y in 0..900 {
            for x in 0..900 {
                let ink = y % 40 < 12 && x % 20 < 12;
                let value = shadowed.pixels[y * 900 + x];
                assert!(if ink { value < 110 } else { value > 150 }, "{value} at {x}, {y}");
            }
        }
    }

    #[test]
    fn even_paper_and_black_borders_are_left_alone() {
        let even = page(|_| 235.0);
        let mut same = even.clone();
        even_out(&mut same);
        assert_eq!(same, even);
        let bordered = page(|x| if x < 60 { 20.0 } else { 235.0 });
        let mut same = bordered.clone();
        even_out(&mut same);
        assert_eq!(same, bordered);
    }
}
