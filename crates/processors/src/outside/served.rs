//! Files that endpoints fetch by a URL while they work on a request: a token for each, which ends with the call.
//!
//! Whoever answers HTTP on this machine looks tokens up here ([`find`]). Nothing is served before [`announce`] has said
//! where this process is reached; until then endpoints get bytes inside their requests.

use std::{
    collections::HashMap,
    fmt::Write as _,
    fs::File,
    io::{self, Read as _},
    path::{Path, PathBuf},
    sync::{Mutex, OnceLock, PoisonError},
};

/// Where files are found under the address of this process.
pub const ROUTE: &str = "/files";

static ADDRESS: OnceLock<String> = OnceLock::new();
static FILES: Mutex<Option<HashMap<String, ServedFile>>> = Mutex::new(None);

/// A file that is served.
#[derive(Debug, Clone)]
pub struct ServedFile {
    pub path: PathBuf,
    pub media_type: String,
}

/// Says where endpoints reach this process: `http://host:port`. Only the first word counts.
pub fn announce(address: &str) {
    let _ = ADDRESS.set(address.trim_end_matches('/').to_owned());
}

/// Whether there is anywhere to fetch files from.
pub(super) fn is_announced() -> bool {
    ADDRESS.get().is_some()
}

/// What a token stands for; none once its call has ended.
pub fn find(token: &str) -> Option<ServedFile> {
    FILES.lock().unwrap_or_else(PoisonError::into_inner).as_ref()?.get(token).cloned()
}

/// A file under a URL, for as long as this is kept.
#[derive(Debug)]
pub(super) struct Served {
    token: String,
    pub(super) url: String,
}

impl Served {
    /// None where nobody can fetch it.
    pub(super) fn file(path: &Path, media_type: &str) -> io::Result<Option<Self>> {
        let Some(address) = ADDRESS.get() else { return Ok(None) };
        let token = random_token()?;
        let url = format!("{address}{ROUTE}/{token}");
        let file = ServedFile { path: path.to_owned(), media_type: media_type.to_owned() };
        FILES.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_default().insert(token.clone(), file);
        Ok(Some(Self { token, url }))
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        if let Some(files) = &mut *FILES.lock().unwrap_or_else(PoisonError::into_inner) {
            files.remove(&self.token);
        }
    }
}

/// 256 bits of the system's own randomness: whoever can guess one could read what is served.
fn random_token() -> io::Result<String> {
    let mut bytes = [0; 32];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes.iter().fold(String::with_capacity(64), |mut token, byte| {
        let _ = write!(token, "{byte:02x}");
        token
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_served_as_long_as_its_call_lasts() {
        announce("http://127.0.0.1:9090/");
        let served = Served::file(Path::new("/tmp/a.pdf"), "application/pdf").unwrap().unwrap();
        let token = served.url.strip_prefix("http://127.0.0.1:9090/files/").unwrap().to_owned();
        assert_eq!(find(&token).unwrap().path, Path::new("/tmp/a.pdf"));
        assert_ne!(Served::file(Path::new("/tmp/a.pdf"), "application/pdf").unwrap().unwrap().url, served.url);
        drop(served);
        assert!(find(&token).is_none());
    }
}
