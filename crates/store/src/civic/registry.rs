//! Jurisdictions that people enter, change and take out: each only if it is still as they saw it.

use super::{
    CivicRecords,
    cities::PutJurisdictions,
    places::{CityRequest, Health, Jurisdiction, RequestStatus},
    work::{Question, Seen, Work, Writes, nouns, run},
};
use crate::{commit::CommitResult, error::StoreResult};

/// A jurisdiction as somebody saw it, and as it shall be.
#[derive(Debug, Clone, PartialEq)]
pub struct JurisdictionEdit {
    /// None: it is new.
    pub before: Option<Jurisdiction>,
    pub after: Jurisdiction,
}

/// What came of edits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Edited {
    Stored,
    /// These are not as they were seen; nothing is stored.
    Stale(Vec<String>),
}

/// What came of taking a jurisdiction out.
#[derive(Debug, Clone, PartialEq)]
pub enum TakenOut {
    /// As it was.
    Gone(Box<Jurisdiction>),
    Unknown,
    /// Something is known of it, which would be lost; nothing is changed.
    InUse {
        meetings: u64,
        matters: u64,
    },
}

impl CivicRecords<'_> {
    /// Stores edits, all or none, and none unless every jurisdiction is as it was seen; how visits went does not count.
    /// Whoever asked for one that is visited from now on has got it.
    pub async fn edit_jurisdictions(&self, edits: Vec<JurisdictionEdit>) -> StoreResult<Edited> {
        if edits.is_empty() {
            return Ok(Edited::Stored);
        }
        let put = PutJurisdictions(edits.iter().map(|edit| edit.after.clone()).collect());
        run(self.backend, Edit { edits, put }).await
    }

    /// Takes a jurisdiction out of which no meeting is known, with its visits. Cities of a county stay.
    pub async fn take_out_jurisdiction(&self, banana: &str) -> StoreResult<TakenOut> {
        run(self.backend, TakeOut(banana.to_owned())).await
    }
}

/// What people say of it.
fn said(jurisdiction: &Jurisdiction) -> Jurisdiction {
    Jurisdiction { health: Health::default(), created_at: None, updated_at: None, ..jurisdiction.clone() }
}

struct Edit {
    edits: Vec<JurisdictionEdit>,
    put: PutJurisdictions,
}

impl Work for Edit {
    type Done = Edited;

    /// Two that enter one name under two keys take turns, too.
    fn cities(&self) -> Vec<String> {
        let names = self.edits.iter().map(|edit| format!("{}, {}", edit.after.name, edit.after.state));
        self.put.cities().into_iter().chain(names).collect()
    }

    fn questions(&self) -> Vec<Question> {
        let mut questions = self.put.questions();
        questions.push(Question::of::<CityRequest>().whose("banana = ANY(?)", &self.put.cities()));
        questions
    }

    fn writes(&self, seen: &Seen, results: &[CommitResult]) -> StoreResult<(Writes, Edited)> {
        let stored: Vec<Jurisdiction> = nouns(seen.answer(0))?;
        let is_stale = |edit: &&JurisdictionEdit| {
            let now = stored.iter().find(|known| known.banana == edit.after.banana);
            now.map(said) != edit.before.as_ref().map(said)
        };
        let stale: Vec<String> = self.edits.iter().filter(is_stale).map(|edit| edit.after.banana.clone()).collect();
        if !stale.is_empty() {
            return Ok((Writes::default(), Edited::Stale(stale)));
        }
        let (mut writes, ()) = self.put.writes(seen, results)?;
        for mut request in nouns::<CityRequest>(seen.answer(2))? {
            let is_visited =
                self.edits.iter().any(|edit| edit.after.banana == request.banana && edit.after.is_active());
            if is_visited && request.status != RequestStatus::Added {
                request.status = RequestStatus::Added;
                writes.put(&request);
            }
        }
        Ok((writes, Edited::Stored))
    }
}

struct TakeOut(String);

impl Work for TakeOut {
    type Done = TakenOut;

    fn cities(&self) -> Vec<String> {
        vec![self.0.clone()]
    }

    fn questions(&self) -> Vec<Question> {
        let count = |table: &str| Question::new(format!("SELECT count(*) FROM {table}")).whose("banana = ?", &self.0);
        let state = self.0.get(self.0.len().saturating_sub(2)..).unwrap_or_default();
        vec![
            Question::of::<Jurisdiction>().whose("banana = ?", &self.0),
            count("civic_meeting"),
            count("civic_matter"),
            Question::of::<Jurisdiction>().whose("state = ?", state),
        ]
    }

    fn writes(&self, seen: &Seen, _: &[CommitResult]) -> StoreResult<(Writes, TakenOut)> {
        let mut writes = Writes::default();
        let Some(city) = nouns::<Jurisdiction>(seen.answer(0))?.pop() else {
            return Ok((writes, TakenOut::Unknown));
        };
        let number = |question: usize| seen.answer(question).first().map_or(Ok(0), |row| row.number(0));
        let (meetings, matters) = (number(1)? as u64, number(2)? as u64);
        if meetings + matters > 0 {
            return Ok((writes, TakenOut::InUse { meetings, matters }));
        }
        for mut within in nouns::<Jurisdiction>(seen.answer(3))? {
            if within.county.as_ref() == Some(&self.0) {
                within.county = None;
                within.updated_at = Some(seen.now);
                writes.put(&within);
            }
        }
        let members = "committee_id IN (SELECT id FROM civic_committee WHERE banana = ?)";
        writes.statements.push(Question::new("DELETE FROM civic_committee_member").whose(members, &self.0));
        for table in [
            "civic_committee",
            "civic_person",
            "civic_skipped",
            "civic_page",
            "civic_sync_run",
            "civic_zipcode",
            "civic_jurisdiction",
        ] {
            writes.statements.push(Question::new(format!("DELETE FROM {table}")).whose("banana = ?", &self.0));
        }
        Ok((writes, TakenOut::Gone(Box::new(city))))
    }
}
