//! Keeps the shape of the workspace: which crate may use which, and what must not be in the repository.

use serde_json::Value;
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// Each crate with the crates it may use. Those without I/O first, the binary last.
const ARROWS: &[(&str, &[&str])] = &[
    ("bindery-core", &[]),
    ("bindery-files", &[]),
    ("bindery-yaml", &["bindery-core"]),
    ("bindery-http", &["bindery-core"]),
    ("bindery-store", &["bindery-core", "bindery-files"]),
    ("bindery-states", &["bindery-core"]),
    ("bindery-reader", &["bindery-core", "bindery-files"]),
    ("bindery-fields", &["bindery-core", "bindery-yaml", "bindery-reader"]),
    ("bindery-models", &["bindery-core", "bindery-http", "bindery-store"]),
    ("bindery-engine", ENGINE_USES),
    ("bindery-processors", ABOVE_ENGINE_USES),
    ("bindery-pipeline", ABOVE_PROCESSORS_USES),
    ("bindery-civic", ABOVE_PROCESSORS_USES),
    ("bindery-amqp", &["bindery-core", "bindery-store", "bindery-engine"]),
    ("bindery-server", SERVER_USES),
    ("bindery", CLI_USES),
    // Only tests and benchmarks use it.
    ("bindery-testkit", &[]),
];
/// From the bottom to the top.
const LAYERS: &[&str] = &[
    "bindery-core",
    "bindery-files",
    "bindery-yaml",
    "bindery-http",
    "bindery-store",
    "bindery-states",
    "bindery-reader",
    "bindery-fields",
    "bindery-models",
    "bindery-engine",
    "bindery-processors",
    "bindery-pipeline",
    "bindery-civic",
    "bindery-amqp",
    "bindery-server",
];
const ENGINE_USES: &[&str] = LAYERS.split_at(9).0;
const ABOVE_ENGINE_USES: &[&str] = LAYERS.split_at(10).0;
const ABOVE_PROCESSORS_USES: &[&str] = LAYERS.split_at(11).0;
/// Not the broker's.
const SERVER_USES: &[&str] = LAYERS.split_at(13).0;
const CLI_USES: &[&str] = LAYERS;

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

#[test]
fn crates_use_only_what_is_below_them() {
    let packages = packages();
    let ours: Vec<&str> = packages.iter().map(|package| package.name.as_str()).collect();
    let mut wrong = Vec::new();
    for package in &packages {
        let name = &package.name;
        let Some((_, allowed)) = ARROWS.iter().find(|(known, _)| known == name) else {
            wrong.push(format!("{name} is not in the table: add it to ARROWS in {} with what it may use", file!()));
            continue;
        };
        let in_workspace = package.dependencies.iter().filter(|dependency| ours.contains(&dependency.as_str()));
        for dependency in in_workspace.filter(|dependency| !allowed.contains(&dependency.as_str())) {
            wrong.push(format!("{name} must not use {dependency}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
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
        eprintln!("skipped: git does not list the files here");
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
        eprintln!("skipped: git does not list the files here");
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
