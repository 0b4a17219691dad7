//! Steps of a user's own in any language: the examples of `docs/own-steps.md`, by command and by HTTP, on both stores.

use crate::{
    postgres::desk_on,
    support::{Desk, Ran, Started},
};
use bindery_testkit::{PostgresServer, has};
use serde_json::Value;
use std::{
    fs,
    io::{BufRead as _, BufReader},
    path::Path,
    process::{Command, Stdio},
};

const INVOICE: &str = "<h1>Invoice</h1><p>Nordwind Papier GmbH</p><p>Invoice number: 2026-0117</p>\
    <p>Invoice date: 14 March 2026</p><p>Net total: 1,000.00 EUR</p><p>VAT 19 %: 190.00 EUR</p>\
    <p>Grand total: 1,190.00 EUR</p><p>Please pay within 30 days.</p>";

/// A folder with a copy of the examples.
fn examples() -> Desk {
    with_examples(Desk::new())
}

fn with_examples(desk: Desk) -> Desk {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/steps");
    for folder in ["workflows", "processors", "endpoints"] {
        for entry in fs::read_dir(from.join(folder)).unwrap() {
            let entry = entry.unwrap();
            let name = format!("{folder}/{}", entry.file_name().to_str().unwrap());
            desk.write(&name, fs::read(entry.path()).unwrap());
        }
    }
    desk
}

/// The examples in each way in which they run: by command and by HTTP, on SQLite and on PostgreSQL.
fn each_way(test: impl Fn(&Desk)) {
    if !has("python3") {
        return;
    }
    test(&examples());
    let desk = examples();
    let endpoint = serve(&desk);
    test(&desk);
    drop(endpoint);
    for by_http in [false, true] {
        let Some(server) = PostgresServer::start() else { return };
        let desk = with_examples(desk_on(&server));
        let endpoint = by_http.then(|| serve(&desk));
        test(&desk);
        drop(endpoint);
    }
}

/// Starts the examples' endpoint, and makes the examples' processors ask it.
fn serve(desk: &Desk) -> Started {
    let mut server = Command::new("python3")
        .args(["server.py", "0"])
        .current_dir(desk.path("endpoints"))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut port = String::new();
    BufReader::new(server.stdout.take().unwrap()).read_line(&mut port).unwrap();
    for name in ["risk", "longest_page", "checksum", "report"] {
        let yaml = fs::read_to_string(desk.path(&format!("endpoints/{name}.yaml"))).unwrap();
        desk.write(&format!("processors/{name}.yaml"), yaml.replace("8711", port.trim()));
    }
    Started(server)
}

fn run(desk: &Desk, workflow: &str, more: &[&str]) -> Ran {
    let args = ["run", "--workflows", "workflows", "--processors", "processors", "--workflow", workflow, "in"];
    desk.bindery(&[&args[..], more].concat())
}

fn result(desk: &Desk, id: &str) -> Value {
    desk.bindery(&["result", id, "--json"]).ok().json()
}

#[test]
fn a_program_adds_a_field_to_every_invoice() {
    each_way(|desk| {
        desk.write("in/invoice.html", INVOICE);
        desk.write("in/note.txt", "Buy milk.");
        run(desk, "invoices-with-risk", &[]).ok();
        let whole = result(desk, "sub_1");
        let documents = whole["documents"].as_array().unwrap();
        let invoice = documents.iter().find(|document| document["doc_type"] == "invoice").unwrap();
        assert_eq!(invoice["extracted_data"]["risk"], "high", "{invoice:#}");
        assert_eq!(invoice["extracted_data"]["number"], "2026-0117", "what was read stays");
        let evidence = &invoice["evidence"]["risk"];
        assert_eq!((&evidence["tier"], &evidence["source"]), (&"program".into(), &"stage risk".into()));
        let note = documents.iter().find(|document| document["file"] == "note.txt").unwrap();
        assert!(note["extracted_data"].get("risk").is_none(), "{note:#}");
        // It is a field like any other, also in tables.
        let table = desk.bindery(&["result", "sub_1", "--csv", "-"]).ok().out;
        let column = table.lines().next().unwrap().split(',').position(|name| name == "risk");
        assert!(column.is_some(), "{table}");
    });
}

#[test]
fn a_program_gathers_the_pages_of_a_file_and_a_collector_binds_what_it_says() {
    each_way(|desk| {
        desk.write("in/a.txt", "one two three\x0cfour five six seven\x0ceight");
        desk.write("in/b.txt", "nine");
        desk.write("in/torn.pdf", "%PDF-1.7\n1 0 obj\n<<");
        run(desk, "longest-pages", &[]);
        let whole = result(desk, "sub_1");
        let parts = whole["parts"].as_array().unwrap();
        let of_file = |name: &str| parts.iter().find(|part| part["label"] == name).unwrap();
        assert_eq!(of_file("b.txt")["results"]["longest"]["words"], 1, "{whole:#}");
        let longest = &of_file("a.txt")["results"]["longest"];
        assert_eq!((&longest["file"], longest["pages"].as_u64() >= Some(1)), (&"a.txt".into(), true), "{whole:#}");
        assert!(of_file("a.txt")["results"].get("split").is_none(), "only what was asked for");
        assert_eq!(whole["files"].as_array().unwrap().len(), 3, "{whole:#}");
    });
}

