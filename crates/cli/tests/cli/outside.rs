//! The harness in `tests/outside`, in short: `make torture` runs it in full.

use std::{path::Path, process::Command};

#[test]
fn workers_killed_from_outside_lose_nothing_and_fail_nothing() {
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/outside/kills.py");
    let ran = Command::new("python3")
        .arg(program)
        .arg(env!("CARGO_BIN_EXE_bindery"))
        .args(["--pages", "60", "--kills", "3", "--freezes", "0", "--seed", "16"])
        .output()
        .expect("python3 runs");
    let said = format!("{}{}", String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    assert!(ran.status.success(), "{said}");
    assert!(said.contains(" kills=3 ") && said.contains(" wrong=0"), "{said}");
}
