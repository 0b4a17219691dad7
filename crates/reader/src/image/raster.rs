//! Pictures as rows of grey or coloured pixels: turning, shrinking, judging. Nothing here fails: a picture whose pixels
//! do not fill its size is treated as if the rest were white.

use crate::model::PageImage;
use image::{
    ExtendedColorType, ImageEncoder,
    codecs::png::{CompressionType, FilterType, PngEncoder},
    imageops,
};

const WHITE: u8 = 255;
/// What differs from the paper by more is ink on any paper, and by less on none.
const CLEAR: usize = 48;
const FAINTEST: usize = 22;

/// A picture in 8-bit grey, as the eye weighs the colours.
pub fn grey(image: &PageImage) -> PageImage {
    let wanted = image.width as usize * image.height as usize;
    let mut pixels: Vec<u8> = if image.channels == 1 {
        image.pixels.clone()
    } else {
        let (colours, _) = image.pixels.as_chunks::<3>();
        colours.iter().map(|[r, g, b]| luma(*r, *g, *b)).collect()
    };
    pixels.resize(wanted, WHITE);
    PageImage { channels: 1, pixels, ..*image }
}

pub(crate) fn luma(r: u8, g: u8, b: u8) -> u8 {
    ((u32::from(r) * 299 + u32::from(g) * 587 + u32::from(b) * 114 + 500) / 1000) as u8
}

/// The picture turned clockwise by 0, 90, 180 or 270 degrees; other angles leave it as it is.
pub fn turned(image: &PageImage, degrees: u16) -> PageImage {
    match degrees % 360 {
        90 => placed(image, true, |image, x, y| (image.height - 1 - y, x)),
        180 => placed(image, false, |image, x, y| (image.width - 1 - x, image.height - 1 - y)),
        270 => placed(image, true, |image, x, y| (y, image.width - 1 - x)),
        _ => image.clone(),
    }
}

/// The picture mirrored left to right.
pub fn mirrored(image: &PageImage) -> PageImage {
    placed(image, false, |image, x, y| (image.width - 1 - x, y))
}

/// Every pixel put where `place` says.
fn placed(image: &PageImage, sides_swapped: bool, place: impl Fn(&PageImage, u32, u32) -> (u32, u32)) -> PageImage {
    let (width, height) = if sides_swapped { (image.height, image.width) } else { (image.width, image.height) };
    let channels = usize::from(image.channels);
    let mut pixels = vec![WHITE; width as usize * height as usize * channels];
    for (at, pixel) in image.pixels.chunks_exact(channels.max(1)).enumerate() {
        let (x, y) = (at % image.width as usize, at / image.width as usize);
        if y >= image.height as usize {
            break;
        }
        let (x, y) = place(image, x as u32, y as u32);
        let target = (y as usize * width as usize + x as usize) * channels;
        if let Some(target) = pixels.get_mut(target..target + channels) {
            target.copy_from_slice(pixel);
        }
    }
    PageImage { width, height, channels: image.channels, pixels, dpi: image.dpi }
}

/// The picture in another size; `dpi` is what it then has. The same size gives the same picture.
pub fn resized(image: PageImage, width: u32, height: u32, dpi: u32) -> PageImage {
    let (width, height) = (width.max(1), height.max(1));
    if (width, height) == (image.width, image.height) {
        return PageImage { dpi, ..image };
    }
    let filter = if width < image.width { imageops::FilterType::Triangle } else { imageops::FilterType::CatmullRom };
    let mut source = image.pixels;
    source.resize(image.width as usize * image.height as usize * usize::from(image.channels), WHITE);
    let pixels = if image.channels == 1 {
        image::GrayImage::from_raw(image.width, image.height, source)
            .map(|picture| imageops::resize(&picture, width, height, filter).into_raw())
    } else {
        image::RgbImage::from_raw(image.width, image.height, source)
            .map(|picture| imageops::resize(&picture, width, height, filter).into_raw())
    };
    let filled = || vec![WHITE; width as usize * height as usize * usize::from(image.channels)];
    PageImage { width, height, channels: image.channels, pixels: pixels.unwrap_or_else(filled), dpi }
}

