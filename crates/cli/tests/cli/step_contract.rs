//! The contract between a stage and a program, through the binary: what may be returned and what is refused, what flows from
//! stage to stage, and what `workflows` says of it.

use crate::support::{Desk, Ran, Started};
use bindery_testkit::has;
use serde_json::{Value, json};
use std::{fs, net::TcpListener, time::Duration};

const INVOICE: &str = "<h1>Invoice</h1><p>Nordwind Papier GmbH</p><p>Invoice number: 2026-0117</p>\
    <p>Invoice date: 14 March 2026</p><p>Net total: 1,000.00 EUR</p><p>VAT 19 %: 190.00 EUR</p>\
    <p>Grand total: 1,190.00 EUR</p><p>Please pay within 30 days.</p>";

/// One program over each file, and a collector.
const FILES: &str = "name: files\nstages:\n\
    - {name: look, over: file, parallel: true}\n\
    - {name: collect, component: collector, aggregation: {collect_by: submission_id, expect_count_from: file_count}}\n";

/// A desk with a workflow over files and the Python program of its stage; none where Python is not installed.
fn desk_with(workflow: &str, stage: &str, program: &str) -> Option<Desk> {
    if !has("python3") {
        return None;
    }
    let desk = Desk::new();
    desk.write("workflows/own.yaml", workflow);
    add_program(&desk, stage, program, "");
    Some(desk)
}

fn add_program(desk: &Desk, name: &str, program: &str, more: &str) {
    desk.write(
        &format!("processors/{name}.py"),
        format!("import json, os, sys\nwork = json.load(sys.stdin)\n{program}\n"),
    );
    desk.write(
        &format!("processors/{name}.yaml"),
        format!("name: {name}\ncommand:\n  run: [python3, {name}.py]\n{more}"),
    );
}

/// The stages of `documents` with some of one's own before the last.
fn documents_with(name: &str, own: &[&str]) -> String {
    let desk = Desk::new();
    let text = desk.bindery(&["workflows", "show", "documents"]).ok().out;
    let stages = own.iter().map(|own| format!("  - name: {own}\n    over: document\n    parallel: true\n\n"));
    let stages = stages.collect::<Vec<_>>().concat();
    let (before, last) = text.split_once("  - name: consolidate").unwrap();
    format!("{before}{stages}  - name: consolidate{last}").replacen("name: documents", &format!("name: {name}"), 1)
}

fn run(desk: &Desk, workflow: &str) -> Ran {
    desk.bindery(&["run", "--workflow", workflow, "in"])
}

fn result(desk: &Desk) -> Value {
    desk.bindery(&["result", "sub_1", "--json"]).ok().json()
}

#[test]
fn files_that_a_program_writes_are_kept_and_come_back() {
    let program = "folder = work['work']['folder']\nos.mkdir(folder + '/charts')\n\
        open(folder + '/charts/a.svg', 'w').write('<svg/>')\nopen(folder + '/note.bin', 'wb').write(b'\\0\\1')\n\
        print(json.dumps({'output': {'n': 1}, 'files': [{'path': 'note.bin', 'media_type': 'x/y'}]}))";
    let Some(desk) = desk_with(FILES, "look", program) else { return };
    desk.write("in/a.txt", "one");
    run(&desk, "files").ok();
    desk.bindery(&["result", "sub_1", "--files", "out"]).ok();
    let item = result(&desk)["parts"][0]["id"].as_str().unwrap().to_owned();
    assert_eq!(fs::read(desk.path(&format!("out/look/{item}/charts/a.svg"))).unwrap(), b"<svg/>");
    assert_eq!(fs::read(desk.path(&format!("out/look/{item}/note.bin"))).unwrap(), b"\0\x01");
}

