//! Trained models in place of hand-set weights: candidates keep their features, and a forest says how likely each is.
//!
//! ```text
//!  sheet ─► candidates ─► features ─► forest ─► log-odds ─► joint decision ─► calibrated confidence, reasons
//! ```
//!
//! | module | what it owns |
//! |---|---|
//! | `lexicon` | words around values by category, in `words.txt` |
//! | `money` | features of amounts: labels, arithmetic, place, rivals |
//! | `merchant` | features of lines that may name who issued a slip |
//! | `stated_name` | names beside labels of their own, which need no model |
//! | `dates` | features of days |
//! | `labelled` | features of candidates beside the labels of any field, also of users' own types |
//! | `decide` | which candidate each field of a known meaning gets |
//! | `reasons` | why, in words |
//! | [`training`] | examples for the trainer |
//!
//! The models are in `fields.model`, which `make train-fields` writes.

mod dates;
mod decide;
mod labelled;
pub(crate) mod lexicon;
mod merchant;
mod money;
mod name_doubts;
mod reasons;
mod sink;
mod stated_name;
pub mod training;

pub(crate) use decide::{Decided, Decider};
pub(crate) use labelled::{Labelled, Pair};
pub(crate) use money::hundredths;
pub(crate) use name_doubts::doubt_of_name;
pub(crate) use stated_name::beside_label;

use crate::{
    extract::schema::FieldType,
    learn::{ModelFile, ModelFileError, StoredModel},
};
use std::sync::{LazyLock, OnceLock};

/// What is decided by a model of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ModelKind {
    ReceiptTotal,
    ReceiptNet,
    ReceiptTax,
    ReceiptMerchant,
    ReceiptDate,
    /// Amounts and other numbers beside the labels of a field.
    LabelledNumber,
    LabelledDate,
    LabelledText,
}

impl ModelKind {
    pub const ALL: &[Self] = &[
        Self::ReceiptTotal,
        Self::ReceiptNet,
        Self::ReceiptTax,
        Self::ReceiptMerchant,
        Self::ReceiptDate,
        Self::LabelledNumber,
        Self::LabelledDate,
        Self::LabelledText,
    ];

    /// The model for the candidates beside the labels of a field of some type.
    pub(crate) fn for_labelled(kind: FieldType) -> Option<Self> {
        match kind {
            FieldType::Money | FieldType::Decimal | FieldType::Integer => Some(Self::LabelledNumber),
            FieldType::Date | FieldType::DateRange => Some(Self::LabelledDate),
            FieldType::String | FieldType::Name | FieldType::Address => Some(Self::LabelledText),
            _ => None,
        }
    }

    /// As the file of models names it.
    pub fn name(self) -> &'static str {
        match self {
            Self::ReceiptTotal => "receipt_total",
            Self::ReceiptNet => "receipt_net",
            Self::ReceiptTax => "receipt_tax",
            Self::ReceiptMerchant => "receipt_merchant",
            Self::ReceiptDate => "receipt_date",
            Self::LabelledNumber => "labelled_number",
            Self::LabelledDate => "labelled_date",
            Self::LabelledText => "labelled_text",
        }
    }

    /// The names of its features, in order.
    pub fn features(self) -> Vec<String> {
        match self {
            Self::ReceiptTotal | Self::ReceiptNet | Self::ReceiptTax => money::Amounts::feature_names(),
            Self::ReceiptMerchant => merchant::Names::feature_names(),
            Self::ReceiptDate => dates::Days::feature_names(),
            Self::LabelledNumber | Self::LabelledDate | Self::LabelledText => Labelled::feature_names(),
        }
    }
}

/// The trained models, each with the names of its features.
#[derive(Debug)]
pub(crate) struct FieldModels {
    all: Vec<(ModelKind, StoredModel, Vec<String>)>,
}

impl FieldModels {
    pub(crate) fn from_bytes(bytes: &[u8]) -> Result<Self, ModelFileError> {
        let file = ModelFile::from_bytes(bytes)?;
        let model = |kind: &ModelKind| {
            let names = kind.features();
            Ok((*kind, file.model(kind.name(), &names)?.clone(), names))
        };
        ModelKind::ALL.iter().map(model).collect::<Result<_, _>>().map(|all| Self { all })
    }

    pub(crate) fn get(&self, kind: ModelKind) -> Option<&(ModelKind, StoredModel, Vec<String>)> {
        self.all.iter().find(|(own, _, _)| *own == kind)
    }
}

static SHIPPED: LazyLock<Option<FieldModels>> =
    LazyLock::new(|| FieldModels::from_bytes(include_bytes!("fields.model")).ok());

static CHOSEN: OnceLock<FieldModels> = OnceLock::new();

/// Replaces the built-in models for the whole process, before the first document is read; later calls change nothing.
pub fn use_models(bytes: &[u8]) -> Result<(), ModelFileError> {
    let models = FieldModels::from_bytes(bytes)?;
    CHOSEN.get_or_init(|| models);
    Ok(())
}

/// The models in use. None only where the built-in file was made by another version, which a test would have told.
pub(crate) fn models() -> Option<&'static FieldModels> {
    CHOSEN.get().or(SHIPPED.as_ref())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_models_fit_this_version() {
        let bytes = include_bytes!("fields.model");
        assert!(bytes.len() < 500_000, "{} bytes", bytes.len());
        FieldModels::from_bytes(bytes).unwrap();
    }

    #[test]
    fn every_feature_has_a_name_of_its_own() {
        for kind in ModelKind::ALL {
            let mut names = kind.features();
            let count = names.len();
            names.sort();
            names.dedup();
            assert_eq!(names.len(), count, "{}", kind.name());
        }
    }
}
