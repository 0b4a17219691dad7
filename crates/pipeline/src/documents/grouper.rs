//! Consecutive pages become documents.

use super::{CLASSIFIER, GROUPER, Knowledge, attachments_of};
use crate::{
    borders::{ClassifiedPage, DocumentGroup, StoredFile, output_of, stored_page},
    reading::SharedReaders,
    results::{has_result, in_order, runs_any, stage_of},
    stage::{Stage, fields_of},
};
use bindery_core::{ContentHash, Name, StepError, item::ItemKind};
use bindery_engine::{Child, Children, Extracted, Reusable, context::StepContext, workflow};
use bindery_fields::classify::{PageClass, documents};
use bindery_reader::Page;
use serde::{Deserialize, Serialize, de::IgnoredAny};
use std::{collections::HashMap, sync::Arc};

/// Groups the classified pages of a file. A page that could not be read or classified belongs to no document; the result
/// names it. A file with an e-invoice inside is one document of the type that the e-invoice states; a document that fits
/// no type gets the one whose fields fit it.
#[derive(Debug, Clone)]
pub(crate) struct DocumentGrouper {
    readers: Arc<SharedReaders>,
    knowledge: Arc<Knowledge>,
}

impl DocumentGrouper {
    pub(crate) fn new(readers: Arc<SharedReaders>, knowledge: Arc<Knowledge>) -> Self {
        Self { readers, knowledge }
    }

    pub(super) fn knowledge(&self) -> &Knowledge {
        &self.knowledge
    }
}

/// The documents of a file, which is known by its number.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Groups {
    file: i64,
    documents: Vec<DocumentGroup>,
}

#[derive(Debug, Serialize)]
pub(crate) struct Grouped {
    documents: usize,
}

impl Stage for DocumentGrouper {
    const NAME: &'static str = GROUPER;
    type Input = IgnoredAny;
    type Made = Groups;
    type Output = Grouped;

    fn reads(&self, _here: &workflow::Stage, earlier: &workflow::Stage) -> bool {
        runs_any(earlier, &[CLASSIFIER])
    }

    fn reuse(&self) -> Option<&dyn Reusable> {
        Some(self)
    }

    fn process(&self, context: &StepContext, _input: IgnoredAny) -> Result<Groups, StepError> {
        let item = context.item()?;
        let stage = stage_of(context, CLASSIFIER)?;
        let mut pages: Vec<(Page, PageClass)> = Vec::new();
        let mut contents: HashMap<usize, ContentHash> = HashMap::new();
        for page in in_order(context.items(Some(ItemKind::Page), Some(item.id))?) {
            let outcomes = context.item_outcomes(page.id, &stage)?;
            // A page that a person is asked about goes on with the type that was found.
            let Some(outcome) = outcomes.iter().find(|outcome| has_result(outcome)) else { continue };
            let classified: ClassifiedPage = output_of(context, outcome)?;
            let page = stored_page(context, classified.content)?;
            contents.insert(page.number, classified.content);
            pages.push((page, class_of(classified)));
        }
        let pages: Vec<(&Page, &PageClass)> = pages.iter().map(|(page, class)| (page, class)).collect();
        let file = StoredFile { content: item.content, name: item.label };
        let attachments = attachments_of(&self.readers, context, &file)?;
        let groups = documents(&pages, &attachments, &self.knowledge.doctypes).into_iter().map(|group| DocumentGroup {
            page_contents: group.pages.iter().filter_map(|page| contents.get(page).copied()).collect(),
            doc_type: group.doctype,
            pages: group.pages,
            confidence: group.confidence,
            because: group.because,
            runners_up: group.runners_up,
            file: file.clone(),
        });
        Ok(Groups { file: item.ordinal + 1, documents: groups.collect() })
    }

    fn extract(&self, _context: &StepContext, groups: Groups) -> Result<Extracted<Grouped>, StepError> {
        let children = groups.documents.iter().enumerate().map(|(index, document)| Child {
            label: Some(document.doc_type.to_string()),
            // The same however often, and in whatever order, the work is done.
            key: Some(format!("doc_{}_{}", groups.file, index + 1)),
            data: fields_of(document),
            ..Child::default()
        });
        let children = Children::new(ItemKind::Document, children.collect());
        Ok(Extracted::new(Grouped { documents: children.count }).with_children(children))
    }
}

/// What the classifier found, or what a person said instead.
fn class_of(page: ClassifiedPage) -> PageClass {
    let ClassifiedPage { doc_type, class, .. } = page;
    if *class.doctype == *doc_type {
        return class;
    }
    PageClass { doctype: Name::from(doc_type), confidence: 1.0, runners_up: Vec::new(), ..class }
}