#[test]
fn answers_that_break_the_contract_are_refused_with_stage_processor_and_place() {
    let cases = [
        ("print(json.dumps({'output': 1, 'item': 'item_99'}))", "/item is \"item_99\", and was asked about \"item_"),
        (
            "print(json.dumps({'output': 1, 'confidence': 7}))",
            "/confidence: the value is greater than the maximum of 1",
        ),
        (
            "print(json.dumps({'output': 1, 'fields': {}}))",
            "Additional properties are not allowed ('fields' was unexpected)",
        ),
        (
            "print(json.dumps({'output': 1, 'children': []}))",
            "Additional properties are not allowed ('children' was unexpected)",
        ),
        (
            "print(json.dumps({'output': 1, 'files': [{'path': '../../x'}]}))",
            "/files/0/path: \"../../x\" leads out of `work.folder`",
        ),
        (
            "print(json.dumps({'output': 1, 'files': [{'path': 'x'}]}))",
            "/files/0/path: there is no file \"x\" in `work.folder`",
        ),
        (
            "os.symlink('/etc/hostname', work['work']['folder'] + '/l')\nprint(json.dumps({'output': 1}))",
            "\"l\" in `work.folder` is a link",
        ),
        ("pass", "the program python3 answered nothing"),
        ("print('{}')", "answered with neither `output` nor `error`"),
    ];
    for (program, expected) in cases {
        let Some(desk) = desk_with(FILES, "look", program) else { return };
        desk.write("in/a.txt", "one");
        run(&desk, "files");
        let part = result(&desk)["parts"][0].clone();
        let error = part["errors"][0]["message"].as_str().unwrap_or_else(|| panic!("{program}: {part:#}"));
        assert!(error.starts_with("stage look, processor look: the program python3 "), "{error}");
        assert!(error.contains(expected), "{program}: {error}");
        // What was received is there, and the work can be done again once the program is right.
        add_program(&desk, "look", "print(json.dumps({'output': {'n': 1}}))", "");
        desk.bindery(&["retry", "sub_1"]).ok();
        desk.bindery(&["worker", "--until-idle"]).ok();
        assert_eq!(result(&desk)["parts"][0]["results"]["look"]["n"], 1, "{program}");
    }
}

#[test]
fn a_wrong_field_is_refused_and_the_document_stays() {
    let program = "print(json.dumps({'output': {'fields': {'tags': ['a'], 'risk': 'low'}}}))";
    let Some(desk) = desk_with(&documents_with("own", &["risk"]), "risk", program) else { return };
    desk.write("in/invoice.html", INVOICE);
    run(&desk, "own");
    let document = &result(&desk)["documents"][0];
    assert_eq!(document["extracted_data"]["number"], "2026-0117", "{document:#}");
    let reasons = document["needs_review"].to_string();
    assert!(reasons.contains("stage risk failed: stage risk, processor risk: "), "{reasons}");
    assert!(reasons.contains("/output/fields/tags: "), "{reasons}");
}

#[test]
fn one_document_flows_through_all_stages_and_a_person_may_correct_what_a_program_has_stated() {
    let first = "print(json.dumps({'output': {'fields': {'risk': 'high'}, 'note': 'seen'}, 'review': ['new seller']}))";
    let Some(desk) = desk_with(&documents_with("own", &["risk", "audit"]), "risk", first) else { return };
    let second = "fields = work['input']['extraction']['fields']\n\
        print(json.dumps({'output': {'fields': {'audit': fields['risk']['value'] + ' ' + fields['number']['value']}}}))";
    add_program(&desk, "audit", second, "");
    desk.write("in/invoice.html", INVOICE);
    run(&desk, "own").ok();
    let document = result(&desk)["documents"][0].clone();
    assert_eq!(document["extracted_data"]["audit"], "high 2026-0117", "{document:#}");
    assert_eq!(document["more"]["risk"]["note"], "seen", "{document:#}");
    assert!(document["needs_review"].to_string().contains("stage risk: new seller"), "{document:#}");
    let id = document["document_id"].as_str().unwrap();
    desk.bindery(&["review", "correct", "sub_1", id, "risk=low", "--by", "ada", "--work"]).ok();
    let document = &result(&desk)["documents"][0];
    assert_eq!(document["extracted_data"]["risk"], "low", "{document:#}");
    assert_eq!(document["evidence"]["risk"]["source"], "ada", "{document:#}");
    assert_eq!(document["extracted_data"]["number"], "2026-0117", "{document:#}");
}

