//! Files and parts that a program returns: taken from its folder or its answer, checked, and kept.

use super::failure::megabytes;
use crate::{
    contract::answer::{ChildReturned, FileReturned},
    media::media_type,
    produced::{KeptFile, ProducedChild},
};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use bindery_core::StepError;
use bindery_engine::context::StepContext;
use std::{
    collections::BTreeMap,
    fs, io,
    path::{Component, Path, PathBuf},
};

/// The most files that one answer returns, and the most bytes of them all.
const MOST_FILES: usize = 10_000;
const MOST_BYTES: u64 = 2 * 1024 * 1024 * 1024;
/// How deep folders may lie in each other.
const DEEPEST: usize = 16;
/// A name longer than this helps nobody, and keys have to stay readable.
const LONGEST_PATH: usize = 300;

/// The files of an answer by their paths, kept. `folder` is the one that the program may have written into.
pub(super) fn keep_files(
    context: &StepContext,
    folder: Option<&Path>,
    listed: Vec<FileReturned>,
) -> Result<Vec<KeptFile>, StepError> {
    let mut found: BTreeMap<String, Source> = BTreeMap::new();
    let mut bytes = 0;
    if let Some(folder) = folder {
        list(folder, "", 0, &mut found, &mut bytes)?;
    }
    let mut types: BTreeMap<String, String> = BTreeMap::new();
    for (place, file) in listed.into_iter().enumerate() {
        let path = checked_path(&file.path, place, folder)?;
        match (file.content_base64, folder) {
            (Some(_), Some(_)) => {
                let message = format!("/files/{place}/content_base64: a command writes its files into `work.folder`");
                return Err(refusal(message));
            }
            (Some(content), None) => {
                let content = STANDARD.decode(content.as_bytes()).map_err(|error| {
                    refusal(format!("/files/{place}/content_base64: {path:?} is no base64: {error}"))
                })?;
                bytes += content.len() as u64;
                if found.insert(path.clone(), Source::Bytes(content)).is_some() {
                    return Err(refusal(format!("/files/{place}/path: {path:?} is there twice")));
                }
            }
            (None, Some(_)) if found.contains_key(&path) => {}
            (None, Some(_)) => {
                let message = format!("/files/{place}/path: there is no file {path:?} in `work.folder`");
                return Err(refusal(message));
            }
            (None, None) => {
                return Err(refusal(format!("/files/{place}: expected `content_base64`, the bytes of {path:?}")));
            }
        }
        types.extend(file.media_type.map(|media_type| (path, media_type)));
    }
    check_size(found.len(), bytes)?;
    let mut kept = Vec::with_capacity(found.len());
    for (path, source) in found {
        let stored = match source {
            Source::Bytes(bytes) => context.keep_blob(bytes)?,
            Source::File(file) => context.keep_file(&file)?,
        };
        let media_type = types.remove(&path).unwrap_or_else(|| media_type(&path).to_owned());
        kept.push(KeptFile { path, hash: stored.hash, size: stored.size, media_type });
    }
    Ok(kept)
}

enum Source {
    File(PathBuf),
    Bytes(Vec<u8>),
}

/// All files below a folder. Links and devices are refused: they lead to what the program was not asked for.
fn list(
    folder: &Path,
    prefix: &str,
    depth: usize,
    found: &mut BTreeMap<String, Source>,
    bytes: &mut u64,
) -> Result<(), StepError> {
    let unreadable = |error: io::Error| {
        StepError::retry(format!("what the program wrote cannot be read: {error}")).named("TemporaryFile")
    };
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        let name = entry.file_name();
        let Some(name) = name.to_str() else {
            return Err(refusal(format!("a file of `work.folder` has a name that is no UTF-8: {}", name.display())));
        };
        let path = if prefix.is_empty() { name.to_owned() } else { format!("{prefix}/{name}") };
        if path.len() > LONGEST_PATH || path.chars().any(char::is_control) {
            let message =
                format!("the name of a file in `work.folder` is too long or has control characters: {path:.80?}");
            return Err(refusal(message));
        }
        let metadata = fs::symlink_metadata(entry.path()).map_err(unreadable)?;
        let kind = metadata.file_type();
        if kind.is_dir() {
            if depth == DEEPEST {
                return Err(refusal(format!("the folders of `work.folder` are more than {DEEPEST} deep: {path}")));
            }
            list(&entry.path(), &path, depth + 1, found, bytes)?;
        } else if kind.is_file() {
            *bytes += metadata.len();
            found.insert(path, Source::File(entry.path()));
            check_size(found.len(), *bytes)?;
        } else {
            let what = if kind.is_symlink() { "a link" } else { "no plain file" };
            return Err(refusal(format!("{path:?} in `work.folder` is {what}; only files are kept")));
        }
    }
    Ok(())
}

