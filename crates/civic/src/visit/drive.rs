//! Driving an adapter.

use super::{
    gather::Gathered,
    known::{Counts, Known, KnownPage, landmarks_or, page_key},
    reading,
    shape::{Alarm, NewShape, Shapes},
};
use crate::{
    client::{Arrived, Client, FetchError, Fetched, Session, Trouble, Want, address},
    vendor::{Adapter, FetchedPage, PageFault, Request, Site, VendorMeeting, Window},
};
use bindery_engine::StopSignal;
use futures_util::{StreamExt as _, stream};
use serde::Serialize;
use std::{
    borrow::Cow,
    collections::{HashMap, HashSet},
    mem,
    sync::Arc,
    time::Duration,
};
use thiserror::Error;

/// Before the second and the third attempt. A vendor that says how long to wait is waited for in any case.
const PAUSES: [Duration; 2] = [Duration::from_secs(5), Duration::from_secs(20)];

/// More warnings are only counted.
const MOST_WARNINGS: usize = 200;

/// What a visit may take.
#[derive(Debug, Clone, Copy)]
pub struct VisitLimits {
    pub pages: usize,
    /// Steps from the pages to begin with.
    pub depth: usize,
    /// Pages that are asked for at the same time; the client lets through what is polite.
    pub side_by_side: usize,
    /// Of each page, for errors that may pass.
    pub attempts: usize,
}

impl Default for VisitLimits {
    fn default() -> Self {
        Self { pages: 2000, depth: 8, side_by_side: 4, attempts: 3 }
    }
}

/// What a visit has found.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Findings {
    /// Those of the window, in the order in which the site names them.
    pub meetings: Vec<VendorMeeting>,
    /// Meetings that the site named besides.
    pub outside_window: usize,
    /// Pages that were asked for and came, of which so many were as they were last time.
    pub pages: usize,
    pub unchanged: usize,
    pub bytes: u64,
    /// All pages that must be there were read to their ends. If not, a meeting that was not found is not gone.
    pub is_complete: bool,
    /// Each a sentence.
    pub warnings: Vec<String>,
    pub alarms: Vec<Alarm>,
    pub new_shapes: Vec<NewShape>,
    /// For the next visit.
    #[serde(skip)]
    pub known: Known,
}

/// A visit that came to nothing.
#[derive(Debug, Error)]
#[error("{fault}")]
pub struct VisitError {
    pub fault: VisitFault,
    /// What was fetched before.
    pub pages: usize,
    pub bytes: u64,
    pub warnings: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum VisitFault {
    #[error(transparent)]
    Fetch(#[from] FetchError),
    #[error(transparent)]
    Page(#[from] PageFault),
    #[error("the visit was not ended: the program is stopping")]
    Stopped,
}

/// A city's site, ready to be visited.
#[derive(Debug)]
pub struct Driver<'a> {
    pub client: &'a Client,
    pub adapter: &'static dyn Adapter,
    pub site: &'a Site,
    pub window: Window,
    /// The jurisdiction's key, e.g. `paloaltoCA`.
    pub city: &'a str,
    /// What earlier visits have learnt.
    pub known: &'a Known,
    pub limits: VisitLimits,
}

/// A page on its way through a visit.
struct Got {
    page: Arrived,
    is_unchanged: bool,
}

/// A visit under way.
#[derive(Debug)]
struct Visit<'a> {
    found: Findings,
    gathered: Gathered,
    shapes: Shapes<'a>,
    /// Where to go next.
    follow: Vec<Request>,
    /// Warnings that were too many.
    untold: usize,
}

impl Driver<'_> {
    /// Visits the site.
    pub async fn visit(&self, stop: &StopSignal) -> Result<Findings, VisitError> {
        let shapes = Shapes::new(self.known);
        let found = Findings { is_complete: true, ..Findings::default() };
        let mut visit = Visit { found, gathered: Gathered::default(), shapes, follow: Vec::new(), untold: 0 };
        match self.waves(&mut visit, stop).await {
            Ok(()) => {
                let mut found = visit.found;
                if visit.untold > 0 {
                    found.warnings.push(format!("and {} warnings more", visit.untold));
                }
                (found.meetings, found.outside_window) = visit.gathered.split_by(self.window);
                (found.alarms, found.new_shapes, found.known.kinds) = visit.shapes.end();
                Ok(found)
            }
            Err(fault) => {
                let Findings { pages, bytes, warnings, .. } = visit.found;
                Err(VisitError { fault, pages, bytes, warnings })
            }
        }
    }

