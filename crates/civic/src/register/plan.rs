//! What entries come to, with all that is stored: edits that can be made together, or every fault.

use super::{Entry, FieldFault, check::check};
use crate::records::{Jurisdiction, JurisdictionEdit};
use serde::Serialize;
use std::{
    collections::{BTreeMap, HashMap, HashSet},
    fmt,
};

/// What entries are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// New ones: one that is stored is a fault.
    Add,
    /// Changes: one that is not stored is a fault.
    Change,
    /// Either. Those that are stored are changed, or passed over.
    Import { skip_existing: bool },
}

/// What is to be done, by city keys.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Plan {
    #[serde(skip)]
    pub edits: Vec<JurisdictionEdit>,
    pub added: Vec<String>,
    pub changed: Vec<String>,
    /// Stored as they are entered.
    pub unchanged: Vec<String>,
    pub skipped: Vec<String>,
}

/// A fault of one of several entries.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PlacedFault {
    /// Where the entry stands, e.g. `line 3`; empty if it stands nowhere.
    pub place: String,
    #[serde(flatten)]
    pub fault: FieldFault,
}

impl fmt::Display for PlacedFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.place.is_empty() {
            write!(f, "{}: ", self.place)?;
        }
        self.fault.fmt(f)
    }
}

/// The edits that entries come to, each with the place where it stands. All are checked, whatever is wrong with others.
pub fn plan(entries: &[(String, Entry)], stored: &[Jurisdiction], purpose: Purpose) -> Result<Plan, Vec<PlacedFault>> {
    let known: HashMap<&str, &Jurisdiction> = stored.iter().map(|city| (city.city_key.as_str(), city)).collect();
    let mut planning = Planning { known, places: HashMap::new(), plan: Plan::default(), faults: Vec::new() };
    for (place, entry) in entries {
        planning.entry(place, entry, purpose);
    }
    planning.names();
    planning.counties();
    if planning.faults.is_empty() { Ok(planning.plan) } else { Err(planning.faults) }
}

struct Planning<'e> {
    known: HashMap<&'e str, &'e Jurisdiction>,
    /// Where each city key was entered.
    places: HashMap<&'e str, &'e str>,
    plan: Plan,
    faults: Vec<PlacedFault>,
}

impl<'e> Planning<'e> {
    fn fault(&mut self, place: &str, fault: FieldFault) {
        self.faults.push(PlacedFault { place: place.to_owned(), fault });
    }

    fn entry(&mut self, place: &'e str, entry: &'e Entry, purpose: Purpose) {
        let city_key = entry.city_key.as_str();
        if let Some(first) = self.places.insert(city_key, place) {
            let message = format!("{city_key} is entered twice, first in {first}");
            return self.fault(place, FieldFault::new("banana", message));
        }
        let before = self.known.get(city_key).copied();
        match (purpose, before) {
            (Purpose::Add, Some(city)) => {
                let message = format!("{city_key} is stored already: {}, {}", city.name, city.state);
                return self.fault(place, FieldFault::new("banana", message));
            }
            (Purpose::Import { skip_existing: true }, Some(_)) => return self.plan.skipped.push(city_key.to_owned()),
            _ => {}
        }
        let after = match check(entry, before) {
            Ok(after) => after,
            Err(faults) => return faults.into_iter().for_each(|fault| self.fault(place, fault)),
        };
        match (purpose, before) {
            (Purpose::Change, None) => {
                return self.fault(place, FieldFault::new("banana", format!("{city_key} is not stored")));
            }
            (_, Some(before)) if *before == after => return self.plan.unchanged.push(city_key.to_owned()),
            (_, Some(_)) => self.plan.changed.push(city_key.to_owned()),
            (_, None) => self.plan.added.push(city_key.to_owned()),
        }
        self.plan.edits.push(JurisdictionEdit { before: before.cloned(), after });
    }

