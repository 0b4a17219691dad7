//! The client itself: one page, through robots.txt, turns and redirects.

use super::{
    Answer, Arrived, Asked, CityPass, Failure, FetchError, Fetched, Kind, LeapingTimer, Limits, Network, Recording,
    RecordingError, Replaying, Session, Settings, SystemTimer, Timer, Transport, Trouble, Want, address, robots_of,
    turns::Turns, vendors,
};
use crate::vendor::page::Body;
use bindery_core::Timestamp;
use bindery_engine::StopSignal;
use bindery_http::Uri;
use bindery_http::{rate::hosts::Outcome, retry_after};
use std::{
    collections::BTreeMap,
    path::Path,
    sync::Arc,
    time::{Duration, UNIX_EPOCH},
};

const MOST_REDIRECTS: usize = 10;
/// A site may send us back to the same address once, with a cookie. Not more often.
const MOST_RETURNS: usize = 2;

/// Fetches for any number of cities at the same time.
#[derive(Debug)]
pub struct Client {
    transport: Arc<dyn Transport>,
    pub(super) timer: Arc<dyn Timer>,
    pub(super) turns: Arc<Turns>,
    budgets: BTreeMap<String, vendors::Budget>,
    pub(super) robots: robots_of::Known,
    page: Limits,
    document: Limits,
    facts: Limits,
}

impl Client {
    pub fn new(settings: &Settings, transport: Arc<dyn Transport>, timer: Arc<dyn Timer>) -> Self {
        let turns = Arc::new(Turns::new(settings, Arc::clone(&timer)));
        let Settings { page, document, facts, .. } = *settings;
        let (budgets, robots) = (settings.budgets.clone(), robots_of::Known::default());
        Self { transport, timer, turns, budgets, robots, page, document, facts }
    }

    /// For the network.
    pub fn network(settings: &Settings) -> Self {
        Self::new(settings, Arc::new(Network::new(settings)), Arc::new(SystemTimer::default()))
    }

    /// For the network, and keeps every exchange in a folder.
    pub fn recording(settings: &Settings, folder: &Path) -> Result<Self, RecordingError> {
        let timer: Arc<dyn Timer> = Arc::new(SystemTimer::default());
        let network = Arc::new(Network::new(settings));
        let recording = Recording::begin(network, Arc::clone(&timer), folder)?;
        Ok(Self::new(settings, Arc::new(recording), timer))
    }

    /// For a folder that such a client has filled, or a person. Waits for nothing.
    pub fn replaying(settings: &Settings, folder: &Path) -> Result<Self, RecordingError> {
        let replaying = Replaying::open(folder)?;
        let timer = replaying.began_at().map_or_else(LeapingTimer::default, LeapingTimer::at);
        Ok(Self::new(settings, Arc::new(replaying), Arc::new(timer)))
    }

    /// What the time is, and how it is waited for.
    pub fn timer(&self) -> &Arc<dyn Timer> {
        &self.timer
    }

    /// Waits until another city of the vendor may be begun.
    pub async fn begin_city(&self, vendor: &str, stop: &StopSignal) -> Option<CityPass> {
        Turns::begin_city(&self.turns, vendor, stop).await
    }

    /// Waits until a moment; false: the program is stopping.
    pub async fn wait_until(&self, moment: Timestamp, stop: &StopSignal) -> bool {
        let mut stop = stop.clone();
        tokio::select! {
            biased;
            () = stop.stopping() => false,
            () = self.timer.sleep_until(moment) => true,
        }
    }

    /// Fetches, once. What is worth another attempt is for the caller to say.
    pub async fn fetch(&self, session: &Session, want: &Want, stop: &StopSignal) -> Result<Fetched, FetchError> {
        self.follow(session, want, stop, true).await.map_err(|(url, trouble)| FetchError {
            vendor: session.vendor.clone(),
            url: address::redact(&url),
            trouble,
        })
    }

    /// Asks, and goes where redirects lead. An error comes with the address that it is about.
    pub(super) async fn follow(
        &self,
        session: &Session,
        want: &Want,
        stop: &StopSignal,
        minds_robots: bool,
    ) -> Result<Fetched, (String, Trouble)> {
        let mut uri = address::checked(&want.url).map_err(|why| (want.url.clone(), Trouble::BadAddress(why)))?;
        let first = uri.clone();
        let mut body = want.body.clone();
        let mut way: Vec<String> = Vec::new();
        loop {
            let url = uri.to_string();
            let about = |trouble| (url.clone(), trouble);
            if minds_robots {
                self.minds_robots(session, &uri, stop).await.map_err(about)?;
            }
            let asked = self.build_request(session, want, &uri, &first, body.clone());
            let answer = self.exchange(session, &uri, asked, stop).await.map_err(about)?;
            let location = answer.header("location").filter(|_| matches!(answer.status, 301 | 302 | 303 | 307 | 308));
            match (answer.status, location) {
                (304, _) if want.condition.is_some() => return Ok(Fetched::Unchanged),
                (200..300, _) => return Ok(Fetched::Page(Arrived::new(&url, want.kind, answer))),
                (_, Some(to)) => {
                    let why = |why| about(Trouble::BadRedirect { to: address::redact(to), why });
                    let next = address::join(&uri, to).map_err(why)?;
                    if !matches!(answer.status, 307 | 308) {
                        body = None;
                    }
                    way.push(url.clone());
                    let trouble = too_far(&way, &next);
                    if let Some(trouble) = trouble {
                        return Err((want.url.clone(), trouble));
                    }
                    uri = next;
                }
                (status, None) => return Err(about(Trouble::Status(status))),
            }
        }
    }

