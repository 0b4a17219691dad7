//! The pages of a TIFF: bilevel (also faxes), grey, palette, RGB, CMYK and YCbCr, in strips or tiles, each as far as its
//! file goes.

use super::{
    decode::{Decoded, Header, check_size, without_needless_colour},
    density,
};
use crate::{
    error::{ReadError, ReadResult},
    model::PageImage,
    options::Limits,
};
use ::tiff::{
    ColorType, TiffError,
    decoder::{Decoder, DecodingResult},
    tags::Tag,
};
use image::metadata::Orientation;
use std::{borrow::Cow, io::Cursor};

/// A page of a TIFF, and where in the file it is.
#[derive(Debug, Clone)]
pub(super) struct TiffPage {
    pub(super) header: Header,
    directory: usize,
    /// Red, green and blue of each number that a pixel may have, if the picture is stored as such numbers.
    palette: Option<Vec<[u8; 3]>>,
}

type PageDecoder<'bytes> = Decoder<Cursor<&'bytes [u8]>>;

fn failure(error: &TiffError) -> ReadError {
    match error {
        TiffError::UnsupportedError(what) => ReadError::unsupported(format!("this kind of TIFF image ({what})")),
        TiffError::LimitsExceeded => ReadError::too_large("the image needs more memory than is allowed"),
        TiffError::IoError(_) => ReadError::damaged("image", "it ends before the picture"),
        other => ReadError::damaged("image", other.to_string()),
    }
}

/// A file in which every picture with a palette is marked as grey, so that its numbers come out as they are.
pub(super) fn with_palettes_as_grey(bytes: &[u8]) -> Cow<'_, [u8]> {
    let mut bytes = Cow::Borrowed(bytes);
    for place in palette_marks(&bytes) {
        if let Some(mark) = bytes.to_mut().get_mut(place..place + 2) {
            // 3 is "palette" and 1 is "black is zero", whichever end comes first.
            mark.iter_mut().filter(|byte| **byte == 3).for_each(|byte| *byte = 1);
        }
    }
    bytes
}

/// Where the file says of a picture that it has a palette. Only the plain form of TIFF is looked at: pictures with
/// palettes are old, and larger than 4 GB none is.
fn palette_marks(bytes: &[u8]) -> Vec<usize> {
    const PHOTOMETRIC: u16 = 262;
    const PALETTE: u16 = 3;
    let little = bytes.starts_with(b"II*\0");
    if !little && !bytes.starts_with(b"MM\0*") {
        return Vec::new();
    }
    let short = |at: usize| {
        let two = bytes.get(at..at.checked_add(2)?)?.try_into().ok()?;
        Some(if little { u16::from_le_bytes(two) } else { u16::from_be_bytes(two) })
    };
    let long = |at: usize| {
        let four = bytes.get(at..at.checked_add(4)?)?.try_into().ok()?;
        Some(if little { u32::from_le_bytes(four) } else { u32::from_be_bytes(four) } as usize)
    };
    let mut marks = Vec::new();
    let mut seen = std::collections::HashSet::new();
    let mut directory = long(4).unwrap_or(0);
    while directory != 0 && seen.insert(directory) {
        let Some(entries) = short(directory).map(usize::from) else { break };
        let first = directory + 2;
        marks.extend(
            (0..entries)
                .map(|entry| first + entry * 12)
                .filter_map(|at| (short(at)? == PHOTOMETRIC && short(at + 8)? == PALETTE).then_some(at + 8)),
        );
        directory = long(first + entries * 12).unwrap_or(0);
    }
    marks
}

fn decoder<'bytes>(bytes: &'bytes [u8], limits: &Limits) -> ReadResult<PageDecoder<'bytes>> {
    let mut allowed = ::tiff::decoder::Limits::default();
    let most = usize::try_from(limits.image_pixels.saturating_mul(8)).unwrap_or(usize::MAX);
    allowed.decoding_buffer_size = most;
    allowed.intermediate_buffer_size = most;
    Ok(Decoder::new(Cursor::new(bytes)).map_err(|error| failure(&error))?.with_limits(allowed))
}

/// The pages, without reductions and masks of them, and what is wrong with those that cannot be read.
pub(super) fn pages(bytes: &[u8], limits: &Limits) -> ReadResult<(Vec<TiffPage>, Vec<String>)> {
    let mut decoder = decoder(bytes, limits)?;
    let (mut pages, mut warnings) = (Vec::new(), Vec::new());
    let mut first_error = None;
    for directory in 0.. {
        match page(&mut decoder, directory, limits) {
            Ok(found) => pages.extend(found),
            Err(error) => {
                warnings.push(format!("picture {} is left out: {error}", directory + 1));
                first_error.get_or_insert(error);
            }
        }
        if pages.len() > limits.pages {
            return Err(ReadError::too_large(format!("the TIFF has more than {} pages", limits.pages)));
        }
        if !decoder.more_images() {
            break;
        }
        if let Err(error) = decoder.next_image() {
            warnings.push(format!("the pictures behind number {} cannot be found: {}", directory + 1, failure(&error)));
            break;
        }
    }
    match first_error {
        Some(error) if pages.is_empty() => Err(error),
        _ => Ok((pages, warnings)),
    }
}

