//! Peers of benchmarks that come from npm.

use std::{
    fs, io,
    path::Path,
    process::{Command, Stdio},
};

/// Writes the files into the folder, `package.json` among them, and installs what that names. Says why in one line
/// where it cannot be: without Node or npm the peer is not measured.
pub fn install(folder: &Path, files: &[(&str, &str)]) -> io::Result<Result<(), String>> {
    fs::create_dir_all(folder)?;
    for (name, content) in files {
        fs::write(folder.join(name), content)?;
    }
    for program in ["node", "npm"] {
        let asked = Command::new(program).arg("--version").current_dir(folder).stdout(Stdio::null()).status();
        if !asked.is_ok_and(|status| status.success()) {
            return Ok(Err(format!("{program} is not installed")));
        }
    }
    let install = ["install", "--no-audit", "--no-fund", "--loglevel=error"];
    let installed = Command::new("npm").args(install).current_dir(folder).stdout(Stdio::null()).status()?;
    Ok(if installed.success() { Ok(()) } else { Err("npm could not install it".to_owned()) })
}