    async fn waves(&self, visit: &mut Visit<'_>, stop: &StopSignal) -> Result<(), VisitFault> {
        let session = Session::new(self.adapter.name(), self.city);
        let site = Arc::new(self.site.clone());
        let mut seen: HashSet<Request> = HashSet::new();
        let mut left = self.limits.pages;
        let mut depth = 0;
        visit.follow = self.adapter.begin(&site, &self.window)?;
        loop {
            let mut wave = mem::take(&mut visit.follow);
            wave.retain(|request| seen.insert(request.clone()));
            if wave.is_empty() {
                return Ok(());
            }
            if depth >= self.limits.depth {
                visit.incomplete(&format!("{} pages lie deeper than {depth} steps and were not fetched", wave.len()));
                return Ok(());
            }
            let mut pages = same_pages(wave);
            // What must be there comes first: details may be what a host gives up over.
            pages.sort_by_key(SharedPage::is_optional);
            if pages.len() > left {
                visit.incomplete(&format!(
                    "{} pages were not fetched: a visit ends after {}",
                    pages.len() - left,
                    self.limits.pages
                ));
                pages.truncate(left);
            }
            left -= pages.len();
            depth += 1;
            let session = &session;
            let fetched = stream::iter(pages).map(|page| async move {
                let got = self.fetch(session, &page.request, stop).await;
                (page, got)
            });
            let mut fetched = std::pin::pin!(fetched.buffered(self.limits.side_by_side.max(1)));
            while let Some((page, got)) = fetched.next().await {
                self.take_in(visit, &site, page, got).await?;
            }
        }
    }

    /// Fetches a page, with a condition where it is known, and again while errors may pass.
    async fn fetch(&self, session: &Session, request: &Request, stop: &StopSignal) -> Result<Got, FetchError> {
        let known = self.known.pages.get(&page_key(request));
        let mut want = Want::page(request);
        want.condition = known.and_then(KnownPage::condition).filter(|_| request.body.is_none());
        let mut attempt = 0;
        let mut before: Option<FetchError> = None;
        loop {
            attempt += 1;
            match self.client.fetch(session, &want, stop).await {
                Ok(Fetched::Page(page)) => return Ok(Got { page, is_unchanged: false }),
                Ok(Fetched::Unchanged) => {
                    return Ok(Got {
                        page: known.map(|known| known.as_arrived(&request.url)).unwrap_or_default(),
                        is_unchanged: true,
                    });
                }
                Err(error) if error.trouble.is_transient() && attempt < self.limits.attempts => {
                    tracing::debug!(%error, attempt, city = self.city, "a page is asked for again");
                    let pause = PAUSES.get(attempt - 1).or(PAUSES.last()).copied().unwrap_or_default();
                    if !self.client.wait_until(self.client.timer().now() + pause, stop).await {
                        return Err(FetchError { trouble: Trouble::Stopped, ..error });
                    }
                    before = Some(error);
                }
                // What the host did says more than that it is left alone for it.
                Err(error) if matches!(error.trouble, Trouble::HostDown { .. }) => return Err(before.unwrap_or(error)),
                Err(error) => return Err(error),
            }
        }
    }