    fn build_request(&self, session: &Session, want: &Want, uri: &Uri, first: &Uri, body: Option<Body>) -> Asked {
        let limits = match want.kind {
            Kind::Page => self.page,
            Kind::Document => self.document,
            Kind::Facts => self.facts,
        };
        let is_where_it_began = address::origin(uri) == address::origin(first);
        let mut headers: Vec<(String, String)> = Vec::new();
        for (name, value) in &want.headers {
            let name = name.to_ascii_lowercase();
            // A key is for the site that it was given for.
            if is_where_it_began || !matches!(name.as_str(), "authorization" | "cookie" | "x-api-key") {
                headers.push((name, value.clone()));
            }
        }
        if !headers.iter().any(|(name, _)| name == "accept") {
            headers.push(("accept".to_owned(), "*/*".to_owned()));
        }
        if let Some(cookies) = session.cookie_header(&address::authority(uri)) {
            headers.push(("cookie".to_owned(), cookies));
        }
        // A condition speaks of what the whole way led to; only a GET can have one.
        if let (Some(condition), None) = (&want.condition, &body) {
            let etag = condition.etag.clone().map(|etag| ("if-none-match".to_owned(), etag));
            let modified = condition.last_modified.clone().map(|date| ("if-modified-since".to_owned(), date));
            headers.extend(etag.into_iter().chain(modified));
        }
        Asked { url: uri.to_string(), body, is_head: want.kind == Kind::Facts, headers, limits }
    }

    /// One exchange in its turn, on a thread of its own: a program that stops does not wait for a slow server.
    async fn exchange(&self, session: &Session, uri: &Uri, asked: Asked, stop: &StopSignal) -> Result<Answer, Trouble> {
        let host = address::authority(uri);
        let place = vendors::place(uri, &session.scope, &self.budgets);
        let mut turn = Turns::wait(&self.turns, &place, stop).await?;
        let (give, mut answer) = tokio::sync::oneshot::channel();
        let transport = Arc::clone(&self.transport);
        let work = move || {
            // Nobody may be waiting any more.
            let _ = give.send(transport.exchange(&asked));
        };
        std::thread::Builder::new()
            .name("civic-fetch".to_owned())
            .spawn(work)
            .map_err(|error| Failure::Unreachable(format!("no thread could be started: {error}")))?;
        let mut stop = stop.clone();
        let said = tokio::select! {
            biased;
            () = stop.stopping() => return Err(Trouble::Stopped),
            said = &mut answer => said.unwrap_or_else(|_| Err(Failure::Unreachable("the request failed".to_owned()))),
        };
        match &said {
            Ok(answer) => {
                turn.ended(Outcome::of_status(answer.status));
                let after = answer.header("retry-after").filter(|_| matches!(answer.status, 429 | 503));
                if let Some(wait) = after.and_then(|after| wait_asked_for(after, self.timer.wall_clock())) {
                    turn.defer(wait);
                }
                for (_, cookie) in answer.headers.iter().filter(|(name, _)| name == "set-cookie") {
                    session.set_cookie(&host, cookie);
                }
                tracing::debug!(%host, status = answer.status, bytes = answer.bytes.len(), "a vendor answered");
            }
            Err(Failure::Late(_) | Failure::Unreachable(_) | Failure::CutShort(_)) => turn.ended(Outcome::Failed),
            // The host is well; it is the page that does not do, or the recording.
            Err(_) => turn.ended(Outcome::Good),
        }
        Ok(said?)
    }
}

/// Whether a way of redirects has been followed for long enough.
fn too_far(way: &[String], next: &Uri) -> Option<Trouble> {
    let next = next.to_string();
    if way.iter().filter(|url| **url == next).count() >= MOST_RETURNS {
        let from = way.iter().position(|url| *url == next).unwrap_or(0);
        let mut circle: Vec<String> = Vec::new();
        for url in way.iter().skip(from) {
            if circle.contains(&address::redact(url)) {
                break;
            }
            circle.push(address::redact(url));
        }
        circle.push(address::redact(&next));
        return Some(Trouble::RedirectLoop(circle.join(" → ")));
    }
    (way.len() > MOST_REDIRECTS).then_some(Trouble::TooManyRedirects(MOST_REDIRECTS))
}

/// How long the other side wants to be left alone: seconds, or a date.
fn wait_asked_for(value: &str, now: Timestamp) -> Option<Duration> {
    retry_after::parse(value, UNIX_EPOCH + now.since(Timestamp::from_millis(0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retry_after_is_seconds_or_a_date() {
        let now = "2015-10-21T07:28:00Z".parse().unwrap();
        assert_eq!(wait_asked_for(" 120 ", now), Some(Duration::from_secs(120)));
        assert_eq!(wait_asked_for("Wed, 21 Oct 2015 07:28:30 GMT", now), Some(Duration::from_secs(30)));
        assert_eq!(wait_asked_for("Wed, 21 Oct 2015 07:27:00 GMT", now), Some(Duration::ZERO));
        for nonsense in ["", "soon", "-5", "Wed, 32 Oct 2015 07:28:00 GMT"] {
            assert_eq!(wait_asked_for(nonsense, now), None, "{nonsense}");
        }
    }
}