fn check_size(files: usize, bytes: u64) -> Result<(), StepError> {
    if files > MOST_FILES || bytes > MOST_BYTES {
        let most = megabytes(MOST_BYTES);
        return Err(StepError::bug(format!("returned more than {MOST_FILES} files or {most}")).named("TooMuchOutput"));
    }
    Ok(())
}

/// A path below the folder, as it is listed; one that leads out of it is refused.
fn checked_path(path: &str, place: usize, folder: Option<&Path>) -> Result<String, StepError> {
    let own = folder.and_then(|folder| Path::new(path).strip_prefix(folder).ok()).unwrap_or(Path::new(path));
    let mut parts = Vec::new();
    for component in own.components() {
        match component {
            Component::Normal(part) => parts.push(part.to_string_lossy()),
            Component::CurDir => {}
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => {
                return Err(refusal(format!("/files/{place}/path: {path:?} leads out of `work.folder`")));
            }
        }
    }
    let joined = parts.join("/");
    if joined.is_empty() || joined.len() > LONGEST_PATH || joined.chars().any(char::is_control) {
        return Err(refusal(format!("/files/{place}/path: expected the name of a file, found {path:.80?}")));
    }
    Ok(joined)
}

/// The parts, each with its bytes among the files.
pub(super) fn children(returned: Vec<ChildReturned>, files: &[KeptFile]) -> Result<Vec<ProducedChild>, StepError> {
    let by_path: BTreeMap<&str, &KeptFile> = files.iter().map(|file| (file.path.as_str(), file)).collect();
    let mut keys = std::collections::HashSet::new();
    let child = |(place, child): (usize, ChildReturned)| {
        if let Some(key) = child.key.as_ref().filter(|key| !keys.insert((*key).clone())) {
            return Err(refusal(format!("/children/{place}/key: {key:?} is there twice")));
        }
        let content = child.file.as_deref().map(|path| {
            let file = by_path.get(path).ok_or_else(|| {
                refusal(format!("/children/{place}/file: there is no file {path:?} among those that were returned"))
            });
            file.map(|file| file.hash)
        });
        let ChildReturned { label, key, data, .. } = child;
        Ok(ProducedChild { label, key, content: content.transpose()?, data: data.unwrap_or_default() })
    };
    returned.into_iter().enumerate().map(child).collect()
}

/// The end of a sentence that begins with the program.
fn refusal(message: String) -> StepError {
    StepError::bug(message).named("BadAnswer")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    fn list_paths(folder: &Path) -> Result<Vec<String>, String> {
        let (mut found, mut bytes) = (BTreeMap::new(), 0);
        list(folder, "", 0, &mut found, &mut bytes).map_err(|error| error.message)?;
        Ok(found.into_keys().collect())
    }

    #[test]
    fn files_in_folders_are_found_and_links_refused() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("charts")).unwrap();
        fs::write(folder.path().join("charts/a.png"), b"x").unwrap();
        fs::write(folder.path().join("b.txt"), b"y").unwrap();
        assert_eq!(list_paths(folder.path()).unwrap(), ["b.txt", "charts/a.png"]);
        symlink("/etc/hostname", folder.path().join("charts/link")).unwrap();
        assert_eq!(
            list_paths(folder.path()).unwrap_err(),
            "\"charts/link\" in `work.folder` is a link; only files are kept"
        );
        fs::remove_file(folder.path().join("charts/link")).unwrap();
        drop(std::os::unix::net::UnixListener::bind(folder.path().join("socket")).unwrap());
        assert!(list_paths(folder.path()).unwrap_err().contains("\"socket\" in `work.folder` is no plain file"));
    }

    #[test]
    fn paths_that_lead_out_of_the_folder_are_refused() {
        let folder = Path::new("/tmp/given");
        assert_eq!(checked_path("a/b.png", 0, Some(folder)).unwrap(), "a/b.png");
        assert_eq!(checked_path("./a.png", 0, None).unwrap(), "a.png");
        assert_eq!(checked_path("/tmp/given/a.png", 0, Some(folder)).unwrap(), "a.png");
        for wrong in ["../a", "a/../../b", "/etc/passwd", "/tmp/given/../a"] {
            let error = checked_path(wrong, 3, Some(folder)).unwrap_err();
            assert_eq!(error.message, format!("/files/3/path: {wrong:?} leads out of `work.folder`"));
        }
        assert!(checked_path("", 0, Some(folder)).is_err() && checked_path("a\nb", 0, Some(folder)).is_err());
    }
}
