//! Keeps the shape of the workspace: which crate may use which, and what must not be in the repository.

use serde_json::Value;
use std::{
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// What belongs to the command line alone: flags, bars, tables, and errors without a type.
const ONLY_IN_CLI: &[&str] = &["anyhow", "clap", "comfy-table", "indicatif"];

/// What would turn the core into something that does I/O.
const NOT_IN_CORE: &[&str] = &["tokio", "rusqlite"];

const MOST_LINES: usize = 800;

struct Package {
    name: String,
    manifest: PathBuf,
    /// Without those that only tests use.
    dependencies: Vec<String>,
}

fn workspace_root() -> &'static Path {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest.ancestors().nth(2).expect("the crate is two folders below the root")
}

fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value[field].as_str().unwrap_or_else(|| panic!("cargo metadata has no {field}"))
}

fn packages() -> Vec<Package> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--no-deps", "--offline"])
        .current_dir(workspace_root())
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "cargo metadata failed: {}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("cargo metadata writes JSON");
    let packages = metadata["packages"].as_array().expect("cargo metadata lists packages");
    assert!(!packages.is_empty(), "the workspace is empty");
    packages.iter().map(package).collect()
}

fn package(value: &Value) -> Package {
    let dependencies = value["dependencies"].as_array().expect("a package lists its dependencies");
    let used = dependencies.iter().filter(|dependency| dependency["kind"] != "dev");
    Package {
        name: text(value, "name").to_owned(),
        manifest: text(value, "manifest_path").into(),
        dependencies: used.map(|dependency| text(dependency, "name").to_owned()).collect(),
    }
}

/// The rooms as they are written down, from the bottom to the top.
#[derive(Debug, serde::Deserialize)]
struct House {
    room: Vec<Room>,
}

#[derive(Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Room {
    name: String,
    owns: String,
    crash: String,
    uses: Vec<String>,
}

impl Room {
    fn package(name: &str) -> String {
        if name == "cli" { "bindery".to_owned() } else { format!("bindery-{name}") }
    }

    fn used(&self) -> String {
        if self.uses.is_empty() { "nothing of ours".to_owned() } else { self.uses.join(", ") }
    }
}

fn house() -> Vec<Room> {
    let text = fs::read_to_string(workspace_root().join("crates/rooms.toml")).expect("crates/rooms.toml can be read");
    toml::from_str::<House>(&text).expect("crates/rooms.toml is right").room
}