#[test]
fn a_program_takes_a_file_apart_into_pages_with_bytes_and_data() {
    let workflow = "name: own\nstages:\n\
        - {name: cut, over: file, parallel: true}\n\
        - {name: count, over: page, parallel: true}\n\
        - {name: collect, component: collector, aggregation: {collect_by: submission_id, expect_count_from: page_count}}\n";
    let cut = "folder = work['work']['folder']\nchildren = []\n\
        for number, line in enumerate(open(work['work']['file']['path'])):\n    name = f'{number}.txt'\n    \
        open(folder + '/' + name, 'w').write(line)\n    \
        children.append({'label': f'line {number}', 'file': name, 'data': {'number': number}})\n\
        print(json.dumps({'output': {'lines': len(children)}, 'children': children}))";
    let Some(desk) = desk_with(workflow, "cut", cut) else { return };
    let count = "item = work['work']['item']\n\
        print(json.dumps({'output': {'words': len(open(item['path']).read().split()), 'number': item['data']['number']}}))";
    add_program(&desk, "count", count, "");
    desk.write("in/a.txt", "one two\nthree four five\n");
    run(&desk, "own").ok();
    let parts = result(&desk)["parts"].as_array().unwrap().clone();
    let pages: Vec<(&Value, &Value)> = parts
        .iter()
        .filter(|part| part["kind"] == "page")
        .map(|part| (&part["label"], &part["results"]["count"]))
        .collect();
    assert_eq!(
        pages,
        [(&json!("line 0"), &json!({"words": 2, "number": 0})), (&json!("line 1"), &json!({"words": 3, "number": 1}))]
    );
    // A line of JSON, a row and a line of a spreadsheet for each of them.
    let lines = desk.bindery(&["result", "sub_1", "--jsonl", "-"]).ok().out;
    assert_eq!(lines.lines().count(), 3, "{lines}");
    let table = desk.bindery(&["result", "sub_1", "--csv", "-"]).ok().out;
    assert!(table.starts_with("id,kind,label,parent,errors,count.number,count.words,cut.lines\n"), "{table}");
    desk.bindery(&["result", "sub_1", "--xlsx", "parts.xlsx"]).ok();
    assert!(fs::read(desk.path("parts.xlsx")).unwrap().starts_with(b"PK"));
}

/// A PDF of one page with a line of text.
fn pdf() -> Vec<u8> {
    let stream = "BT /F1 24 Tf 72 700 Td (Nine words stand here on one page of paper) Tj ET";
    let objects = [
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_owned(),
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>"
            .to_owned(),
        format!("<< /Length {} >>\nstream\n{stream}\nendstream", stream.len()),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>".to_owned(),
    ];
    let mut file = b"%PDF-1.4\n".to_vec();
    let mut places = Vec::new();
    for (number, object) in objects.iter().enumerate() {
        places.push(file.len());
        file.extend(format!("{} 0 obj\n{object}\nendobj\n", number + 1).into_bytes());
    }
    let start = file.len();
    file.extend(b"xref\n0 6\n0000000000 65535 f \n");
    for place in places {
        file.extend(format!("{place:010} 00000 n \n").into_bytes());
    }
    file.extend(format!("trailer << /Size 6 /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n").into_bytes());
    file
}

const PAGES: &str = "name: own\nstages:\n\
    - {name: split, component: file_splitter, over: file, parallel: true}\n\
    - {name: read, component: page_reader, over: page, parallel: true}\n\
    - {name: see, over: page, parallel: true}\n\
    - {name: collect, component: collector, aggregation: {collect_by: submission_id, expect_count_from: page_count}}\n";

#[test]
fn a_program_over_pages_gets_the_text_and_on_request_words_and_image() {
    let see = "page = work['work']['page']\nsaid = {'keys': sorted(page), 'text': page['text']}\n\
        if 'words_path' in page: said['words'] = len(json.load(open(page['words_path']))['words'])\n\
        if 'image_path' in page:\n    head = open(page['image_path'], 'rb').read(24)\n    \
        said['size'] = [int.from_bytes(head[16:20], 'big'), int.from_bytes(head[20:24], 'big')]\n\
        print(json.dumps({'output': said}))";
    let Some(desk) = desk_with(PAGES, "see", see) else { return };
    desk.write("in/a.pdf", pdf());
    run(&desk, "own").ok();
    let seen = |desk: &Desk, id: &str| {
        let whole = desk.bindery(&["result", id, "--json"]).ok().json();
        let parts = whole["parts"].as_array().unwrap().clone();
        parts.into_iter().find(|part| part["kind"] == "page").unwrap()["results"]["see"].clone()
    };
    let plain = seen(&desk, "sub_1");
    assert_eq!(plain["keys"], json!(["text"]), "{plain:#}");
    assert!(plain["text"].as_str().unwrap().contains("Nine words stand here"), "{plain:#}");

    add_program(&desk, "see", see, "  wants: [words, image]\n  image_dpi: 72\n");
    desk.bindery(&["run", "--workflow", "own", "in", "--external-id", "again"]).ok();
    let whole = seen(&desk, "again");
    assert_eq!(whole["keys"], json!(["dpi", "image_path", "text", "words_path"]), "{whole:#}");
    assert_eq!((&whole["words"], &whole["size"]), (&json!(9), &json!([612, 792])), "{whole:#}");
}

