//! What a file and a page are, once read. Everything here is plain data that can be written as JSON.

mod block;
mod document;
mod geometry;
mod page;
mod table;

pub use block::{Block, BlockKind, Inlines, Marker, Role, Span, Style};
pub use document::{About, Attachment, AttachmentName, FileType, Metadata, OutlineEntry};
pub use geometry::{Rect, Size};
pub use page::{Page, PageImage, PageKind, ReadBy, Word};
pub use table::{Cell, Table};
