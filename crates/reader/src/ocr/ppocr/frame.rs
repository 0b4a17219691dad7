//! Rectangles that lie at any angle, and the pixels in them as networks want them.

use super::network::Tensor;
use crate::model::PageImage;

/// A rectangle at an angle. `along` is the direction in which its text runs, a vector of length 1; its other side runs at
/// a right angle to it, clockwise, from the top of the text to its foot.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Frame {
    pub(super) center: (f32, f32),
    pub(super) along: (f32, f32),
    pub(super) length: f32,
    pub(super) height: f32,
}

/// More samples a pixel than this, to each side, change nothing that is seen.
const MOST_SAMPLES: f32 = 4.0;

impl Frame {
    /// The whole of a picture.
    pub(super) fn of_picture(picture: &PageImage) -> Self {
        let (width, height) = (picture.width as f32, picture.height as f32);
        Self { center: (width / 2.0, height / 2.0), along: (1.0, 0.0), length: width, height }
    }

    /// From the top of the text to its foot.
    pub(super) fn down(&self) -> (f32, f32) {
        (-self.along.1, self.along.0)
    }

    /// The same rectangle with its text running as nearly as can be towards `direction`.
    pub(super) fn towards(&self, direction: (f32, f32)) -> Self {
        let turns = [self.along, self.down(), (-self.along.0, -self.along.1), (self.along.1, -self.along.0)];
        let likeness = |one: &(f32, f32)| one.0 * direction.0 + one.1 * direction.1;
        let best = (0..4).max_by(|one, other| likeness(&turns[*one]).total_cmp(&likeness(&turns[*other]))).unwrap_or(0);
        let (length, height) = if best % 2 == 1 { (self.height, self.length) } else { (self.length, self.height) };
        Self { center: self.center, along: turns[best], length, height }
    }

    /// A place in the picture, from shares of the length and of the height.
    pub(super) fn place(&self, right: f32, down: f32) -> (f32, f32) {
        let (right, below) = ((right - 0.5) * self.length, (down - 0.5) * self.height);
        let foot = self.down();
        (self.center.0 + self.along.0 * right + foot.0 * below, self.center.1 + self.along.1 * right + foot.1 * below)
    }

    /// The pixels of a picture in this rectangle, `width` by `height` of them, as a tensor of blue, green and red from -1 to
    /// 1, which is what PP-OCR was trained on. On the right it is filled up with grey to `padded` pixels.
    pub(super) fn sampled(&self, picture: &PageImage, width: usize, height: usize, padded: usize) -> Tensor {
        let padded = padded.max(width);
        let plane = padded * height;
        let mut values = vec![0.0; plane * 3];
        // Fewer samples would let fine strokes fall between them.
        let samples = |pixels: f32, wanted: usize| (pixels / wanted.max(1) as f32).ceil().clamp(1.0, MOST_SAMPLES);
        let (across, down) = (samples(self.length, width), samples(self.height, height));
        let share = 1.0 / (across * down * 127.5);
        let pixels = Pixels::new(picture);
        for y in 0..height {
            for x in 0..width {
                let mut sum = [0.0; 3];
                for inner_y in 0..down as usize {
                    for inner_x in 0..across as usize {
                        let right = (x as f32 + (inner_x as f32 + 0.5) / across) / width as f32;
                        let below = (y as f32 + (inner_y as f32 + 0.5) / down) / height as f32;
                        pixels.add(self.place(right, below), &mut sum);
                    }
                }
                let at = y * padded + x;
                for (channel, sum) in sum.into_iter().rev().enumerate() {
                    values[channel * plane + at] = sum * share - 1.0;
                }
            }
        }
        Tensor { shape: vec![1, 3, height, padded], values }
    }
}

/// A picture whose pixels are there for any place; beyond its edges they go on as at the edge.
struct Pixels<'p> {
    bytes: &'p [u8],
    channels: usize,
    width: usize,
    last: (f32, f32),
}

impl<'p> Pixels<'p> {
    fn new(picture: &'p PageImage) -> Self {
        let last = |side: u32| side.saturating_sub(1) as f32;
        Self {
            bytes: &picture.pixels,
            channels: usize::from(picture.channels.max(1)),
            width: picture.width as usize,
            last: (last(picture.width), last(picture.height)),
        }
    }

    /// Adds red, green and blue between the four pixels around a place.
    fn add(&self, (x, y): (f32, f32), sum: &mut [f32; 3]) {
        let (x, y) = ((x - 0.5).clamp(0.0, self.last.0), (y - 0.5).clamp(0.0, self.last.1));
        let (left, top) = (x as usize, y as usize);
        let (right, below) = ((left + 1).min(self.last.0 as usize), (top + 1).min(self.last.1 as usize));
        let (to_right, to_below) = (x - left as f32, y - top as f32);
        let corners = [
            (left, top, (1.0 - to_right) * (1.0 - to_below)),
            (right, top, to_right * (1.0 - to_below)),
            (left, below, (1.0 - to_right) * to_below),
            (right, below, to_right * to_below),
        ];
        for (x, y, weight) in corners {
            let at = (y * self.width + x) * self.channels;
            for (channel, sum) in sum.iter_mut().enumerate() {
                // Where pixels are missing, the paper is white.
                let value = self.bytes.get(at + channel.min(self.channels - 1)).copied().unwrap_or(255);
                *sum += f32::from(value) * weight;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picture() -> PageImage {
        let pixels = (0..6_u8).flat_map(|value| [value * 40, value * 40, 10]).collect();
        PageImage { width: 3, height: 2, channels: 3, pixels, dpi: 300 }
    }

    #[test]
    fn a_whole_picture_is_sampled_as_it_is_blue_first() {
        let tensor = Frame::of_picture(&picture()).sampled(&picture(), 3, 2, 4);
        assert_eq!(tensor.shape, [1, 3, 2, 4]);
        let value = |byte: f32| byte / 127.5 - 1.0;
        assert!((tensor.values[0] - value(10.0)).abs() < 1e-5, "blue comes first");
        let red: Vec<f32> = tensor.values[16..24].to_vec();
        for (found, wanted) in red.iter().zip([0.0, 40.0, 80.0, 127.5, 120.0, 160.0, 200.0, 127.5]) {
            assert!((found - value(wanted)).abs() < 1e-5, "{red:?}");
        }
    }

    #[test]
    fn a_frame_on_its_head_gives_the_pixels_turned_round() {
        let frame = Frame { along: (-1.0, 0.0), ..Frame::of_picture(&picture()) };
        let tensor = frame.sampled(&picture(), 3, 2, 3);
        let first = tensor.values[12];
        assert!((first - (200.0 / 127.5 - 1.0)).abs() < 1e-5, "{first}");
        assert_eq!(frame.towards((1.0, 0.0)), Frame::of_picture(&picture()));
        let standing = frame.towards((0.0, 1.0));
        assert_eq!((standing.length, standing.height), (2.0, 3.0));
    }

    #[test]
    fn a_picture_with_too_few_pixels_is_white_where_they_are_missing() {
        let short = PageImage { pixels: vec![0; 4], ..picture() };
        let tensor = Frame::of_picture(&short).sampled(&short, 3, 2, 3);
        assert!((tensor.values[5] - 1.0).abs() < 1e-5);
    }
}
