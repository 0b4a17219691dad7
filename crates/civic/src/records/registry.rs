//! Jurisdictions that people enter, change and take out: each only if it is still as they saw it.

use super::{
    CivicRecords,
    cities::PutJurisdictions,
    places::{CityRequest, Health, Jurisdiction, RequestStatus},
    tables::{COMMITTEE, JURISDICTION, MATTER, MEETING, PAGE, PERSON, SKIPPED, SYNC_RUN, ZIPCODE},
};
use bindery_store::{
    CommitResult, StoreResult,
    rows::{Answers, Query, RowWrites, UnitOfWork, column, decode, run},
};

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
        run(self.store, Edit { edits, put }).await
    }

    /// Takes a jurisdiction out of which no meeting is known, with its visits. Cities of a county stay.
    pub async fn take_out_jurisdiction(&self, city_key: &str) -> StoreResult<TakenOut> {
        run(self.store, TakeOut(city_key.to_owned())).await
    }
}

/// What people say of it.
fn entered_fields(jurisdiction: &Jurisdiction) -> Jurisdiction {
    Jurisdiction { health: Health::default(), created_at: None, updated_at: None, ..jurisdiction.clone() }
}

struct Edit {
    edits: Vec<JurisdictionEdit>,
    put: PutJurisdictions,
}

impl UnitOfWork for Edit {
    type Output = Edited;

    /// Two that enter one name under two keys take turns, too.
    fn lock_keys(&self) -> Vec<String> {
        let names = self.edits.iter().map(|edit| format!("{}, {}", edit.after.name, edit.after.state));
        self.put.lock_keys().into_iter().chain(names).collect()
    }

    fn queries(&self) -> Vec<Query> {
        let mut queries = self.put.queries();
        queries.push(Query::records::<CityRequest>().filter(column("city_key").is_any_of(&self.put.lock_keys())));
        queries
    }

    fn writes(&self, answers: &Answers, results: &[CommitResult]) -> StoreResult<(RowWrites, Edited)> {
        let stored: Vec<Jurisdiction> = decode(answers.rows(0))?;
        let is_stale = |edit: &&JurisdictionEdit| {
            let now = stored.iter().find(|known| known.city_key == edit.after.city_key);
            now.map(entered_fields) != edit.before.as_ref().map(entered_fields)
        };
        let stale: Vec<String> = self.edits.iter().filter(is_stale).map(|edit| edit.after.city_key.clone()).collect();
        if !stale.is_empty() {
            return Ok((RowWrites::default(), Edited::Stale(stale)));
        }
        let (mut writes, ()) = self.put.writes(answers, results)?;
        for mut request in decode::<CityRequest>(answers.rows(2))? {
            let is_visited =
                self.edits.iter().any(|edit| edit.after.city_key == request.city_key && edit.after.is_active());
            if is_visited && request.status != RequestStatus::Added {
                request.status = RequestStatus::Added;
                writes.put(&request);
            }
        }
        Ok((writes, Edited::Stored))
    }
}

struct TakeOut(String);

impl UnitOfWork for TakeOut {
    type Output = TakenOut;

    fn lock_keys(&self) -> Vec<String> {
        vec![self.0.clone()]
    }

    fn queries(&self) -> Vec<Query> {
        let count = |table| Query::count(table).filter(column("city_key").equals(&self.0));
        let state = self.0.get(self.0.len().saturating_sub(2)..).unwrap_or_default();
        vec![
            Query::records::<Jurisdiction>().filter(column("city_key").equals(&self.0)),
            count(&MEETING),
            count(&MATTER),
            Query::records::<Jurisdiction>().filter(column("state").equals(state)),
        ]
    }

    fn writes(&self, answers: &Answers, _: &[CommitResult]) -> StoreResult<(RowWrites, TakenOut)> {
        let mut writes = RowWrites::default();
        let Some(city) = decode::<Jurisdiction>(answers.rows(0))?.pop() else {
            return Ok((writes, TakenOut::Unknown));
        };
        let (meetings, matters) = (answers.count(1)?, answers.count(2)?);
        if meetings + matters > 0 {
            return Ok((writes, TakenOut::InUse { meetings, matters }));
        }
        for mut within in decode::<Jurisdiction>(answers.rows(3))? {
            if within.county.as_ref() == Some(&self.0) {
                within.county = None;
                within.updated_at = Some(answers.now);
                writes.put(&within);
            }
        }
        let of_city = |table| Query::select(table, &["data"]).filter(column("city_key").equals(&self.0));
        for table in [&COMMITTEE, &PERSON, &SKIPPED, &PAGE, &SYNC_RUN, &ZIPCODE, &JURISDICTION] {
            writes.delete(of_city(table));
        }
        Ok((writes, TakenOut::Gone(Box::new(city))))
    }
}
