//! Who can read what: permissions of the store, tokens in listings, and what reaches a terminal.

use crate::support::Desk;
use serde_json::Value;
use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::Command,
    time::Instant,
};

const TOKEN: &str = "Uvkhdfs-s3cret-41";

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().permissions().mode() & 0o777
}

fn everything_below(folder: &Path) -> Vec<PathBuf> {
    let mut found = vec![folder.to_owned()];
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(everything_below(&path));
        } else {
            found.push(path);
        }
    }
    found
}

#[track_caller]
fn assert_private(folder: &Path) {
    for path in everything_below(folder) {
        let expected = if path.is_dir() { 0o700 } else { 0o600 };
        assert_eq!(mode(&path), expected, "{}: {:o}", path.display(), mode(&path));
    }
}

/// Runs the binary under a umask.
fn under(desk: &Desk, umask: &str, args: &[&str]) -> Command {
    let inner = desk.command(args);
    let mut command = Command::new("sh");
    command.arg("-c").arg(format!("umask {umask}; exec \"$0\" \"$@\"")).arg(inner.get_program()).args(inner.get_args());
    command.current_dir(desk.path("")).env_remove("BINDERY_STORE").env_remove("BINDERY_BLOBS");
    if desk.path("workflows").is_dir() {
        command.env("BINDERY_WORKFLOWS", "workflows");
    }
    command
}

#[test]
fn a_store_is_for_its_owner_alone_whatever_the_umask() {
    for umask in ["000", "022", "077"] {
        let desk = Desk::slow();
        let lines: Vec<String> = (0..200).map(|line| format!("line {line}")).collect();
        desk.write("a.txt", lines.join("\n"));
        let mut run = under(&desk, umask, &["run", "a.txt", "--workflow", "slow"]).spawn().unwrap();
        // While it runs, there is what SQLite writes beside its database.
        let (begun, log) = (Instant::now(), desk.path("bindery-data/bindery.db-wal"));
        while !log.exists() {
            assert!(begun.elapsed() < crate::support::PATIENCE, "there is no write-ahead log");
        }
        let seen = mode(&log);
        assert!(run.wait().unwrap().success());
        assert_eq!(seen, 0o600);
        assert_private(&desk.path("bindery-data"));
        assert!(under(&desk, umask, &["store", "export", "all.tar"]).status().unwrap().success());
        assert_eq!(mode(&desk.path("all.tar")), 0o600, "an export holds what the store holds");
    }
}

#[test]
fn a_store_that_others_can_read_is_told_with_the_command_that_closes_it() {
    let desk = Desk::new();
    desk.write("a.txt", "one two");
    assert!(!desk.bindery(&["run", "a.txt"]).ok().err.contains("warning"));
    for path in everything_below(&desk.path("bindery-data")) {
        let wider = if path.is_dir() { 0o755 } else { 0o644 };
        fs::set_permissions(&path, fs::Permissions::from_mode(wider)).unwrap();
    }
    let said = desk.bindery(&["run", "a.txt"]).ok().err;
    assert_eq!(said.matches("warning: ").count(), 1, "{said}");
    assert!(said.contains("other users of this machine can read the store in bindery-data (mode 0755)"), "{said}");
    assert!(!desk.bindery(&["status"]).ok().err.contains("warning"), "who only looks is told nothing");
    let command = said.split('`').find(|part| part.starts_with("chmod ")).unwrap();
    assert!(Command::new("sh").args(["-c", command]).current_dir(desk.path("")).status().unwrap().success());
    let said = desk.bindery(&["run", "a.txt"]).ok().err;
    assert!(!said.contains("warning"), "{said}");
    // A folder that was there keeps its permissions; what is put into it is private all the same.
    let shared = Desk::new();
    shared.write("a.txt", "one");
    fs::create_dir(shared.path("bindery-data")).unwrap();
    fs::set_permissions(shared.path("bindery-data"), fs::Permissions::from_mode(0o755)).unwrap();
    let said = shared.bindery(&["run", "a.txt"]).ok().err;
    assert!(!said.contains("warning"), "{said}");
    assert_eq!(mode(&shared.path("bindery-data/bindery.db")), 0o600);
    assert_private(&shared.path("bindery-data/blobs"));
}

