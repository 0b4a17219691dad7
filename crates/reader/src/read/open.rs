//! Which opener a type of file has.

use crate::{
    archive, detect::detect, error::ReadResult, file::OpenFile, image, legacy, mail, markup, model::FileType as Type,
    office, options::ReadOptions, pdf, plain,
};

/// Opens a file by what it holds; a type is one line here.
pub(super) fn open(bytes: Vec<u8>, name: Option<&str>, options: &ReadOptions) -> ReadResult<Box<dyn OpenFile>> {
    options.limits.check_file(bytes.len() as u64)?;
    let bytes = match office::decrypted(&bytes, options)? {
        Some(within) => within,
        None => bytes,
    };
    let kind = detect(&bytes, name)?;
    Ok(match kind {
        Type::Pdf => Box::new(pdf::open(bytes, options)?),
        Type::Png | Type::Jpeg | Type::Tiff | Type::Bmp | Type::WebP | Type::Gif => {
            Box::new(image::open(kind, bytes, options)?)
        }
        Type::Docx => Box::new(office::docx::open(&bytes, options)?),
        Type::Pptx => Box::new(office::pptx::open(&bytes, options)?),
        Type::Xlsx => Box::new(office::xlsx::open(&bytes, options)?),
        Type::Xlsb => Box::new(office::workbook::open_xlsb(&bytes, options)?),
        Type::Xls => Box::new(office::workbook::open_xls(&bytes, options)?),
        Type::Odt => Box::new(office::odf::open_text(&bytes, options)?),
        Type::Ods => Box::new(office::odf::open_sheets(&bytes, options)?),
        Type::Odp => Box::new(office::odf::open_slides(&bytes, options)?),
        Type::Epub => Box::new(office::epub::open(&bytes, options)?),
        Type::Doc => Box::new(legacy::doc::open(&bytes, options)?),
        Type::Ppt => Box::new(legacy::ppt::open(&bytes, options)?),
        Type::Rtf => Box::new(legacy::rtf::open(&bytes, options)?),
        Type::Html => Box::new(markup::html::open(&bytes, options)?),
        Type::Eml => Box::new(mail::eml::open(&bytes, options)?),
        Type::Msg => Box::new(mail::msg::open(&bytes, options)?),
        Type::Csv | Type::Tsv => Box::new(plain::delimited::open(&bytes, kind, options)?),
        Type::Text | Type::Markdown | Type::Json | Type::Xml => Box::new(plain::text::open(&bytes, kind, options)?),
        Type::Zip | Type::Tar | Type::Gzip => Box::new(archive::open(&bytes, kind, options)?),
    })
}
