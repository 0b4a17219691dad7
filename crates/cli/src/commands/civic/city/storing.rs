//! The command that enters a city.

use bindery_app::councils::{client::address, records::Jurisdiction};

/// The command that enters a jurisdiction as it is.
pub(in super::super) fn add_command(city: &Jurisdiction) -> String {
    let mut words = vec!["bindery civic city add".to_owned(), city.city_key.clone()];
    let mut flag = |name: &str, value: &str| words.push(format!("--{name} {}", quoted(value)));
    flag("name", &city.name);
    flag("vendor", &city.vendor);
    flag("slug", &city.slug);
    let default = Jurisdiction::default();
    for (name, value, usual) in [("type", &city.kind, &default.kind), ("status", &city.status, &default.status)] {
        if value != usual {
            flag(name, value);
        }
    }
    city.tz.iter().for_each(|zone| flag("tz", zone));
    city.extra_vendors.iter().for_each(|place| flag("extra", &format!("{}:{}", place.vendor, place.slug)));
    city.county.iter().for_each(|county| flag("county", county));
    city.population.iter().for_each(|people| flag("population", &people.to_string()));
    for (key, value) in &city.settings {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        // A command that is shown holds no token.
        let value = if address::is_secret(key) { address::HIDDEN.to_owned() } else { value };
        flag("setting", &format!("{key}={value}"));
    }
    let codes: Vec<&str> = city.zipcodes.iter().map(|code| code.zipcode.as_str()).collect();
    if !codes.is_empty() {
        flag("zip", &codes.join(","));
    }
    words.join(" ")
}

/// As a shell takes it for one word.
fn quoted(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_command_says_all_that_is_not_usual() {
        let mut city = Jurisdiction {
            city_key: "coeurdaleneID".to_owned(),
            name: "Coeur d'Alene".to_owned(),
            vendor: "granicus".to_owned(),
            slug: "coeurdalene".to_owned(),
            tz: Some("America/Los_Angeles".to_owned()),
            ..Jurisdiction::default()
        };
        city.settings.insert("view_id".to_owned(), json!([1, 2]));
        assert_eq!(
            add_command(&city),
            "bindery civic city add coeurdaleneID --name 'Coeur d'\\''Alene' --vendor granicus --slug coeurdalene \
             --tz America/Los_Angeles --setting 'view_id=[1,2]'"
        );
    }
}
