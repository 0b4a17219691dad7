//! Media types by file extension: enough to tell people and processors what a file claims to be. Processors look at
//! the bytes; nothing trusts this.

use std::path::Path;

const UNKNOWN: &str = "application/octet-stream";

/// In the order of the extensions.
const TYPES: &[(&str, &str)] = &[
    ("bmp", "image/bmp"),
    ("csv", "text/csv"),
    ("doc", "application/msword"),
    ("docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
    ("eml", "message/rfc822"),
    ("gif", "image/gif"),
    ("htm", "text/html"),
    ("html", "text/html"),
    ("jpeg", "image/jpeg"),
    ("jpg", "image/jpeg"),
    ("json", "application/json"),
    ("log", "text/plain"),
    ("md", "text/markdown"),
    ("msg", "application/vnd.ms-outlook"),
    ("odt", "application/vnd.oasis.opendocument.text"),
    ("pdf", "application/pdf"),
    ("png", "image/png"),
    ("pptx", "application/vnd.openxmlformats-officedocument.presentationml.presentation"),
    ("rtf", "application/rtf"),
    ("tif", "image/tiff"),
    ("tiff", "image/tiff"),
    ("tsv", "text/tab-separated-values"),
    ("txt", "text/plain"),
    ("webp", "image/webp"),
    ("xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
    ("xml", "application/xml"),
    ("yaml", "application/yaml"),
    ("yml", "application/yaml"),
    ("zip", "application/zip"),
];

/// What a file with this name claims to be.
pub fn media_type(name: &str) -> &'static str {
    let Some(extension) = Path::new(name).extension().and_then(|extension| extension.to_str()) else {
        return UNKNOWN;
    };
    let extension = extension.to_ascii_lowercase();
    TYPES.iter().find(|(known, _)| *known == extension).map_or(UNKNOWN, |(_, media_type)| media_type)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_case_of_an_extension_does_not_matter() {
        assert_eq!(media_type("Scan.PDF"), "application/pdf");
        assert_eq!(media_type("notes.txt"), "text/plain");
        assert_eq!(media_type("README"), UNKNOWN);
        assert_eq!(media_type(".hidden"), UNKNOWN);
    }
}
