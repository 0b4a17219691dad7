//! Every argument that names something to write, against devices and links: they stay what they are.
//!
//! `tests/path_flags.tsv` lists all arguments that take a path. A test of the command line compares it with the arguments
//! there are, and this one needs a case for each that is written.

use crate::support::Desk;
use std::{
    fs,
    os::unix::fs::{FileTypeExt as _, MetadataExt as _, symlink},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::Duration,
};

const TABLE: &str = include_str!("../path_flags.tsv");

/// A command that writes to `TARGET`.
struct Case {
    args: Vec<&'static str>,
    /// In a folder that is written to: a file that the command puts there.
    inner: Option<&'static str>,
}

fn case(args: &'static str, inner: Option<&'static str>) -> Case {
    Case { args: args.split(' ').collect(), inner }
}

/// What writes to the argument of a command; none if nobody has thought of it.
fn case_of(command: &str, argument: &str) -> Option<Case> {
    const REPLAYED: Option<&str> = Some("recording.jsonl");
    Some(match (command, argument) {
        ("result", "output") => case("result sub_1 --output TARGET", None),
        ("result", "csv") => case("result sub_1 --csv TARGET", None),
        ("result", "xlsx") => case("result sub_1 --xlsx TARGET", None),
        ("result", "jsonl") => case("result sub_1 --jsonl TARGET", None),
        ("result", "files") => case("result own --files TARGET", Some("own/submission/a.txt")),
        ("result", "texts") => case("result sub_2 --texts TARGET", Some("a.txt.md")),
        ("store export", "file") => case("store export TARGET", None),
        ("machine graph", "out") => case("machine graph machine.json --format svg --out TARGET", None),
        ("doctypes learn", "write") => case("doctypes learn Quillhaven --write TARGET", None),
        ("read", "out") => case("read a.txt --out TARGET", Some("a.txt.md")),
        ("read", "overlay") => case("read page.png --ocr never --overlay TARGET", Some("page.png.page_001.png")),
        ("read", "split") => case("read a.txt --split TARGET", Some("a.txt.pages/page_001.md")),
        ("watch", "done") => case("watch in --once --settle 0 --done TARGET", Some("b.txt")),
        ("civic export", "out") => case("civic export quillhavenWA --out TARGET", None),
        ("civic digest", "out") => case("civic digest quillhavenWA --today 2026-03-02 --out TARGET", None),
        ("civic extract-text", "out") => case("civic extract-text ITEM --replay TOWN --out TARGET", None),
        ("civic preview-items", "out") => {
            case("civic preview-items MEETING --extract-text --replay TOWN --out TARGET", Some("001-1.txt"))
        }
        ("civic notices send", "mail_dir") => case("civic notices send --once --mail-dir TARGET", None),
        ("civic daemon", "mail_dir") => case("civic daemon --mail-dir TARGET", None),
        // All of them begin a recording in the same way, before anybody is asked.
        ("civic detect-vendor", "record") => case("civic detect-vendor Quillhaven,WA --record TARGET", REPLAYED),
        ("civic extract-text", "record") => case("civic extract-text ITEM --record TARGET", REPLAYED),
        ("civic preview-items", "record") => {
            case("civic preview-items MEETING --extract-text --record TARGET", REPLAYED)
        }
        ("civic processor", "record") => case("civic processor --record TARGET", REPLAYED),
        ("civic fetcher", "record") => case("civic fetcher --record TARGET", REPLAYED),
        ("civic daemon", "record") => case("civic daemon --record TARGET", REPLAYED),
        ("civic sync-city", "record") => case("civic sync-city quillhavenWA --record TARGET", REPLAYED),
        ("civic sync-cities", "record") => case("civic sync-cities quillhavenWA --record TARGET", REPLAYED),
        ("civic full-sync", "record") => case("civic full-sync --record TARGET", REPLAYED),
        ("civic sync-watchlist", "record") => case("civic sync-watchlist --record TARGET", REPLAYED),
        ("civic process-cities", "record") => case("civic process-cities quillhavenWA --record TARGET", REPLAYED),
        ("civic process-watchlist", "record") => case("civic process-watchlist --record TARGET", REPLAYED),
        ("civic sync-and-process-city", "record") => {
            case("civic sync-and-process-city quillhavenWA --record TARGET", REPLAYED)
        }
        ("civic sync-and-process-cities", "record") => {
            case("civic sync-and-process-cities quillhavenWA --record TARGET", REPLAYED)
        }
        _ => return None,
    })
}

