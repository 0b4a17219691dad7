//! Jurisdictions, what their pages looked like, and who wishes for more of them.

use super::{
    CivicRecords,
    places::{CityRequest, Jurisdiction, PageShape, RequestStatus, ZipCode},
    tables::PlacedZipCode,
    work::{Question, Seen, Work, Writes, nouns, run},
};
use crate::{
    commit::CommitResult,
    error::{StoreError, StoreResult},
};
use bindery_core::Timestamp;
use std::collections::HashMap;

/// Which jurisdictions are meant. Empty fields mean all.
#[derive(Debug, Clone, Default)]
pub struct JurisdictionFilter {
    pub bananas: Vec<String>,
    pub state: Option<String>,
    pub vendor: Option<String>,
    pub active: Option<bool>,
    /// Never visited, or to be visited again by then. The most overdue come first.
    pub due_before: Option<Timestamp>,
    /// The last visit failed.
    pub failing: bool,
    /// Used to have meetings and has none any more.
    pub silent: bool,
    /// Never had a meeting.
    pub never_yielded: bool,
    pub zipcode: Option<String>,
    pub limit: Option<usize>,
}

impl CivicRecords<'_> {
    /// Stores jurisdictions, all or none; those that are there take the new values, and keep their health.
    pub async fn put_jurisdictions(&self, jurisdictions: Vec<Jurisdiction>) -> StoreResult<()> {
        run(self.backend, PutJurisdictions(jurisdictions)).await
    }

    pub async fn jurisdiction(&self, banana: &str) -> StoreResult<Option<Jurisdiction>> {
        self.first(Question::of::<Jurisdiction>().whose("banana = ?", banana)).await
    }

    pub async fn jurisdictions(&self, filter: JurisdictionFilter) -> StoreResult<Vec<Jurisdiction>> {
        let mut question = Question::of::<Jurisdiction>()
            .given("banana = ANY(?)", Some(&filter.bananas).filter(|list| !list.is_empty()))
            .given("state = ?", filter.state.as_deref())
            .given("vendor = ?", filter.vendor.as_deref())
            .given("active = ?", filter.active)
            .given("(next_sync_at IS NULL OR next_sync_at <= ?)", filter.due_before)
            .given("banana IN (SELECT z.banana FROM civic_zipcode z WHERE z.zipcode = ?)", filter.zipcode.as_deref());
        let marks =
            [(filter.failing, "failing = 1"), (filter.silent, "silent = 1"), (filter.never_yielded, "yielded = 0")];
        for (_, condition) in marks.into_iter().filter(|(wanted, _)| *wanted) {
            question = question.that(condition);
        }
        let order = if filter.due_before.is_some() { "coalesce(next_sync_at, 0), banana" } else { "banana" };
        self.list(question.by(order, filter.limit)).await
    }

    /// Remembers what pages looked like.
    pub async fn put_page_shapes(&self, shapes: Vec<PageShape>) -> StoreResult<()> {
        run(self.backend, PutPages { shapes, only_of: None }).await
    }

    /// The same for all pages of a jurisdiction: what is known of others of it is forgotten. Addresses often hold days,
    /// so that yesterday's are never asked for again.
    pub async fn replace_page_shapes(&self, banana: &str, shapes: Vec<PageShape>) -> StoreResult<()> {
        run(self.backend, PutPages { shapes, only_of: Some(banana.to_owned()) }).await
    }

    /// Those of a jurisdiction, by address.
    pub async fn page_shapes(&self, banana: &str) -> StoreResult<Vec<PageShape>> {
        self.list(Question::of::<PageShape>().whose("banana = ?", banana).by("url", None)).await
    }

    /// Somebody wants a city. Returns the request as it stands now.
    pub async fn request_city(&self, banana: &str) -> StoreResult<CityRequest> {
        run(self.backend, ChangeRequest { banana: banana.to_owned(), decided: None }).await
    }

    /// Decides on a request; makes one where nobody has asked.
    pub async fn decide_city_request(
        &self,
        banana: &str,
        status: RequestStatus,
        notes: Option<String>,
    ) -> StoreResult<CityRequest> {
        run(self.backend, ChangeRequest { banana: banana.to_owned(), decided: Some((status, notes)) }).await
    }

    /// The most wanted first.
    pub async fn city_requests(&self, status: Option<RequestStatus>) -> StoreResult<Vec<CityRequest>> {
        let question = Question::of::<CityRequest>().given("status = ?", status.map(RequestStatus::as_str));
        let mut requests: Vec<CityRequest> = self.list(question.by("banana", None)).await?;
        requests.sort_by_key(|request| std::cmp::Reverse(request.request_count));
        Ok(requests)
    }
}

pub(super) struct PutJurisdictions(pub(super) Vec<Jurisdiction>);

impl Work for PutJurisdictions {
    type Done = ();

    fn cities(&self) -> Vec<String> {
        self.0.iter().map(|jurisdiction| jurisdiction.banana.clone()).collect()
    }

