//! Digests: what a citizen would read of some cities, or for an alert, in several forms.

use super::{
    CouncilRefused,
    notices::{self, Digest, DigestRequest, eml, html, letter::Letter, text},
};
use crate::{app::App, error::AppResult};
use bindery_civic::records::{Alert, Jurisdiction};
use bindery_core::Timestamp;
use jiff::{ToSpan as _, civil::Date, tz::TimeZone};

/// What a digest is about.
#[derive(Debug, Clone, Default)]
pub struct DigestQuery {
    /// Cities, where no alert is named.
    pub cities: Vec<String>,
    /// Only what this alert is about, in its cities.
    pub alert: Option<String>,
    /// The first day of meetings; none: today.
    pub from: Option<Date>,
    /// How many days of meetings.
    pub days: u32,
    /// Changes and votes that were seen on this day or later; none: seven days before today.
    pub since: Option<Date>,
    /// None: today by the clock of the first city.
    pub today: Option<Date>,
}

/// A digest with what it was made of.
#[derive(Debug)]
pub struct DigestMade {
    pub digest: Digest,
    pub alert: Option<Alert>,
    pub today: Date,
}

impl App {
    pub async fn make_digest(&self, query: DigestQuery) -> AppResult<DigestMade> {
        let alert = match &query.alert {
            Some(id) => {
                let found = self.civic().alerts(None, false).await?.into_iter().find(|alert| alert.id == *id);
                Some(found.ok_or_else(|| CouncilRefused::UnknownAlert { id: id.clone() })?)
            }
            None => None,
        };
        let cities = self.digest_cities(&query.cities, alert.as_ref()).await?;
        let today = query.today.unwrap_or_else(|| self.today_in(&cities));
        let since = query.since.or_else(|| today.checked_sub(7.days()).ok()).unwrap_or(today);
        let from = query.from.unwrap_or(today);
        let request = DigestRequest { cities, alert: alert.clone(), from, days: query.days, since };
        Ok(DigestMade { digest: notices::digest(self.store(), &request).await?, alert, today })
    }

    async fn digest_cities(&self, named: &[String], alert: Option<&Alert>) -> AppResult<Vec<Jurisdiction>> {
        let mut cities = Vec::new();
        if let Some(alert) = alert {
            // One that is not followed yet has nothing to tell.
            for city_key in &alert.cities {
                cities.extend(self.civic().jurisdiction(city_key).await?);
            }
            return Ok(cities);
        }
        for city_key in named.iter().map(|city_key| city_key.trim()).filter(|city_key| !city_key.is_empty()) {
            let city = self.find_city(city_key).await?;
            if !cities.iter().any(|known: &Jurisdiction| known.city_key == city.city_key) {
                cities.push(city);
            }
        }
        if cities.is_empty() {
            return Err(CouncilRefused::Invalid("expected a city such as paloaltoCA, found none".to_owned()).into());
        }
        Ok(cities)
    }

    /// By the clock of the first city.
    fn today_in(&self, cities: &[Jurisdiction]) -> Date {
        let zone = cities.first().and_then(|city| TimeZone::get(city.tz.as_deref()?).ok()).unwrap_or(TimeZone::UTC);
        let now = jiff::Timestamp::from_millisecond(self.store().clock().now().as_millis()).unwrap_or_default();
        now.to_zoned(zone).date()
    }
}

impl DigestMade {
    /// 76 columns.
    pub fn to_text(&self) -> String {
        text::digest(&self.digest)
    }

    /// A page that mail programs show.
    pub fn to_html(&self) -> String {
        html::digest(&self.digest)
    }

    /// A whole mail; an error says which address is none.
    pub fn to_mail(&self, from: &str, to: &str) -> Result<Vec<u8>, String> {
        let Self { digest, today, .. } = self;
        let noon = today.at(12, 0, 0, 0).to_zoned(TimeZone::UTC).map_err(|error| error.to_string())?;
        let at = Timestamp::from_millis(noon.timestamp().as_millisecond());
        let key = format!("digest:{to}:{today}:{}", digest.title);
        eml::write(&Letter::of_digest(digest), &eml::Envelope { from, to, key: &key, at })
    }
}