    async fn take_in(
        &self,
        visit: &mut Visit<'_>,
        site: &Arc<Site>,
        shared: SharedPage,
        got: Result<Got, FetchError>,
    ) -> Result<(), VisitFault> {
        let key = page_key(&shared.request);
        let Got { page, is_unchanged } = match got {
            Ok(got) => got,
            Err(FetchError { trouble: Trouble::Stopped, .. }) => return Err(VisitFault::Stopped),
            Err(error) => {
                if !shared.wanted_by.iter().all(|request| visit.goes_on_without(request)) {
                    return Err(error.into());
                }
                visit.warn(&error.to_string());
                // It may be there again next time.
                let known = self.known.pages.get(&key).cloned();
                visit.found.known.pages.extend(known.map(|known| (key, known)));
                return Ok(());
            }
        };
        visit.found.pages += 1;
        visit.found.unchanged += usize::from(is_unchanged);
        if !is_unchanged {
            visit.found.bytes += page.bytes.len() as u64;
        }
        let mut learnt = KnownPage::arrived(&page);
        let before = self.known.pages.get(&key).cloned().unwrap_or_default();
        let mut counts = Counts::default();
        for request in shared.wanted_by {
            let (purpose, about) = (request.purpose, request.about.clone());
            let (url, content_type, bytes) = (page.url.clone(), page.content_type.clone(), page.bytes.clone());
            let page = FetchedPage { url, content_type, bytes, purpose: Cow::Borrowed(purpose), about };
            let url = address::redact(&page.url);
            match reading::read(self.adapter, site, self.window, page).await {
                Ok((reading, is_cut)) => {
                    if is_cut {
                        visit.incomplete(&format!("{url}: the page stops half-way; what stood behind is missing"));
                    }
                    visit.shapes.saw(&key, &url, purpose, &reading);
                    counts.add(Counts::from_reading(&reading));
                    learnt.landmarks = landmarks_or(&reading.landmarks, &learnt.landmarks);
                    for doubt in reading.doubts {
                        visit.warn(&format!("{url}: {doubt}"));
                    }
                    for amiss in visit.gathered.absorb(&url, reading.meetings) {
                        visit.warn(&amiss);
                    }
                    visit.follow.extend(reading.follow);
                }
                Err(fault) if visit.goes_on_without(&request) => visit.warn(&fault.to_string()),
                Err(fault) => return Err(without_secrets(fault).into()),
            }
        }
        learnt.counts = counts.or(before.counts);
        learnt.landmarks = landmarks_or(&learnt.landmarks, &before.landmarks);
        visit.found.known.pages.insert(key, learnt);
        Ok(())
    }
}

impl Visit<'_> {
    fn incomplete(&mut self, warning: &str) {
        self.found.is_complete = false;
        self.warn(warning);
    }

    /// Whether the visit goes on without a page: another tells the same and is asked for, or it only adds details.
    fn goes_on_without(&mut self, request: &Request) -> bool {
        if let Some(instead) = &request.instead {
            self.follow.push((**instead).clone());
        }
        request.instead.is_some() || request.is_optional
    }

    /// A site that is wrong in one way is often wrong in that way a thousand times.
    fn warn(&mut self, warning: &str) {
        if self.found.warnings.len() < MOST_WARNINGS {
            self.found.warnings.push(address::redact(warning));
        } else {
            self.untold += 1;
        }
    }
}

/// Adapters name pages by their addresses, and those may hold a token.
fn without_secrets(mut fault: PageFault) -> PageFault {
    match &mut fault {
        PageFault::Site(_) => {}
        PageFault::Unexpected { url, .. } | PageFault::Login { url } | PageFault::CutShort { url, .. } => {
            *url = address::redact(url);
        }
    }
    fault
}

/// A page that is fetched once: it can tell something about several meetings.
#[derive(Debug)]
struct SharedPage {
    request: Request,
    wanted_by: Vec<Request>,
}

impl SharedPage {
    /// Nobody must have it.
    fn is_optional(&self) -> bool {
        self.wanted_by.iter().all(|request| request.is_optional)
    }
}

/// The pages of a wave, each once.
fn same_pages(wave: Vec<Request>) -> Vec<SharedPage> {
    let mut pages: Vec<SharedPage> = Vec::new();
    let mut places = HashMap::new();
    for request in wave {
        let key = (request.url.clone(), request.body.clone(), request.headers.clone());
        let place = *places.entry(key).or_insert(pages.len());
        match pages.get_mut(place) {
            Some(page) => page.wanted_by.push(request),
            None => pages.push(SharedPage { request: request.clone(), wanted_by: vec![request] }),
        }
    }
    pages
}