/// The page of the directory that the decoder is at; None for one that is a reduction or a mask of another.
fn page(decoder: &mut PageDecoder<'_>, directory: usize, limits: &Limits) -> ReadResult<Option<TiffPage>> {
    const REDUCED: u32 = 1;
    const MASK: u32 = 4;
    let (width, height) = decoder.dimensions().map_err(|error| failure(&error))?;
    check_size(width, height, limits)?;
    let subfile = decoder.find_tag_unsigned::<u32>(Tag::NewSubfileType).ok().flatten().unwrap_or(0);
    if subfile & (REDUCED | MASK) != 0 {
        return Ok(None);
    }
    let orientation = decoder.find_tag_unsigned::<u8>(Tag::Orientation).ok().flatten();
    let mut side = |tag| decoder.get_tag_f32(tag).ok();
    let declared = side(Tag::XResolution).zip(side(Tag::YResolution));
    let unit = decoder.find_tag_unsigned::<u16>(Tag::ResolutionUnit).ok().flatten().unwrap_or(2);
    let density = declared.and_then(|(across, down)| density::with_unit(across, down, unit));
    let palette = decoder.get_tag_u16_vec(Tag::ColorMap).ok().map(|colours| {
        let count = colours.len() / 3;
        let level = |plane: usize, number: usize| (colours.get(plane * count + number).unwrap_or(&0) >> 8) as u8;
        (0..count).map(|number| [level(0, number), level(1, number), level(2, number)]).collect()
    });
    let orientation = orientation.and_then(Orientation::from_exif).unwrap_or(Orientation::NoTransforms);
    Ok(Some(TiffPage { header: Header { width, height, orientation, density }, directory, palette }))
}

/// Decodes a page as it is stored; strips and tiles that the file no longer holds stay white.
pub(super) fn decode(bytes: &[u8], page: &TiffPage, limits: &Limits) -> ReadResult<Decoded> {
    let mut decoder = decoder(bytes, limits)?;
    decoder.seek_to_image(page.directory).map_err(|error| failure(&error))?;
    let (width, height) = decoder.dimensions().map_err(|error| failure(&error))?;
    check_size(width, height, limits)?;
    let colours = decoder.colortype().map_err(|error| failure(&error))?;
    let samples = usize::from(colours.num_samples());
    let planar = decoder.find_tag_unsigned::<u16>(Tag::PlanarConfiguration).ok().flatten() == Some(2) && samples > 1;
    let in_chunk = if planar { 1 } else { samples };
    let nothing = if matches!(colours, ColorType::CMYK(_) | ColorType::CMYKA(_)) { 0 } else { 255 };
    let mut all = vec![nothing; width as usize * height as usize * samples];

    let count = match decoder.get_chunk_type() {
        ::tiff::decoder::ChunkType::Strip => decoder.strip_count(),
        ::tiff::decoder::ChunkType::Tile => decoder.tile_count(),
    }
    .map_err(|error| failure(&error))?;
    let (chunk_width, chunk_height) = decoder.chunk_dimensions();
    let across = width.div_ceil(chunk_width.max(1)).max(1);
    let per_plane = if planar { (count / samples as u32).max(1) } else { count.max(1) };
    let mut missing = None;
    for chunk in 0..count {
        let (plane, place) = (chunk / per_plane, chunk % per_plane);
        let (left, top) = ((place % across) * chunk_width, (place / across) * chunk_height);
        if left >= width || top >= height || plane as usize >= samples {
            continue;
        }
        let read = match decoder.read_chunk(chunk) {
            Ok(read) => read,
            Err(error) => {
                missing.get_or_insert(error);
                continue;
            }
        };
        let (wide, high) = (chunk_width.min(width - left) as usize, chunk_height.min(height - top) as usize);
        let rows = eight_bits(&read, colours.bit_depth(), wide * in_chunk, page.palette.is_some());
        for (row, values) in rows.chunks_exact((wide * in_chunk).max(1)).take(high).enumerate() {
            let start = ((top as usize + row) * width as usize + left as usize) * samples;
            let Some(target) = all.get_mut(start..start + wide * samples) else { continue };
            if planar {
                target.iter_mut().skip(plane as usize).step_by(samples).zip(values).for_each(|(to, from)| *to = *from);
            } else {
                target.copy_from_slice(values);
            }
        }
    }
    if let Some(error) = &missing
        && all.iter().all(|value| *value == nothing)
    {
        return Err(failure(error));
    }
    let image = to_page(all, colours, page.palette.as_deref(), width, height);
    let warning =
        missing.map(|_| "the TIFF file is damaged or ends early, and a part of the picture is missing".into());
    Ok(Decoded { image, warning })
}

