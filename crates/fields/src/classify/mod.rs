//! Which type a page is of, how sure that is, and why; and which pages make one document.
//!
//! ```text
//!  Page ──view──► pieces of text with their place ──┬─phrases, patterns──┐
//!                                                   └─signals────────────┴─► a score for each type ──► confidence, reasons
//!  pages and their classes ──marks──► first page? same number? ──group──► documents
//!  documents that fit no type ──by_fields──► the type whose fields and sums fit
//! ```
//!
//! All knowledge of types is in their YAML files; the code knows only how text and layout are compared. A page is judged
//! alone, so pages may be classified in any order, and the same page always gets the same answer.

mod by_fields;
mod class;
mod classifier;
mod confidence;
mod group;
mod marks;
mod phrases;
mod reason;
mod recognition;
mod signals;
mod till;
mod view;

pub use by_fields::{LEAST_TYPE_CONFIDENCE, documents};
pub use class::PageClass;
pub use classifier::Classifier;
pub use confidence::ClassCalibration;
pub use group::{Document, group};
pub use reason::Reason;
pub use recognition::{Recognition, Rule};
pub use signals::Signal;
