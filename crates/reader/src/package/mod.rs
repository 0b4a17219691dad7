//! Safe access to packages: zip files whose parts are XML, as Office, OpenDocument and EPUB files are.
//!
//! A package is never trusted. Sizes are counted as parts are unpacked and not taken from what the zip declares, the
//! sum over all parts is bounded, entities of XML are never expanded beyond the five that every document has, and
//! elements nested too deep end the part. All of it is set by [`Limits`](crate::Limits).

mod path;
mod relations;
mod tree;
mod xml;
mod zip;

pub use path::{resolve, safe_name};
pub use relations::{Relation, Relations};
pub use tree::{Child, Element, Tree};
pub use xml::{Pull, Pulled, Tag, decode_xml};
pub use zip::Package;