#[test]
fn an_endpoint_fetches_files_by_tokens_that_end_with_the_call() {
    if !has("python3") {
        return;
    }
    let desk = Desk::new();
    desk.write("workflows/own.yaml", FILES);
    // Says what it fetched and from where.
    desk.write(
        "endpoint.py",
        "import json, sys, urllib.request\nfrom http.server import *\n\
         class Endpoint(BaseHTTPRequestHandler):\n    \
         def do_POST(self):\n        \
         file = json.loads(self.rfile.read(int(self.headers['Content-Length'])))['work']['file']\n        \
         said = {'url': file.get('url'), 'inline': 'content_base64' in file}\n        \
         if file.get('url'): said['text'] = urllib.request.urlopen(file['url']).read().decode()\n        \
         answer = json.dumps({'output': said}).encode()\n        \
         self.send_response(200)\n        self.send_header('Content-Length', str(len(answer)))\n        self.end_headers()\n        \
         self.wfile.write(answer)\n    \
         def log_message(self, *_): pass\n\
         server = HTTPServer(('127.0.0.1', 0), Endpoint)\nopen('port', 'w').write(str(server.server_address[1]) + '\\n')\n\
         server.serve_forever()\n",
    );
    let child = std::process::Command::new("python3").arg("endpoint.py").current_dir(desk.path("")).spawn().unwrap();
    let _endpoint = Started(child);
    let port = loop {
        match fs::read_to_string(desk.path("port")) {
            Ok(port) if port.ends_with('\n') => break port.trim().to_owned(),
            _ => std::thread::sleep(Duration::from_millis(10)),
        }
    };
    desk.write("processors/look.yaml", format!("name: look\nhttp:\n  url: http://127.0.0.1:{port}/\n"));
    desk.write("in/a.txt", "what was received");
    // Without an address the bytes are in the request.
    run(&desk, "files").ok();
    let inline = &result(&desk)["parts"][0]["results"]["look"];
    assert_eq!((&inline["url"], &inline["inline"]), (&Value::Null, &json!(true)));

    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    desk.bindery(&["submit", "in", "--workflow", "files", "--external-id", "again"]).ok();
    let worker = desk.start(&["worker", "--listen", &free, "--files-url", &format!("http://{free}")]);
    desk.wait_for("again", "it is done", |status| status["status"] == "completed");
    let whole = desk.bindery(&["result", "again", "--json"]).ok().json();
    let fetched = &whole["parts"][0]["results"]["look"];
    assert_eq!((&fetched["text"], &fetched["inline"]), (&json!("what was received"), &json!(false)), "{whole:#}");
    let token = fetched["url"].as_str().unwrap().rsplit('/').next().unwrap();
    assert_eq!(token.len(), 64);
    let gone = crate::listening::get(&free, &format!("/files/{token}")).unwrap();
    assert_eq!(gone.0, 404, "{gone:?}");
    assert_eq!(crate::listening::get(&free, "/files/0").unwrap().0, 404);
    drop(worker);
    desk.bindery(&["worker", "--files-url", "http://x"])
        .fails_with(2, "--files-url or BINDERY_FILES_URL: nothing is listened on");
}

