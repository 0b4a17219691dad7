//! Documents in, data out: the `documents` workflow, behind [reading](crate::reading).
//!
//! | processor | works on | does |
//! |---|---|---|
//! | `page_classifier` | each page | says which type of document it is from, how sure that is, and why |
//! | `document_grouper` | each file | puts consecutive pages together to documents |
//! | `field_extractor` | each document | reads its fields, each with page, quote and box, and says what is doubtful |
//! | `document_consolidator` | the submission | one result: documents, fields, what needs a person, what is missing and why |

mod classifier;
mod consolidator;
mod extractor;
mod grouper;
mod history;
mod model_tier;
mod own_stages;
mod own_step;
mod reuse;

pub(crate) use extractor::attachments_of;
pub use history::{PastDocument, past_documents};
pub use model_tier::ModelTier;
pub use own_step::register_own;

use crate::{consolidate::Consolidator, reading::SharedReaders, stage::erased};
use bindery_core::StepError;
use bindery_engine::{Registry, workflow::Workflow};
use bindery_fields::{DocType, DocTypes, classify::Classifier, doctype::OTHER, extract::Templates};
use classifier::PageClassifier;
use consolidator::DocumentsResult;
use extractor::FieldExtractor;
use grouper::DocumentGrouper;
use reuse::Recipes;
use std::sync::{Arc, OnceLock};

/// The names under which they are known.
const CLASSIFIER: &str = "page_classifier";
const GROUPER: &str = "document_grouper";
const EXTRACTOR: &str = "field_extractor";

/// What is known of documents, shared by all steps of a process.
#[derive(Debug)]
pub struct Knowledge {
    doctypes: DocTypes,
    pub(crate) templates: Templates,
    /// Asked last, where a stage says so.
    models: Arc<ModelTier>,
    /// Made when it is first needed: most commands classify nothing.
    classifier: OnceLock<Classifier>,
    recipes: OnceLock<Recipes>,
}

impl Knowledge {
    pub fn new(doctypes: DocTypes, templates: Templates) -> Self {
        Self { doctypes, templates, models: Arc::default(), classifier: OnceLock::new(), recipes: OnceLock::new() }
    }

    /// The language model that the stages ask, to be opened with a store.
    pub fn models(&self) -> Arc<ModelTier> {
        Arc::clone(&self.models)
    }

    /// The types that come with Bindery.
    pub fn shipped() -> Self {
        // They are part of the program, and a test reads them.
        Self::new(DocTypes::shipped().unwrap_or_default(), Templates::default())
    }

    pub(crate) fn classifier(&self) -> &Classifier {
        self.classifier.get_or_init(|| Classifier::new(&self.doctypes))
    }

    fn recipes(&self) -> &Recipes {
        self.recipes.get_or_init(|| Recipes::new(self))
    }

    /// The names of all types, as a sentence lists them.
    pub(crate) fn names(&self) -> String {
        let names: Vec<&str> = self.doctypes.iter().map(|doctype| &*doctype.name).collect();
        names.join(", ")
    }

    pub(crate) fn doctype(&self, name: &str) -> Result<&DocType, StepError> {
        self.doctypes.get(name).or_else(|| self.doctypes.get(OTHER)).ok_or_else(|| {
            StepError::reject(format!("there is no type of document {name:?} here, nor {OTHER:?}")).named("NoDocType")
        })
    }
}

/// Whether a workflow classifies pages, so that a [stated type](crate::intake::state_doctype) means something to it.
pub fn classifies(workflow: &Workflow) -> bool {
    workflow.stages.iter().any(|stage| stage.processors.iter().any(|processor| processor.name == *CLASSIFIER))
}

pub(crate) fn register(registry: &mut Registry, readers: &Arc<SharedReaders>, knowledge: &Arc<Knowledge>) {
    registry.register(erased(PageClassifier::new(Arc::clone(knowledge))));
    registry.register(erased(DocumentGrouper::new(Arc::clone(readers), Arc::clone(knowledge))));
    registry.register(erased(FieldExtractor::new(Arc::clone(readers), Arc::clone(knowledge))));
    registry.register(erased(Consolidator(DocumentsResult)));
}
