//! One city, from the beginning of its run to its end.

use super::{
    Conductor,
    memory::Memory,
    place::{PlaceVisit, places, remembered_as},
    result::{SyncResult, worst},
};
use crate::records::{Alarm, Civic as _, Jurisdiction, Meeting, MeetingFilter, SyncRun, SyncStatus};
use crate::{
    client::CityPass,
    schedule::{self, CityVisits},
};
use bindery_core::Timestamp;
use bindery_engine::StopSignal;
use bindery_store::{StoreError, StoreResult};
use jiff::tz::TimeZone;
use serde_json::{Map, Value, json};
use std::time::{Duration, Instant};

/// What a city's activity is counted over.
pub(super) const A_MONTH: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// More warnings are only counted.
const MOST_WARNINGS: usize = 50;

impl Conductor {
    /// Visits a city, whether or not it is due.
    pub async fn sync_city(&self, city_key: &str, stop: &StopSignal) -> SyncResult {
        match self.store.civic().jurisdiction(city_key).await {
            Ok(Some(city)) => self.visit_city(city, None, stop).await,
            Ok(None) => SyncResult::without_visit(city_key, SyncStatus::Skipped, unknown(city_key)),
            Err(error) => SyncResult::without_visit(city_key, SyncStatus::Failed, of_store(&error)),
        }
    }

    /// Visits a city that may be begun; without a pass, waits for one.
    pub(super) async fn visit_city(&self, city: Jurisdiction, pass: Option<CityPass>, stop: &StopSignal) -> SyncResult {
        if !city.is_active() {
            let why = format!("its status is {:?}; only active ones are visited", city.status);
            return SyncResult::without_visit(&city.city_key, SyncStatus::Skipped, why);
        }
        let begun = Instant::now();
        if let Some(observer) = &self.observer {
            observer.city_began(&city.city_key, &city.vendor);
        }
        let mut result = self.recorded_visit(&city, pass, stop).await.unwrap_or_else(|error| {
            tracing::error!(%error, city = city.city_key, "a visit is not recorded");
            SyncResult::without_visit(&city.city_key, SyncStatus::Failed, of_store(&error))
        });
        result.duration_seconds = begun.elapsed().as_secs_f64();
        if let Some(observer) = &self.observer {
            observer.city_ended(&city.vendor, &result);
        }
        result
    }

    async fn recorded_visit(
        &self,
        city: &Jurisdiction,
        pass: Option<CityPass>,
        stop: &StopSignal,
    ) -> StoreResult<SyncResult> {
        let begun = Instant::now();
        let run = self.store.civic().start_sync_run(&city.city_key, &self.name).await?;
        let mut memory = self.remember(&city.city_key).await?;
        memory.keep_only(&places(city).iter().map(remembered_as).collect::<Vec<_>>());
        let visits = self.visit_places(city, pass, &mut memory, stop).await;
        if visits.iter().any(|visit| visit.status == SyncStatus::Completed) {
            self.memorise(&city.city_key, &memory).await?;
        }
        let mut result = summed(&city.city_key, &visits);
        result.duration_seconds = begun.elapsed().as_secs_f64();
        self.finish(city, run, &result, &visits).await?;
        Ok(result)
    }

    async fn visit_places(
        &self,
        city: &Jurisdiction,
        mut pass: Option<CityPass>,
        memory: &mut Memory,
        stop: &StopSignal,
    ) -> Vec<PlaceVisit> {
        let zone = city.tz.as_deref().and_then(|name| TimeZone::get(name).ok()).unwrap_or(TimeZone::UTC);
        let window = self.window.at(self.client.timer().wall_clock(), &zone);
        let mut visits = Vec::new();
        for place in places(city) {
            let visit = match self.adapter_of(&place) {
                Err(skipped) => *skipped,
                Ok(adapter) => {
                    // Never two at once: cities that hold one vendor's and wait for another's would wait for each other.
                    let pass = match pass.take() {
                        Some(pass) => Some(pass),
                        None => self.client.begin_city(&place.vendor, stop).await,
                    };
                    match pass {
                        Some(_held) => self.visit_place(city, &place, (window, &zone), adapter, memory, stop).await,
                        None => PlaceVisit::stopped(&place),
                    }
                }
            };
            let is_stopped = visit.status == SyncStatus::Pending;
            visits.push(visit);
            if is_stopped {
                break;
            }
        }
        visits
    }

    /// Ends the run: what it came to, how the city stands, and when it is visited next.
    async fn finish(
        &self,
        city: &Jurisdiction,
        mut run: SyncRun,
        result: &SyncResult,
        visits: &[PlaceVisit],
    ) -> StoreResult<()> {
        result.write_to(&mut run);
        run.alarms = visits.iter().flat_map(|visit| visit.alarms.clone()).collect();
        run.details.extend(details(visits));
        let next = match result.status {
            SyncStatus::Completed | SyncStatus::Failed | SyncStatus::Skipped => {
                self.next_sync_at(city, result.status).await?
            }
            SyncStatus::Pending | SyncStatus::InProgress => city.health.next_sync_at,
        };
        self.store.civic().finish_sync_run(run, next).await?;
        Ok(())
    }

