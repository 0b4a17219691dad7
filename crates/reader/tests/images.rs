//! Image files of every kind as pages: whole, odd, cut off, too large.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use bindery_reader::{
    Limits, OpenFile, ReadError, ReadOptions,
    image::open,
    model::{FileType, PageKind, ReadBy},
};
use image::{DynamicImage, ExtendedColorType, GrayImage, ImageEncoder, ImageFormat, Luma, codecs::png::PngEncoder};
use std::io::Cursor;
use tiff::encoder::{TiffEncoder, colortype};

/// A page with some bars where lines would be.
fn page(width: u32, height: u32) -> GrayImage {
    GrayImage::from_fn(width, height, |x, y| {
        let ink = y % 20 < 6 && x > width / 10 && x < width * 9 / 10 && x % 12 < 8;
        Luma([if ink { 10 } else { 245 }])
    })
}

fn encoded(picture: &DynamicImage, format: ImageFormat) -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    picture.write_to(&mut bytes, format).unwrap();
    bytes.into_inner()
}

fn tiff_of(pages: &[GrayImage]) -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    let mut encoder = TiffEncoder::new(&mut bytes).unwrap();
    for page in pages {
        encoder.write_image::<colortype::Gray8>(page.width(), page.height(), page.as_raw()).unwrap();
    }
    bytes.into_inner()
}

#[test]
fn every_format_is_a_page_of_the_same_size_and_kind() {
    let picture = DynamicImage::ImageLuma8(page(200, 300)).to_rgb8().into();
    let formats = [
        (FileType::Png, ImageFormat::Png),
        (FileType::Jpeg, ImageFormat::Jpeg),
        (FileType::Tiff, ImageFormat::Tiff),
        (FileType::Bmp, ImageFormat::Bmp),
        (FileType::WebP, ImageFormat::WebP),
        (FileType::Gif, ImageFormat::Gif),
    ];
    for (kind, format) in formats {
        let file = open(kind, encoded(&picture, format), &ReadOptions::default()).unwrap();
        assert_eq!(file.info().page_count, 1, "{kind:?}");
        let page = file.page(0).unwrap();
        assert_eq!((page.kind, page.read_by), (PageKind::Scan, ReadBy::Nothing), "{kind:?}");
        let size = page.size.unwrap();
        assert!((size.width / size.height - 2.0 / 3.0).abs() < 0.01, "{kind:?}: {size:?}");
        let image = file.image(0, 300.0).unwrap().unwrap();
        assert_eq!((image.width, image.height), (200, 300), "{kind:?} is never enlarged");
        assert_eq!(image.pixels.len(), 200 * 300 * usize::from(image.channels));
        assert!(matches!(file.page(1), Err(ReadError::NoSuchPage { page: 2, count: 1 })));
    }
}

#[test]
fn a_tiff_has_a_page_for_each_picture() {
    let blank = GrayImage::from_pixel(300, 400, Luma([250]));
    let file = open(FileType::Tiff, tiff_of(&[page(200, 300), blank, page(100, 50)]), &ReadOptions::default()).unwrap();
    assert_eq!(file.info().page_count, 3);
    let kinds: Vec<PageKind> = (0..3).map(|index| file.page(index).unwrap().kind).collect();
    assert_eq!(kinds, [PageKind::Scan, PageKind::Blank, PageKind::Scan]);
    assert_eq!(file.page(1).unwrap().reason, "the image shows nothing but paper");
    assert_eq!(file.image(2, 300.0).unwrap().unwrap().width, 100);
}

#[test]
fn sixteen_bits_and_transparency_become_grey_or_colour_on_white() {
    let deep = DynamicImage::ImageLuma8(page(60, 60)).to_luma16().into();
    let file = open(FileType::Png, encoded(&deep, ImageFormat::Png), &ReadOptions::default()).unwrap();
    let image = file.image(0, 300.0).unwrap().unwrap();
    assert_eq!((image.channels, image.pixels[0]), (1, 245));
    let mut png = Vec::new();
    PngEncoder::new(&mut png).write_image(&[200, 0, 0, 255, 9, 9, 9, 0], 2, 1, ExtendedColorType::Rgba8).unwrap();
    let file = open(FileType::Png, png, &ReadOptions::default()).unwrap();
    assert_eq!(file.image(0, 300.0).unwrap().unwrap().pixels, [200, 0, 0, 255, 255, 255]);
}