/// The picture as a PNG file, packed quickly rather than tightly.
pub fn to_png(image: &PageImage) -> Result<Vec<u8>, String> {
    let colours = if image.channels == 1 { ExtendedColorType::L8 } else { ExtendedColorType::Rgb8 };
    let length = image.width as usize * image.height as usize * usize::from(image.channels);
    let pixels = image.pixels.get(..length).ok_or("the picture has too few pixels")?;
    let mut png = Vec::new();
    PngEncoder::new_with_quality(&mut png, CompressionType::Fast, FilterType::Adaptive)
        .write_image(pixels, image.width, image.height, colours)
        .map_err(|error| error.to_string())?;
    Ok(png)
}

/// Whether nothing is on the page but paper: hardly a pixel away from the edges differs clearly from most of them.
pub fn is_blank(image: &PageImage) -> bool {
    let (width, height) = (image.width as usize, image.height as usize);
    let channels = usize::from(image.channels.max(1));
    // The edges of a scan show the scanner's lid.
    let (margin_x, margin_y) = (width / 50, height / 50);
    let mut histogram = [0_usize; 256];
    for row in image.pixels.chunks_exact((width * channels).max(1)).take(height - margin_y).skip(margin_y) {
        let Some(row) = row.get(margin_x * channels..(width - margin_x) * channels) else { continue };
        if channels == 1 {
            for value in row {
                histogram[usize::from(*value)] += 1;
            }
        } else {
            let (colours, _) = row.as_chunks::<3>();
            for [r, g, b] in colours {
                histogram[usize::from(luma(*r, *g, *b))] += 1;
            }
        }
    }
    let total: usize = histogram.iter().sum();
    let paper = (0..256).max_by_key(|value| histogram[*value]).unwrap_or(255);
    let beyond = |limit: usize| -> usize {
        (0..256_usize).filter(|value| value.abs_diff(paper) > limit).map(|value| histogram[value]).sum()
    };
    // Faint print counts, as far as it is clearer than the noise and the unevenness of most of the paper.
    let noise = (0..64).find(|limit| beyond(*limit) * 10 <= total).unwrap_or(64);
    let ink = beyond((4 * noise).clamp(FAINTEST, CLEAR));
    // A lone digit at 300 dpi has some hundred pixels, a page of A4 nearly nine million.
    ink <= (total / 50_000).max(4)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbered(width: u32, height: u32) -> PageImage {
        let pixels = (0..width * height).map(|value| value as u8).collect();
        PageImage { width, height, channels: 1, pixels, dpi: 300 }
    }

    #[test]
    fn four_quarter_turns_give_the_picture_back() {
        let picture = numbered(3, 2);
        let quarter = turned(&picture, 90);
        assert_eq!((quarter.width, quarter.height), (2, 3));
        assert_eq!(quarter.pixels, [3, 0, 4, 1, 5, 2]);
        assert_eq!(turned(&turned(&picture, 90), 90), turned(&picture, 180));
        assert_eq!(turned(&turned(&picture, 90), 270), picture);
        assert_eq!(mirrored(&mirrored(&picture)), picture);
    }

    #[test]
    fn paper_with_dust_is_blank_and_a_lone_digit_is_not() {
        let mut page = PageImage { width: 1000, height: 1400, channels: 1, pixels: vec![240; 1_400_000], dpi: 150 };
        page.pixels[700_500] = 0;
        assert!(is_blank(&page));
        for row in 0..20 {
            for column in 0..3 {
                page.pixels[(700 + row) * 1000 + 500 + column] = 20;
            }
        }
        assert!(!is_blank(&page));
        // The same in faint print, and paper that is only uneven.
        let mut faint = PageImage { pixels: page.pixels.iter().map(|value| 170 + value / 8).collect(), ..page.clone() };
        assert!(!is_blank(&faint));
        for (at, pixel) in faint.pixels.iter_mut().enumerate() {
            *pixel = 190 + (at % faint.width as usize * 30 / faint.width as usize) as u8;
        }
        assert!(is_blank(&faint));
    }

    #[test]
    fn a_picture_with_too_few_pixels_is_filled_with_white() {
        let short = PageImage { width: 4, height: 4, channels: 3, pixels: vec![0; 6], dpi: 72 };
        assert_eq!(grey(&short).pixels.len(), 16);
        assert_eq!(turned(&short, 90).pixels.len(), 48);
        assert_eq!(resized(short, 2, 2, 36).pixels.len(), 12);
    }
}
