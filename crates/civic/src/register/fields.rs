//! Fields of a file, read as what they should be. Texts of a table and values of JSON are both taken.

use super::{Entry, FieldFault, vendor_place};
use crate::records::VendorPlace;
use bindery_yaml::suggest;
use serde_json::{Map, Value};

/// The names of fields, as messages and tables have them.
pub(super) const NAMES: &[&str] = &[
    "banana",
    "name",
    "state",
    "vendor",
    "slug",
    "extra",
    "type",
    "county",
    "status",
    "tz",
    "population",
    "settings",
    "participation",
    "zipcodes",
];

/// What a listing of cities has besides. A listing can be read in again; how visits went is not for people to say.
const KEPT_BY_THE_STORE: &[&str] = &["health", "created_at", "updated_at"];

/// The name of a field by any of its names; none for one that is passed over.
pub(super) fn name(given: &str) -> Result<Option<&'static str>, FieldFault> {
    let plain = match given.trim().to_ascii_lowercase().as_str() {
        "kind" => "type",
        "county_banana" => "county",
        "extra_vendors" => "extra",
        "timezone" | "time_zone" => "tz",
        "zipcode" | "zip" => "zipcodes",
        other if KEPT_BY_THE_STORE.contains(&other) => return Ok(None),
        other => NAMES.iter().find(|name| **name == other).ok_or_else(|| {
            let hint = suggest(other, NAMES);
            FieldFault::new(given.trim(), format!("there is no such field; {hint}"))
        })?,
    };
    Ok(Some(plain))
}

/// Reads an entry; every field that is not what it should be is told.
pub(super) fn entry(fields: &Map<String, Value>) -> Result<Entry, Vec<FieldFault>> {
    let (mut entry, mut faults) = (Entry::default(), Vec::new());
    for (given, value) in fields {
        let read = name(given).and_then(|name| match name {
            Some(name) => field(&mut entry, name, value).map_err(|message| FieldFault::new(name, message)),
            None => Ok(()),
        });
        faults.extend(read.err());
    }
    if entry.city_key.is_empty() && !faults.iter().any(|fault| fault.field == "banana") {
        faults.push(FieldFault::new("banana", "expected the key of a jurisdiction such as paloaltoCA, found none"));
    }
    if faults.is_empty() { Ok(entry) } else { Err(faults) }
}

fn field(entry: &mut Entry, name: &str, value: &Value) -> Result<(), String> {
    match name {
        "banana" => entry.city_key = text(value)?.unwrap_or_default(),
        "name" => entry.name = text(value)?,
        "state" => entry.state = text(value)?,
        "vendor" => entry.vendor = text(value)?,
        "slug" => entry.slug = text(value)?,
        "type" => entry.kind = text(value)?,
        "status" => entry.status = text(value)?,
        "tz" => entry.tz = text(value)?,
        "county" => entry.county = Some(text(value)?),
        "population" => entry.population = Some(number(value)?),
        "extra" => entry.extra = Some(places(value)?),
        "zipcodes" => entry.zipcodes = Some(zipcodes(value)?),
        "settings" => {
            entry.settings = Some(match whole(value)? {
                Value::Null => Map::new(),
                Value::Object(settings) => settings,
                other => return Err(expectation("a JSON object such as {\"view_id\": 2}", &other)),
            });
        }
        _ => entry.participation = Some(Some(whole(value)?).filter(|value| !value.is_null())),
    }
    Ok(())
}

fn expectation(what: &str, found: &Value) -> String {
    let found: String = found.to_string().chars().take(60).collect();
    format!("expected {what}, found {found}")
}

/// A text that says something. Slugs that are numbers are texts, too.
fn text(value: &Value) -> Result<Option<String>, String> {
    match value {
        Value::Null => Ok(None),
        Value::String(text) => Ok(Some(text.trim().to_owned()).filter(|text| !text.is_empty())),
        Value::Number(number) => Ok(Some(number.to_string())),
        other => Err(expectation("a text", other)),
    }
}

fn number(value: &Value) -> Result<Option<i64>, String> {
    let wrong = || expectation("a whole number such as 68572", value);
    match value {
        Value::Null => Ok(None),
        Value::Number(number) => number.as_i64().map(Some).ok_or_else(wrong),
        Value::String(text) if text.trim().is_empty() => Ok(None),
        Value::String(text) => text.trim().parse().map(Some).map_err(|_| wrong()),
        _ => Err(wrong()),
    }
}

