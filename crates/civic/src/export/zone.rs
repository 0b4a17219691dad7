//! What a time zone's clocks show, as a calendar says it: `VTIMEZONE`.
//!
//! The onsets of standard and summer time are taken from the zone's own data and gathered into rules: as long as they fall
//! on the same weekday of the same month at the same hour, they are one rule that is repeated every year. Where a country
//! has changed its mind, the old rule ends and another begins. The data covers the year before the first day, and goes on
//! without end after the last.

use jiff::{
    Timestamp,
    civil::{Date, DateTime},
    tz::{Offset, TimeZone},
};

/// So many years past the last day are looked at, to tell a rule from a coincidence.
const YEARS_AHEAD: i16 = 6;

/// When clocks are put forward or back.
#[derive(Debug, Clone)]
struct Onset {
    /// By the clock that is about to be changed.
    local: DateTime,
    at: Timestamp,
    from: Offset,
    to: Offset,
    name: String,
    is_summer: bool,
}

/// Onsets that follow one rule.
#[derive(Debug, Clone)]
struct Rule {
    first: Onset,
    last: Onset,
    /// Weeks of the month that would do: 1 to 4, and −1 for the last.
    weeks: Vec<i8>,
    years: usize,
}

/// The lines of the component, without their ends. A zone that is not known has none.
pub(super) fn lines(name: &str, first: Date, last: Date) -> Vec<String> {
    let Ok(zone) = TimeZone::get(name) else { return Vec::new() };
    let mut lines = vec!["BEGIN:VTIMEZONE".to_owned(), format!("TZID:{name}")];
    lines.extend(observances(&zone, first, last));
    lines.push("END:VTIMEZONE".to_owned());
    lines
}

fn observances(zone: &TimeZone, first: Date, last: Date) -> Vec<String> {
    let begin = new_year(first.year() - 1);
    let end = new_year(last.year() + YEARS_AHEAD);
    let onsets = onsets(zone, begin, end);
    let mut lines = Vec::new();
    // What the clocks showed before any of them was changed.
    let before = zone.to_offset_info(begin);
    if onsets.first().is_none_or(|onset| onset.local.date() >= first) {
        let resting = Onset {
            local: DateTime::constant(1970, 1, 1, 0, 0, 0, 0),
            at: begin,
            from: before.offset(),
            to: before.offset(),
            name: before.abbreviation().to_owned(),
            is_summer: before.dst().is_dst(),
        };
        lines.extend(component(&resting, None));
    }
    let rules = rules(&onsets);
    for rule in &rules {
        // The one that still holds at the end of what was looked at goes on.
        let goes_on = rule.last.local.year() >= last.year() + YEARS_AHEAD - 1;
        let week = rule.weeks.iter().copied().find(|_| rule.years > 1);
        match week {
            Some(week) => lines.extend(component(&rule.first, Some(repeated(rule, week, goes_on)))),
            None => lines.extend(component(&rule.first, None)),
        }
    }
    lines
}

fn new_year(year: i16) -> Timestamp {
    let year = year.clamp(1, 9000);
    let day = Date::new(year, 1, 1).unwrap_or(Date::constant(1970, 1, 1));
    day.to_zoned(TimeZone::UTC).map_or(Timestamp::UNIX_EPOCH, |moment| moment.timestamp())
}

/// All between two moments. Changes of the name alone are none.
fn onsets(zone: &TimeZone, begin: Timestamp, end: Timestamp) -> Vec<Onset> {
    let mut from = zone.to_offset(begin);
    let mut found = Vec::new();
    for change in zone.following(begin).take_while(|change| change.timestamp() < end) {
        let to = change.offset();
        if to != from {
            let at = change.timestamp();
            let (name, is_summer) = (change.abbreviation().to_owned(), change.dst().is_dst());
            found.push(Onset { local: from.to_datetime(at), at, from, to, name, is_summer });
        }
        from = to;
    }
    found
}

/// Gathers onsets of one kind that fall on the same weekday of the same month, year after year.
fn rules(onsets: &[Onset]) -> Vec<Rule> {
    let mut rules: Vec<Rule> = Vec::new();
    for onset in onsets {
        let weeks = weeks(onset.local.date());
        let fits = |rule: &&mut Rule| {
            let (last, next) = (&rule.last.local, &onset.local);
            (last.month(), last.weekday(), last.time(), rule.last.from, rule.last.to)
                == (next.month(), next.weekday(), next.time(), onset.from, onset.to)
                && last.year() + 1 == next.year()
                && rule.last.name == onset.name
                && rule.weeks.iter().any(|week| weeks.contains(week))
        };
        match rules.iter_mut().find(fits) {
            Some(rule) => {
                rule.last = onset.clone();
                rule.weeks.retain(|week| weeks.contains(week));
                rule.years += 1;
            }
            None => rules.push(Rule { first: onset.clone(), last: onset.clone(), weeks, years: 1 }),
        }
    }
    rules
}

