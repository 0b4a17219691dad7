//! Checklists: which documents a submission must hold, and what must agree across them.
//!
//! ```text
//!  checklist (YAML) ──read──► Checklist ─┐
//!  documents of a submission ──► Paper … ─┴─analyse──► Analysis: what is missing, what contradicts, how complete
//! ```
//!
//! | module | what it owns |
//! |---|---|
//! | `model` | a checklist: requirements, rules, references to fields |
//! | `read` | from YAML to a checklist, with every mistake at its place |
//! | `shipped` | the checklists that come with Bindery |
//! | `compare` | whether two values are the same name, date, amount, code or text |
//! | `paper` | a document of a submission, as far as the analysis needs it |
//! | `analyse` | which document fulfils which requirement, and the score |
//! | `rules` | contradictions and duplicates |
//! | `advice` | what to do next, in sentences |
//! | `report` | what an analysis has found |
//!
//! Everything here is pure: the same documents and checklist always give the same analysis.

mod advice;
mod analyse;
mod compare;
mod model;
mod paper;
mod read;
mod report;
mod rules;
mod shipped;
#[cfg(test)]
mod tests;

pub use analyse::analyse;
pub use compare::Comparison;
pub use model::{Agreement, Checklist, DateSequence, FieldRef, Recent, Requirement};
pub use paper::{Paper, PaperStatus, PaperValue};
pub use report::{Analysis, ChecklistUsed, Contradiction, DuplicatePaper, Fulfilment, StatedValue, Verdict};
pub use shipped::{shipped, shipped_text};
