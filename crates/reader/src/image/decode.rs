//! One picture of any type but TIFF, as far as its file goes.

use super::{density, density::Density, raster};
use crate::{
    error::{ReadError, ReadResult, check_limit},
    model::{FileType, PageImage},
    options::Limits,
};
use image::{ColorType, ImageDecoder, ImageError, ImageFormat, ImageReader, metadata::Orientation};
use std::io::Cursor;

/// What is known of a picture before it is decoded.
#[derive(Debug, Clone, Copy)]
pub(super) struct Header {
    /// As stored, before the orientation is applied.
    pub(super) width: u32,
    pub(super) height: u32,
    pub(super) orientation: Orientation,
    pub(super) density: Option<Density>,
}

/// A picture, with what is wrong with it.
#[derive(Debug)]
pub(super) struct Decoded {
    pub(super) image: PageImage,
    pub(super) warning: Option<String>,
}

fn format(kind: FileType) -> Option<ImageFormat> {
    Some(match kind {
        FileType::Png => ImageFormat::Png,
        FileType::Jpeg => ImageFormat::Jpeg,
        FileType::Bmp => ImageFormat::Bmp,
        FileType::WebP => ImageFormat::WebP,
        FileType::Gif => ImageFormat::Gif,
        _ => return None,
    })
}

fn decoder<'bytes>(kind: FileType, bytes: &'bytes [u8], limits: &Limits) -> ReadResult<impl ImageDecoder + 'bytes> {
    let format = format(kind).ok_or_else(|| ReadError::unsupported(format!("{} as an image", kind.name())))?;
    let mut reader = ImageReader::with_format(Cursor::new(bytes), format);
    let mut allowed = image::Limits::default();
    // Eight bytes a pixel is the most that is kept of one; the decoders need some rows more.
    allowed.max_alloc = Some(limits.image_pixels.saturating_mul(8).saturating_add(64 << 20));
    reader.limits(allowed);
    reader.into_decoder().map_err(|error| failure(kind, &error))
}

/// Reads the header, and refuses what is too large before anything of it is decoded.
pub(super) fn header(kind: FileType, bytes: &[u8], limits: &Limits) -> ReadResult<Header> {
    let mut decoder = decoder(kind, bytes, limits)?;
    let (width, height) = decoder.dimensions();
    check_size(width, height, limits)?;
    let orientation = decoder.orientation().unwrap_or(Orientation::NoTransforms);
    let density = match kind {
        FileType::Png => density::of_png(bytes),
        FileType::Jpeg => density::of_jpeg(bytes),
        FileType::Bmp => density::of_bmp(bytes),
        _ => decoder.exif_metadata().ok().flatten().and_then(|exif| density::of_exif(&exif)),
    };
    Ok(Header { width, height, orientation, density })
}

pub(super) fn check_size(width: u32, height: u32, limits: &Limits) -> ReadResult<()> {
    if width == 0 || height == 0 {
        return Err(ReadError::damaged("image", "it has no pixels"));
    }
    check_limit("the number of pixels of the image", u64::from(width) * u64::from(height), limits.image_pixels)
}

/// Decodes the picture as it is stored; what the file no longer holds stays white.
pub(super) fn decode(kind: FileType, bytes: &[u8], limits: &Limits) -> ReadResult<Decoded> {
    let decoder = decoder(kind, bytes, limits)?;
    let (width, height) = decoder.dimensions();
    check_size(width, height, limits)?;
    let colours = decoder.color_type();
    let length = usize::try_from(decoder.total_bytes()).map_err(|_| ReadError::too_large("the image is too large"))?;
    let mut buffer = vec![255; length];
    let mut warning = None;
    if let Err(error) = decoder.read_image(&mut buffer) {
        if buffer.iter().all(|byte| *byte == 255) {
            return Err(failure(kind, &error));
        }
        warning = Some(ends_early(kind));
    } else if kind == FileType::Jpeg && !ends_with_end_of_image(bytes) {
        warning = Some(ends_early(kind));
    }
    Ok(Decoded { image: to_page(&buffer, colours, width, height), warning })
}

