//! Writing a recording.

use super::{
    INDEX, RecordingError,
    line::{Failed, Line, Method, end_for},
};
use crate::client::{
    address,
    error::Failure,
    transport::{Answer, Asked, Transport},
};
use bindery_http::Timer;
use std::{
    collections::BTreeMap,
    fs::{self, File, OpenOptions},
    io::Write as _,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

/// What is kept of an answer's headers: what reading the pages again needs. Cookies are nobody's business.
const KEPT_HEADERS: [&str; 5] = ["etag", "last-modified", "location", "retry-after", "content-disposition"];
/// Headers by which a server may answer "as you know it". A recording is complete, so they are not sent.
const CONDITIONS: [&str; 2] = ["if-none-match", "if-modified-since"];
const LONGEST_NAME: usize = 80;

/// Asks another transport, and keeps what is said.
#[derive(Debug)]
pub struct Recording {
    inner: Arc<dyn Transport>,
    timer: Arc<dyn Timer>,
    folder: PathBuf,
    index: Mutex<Index>,
}

#[derive(Debug)]
struct Index {
    file: File,
    written: usize,
}

impl Recording {
    /// Begins a recording in a folder, which is made if it is not there.
    pub fn begin(inner: Arc<dyn Transport>, timer: Arc<dyn Timer>, folder: &Path) -> Result<Self, RecordingError> {
        let io = |path: &Path| {
            let path = path.to_owned();
            |error| RecordingError::Io { path, error }
        };
        fs::create_dir_all(folder).map_err(io(folder))?;
        let path = folder.join(INDEX);
        let file = match OpenOptions::new().create_new(true).append(true).open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
                return Err(RecordingError::Occupied(folder.to_owned()));
            }
            Err(error) => return Err(io(&path)(error)),
        };
        Ok(Self { inner, timer, folder: folder.to_owned(), index: Mutex::new(Index { file, written: 0 }) })
    }

    /// The body first: a line never names a file that is not there.
    fn keep(&self, asked: &Asked, said: &Result<Answer, Failure>) -> std::io::Result<()> {
        let mut line = Line {
            at: Some(self.timer.wall_clock()),
            url: address::redact(&asked.url),
            method: asked.is_head.then_some(Method::Head),
            sent: asked.body.as_ref().map(|body| address::shown_body(&body.text)),
            ..Line::default()
        };
        // One at a time: the order of lines is the order in which a replay answers.
        let mut index = self.index.lock().unwrap_or_else(PoisonError::into_inner);
        match said {
            Ok(answer) => {
                line.status = Some(answer.status).filter(|status| *status != 200);
                line.content_type = answer.header("content-type").map(ToOwned::to_owned);
                line.headers = kept_headers(answer);
                // Of others, the body says how long it is.
                if let Some(length) = answer.header("content-length").filter(|_| asked.is_head) {
                    line.headers.insert("content-length".to_owned(), length.to_owned());
                }
                if !answer.bytes.is_empty() {
                    let end = end_for(line.content_type.as_deref(), &answer.bytes);
                    let name = format!("{:04}-{}.{end}", index.written + 1, readable(&line.url));
                    bindery_files::write(self.folder.join(&name), without_secrets(&asked.url, &answer.bytes))?;
                    line.body = Some(name);
                }
            }
            Err(failure) => match Failed::from_failure(failure) {
                Some(failed) => line.failure = Some(failed),
                None => return Ok(()),
            },
        }
        let mut text = serde_json::to_string(&line)?;
        text.push('\n');
        index.file.write_all(text.as_bytes())?;
        index.written += 1;
        Ok(())
    }
}

impl Transport for Recording {
    fn exchange(&self, asked: &Asked) -> Result<Answer, Failure> {
        let mut whole = asked.clone();
        whole.headers.retain(|(name, _)| !CONDITIONS.contains(&name.as_str()));
        let said = self.inner.exchange(&whole);
        self.keep(asked, &said).map_err(|error| Failure::Recording(format!("{}: {error}", self.folder.display())))?;
        said
    }
}

fn kept_headers(answer: &Answer) -> BTreeMap<String, String> {
    let kept = answer.headers.iter().filter(|(name, _)| KEPT_HEADERS.contains(&name.as_str()));
    kept.map(|(name, value)| (name.clone(), address::redact(value))).collect()
}

/// A page may repeat the token that it was asked with.
fn without_secrets(url: &str, bytes: &[u8]) -> Vec<u8> {
    let secrets = address::secrets(url);
    match std::str::from_utf8(bytes) {
        Ok(text) if secrets.iter().any(|secret| text.contains(secret.as_str())) => {
            let text = secrets.iter().fold(text.to_owned(), |text, secret| text.replace(secret, address::HIDDEN));
            text.into_bytes()
        }
        _ => bytes.to_vec(),
    }
}

/// The address as the middle of a file's name.
fn readable(url: &str) -> String {
    let url = url.split_once("://").map_or(url, |(_, rest)| rest);
    let mut name = String::new();
    for letter in url.chars().take(LONGEST_NAME * 2) {
        let letter = if letter.is_ascii_alphanumeric() || "._".contains(letter) { letter } else { '-' };
        if letter != '-' || !name.ends_with('-') {
            name.push(letter);
        }
    }
    name.truncate(LONGEST_NAME);
    name.trim_matches(['-', '.']).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_named_for_people() {
        assert_eq!(
            readable("https://webapi.legistar.com/v1/seattle/Events?$top=5&x=%20"),
            "webapi.legistar.com-v1-seattle-Events-top-5-x-20"
        );
        assert_eq!(readable("https://example.com/"), "example.com");
        assert!(readable(&"x".repeat(500)).len() <= LONGEST_NAME);
        assert_eq!(end_for(Some("text/html; charset=utf-8"), b" [1]"), "json");
        assert_eq!(end_for(Some("text/HTML; charset=utf-8"), b"<p>"), "html");
        assert_eq!(end_for(Some("application/atom+xml"), b"<feed>"), "xml");
        assert_eq!(end_for(None, b"x"), "bin");
    }
}