    /// Name and state together are unique.
    fn names(&mut self) {
        let mut owners: BTreeMap<(&str, &str), &str> = BTreeMap::new();
        let edited: HashSet<&str> = self.plan.edits.iter().map(|edit| edit.after.city_key.as_str()).collect();
        for city in self.known.values().filter(|city| !edited.contains(&city.city_key.as_str())) {
            owners.insert((&city.name, &city.state), &city.city_key);
        }
        let mut taken = Vec::new();
        for JurisdictionEdit { after, .. } in &self.plan.edits {
            match owners.get(&(after.name.as_str(), after.state.as_str())) {
                Some(owner) => {
                    let message = format!("{}, {} is {owner} already", after.name, after.state);
                    taken.push((after.city_key.clone(), FieldFault::new("name", message)));
                }
                None => {
                    owners.insert((&after.name, &after.state), &after.city_key);
                }
            }
        }
        self.faults_of(taken);
    }

    /// A county is stored, or entered beside its cities.
    fn counties(&mut self) {
        let mut missing = Vec::new();
        for JurisdictionEdit { before, after } in &self.plan.edits {
            let Some(county) = after.county.as_deref() else { continue };
            let is_there = self.known.contains_key(county) || self.places.contains_key(county);
            let was_there = before.as_ref().is_some_and(|before| before.county.as_deref() == Some(county));
            if !is_there && !was_there {
                let message = format!("{county} is not stored; add it first, with --type county");
                missing.push((after.city_key.clone(), FieldFault::new("county", message)));
            }
        }
        self.faults_of(missing);
    }

