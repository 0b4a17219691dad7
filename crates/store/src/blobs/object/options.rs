//! How to reach object storage: settings by name, time-outs and retries.

use std::{collections::BTreeMap, fmt, time::Duration};

/// Environment variables that begin like this are settings of object storage.
const FAMILIES: &[&str] = &["AWS_", "GOOGLE_", "AZURE_"];

/// What is shown instead of a secret.
const HIDDEN: &str = "…";

/// How to reach object storage. Says nothing about where it is: that is the URL.
#[derive(Clone, PartialEq, Eq)]
pub struct ObjectOptions {
    /// Settings by their names in the environment, in lower case: `aws_access_key_id`, `aws_region`. Those in the URL
    /// come before these.
    settings: BTreeMap<String, String>,
    /// How long to wait for a connection.
    pub connect_timeout: Duration,
    /// How long one request may take, from the connection to the last byte.
    pub request_timeout: Duration,
    /// How often a request is repeated after a 5xx answer, throttling or a lost connection.
    pub retries: usize,
    /// How long after its first try a request may be repeated.
    pub retry_for: Duration,
    /// The wait before the first repetition. It doubles, with some chance in it, up to 15 seconds.
    pub backoff: Duration,
    /// Files larger than this are uploaded in parts of this size. At least 5 MiB, which is the services' smallest.
    pub part_size: usize,
    /// Whether a blob that is put again, or published, is read and hashed first. Without it the storage is trusted to
    /// keep what it was given, which saves a read and leaves damage to [`verify`](crate::blobs::Blobs::verify).
    pub check_existing: bool,
}

impl Default for ObjectOptions {
    fn default() -> Self {
        Self {
            settings: BTreeMap::new(),
            connect_timeout: Duration::from_secs(5),
            request_timeout: Duration::from_secs(120),
            retries: 5,
            retry_for: Duration::from_secs(60),
            backoff: Duration::from_millis(100),
            part_size: 8 << 20,
            check_existing: true,
        }
    }
}

impl ObjectOptions {
    /// The defaults with what the environment says.
    pub fn from_env() -> Self {
        let variables = std::env::vars_os();
        Self::from_variables(
            variables.filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?))),
        )
    }

    /// The defaults with those of the variables that concern object storage.
    pub fn from_variables(variables: impl IntoIterator<Item = (String, String)>) -> Self {
        let mut options = Self::default();
        for (name, value) in variables {
            if FAMILIES.iter().any(|family| name.starts_with(family)) && !value.is_empty() {
                options.settings.insert(name.to_lowercase(), value);
            }
        }
        options
    }

    /// Sets one setting, such as `aws_endpoint_url`.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<String>) -> Self {
        self.settings.insert(name.to_lowercase(), value.into());
        self
    }

    pub(super) fn settings(&self) -> impl Iterator<Item = (&str, &str)> {
        self.settings.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }
}

/// Whether a setting of this name must not be seen.
pub(super) fn is_secret(name: &str) -> bool {
    let name = name.to_lowercase();
    ["secret", "token", "key", "password", "sas", "credential"].iter().any(|word| name.contains(word))
        && !name.ends_with("access_key_id")
        && !name.ends_with("_file")
}

impl fmt::Debug for ObjectOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let show = |(name, value): (&'_ String, &'_ String)| {
            (name.clone(), if is_secret(name) { HIDDEN.to_owned() } else { value.clone() })
        };
        f.debug_struct("ObjectOptions")
            .field("settings", &self.settings.iter().map(show).collect::<BTreeMap<_, _>>())
            .field("connect_timeout", &self.connect_timeout)
            .field("request_timeout", &self.request_timeout)
            .field("retries", &self.retries)
            .field("retry_for", &self.retry_for)
            .field("backoff", &self.backoff)
            .field("part_size", &self.part_size)
            .field("check_existing", &self.check_existing)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_variables_of_object_storage_are_taken() {
        let variables = [("AWS_REGION", "eu-west-1"), ("HOME", "/root"), ("AWS_PROFILE", ""), ("AZURE_X", "y")];
        let options = ObjectOptions::from_variables(variables.map(|(name, value)| (name.to_owned(), value.to_owned())));
        let settings: Vec<_> = options.settings().collect();
        assert_eq!(settings, [("aws_region", "eu-west-1"), ("azure_x", "y")]);
    }

    #[test]
    fn secrets_are_not_shown() {
        let mut options = ObjectOptions::default();
        for name in
            ["AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AZURE_STORAGE_SAS_KEY", "GOOGLE_SERVICE_ACCOUNT_KEY"]
        {
            options = options.with(name, "hush");
        }
        let shown = format!("{:?}", options.with("aws_access_key_id", "AKIA1"));
        assert!(!shown.contains("hush"), "{shown}");
        assert!(shown.contains("AKIA1"), "who asks is no secret: {shown}");
    }
}