/// JSON, or a text that is JSON.
fn whole(value: &Value) -> Result<Value, String> {
    match value {
        Value::String(text) => {
            serde_json::from_str(text).map_err(|error| format!("expected JSON, found {text:?} ({error})"))
        }
        other => Ok(other.clone()),
    }
}

/// Parts of a text, separated by semicolons.
fn parts(text: &str) -> impl Iterator<Item = &str> {
    text.split(';').map(str::trim).filter(|part| !part.is_empty())
}

fn places(value: &Value) -> Result<Vec<VendorPlace>, String> {
    let one = |value: &Value| match value {
        Value::String(text) => vendor_place(text),
        Value::Object(fields) => {
            let of = |name: &str| fields.get(name).and_then(Value::as_str).unwrap_or_default();
            vendor_place(&format!("{}:{}", of("vendor"), of("slug")))
                .map_err(|_| expectation("a vendor and a slug", value))
        }
        other => Err(expectation("a vendor and a slug", other)),
    };
    match value {
        Value::Null => Ok(Vec::new()),
        Value::String(text) => parts(text).map(vendor_place).collect(),
        Value::Array(list) => list.iter().map(one).collect(),
        other => Err(expectation("a list of VENDOR:SLUG", other)),
    }
}

fn zipcodes(value: &Value) -> Result<Vec<String>, String> {
    let wrong = |value: &Value| expectation("a list of zip codes", value);
    match value {
        Value::Null => Ok(Vec::new()),
        Value::String(text) => Ok(parts(text).map(str::to_owned).collect()),
        Value::Number(number) => Ok(vec![format!("{number:0>5}")]),
        Value::Array(list) => {
            // As listings have them, the primary one first.
            let is_primary = |code: &&Value| code.get("is_primary").and_then(Value::as_bool) == Some(true);
            let (first, others): (Vec<&Value>, Vec<&Value>) = list.iter().partition(is_primary);
            let one = |code: &Value| match code {
                Value::Object(fields) => fields.get("zipcode").map_or(Ok(None), text),
                other => text(other),
            };
            first.into_iter().chain(others).map(|code| one(code)?.ok_or_else(|| wrong(code))).collect()
        }
        other => Err(wrong(other)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(value: &Value) -> Result<Entry, Vec<String>> {
        entry(value.as_object().unwrap()).map_err(|faults| faults.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn texts_of_a_table_and_values_of_json_are_the_same() {
        let table = json!({
            "banana": "paloaltoCA", "extra": "onbase:a.gov/x; civicplus:b", "population": "68572", "zip": "94301;94303",
            "settings": "{\"view_id\": 2}", "county_banana": "santaclaracountyCA", "slug": "1810",
        });
        let json = json!({
            "banana": "paloaltoCA", "population": 68572, "slug": 1810, "settings": {"view_id": 2},
            "extra_vendors": [{"vendor": "onbase", "slug": "a.gov/x"}, "civicplus:b"],
            "zipcodes": [{"zipcode": "94303", "is_primary": false}, {"zipcode": "94301", "is_primary": true}],
            "county": "santaclaracountyCA", "health": {"consecutive_failures": 3},
        });
        assert_eq!(read(&table).unwrap(), read(&json).unwrap());
    }

    #[test]
    fn every_fault_is_told_with_its_field() {
        let faults = read(&json!({
            "nmae": "Palo Alto", "population": "many", "extra": "onbase", "settings": "view 2", "zipcodes": true, "slug": [],
        }))
        .unwrap_err();
        let all = faults.join("\n");
        assert_eq!(faults.len(), 7, "{all}");
        assert!(all.contains("nmae: there is no such field; did you mean `name`?"), "{all}");
        assert!(all.contains("population: expected a whole number such as 68572, found \"many\""), "{all}");
        assert!(all.contains("extra: expected VENDOR:SLUG"), "{all}");
        assert!(all.contains("settings: expected JSON"), "{all}");
        assert!(all.contains("slug: expected a text, found []"), "{all}");
        assert!(all.contains("banana: expected the key"), "{all}");
    }
}