fn ends_early(kind: FileType) -> String {
    format!("the {} file is damaged or ends early, and a part of the picture is missing", kind.name())
}

/// A whole JPEG ends with the marker FF D9; cameras and faxes may put a little behind it.
fn ends_with_end_of_image(bytes: &[u8]) -> bool {
    let tail = bytes.get(bytes.len().saturating_sub(1 << 16)..).unwrap_or(bytes);
    tail.windows(2).any(|pair| pair == [0xFF, 0xD9])
}

fn failure(kind: FileType, error: &ImageError) -> ReadError {
    match error {
        ImageError::Limits(_) => ReadError::too_large("the image needs more memory than is allowed"),
        ImageError::Unsupported(what) => ReadError::unsupported(format!("this kind of {} image ({what})", kind.name())),
        ImageError::IoError(_) => ReadError::damaged("image", "it ends before the picture"),
        other => ReadError::damaged("image", other.to_string()),
    }
}

/// Any of the decoder's forms as 8-bit grey or colour; what shines through lies on white paper.
fn to_page(buffer: &[u8], colours: ColorType, width: u32, height: u32) -> PageImage {
    let samples: std::borrow::Cow<'_, [u8]> = match colours {
        ColorType::L16 | ColorType::La16 | ColorType::Rgb16 | ColorType::Rgba16 => {
            let (pairs, _) = buffer.as_chunks::<2>();
            pairs.iter().map(|pair| (u16::from_ne_bytes(*pair) >> 8) as u8).collect()
        }
        ColorType::Rgb32F | ColorType::Rgba32F => {
            let (fours, _) = buffer.as_chunks::<4>();
            fours.iter().map(|four| (f32::from_ne_bytes(*four).clamp(0.0, 1.0) * 255.0) as u8).collect()
        }
        _ => buffer.into(),
    };
    let on_white = |value: u8, alpha: u8| {
        ((u32::from(value) * u32::from(alpha) + 255 * (255 - u32::from(alpha)) + 127) / 255) as u8
    };
    let (channels, pixels) = match colours.channel_count() {
        1 => (1, samples.into_owned()),
        2 => (1, samples.as_chunks::<2>().0.iter().map(|[value, alpha]| on_white(*value, *alpha)).collect()),
        4 => {
            let (four, _) = samples.as_chunks::<4>();
            (3, four.iter().flat_map(|[r, g, b, a]| [on_white(*r, *a), on_white(*g, *a), on_white(*b, *a)]).collect())
        }
        _ => (3, samples.into_owned()),
    };
    without_needless_colour(PageImage { width, height, channels, pixels, dpi: 0 })
}

/// A grey picture that is stored in colour takes a third of the memory as grey.
pub(super) fn without_needless_colour(image: PageImage) -> PageImage {
    let colourless = image.channels == 3 && image.pixels.as_chunks::<3>().0.iter().all(|[r, g, b]| r == g && g == b);
    if colourless { raster::grey(&image) } else { image }
}

/// The picture as it is to be looked at.
pub(super) fn upright(image: PageImage, orientation: Orientation) -> PageImage {
    match orientation {
        Orientation::NoTransforms => image,
        Orientation::Rotate90 => raster::turned(&image, 90),
        Orientation::Rotate180 => raster::turned(&image, 180),
        Orientation::Rotate270 => raster::turned(&image, 270),
        Orientation::FlipHorizontal => raster::mirrored(&image),
        Orientation::FlipVertical => raster::mirrored(&raster::turned(&image, 180)),
        Orientation::Rotate90FlipH => raster::mirrored(&raster::turned(&image, 90)),
        Orientation::Rotate270FlipH => raster::mirrored(&raster::turned(&image, 270)),
    }
}

/// Whether the orientation lays the picture on its side.
pub(super) fn swaps_sides(orientation: Orientation) -> bool {
    matches!(
        orientation,
        Orientation::Rotate90 | Orientation::Rotate270 | Orientation::Rotate90FlipH | Orientation::Rotate270FlipH
    )
}