#[test]
fn a_program_sees_received_files_and_another_binds_a_report() {
    each_way(|desk| {
        desk.write("in/a.txt", "one two three");
        desk.write("in/deep/b.bin", [0_u8, 159, 146, 150]);
        run(desk, "file-report", &[]).ok();
        let report = result(desk, "sub_1");
        let files = report["files"].as_array().unwrap();
        assert_eq!(files.len(), 2, "{report:#}");
        assert!(files.iter().all(|file| file["same"] == true), "the path leads to the bytes: {report:#}");
        assert_eq!((&files[0]["name"], &files[0]["size"]), (&"a.txt".into(), &13.into()));
        assert_eq!(report["title"], "Report on sub_1");
    });
}

#[test]
fn what_the_page_tells_a_new_user_to_write_runs() {
    if !has("python3") {
        return;
    }
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/own-steps.md");
    let page = fs::read_to_string(page).unwrap();
    let block = |language: &str, begins: &str| {
        let opening = format!("```{language}\n{begins}");
        let (_, rest) = page.split_once(&opening).unwrap_or_else(|| panic!("the page has no {opening}"));
        format!("{begins}{}", rest.split("```").next().unwrap())
    };
    let desk = Desk::new();
    let shipped = desk.bindery(&["workflows", "show", "documents"]).ok().out;
    let (before, last) = shipped.split_once("  - name: consolidate").unwrap();
    let own = format!("{before}{}\n  - name: consolidate{last}", block("yaml", "  - name: cost_centre"));
    desk.write("workflows/mine.yaml", own.replacen("name: documents", "name: mine", 1));
    desk.write("processors/cost_centre.yaml", block("yaml", "name: cost_centre"));
    desk.write("processors/cost_centre.py", block("python", "import json"));
    desk.write("in/invoice.html", INVOICE);
    desk.bindery(&["--processors", "processors", "workflows", "check", "workflows/mine.yaml"]).ok();
    run(&desk, "mine", &[]).ok();
    let table = desk.bindery(&["result", "sub_1", "--csv", "-"]).ok().out;
    let column = table.lines().next().unwrap().split(',').position(|name| name == "cost_centre").unwrap();
    assert_eq!(table.lines().nth(1).unwrap().split(',').nth(column), Some("4711"), "{table}");
}

#[test]
fn what_a_program_says_of_a_document_that_is_no_field_is_kept_beside() {
    if !has("python3") {
        return;
    }
    let desk = examples();
    desk.write(
        "processors/risk.py",
        "import json, sys\nwork = json.load(sys.stdin)['work']\n\
         print(json.dumps({'output': {'fields': {'seen': ' '.join(sorted(work['results']))}, 'note': work['file']['name']}}))",
    );
    desk.write("in/invoice.html", INVOICE);
    run(&desk, "invoices-with-risk", &[]).ok();
    let document = &result(&desk, "sub_1")["documents"][0];
    assert_eq!(document["more"]["risk"]["note"], "invoice.html", "{document:#}");
    assert_eq!(document["extracted_data"]["seen"], "extract", "{document:#}");
}

#[test]
fn a_collector_that_names_no_stage_of_the_workflow_says_which_there_are() {
    if !has("python3") {
        return;
    }
    let desk = examples();
    let yaml = fs::read_to_string(desk.path("workflows/longest-pages.yaml")).unwrap();
    desk.write("workflows/longest-pages.yaml", yaml.replace("stages: [longest]", "stages: [longets]"));
    desk.write("in/b.txt", "nine");
    run(&desk, "longest-pages", &[])
        .fails_with(10, "there is no stage longets; there are split, read, longest, collect");
}

#[test]
fn copies_for_a_program_are_gone_when_it_has_ended_and_the_stored_file_is_as_it_was() {
    if !has("python3") {
        return;
    }
    let desk = examples();
    desk.write(
        "processors/checksum.py",
        "import json, os, sys\nfile = json.load(sys.stdin)['work']['file']\n\
         with open(file['path'], 'wb') as received: received.write(b'changed')\n\
         print(json.dumps({'output': {'name': file['path']}}))",
    );
    desk.write("in/a.txt", "one two three");
    run(&desk, "file-report", &[]).ok();
    let path = result(&desk, "sub_1")["files"][0]["name"].as_str().unwrap().to_owned();
    assert!(path.ends_with("/a.txt") && !Path::new(&path).exists(), "{path}");
    // Every blob is compared with its hash when it is carried.
    desk.bindery(&["store", "export", "all.bindery"]).ok();
}

#[test]
fn a_workflow_that_makes_no_result_says_what_it_lacks() {
    if !has("python3") {
        return;
    }
    let desk = examples();
    let yaml = fs::read_to_string(desk.path("workflows/file-report.yaml")).unwrap();
    desk.write("workflows/file-report.yaml", yaml.split("  - name: report").next().unwrap());
    desk.write("in/a.txt", "one two three");
    run(&desk, "file-report", &[]).ok();
    let asked = desk.bindery(&["result", "sub_1"]);
    asked.fails_with(10, "sub_1 has no result: the last stage of file-report, checksum, runs over each file");
}