/// Which of its kind in the month a weekday is; the last one also is −1.
fn weeks(day: Date) -> Vec<i8> {
    let week = (day.day() - 1) / 7 + 1;
    let is_last = day.day() + 7 > day.days_in_month();
    // Not every month has a fifth.
    [(week, week < 5), (-1, is_last)].into_iter().filter(|(_, does)| *does).map(|(week, _)| week).collect()
}

fn repeated(rule: &Rule, week: i8, goes_on: bool) -> String {
    let weekday = match rule.first.local.weekday().to_sunday_zero_offset() {
        0 => "SU",
        1 => "MO",
        2 => "TU",
        3 => "WE",
        4 => "TH",
        5 => "FR",
        _ => "SA",
    };
    let month = rule.first.local.month();
    let until = if goes_on { String::new() } else { format!(";UNTIL={}", rule.last.at.strftime("%Y%m%dT%H%M%SZ")) };
    format!("RRULE:FREQ=YEARLY;BYMONTH={month};BYDAY={week}{weekday}{until}")
}

fn component(onset: &Onset, repeated: Option<String>) -> Vec<String> {
    let kind = if onset.is_summer { "DAYLIGHT" } else { "STANDARD" };
    let mut lines = vec![
        format!("BEGIN:{kind}"),
        format!("DTSTART:{}", onset.local.strftime("%Y%m%dT%H%M%S")),
        format!("TZOFFSETFROM:{}", offset(onset.from)),
        format!("TZOFFSETTO:{}", offset(onset.to)),
        format!("TZNAME:{}", onset.name),
    ];
    lines.extend(repeated);
    lines.push(format!("END:{kind}"));
    lines
}

/// `-0700`; seconds only where there are some.
fn offset(offset: Offset) -> String {
    let seconds = offset.seconds();
    let sign = if seconds < 0 { '-' } else { '+' };
    let seconds = seconds.unsigned_abs();
    let (hours, minutes, rest) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    let rest = if rest == 0 { String::new() } else { format!("{rest:02}") };
    format!("{sign}{hours:02}{minutes:02}{rest}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::date;

    fn definition(zone: &str, first: Date, last: Date) -> String {
        lines(zone, first, last).join("\n")
    }

    #[test]
    fn summer_time_is_a_rule() {
        assert_eq!(
            definition("America/Los_Angeles", date(2026, 3, 4), date(2026, 12, 1)),
            "BEGIN:VTIMEZONE\nTZID:America/Los_Angeles\n\
             BEGIN:DAYLIGHT\nDTSTART:20250309T020000\nTZOFFSETFROM:-0800\nTZOFFSETTO:-0700\nTZNAME:PDT\n\
             RRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=2SU\nEND:DAYLIGHT\n\
             BEGIN:STANDARD\nDTSTART:20251102T020000\nTZOFFSETFROM:-0700\nTZOFFSETTO:-0800\nTZNAME:PST\n\
             RRULE:FREQ=YEARLY;BYMONTH=11;BYDAY=1SU\nEND:STANDARD\nEND:VTIMEZONE"
        );
        assert!(definition("Europe/Berlin", date(2026, 1, 1), date(2026, 2, 1)).contains("BYMONTH=10;BYDAY=-1SU"));
    }

    #[test]
    fn a_zone_without_summer_time_rests() {
        assert_eq!(
            definition("America/Phoenix", date(2026, 3, 4), date(2026, 12, 1)),
            "BEGIN:VTIMEZONE\nTZID:America/Phoenix\n\
             BEGIN:STANDARD\nDTSTART:19700101T000000\nTZOFFSETFROM:-0700\nTZOFFSETTO:-0700\nTZNAME:MST\nEND:STANDARD\n\
             END:VTIMEZONE"
        );
        assert!(definition("Nowhere/Atall", date(2026, 1, 1), date(2026, 1, 1)).is_empty());
    }

    /// The United States moved the days in 2007.
    #[test]
    fn a_rule_that_was_given_up_ends() {
        let lines = definition("America/Chicago", date(2005, 1, 1), date(2026, 1, 1));
        assert!(lines.contains("DTSTART:20040404T020000"), "{lines}");
        assert!(lines.contains("RRULE:FREQ=YEARLY;BYMONTH=4;BYDAY=1SU;UNTIL=20060402T080000Z"), "{lines}");
        assert!(lines.contains("RRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=2SU\n"), "{lines}");
        assert!(lines.contains("RRULE:FREQ=YEARLY;BYMONTH=10;BYDAY=-1SU;UNTIL=20061029T070000Z"), "{lines}");
    }
}
