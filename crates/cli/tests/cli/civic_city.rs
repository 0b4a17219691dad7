//! Cities, requests, alerts and the queue of councils, from the command line.

use crate::{
    postgres::desk_on,
    support::{Desk, Ran},
};
use bindery_civic::records::{Civic as _, CivicChanges, CivicJob, Matter, Meeting};
use bindery_core::Timestamp;
use bindery_store::{
    Store,
    sqlite::{Options, SqliteStore},
};
use bindery_testkit::PostgresServer;
use serde_json::{Value, json};

/// `bindery civic …`
fn civic(desk: &Desk, words: &[&str]) -> Ran {
    desk.bindery(&[&["civic"], words].concat())
}

fn add(desk: &Desk, city_key: &str, name: &str, more: &[&str]) -> Ran {
    let slug = city_key.to_lowercase();
    let words = ["city", "add", city_key, "--name", name, "--vendor", "legistar", "--slug", &slug];
    civic(desk, &[&words, more].concat())
}

fn listed(desk: &Desk) -> Vec<String> {
    let cities = civic(desk, &["city", "list", "--json"]).ok().json();
    cities.as_array().unwrap().iter().map(|city| city["banana"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn s001_09_keys_are_checked_with_a_clear_message() {
    let desk = Desk::new();
    for (city_key, more) in [("paloaltoCA", &[][..]), ("nashvilleTN", &["--tz", "America/Chicago"]), ("stlouisMO", &[])]
    {
        add(&desk, city_key, city_key, more).ok();
    }
    assert_eq!(listed(&desk), ["nashvilleTN", "paloaltoCA", "stlouisMO"]);
    for (city_key, why) in [
        ("PaloAltoCA", "its name has capital letters"),
        ("paloaltoca", "it does not end in a state of two capital letters"),
        ("paloalto", "it does not end in a state of two capital letters"),
    ] {
        let format = "expected lower-case letters and digits with a two-letter state behind them, e.g. paloaltoCA";
        for words in [
            &["city", "add", city_key, "--name", "X", "--vendor", "legistar", "--slug", "x"][..],
            &["city", "set", city_key, "--status", "paused"],
            &["city-requests", "add", city_key],
            &["preview-queue", city_key],
            &["alert", "add", "--owner", "ann@example.org", "--name", "a", "--city", city_key],
        ] {
            let ran = civic(&desk, words).fails_with(2, &format!("{city_key:?} is no banana: {why}; {format}"));
            assert_eq!(ran.err.contains("is paloaltoCA meant?"), city_key != "paloalto", "{ran:?}");
        }
    }
    assert_eq!(listed(&desk).len(), 3);
}

fn a_city_is_entered_changed_and_shown(desk: &Desk) {
    let added = add(desk, "paloaltoCA", "Palo Alto", &["--population", "68572", "--zip", "94301,94303", "--json"]).ok();
    let city = added.json();
    assert_eq!((&city["state"], &city["tz"]), (&json!("CA"), &json!("America/Los_Angeles")));
    assert_eq!((&city["status"], &city["kind"]), (&json!("active"), &json!("city")));
    add(desk, "santaclaracountyCA", "Santa Clara County", &["--type", "county"]).ok();
    let ran = add(desk, "paloaltoCA", "Palo Alto", &[]).fails_with(2, "banana: paloaltoCA is stored already");
    assert!(ran.err.contains("hint: `bindery civic city set paloaltoCA …` changes it"), "{ran:?}");
    add(desk, "paCA", "Palo Alto", &[]).fails_with(2, "name: Palo Alto, CA is paloaltoCA already");
    let moved = ["city", "set", "paloaltoCA", "--vendor", "granicus", "--slug", "paloalto", "--setting", "view_id=2"];
    civic(desk, &[&moved[..], &["--county", "santaclaracountyCA", "--extra", "primegov:cityofpaloalto"]].concat()).ok();
    let shown = civic(desk, &["city", "show", "paloaltoCA", "--json"]).ok().json();
    assert_eq!((&shown["vendor"], &shown["settings"]), (&json!("granicus"), &json!({"view_id": "2"})));
    assert_eq!((&shown["population"], &shown["county"]), (&json!(68572), &json!("santaclaracountyCA")));
    assert_eq!(shown["extra_vendors"], json!([{"vendor": "primegov", "slug": "cityofpaloalto"}]));
    assert_eq!((&shown["meetings"]["total"], &shown["runs"]), (&json!(0), &json!([])));
    civic(desk, &["city", "set", "paloaltoCA", "--status", "paused", "--clear", "county,extra"]).ok();
    let text = civic(desk, &["city", "show", "paloaltoCA"]).ok().out;
    assert!(text.contains("granicus paloalto") && text.contains("never visited"), "{text}");
    assert!(!text.contains("santaclaracountyCA") && !text.contains("primegov"), "{text}");
    let of = |words: &[&str]| {
        let all = civic(desk, &[&["city", "list", "--json"], words].concat()).ok().json();
        all.as_array().unwrap().len()
    };
    assert_eq!(
        [of(&[]), of(&["--status", "paused"]), of(&["--state", "TN"]), of(&["--vendor", "granicus"])],
        [2, 1, 0, 1]
    );
    let table = civic(desk, &["city", "list"]).ok().out;
    assert!(table.lines().next().unwrap().starts_with("BANANA") && table.contains("paused"), "{table}");
    let same = civic(desk, &["city", "set", "paloaltoCA", "--status", "paused"]).ok().out;
    assert!(same.starts_with("unchanged paloaltoCA"), "{same}");
    // The command that undoes it brings back what was there.
    let gone = civic(desk, &["city", "remove", "paloaltoCA"]).ok();
    assert_eq!(listed(desk), ["santaclaracountyCA"]);
    let undo = gone.err.split_once("undo: ").unwrap().1.trim();
    assert!(undo.contains("--status paused") && undo.contains("--zip 94301,94303"), "{undo}");
    civic(desk, &["city", "remove", "paloaltoCA"]).fails_with(2, "paloaltoCA is not followed");
}

#[test]
fn a_city_is_entered_and_changed() {
    a_city_is_entered_changed_and_shown(&Desk::new());
}

#[test]
fn a_city_on_postgresql_is_entered_and_changed() {
    if let Some(server) = PostgresServer::start() {
        a_city_is_entered_changed_and_shown(&desk_on(&server));
    }
}

#[test]
fn every_field_that_is_wrong_is_told_and_no_store_is_made() {
    let desk = Desk::new();
    let wrong = |words: &[&str], sentence: &str| {
        let base = ["city", "add", "paloaltoCA", "--name", "Palo Alto", "--vendor", "legistar", "--slug", "paloalto"];
        civic(&desk, &[&base[..], words].concat()).fails_with(2, sentence)
    };
    let alone = |words: &[&str], sentence: &str| civic(&desk, words).fails_with(2, sentence);
    alone(&["city", "add", "paloaltoCA"], "name: expected a name such as Palo Alto, found none");
    let all = alone(&["city", "add", "paloaltoCA"], "vendor: expected one, found none");
    assert!(all.err.contains("slug: expected one, found none"), "{all:?}");
    let base = ["city", "add", "nashvilleTN", "--name", "Nashville", "--slug", "nashville"];
    let ran = alone(
        &[&base[..], &["--vendor", "legistr"]].concat(),
        "there is no vendor \"legistr\"; did you mean `legistar`?",
    );
    assert!(
        ran.err.contains("tz: TN has several time zones; say which: America/Chicago or America/New_York"),
        "{ran:?}"
    );
    assert!(ran.err.contains("hint: --tz names the zone"), "{ran:?}");
    let base = ["city", "add", "xCA", "--name", "X", "--vendor", "boardbook", "--slug"];
    alone(&[&base[..], &["a b"]].concat(), "slug: slug 'a b': expected the number of an organisation");
    alone(&["city", "add", "xZZ", "--name", "X", "--vendor", "iqm2", "--slug", "x"], "there is no state ZZ");
    wrong(&["--tz", "Pacific"], "tz: there is no time zone \"Pacific\"; zones are named like America/Chicago");
    wrong(&["--status", "actve"], "status: there is no status \"actve\"; did you mean `active`?");
    wrong(&["--type", "School District"], "type: expected a word such as city, county or school_district");
    wrong(&["--extra", "onbase"], "extra: expected VENDOR:SLUG");
    wrong(&["--extra", "onbse:docs.x.gov/a"], "extra: there is no vendor \"onbse\"; did you mean `onbase`?");
    wrong(&["--population", "-3"], "population: expected a number that is not negative");
    wrong(&["--population", "many"], "invalid value 'many' for '--population <N>'");
    wrong(&["--county", "Santa Clara"], "county: \"Santa Clara\" is no banana: it has spaces");
    wrong(&["--setting", "view"], "setting: expected KEY=VALUE, found \"view\"");
    wrong(&["--setting", "view_id=[1"], "setting: expected KEY=VALUE, with valid JSON as its value");
    wrong(&["--zip", "9"], "zipcodes: expected codes such as 94301, found \"9\"");
    let view = ["city", "add", "xCA", "--name", "X", "--vendor", "granicus", "--slug", "x", "--setting", "view_id=two"];
    alone(&view, "settings: ");
    alone(&["city", "import", "nope.csv"], "cannot read nope.csv");
    alone(&["detect-vendor", "Palo Alto"], "expected the name of a city and its state");
    alone(&["detect-vendor", "Palo Alto, Calif"], "there is no state \"CALIF\"");
    alone(&["detect-vendor", "Palo Alto, CA", "--replay", "nowhere"], "nowhere is no recording");
    civic(&desk, &["city", "list"]).fails_with(20, "there is no store, so no city is followed yet");
    assert!(!desk.path("bindery-data").exists(), "a store was made although nothing could be done");
    add(&desk, "paloaltoCA", "Palo Alto", &["--county", "goneCA"]).fails_with(2, "county: goneCA is not stored");
    add(&desk, "paloaltoCA", "Palo Alto", &[]).ok();
    alone(&["city", "set", "paloaltoCA"], "nothing is said that could be changed");
    alone(&["city", "set", "gonevilleCA", "--status", "paused"], "gonevilleCA is not followed");
    alone(
        &["city", "set", "paloaltoCA", "--vendor", "iqm2"],
        "slug: expected one, found none: another vendor has a slug",
    );
    alone(&["city", "show", "gonevilleCA"], "gonevilleCA is not followed");
    alone(&["city", "list", "--state", "Calif"], "there is no state \"Calif\"");
    alone(&["city", "list", "--vendor", "legistr"], "there is no vendor \"legistr\"");
    alone(&["city", "list", "--status", "gone"], "there is no status \"gone\"");
}

#[test]
fn a_file_with_bad_lines_changes_nothing_and_every_one_is_told() {
    let desk = Desk::new();
    let good = "banana,name,vendor,slug,tz,population\n\
                paloaltoCA,Palo Alto,legistar,paloalto,,68572\n\
                nashvilleTN,Nashville,legistar,nashville,America/Chicago,\n";
    let bad = format!(
        "{good}OaklandCA,Oakland,legistar,oakland,,\nfresnoCA,Fresno,legstar,fresno,,many\nboiseID,Boise,iqm2,boise,,\n"
    );
    desk.write("bad.csv", &bad);
    let ran = civic(&desk, &["city", "import", "bad.csv"])
        .fails_with(2, "bad.csv: 3 lines cannot be used; nothing was stored");
    for expected in [
        "bad.csv, line 4: banana: \"OaklandCA\" is no banana",
        "bad.csv, line 5: population: expected a whole number such as 68572, found \"many\"",
        "bad.csv, line 6: tz: ID has several time zones",
    ] {
        assert!(ran.err.contains(expected), "{expected:?} is not in {ran:?}");
    }
    assert!(!desk.path("bindery-data").exists(), "a store was made although nothing could be done");
    desk.write("good.csv", good);
    let would = civic(&desk, &["city", "import", "good.csv", "--dry-run", "--json"]).ok().json();
    assert_eq!((&would["added"], &would["dry_run"]), (&json!(["paloaltoCA", "nashvilleTN"]), &json!(true)));
    assert!(!desk.path("bindery-data").exists(), "a dry run has made a store");
    civic(&desk, &["city", "import", "good.csv"]).ok();
    let before = civic(&desk, &["city", "list", "--json"]).ok().out;
    // Neither does it in a store that is there.
    let faults = civic(&desk, &["city", "import", "bad.csv", "--json"]).fails_with(2, "nothing was stored").json();
    let places: Vec<&str> =
        faults["faults"].as_array().unwrap().iter().map(|fault| fault["place"].as_str().unwrap()).collect();
    assert_eq!(places, ["line 4", "line 5", "line 6"]);
    assert_eq!(civic(&desk, &["city", "list", "--json"]).ok().out, before);
    // What is there is changed, left alone, or the same already.
    let lines = "{\"banana\": \"paloaltoCA\", \"slug\": \"cityofpaloalto\"}\n\
                 {\"banana\": \"oaklandCA\", \"name\": \"Oakland\", \"vendor\": \"legistar\", \"slug\": \"oakland\"}\n";
    desk.write("more.jsonl", lines);
    let skipped = civic(&desk, &["city", "import", "more.jsonl", "--skip-existing", "--dry-run", "--json"]).ok().json();
    assert_eq!((&skipped["skipped"], &skipped["added"]), (&json!(["paloaltoCA"]), &json!(["oaklandCA"])));
    let changed = civic(&desk, &["city", "import", "more.jsonl", "--json"]).ok().json();
    assert_eq!((&changed["changed"], &changed["added"]), (&json!(["paloaltoCA"]), &json!(["oaklandCA"])));
    let shown = civic(&desk, &["city", "show", "paloaltoCA", "--json"]).ok().json();
    assert_eq!((&shown["slug"], &shown["population"]), (&json!("cityofpaloalto"), &json!(68572)));
    // A listing can be read in again, there and elsewhere.
    let listing = civic(&desk, &["city", "list", "--json"]).ok().out;
    let again = desk.bindery_with_input(&["civic", "city", "import", "-", "--json"], &listing).ok().json();
    assert_eq!(again["unchanged"].as_array().unwrap().len(), 3, "{again}");
    let elsewhere = ["--store", "other-data", "civic", "city", "import", "-"];
    let told = desk.bindery_with_input(&elsewhere, &listing).ok().out;
    assert!(told.contains("added: 3 (nashvilleTN, oaklandCA, paloaltoCA)"), "{told}");
    desk.write("latin.csv", b"banana,name\nsanjoseCA,San Jos\xe9\n");
    civic(&desk, &["city", "import", "latin.csv"]).fails_with(2, "latin.csv, line 2: this is no text in UTF-8");
    desk.write("empty.csv", "");
    civic(&desk, &["city", "import", "empty.csv"]).fails_with(2, "empty.csv: it lists no city");
}

fn one_of_two_wins(desk: &Desk) {
    add(desk, "oaklandCA", "Oakland", &[]).ok();
    let slugs: Vec<String> = (0..4).map(|number| format!("paloalto{number}")).collect();
    let children: Vec<_> = slugs
        .iter()
        .map(|slug| {
            let words = ["civic", "city", "add", "paloaltoCA", "--name", "Palo Alto", "--vendor", "legistar", "--slug"];
            let mut command = desk.command(&[&words[..], &[slug]].concat());
            command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
            command.spawn().unwrap()
        })
        .collect();
    let ran: Vec<Ran> = children.into_iter().map(|child| child.wait_with_output().unwrap().into()).collect();
    let won: Vec<usize> = (0..4).filter(|number| ran[*number].code == Some(0)).collect();
    assert_eq!(won.len(), 1, "{ran:?}");
    for (number, ran) in ran.into_iter().enumerate().filter(|(number, _)| *number != won[0]) {
        assert_ne!(number, won[0]);
        ran.fails_with(2, "banana: paloaltoCA is stored already: Palo Alto, CA");
    }
    let stored = civic(desk, &["city", "show", "paloaltoCA", "--json"]).ok().json();
    assert_eq!(stored["slug"], json!(slugs[won[0]]));
}

#[test]
fn of_several_who_add_a_city_at_once_one_wins() {
    one_of_two_wins(&Desk::new());
}

#[test]
fn of_several_who_add_a_city_on_postgresql_at_once_one_wins() {
    if let Some(server) = PostgresServer::start() {
        one_of_two_wins(&desk_on(&server));
    }
}

#[test]
fn s001_10_requests_that_wait_are_listed_by_demand() {
    let desk = Desk::new();
    for city_key in ["fresnoCA", "oaklandCA", "oaklandCA", "boiseID"] {
        civic(&desk, &["city-requests", "add", city_key]).ok();
    }
    let wanted = |words: &[&str]| -> Vec<(String, u64, String)> {
        let all = civic(&desk, &[&["city-requests", "--json"], words].concat()).ok().json();
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let row = |one: &Value| (text(&one["banana"]), one["request_count"].as_u64().unwrap(), text(&one["status"]));
        all.as_array().unwrap().iter().map(row).collect()
    };
    let row = |city_key: &str, count: u64, status: &str| (city_key.to_owned(), count, status.to_owned());
    assert_eq!(
        wanted(&[]),
        [row("oaklandCA", 2, "pending"), row("boiseID", 1, "pending"), row("fresnoCA", 1, "pending")]
    );
    let table = civic(&desk, &["city-requests"]).ok().out;
    let lines: Vec<&str> = table.lines().collect();
    assert!(lines[0].starts_with("CITY") && lines[0].contains("REQUESTS") && lines[0].ends_with("LAST"), "{table}");
    assert!(lines[1].starts_with("oaklandCA") && lines.len() == 4, "{table}");
    civic(&desk, &["city-requests", "reject", "boiseID", "--note", "its site has no agendas"]).ok();
    civic(&desk, &["city-requests", "reject", "gonevilleCA", "--note", "x"])
        .fails_with(2, "nobody asked for gonevilleCA");
    // Whoever asked for it has it.
    add(&desk, "oaklandCA", "Oakland", &[]).ok();
    assert_eq!(wanted(&[]), [row("fresnoCA", 1, "pending")]);
    assert_eq!(
        wanted(&["--all"]),
        [row("oaklandCA", 2, "added"), row("boiseID", 1, "rejected"), row("fresnoCA", 1, "pending")]
    );
    let all = civic(&desk, &["city-requests", "--all"]).ok().out;
    assert!(all.contains("its site has no agendas"), "{all}");
    civic(&desk, &["city-requests", "add", "oaklandCA"]).fails_with(2, "oaklandCA is followed already");
    civic(&desk, &["city-requests", "reject", "oaklandCA", "--note", "x"])
        .fails_with(2, "oaklandCA is followed already");
}

#[test]
fn s001_10_alerts_say_which_cities_are_wanted() {
    let desk = Desk::new();
    add(&desk, "paloaltoCA", "Palo Alto", &[]).ok();
    let words = ["alert", "add", "--owner", "ann@example.org", "--name", "housing", "--city", "paloaltoCA,oaklandCA"];
    let more = ["--keyword", "housing", "--keyword", " rent  control ", "--frequency", "daily", "--json"];
    let added = civic(&desk, &[&words[..], &more].concat()).ok().json();
    assert_eq!((&added["requested"], &added["alert"]["frequency"]), (&json!(["oaklandCA"]), &json!("daily")));
    assert_eq!(added["alert"]["keywords"], json!(["housing", "rent control"]));
    let waits = civic(&desk, &["city-requests", "--json"]).ok().json();
    assert_eq!((&waits[0]["banana"], &waits[0]["request_count"]), (&json!("oaklandCA"), &json!(1)));
    civic(&desk, &words).fails_with(2, "ann@example.org has an alert named \"housing\" already");
    // In its place; nobody has asked again for what was wanted before.
    civic(&desk, &[&words[..], &["--replace"]].concat()).ok();
    assert_eq!(civic(&desk, &["city-requests", "--json"]).ok().json()[0]["request_count"], 1);
    let all = civic(&desk, &["alert", "list", "--json"]).ok().json();
    assert_eq!((all.as_array().unwrap().len(), &all[0]["keywords"]), (1, &json!([])));
    assert_eq!(civic(&desk, &["alert", "list", "--owner", "bob@example.org", "--json"]).ok().json(), json!([]));
    let wrong = |owner: &str, city: &str, more: &[&str], sentence: &str| {
        let words = ["alert", "add", "--owner", owner, "--name", "a", "--city", city];
        civic(&desk, &[&words[..], more].concat()).fails_with(2, sentence);
    };
    wrong("ann", "paloaltoCA", &[], "owner: expected a mail address such as ann@example.org, found \"ann\"");
    wrong("ann@example.org", ",", &[], "city: expected a key such as paloaltoCA, found none");
    wrong("ann@example.org", "paloaltoCA", &["--keyword", " "], "keyword: expected a word");
    wrong("ann@example.org", "paloaltoCA", &["--frequency", "hourly"], "[possible values: weekly, daily, immediate]");
    wrong("ann@example.org", "paloaltoCA", &["--webhook", "example.org"], "webhook: expected an address");
    let id = all[0]["id"].as_str().unwrap();
    assert!(civic(&desk, &["alert", "list"]).ok().out.contains(id));
    civic(&desk, &["alert", "remove", id]).ok();
    civic(&desk, &["alert", "remove", id]).fails_with(2, "there is no alert");
}

/// Two meetings of Palo Alto wait to be read, and a matter of one of them.
fn with_meetings(desk: &Desk) {
    add(desk, "paloaltoCA", "Palo Alto", &[]).ok();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let store: Box<dyn Store> = Box::new(
        SqliteStore::open(Options {
            domains: bindery_civic::records::DOMAINS,
            ..Options::at(desk.path("bindery-data/bindery.db"))
        })
        .unwrap(),
    );
    let changes = |number: i64| {
        let id = format!("paloaltoCA_m{number}");
        let mut changes = CivicChanges::of_meeting("paloaltoCA", id.clone(), 0);
        changes.meeting = Some(Meeting {
            id: id.clone(),
            city_key: "paloaltoCA".to_owned(),
            vendor: "legistar".to_owned(),
            vendor_id: number.to_string(),
            title: format!("City Council {number}"),
            starts_at: Some(Timestamp::from_millis(1_800_000_000_000)),
            ..Meeting::default()
        });
        changes.jobs.push(CivicJob::meeting(id, 140 + number as i32));
        changes
    };
    let mut second = changes(2);
    let (id, city_key) = ("paloaltoCA_bridge".to_owned(), "paloaltoCA".to_owned());
    second.jobs.push(CivicJob::matter(id.clone(), "paloaltoCA_m2", Vec::new(), 40));
    second.matters.push(Matter { id, city_key, title: "A bridge".to_owned(), ..Matter::default() });
    let applied = runtime.block_on(store.civic().apply(vec![changes(1), second])).unwrap();
    assert!(applied.iter().all(|one| one.is_stored()), "{applied:?}");
}

#[test]
fn s001_05_the_queue_is_previewed_and_left_as_it_is() {
    let desk = Desk::new();
    with_meetings(&desk);
    let counts = json!({
        "pending": 3, "processing": 0, "completed": 0, "failed": 0, "dead_letter": 0, "avg_processing_seconds": null,
    });
    assert_eq!(civic(&desk, &["preview-queue", "--json"]).ok().json(), counts);
    let preview = civic(&desk, &["preview-queue", "paloaltoCA", "--json"]).ok().json();
    assert_eq!((&preview["city_banana"], &preview["total_queued"]), (&json!("paloaltoCA"), &json!(3)));
    let seen: Vec<(&Value, &Value, &Value)> = preview["previews"]
        .as_array()
        .unwrap()
        .iter()
        .map(|job| (&job["job_type"], &job["title"], &job["priority"]))
        .collect();
    assert_eq!(
        seen,
        [
            (&json!("meeting"), &json!("City Council 2"), &json!(142)),
            (&json!("meeting"), &json!("City Council 1"), &json!(141)),
            (&json!("matter"), &json!("A bridge"), &json!(40)),
        ]
    );
    let first = &preview["previews"][0];
    assert_eq!((&first["meeting_id"], &first["city_banana"]), (&json!("paloaltoCA_m2"), &json!("paloaltoCA")));
    assert_eq!(first["status"], "pending");
    assert!(first["queue_id"].as_str().unwrap().starts_with("job_") && !first["date"].is_null(), "{first}");
    // ▲ Looking does not take a job, as it does in the existing system.
    assert_eq!(civic(&desk, &["preview-queue", "--json"]).ok().json(), counts);
    let limited = civic(&desk, &["preview-queue", "paloaltoCA", "--limit", "1", "--json"]).ok().json();
    assert_eq!((limited["previews"].as_array().unwrap().len(), &limited["total_queued"]), (1, &json!(3)));
    assert!(civic(&desk, &["preview-queue", "paloaltoCA"]).ok().out.contains("City Council 1"));
    civic(&desk, &["preview-queue", "oaklandCA"]).fails_with(2, "oaklandCA is not followed");
    // What is known of a city is not lost by a word.
    let kept = civic(&desk, &["city", "remove", "paloaltoCA"]).fails_with(2, "2 meetings of paloaltoCA would be lost");
    assert!(kept.err.contains("--status paused` stops the visits"), "{kept:?}");
    let moved = ["city", "set", "paloaltoCA", "--vendor", "primegov", "--slug", "paloalto"];
    civic(&desk, &moved).ok();
    assert_eq!(civic(&desk, &["city", "show", "paloaltoCA", "--json"]).ok().json()["meetings"]["total"], 2);
}

#[test]
fn jobs_are_given_up_and_taken_up_again() {
    let desk = Desk::new();
    with_meetings(&desk);
    let of = |words: &[&str]| -> Vec<String> {
        let jobs = civic(&desk, &[&["queue", "list", "--json"], words].concat()).ok().json();
        jobs.as_array().unwrap().iter().map(|job| job["queue_id"].as_str().unwrap().to_owned()).collect()
    };
    let jobs = of(&["--city", "paloaltoCA"]);
    assert_eq!((jobs.len(), of(&["--status", "failed"]).len()), (3, 0));
    civic(&desk, &["queue", "drop", &jobs[0], "job_99"]).fails_with(2, "there is no job_99 about a meeting");
    assert_eq!(of(&["--status", "pending"]).len(), 3, "something was dropped although one was not found");
    civic(&desk, &["queue", "drop", &jobs[0], &jobs[1]]).ok();
    assert_eq!((of(&["--status", "failed"]).len(), of(&["--status", "pending"]).len()), (2, 1));
    assert_eq!(civic(&desk, &["queue", "drop", "--older-than", "90", "--json"]).ok().json(), json!({"forgotten": 0}));
    civic(&desk, &["queue", "drop", "--older-than", "0"]).fails_with(2, "--older-than");
    civic(&desk, &["queue", "drop", "--older-than", "9", &jobs[0]]).fails_with(2, "cannot be used with");
    assert_eq!(civic(&desk, &["queue", "retry", &jobs[0], "--json"]).ok().json(), json!({"retried": 1}));
    assert_eq!(civic(&desk, &["queue", "retry", "--all", "--json"]).ok().json(), json!({"retried": 1}));
    assert_eq!(civic(&desk, &["queue", "retry", "--all", "--json"]).ok().json(), json!({"retried": 0}));
    assert_eq!(of(&["--status", "pending"]), jobs);
    civic(&desk, &["queue", "list", "--status", "lost"])
        .fails_with(2, "expected one of pending, processing, completed");
}

#[test]
fn the_vendor_of_a_city_is_found_with_the_command_to_follow_it() {
    let desk = Desk::new();
    let lines = [
        r#"{"url":"https://nashville.primegov.com/api/*","json":[]}"#,
        r#"{"url":"https://nashville.api.civicclerk.com/v1/Events","json":{"value":[]}}"#,
        r#"{"url":"https://nashville.iqm2.com/","status":503,"text":"busy"}"#,
    ];
    desk.write("seen/recording.jsonl", lines.join("\n"));
    let words = ["detect-vendor", "Nashville, tn", "--replay", "seen"];
    let found = civic(&desk, &[&words[..], &["--json"]].concat()).ok().json();
    assert_eq!((&found["banana"], &found["state"]), (&json!("nashvilleTN"), &json!("TN")));
    let vendors: Vec<&Value> = found["hits"].as_array().unwrap().iter().map(|hit| &hit["vendor"]).collect();
    assert_eq!(vendors, [&json!("primegov"), &json!("civicclerk")]);
    let add =
        "bindery civic city add nashvilleTN --name Nashville --vendor primegov --slug nashville --tz America/Chicago";
    assert_eq!(found["hits"][0]["add"], add);
    let shown = civic(&desk, &words).ok();
    assert!(shown.out.contains(add) && shown.err.contains("503"), "{shown:?}");
    // The command does what it says.
    let words: Vec<&str> = add.split(' ').skip(1).collect();
    desk.bindery(&words).ok();
    let ran = civic(&desk, &["detect-vendor", "Elsewhere, TN", "--replay", "seen"]);
    ran.fails_with(1, "no vendor knows Elsewhere, TN");
    civic(&desk, &["detect-vendor", "Nashville, TN", "--record", "seen"]).fails_with(2, "already holds a recording");
}
