//! A reader of iCalendar files that knows nothing of the writer: it checks what RFC 5545 demands of every file, and works
//! out moments from the file's own rules.

use jiff::{
    SignedDuration, Timestamp,
    civil::{Date, DateTime, Weekday},
    tz::TimeZone,
};
use std::collections::BTreeMap;

/// A property: its name, its parameters, its value as it stands.
#[derive(Debug, Clone)]
pub(crate) struct Property {
    pub(crate) name: String,
    pub(crate) params: BTreeMap<String, String>,
    pub(crate) value: String,
}

#[derive(Debug, Default, Clone)]
pub(crate) struct Component {
    pub(crate) name: String,
    pub(crate) properties: Vec<Property>,
    pub(crate) children: Vec<Component>,
}

impl Component {
    pub(crate) fn all(&self, name: &str) -> Vec<&Property> {
        self.properties.iter().filter(|property| property.name == name).collect()
    }

    /// The value of a property that may be there once.
    #[track_caller]
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        let found = self.all(name);
        assert!(found.len() < 2, "{name} is there {} times in {}", found.len(), self.name);
        found.first().map(|property| property.value.as_str())
    }

    /// The same as the text that it stands for.
    pub(crate) fn text(&self, name: &str) -> Option<String> {
        self.get(name).map(unescaped)
    }

    pub(crate) fn events(&self) -> Vec<&Component> {
        self.children.iter().filter(|child| child.name == "VEVENT").collect()
    }
}

/// Reads a calendar and checks its form.
pub(crate) fn read(bytes: &[u8]) -> Component {
    let text = std::str::from_utf8(bytes).expect("a calendar is UTF-8");
    assert!(text.ends_with("\r\n"));
    assert_eq!(text.matches('\n').count(), text.matches("\r\n").count(), "every line ends with CRLF");
    for line in text.split("\r\n") {
        assert!(line.len() <= 75, "{} octets: {line}", line.len());
        assert!(!line.contains(|letter: char| letter.is_control()), "{line:?}");
    }
    let unfolded = text.replace("\r\n ", "");
    let mut open = vec![Component::default()];
    for line in unfolded.split_terminator("\r\n") {
        let property = property(line);
        match property.name.as_str() {
            "BEGIN" => open.push(Component { name: property.value, ..Component::default() }),
            "END" => {
                let closed = open.pop().unwrap();
                assert_eq!(closed.name, property.value, "components are closed in the order in which they were opened");
                open.last_mut().unwrap().children.push(closed);
            }
            _ => open.last_mut().unwrap().properties.push(property),
        }
    }
    assert_eq!(open.len(), 1, "every component is closed");
    let calendar = open.remove(0).children.remove(0);
    assert_eq!((calendar.name.as_str(), calendar.get("VERSION")), ("VCALENDAR", Some("2.0")));
    assert!(calendar.get("PRODID").is_some() && calendar.get("METHOD").is_none());
    let zones: Vec<&str> = calendar
        .children
        .iter()
        .filter(|child| child.name == "VTIMEZONE")
        .filter_map(|zone| zone.get("TZID"))
        .collect();
    for event in calendar.events() {
        for required in ["UID", "DTSTAMP", "DTSTART", "SUMMARY", "SEQUENCE", "STATUS"] {
            assert!(event.get(required).is_some(), "{required} is missing in {event:?}");
        }
        assert!(event.get("DTSTAMP").unwrap().ends_with('Z'), "DTSTAMP is in UTC");
        if let Some(zone) = event.all("DTSTART")[0].params.get("TZID") {
            assert!(zones.contains(&zone.as_str()), "{zone} is described");
        }
    }
    calendar
}

fn property(line: &str) -> Property {
    let colon = line.find(':').unwrap_or_else(|| panic!("no colon: {line:?}"));
    let mut head = line[..colon].split(';');
    let name = head.next().unwrap().to_owned();
    assert!(name.chars().all(|c| c.is_ascii_uppercase() || c == '-'), "{name:?}");
    let param = |text: &str| text.split_once('=').map(|(key, value)| (key.to_owned(), value.to_owned())).unwrap();
    Property { name, params: head.map(param).collect(), value: line[colon + 1..].to_owned() }
}

fn unescaped(value: &str) -> String {
    let mut text = String::new();
    let mut letters = value.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => match letters.next() {
                Some('n' | 'N') => text.push('\n'),
                Some(other @ ('\\' | ';' | ',')) => text.push(other),
                other => panic!("{other:?} behind a backslash in {value:?}"),
            },
            ';' | ',' => panic!("{letter} is not escaped in {value:?}"),
            other => text.push(other),
        }
    }
    text
}

fn local(text: &str) -> DateTime {
    DateTime::strptime("%Y%m%dT%H%M%S", text.trim_end_matches('Z')).unwrap()
}

fn seconds(offset: &str) -> i64 {
    let number = |from: usize, to: usize| offset[from..to].parse::<i64>().unwrap();
    let size = number(1, 3) * 3600 + number(3, 5) * 60;
    if offset.starts_with('-') { -size } else { size }
}

/// When an event begins, worked out from the rules that the file gives for its zone.
pub(crate) fn instant(calendar: &Component, event: &Component) -> Timestamp {
    let start = event.all("DTSTART")[0];
    let zone = calendar
        .children
        .iter()
        .find(|child| child.name == "VTIMEZONE" && child.get("TZID") == start.params.get("TZID").map(String::as_str))
        .unwrap();
    let begins = local(&start.value);
    let in_force = zone
        .children
        .iter()
        .flat_map(|observance| onsets(observance).into_iter().map(move |onset| (onset, observance)))
        .filter(|(onset, _)| *onset <= begins)
        .max_by_key(|(onset, _)| *onset)
        .expect("some rule is in force when the event begins");
    let offset = seconds(in_force.1.get("TZOFFSETTO").unwrap());
    let utc = begins.to_zoned(TimeZone::UTC).unwrap().timestamp();
    utc - SignedDuration::from_secs(offset)
}

/// When an observance begins, year by year.
fn onsets(observance: &Component) -> Vec<DateTime> {
    let first = local(observance.get("DTSTART").unwrap());
    let Some(rule) = observance.get("RRULE") else { return vec![first] };
    let parts: BTreeMap<&str, &str> = rule.split(';').map(|part| part.split_once('=').unwrap()).collect();
    assert_eq!(parts["FREQ"], "YEARLY");
    let until = parts
        .get("UNTIL")
        .map(|until| local(until) + SignedDuration::from_secs(seconds(observance.get("TZOFFSETFROM").unwrap())));
    let (week, day) = parts["BYDAY"].split_at(parts["BYDAY"].len() - 2);
    assert_eq!(day, "SU", "everybody changes clocks on a Sunday");
    let on = |year: i16| {
        let month = Date::new(year, parts["BYMONTH"].parse().unwrap(), 1).unwrap();
        month.nth_weekday_of_month(week.parse().unwrap(), Weekday::Sunday).unwrap().to_datetime(first.time())
    };
    let all: Vec<DateTime> = (first.year()..2040).map(on).filter(|at| until.is_none_or(|until| *at <= until)).collect();
    assert_eq!(all[0], first, "DTSTART is the first of its rule");
    all
}