#[test]
fn blobs_that_a_group_shares_stay_open_to_it_and_to_nobody_else() {
    let desk = Desk::new();
    desk.write("a.txt", "one two");
    fs::create_dir(desk.path("shared")).unwrap();
    fs::set_permissions(desk.path("shared"), fs::Permissions::from_mode(0o770)).unwrap();
    let ran = under(&desk, "022", &["--blobs", "shared", "run", "a.txt"]).output().unwrap();
    let said = String::from_utf8_lossy(&ran.stderr).into_owned();
    assert!(ran.status.success() && !said.contains("warning"), "{said}");
    for path in everything_below(&desk.path("shared")) {
        let expected = if path.is_dir() { 0o770 } else { 0o640 };
        assert_eq!(mode(&path), expected, "{}", path.display());
    }
    fs::set_permissions(desk.path("shared"), fs::Permissions::from_mode(0o775)).unwrap();
    let said = desk.bindery(&["--blobs", "shared", "run", "a.txt", "--anew"]).ok().err;
    assert!(said.contains("`chmod -R o-rwx shared` closes it to them"), "{said}");
}

#[test]
fn tokens_of_vendors_are_not_listed() {
    let desk = Desk::new();
    let setting = format!("token={TOKEN}");
    let add = ["civic", "city", "add", "nashvilleTN", "--name", "Nashville", "--vendor", "legistar"];
    let rest = ["--slug", "nashville", "--tz", "America/Chicago", "--setting", &setting, "--json"];
    let mut shown = vec![desk.bindery(&[&add[..], &rest[..]].concat()).ok()];
    let webhook = format!("https://ann:{TOKEN}@example.org/hook?token={TOKEN}");
    let alert = ["civic", "alert", "add", "--owner", "ann@example.org", "--name", "x", "--city", "nashvilleTN"];
    shown.push(desk.bindery(&[&alert[..], &["--keyword", "tree", "--webhook", &webhook, "--json"]].concat()).ok());
    for args in [
        &["civic", "city", "list"][..],
        &["civic", "city", "list", "--json"],
        &["civic", "city", "show", "nashvilleTN"],
        &["civic", "city", "show", "nashvilleTN", "--json"],
        &["civic", "city", "set", "nashvilleTN", "--population", "5", "--json"],
        &["civic", "alert", "list"],
        &["civic", "alert", "list", "--json"],
        &["civic", "notices", "--json"],
        &["civic", "status", "--json"],
        &["events", "--json"],
    ] {
        shown.push(desk.bindery(args).ok());
    }
    for ran in &shown {
        assert!(!ran.out.contains(TOKEN) && !ran.err.contains(TOKEN), "{ran:?}");
    }
    let hidden = desk.bindery(&["civic", "city", "list", "--json"]).ok().out;
    assert_eq!(serde_json::from_str::<Value>(&hidden).unwrap()[0]["settings"]["token"], "HIDDEN");
    let whole = desk.bindery(&["civic", "city", "list", "--json", "--with-secrets"]).ok().out;
    assert!(whole.contains(TOKEN), "{whole}");

    // A list without them takes none away, and stores none that is not one.
    desk.bindery_with_input(&["civic", "city", "import", "-"], &hidden).ok();
    assert_eq!(desk.bindery(&["civic", "city", "list", "--json", "--with-secrets"]).ok().out, whole);
    desk.bindery_with_input(&["--store", "other", "civic", "city", "import", "-"], &hidden).fails_with(
        2,
        "settings: token is hidden in this list; `bindery civic city list --json --with-secrets` writes it",
    );
    desk.bindery_with_input(&["--store", "other", "civic", "city", "import", "-"], &whole).ok();
    let removed = desk.bindery(&["civic", "city", "remove", "nashvilleTN"]).ok();
    assert!(!removed.out.contains(TOKEN) && !removed.err.contains(TOKEN), "{removed:?}");
}

