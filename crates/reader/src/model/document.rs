//! What is known of a file as a whole.

use serde::{Deserialize, Serialize};

/// What a file says of itself, and how many pages it has.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct About {
    pub file_type: FileType,
    pub page_count: usize,
    pub metadata: Metadata,
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub outline: Vec<OutlineEntry>,
    /// What is wrong with the file as a whole, though it could be opened.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub warnings: Vec<String>,
}

/// As the file says it; nothing is made up. Times are RFC 3339 where the file's form can be understood.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Metadata {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keywords: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub modified: Option<String>,
    /// The program that wrote the text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub creator: Option<String>,
    /// The program that wrote the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub producer: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutlineEntry {
    pub title: String,
    /// From 1.
    pub level: u8,
    /// From 1; None if it leads nowhere.
    pub page: Option<usize>,
}

/// A file inside the file. It is a file of its own: whoever wants it reads it with the reader again.
/// What a file inside a file is called, and what it is said to be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttachmentName {
    pub name: String,
    pub media_type: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attachment {
    /// As the file names it; may hold folders, never leads out of one.
    pub name: String,
    pub media_type: Option<String>,
    pub bytes: Vec<u8>,
}

macro_rules! file_types {
    ($($variant:ident $name:literal $extension:literal $media:literal,)*) => {
        /// The types that can be read.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
        pub enum FileType {
            $(#[serde(rename = $name)] $variant,)*
        }

        impl FileType {
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// A short word for it: "pdf", "docx".
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),* }
            }

            /// The usual ending of a file's name, without the dot.
            pub fn extension(self) -> &'static str {
                match self { $(Self::$variant => $extension),* }
            }

            pub fn media_type(self) -> &'static str {
                match self { $(Self::$variant => $media),* }
            }
        }
    };
}

file_types! {
    Pdf "pdf" "pdf" "application/pdf",
    Png "png" "png" "image/png",
    Jpeg "jpeg" "jpg" "image/jpeg",
    Tiff "tiff" "tif" "image/tiff",
    Bmp "bmp" "bmp" "image/bmp",
    WebP "webp" "webp" "image/webp",
    Gif "gif" "gif" "image/gif",
    Docx "docx" "docx" "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    Pptx "pptx" "pptx" "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    Xlsx "xlsx" "xlsx" "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    Xlsb "xlsb" "xlsb" "application/vnd.ms-excel.sheet.binary.macroEnabled.12",
    Odt "odt" "odt" "application/vnd.oasis.opendocument.text",
    Ods "ods" "ods" "application/vnd.oasis.opendocument.spreadsheet",
    Odp "odp" "odp" "application/vnd.oasis.opendocument.presentation",
    Doc "doc" "doc" "application/msword",
    Xls "xls" "xls" "application/vnd.ms-excel",
    Ppt "ppt" "ppt" "application/vnd.ms-powerpoint",
    Rtf "rtf" "rtf" "application/rtf",
    Html "html" "html" "text/html",
    Eml "eml" "eml" "message/rfc822",
    Msg "msg" "msg" "application/vnd.ms-outlook",
    Epub "epub" "epub" "application/epub+zip",
    Csv "csv" "csv" "text/csv",
    Tsv "tsv" "tsv" "text/tab-separated-values",
    Markdown "md" "md" "text/markdown",
    Text "txt" "txt" "text/plain",
    Json "json" "json" "application/json",
    Xml "xml" "xml" "application/xml",
    Zip "zip" "zip" "application/zip",
    Tar "tar" "tar" "application/x-tar",
    Gzip "gzip" "gz" "application/gzip",
}
