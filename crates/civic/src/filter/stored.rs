//! What the rules of today say about an item as it is stored: for the sync that stores the decision, and for people who
//! ask why.

use super::{Decision, attachments, items, items::ItemFacts, matters, meetings};
use crate::records::AgendaItem;
use serde::Serialize;

/// What every tier says, in their order. All are asked, also those that no longer matter once one has skipped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Verdict {
    pub meeting: Decision,
    pub item: Decision,
    /// One for each document, in their order.
    pub documents: Vec<Decision>,
    /// None: the item is of no matter, or of one without a type.
    pub matter: Option<Decision>,
}

/// Whether the item itself is worth reading.
pub fn of_item(item: &AgendaItem) -> Decision {
    let names: Vec<&str> = item.attachments.iter().map(|one| one.name.as_str()).collect();
    items::decide(&ItemFacts {
        title: &item.title,
        section: item.section.as_deref(),
        matter_file: item.matter_file.as_deref(),
        matter_type: item.matter_type.as_deref(),
        attachments: &names,
    })
}

/// Which of its documents are.
pub fn of_documents(item: &AgendaItem) -> Vec<Decision> {
    let documents: Vec<(&str, &str)> =
        item.attachments.iter().map(|one| (one.name.as_str(), one.url.as_str())).collect();
    attachments::decide_versions(&documents)
}

/// All of it.
pub fn verdict(meeting_title: &str, item: &AgendaItem) -> Verdict {
    Verdict {
        meeting: meetings::decide(meeting_title),
        item: of_item(item),
        documents: of_documents(item),
        matter: item.matter_type.as_deref().map(matters::decide),
    }
}