/// A desk with something that each command can write.
struct Office {
    desk: Desk,
    town: String,
    meeting: String,
    item: String,
}

fn office() -> Office {
    let desk = Desk::new();
    let town = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../samples/civic").display().to_string();
    desk.write("a.txt", "Dear Sir or Madam");
    desk.bindery(&["run", "a.txt"]).ok();
    desk.bindery(&["run", "a.txt", "--workflow", "read"]).ok();
    for (number, total) in [("1", "9.50"), ("2", "8.20")] {
        desk.write("bill.txt", format!("Quillhaven Water\n\nInvoice number: {number}\n\nTo be had: {total} EUR\n"));
        let run = desk.bindery(&["run", "bill.txt", "--doctype", "invoice", "--json"]).ok().json();
        let submission = run["submission"].as_str().unwrap().to_owned();
        let correction = format!("grand_total={total}");
        desk.bindery(&["review", "correct", &submission, "doc_1_1", &correction, "--work"]).ok();
    }
    // A program that returns a file.
    desk.write("workflows/own.yaml", "name: own\nstages: [{name: own}]\n");
    let script = r#"f=$(sed 's/.*"folder":"\([^"]*\)".*/\1/'); echo one > "$f/a.txt"; echo '{"output": {}}'"#;
    let run = serde_json::json!(["sh", "-c", script]);
    desk.write("processors/own.yaml", format!("name: own\ncommand:\n  run: {run}\n"));
    desk.bindery(&["run", "a.txt", "--workflow", "own", "--external-id", "own"]).ok();
    desk.write("machine.json", r#"{"StartAt": "A", "States": {"A": {"Type": "Succeed"}}}"#);
    // A white picture of one pixel is enough to draw on.
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../samples/inbox/id-card.jpg");
    fs::copy(samples, desk.path("page.png")).unwrap();
    desk.bindery(&["civic", "city", "import", &format!("{town}/cities.csv")]).ok();
    desk.bindery(&["civic", "sync-city", "quillhavenWA", "--replay", &town]).ok();
    let listed = desk.bindery(&["civic", "meetings", "quillhavenWA", "--json"]).ok().json();
    let meetings: Vec<String> =
        listed.as_array().unwrap().iter().map(|one| one["id"].as_str().unwrap().to_owned()).collect();
    // The first that has a document to read.
    let (meeting, item) = meetings
        .iter()
        .find_map(|id| {
            let shown = desk.bindery(&["civic", "preview-items", id, "--json"]).ok().json();
            let items = shown["items"].as_array().unwrap().clone();
            let read = items.iter().find(|item| {
                item["documents"].as_array().unwrap().iter().any(|document| document["status"] == "listed")
            })?;
            Some((id.clone(), read["item_id"].as_str().unwrap().to_owned()))
        })
        .unwrap();
    Office { desk, town, meeting, item }
}

impl Office {
    /// Runs a command on a target to its end, or for a moment if it has none.
    fn run(&self, case: &Case, target: &Path) -> String {
        self.desk.write("in/b.txt", "one");
        let args: Vec<String> = case
            .args
            .iter()
            .map(|word| match *word {
                "TARGET" => target.display().to_string(),
                "TOWN" => self.town.clone(),
                "MEETING" => self.meeting.clone(),
                "ITEM" => self.item.clone(),
                word => word.to_owned(),
            })
            .collect();
        let words: Vec<&str> = args.iter().map(String::as_str).collect();
        let mut command = self.desk.command(&words);
        let log = fs::File::create(self.desk.path("flags.log")).unwrap();
        command.stdin(Stdio::null()).stdout(log.try_clone().unwrap()).stderr(log);
        let mut child = command.spawn().unwrap();
        let begun = std::time::Instant::now();
        let code = loop {
            if let Some(status) = child.try_wait().unwrap() {
                break format!("{:?}", status.code());
            }
            let endless = words.iter().any(|word| ["daemon", "fetcher", "processor"].contains(word));
            if endless && begun.elapsed() > Duration::from_secs(3) {
                child.kill().unwrap();
                child.wait().unwrap();
                break "endless".to_owned();
            }
            assert!(begun.elapsed() < crate::support::PATIENCE, "{words:?} does not end");
            std::thread::sleep(Duration::from_millis(5));
        };
        format!("{words:?} ended with {code}: {}", fs::read_to_string(self.desk.path("flags.log")).unwrap())
    }
}

/// `/dev/null` by another name, or a pipe for those who may make no device. Somebody reads what is put into it.
fn device(path: &Path) -> impl FnOnce(&str) + use<> {
    let made = Command::new("mknod").arg(path).args(["c", "1", "3"]).stderr(Stdio::null()).status().unwrap();
    // On some disks devices cannot be opened.
    let is_device = made.success() && fs::write(path, "").is_ok();
    let mut reader = None;
    if !is_device {
        let _ = fs::remove_file(path);
        assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
        reader = Command::new("sh").arg("-c").arg("while :; do cat \"$0\" >/dev/null; done").arg(path).spawn().ok();
    }
    let (path, before) = (path.to_owned(), fs::symlink_metadata(path).unwrap());
    move |ran| {
        if let Some(mut reader) = reader {
            reader.kill().unwrap();
            reader.wait().unwrap();
        }
        let after = fs::symlink_metadata(&path).unwrap_or_else(|_| panic!("{} is gone: {ran}", path.display()));
        let kind = after.file_type();
        assert!(kind.is_char_device() || kind.is_fifo(), "{} is no device any more: {ran}", path.display());
        assert_eq!((after.ino(), after.rdev()), (before.ino(), before.rdev()), "another device: {ran}");
    }
}

fn outputs() -> Vec<(String, String, bool)> {
    let rows = TABLE.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let rows = rows.map(|line| line.split('\t').collect::<Vec<_>>());
    rows.filter(|row| row[2] != "in")
        .map(|row| {
            assert!(["file", "folder"].contains(&row[2]), "expected in, file or folder: {row:?}");
            (row[0].to_owned(), row[1].to_owned(), row[2] == "folder")
        })
        .collect()
}

#[test]
fn every_output_leaves_devices_and_links_as_they_are() {
    let office = office();
    let outputs = outputs();
    assert!(outputs.len() > 10, "{outputs:?}");
    for (number, (command, argument, is_folder)) in outputs.iter().enumerate() {
        let Some(case) = case_of(command, argument) else {
            panic!("no case runs {argument} of `bindery {command}`: add one to {}", file!());
        };
        let place: PathBuf = office.desk.path(&format!("out{number}"));
        fs::create_dir(&place).unwrap();

        // The argument itself is a device.
        let target = place.join("device");
        let check = device(&target);
        check(&office.run(&case, &target));

        if *is_folder {
            // The argument is a link to a folder, and what is written there is a device.
            let (folder, link) = (place.join("folder"), place.join("link"));
            fs::create_dir(&folder).unwrap();
            symlink(&folder, &link).unwrap();
            let inner = case.inner.map(|inner| folder.join(inner));
            let check = inner.as_ref().map(|inner| {
                fs::create_dir_all(inner.parent().unwrap()).unwrap();
                device(inner)
            });
            let ran = office.run(&case, &link);
            assert!(fs::symlink_metadata(&link).unwrap().is_symlink(), "{ran}");
            if let Some(check) = check {
                check(&ran);
            }
            continue;
        }
        for old in [Some("old"), None] {
            let (file, link) =
                (place.join(format!("file{}", old.is_some())), place.join(format!("link{}", old.is_some())));
            if let Some(old) = old {
                fs::write(&file, old).unwrap();
            }
            symlink(file.file_name().unwrap(), &link).unwrap();
            let ran = office.run(&case, &link);
            assert!(fs::symlink_metadata(&link).unwrap().is_symlink(), "{ran}");
            let written = fs::read(&file).unwrap_or_else(|error| panic!("{error}: {ran}"));
            assert!(!written.is_empty() && written != b"old", "{ran}");
        }
        let left: Vec<_> = fs::read_dir(&place).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(left.len(), 5, "something else was left: {left:?}");
    }
}