#[test]
fn a_stage_whose_output_nobody_reads_is_refused_in_every_workflow() {
    let desk = Desk::new();
    add_program(&desk, "tone", "print(json.dumps({'output': 1}))", "");
    for name in ["read", "words", "documents"] {
        let text = desk.bindery(&["workflows", "show", name]).ok().out;
        let own = format!("name: own-{name}");
        // Behind the stage over pages, before what collects them.
        let marker = if name == "words" { "  - name: consolidate" } else { "  - name: combine" };
        let (before, after) = text.split_once(marker).unwrap();
        let with = format!("{before}  - name: tone\n    over: page\n    parallel: true\n\n{marker}{after}");
        let file = desk.write(&format!("{name}.yaml"), with.replacen(&format!("name: {name}"), &own, 1));
        let checked = desk.bindery(&["workflows", "check", file.to_str().unwrap()]);
        if name == "documents" {
            checked.ok();
            continue;
        }
        assert!(checked.out.contains("nobody reads what the stage \"tone\" finds about each page"), "{checked:?}");
        assert!(checked.out.contains("component: collector"), "{checked:?}");
        checked.fails_with(2, "1 file cannot be used");
    }
    let file = desk.write("end.yaml", "name: end\nstages:\n- {name: tone, over: file, parallel: true}\n");
    let checked = desk.bindery(&["workflows", "check", file.to_str().unwrap()]);
    assert!(
        checked.out.contains("the last stage \"tone\" runs over each file, so the workflow makes no result"),
        "{checked:?}"
    );
}

#[test]
fn every_shipped_workflow_is_read_to_its_end() {
    let desk = Desk::new();
    let known = desk.bindery(&["workflows", "--json"]).ok().json();
    for workflow in known.as_array().unwrap() {
        let name = workflow["name"].as_str().unwrap();
        // One stage that only people start and read (`bindery process`, councils) makes no result of a submission.
        if workflow["stages"].as_array().unwrap().len() == 1 {
            continue;
        }
        let file = desk.write(&format!("{name}.yaml"), desk.bindery(&["workflows", "show", name]).ok().out);
        desk.bindery(&["workflows", "check", file.to_str().unwrap()]).ok();
    }
}

#[test]
fn the_schema_of_a_stage_is_printed_for_people_and_programs() {
    let desk = Desk::new();
    let words = desk.bindery(&["workflows", "schema", "documents", "extract"]).ok().out;
    assert!(words.starts_with("documents / extract: runs once for each document\n"), "{words}");
    assert!(words.contains("work.file.path") && words.contains("output.fields"), "{words}");
    let one = desk.bindery(&["workflows", "schema", "documents", "combine", "--json"]).ok().json();
    assert_eq!(one["over"], "file");
    assert!(one["request"]["properties"]["work"]["properties"]["parts"].is_object(), "{one:#}");
    assert_eq!(one["answer"]["additionalProperties"], false);
    let all = desk.bindery(&["workflows", "schema", "documents", "--json"]).ok().json();
    assert_eq!(all.as_array().unwrap().len(), 7);
    let unknown = desk.bindery(&["workflows", "schema", "documents", "reed"]);
    unknown.fails_with(2, "the workflow documents has no stage \"reed\"; its stages are split, read, classify");
    desk.bindery(&["workflows", "schema", "reed"]).fails_with(2, "there is no workflow \"reed\"; known are");
}

#[test]
fn progress_says_who_works_and_ends_at_a_hundred_percent() {
    let desk = Desk::new();
    desk.write("in/a.txt", "one two");
    desk.write("in/torn.pdf", "%PDF-1.7\n1 0 obj\n<<");
    desk.bindery(&["submit", "in", "--workflow", "read"]).ok();
    let waiting = desk.bindery(&["status", "sub_1"]).ok();
    assert!(waiting.err.contains("no worker is running: start `bindery worker`"), "{waiting:?}");
    desk.bindery(&["worker", "--until-idle"]).ok();
    let done = desk.bindery(&["status", "sub_1"]).ok();
    assert!(!done.err.contains("no worker is running"), "{done:?}");
    for stage in desk.status("sub_1")["stages"].as_array().unwrap() {
        let done = ["completed", "failed", "skipped"].iter().map(|state| stage[state].as_u64().unwrap()).sum::<u64>();
        assert_eq!(stage["expected"].as_u64(), Some(done), "{stage:#}");
    }
    let stages = done.out.lines().filter(|line| line.ends_with('%') || line.contains("% "));
    assert!(stages.clone().count() >= 4 && stages.clone().all(|line| line.contains("100 %")), "{}", done.out);
}

#[test]
fn a_permanent_fault_does_not_advise_a_retry() {
    let desk = Desk::new();
    desk.write("in/a.txt", "one two");
    desk.write("in/torn.pdf", "%PDF-1.7\n1 0 obj\n<<");
    let ran = desk.bindery(&["run", "in", "--workflow", "read"]).ok();
    assert!(ran.err.contains("1 part failed; trying again would not help"), "{ran:?}");
    assert!(!ran.err.contains("bindery retry"), "{ran:?}");
}
