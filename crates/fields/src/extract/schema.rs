//! What a type's file says of its fields.

use super::{check::Check, choice::plain, label::Label};
use regex::Regex;

/// The fields of a type, and the checks over them.
#[derive(Debug, Clone, Default)]
pub struct Schema {
    pub fields: Vec<Field>,
    pub checks: Vec<Check>,
    /// Whether the labels of a field are in the order in which they are meant, as those of users' types are. Shipped
    /// types list theirs by language, so their order says nothing.
    pub labels_are_ranked: bool,
}

impl Schema {
    pub fn field(&self, name: &str) -> Option<&Field> {
        self.fields.iter().find(|field| field.name == name)
    }
}

/// One value, or list of rows, that a document states.
#[derive(Debug, Clone)]
pub struct Field {
    pub name: String,
    pub kind: FieldType,
    /// A document without it needs a person.
    pub required: bool,
    /// Words beside or above the value.
    pub labels: Vec<Label>,
    /// Words that look like a label but mean another value.
    pub never: Vec<Label>,
    /// What the value looks like.
    pub pattern: Option<Regex>,
    /// Whose name, address or number it is.
    pub role: Option<Role>,
    /// What everybody calls such a value; a model that was trained for it decides.
    pub meaning: Option<Meaning>,
    /// Which end of a span of dates, such as `02/26 - 03/03`, it is.
    pub span: Option<SpanEnd>,
    /// Which of several candidates is meant when labels do not tell.
    pub prefer: Prefer,
    /// The only values that are allowed; empty if all are.
    pub one_of: Vec<String>,
    /// Of a list of rows.
    pub columns: Vec<Column>,
}

impl Field {
    /// The allowed value that a text means, as the type's file writes it.
    pub(crate) fn allowed(&self, text: &str) -> Option<&str> {
        let text = plain(text);
        self.one_of.iter().find(|one| plain(one) == text).map(String::as_str)
    }

    /// The regular expression of its values, as the type's file writes it.
    pub fn pattern_text(&self) -> Option<&str> {
        self.pattern.as_ref().map(Regex::as_str)
    }
}

/// A column of a list of rows.
#[derive(Debug, Clone)]
pub struct Column {
    pub name: String,
    pub kind: FieldType,
    /// Words of its heading.
    pub labels: Vec<Label>,
}

/// An end of a span of dates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpanEnd {
    Start,
    End,
}

/// A value that papers of the same kind all state, and for which a model is shipped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Meaning {
    /// What was paid, on a receipt.
    ReceiptTotal,
    ReceiptNet,
    ReceiptTax,
    ReceiptDate,
    /// Who issued a receipt.
    ReceiptMerchant,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Who wrote the document.
    Sender,
    /// Whom it is for.
    Recipient,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Prefer {
    #[default]
    First,
    Last,
    Largest,
    /// The heading of the document.
    Title,
}

macro_rules! field_types {
    ($($variant:ident $name:literal,)*) => {
        /// What a value is.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum FieldType {
            $($variant,)*
        }

        impl FieldType {
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// As schemas write it.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $name),* }
            }
        }
    };
}

field_types! {
    String "string",
    Name "name",
    Decimal "decimal",
    Money "money",
    Integer "integer",
    Date "date",
    DateRange "date_range",
    Choice "choice",
    Iban "iban",
    Bic "bic",
    VatId "vat_id",
    Email "email",
    Phone "phone",
    Address "address",
    Currency "currency",
    Mrz "mrz",
    Rows "rows",
}
