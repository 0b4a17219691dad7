//! Jurisdictions, what their pages looked like, and who wishes for more of them.

use super::{
    CivicRecords,
    places::{CityRequest, Jurisdiction, PageShape, RequestStatus, ZipCode},
    tables::{JURISDICTION, PlacedZipCode, ZIPCODE},
};
use bindery_core::Timestamp;
use bindery_store::{
    CommitResult, StoreError, StoreResult,
    rows::{Answers, Condition, Query, RowWrites, UnitOfWork, any_of, column, decode, run},
};
use std::collections::HashMap;

/// Which jurisdictions are meant. Empty fields mean all.
#[derive(Debug, Clone, Default)]
pub struct JurisdictionFilter {
    pub city_keys: Vec<String>,
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
    pub async fn jurisdiction(&self, city_key: &str) -> StoreResult<Option<Jurisdiction>> {
        self.first(Query::records::<Jurisdiction>().filter(column("city_key").equals(city_key))).await
    }

    pub async fn jurisdictions(&self, filter: JurisdictionFilter) -> StoreResult<Vec<Jurisdiction>> {
        let mut query = Query::records::<Jurisdiction>()
            .filter_some(
                Some(&filter.city_keys).filter(|list| !list.is_empty()).map(|it| column("city_key").is_any_of(it)),
            )
            .filter_some(filter.state.as_deref().map(|it| column("state").equals(it)))
            .filter_some(filter.vendor.as_deref().map(|it| column("vendor").equals(it)))
            .filter_some(filter.active.map(|it| column("active").equals(it)))
            .filter_some(filter.due_before.map(is_due))
            .filter_some(filter.zipcode.as_deref().map(has_zipcode));
        let marks = [
            (filter.failing, column("failing").equals(true)),
            (filter.silent, column("silent").equals(true)),
            (filter.never_yielded, column("yielded").equals(false)),
        ];
        for (_, condition) in marks.into_iter().filter(|(wanted, _)| *wanted) {
            query = query.filter(condition);
        }
        if filter.due_before.is_some() {
            query = query.order(column("next_sync_at").ascending().nulls_first());
        }
        self.list(query.ascending(&["city_key"]).limit(filter.limit)).await
    }

    /// Remembers what the pages of a jurisdiction looked like; what is known of others of it is forgotten. Addresses often
    /// hold days, so that yesterday's are never asked for again.
    pub async fn replace_page_shapes(&self, city_key: &str, shapes: Vec<PageShape>) -> StoreResult<()> {
        run(self.store, ReplacePages { city_key: city_key.to_owned(), shapes }).await
    }

    /// Those of a jurisdiction, by address.
    pub async fn page_shapes(&self, city_key: &str) -> StoreResult<Vec<PageShape>> {
        self.list(Query::records::<PageShape>().filter(column("city_key").equals(city_key)).ascending(&["url"])).await
    }

    /// Somebody wants a city. Returns the request as it stands now.
    pub async fn request_city(&self, city_key: &str) -> StoreResult<CityRequest> {
        run(self.store, ChangeRequest { city_key: city_key.to_owned(), decided: None }).await
    }

    /// Decides on a request; makes one where nobody has asked.
    pub async fn decide_city_request(
        &self,
        city_key: &str,
        status: RequestStatus,
        notes: Option<String>,
    ) -> StoreResult<CityRequest> {
        run(self.store, ChangeRequest { city_key: city_key.to_owned(), decided: Some((status, notes)) }).await
    }

    /// The most wanted first.
    pub async fn city_requests(&self, status: Option<RequestStatus>) -> StoreResult<Vec<CityRequest>> {
        let query = Query::records::<CityRequest>()
            .filter_some(status.map(RequestStatus::as_str).map(|it| column("status").equals(it)));
        let mut requests: Vec<CityRequest> = self.list(query.ascending(&["city_key"])).await?;
        requests.sort_by_key(|request| std::cmp::Reverse(request.request_count));
        Ok(requests)
    }
}

/// Never visited, or to be visited again by then.
fn is_due(by: Timestamp) -> Condition {
    any_of(column("next_sync_at").is_null(), column("next_sync_at").is_at_most(by))
}

fn has_zipcode(zipcode: &str) -> Condition {
    let places = Query::select(&ZIPCODE, &["city_key"]).filter(column("zipcode").equals(zipcode));
    column("city_key").is_among(places)
}

pub(super) struct PutJurisdictions(pub(super) Vec<Jurisdiction>);

impl UnitOfWork for PutJurisdictions {
    type Output = ();

    fn lock_keys(&self) -> Vec<String> {
        self.0.iter().map(|jurisdiction| jurisdiction.city_key.clone()).collect()
    }

