//! States, territories and provinces by which a city key can end, and the clocks on their walls.

/// Their zones; the first is the one that most people live in. A place in a state with several has to say which is its
/// own: no map is kept of where one ends.
const STATES: &[(&str, &[&str])] = &[
    ("AL", &[CENTRAL]),
    ("AK", &["America/Anchorage", "America/Adak"]),
    // The Navajo Nation changes its clocks.
    ("AZ", &["America/Phoenix", MOUNTAIN]),
    ("AR", &[CENTRAL]),
    ("CA", &[PACIFIC]),
    ("CO", &[MOUNTAIN]),
    ("CT", &[EASTERN]),
    ("DE", &[EASTERN]),
    ("DC", &[EASTERN]),
    ("FL", &[EASTERN, CENTRAL]),
    ("GA", &[EASTERN]),
    ("HI", &["Pacific/Honolulu"]),
    ("ID", &["America/Boise", PACIFIC]),
    ("IL", &[CENTRAL]),
    ("IN", &["America/Indiana/Indianapolis", CENTRAL]),
    ("IA", &[CENTRAL]),
    ("KS", &[CENTRAL, MOUNTAIN]),
    ("KY", &[EASTERN, CENTRAL]),
    ("LA", &[CENTRAL]),
    ("ME", &[EASTERN]),
    ("MD", &[EASTERN]),
    ("MA", &[EASTERN]),
    ("MI", &["America/Detroit", "America/Menominee"]),
    ("MN", &[CENTRAL]),
    ("MS", &[CENTRAL]),
    ("MO", &[CENTRAL]),
    ("MT", &[MOUNTAIN]),
    ("NE", &[CENTRAL, MOUNTAIN]),
    // West Wendover keeps the time of Utah.
    ("NV", &[PACIFIC, MOUNTAIN]),
    ("NH", &[EASTERN]),
    ("NJ", &[EASTERN]),
    ("NM", &[MOUNTAIN]),
    ("NY", &[EASTERN]),
    ("NC", &[EASTERN]),
    ("ND", &[CENTRAL, MOUNTAIN]),
    ("OH", &[EASTERN]),
    ("OK", &[CENTRAL]),
    ("OR", &[PACIFIC, "America/Boise"]),
    ("PA", &[EASTERN]),
    ("RI", &[EASTERN]),
    ("SC", &[EASTERN]),
    ("SD", &[CENTRAL, MOUNTAIN]),
    ("TN", &[CENTRAL, EASTERN]),
    ("TX", &[CENTRAL, MOUNTAIN]),
    ("UT", &[MOUNTAIN]),
    ("VT", &[EASTERN]),
    ("VA", &[EASTERN]),
    ("WA", &[PACIFIC]),
    ("WV", &[EASTERN]),
    ("WI", &[CENTRAL]),
    ("WY", &[MOUNTAIN]),
    ("AS", &["Pacific/Pago_Pago"]),
    ("GU", &["Pacific/Guam"]),
    ("MP", &["Pacific/Saipan"]),
    ("PR", &["America/Puerto_Rico"]),
    ("VI", &["America/St_Thomas"]),
    ("AB", &["America/Edmonton"]),
    ("BC", &["America/Vancouver", "America/Edmonton", "America/Dawson_Creek"]),
    ("MB", &["America/Winnipeg"]),
    ("NB", &["America/Moncton"]),
    ("NL", &["America/St_Johns", "America/Goose_Bay"]),
    ("NS", &["America/Halifax"]),
    ("NT", &["America/Edmonton"]),
    ("NU", &["America/Iqaluit", "America/Rankin_Inlet", "America/Cambridge_Bay"]),
    ("ON", &["America/Toronto", "America/Winnipeg"]),
    ("PE", &["America/Halifax"]),
    ("QC", &["America/Toronto", "America/Halifax"]),
    // Lloydminster keeps the time of Alberta.
    ("SK", &["America/Regina", "America/Edmonton"]),
    ("YT", &["America/Whitehorse"]),
];

const EASTERN: &str = "America/New_York";
const CENTRAL: &str = "America/Chicago";
const MOUNTAIN: &str = "America/Denver";
const PACIFIC: &str = "America/Los_Angeles";

/// Whether there is a state of these two capitals.
pub fn is_state(state: &str) -> bool {
    !zones(state).is_empty()
}

/// The zones of a state, that of the most people first; none: there is no such state.
pub fn zones(state: &str) -> &'static [&'static str] {
    STATES.iter().find(|(known, _)| *known == state).map_or(&[], |(_, zones)| zones)
}

/// The zone of everybody in a state, if there is just one.
pub fn only_zone(state: &str) -> Option<&'static str> {
    match zones(state) {
        [zone] => Some(zone),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::tz::TimeZone;

    #[test]
    fn every_zone_exists_and_a_state_with_several_has_no_default() {
        for (state, zones) in STATES {
            for zone in *zones {
                assert!(TimeZone::get(zone).is_ok(), "{state}: {zone}");
            }
        }
        assert_eq!(only_zone("CA"), Some("America/Los_Angeles"));
        assert_eq!((only_zone("TN"), zones("TN").len()), (None, 2));
        assert!(is_state("PR") && is_state("ON") && !is_state("ZZ") && !is_state("ca"));
    }
}
