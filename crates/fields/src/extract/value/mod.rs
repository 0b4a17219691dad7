//! Values as documents print them, and their one exact form.
//!
//! Every parser takes the words as printed and gives the normalised text that results, exports and checks use: amounts
//! as `1234.56`, dates as `2018-03-05`, account numbers without spaces. Nothing is guessed in silence: where the print
//! allows two readings, the value comes with a doubt that names both.
//!
//! | module | what it owns |
//! |---|---|
//! | [`decimal`] | exact decimals; thousands and decimal marks of all habits |
//! | [`date`] | dates in figures and words, and which of two figures is the month |
//! | [`date_range`] | spans of dates, in full and shortened |
//! | [`currency`] | currencies by code, sign and name |
//! | [`codes`] | IBAN, BIC, e-mail addresses, telephone numbers |
//! | [`vat`] | VAT identification numbers and their checksums |
//! | [`mrz`] | the machine-readable lines of identity documents |
//! | [`address`] | postal addresses, and the names that stand above them |

pub mod address;
pub mod codes;
pub mod currency;
pub mod date;
pub mod date_range;
pub mod decimal;
pub mod mrz;
pub mod vat;

pub use date::DateOrder;
pub use decimal::Decimal;

/// Habits of one document, found from all that it prints, with which a single value is read.
#[derive(Debug, Clone, Copy, Default)]
pub struct Habits {
    /// The mark before the decimals, where some amount shows it beyond doubt.
    pub decimal_mark: Option<char>,
    /// Whether days or months come first, and how that is known.
    pub dates: DateOrder,
}

/// A value that was understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parsed {
    pub normalised: String,
    /// A sentence where the print allows another reading.
    pub doubt: Option<String>,
    /// A checksum that the value carries, if it has one: whether it holds.
    pub checksum: Option<bool>,
}

impl Parsed {
    pub(crate) fn sure(normalised: impl Into<String>) -> Self {
        Self { normalised: normalised.into(), doubt: None, checksum: None }
    }

    pub(crate) fn checked(normalised: impl Into<String>, checksum: Option<bool>) -> Self {
        Self { normalised: normalised.into(), doubt: None, checksum }
    }
}
