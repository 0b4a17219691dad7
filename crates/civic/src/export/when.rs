//! When a meeting begins, as exports need it.

use crate::records::Meeting;
use jiff::{
    Zoned,
    civil::{Date, DateTime, Time},
    tz::TimeZone,
};

/// The day, the hour where it is known, and the zone where it is known.
#[derive(Debug, Clone)]
pub struct Begins {
    pub date: Date,
    pub time: Option<Time>,
    /// With its IANA name.
    pub zone: Option<(String, TimeZone)>,
}

impl Begins {
    /// None: no day is known.
    pub fn from_meeting(meeting: &Meeting) -> Option<Self> {
        let local = meeting.starts_at_local.as_deref()?;
        let (date, time) = match local.parse::<DateTime>() {
            // A day alone is read as its midnight.
            Ok(begins) if local.contains('T') => (begins.date(), Some(begins.time())),
            _ => (local.parse::<Date>().ok()?, None),
        };
        let zone = meeting.tz.as_ref().and_then(|name| Some((name.clone(), TimeZone::get(name).ok()?)));
        Some(Self { date, time, zone })
    }

    /// With its offset; none where the hour or the zone is not known. An hour that the clock leaps over is the one after
    /// it.
    pub fn zoned(&self) -> Option<Zoned> {
        let (_, zone) = self.zone.as_ref()?;
        self.date.to_datetime(self.time?).to_zoned(zone.clone()).ok()
    }

    /// `2026-03-09`, and `18:30` where it is known.
    pub fn day_and_hour(&self) -> (String, String) {
        let time = self.time.map(|time| time.strftime("%H:%M").to_string()).unwrap_or_default();
        (self.date.to_string(), time)
    }
}