/// Every sample as eight bits: spread from fewer, cut from more. Numbers of a palette are not spread.
fn eight_bits(read: &DecodingResult, depth: u8, samples_in_row: usize, numbers: bool) -> Vec<u8> {
    match read {
        DecodingResult::U8(bytes) if depth < 8 && depth > 0 => {
            let row_bytes = (samples_in_row * usize::from(depth)).div_ceil(8).max(1);
            let most = (1_u16 << depth) - 1;
            let mut values = Vec::with_capacity(bytes.len() / row_bytes * samples_in_row);
            for row in bytes.chunks_exact(row_bytes) {
                values.extend((0..samples_in_row).map(|sample| {
                    let bit = sample * usize::from(depth);
                    // A sample of 3, 5, 6 or 7 bits may lie across two bytes.
                    let two = u16::from_be_bytes([row[bit / 8], row.get(bit / 8 + 1).copied().unwrap_or(0)]);
                    let value = (two >> (16 - bit % 8 - usize::from(depth))) & most;
                    if numbers { value as u8 } else { (value * 255 / most) as u8 }
                }));
            }
            values
        }
        DecodingResult::U8(bytes) => bytes.clone(),
        DecodingResult::U16(values) => values.iter().map(|value| (value >> 8) as u8).collect(),
        DecodingResult::U32(values) => values.iter().map(|value| (value >> 24) as u8).collect(),
        DecodingResult::U64(values) => values.iter().map(|value| (value >> 56) as u8).collect(),
        DecodingResult::F32(values) => values.iter().map(|value| (value.clamp(0.0, 1.0) * 255.0) as u8).collect(),
        DecodingResult::F64(values) => values.iter().map(|value| (value.clamp(0.0, 1.0) * 255.0) as u8).collect(),
        DecodingResult::F16(values) => {
            values.iter().map(|value| (value.to_f32().clamp(0.0, 1.0) * 255.0) as u8).collect()
        }
        DecodingResult::I8(values) => values.iter().map(|value| (i16::from(*value) + 128) as u8).collect(),
        DecodingResult::I16(values) => values.iter().map(|value| ((i32::from(*value) + 32_768) >> 8) as u8).collect(),
        DecodingResult::I32(values) => values.iter().map(|value| ((value >> 24) + 128) as u8).collect(),
        DecodingResult::I64(values) => values.iter().map(|value| ((value >> 56) + 128) as u8).collect(),
    }
}

fn to_page(all: Vec<u8>, colours: ColorType, palette: Option<&[[u8; 3]]>, width: u32, height: u32) -> PageImage {
    let samples = usize::from(colours.num_samples()).max(1);
    let by_pixel =
        |convert: &dyn Fn(&[u8]) -> [u8; 3]| all.chunks_exact(samples).flat_map(convert).collect::<Vec<u8>>();
    let (channels, pixels) = match (colours, palette) {
        (ColorType::Gray(_), Some(palette)) => {
            (3, by_pixel(&|pixel| palette.get(usize::from(pixel[0])).copied().unwrap_or([255; 3])))
        }
        (ColorType::Gray(_), None) => (1, all),
        (ColorType::RGB(_) | ColorType::RGBA(_), _) => (3, by_pixel(&|pixel| [pixel[0], pixel[1], pixel[2]])),
        (ColorType::CMYK(_) | ColorType::CMYKA(_), _) => (
            3,
            by_pixel(&|pixel| {
                let key = 255 - u32::from(pixel[3]);
                [pixel[0], pixel[1], pixel[2]].map(|ink| ((255 - u32::from(ink)) * key / 255) as u8)
            }),
        ),
        (ColorType::YCbCr(_), _) => (3, by_pixel(&|pixel| from_ycbcr(pixel[0], pixel[1], pixel[2]))),
        // The first of several bands is what can be looked at alone.
        _ => (1, all.chunks_exact(samples).map(|pixel| pixel[0]).collect()),
    };
    without_needless_colour(PageImage { width, height, channels, pixels, dpi: 0 })
}

fn from_ycbcr(y: u8, cb: u8, cr: u8) -> [u8; 3] {
    let (y, cb, cr) = (f32::from(y), f32::from(cb) - 128.0, f32::from(cr) - 128.0);
    [y + 1.402 * cr, y - 0.344_136 * cb - 0.714_136 * cr, y + 1.772 * cb].map(|value| value.clamp(0.0, 255.0) as u8)
}
