//! Where blobs are: a URL taken apart, and the keys in it.

use super::{ObjectError, ObjectOptions, options::is_secret};
use crate::blobs::open::{file_folder, percent_decoded};
use bindery_core::ContentHash;
use object_store::path::Path as Key;
use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    path::PathBuf,
};

/// Whose object storage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scheme {
    S3,
    Google,
    Azure,
    File,
}

impl Scheme {
    fn parse(text: &str) -> Option<Self> {
        Some(match text {
            "s3" | "s3a" => Self::S3,
            "gs" => Self::Google,
            "az" | "azure" | "abfs" | "abfss" => Self::Azure,
            "file" => Self::File,
            _ => return None,
        })
    }

    const fn as_str(self) -> &'static str {
        match self {
            Self::S3 => "s3",
            Self::Google => "gs",
            Self::Azure => "az",
            Self::File => "file",
        }
    }

    /// How the settings of this service begin in the environment.
    const fn family(self) -> &'static str {
        match self {
            Self::S3 => "aws_",
            Self::Google => "google_",
            Self::Azure => "azure_",
            Self::File => "file_",
        }
    }

    pub(super) const fn credentials_hint(self) -> &'static str {
        match self {
            Self::S3 => "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY to a valid pair",
            Self::Google => "set GOOGLE_APPLICATION_CREDENTIALS to the file of a service account",
            Self::Azure => "set AZURE_STORAGE_ACCOUNT_NAME and AZURE_STORAGE_ACCOUNT_KEY to a valid pair",
            Self::File => "check who owns the folder and its mode",
        }
    }
}

/// A bucket and a prefix in it, with the settings that lead there.
#[derive(Clone)]
pub(super) struct Place {
    scheme: Scheme,
    bucket: String,
    prefix: Key,
    endpoint: String,
    settings: BTreeMap<String, String>,
    from_url: BTreeSet<String>,
}

impl Place {
    /// Takes apart `s3://bucket/prefix?region=eu-west-1`. Settings in the URL come before those of the options.
    pub(super) fn parse(url: &str, options: &ObjectOptions) -> Result<Self, ObjectError> {
        // What follows the question mark may hold a secret that somebody put there against advice.
        let (address, query) = url.split_once('?').unwrap_or((url, ""));
        let bad = |reason: String| ObjectError::BadUrl { url: without_password(address), reason };
        let expected = "expected s3://bucket/prefix, gs://bucket/prefix, az://container/prefix or file:///folder";
        let (scheme, rest) = address.split_once("://").ok_or_else(|| bad(expected.to_owned()))?;
        let scheme = Scheme::parse(&scheme.to_lowercase()).ok_or_else(|| bad(expected.to_owned()))?;

        let mut settings: BTreeMap<String, String> = options
            .settings()
            .filter(|(name, _)| {
                !FAMILY_PREFIXES.iter().any(|it| name.starts_with(it)) || name.starts_with(scheme.family())
            })
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect();
        let mut from_url = BTreeSet::new();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) =
                pair.split_once('=').ok_or_else(|| bad("expected name=value after the ?".to_owned()))?;
            let name = name.to_lowercase();
            if is_secret(&name) {
                return Err(bad(format!("{name} is a secret: put it into the environment")));
            }
            let value = percent_decoded(value).ok_or_else(|| bad(format!("the value of {name} is not UTF-8")))?;
            let name = if name.starts_with(scheme.family()) { name } else { format!("{}{name}", scheme.family()) };
            from_url.insert(name.clone());
            settings.insert(name, value);
        }

        let (bucket, prefix) = if scheme == Scheme::File {
            (file_folder(rest).ok_or_else(|| bad("expected file:/// and the whole path".to_owned()))?, "")
        } else {
            let (bucket, prefix) = rest.split_once('/').unwrap_or((rest, ""));
            if bucket.is_empty() {
                return Err(bad("the bucket is missing".to_owned()));
            }
            if !bucket.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-_".contains(&byte)) {
                return Err(bad("the name of a bucket has letters, digits, dots and dashes only".to_owned()));
            }
            (bucket.to_owned(), prefix)
        };
        let prefix = Key::parse(prefix.trim_matches('/')).map_err(|_| {
            bad("the prefix has empty, . or .. segments, or characters that keys cannot have".to_owned())
        })?;
        let endpoint = endpoint(scheme, &bucket, &settings);
        Ok(Self { scheme, bucket, prefix, endpoint, settings, from_url })
    }

    pub(super) fn scheme(&self) -> Scheme {
        self.scheme
    }

    pub(super) fn bucket(&self) -> &str {
        &self.bucket
    }

    /// What every key begins with; empty for the whole bucket.
    pub(super) fn prefix(&self) -> &Key {
        &self.prefix
    }

    /// The folder of a `file://` URL.
    pub(super) fn folder(&self) -> PathBuf {
        PathBuf::from(&self.bucket)
    }

    /// Whom requests go to, for people.
    pub(super) fn endpoint(&self) -> &str {
        &self.endpoint
    }

    pub(super) fn settings(&self) -> impl Iterator<Item = (&str, &str)> {
        self.settings.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    pub(super) fn setting(&self, name: &str) -> Option<&str> {
        self.settings.get(name).map(String::as_str)
    }

    /// Whether a setting was written into the URL, by somebody who meant it.
    pub(super) fn is_from_url(&self, name: &str) -> bool {
        self.from_url.contains(name)
    }

    /// Where all blobs are.
    pub(super) fn blobs(&self) -> Key {
        self.prefix.clone().join("sha256")
    }

    /// An object that is written to learn the time of the service.
    pub(super) fn clock(&self) -> Key {
        self.prefix.clone().join("clock")
    }

    /// Where a blob is: two digits of its hash, then the other 62.
    pub(super) fn blob(&self, hash: ContentHash) -> Key {
        let digits = hash.to_string();
        self.blobs().join(&digits[..2]).join(&digits[2..])
    }

    /// Where the blobs are whose hashes begin with this byte.
    pub(super) fn shard(&self, first_byte: u8) -> Key {
        self.blobs().join(format!("{first_byte:02x}"))
    }

    /// The blob at a key, if the store would give it that key. Others are somebody else's objects.
    pub(super) fn hash(&self, key: &Key) -> Option<ContentHash> {
        let digits: String = key.prefix_match(&self.blobs())?.map(|part| part.as_ref().to_owned()).collect();
        let hash: ContentHash = digits.parse().ok()?;
        (self.blob(hash) == *key).then_some(hash)
    }

    /// A key that others read, below the prefix.
    pub(super) fn outward(&self, key: &Key) -> Key {
        self.prefix.parts().chain(key.parts()).collect()
    }

    /// The whole address of a key, for people.
    pub(super) fn location(&self, key: &Key) -> String {
        format!("{}://{}/{key}", self.scheme.as_str(), self.bucket.trim_end_matches('/'))
    }
}

