//! Answering from a recording, and from nothing else.

use super::{
    INDEX, RecordingError,
    line::{Line, Method, type_of},
};
use crate::client::{
    address,
    error::Failure,
    transport::{Answer, Asked, Transport},
};
use bindery_core::time::Timestamp;
use std::{
    collections::HashMap,
    fs,
    path::{Component, Path, PathBuf},
    sync::{Mutex, PoisonError},
};

/// A folder that answers. What was recorded several times is answered in that order, and the last of it from then on.
#[derive(Debug)]
pub struct Replaying {
    folder: PathBuf,
    exact: HashMap<Key, Vec<Line>>,
    /// Addresses that end with a star, in the order of the file.
    open: Vec<(Key, Vec<Line>)>,
    /// How often each was asked for.
    asked: Mutex<HashMap<Key, usize>>,
    began_at: Option<Timestamp>,
}

/// What is asked for: the address without its secrets, and what is sent.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Key {
    url: String,
    sent: Option<String>,
    is_head: bool,
}

impl Replaying {
    /// Opens a recording. All of it is checked, so that nothing is amiss half-way.
    pub fn open(folder: &Path) -> Result<Self, RecordingError> {
        let path = folder.join(INDEX);
        let text = fs::read_to_string(&path).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => RecordingError::NoRecording(folder.to_owned()),
            _ => RecordingError::Io { path: path.clone(), error },
        })?;
        let (asked, began_at) = (Mutex::default(), None);
        let mut replaying =
            Self { folder: folder.to_owned(), exact: HashMap::new(), open: Vec::new(), asked, began_at };
        for (number, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let added =
                serde_json::from_str(line).map_err(|error| error.to_string()).and_then(|line| replaying.add(line));
            added.map_err(|what| RecordingError::Line { path: path.clone(), line: number + 1, what })?;
        }
        Ok(replaying)
    }

    /// When the first exchange took place, if the recording says so: the day that "today" was then.
    pub fn began_at(&self) -> Option<Timestamp> {
        self.began_at
    }

    fn add(&mut self, line: Line) -> Result<(), String> {
        let bodies = [line.body.is_some(), line.text.is_some(), line.json.is_some(), line.failure.is_some()];
        if bodies.iter().filter(|there| **there).count() > 1 {
            return Err("give one of body, text, json and failure".to_owned());
        }
        if let Some(body) = &line.body {
            let is_inside = Path::new(body).components().all(|part| matches!(part, Component::Normal(_)));
            if !is_inside {
                return Err(format!("body should name a file in the folder of the recording, not {body:?}"));
            }
            if !self.folder.join(body).is_file() {
                return Err(format!("there is no file {body:?}"));
            }
        }
        self.began_at = self.began_at.or(line.at);
        if line.sent.is_some() != (line.method == Some(Method::Post)) && line.method.is_some() {
            return Err("a POST sends something, give `sent`; a GET and a HEAD do not".to_owned());
        }
        let sent = line.sent.as_deref().map(address::shown_body);
        let is_head = line.method == Some(Method::Head);
        if let Some(beginning) = line.url.strip_suffix('*') {
            let key = Key { url: plain(beginning), sent, is_head };
            match self.open.iter_mut().find(|(known, _)| *known == key) {
                Some((_, lines)) => lines.push(line),
                None => self.open.push((key, vec![line])),
            }
        } else {
            let uri = address::checked(&line.url).map_err(|why| format!("url {why}"))?;
            let key = Key { url: plain(&uri.to_string()), sent, is_head };
            self.exact.entry(key).or_default().push(line);
        }
        Ok(())
    }

    fn find(&self, key: &Key) -> Option<&Line> {
        let (key, lines) = if let Some(lines) = self.exact.get(key) {
            (key, lines)
        } else {
            // Without saying what is sent, a line with a star answers whatever is.
            let fits = |known: &Key| {
                let is_sent = known.sent.is_none() || known.sent == key.sent;
                key.url.starts_with(known.url.as_str()) && is_sent && known.is_head == key.is_head
            };
            let (key, lines) = self.open.iter().find(|(known, _)| fits(known))?;
            (key, lines)
        };
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        let times = asked.entry(key.clone()).or_default();
        let line = lines.get(*times).or(lines.last());
        *times += 1;
        line
    }

    fn answer(&self, line: &Line, limit: u64) -> Result<Answer, Failure> {
        if let Some(failed) = &line.failure {
            return Err(failed.failure());
        }
        let recording = |error: String| Failure::Recording(format!("{}: {error}", self.folder.display()));
        let (bytes, kind) = if let Some(name) = &line.body {
            let path = self.folder.join(name);
            let size = fs::metadata(&path).map_err(|error| recording(format!("{name}: {error}")))?.len();
            if size > limit {
                return Err(Failure::TooLarge { limit, said: Some(size) });
            }
            (fs::read(&path).map_err(|error| recording(format!("{name}: {error}")))?, type_of(name))
        } else if let Some(json) = &line.json {
            (json.to_string().into_bytes(), Some("application/json"))
        } else {
            (line.text.clone().unwrap_or_default().into_bytes(), None)
        };
        let mut headers: Vec<(String, String)> =
            line.headers.iter().map(|(name, value)| (name.to_ascii_lowercase(), value.clone())).collect();
        if let Some(kind) = line.content_type.as_deref().or(kind) {
            headers.push(("content-type".to_owned(), kind.to_owned()));
        }
        Ok(Answer { status: line.status.unwrap_or(200), headers, bytes })
    }
}

impl Transport for Replaying {
    fn exchange(&self, asked: &Asked) -> Result<Answer, Failure> {
        let sent = asked.body.as_ref().map(|body| address::shown_body(&body.text));
        let key = Key { url: plain(&asked.url), sent, is_head: asked.is_head };
        match self.find(&key) {
            Some(line) => self.answer(line, asked.limits.bytes),
            None => Err(Failure::NotRecorded {
                folder: self.folder.display().to_string(),
                method: asked.method(),
                sent: key.sent.map(|sent| format!(" that sends {sent:?}")).unwrap_or_default(),
            }),
        }
    }
}

/// An address as it is compared: without secrets, and with the host in small letters.
fn plain(url: &str) -> String {
    let shown = address::redact(url);
    let Some((scheme, rest)) = shown.split_once("://") else { return shown };
    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    let (host, path) = rest.split_at(end);
    format!("{}://{}{path}", scheme.to_ascii_lowercase(), host.to_ascii_lowercase())
}
