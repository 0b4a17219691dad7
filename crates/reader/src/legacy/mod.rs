//! Formats of the nineties, read by hand: RTF, and the Word and PowerPoint files before the packages of XML.

pub mod doc;
pub mod ppt;
pub mod rtf;

pub(crate) mod bytes;
pub(crate) mod code_page;
pub(crate) mod compound;
pub(crate) mod objects;
pub(crate) mod summary;
pub(crate) mod time;

mod field;
mod flow;
mod rows;
