//! Zip files: documents that are stored as one, and archives.

use crate::{
    error::{ReadError, ReadResult},
    model::FileType,
    options::Limits,
    package::Package,
};

/// The parts that say what a package is are small; the file as a whole is measured by whoever opens it.
fn limits() -> Limits {
    Limits { part_bytes: 4 << 20, unpacked_bytes: 8 << 20, archive_entries: usize::MAX, ..Limits::default() }
}

pub(super) fn detect(bytes: &[u8]) -> ReadResult<FileType> {
    // A zip that is damaged beyond its directory is still a zip; opening it will say what is wrong.
    let Ok(package) = Package::open(bytes, "zip", &limits(), None) else { return Ok(FileType::Zip) };
    if let Ok(Some(media_type)) = package.read("mimetype")
        && let Some(found) = by_media_type(&String::from_utf8_lossy(&media_type))
    {
        return found;
    }
    if let Some(found) = by_content_types(&package) {
        return Ok(found);
    }
    if package.has("META-INF/container.xml") && package.names().any(|name| name.to_lowercase().ends_with(".opf")) {
        return Ok(FileType::Epub);
    }
    let by_part = [
        ("word/document.xml", FileType::Docx),
        ("ppt/presentation.xml", FileType::Pptx),
        ("xl/workbook.xml", FileType::Xlsx),
        ("xl/workbook.bin", FileType::Xlsb),
    ];
    if let Some((_, found)) = by_part.into_iter().find(|(part, _)| package.has(part)) {
        return Ok(found);
    }
    if package.has("content.xml") && package.has("META-INF/manifest.xml") {
        let manifest = package.read("META-INF/manifest.xml").ok().flatten().unwrap_or_default();
        let manifest = String::from_utf8_lossy(&manifest).into_owned();
        let known = [FileType::Odt, FileType::Ods, FileType::Odp];
        if let Some(found) = known.into_iter().find(|known| manifest.contains(known.media_type())) {
            return Ok(found);
        }
    }
    if package.has("Index/Document.iwa") || package.has("Index.zip") {
        let looks_like = Some("an Apple iWork document".to_owned());
        return Err(ReadError::UnknownType { looks_like });
    }
    Ok(FileType::Zip)
}

/// OpenDocument and EPUB say in their first part what they are; templates read like documents.
fn by_media_type(media_type: &str) -> Option<ReadResult<FileType>> {
    let media_type = media_type.trim().trim_start_matches('\u{feff}');
    let base = media_type.strip_suffix("-template").unwrap_or(media_type);
    let base = base.strip_suffix("-master").unwrap_or(base);
    let known = [FileType::Odt, FileType::Ods, FileType::Odp, FileType::Epub];
    if let Some(found) = known.into_iter().find(|known| known.media_type() == base) {
        return Some(Ok(found));
    }
    let kind = base.strip_prefix("application/vnd.oasis.opendocument.")?;
    let looks_like = Some(format!("an OpenDocument {kind}"));
    Some(Err(ReadError::UnknownType { looks_like }))
}

/// Office says what its main part is, wherever that part is.
fn by_content_types(package: &Package<'_>) -> Option<FileType> {
    let tree = package.tree("[Content_Types].xml").ok().flatten()?;
    let types: Vec<&str> = tree.root().elements().filter_map(|element| element.attribute("ContentType")).collect();
    let has = |words: &[&str]| types.iter().any(|found| words.iter().all(|word| found.contains(word)));
    if has(&["wordprocessingml", "main+xml"]) || has(&["ms-word", "main+xml"]) {
        return Some(FileType::Docx);
    }
    if has(&["ms-excel.sheet.binary", "main"]) {
        return Some(FileType::Xlsb);
    }
    if has(&["spreadsheetml", "main+xml"]) || has(&["ms-excel", "main+xml"]) {
        return Some(FileType::Xlsx);
    }
    if has(&["presentationml", "main+xml"]) || has(&["ms-powerpoint", "main+xml"]) {
        return Some(FileType::Pptx);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Cursor, Write};
    use zip::{ZipWriter, write::SimpleFileOptions};

    fn zipped(parts: &[(&str, &str)]) -> Vec<u8> {
        let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
        for (name, text) in parts {
            writer.start_file(*name, SimpleFileOptions::default()).unwrap();
            writer.write_all(text.as_bytes()).unwrap();
        }
        writer.finish().unwrap().into_inner()
    }

    #[test]
    fn a_package_is_told_by_what_is_inside() {
        let types = "<Types><Override PartName='/x.xml' ContentType='application/vnd.openxmlformats-officedocument.presentationml.slideshow.main+xml'/></Types>";
        assert_eq!(detect(&zipped(&[("[Content_Types].xml", types)])), Ok(FileType::Pptx));
        let template = "application/vnd.oasis.opendocument.text-template";
        assert_eq!(detect(&zipped(&[("mimetype", template)])), Ok(FileType::Odt));
        assert_eq!(detect(&zipped(&[("mimetype", "application/epub+zip")])), Ok(FileType::Epub));
        assert_eq!(detect(&zipped(&[("Word/Document.xml", "<w/>")])), Ok(FileType::Docx));
        assert_eq!(detect(&zipped(&[("a.pdf", "x")])), Ok(FileType::Zip));
        let drawing = detect(&zipped(&[("mimetype", "application/vnd.oasis.opendocument.graphics")])).unwrap_err();
        assert_eq!(drawing.to_string(), "this is an OpenDocument graphics, which cannot be read");
    }
}