const FAMILY_PREFIXES: &[&str] = &["aws_", "google_", "azure_"];

fn endpoint(scheme: Scheme, bucket: &str, settings: &BTreeMap<String, String>) -> String {
    let set = |names: &[&str]| names.iter().find_map(|name| settings.get(*name)).map(|url| without_password(url));
    match scheme {
        Scheme::S3 => set(S3_ENDPOINTS).unwrap_or_else(|| "Amazon S3".to_owned()),
        Scheme::Google => set(&["google_base_url"]).unwrap_or_else(|| "Google Cloud Storage".to_owned()),
        Scheme::Azure => {
            set(&["azure_storage_endpoint", "azure_endpoint"]).unwrap_or_else(|| "Azure Blob Storage".to_owned())
        }
        Scheme::File => bucket.to_owned(),
    }
}

/// The names under which an S3 endpoint may be set, the most exact first.
pub(super) const S3_ENDPOINTS: &[&str] =
    &["aws_endpoint_url_s3", "aws_endpoint_url", "aws_endpoint", "endpoint_url", "endpoint"];

/// `http://user:password@host/` without what is before the `@`.
fn without_password(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    let authority = rest.split('/').next().unwrap_or(rest);
    let after = authority.rfind('@').map_or(rest, |at| &rest[at + 1..]);
    format!("{scheme}://{after}")
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.location(&self.prefix).trim_end_matches('/'))
    }
}

impl fmt::Debug for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Settings hold secrets.
        f.debug_struct("Place")
            .field("url", &self.to_string())
            .field("endpoint", &self.endpoint)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(url: &str) -> Result<Place, ObjectError> {
        Place::parse(url, &ObjectOptions::default().with("aws_region", "eu-west-1").with("azure_x", "y"))
    }

    #[test]
    fn a_url_has_a_bucket_a_prefix_and_settings() {
        let place = parse("s3://papers/in/2026/?region=us-east-2&endpoint_url=http%3A%2F%2Flocalhost:9000").unwrap();
        assert_eq!((place.scheme(), place.bucket(), place.prefix.as_ref()), (Scheme::S3, "papers", "in/2026"));
        assert_eq!(place.setting("aws_region"), Some("us-east-2"), "the URL comes first");
        assert_eq!(place.setting("azure_x"), None, "the settings of another service");
        assert_eq!(place.endpoint(), "http://localhost:9000");
        assert_eq!(place.to_string(), "s3://papers/in/2026");
    }

    #[test]
    fn the_hash_is_the_key_and_back() {
        let place = parse("gs://papers/in").unwrap();
        let hash = ContentHash::of(b"");
        let key = place.blob(hash);
        assert_eq!(key.as_ref(), "in/sha256/e3/b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
        assert_eq!(place.hash(&key), Some(hash));
        for other in [key.as_ref().to_uppercase(), key.as_ref().replace("e3/b0", "e3b0"), "in/sha256/e3/x".to_owned()] {
            assert_eq!(place.hash(&Key::from(other)), None);
        }
    }

    #[test]
    fn what_is_no_place_is_refused_in_a_sentence() {
        for (url, reason) in [
            ("papers", "expected s3://bucket/prefix"),
            ("ftp://papers", "expected s3://bucket/prefix"),
            ("s3:///prefix", "the bucket is missing"),
            ("s3://pa pers/", "the name of a bucket"),
            ("s3://papers/a/../b", "the prefix has"),
            ("s3://papers/a//b", "the prefix has"),
            ("s3://papers?region", "expected name=value"),
            ("file://papers", "expected file:/// and the whole path"),
        ] {
            let sentence = parse(url).unwrap_err().to_string();
            assert!(sentence.contains(reason), "{url}: {sentence}");
        }
    }

    #[test]
    fn secrets_do_not_belong_in_a_url_and_are_not_repeated() {
        let sentence = parse("s3://papers?secret_access_key=hush").unwrap_err().to_string();
        assert_eq!(
            sentence,
            "s3://papers is no place for blobs: secret_access_key is a secret: put it into the environment"
        );
        assert!(!parse("s3://me:hush@papers").unwrap_err().to_string().contains("hush"));
        let place = parse("s3://papers?endpoint=http://me:hush@host:9000").unwrap();
        assert_eq!(place.endpoint(), "http://host:9000");
        assert!(!format!("{place:?}").contains("hush"));
    }
}
