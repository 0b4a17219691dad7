//! PDF files, read with `hayro-syntax`: its parser finds objects and instructions, and this module turns a page's
//! instructions into [`PageContent`](crate::layout::PageContent) without painting anything.
//!
//! A file is opened once; its pages are read from any number of threads. Nothing of a page is kept after it was read,
//! only what the file's fonts mean.

mod about;
mod annotations;
mod attachments;
mod code_pages;
mod encryption;
mod file;
mod fonts;
mod guard;
mod interpreter;
mod kind;
mod layers;
mod links;
mod marks;
mod matrix;
mod page;
mod paths;
mod recode;
mod render;
mod state;
mod streams;
mod strings;
mod text;
mod tree;

pub use file::{PdfFile, open};
