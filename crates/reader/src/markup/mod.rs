//! Markup that is shown as pages: HTML into blocks; and what tables and running text of other formats are made with.

pub mod html;
pub mod tree;

mod flow;
mod grid;
mod layout;
mod numbering;
mod place;
mod style;
mod walk;

pub(crate) use flow::{neat, trimmed};
pub(crate) use numbering::written;
