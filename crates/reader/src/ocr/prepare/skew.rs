//! By how much a page lies crookedly. Lines of text make a profile of ink with sharp edges, seen along the lines; the angle
//! at which it is sharpest is theirs.

use crate::model::PageImage;

/// Pages are laid crookedly by a few degrees; more is meant.
const MOST: f32 = 6.0;
/// The picture is looked at in about this density.
const LOOK_DPI: u32 = 75;
/// A page with less ink than this says nothing.
const FEW_POINTS: usize = 400;
/// An angle must make the profile so much sharper than none does.
const CLEARLY: f32 = 1.15;

/// The angle in degrees by which lines fall to the right (clockwise); 0 if none stands out.
pub(super) fn angle(grey: &PageImage) -> f32 {
    let points = ink(grey);
    if points.len() < FEW_POINTS {
        return 0.0;
    }
    let across = best(&points, |x, y, slope| y - x * slope);
    // Lines of a page on its side run down: a tilt moves them the other way.
    let down = best(&points, |x, y, slope| x + y * slope);
    let found = if across.sharpness >= down.sharpness { across } else { down };
    if found.sharpness > found.without * CLEARLY { found.angle } else { 0.0 }
}

struct Found {
    angle: f32,
    sharpness: f32,
    without: f32,
}

fn best(points: &[(f32, f32)], project: impl Fn(f32, f32, f32) -> f32) -> Found {
    let sharpness = |angle: f32| profile_sharpness(points, angle, &project);
    let without = sharpness(0.0);
    let mut found = Found { angle: 0.0, sharpness: without, without };
    let mut look = |from: f32, steps: i32, step: f32| {
        for at in -steps..=steps {
            let angle = from + at as f32 * step;
            let sharpness = sharpness(angle);
            if sharpness > found.sharpness {
                (found.angle, found.sharpness) = (angle, sharpness);
            }
        }
        found.angle
    };
    let near = look(0.0, (MOST / 0.5) as i32, 0.5);
    let nearer = look(near, 4, 0.1);
    look(nearer, 4, 0.025);
    found
}

/// How much the amount of ink changes from one row of the profile to the next.
fn profile_sharpness(points: &[(f32, f32)], angle: f32, project: impl Fn(f32, f32, f32) -> f32) -> f32 {
    let slope = angle.to_radians().tan();
    // A row more than the picture has on each side, for what the tilt carries out of it.
    let mut profile = vec![0_i32; 4096];
    for (x, y) in points {
        let row = (project(*x, *y, slope) + 2048.0).clamp(0.0, 4095.0);
        profile[row as usize] += 1;
    }
    profile.windows(2).map(|pair| ((pair[1] - pair[0]) as f32).powi(2)).sum()
}

/// The places of ink, from the middle of the page, in pixels of a reduced picture. Inside of large dark surfaces there are none.
fn ink(grey: &PageImage) -> Vec<(f32, f32)> {
    let factor = (grey.dpi / LOOK_DPI).max(grey.width.max(grey.height) / 3500).max(1) as usize;
    let (width, height) = (grey.width as usize / factor, grey.height as usize / factor);
    if width < 3 || height < 3 {
        return Vec::new();
    }
    let mut small = vec![0_u32; width * height];
    for (y, row) in grey.pixels.chunks_exact(grey.width as usize).take(height * factor).enumerate() {
        let target = &mut small[(y / factor) * width..][..width];
        for (sum, pixels) in target.iter_mut().zip(row.chunks_exact(factor)) {
            *sum += pixels.iter().map(|pixel| u32::from(*pixel)).sum::<u32>();
        }
    }
    let full = (factor * factor) as u32;
    let mut sorted: Vec<u32> = small.iter().step_by(7).map(|sum| sum / full).collect();
    sorted.sort_unstable();
    let paper = sorted.get(sorted.len() * 3 / 4).copied().unwrap_or(255);
    let dark = |x: usize, y: usize| small[y * width + x] / full + 50 < paper;
    let mut points = Vec::new();
    for y in 1..height - 1 {
        for x in 1..width - 1 {
            let surface = || dark(x, y - 1) && dark(x, y + 1) && dark(x - 1, y) && dark(x + 1, y);
            if dark(x, y) && !surface() {
                points.push((x as f32 - width as f32 / 2.0, y as f32 - height as f32 / 2.0));
            }
        }
    }
    points
}

/// The picture turned back, anticlockwise by the angle about its middle, in the same size.
pub(super) fn straightened(grey: &PageImage, angle: f32) -> PageImage {
    let (sine, cosine) = angle.to_radians().sin_cos();
    let (width, height) = (grey.width as usize, grey.height as usize);
    let (middle_x, middle_y) = (width as f32 / 2.0, height as f32 / 2.0);
    let mut pixels = vec![255; width * height];
    for (y, row) in pixels.chunks_exact_mut(width).enumerate() {
        let down = y as f32 - middle_y;
        let (mut from_x, mut from_y) =
            (middle_x - middle_x * cosine - down * sine, middle_y - middle_x * sine + down * cosine);
        for pixel in row {
            if from_x >= 0.0 && from_y >= 0.0 {
                let (left, top) = (from_x as usize, from_y as usize);
                if left + 1 < width && top + 1 < height {
                    *pixel = between(&grey.pixels[top * width + left..], width, from_x.fract(), from_y.fract());
                }
            }
            from_x += cosine;
            from_y += sine;
        }
    }
    PageImage { pixels, ..*grey }
}

/// The value between four pixels, of which the slice begins with the top left one.
fn between(pixels: &[u8], width: usize, right: f32, down: f32) -> u8 {
    let value = |at: usize| f32::from(pixels[at]);
    let above = value(0) + (value(1) - value(0)) * right;
    let below = value(width) + (value(width + 1) - value(width)) * right;
    (above + (below - above) * down + 0.5) as u8
}