#[test]
fn messages_about_services_hold_no_secret() {
    let desk = Desk::new();
    fs::copy(format!("{}/id-card.jpg", crate::support::inbox()), desk.path("card.jpg")).unwrap();
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let url = format!("http://ann:{TOKEN}@{free}/ocr?token={TOKEN}");
    let ran = desk.bindery(&["--log", "debug", "read", "card.jpg", "--ocr", "force", "--ocr-url", &url, "--out", "-"]);
    assert!(!ran.err.contains(TOKEN) && !ran.out.contains(TOKEN), "{ran:?}");
    ran.fails_with(10, &format!("http://{free}/ocr cannot be reached"));
}

/// Marks that turn the direction of writing, escape sequences in both forms, a carriage return, a bell.
const HOSTILE: &str = "\u{202e}fdp\u{2066}\x1b[2J\u{9b}31m\x07\u{200f}";

fn is_hostile(text: &str) -> bool {
    text.chars().any(|letter| {
        matches!(letter, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{80}'..='\u{9f}')
            || (letter.is_ascii_control() && letter != '\n' && letter != '\t')
    })
}

#[test]
fn no_name_and_no_text_steers_a_terminal() {
    let desk = Desk::new();
    let name = format!("in/invoice{}.txt", HOSTILE.replace('/', ""));
    desk.write(&name, format!("Dear {HOSTILE} Sir or Madam, please pay the invoice.\n"));
    let locked = desk.write("in/torn\u{202e}.pdf", "%PDF-1.7\n1 0 obj\n<<");
    assert!(locked.exists());
    for args in [
        &["run", "in"][..],
        &["--log", "debug", "run", "in", "--anew"],
        &["status", "sub_1"],
        &["result", "sub_1"],
        &["events"],
        &["jobs"],
        &["dead-letters"],
        &["search", "invoice"],
        &["read", "in/torn\u{202e}.pdf", "--out", "-"],
        &["status", "no\u{202e}such"],
    ] {
        let ran = desk.bindery(args);
        assert!(!is_hostile(&ran.out) && !is_hostile(&ran.err), "{args:?}: {ran:?}");
    }
    // JSON keeps every character, as an escape.
    let ran = desk.bindery(&["status", "sub_1", "--json"]).ok();
    assert!(!is_hostile(&ran.out), "{ran:?}");
    let result = desk.bindery(&["result", "sub_1", "--json"]).ok();
    assert!(!is_hostile(&result.out) && result.out.contains("\\u202e"), "{}", result.out);
    let names: Vec<String> =
        result.json()["files"].as_array().unwrap().iter().map(|file| file["name"].to_string()).collect();
    assert!(names.iter().all(|name| name.contains('\u{202e}')), "{names:?}");
}

#[test]
fn data_is_exact_for_a_program_and_safe_on_a_terminal() {
    let desk = Desk::new();
    desk.write("a.txt", "before \x1b[31m \u{202e}after\n");
    let piped = desk.bindery(&["read", "a.txt", "--out", "-", "--format", "text"]).ok().out;
    assert!(piped.contains('\u{202e}'), "{piped:?}");
    let binary = env!("CARGO_BIN_EXE_bindery");
    for format in ["text", "md", "json"] {
        let command = format!("{binary} read a.txt --out - --format {format} --no-progress");
        let shown = Command::new("script").args(["-qec", &command, "/dev/null"]).current_dir(desk.path("")).output();
        let shown = String::from_utf8(shown.unwrap().stdout).unwrap().replace("\r\n", "\n");
        assert!(shown.contains("before") && shown.contains("after"), "{shown:?}");
        assert!(!is_hostile(&shown), "{shown:?}");
    }
}
