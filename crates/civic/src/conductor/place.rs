//! One vendor's site of a city: visited, and what it says stored.

use super::{Conductor, memory::Memory, window::day_of};
use crate::records::{Alarm, Jurisdiction, SyncStatus, VendorPlace};
use crate::{
    sync::{SyncStats, Visited},
    vendor::{Adapter, PageFault, Site, Window},
    visit::{Driver, VisitError, VisitFault},
};
use bindery_engine::StopSignal;
use jiff::tz::TimeZone;

/// What came of it.
#[derive(Debug, Default)]
pub(super) struct PlaceVisit {
    pub(super) place: VendorPlace,
    pub(super) status: SyncStatus,
    pub(super) stats: SyncStats,
    pub(super) error: Option<String>,
    pub(super) alarms: Vec<Alarm>,
    pub(super) warnings: Vec<String>,
    pub(super) pages: usize,
    pub(super) unchanged: usize,
    pub(super) bytes: u64,
}

impl PlaceVisit {
    fn ended(place: &VendorPlace, status: SyncStatus, why: impl Into<String>) -> Self {
        Self { place: place.clone(), status, error: Some(why.into()), ..Self::default() }
    }

    /// Nothing was asked of the site, because the program is stopping.
    pub(super) fn stopped(place: &VendorPlace) -> Self {
        Self::ended(place, SyncStatus::Pending, VisitFault::Stopped.to_string())
    }

    fn failed(place: &VendorPlace, error: VisitError) -> Self {
        let VisitError { fault, pages, bytes, warnings } = error;
        let status = match &fault {
            VisitFault::Stopped => SyncStatus::Pending,
            // Nothing was asked of anybody: what is stored of the city cannot be right.
            VisitFault::Page(PageFault::Site(_)) => SyncStatus::Skipped,
            VisitFault::Fetch(_) | VisitFault::Page(_) => SyncStatus::Failed,
        };
        Self { warnings, pages, bytes, ..Self::ended(place, status, fault.to_string()) }
    }
}

/// The sites of a city: its first vendor's, then the others'.
pub(super) fn places(city: &Jurisdiction) -> Vec<VendorPlace> {
    let first = VendorPlace { vendor: city.vendor.clone(), slug: city.slug.clone() };
    let mut places = vec![first];
    for place in &city.extra_vendors {
        if !places.contains(place) {
            places.push(place.clone());
        }
    }
    places
}

impl Conductor {
    /// The adapter of a site, or why it is not visited.
    pub(super) fn adapter_of(&self, place: &VendorPlace) -> Result<&'static dyn Adapter, Box<PlaceVisit>> {
        self.vendor(&place.vendor).ok_or_else(|| {
            let known: Vec<&str> = self.vendors.iter().map(|adapter| adapter.name()).collect();
            let why = format!("there is no vendor {:?}; known are {}", place.vendor, known.join(", "));
            Box::new(PlaceVisit::ended(place, SyncStatus::Skipped, why))
        })
    }

    pub(super) async fn visit_place(
        &self,
        city: &Jurisdiction,
        place: &VendorPlace,
        (window, zone): (Window, &TimeZone),
        adapter: &'static dyn Adapter,
        memory: &mut Memory,
        stop: &StopSignal,
    ) -> PlaceVisit {
        let site = Site { slug: place.slug.clone(), zone: zone.clone(), settings: city.settings.clone() };
        let remembered_as = remembered_as(place);
        let known = memory.site(&remembered_as);
        let (client, limits) = (&*self.client, self.limits);
        let driver = Driver { client, adapter, site: &site, window, city: &city.city_key, known: &known, limits };
        let found = match driver.visit(stop).await {
            Ok(found) => found,
            Err(error) => return PlaceVisit::failed(place, error),
        };
        let mut visit = PlaceVisit {
            place: place.clone(),
            status: SyncStatus::Completed,
            alarms: found.alarms.iter().map(alarm).collect(),
            warnings: found.warnings,
            pages: found.pages,
            unchanged: found.unchanged,
            bytes: found.bytes,
            ..PlaceVisit::default()
        };
        memory.learn(&remembered_as, found.known);
        // A page that came to nothing may have named meetings, and so may another site of the same vendor: that they
        // are not named here is no news of them.
        let is_only = places(city).iter().filter(|other| other.vendor == place.vendor).count() == 1;
        let is_complete = found.is_complete && visit.alarms.is_empty() && is_only;
        let coming = (day_of(self.now(), zone), found.meetings.as_slice());
        if let Err(error) = self.look_for_replaced_files(city, place, coming, stop).await {
            visit.warnings.push(format!("whether documents were replaced is not known: {error}"));
        }
        let visited = Visited { vendor: place.vendor.clone(), window, meetings: found.meetings, is_complete };
        match self.orchestrator.sync_visit(city, visited).await {
            Ok(stats) => visit.stats = stats,
            Err(error) => {
                visit.status = SyncStatus::Failed;
                visit.error = Some(format!("what was found could not be stored: {error}"));
            }
        }
        visit
    }
}

/// What a site is remembered as.
pub(super) fn remembered_as(place: &VendorPlace) -> String {
    format!("{} {}", place.vendor, place.slug)
}

fn alarm(alarm: &crate::visit::Alarm) -> Alarm {
    Alarm { url: Some(alarm.url.clone()), kind: "dried_up".to_owned(), message: alarm.to_string() }
}