    fn questions(&self) -> Vec<Question> {
        let names: Vec<&str> = self.0.iter().map(|jurisdiction| jurisdiction.name.as_str()).collect();
        vec![
            Question::of::<Jurisdiction>().whose("banana = ANY(?)", &self.cities()),
            Question::new("SELECT name, state, banana FROM civic_jurisdiction").whose("name = ANY(?)", &names),
        ]
    }

    fn writes(&self, seen: &Seen, _: &[CommitResult]) -> StoreResult<(Writes, ())> {
        let stored: HashMap<String, Jurisdiction> =
            nouns::<Jurisdiction>(seen.answer(0))?.into_iter().map(|known| (known.banana.clone(), known)).collect();
        let mut named: HashMap<(&str, &str), &str> = HashMap::new();
        for row in seen.answer(1) {
            named.insert((row.text(0)?, row.text(1)?), row.text(2)?);
        }
        let mut writes = Writes::default();
        for jurisdiction in &self.0 {
            let Jurisdiction { banana, name, state, .. } = jurisdiction;
            if banana.is_empty() {
                return Err(StoreError::Invalid(format!("{name:?}: expected a banana such as paloaltoCA, found none")));
            }
            let owner = named.entry((name, state)).or_insert(banana);
            if owner != banana {
                return Err(StoreError::Invalid(format!("{banana}: {name}, {state} is stored as {owner} already")));
            }
            let mut jurisdiction = jurisdiction.clone();
            jurisdiction.created_at = Some(seen.now);
            if let Some(known) = stored.get(banana) {
                jurisdiction.health = known.health.clone();
                (jurisdiction.created_at, jurisdiction.updated_at) = (known.created_at, known.updated_at);
                if jurisdiction == *known {
                    continue;
                }
            }
            jurisdiction.updated_at = Some(seen.now);
            for ZipCode { zipcode, is_primary } in &jurisdiction.zipcodes {
                let code = ZipCode { zipcode: zipcode.clone(), is_primary: *is_primary };
                writes.put(&PlacedZipCode { banana: banana.clone(), code });
            }
            writes.statements.push(Question::new("DELETE FROM civic_zipcode").whose("banana = ?", banana));
            writes.put(&jurisdiction);
        }
        Ok((writes, ()))
    }
}

struct PutPages {
    shapes: Vec<PageShape>,
    /// All there are of this one.
    only_of: Option<String>,
}

impl Work for PutPages {
    type Done = ();

    fn cities(&self) -> Vec<String> {
        self.shapes.iter().map(|shape| shape.banana.clone()).chain(self.only_of.clone()).collect()
    }

    fn questions(&self) -> Vec<Question> {
        let urls: Vec<&str> = self.shapes.iter().map(|shape| shape.url.as_str()).collect();
        vec![Question::of::<PageShape>().whose("banana = ANY(?)", &self.cities()).whose("url = ANY(?)", &urls)]
    }

    /// What was last there when something was there, is remembered while nothing is.
    fn writes(&self, seen: &Seen, _: &[CommitResult]) -> StoreResult<(Writes, ())> {
        let stored = nouns::<PageShape>(seen.answer(0))?;
        let mut writes = Writes::default();
        if let Some(banana) = &self.only_of {
            writes.statements.push(Question::new("DELETE FROM civic_page").whose("banana = ?", banana));
        }
        for shape in &self.shapes {
            let mut shape = shape.clone();
            let known = stored.iter().find(|known| (&known.banana, &known.url) == (&shape.banana, &shape.url));
            if shape.count > 0 {
                (shape.last_nonzero_count, shape.last_nonzero_at) = (shape.count, Some(seen.now));
            } else if let Some(known) = known {
                (shape.last_nonzero_count, shape.last_nonzero_at) = (known.last_nonzero_count, known.last_nonzero_at);
            }
            shape.seen_at = Some(seen.now);
            writes.put(&shape);
        }
        Ok((writes, ()))
    }
}

struct ChangeRequest {
    banana: String,
    decided: Option<(RequestStatus, Option<String>)>,
}

impl Work for ChangeRequest {
    type Done = CityRequest;

    fn cities(&self) -> Vec<String> {
        vec![self.banana.clone()]
    }

    fn questions(&self) -> Vec<Question> {
        vec![Question::of::<CityRequest>().whose("banana = ?", &self.banana)]
    }

    fn writes(&self, seen: &Seen, _: &[CommitResult]) -> StoreResult<(Writes, CityRequest)> {
        let new = || CityRequest { banana: self.banana.clone(), ..CityRequest::default() };
        let mut request: CityRequest = nouns(seen.answer(0))?.pop().unwrap_or_else(new);
        if let Some((status, notes)) = &self.decided {
            request.status = *status;
            request.notes = notes.clone().or(request.notes);
        } else {
            request.request_count += 1;
            request.first_requested_at = request.first_requested_at.or(Some(seen.now));
            request.last_requested_at = Some(seen.now);
        }
        let mut writes = Writes::default();
        writes.put(&request);
        Ok((writes, request))
    }
}
