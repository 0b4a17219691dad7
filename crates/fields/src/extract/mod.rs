//! The values that a document states: each with the page, the words and the box that state it, and what is doubtful.
//!
//! ```text
//!  attached e-invoice ─► every field, exactly ─────────────┐
//!  user's template ────► where this sender puts them ──────┤ the surest source of each field
//!  labels and types ───► candidates, scored, assigned ─────┘        │
//!                                                                   ▼
//!                                  checks ─► confidence, doubts, what a person should see
//! ```
//!
//! | module | what it owns |
//! |---|---|
//! | [`schema`] | which fields a type has; `schema_read` reads them from YAML |
//! | [`check`] | sums and orders that must hold |
//! | [`value`] | values as printed, and their exact form |
//! | [`label`] | the words beside a value |
//! | `sheet`, `habits` | pages as lines of words; how they write numbers and dates |
//! | `candidate`, `occurrence` | all values and all labels on the pages |
//! | `choice` | ticked boxes |
//! | `score`, `assign` | which value belongs to which label, decided together |
//! | `continued`, `doubts` | texts of several lines; what else may be meant |
//! | `learned` | trained models: features of candidates, decisions, reasons; [`training`] makes examples for the trainer |
//! | `party`, `party_fields` | who wrote it, and to whom |
//! | `rows` | lists such as line items |
//! | `sums` | what sums that fail say about the values |
//! | `identity` | the machine-readable lines of identity documents |
//! | [`einvoice`] | ZUGFeRD, Factur-X and UBL |
//! | [`template`] | what users say of the documents of one sender |
//! | `block` | values of several lines |
//! | [`proposal`] | what a language model says of doubtful values, held against the pages |
//! | `grounding` | where on the pages a value stands |
//! | [`extraction`] | the result and its confidence |
//! | `added` | fields that a program of the user's own adds |
//! | [`correction`] | what people say about the result: values, cells, rows |
//! | `extractor` | all of it in order |

mod added;
mod assign;
mod block;
mod candidate;
pub mod check;
mod choice;
mod continued;
pub mod correction;
mod doubts;
pub mod einvoice;
pub mod extraction;
mod extractor;
mod grounding;
mod habits;
mod heading;
mod identity;
pub mod label;
pub(crate) mod learned;
mod lines;
mod occurrence;
mod party;
mod party_fields;
pub mod proposal;
mod rows;
pub mod schema;
mod schema_read;
mod score;
mod sheet;
mod sums;
pub mod template;
pub mod value;

pub use check::{Check, CheckResult};
pub use correction::CorrectionError;
pub use extraction::{ConfidenceParts, Doubt, DoubtKind, Extraction, FieldValue, Row, RowCell, Tier};
pub use extractor::{Sources, extract};
pub use learned::{training, use_models};
pub use schema::{Column, Field, FieldType, Schema};
pub use template::Templates;

use value::{Decimal, Habits, Parsed, codes, currency, date, date_range, decimal, vat};

/// A text as a value of a type, or None if it is none.
pub fn parse_as(kind: FieldType, text: &str, habits: &Habits) -> Option<Parsed> {
    let number = |text: &str| match Decimal::from_plain(text) {
        // What is already exact is not read a second time: 1.234 is one and a bit here.
        Some(exact) if habits.decimal_mark.is_none() => Some(Parsed::sure(exact.to_string())),
        _ => decimal::parse(text, habits.decimal_mark),
    };
    match kind {
        FieldType::String | FieldType::Name | FieldType::Address | FieldType::Mrz | FieldType::Choice => {
            let plain = text.split_whitespace().collect::<Vec<_>>().join(" ");
            (!plain.is_empty()).then(|| Parsed::sure(plain))
        }
        FieldType::Money => number(&currency::amount_of(text).0),
        FieldType::Decimal => number(text.trim().trim_end_matches('%').trim_end()),
        FieldType::Integer => number(text.trim()).filter(|parsed| !parsed.normalised.contains('.')),
        FieldType::Date => date::parse(text, habits.dates),
        FieldType::DateRange => date_range::parse(text, habits.dates),
        FieldType::Iban => codes::iban(text),
        FieldType::Bic => codes::bic(text),
        FieldType::VatId => vat::parse(text),
        FieldType::Email => codes::email(text),
        FieldType::Phone => codes::phone(text),
        FieldType::Currency => currency::parse(text).map(Parsed::sure),
        FieldType::Rows => None,
    }
}