    /// When a city is visited again that was just visited.
    async fn next_sync_at(&self, city: &Jurisdiction, status: SyncStatus) -> StoreResult<Option<Timestamp>> {
        let now = self.now();
        let soon = MeetingFilter { city_key: Some(city.city_key.clone()), from: Some(now), ..MeetingFilter::default() };
        let upcoming = self.store.civic().meetings(soon).await?;
        let waits_for_agenda = |meeting: &&Meeting| {
            meeting.agenda_url.is_none()
                && meeting.packet_url.is_none()
                && meeting.status.as_deref() != Some("cancelled")
        };
        let recent = MeetingFilter {
            city_key: Some(city.city_key.clone()),
            from: Some(now - A_MONTH),
            until: Some(now),
            ..MeetingFilter::default()
        };
        let recent = self.store.civic().meetings(recent).await?.len();
        let mut visits = visits_of(city, u32::try_from(recent).unwrap_or(u32::MAX));
        visits.last_attempt_at = moment(now);
        visits.next_without_agenda =
            upcoming.iter().find(waits_for_agenda).and_then(|meeting| moment(meeting.starts_at?));
        match status {
            SyncStatus::Completed => {
                visits.last_success_at = visits.last_attempt_at;
                visits.consecutive_failures = 0;
            }
            SyncStatus::Failed => visits.consecutive_failures = visits.consecutive_failures.saturating_add(1),
            SyncStatus::Pending | SyncStatus::InProgress | SyncStatus::Skipped => {}
        }
        Ok(schedule::next_sync_at(&visits).map(|next| Timestamp::from_millis(next.as_millisecond())))
    }
}

/// What the schedule asks of a city.
pub(super) fn visits_of(city: &Jurisdiction, meetings_last_30_days: u32) -> CityVisits {
    CityVisits {
        city_key: city.city_key.clone(),
        vendor: city.vendor.clone(),
        last_attempt_at: city.health.last_attempt_at.and_then(moment),
        last_success_at: city.health.last_success_at.and_then(moment),
        consecutive_failures: city.health.consecutive_failures,
        meetings_last_30_days,
        next_without_agenda: None,
    }
}

pub(super) fn moment(at: Timestamp) -> Option<jiff::Timestamp> {
    jiff::Timestamp::from_millisecond(at.as_millis()).ok()
}

/// What to say of a city that is not stored.
pub(crate) fn unknown(city_key: &str) -> String {
    format!("no city {city_key} is stored; `bindery civic city add {city_key} …` adds it")
}

fn of_store(error: &StoreError) -> String {
    format!("the store cannot be used: {error}")
}

/// The city's result: the sum of its vendors', with the worst of their statuses.
fn summed(city_key: &str, visits: &[PlaceVisit]) -> SyncResult {
    let mut result = SyncResult { city_key: city_key.to_owned(), status: SyncStatus::Skipped, ..SyncResult::default() };
    let mut errors = Vec::new();
    for visit in visits {
        result.status = worst(result.status, visit.status);
        result.meetings_found += visit.stats.meetings_found;
        result.meetings_processed += visit.stats.meetings_processed;
        result.meetings_skipped += visit.stats.meetings_skipped;
        result.items_stored += visit.stats.items_stored;
        result.meetings_changed += visit.stats.meetings_changed + visit.stats.meetings_removed;
        result.jobs_enqueued += visit.stats.jobs_enqueued;
        result.alarms.extend(visit.alarms.iter().map(|Alarm { message, .. }| message.clone()));
        result.warnings.extend(visit.warnings.iter().cloned());
        errors.extend(visit.error.clone());
    }
    let untold = result.warnings.len().saturating_sub(MOST_WARNINGS);
    if untold > 0 {
        result.warnings.truncate(MOST_WARNINGS);
        result.warnings.push(format!("and {untold} warnings more"));
    }
    result.error_message = Some(errors.join("; ")).filter(|errors| !errors.is_empty());
    result
}

/// What is kept with the run besides.
fn details(visits: &[PlaceVisit]) -> Map<String, Value> {
    let of = |visit: &PlaceVisit| {
        json!({
            "vendor": visit.place.vendor, "slug": visit.place.slug, "status": visit.status, "error": visit.error,
            "meetings_found": visit.stats.meetings_found, "pages": visit.pages, "unchanged": visit.unchanged,
            "bytes": visit.bytes,
        })
    };
    let warnings: Vec<&String> = visits.iter().flat_map(|visit| &visit.warnings).take(MOST_WARNINGS).collect();
    let mut details = Map::new();
    details.insert("vendors".to_owned(), visits.iter().map(of).collect());
    if !warnings.is_empty() {
        details.insert("warnings".to_owned(), json!(warnings));
    }
    details
}
