//! Items by the names that people know: `report.txt, page 2`.

use crate::{app::App, error::AppResult};
use bindery_core::{ItemId, SubmissionId};
use std::collections::HashMap;

/// Looks names up and remembers them.
#[derive(Debug)]
pub struct ItemNames<'a> {
    app: &'a App,
    known: HashMap<ItemId, String>,
}

impl<'a> ItemNames<'a> {
    pub fn new(app: &'a App) -> Self {
        Self { app, known: HashMap::new() }
    }

    /// None stands for the submission as a whole.
    pub async fn label(&mut self, submission: SubmissionId, item: Option<ItemId>) -> AppResult<String> {
        let Some(id) = item else { return Ok("whole submission".to_owned()) };
        if let Some(known) = self.known.get(&id) {
            return Ok(known.clone());
        }
        let Some(found) = self.app.store().item(submission, id).await? else { return Ok(id.to_string()) };
        let own = found.label.clone().or(found.key).unwrap_or_else(|| format!("{} {}", found.kind, found.ordinal + 1));
        let name = match found.parent {
            // Parts of parts do not go deep: a page has a file, a file has nothing.
            Some(parent) => match self.app.store().item(submission, parent).await? {
                Some(parent) => format!("{}, {own}", parent.label.clone().unwrap_or_else(|| parent.public_id())),
                None => own,
            },
            None => own,
        };
        self.known.insert(id, name.clone());
        Ok(name)
    }
}