#[test]
fn a_scan_with_more_than_is_asked_for_is_shrunk() {
    let file = open(FileType::Tiff, tiff_of(&[page(2480, 3508)]), &ReadOptions::default()).unwrap();
    let size = file.page(0).unwrap().size.unwrap();
    assert!((size.width - 595.2).abs() < 0.1, "A4 without a density counts as 300 dpi: {size:?}");
    let image = file.image(0, 100.0).unwrap().unwrap();
    assert_eq!((image.width, image.height, image.dpi), (827, 1169, 100));
}

#[test]
fn a_file_that_ends_early_is_read_as_far_as_it_goes() {
    let picture = DynamicImage::ImageLuma8(page(400, 600));
    for (kind, format) in [(FileType::Png, ImageFormat::Png), (FileType::Jpeg, ImageFormat::Jpeg)] {
        let bytes = encoded(&picture, format);
        let cut = bytes[..bytes.len() / 2].to_vec();
        let page = open(kind, cut, &ReadOptions::default()).unwrap().page(0).unwrap();
        assert_eq!(page.warnings.len(), 1, "{kind:?} says that something is missing");
    }
    let mut bytes = tiff_of(&[page(400, 600)]);
    // The directory is at the end: what is overwritten is the picture.
    bytes[8..20_000].fill(0);
    assert!(open(FileType::Tiff, bytes, &ReadOptions::default()).unwrap().page(0).is_ok());
}

#[test]
fn rubbish_is_one_sentence_and_size_is_checked_before_decoding() {
    for kind in [FileType::Png, FileType::Jpeg, FileType::Tiff, FileType::Bmp, FileType::WebP, FileType::Gif] {
        let error = open(kind, b"not a picture at all".to_vec(), &ReadOptions::default()).unwrap_err();
        assert!(!error.to_string().contains('\n'), "{error}");
        assert_eq!(open(kind, Vec::new(), &ReadOptions::default()).unwrap_err(), ReadError::Empty);
    }
    let limits = Limits { image_pixels: 10_000, ..Limits::default() };
    let options = ReadOptions { limits, ..ReadOptions::default() };
    for (kind, bytes) in [
        (FileType::Png, encoded(&DynamicImage::ImageLuma8(page(200, 300)), ImageFormat::Png)),
        (FileType::Tiff, tiff_of(&[page(200, 300)])),
    ] {
        let error = open(kind, bytes, &options).unwrap_err();
        assert_eq!(error.to_string(), "the number of pixels of the image is 60000, and the limit is 10000");
    }
    // A header that promises 100 gigapixels.
    let mut png = encoded(&DynamicImage::ImageLuma8(page(20, 20)), ImageFormat::Png);
    png[16..20].copy_from_slice(&1_000_000_u32.to_be_bytes());
    png[20..24].copy_from_slice(&100_000_u32.to_be_bytes());
    assert!(open(FileType::Png, png, &ReadOptions::default()).is_err());
}

#[test]
fn no_damage_makes_it_panic() {
    let picture = DynamicImage::ImageLuma8(page(40, 40)).to_rgb8().into();
    let mut samples = vec![(FileType::Tiff, tiff_of(&[page(40, 40), page(30, 30)]))];
    for (kind, format) in
        [(FileType::Png, ImageFormat::Png), (FileType::Bmp, ImageFormat::Bmp), (FileType::Gif, ImageFormat::Gif)]
    {
        samples.push((kind, encoded(&picture, format)));
    }
    for (kind, bytes) in samples {
        for at in 0..bytes.len().min(400) {
            for value in [0, 0xFF, bytes[at] ^ 0x10] {
                let mut damaged = bytes.clone();
                damaged[at] = value;
                if let Ok(file) = open(kind, damaged, &ReadOptions::default()) {
                    for index in 0..file.info().page_count.min(3) {
                        let _ = file.page(index);
                    }
                }
            }
        }
    }
}
