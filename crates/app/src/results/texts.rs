//! The texts of a submission's files, as files.

use super::ResultError;
use crate::{app::App, error::AppResult};
use bindery_core::SubmissionId;
use serde_json::Value;
use std::{
    collections::HashSet,
    fs,
    path::{Component, Path, PathBuf},
};

/// Writes the text of each file that the result lists, and returns how many there were.
pub async fn write_texts(app: &App, id: SubmissionId, result: &Value, folder: &Path) -> AppResult<u64> {
    let files = result["files"].as_array().into_iter().flatten();
    let texts: Vec<(&str, &str)> =
        files.filter_map(|file| Some((file["name"].as_str()?, file["markdown"].as_str()?))).collect();
    if texts.is_empty() {
        return Err(ResultError::NoTexts { id }.into());
    }
    let cannot = |path: &Path, error| ResultError::Unwritable { path: path.to_owned(), error };
    let mut taken = HashSet::new();
    for (name, key) in &texts {
        let Some(artifact) = app.store().artifact(id, key).await? else {
            return Err(ResultError::TextMissing { id, key: (*key).to_owned() }.into());
        };
        let bytes = app.engine.blobs().get(artifact.hash).await?;
        let path = place(folder, name, &mut taken);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(|error| cannot(parent, error))?;
        }
        bindery_files::write(&path, bytes).map_err(|error| cannot(&path, error))?;
    }
    Ok(texts.len() as u64)
}

/// Where the text of a file goes: under its own name, never outside of the folder, and never over another's.
fn place(folder: &Path, name: &str, taken: &mut HashSet<PathBuf>) -> PathBuf {
    let inner: PathBuf = Path::new(name).components().filter(|part| matches!(part, Component::Normal(_))).collect();
    let inner = if inner.as_os_str().is_empty() { PathBuf::from("file") } else { inner };
    let with = |ending: &str| {
        let mut path = folder.join(&inner).into_os_string();
        path.push(ending);
        PathBuf::from(path)
    };
    let mut path = with(".md");
    let mut number = 2;
    while !taken.insert(path.clone()) {
        path = with(&format!(".{number}.md"));
        number += 1;
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_never_leads_out_of_the_folder_nor_over_another_text() {
        let mut taken = HashSet::new();
        let mut at = |name: &str| place(Path::new("out"), name, &mut taken).display().to_string();
        assert_eq!(at("a.pdf"), "out/a.pdf.md");
        assert_eq!(at("a.pdf"), "out/a.pdf.2.md");
        assert_eq!(at("papers.zip/2024/a.pdf"), "out/papers.zip/2024/a.pdf.md");
        assert_eq!(at("../../etc/passwd"), "out/etc/passwd.md");
        assert_eq!(at("/etc/passwd"), "out/etc/passwd.2.md");
        assert_eq!(at(".."), "out/file.md");
    }
}