    fn faults_of(&mut self, found: Vec<(String, FieldFault)>) {
        for (city_key, fault) in found {
            let place = self.places.get(city_key.as_str()).copied().unwrap_or_default();
            self.fault(place, fault);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(city_key: &str, name: &str) -> (String, Entry) {
        let of = |text: &str| Some(text.to_owned());
        let entry = Entry {
            city_key: city_key.to_owned(),
            name: of(name),
            vendor: of("legistar"),
            slug: of("somewhere"),
            ..Entry::default()
        };
        (format!("line of {city_key}"), entry)
    }

    fn faults(entries: &[(String, Entry)], stored: &[Jurisdiction], purpose: Purpose) -> String {
        let faults = plan(entries, stored, purpose).unwrap_err();
        faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
    }

    fn stored(entries: &[(String, Entry)]) -> Vec<Jurisdiction> {
        plan(entries, &[], Purpose::Add).unwrap().edits.into_iter().map(|edit| edit.after).collect()
    }

    const IMPORT: Purpose = Purpose::Import { skip_existing: false };

    #[test]
    fn a_new_city_takes_what_follows_from_its_key() {
        let all = stored(&[entry("paloaltoCA", " Palo Alto ")]);
        let city = &all[0];
        assert_eq!((city.name.as_str(), city.state.as_str()), ("Palo Alto", "CA"));
        assert_eq!((city.tz.as_deref(), city.kind.as_str()), (Some("America/Los_Angeles"), "city"));
        assert!(city.is_active());
    }

    #[test]
    fn what_is_not_said_stays_and_another_vendor_needs_a_slug_of_its_own() {
        let mut city = stored(&[entry("paloaltoCA", "Palo Alto")]);
        city[0].settings.insert("token".to_owned(), "secret".into());
        let change = |change: Entry| vec![(String::new(), Entry { city_key: "paloaltoCA".to_owned(), ..change })];
        let of = |text: &str| Some(text.to_owned());
        let paused = plan(&change(Entry { status: of("paused"), ..Entry::default() }), &city, Purpose::Change).unwrap();
        assert_eq!(paused.edits[0].after, Jurisdiction { status: "paused".to_owned(), ..city[0].clone() });
        let moved = Entry { vendor: of("primegov"), ..Entry::default() };
        let told = faults(&change(moved.clone()), &city, Purpose::Change);
        assert_eq!(told, "slug: expected one, found none: another vendor has a slug of its own");
        let moved = plan(&change(Entry { slug: of("paloalto"), ..moved }), &city, Purpose::Change).unwrap();
        assert!(moved.edits[0].after.settings.is_empty());
        let nothing = plan(&change(Entry::default()), &city, Purpose::Change).unwrap();
        assert_eq!((nothing.edits.len(), nothing.unchanged), (0, vec!["paloaltoCA".to_owned()]));
    }

    #[test]
    fn every_field_is_checked() {
        let of = |text: &str| Some(text.to_owned());
        let wrong = Entry {
            city_key: "springfieldTN".to_owned(),
            name: of("Spring\nfield"),
            state: of("KY"),
            vendor: of("legistr"),
            slug: of("two words"),
            extra: Some(vec![super::super::vendor_place("granicus:a b").unwrap()]),
            kind: of("School District"),
            county: Some(of("Robertson")),
            status: of("actve"),
            tz: None,
            population: Some(Some(-1)),
            zipcodes: Some(vec!["9".to_owned()]),
            ..Entry::default()
        };
        let told = faults(&[("line 2".to_owned(), wrong.clone())], &[], IMPORT);
        for expected in [
            "line 2: name: expected one line of text",
            "line 2: state: springfieldTN is in TN, found \"KY\"",
            "line 2: vendor: there is no vendor \"legistr\"; did you mean `legistar`?",
            "line 2: extra: the slug \"a b\" is no name of a site",
            "line 2: type: expected a word such as city, county or school_district, found \"School District\"",
            "line 2: county: \"Robertson\" is no banana",
            "line 2: status: there is no status \"actve\"; did you mean `active`?",
            "line 2: tz: TN has several time zones; say which: America/Chicago or America/New_York",
            "line 2: population: expected a number that is not negative",
            "line 2: zipcodes: expected codes such as 94301, found \"9\"",
        ] {
            assert!(told.contains(expected), "{expected:?} is not in {told}");
        }
        assert_eq!(told.lines().count(), 10, "{told}");
        let slug = Entry { vendor: of("legistar"), tz: of("Mars/Olympus"), ..wrong };
        let told = faults(&[("line 2".to_owned(), slug)], &[], IMPORT);
        assert!(told.contains("line 2: slug: ") && told.contains("two words"), "{told}");
        assert!(told.contains("line 2: tz: there is no time zone \"Mars/Olympus\""), "{told}");
        let nowhere = faults(&[entry("nowhereZZ", "Nowhere")], &[], Purpose::Add);
        assert!(nowhere.contains("banana: nowhereZZ: there is no state ZZ"), "{nowhere}");
    }

    #[test]
    fn names_and_keys_are_unique_and_counties_are_there() {
        let known = stored(&[entry("paloaltoCA", "Palo Alto")]);
        let told = faults(&[entry("paloaltoCA", "Palo Alto")], &known, Purpose::Add);
        assert!(told.contains("banana: paloaltoCA is stored already: Palo Alto, CA"), "{told}");
        let told = faults(&[entry("paCA", "Palo Alto")], &known, Purpose::Add);
        assert!(told.contains("name: Palo Alto, CA is paloaltoCA already"), "{told}");
        let told = faults(&[entry("oaklandCA", "Oakland"), entry("oaklandCA", "Oakland")], &known, IMPORT);
        assert!(told.contains("banana: oaklandCA is entered twice, first in line of oaklandCA"), "{told}");
        let told = faults(&[entry("gonevilleCA", "Goneville")], &known, Purpose::Change);
        assert!(told.contains("banana: gonevilleCA is not stored"), "{told}");
        let within = |mut entry: (String, Entry)| {
            entry.1.county = Some(Some("alamedacountyCA".to_owned()));
            entry
        };
        let told = faults(&[within(entry("oaklandCA", "Oakland"))], &known, IMPORT);
        assert!(told.contains("county: alamedacountyCA is not stored"), "{told}");
        let both = [within(entry("oaklandCA", "Oakland")), entry("alamedacountyCA", "Alameda County")];
        assert_eq!(plan(&both, &known, IMPORT).unwrap().added, ["oaklandCA", "alamedacountyCA"]);
        let skipping = Purpose::Import { skip_existing: true };
        let skipped = plan(&[entry("paloaltoCA", "Elsewhere")], &known, skipping).unwrap();
        assert_eq!((skipped.skipped.len(), skipped.edits.len()), (1, 0));
    }
}
