//! One entry, laid over what is stored and checked: every field by what it is for.

use super::{Entry, FieldFault, STATUSES};
use crate::records::{Jurisdiction, VendorPlace, ZipCode};
use crate::{
    analyst::local_topics,
    city_key::CityKey,
    client::address,
    states,
    vendor::{self, Site, Window},
};
use bindery_yaml::suggest;
use jiff::{civil::date, tz::TimeZone};
use serde_json::{Map, Value};

/// Longer names are mistakes.
const LONGEST_NAME: usize = 120;

struct Check<'e> {
    entry: &'e Entry,
    faults: Vec<FieldFault>,
}

/// The jurisdiction as it would be stored, or all that is wrong with it.
pub(super) fn check(entry: &Entry, known: Option<&Jurisdiction>) -> Result<Jurisdiction, Vec<FieldFault>> {
    let mut check = Check { entry, faults: Vec::new() };
    let mut city = known.cloned().unwrap_or_default();
    check.identity(&mut city);
    check.site(&mut city, known);
    check.clock(&mut city);
    check.rest(&mut city);
    if check.faults.is_empty() { Ok(city) } else { Err(check.faults) }
}

impl Check<'_> {
    fn fault(&mut self, field: &str, message: impl Into<String>) {
        self.faults.push(FieldFault::new(field, message));
    }

    fn identity(&mut self, city: &mut Jurisdiction) {
        match CityKey::parse(&self.entry.city_key) {
            Ok(city_key) if !states::is_state(city_key.state()) => {
                self.fault("banana", format!("{city_key}: there is no state {}", city_key.state()));
            }
            Ok(city_key) => {
                city_key.state().clone_into(&mut city.state);
                city.city_key = city_key.into();
            }
            Err(fault) => self.fault("banana", fault.to_string()),
        }
        if let Some(state) = self.entry.state.as_deref().filter(|state| *state != city.state) {
            let message = format!("{} is in {}, found {state:?}", self.entry.city_key, city.state);
            if !city.state.is_empty() {
                self.fault("state", message);
            }
        }
        match self.entry.name.as_deref().map(str::trim) {
            Some(name) if name.is_empty() || name.chars().count() > LONGEST_NAME => {
                self.fault("name", format!("expected 1 to {LONGEST_NAME} letters"));
            }
            Some(name) if name.contains(char::is_control) => {
                self.fault("name", format!("expected one line of text, found {name:?}"));
            }
            Some(name) => name.clone_into(&mut city.name),
            None if city.name.is_empty() => self.fault("name", "expected a name such as Palo Alto, found none"),
            None => {}
        }
    }

    fn site(&mut self, city: &mut Jurisdiction, known: Option<&Jurisdiction>) {
        let entry = self.entry;
        let is_moved = entry.vendor.as_deref().is_some_and(|vendor| vendor != city.vendor);
        if is_moved {
            // What the old vendor calls it, and had to be told, means nothing to the new one.
            city.slug.clear();
            city.settings.retain(|setting, _| setting == local_topics::SETTING);
        }
        for (field, given, value) in
            [("vendor", &entry.vendor, &mut city.vendor), ("slug", &entry.slug, &mut city.slug)]
        {
            if let Some(given) = given {
                given.trim().clone_into(value);
            }
            if value.is_empty() {
                let why =
                    if field == "slug" && known.is_some() { ": another vendor has a slug of its own" } else { "" };
                self.fault(field, format!("expected one, found none{why}"));
            }
        }
        if let Some(settings) = &entry.settings {
            let stored = std::mem::replace(&mut city.settings, settings.clone());
            self.unhide(city, &stored);
            if let Err(fault) = local_topics::local_topics(settings) {
                self.fault("settings", fault);
            }
        }
        if let Some(extra) = &entry.extra {
            city.extra_vendors.clone_from(extra);
        }
        if !city.vendor.is_empty() && !city.slug.is_empty() {
            self.place("vendor", "slug", &city.vendor, &city.slug, &city.settings);
        }
        for VendorPlace { vendor, slug } in &city.extra_vendors {
            self.place("extra", "extra", vendor, slug, &Map::new());
        }
        if city.extra_vendors.iter().any(|place| place.vendor == city.vendor && place.slug == city.slug) {
            self.fault("extra", format!("{}:{} is where it is found anyway", city.vendor, city.slug));
        }
    }

    /// A vendor that is known, and a slug that its adapter can make an address of.
    /// A list that was written without its secrets says nothing about them: they stay as they are.
    fn unhide(&mut self, city: &mut Jurisdiction, stored: &Map<String, Value>) {
        let is_hidden = |name: &str, value: &Value| address::is_secret(name) && *value == address::HIDDEN;
        for (name, value) in city.settings.iter_mut().filter(|(name, value)| is_hidden(name, value)) {
            match stored.get(name) {
                Some(known) => value.clone_from(known),
                None => self.fault(
                    "settings",
                    format!("{name} is hidden in this list; `bindery civic city list --json --with-secrets` writes it"),
                ),
            }
        }
    }

    fn place(&mut self, vendor_field: &str, slug_field: &str, vendor: &str, slug: &str, settings: &Map<String, Value>) {
        let Some(adapter) = vendor::adapter(vendor) else {
            let known: Vec<&str> = vendor::adapters().iter().map(|adapter| adapter.name()).collect();
            self.fault(vendor_field, format!("there is no vendor {vendor:?}; {}", suggest(vendor, &known)));
            return;
        };
        let site = Site { slug: slug.to_owned(), zone: TimeZone::UTC, settings: settings.clone() };
        let any_day = date(2026, 1, 1);
        let Err(fault) = adapter.begin(&site, &Window { from: any_day, to: any_day }) else { return };
        let without = Site { settings: Map::new(), ..site };
        let is_of_settings = adapter.begin(&without, &Window { from: any_day, to: any_day }).is_ok();
        self.fault(if is_of_settings { "settings" } else { slug_field }, fault.to_string());
    }

    fn clock(&mut self, city: &mut Jurisdiction) {
        if let Some(zone) = &self.entry.tz {
            match TimeZone::get(zone) {
                Ok(_) => city.tz = Some(zone.clone()),
                Err(_) => {
                    self.fault("tz", format!("there is no time zone {zone:?}; zones are named like America/Chicago"));
                }
            }
        } else if city.tz.is_none() && !city.state.is_empty() {
            city.tz = states::only_zone(&city.state).map(str::to_owned);
            if city.tz.is_none() {
                let zones = states::zones(&city.state).join(" or ");
                self.fault("tz", format!("{} has several time zones; say which: {zones}", city.state));
            }
        }
    }

    fn rest(&mut self, city: &mut Jurisdiction) {
        let entry = self.entry;
        if let Some(kind) = &entry.kind {
            if kind.is_empty() || !kind.chars().all(|c| c.is_ascii_lowercase() || c == '_') {
                self.fault("type", format!("expected a word such as city, county or school_district, found {kind:?}"));
            }
            city.kind.clone_from(kind);
        }
        if let Some(status) = &entry.status {
            if !STATUSES.contains(&status.as_str()) {
                self.fault("status", format!("there is no status {status:?}; {}", suggest(status, STATUSES)));
            }
            city.status.clone_from(status);
        }
        if let Some(county) = &entry.county {
            match county.as_deref().map(CityKey::parse).transpose() {
                Ok(Some(county)) if county.as_str() == city.city_key => {
                    self.fault("county", "a jurisdiction does not lie in itself");
                }
                Ok(county) => city.county = county.map(String::from),
                Err(fault) => self.fault("county", fault.to_string()),
            }
        }
        if let Some(population) = entry.population {
            if population.is_some_and(|people| people < 0) {
                self.fault("population", "expected a number that is not negative");
            }
            city.population = population;
        }
        if let Some(participation) = &entry.participation {
            city.participation.clone_from(participation);
        }
        if let Some(codes) = &entry.zipcodes {
            let is_code = |code: &&String| {
                (3..=10).contains(&code.len())
                    && code.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, ' ' | '-'))
            };
            if let Some(wrong) = codes.iter().find(|code| !is_code(code)) {
                self.fault("zipcodes", format!("expected codes such as 94301, found {wrong:?}"));
            }
            let placed = |(at, code): (usize, &String)| ZipCode { zipcode: code.clone(), is_primary: at == 0 };
            city.zipcodes = codes.iter().enumerate().map(placed).collect();
        }
    }
}
