//! Which type a page is of, how sure that is, and why; and which pages make one document.

mod recognition;

pub use recognition::Recognition;