#[test]
fn crates_use_exactly_what_their_rooms_may() {
    let (packages, rooms) = (packages(), house());
    let mut wrong = Vec::new();
    for package in &packages {
        if !rooms.iter().any(|room| Room::package(&room.name) == package.name) {
            wrong.push(format!("{} is not in crates/rooms.toml", package.name));
        }
    }
    for (place, room) in rooms.iter().enumerate() {
        let Some(package) = packages.iter().find(|package| package.name == Room::package(&room.name)) else {
            wrong.push(format!("{} is in crates/rooms.toml, and there is no such crate", room.name));
            continue;
        };
        let uses = |of: &str| package.dependencies.contains(&Room::package(of));
        for other in &rooms {
            let (may, does) = (room.uses.contains(&other.name), uses(&other.name));
            match (may, does) {
                (false, true) => wrong.push(format!("{} must not use {}", room.name, other.name)),
                (true, false) => wrong.push(format!("{} does not use {}: take it out", room.name, other.name)),
                _ => {}
            }
        }
        for below in &room.uses {
            if !rooms[..place].iter().any(|other| other.name == *below) {
                wrong.push(format!("{} uses {below}, which is not below it", room.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

const DRAWN_FROM: &str = "<!-- rooms: drawn from crates/rooms.toml by a test -->\n";
const DRAWN_TO: &str = "<!-- end of rooms -->";

/// With `BINDERY_WRITE_DOCS` set, writes the tables instead of comparing them.
fn has_drawing(file: &str, drawing: &str) {
    let path = workspace_root().join(file);
    let text = fs::read_to_string(&path).expect("the page can be read");
    let (before, rest) = text.split_once(DRAWN_FROM).unwrap_or_else(|| panic!("{file} has no {DRAWN_FROM}"));
    let (drawn, after) = rest.split_once(DRAWN_TO).unwrap_or_else(|| panic!("{file} has no {DRAWN_TO}"));
    if std::env::var_os("BINDERY_WRITE_DOCS").is_some() {
        fs::write(&path, format!("{before}{DRAWN_FROM}{drawing}{DRAWN_TO}{after}")).expect("the page can be written");
        return;
    }
    assert_eq!(
        drawn, drawing,
        "{file}: `BINDERY_WRITE_DOCS=1 cargo test -p bindery --test architecture` draws it anew"
    );
}

#[test]
fn the_maps_show_the_rooms_as_they_are() {
    let rooms = house();
    let mut table = "| room | owns | on a crash | uses |\n|---|---|---|---|\n".to_owned();
    let mut short = "| folder | may use |\n|---|---|\n".to_owned();
    for room in &rooms {
        let (name, used) = (&room.name, room.used());
        writeln!(table, "| `crates/{name}` | {} | {} | {used} |", room.owns, room.crash).expect("a text takes text");
        writeln!(short, "| `crates/{name}` | {used} |").expect("a text takes text");
    }
    has_drawing("ARCHITECTURE.md", &table);
    has_drawing("CONTRIBUTING.md", &short);
}

#[test]
fn the_core_does_no_io() {
    let packages = packages();
    let core = packages.iter().find(|package| package.name == "bindery-core").expect("there is a bindery-core");
    for forbidden in NOT_IN_CORE {
        assert!(!core.dependencies.iter().any(|name| name == forbidden), "bindery-core must not use {forbidden}");
    }
}

#[test]
fn only_the_command_line_has_a_terminal() {
    for package in packages().iter().filter(|package| package.name != "bindery") {
        let name = &package.name;
        for forbidden in ONLY_IN_CLI {
            assert!(!package.dependencies.iter().any(|used| used == forbidden), "{name} must not use {forbidden}");
        }
    }
}

#[test]
fn one_crate_speaks_http() {
    for package in packages() {
        for client in ["ureq", "reqwest"] {
            // Object storage has a client of its own, which takes no other; the store only configures it.
            let may = package.name == "bindery-http" && client == "ureq"
                || package.name == "bindery-store" && client == "reqwest";
            let name = &package.name;
            assert!(may || !package.dependencies.iter().any(|used| used == client), "{name} must not use {client}");
        }
    }
}

#[test]
fn every_crate_inherits_the_lints() {
    for package in packages() {
        let manifest = fs::read_to_string(&package.manifest).expect("the manifest can be read");
        let mut lines = manifest.lines().map(str::trim).filter(|line| !line.is_empty());
        let inherits = lines.any(|line| line == "[lints]") && lines.next() == Some("workspace = true");
        assert!(inherits, "{} must have a section [lints] with workspace = true", package.manifest.display());
    }
}

/// The files that git knows, as paths from the root; none where there is no git.
fn tracked_files() -> Vec<String> {
    let output = Command::new("git").args(["ls-files", "-z"]).current_dir(workspace_root()).output();
    let listing = match output {
        Ok(output) if output.status.success() => String::from_utf8_lossy(&output.stdout).into_owned(),
        _ => String::new(),
    };
    listing.split_terminator('\0').map(str::to_owned).collect()
}

/// The content of a tracked file; none when it is binary, or was removed and not yet committed.
fn read_text(path: &str) -> Option<String> {
    let bytes = fs::read(workspace_root().join(path)).ok()?;
    let text = String::from_utf8(bytes).ok()?;
    (!text.contains('\0')).then_some(text)
}

#[test]
fn no_source_file_is_too_long() {
    let files = tracked_files();
    if files.is_empty() {
        bindery_testkit::missing("git does not list the files here");
        return;
    }
    let mut wrong = Vec::new();
    for path in files.iter().filter(|path| Path::new(path).extension().is_some_and(|it| it == "rs")) {
        let lines = read_text(path).map_or(0, |content| content.lines().count());
        if lines > MOST_LINES {
            wrong.push(format!("{path} has {lines} lines, the most is {MOST_LINES}: split it"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn no_file_names_a_place_on_one_machine() {
    let files = tracked_files();
    if files.is_empty() {
        bindery_testkit::missing("git does not list the files here");
        return;
    }
    // Put together here, so that this file does not contain them.
    let needles = ["home", "work"].map(|folder| format!("/{folder}/"));
    let mut wrong = Vec::new();
    for path in &files {
        let Some(content) = read_text(path) else { continue };
        for (index, line) in content.lines().enumerate() {
            for needle in &needles {
                if starts_a_path(line, needle) {
                    wrong.push(format!("{path}:{}: contains {needle}", index + 1));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Whether the line has the needle at the start of a path. In an address or further down a path it is harmless.
fn starts_a_path(line: &str, needle: &str) -> bool {
    line.match_indices(needle).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        before.is_none_or(|it| !it.is_alphanumeric() && !"_-.~/})]".contains(it))
    })
}
