//! Faint print, made as dark as print usually is.

use crate::model::PageImage;

/// Print that differs from its paper by so much is read well as it is.
const ENOUGH: u8 = 100;
/// What differs by less is no print.
const FAINTEST: u8 = 14;
/// Noise of more than this part of the difference would be taken for print once it is stretched.
const NOISE: f32 = 0.06;
/// To what print and paper are brought.
const INK: f32 = 20.0;
const PAPER: f32 = 245.0;

/// Stretches the brightness of a faint page; others stay as they are.
pub(super) fn stretch(grey: &mut PageImage) {
    let Some((ink, paper)) = ink_and_paper(&grey.pixels) else { return };
    let difference = paper - ink;
    if !(FAINTEST..ENOUGH).contains(&difference) {
        return;
    }
    let width = grey.width as usize;
    if noise(&grey.pixels, width) > NOISE * f32::from(difference) {
        smooth(&mut grey.pixels, width);
    }
    let scale = (PAPER - INK) / f32::from(difference);
    let stretched = |value: u8| (INK + (f32::from(value) - f32::from(ink)) * scale).clamp(0.0, 255.0) as u8;
    let table: Vec<u8> = (0..=255).map(stretched).collect();
    for pixel in &mut grey.pixels {
        *pixel = table.get(usize::from(*pixel)).copied().unwrap_or(*pixel);
    }
}

/// The brightness of the darkest pixels, as few as those of some lines on a page, and of the middle of all.
fn ink_and_paper(pixels: &[u8]) -> Option<(u8, u8)> {
    let mut histogram = [0_usize; 256];
    for pixel in pixels {
        histogram[usize::from(*pixel)] += 1;
    }
    let below = |share: usize| {
        let mut seen = 0;
        (0..=255_u8).find(|value| {
            seen += histogram[usize::from(*value)];
            seen * 1000 > pixels.len() * share
        })
    };
    Some((below(2)?, below(500)?))
}

/// The middle one of the differences between pixels side by side; every seventh is enough.
fn noise(pixels: &[u8], width: usize) -> f32 {
    let mut differences: Vec<u8> = pixels
        .chunks_exact(width.max(2))
        .flat_map(|row| row.windows(2).step_by(7))
        .map(|pair| pair[0].abs_diff(pair[1]))
        .collect();
    differences.sort_unstable();
    differences.get(differences.len() / 2).copied().map_or(0.0, f32::from)
}

/// Each pixel becomes the mean of itself and its neighbours.
fn smooth(pixels: &mut [u8], width: usize) {
    let before = pixels.to_vec();
    let height = before.len() / width.max(1);
    for y in 1..height.saturating_sub(1) {
        for x in 1..width.saturating_sub(1) {
            let row = |y: usize| (x - 1..=x + 1).map(|x| u32::from(before[y * width + x])).sum::<u32>();
            pixels[y * width + x] = ((row(y - 1) + row(y) + row(y + 1)) / 9) as u8;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(paper: u8, ink: u8) -> PageImage {
        let value = |at: u32| if at / 300 % 20 < 6 && at % 300 % 10 < 4 { ink } else { paper };
        PageImage { width: 300, height: 300, channels: 1, pixels: (0..90_000).map(value).collect(), dpi: 150 }
    }

    #[test]
    fn faint_print_becomes_dark_and_clear_print_stays() {
        let mut faint = page(180, 150);
        stretch(&mut faint);
        assert_eq!((faint.pixels.iter().min(), faint.pixels.iter().max()), (Some(&20), Some(&245)));
        for (paper, ink) in [(235, 30), (200, 90), (180, 176)] {
            let mut same = page(paper, ink);
            stretch(&mut same);
            assert_eq!(same, page(paper, ink));
        }
    }
}
