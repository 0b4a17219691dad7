//! The filter on titles of recorded agendas; skipped where the shared fixtures are not there.

#[allow(dead_code, reason = "the benchmark needs more of it")]
#[path = "titles/measure.rs"]
mod measure;

use bindery_civic::filter::meetings;
use measure::{TitlePage, parse_labels, score};
use serde_json::Value;
use std::{
    collections::{BTreeSet, HashMap},
    fs, io,
    io::Write as _,
    path::PathBuf,
};

const LABELS: &str = include_str!("data/titles.tsv");

fn folder() -> Option<PathBuf> {
    bindery_testkit::shared("fixtures/civic")
}

#[test]
fn nothing_with_legal_effect_is_filtered_and_most_of_what_only_runs_the_meeting_is() {
    let Some(folder) = folder() else { return };
    let labels = parse_labels(LABELS).unwrap();
    let mut pages: HashMap<&str, TitlePage> = HashMap::new();
    for label in &labels {
        pages
            .entry(&label.file)
            .or_insert_with(|| TitlePage::parse(&fs::read(folder.join(&label.file)).unwrap()).unwrap());
    }
    let mut found = Vec::new();
    for label in &labels {
        let title = pages[label.file.as_str()].find(label);
        found.push((label, title.unwrap_or_else(|| panic!("{} has no {}", label.file, label.place))));
    }
    let score = score(found);
    let _ = writeln!(
        io::stdout(),
        "{} titles: {} of {} skipped ones are substantive; procedural caught {}/{} ({:.3}), distinct {}/{} ({:.3}); ceremonial {}/{}; administrative {}/{}",
        score.titles,
        score.wrongly_skipped.len(),
        score.skipped,
        score.procedural_caught,
        score.procedural,
        score.recall(),
        score.distinct_procedural_caught,
        score.distinct_procedural,
        score.distinct_recall(),
        score.ceremonial_caught,
        score.ceremonial,
        score.administrative_caught,
        score.administrative,
    );
    assert!(score.titles >= 600 && score.substantive >= 300, "{score:?}");
    assert_eq!(score.wrongly_skipped, Vec::<String>::new());
    assert!(score.recall() >= 0.9, "{:?}", score.missed);
    assert!(score.distinct_recall() >= 0.9, "{:?}", score.missed);
}

/// Every meeting of these calendars takes place for somebody: none is a trial.
#[test]
fn no_recorded_meeting_is_taken_for_a_trial() {
    let Some(folder) = folder() else { return };
    let mut titles = BTreeSet::new();
    let names = ["EventBodyName", "title", "eventName", "MeetingName", "body", "name", "Name"];
    for file in [
        "legistar/SeattleCouncilmatic__sample_events.json",
        "legistar/cs__cook_board.json",
        "legistar/cs-det__det_great_lakes_water_authority.json",
        "legistar/pgh-public-meetings__pitt_city_council.json",
        "primegov/cs-atl__atl_clayton_co_boc_meetings.json",
        "civicclerk/cs-atl__atl_south_fulton_city_council_meetings.json",
        "civicclerk/cs-lascruc__lascruc_dona_ana_county_other_agencies.json",
        "escribe/cs-san-diego__sandie_citychula.json",
        "chicago_elms/cs__chi_citycouncil.json",
    ] {
        let text = fs::read_to_string(folder.join(file)).unwrap();
        collect(&serde_json::from_str(&text).unwrap(), &names, &mut titles);
    }
    assert!(titles.len() >= 80, "{} titles", titles.len());
    let skipped: Vec<_> = titles.iter().filter(|title| meetings::decide(title).is_skipped()).collect();
    assert_eq!(skipped, Vec::<&String>::new());
}

/// The texts under the names, wherever they stand.
fn collect(value: &Value, names: &[&str], into: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                into.extend(value.as_str().filter(|_| names.contains(&name.as_str())).map(str::to_owned));
                collect(value, names, into);
            }
        }
        Value::Array(values) => values.iter().for_each(|value| collect(value, names, into)),
        _ => {}
    }
}
