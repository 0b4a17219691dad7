//! An image file that was opened: each picture is a page.

use super::{
    decode::{self, Decoded, Header},
    density, raster,
    tiff::{self, TiffPage},
};
use crate::{
    error::{ReadError, ReadResult},
    file::OpenFile,
    model::{About, Attachment, FileType, Metadata, Page, PageImage, PageKind, ReadBy, Size},
    options::{Limits, ReadOptions},
};
use std::{
    collections::VecDeque,
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Mutex, PoisonError},
};

/// A page is mostly asked for first and its picture right after, by each of a few threads: so many decoded pictures are
/// kept until they are asked for.
const KEPT_PICTURES: usize = 4;
/// Larger ones are decoded twice rather than kept.
const KEPT_PIXELS: usize = 40_000_000;
/// Beyond this ratio pixels are not square: faxes have twice as many across as down.
const SQUARE: f32 = 1.15;

/// An image file whose header was read and checked; pictures are decoded when they are asked for.
pub struct ImageFile {
    about: About,
    bytes: Arc<Vec<u8>>,
    pages: Pages,
    limits: Limits,
    kept: Mutex<VecDeque<(usize, Decoded)>>,
}

enum Pages {
    One(Header),
    Tiff(Vec<TiffPage>),
}

impl fmt::Debug for ImageFile {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("ImageFile").field("about", &self.about).finish_non_exhaustive()
    }
}

/// Opens an image file of the given type.
pub fn open(kind: FileType, bytes: Vec<u8>, options: &ReadOptions) -> ReadResult<ImageFile> {
    options.limits.check_file(bytes.len() as u64)?;
    let mut warnings = Vec::new();
    let (bytes, pages) = if kind == FileType::Tiff {
        let bytes = tiff::with_palettes_as_grey(&bytes).into_owned();
        let (pages, wrong) = catch_panics(|| tiff::pages(&bytes, &options.limits))?;
        warnings = wrong;
        (bytes, Pages::Tiff(pages))
    } else {
        let header = catch_panics(|| decode::header(kind, &bytes, &options.limits))?;
        (bytes, Pages::One(header))
    };
    let page_count = match &pages {
        Pages::One(_) => 1,
        Pages::Tiff(pages) => pages.len(),
    };
    if page_count == 0 {
        return Err(ReadError::damaged("image", "it holds no picture"));
    }
    let about = About { file_type: kind, page_count, metadata: Metadata::default(), outline: Vec::new(), warnings };
    Ok(ImageFile {
        about,
        bytes: Arc::new(bytes),
        pages,
        limits: options.limits.clone(),
        kept: Mutex::new(VecDeque::new()),
    })
}

/// A decoder of somebody else's may give up where it meets what it did not expect; that is the file's fault.
fn catch_panics<T>(work: impl FnOnce() -> ReadResult<T>) -> ReadResult<T> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| Err(ReadError::damaged("image", "it cannot be decoded")))
}

impl ImageFile {
    fn header(&self, index: usize) -> ReadResult<&Header> {
        let header = match &self.pages {
            Pages::One(header) => (index == 0).then_some(header),
            Pages::Tiff(pages) => pages.get(index).map(|page| &page.header),
        };
        header.ok_or(ReadError::NoSuchPage { page: index + 1, count: self.about.page_count })
    }

    /// Width and height in pixels once upright and square, and the density that they then have.
    fn shape(&self, index: usize) -> ReadResult<(u32, u32, u32)> {
        let header = self.header(index)?;
        let (across, down) = density::sensible(header.density, header.width, header.height);
        let (mut width, mut height) = (header.width, header.height);
        let mut dpi = across;
        if across / down > SQUARE {
            height = (height as f32 * across / down) as u32;
        } else if down / across > SQUARE {
            width = (width as f32 * down / across) as u32;
            dpi = down;
        }
        if u64::from(width) * u64::from(height) > self.limits.image_pixels {
            (width, height) = (header.width, header.height);
        }
        if decode::swaps_sides(header.orientation) {
            (width, height) = (height, width);
        }
        Ok((width, height, dpi.round() as u32))
    }

    fn decoded(&self, index: usize) -> ReadResult<Decoded> {
        let header = *self.header(index)?;
        let (width, height, dpi) = self.shape(index)?;
        let mut decoded = catch_panics(|| match &self.pages {
            Pages::One(_) => decode::decode(self.about.file_type, &self.bytes, &self.limits),
            Pages::Tiff(pages) => match pages.get(index) {
                Some(page) => tiff::decode(&self.bytes, page, &self.limits),
                None => Err(ReadError::NoSuchPage { page: index + 1, count: pages.len() }),
            },
        })?;
        let upright = decode::upright(decoded.image, header.orientation);
        decoded.image = raster::resized(upright, width, height, dpi);
        Ok(decoded)
    }

    fn keep(&self, index: usize, decoded: Decoded) {
        if decoded.image.pixels.len() > KEPT_PIXELS {
            return;
        }
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= KEPT_PICTURES {
            kept.pop_front();
        }
        kept.push_back((index, decoded));
    }

    fn take(&self, index: usize) -> Option<Decoded> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let place = kept.iter().position(|(of, _)| *of == index)?;
        kept.remove(place).map(|(_, decoded)| decoded)
    }
}

impl OpenFile for ImageFile {
    fn info(&self) -> &About {
        &self.about
    }

    fn page(&self, index: usize) -> ReadResult<Page> {
        let decoded = self.decoded(index)?;
        let image = &decoded.image;
        let points = |pixels: u32| pixels as f32 * 72.0 / image.dpi.max(1) as f32;
        let blank = raster::is_blank(image);
        let page = Page {
            size: Some(Size { width: points(image.width), height: points(image.height) }),
            kind: if blank { PageKind::Blank } else { PageKind::Scan },
            read_by: ReadBy::Nothing,
            reason: if blank { "the image shows nothing but paper" } else { "the file is an image and holds no text" }
                .to_owned(),
            warnings: decoded.warning.iter().cloned().collect(),
            ..Page::converted(index + 1)
        };
        self.keep(index, decoded);
        Ok(page)
    }

    /// The picture in its own density, or shrunk where it has far more than is asked for; it is never enlarged.
    fn image(&self, index: usize, dpi: f32) -> ReadResult<Option<PageImage>> {
        let decoded = match self.take(index) {
            Some(decoded) => decoded,
            None => self.decoded(index)?,
        };
        let image = decoded.image;
        let factor = dpi / image.dpi.max(1) as f32;
        if !(0.0..0.75).contains(&factor) {
            return Ok(Some(image));
        }
        let shrunk = |side: u32| ((side as f32 * factor).round() as u32).max(1);
        let (width, height) = (shrunk(image.width), shrunk(image.height));
        Ok(Some(raster::resized(image, width, height, dpi.round().max(1.0) as u32)))
    }

    fn attachments(&self) -> ReadResult<Vec<Attachment>> {
        Ok(Vec::new())
    }
}
