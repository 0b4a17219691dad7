//! New requests: a message under `request.new` starts one.
//!
//! The message is the envelope of all others. Its `request_id` is the sender's own id, under which the submission is known
//! from then on, so that the same message again changes nothing. Whoever runs the transport says how files are taken in.

use async_trait::async_trait;
use bindery_engine::message::PipelineMessage;
use serde_json::{Map, Value};
use std::{
    fmt,
    path::{Path, PathBuf},
};

/// A request as its message describes it.
#[derive(Debug, Clone, PartialEq)]
pub struct NewRequest {
    pub request_id: String,
    /// None: the workflow `default`.
    pub workflow: Option<String>,
    pub channel: Option<String>,
    pub file: PathBuf,
    /// What the file is called, if that is not its name.
    pub original_filename: Option<String>,
    /// The sender's, with the fields of the envelope that are none of ours.
    pub metadata: Map<String, Value>,
}

/// Why a request was not started.
#[derive(Debug)]
pub enum Refused {
    /// Trying again later may work.
    Later(String),
    /// It will never work; the message is a dead letter.
    Useless(String),
}

/// Starts requests.
#[async_trait]
pub trait Requests: Send + Sync + fmt::Debug {
    /// Takes a request in. Durable when it returns; the same request again changes nothing.
    async fn start(&self, request: NewRequest) -> Result<(), Refused>;
}

/// What a message asks for, with a file below `files`; the error is a sentence about what is wrong with it.
pub(crate) fn read(message: PipelineMessage, files: Option<&Path>) -> Result<NewRequest, String> {
    let PipelineMessage { request_id, workflow_name, payload, others, .. } = message;
    if request_id.trim().is_empty() {
        return Err("request_id: expected the sender's id of the request, found an empty text".to_owned());
    }
    let Value::Object(mut payload) = payload else {
        return Err("payload: expected an object with file_path, and may have original_filename, channel and metadata"
            .to_owned());
    };
    let path = text(&mut payload, "file_path")?.ok_or("payload.file_path is missing")?;
    let file = resolve_path(files, Path::new(&path))?;
    let original_filename = text(&mut payload, "original_filename")?;
    let channel = text(&mut payload, "channel")?;
    let mut metadata = match payload.remove("metadata") {
        None | Some(Value::Null) => Map::new(),
        Some(Value::Object(metadata)) => metadata,
        Some(other) => return Err(format!("payload.metadata: expected an object, found {other:.100}")),
    };
    if !others.is_empty() {
        metadata.insert("envelope".to_owned(), Value::Object(others));
    }
    Ok(NewRequest { request_id, workflow: workflow_name, channel, file, original_filename, metadata })
}

fn text(fields: &mut Map<String, Value>, name: &str) -> Result<Option<String>, String> {
    match fields.remove(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) if !text.trim().is_empty() => Ok(Some(text)),
        Some(other) => Err(format!("payload.{name}: expected a text, found {other:.100}")),
    }
}

/// The file that a path means. A message comes from somebody else: nothing outside of the folder is read for it, whatever
/// the path says and wherever links lead.
fn resolve_path(files: Option<&Path>, path: &Path) -> Result<PathBuf, String> {
    let Some(folder) = files else {
        return Err(
            "payload.file_path: no folder is given to take files from; start the worker with ?files=FOLDER in \
                    the broker's address"
                .to_owned(),
        );
    };
    let unreadable = |what: &Path, error: std::io::Error| format!("{} cannot be read: {error}", what.display());
    let folder = folder.canonicalize().map_err(|error| unreadable(folder, error))?;
    // Of a path outside nothing is said but that it is one, not even whether it exists.
    let outside = || format!("payload.file_path: {} is not below the folder of the requests' files", path.display());
    let whole = folder.join(path);
    let climbs = path.components().any(|part| part == std::path::Component::ParentDir);
    if climbs || !whole.starts_with(&folder) {
        return Err(outside());
    }
    let file = whole.canonicalize().map_err(|error| unreadable(path, error))?;
    if !file.starts_with(&folder) {
        return Err(outside());
    }
    if file.is_file() { Ok(file) } else { Err(format!("payload.file_path: {} is no file", path.display())) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn parse_request(payload: &Value, files: Option<&Path>) -> Result<NewRequest, String> {
        let message = json!({"request_id": "r-1", "workflow_name": "words", "payload": payload, "tenant": 7});
        read(serde_json::from_value(message).unwrap(), files)
    }

    #[test]
    fn a_request_is_read_from_its_message() {
        let folder = tempfile::tempdir().unwrap();
        let real = folder.path().canonicalize().unwrap();
        std::fs::create_dir(real.join("r-1")).unwrap();
        std::fs::write(real.join("r-1/a.txt"), "a").unwrap();
        let payload = json!({"file_path": "r-1/a.txt", "original_filename": "b.txt", "metadata": {"from": "mail"}});
        let request = parse_request(&payload, Some(folder.path())).unwrap();
        assert_eq!((request.file, request.workflow.as_deref()), (real.join("r-1/a.txt"), Some("words")));
        assert_eq!(Value::Object(request.metadata), json!({"from": "mail", "envelope": {"tenant": 7}}));
        let whole = json!({"file_path": real.join("r-1/a.txt")});
        assert_eq!(
            parse_request(&whole, Some(folder.path())).unwrap().file,
            real.join("r-1/a.txt"),
            "as the gateway writes it"
        );
    }

    #[test]
    fn nothing_outside_the_folder_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let secret = tempfile::NamedTempFile::new().unwrap();
        std::os::unix::fs::symlink(secret.path(), folder.path().join("link")).unwrap();
        let said = |path: &str| parse_request(&json!({"file_path": path}), Some(folder.path())).unwrap_err();
        for path in ["../x", "/etc/passwd", "/no/such/file", "link", "a/../../x"] {
            assert!(said(path).contains("is not below the folder"), "{path}: {}", said(path));
        }
        assert!(said("nothing").contains("nothing cannot be read"));
        assert!(said(".").contains("is no file"));
        assert!(parse_request(&json!({"file_path": "a"}), None).unwrap_err().contains("?files=FOLDER"));
    }

    #[test]
    fn what_is_wrong_is_named() {
        let said = |payload: Value| parse_request(&payload, None).unwrap_err();
        assert!(said(json!(null)).contains("payload: expected an object"));
        assert_eq!(said(json!({})), "payload.file_path is missing");
        assert_eq!(said(json!({"file_path": 7})), "payload.file_path: expected a text, found 7");
    }
}