    fn queries(&self) -> Vec<Query> {
        let names: Vec<&str> = self.0.iter().map(|jurisdiction| jurisdiction.name.as_str()).collect();
        vec![
            Query::records::<Jurisdiction>().filter(column("city_key").is_any_of(&self.lock_keys())),
            Query::select(&JURISDICTION, &["name", "state", "city_key"]).filter(column("name").is_any_of(&names)),
        ]
    }

    fn writes(&self, answers: &Answers, _: &[CommitResult]) -> StoreResult<(RowWrites, ())> {
        let stored: HashMap<String, Jurisdiction> =
            decode::<Jurisdiction>(answers.rows(0))?.into_iter().map(|known| (known.city_key.clone(), known)).collect();
        let mut named: HashMap<(&str, &str), &str> = HashMap::new();
        for row in answers.rows(1) {
            named.insert((row.text(0)?, row.text(1)?), row.text(2)?);
        }
        let mut writes = RowWrites::default();
        for jurisdiction in &self.0 {
            let Jurisdiction { city_key, name, state, .. } = jurisdiction;
            if city_key.is_empty() {
                return Err(StoreError::Invalid(format!("{name:?}: expected a banana such as paloaltoCA, found none")));
            }
            let owner = named.entry((name, state)).or_insert(city_key);
            if owner != city_key {
                return Err(StoreError::Invalid(format!("{city_key}: {name}, {state} is stored as {owner} already")));
            }
            let mut jurisdiction = jurisdiction.clone();
            jurisdiction.created_at = Some(answers.now);
            if let Some(known) = stored.get(city_key) {
                jurisdiction.health = known.health.clone();
                (jurisdiction.created_at, jurisdiction.updated_at) = (known.created_at, known.updated_at);
                if jurisdiction == *known {
                    continue;
                }
            }
            jurisdiction.updated_at = Some(answers.now);
            for ZipCode { zipcode, is_primary } in &jurisdiction.zipcodes {
                let code = ZipCode { zipcode: zipcode.clone(), is_primary: *is_primary };
                writes.put(&PlacedZipCode { city_key: city_key.clone(), code });
            }
            writes.delete(Query::records::<PlacedZipCode>().filter(column("city_key").equals(city_key)));
            writes.put(&jurisdiction);
        }
        Ok((writes, ()))
    }
}

struct ReplacePages {
    city_key: String,
    shapes: Vec<PageShape>,
}

impl UnitOfWork for ReplacePages {
    type Output = ();

    fn lock_keys(&self) -> Vec<String> {
        vec![self.city_key.clone()]
    }

    fn queries(&self) -> Vec<Query> {
        let urls: Vec<&str> = self.shapes.iter().map(|shape| shape.url.as_str()).collect();
        vec![
            Query::records::<PageShape>()
                .filter(column("city_key").equals(&self.city_key))
                .filter(column("url").is_any_of(&urls)),
        ]
    }

    /// What was last there when something was there, is remembered while nothing is.
    fn writes(&self, answers: &Answers, _: &[CommitResult]) -> StoreResult<(RowWrites, ())> {
        let stored = decode::<PageShape>(answers.rows(0))?;
        let mut writes = RowWrites::default();
        writes.delete(Query::records::<PageShape>().filter(column("city_key").equals(&self.city_key)));
        for shape in &self.shapes {
            let mut shape = shape.clone();
            let known = stored.iter().find(|known| known.url == shape.url);
            if shape.count > 0 {
                (shape.last_nonzero_count, shape.last_nonzero_at) = (shape.count, Some(answers.now));
            } else if let Some(known) = known {
                (shape.last_nonzero_count, shape.last_nonzero_at) = (known.last_nonzero_count, known.last_nonzero_at);
            }
            shape.seen_at = Some(answers.now);
            writes.put(&shape);
        }
        Ok((writes, ()))
    }
}

struct ChangeRequest {
    city_key: String,
    decided: Option<(RequestStatus, Option<String>)>,
}

impl UnitOfWork for ChangeRequest {
    type Output = CityRequest;

    fn lock_keys(&self) -> Vec<String> {
        vec![self.city_key.clone()]
    }

    fn queries(&self) -> Vec<Query> {
        vec![Query::records::<CityRequest>().filter(column("city_key").equals(&self.city_key))]
    }

    fn writes(&self, answers: &Answers, _: &[CommitResult]) -> StoreResult<(RowWrites, CityRequest)> {
        let new = || CityRequest { city_key: self.city_key.clone(), ..CityRequest::default() };
        let mut request: CityRequest = decode(answers.rows(0))?.pop().unwrap_or_else(new);
        if let Some((status, notes)) = &self.decided {
            request.status = *status;
            request.notes = notes.clone().or(request.notes);
        } else {
            request.request_count += 1;
            request.first_requested_at = request.first_requested_at.or(Some(answers.now));
            request.last_requested_at = Some(answers.now);
        }
        let mut writes = RowWrites::default();
        writes.put(&request);
        Ok((writes, request))
    }
}
