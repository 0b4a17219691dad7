//! From a place and its options to a client.

use super::{
    ObjectError, ObjectOptions,
    place::{Place, S3_ENDPOINTS, Scheme},
};
use crate::blobs::{BlobError, files::create_directory};
use object_store::{
    BackoffConfig, ClientConfigKey, ClientOptions, ObjectStore, RetryConfig,
    aws::{AmazonS3Builder, AmazonS3ConfigKey},
    azure::{AzureConfigKey, MicrosoftAzureBuilder},
    gcp::{GoogleCloudStorageBuilder, GoogleConfigKey},
    local::LocalFileSystem,
};
use std::{str::FromStr, sync::Arc, time::Duration};

const LONGEST_BACKOFF: Duration = Duration::from_secs(15);

/// Any of these, and S3 has somewhere to get credentials from other than the machine it runs on.
const S3_CREDENTIALS: &[&str] = &[
    "aws_access_key_id",
    "aws_secret_access_key",
    "aws_web_identity_token_file",
    "aws_container_credentials_relative_uri",
    "aws_container_credentials_full_uri",
    "aws_skip_signature",
];

/// Makes the client. Sends nothing yet.
pub(super) fn connect(place: &Place, options: &ObjectOptions) -> Result<Arc<dyn ObjectStore>, BlobError> {
    // The client asks the process for its cryptography. Whoever chose one before keeps it.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = client(place, options);
    let on_error = |error: object_store::Error| misconfigured(place, &error);
    Ok(match place.scheme() {
        Scheme::S3 => {
            require_s3_credentials(place)?;
            let mut builder = AmazonS3Builder::new().with_client_options(client).with_retry(retries(options));
            for (key, value) in settings_for::<AmazonS3ConfigKey>(place)? {
                builder = builder.with_config(key, value);
            }
            Arc::new(builder.with_bucket_name(place.bucket()).build().map_err(on_error)?)
        }
        Scheme::Google => {
            let mut builder = GoogleCloudStorageBuilder::new().with_client_options(client).with_retry(retries(options));
            for (key, value) in settings_for::<GoogleConfigKey>(place)? {
                builder = builder.with_config(key, value);
            }
            Arc::new(builder.with_bucket_name(place.bucket()).build().map_err(on_error)?)
        }
        Scheme::Azure => {
            let mut builder = MicrosoftAzureBuilder::new().with_client_options(client).with_retry(retries(options));
            for (key, value) in settings_for::<AzureConfigKey>(place)? {
                builder = builder.with_config(key, value);
            }
            Arc::new(builder.with_container_name(place.bucket()).build().map_err(on_error)?)
        }
        Scheme::File => {
            let folder = place.folder();
            create_directory(&folder)?;
            Arc::new(LocalFileSystem::new_with_prefix(&folder).map_err(on_error)?.with_fsync(true))
        }
    })
}

fn client(place: &Place, options: &ObjectOptions) -> ClientOptions {
    let client = ClientOptions::new()
        .with_connect_timeout(options.connect_timeout)
        .with_timeout(options.request_timeout)
        .with_user_agent(http_user_agent());
    // Whoever writes http:// into an endpoint means it.
    if place.endpoint().starts_with("http://") {
        return client.with_config(ClientConfigKey::AllowHttp, "true");
    }
    client
}

fn http_user_agent() -> reqwest::header::HeaderValue {
    reqwest::header::HeaderValue::from_static(concat!("bindery/", env!("CARGO_PKG_VERSION")))
}

fn retries(options: &ObjectOptions) -> RetryConfig {
    RetryConfig {
        backoff: BackoffConfig {
            init_backoff: options.backoff.min(LONGEST_BACKOFF),
            max_backoff: LONGEST_BACKOFF,
            base: 2.0,
        },
        max_retries: options.retries,
        retry_timeout: options.retry_for,
    }
}

/// The settings that the library knows. Of those that it does not, only what somebody wrote into the URL is an error:
/// the environment holds variables for other programs too.
fn settings_for<K: FromStr>(place: &Place) -> Result<Vec<(K, String)>, ObjectError> {
    let mut known = Vec::new();
    for (name, value) in place.settings() {
        match name.parse() {
            Ok(key) => known.push((key, value.to_owned())),
            Err(_) if place.is_from_url(name) => {
                let reason = "is not known".to_owned();
                return Err(ObjectError::BadSetting { place: place.to_string(), name: name.to_owned(), reason });
            }
            Err(_) => tracing::debug!(setting = name, "a variable that object storage does not use"),
        }
    }
    Ok(known)
}

/// Fails early where the library would ask a metadata service that only Amazon's machines have, for minutes.
fn require_s3_credentials(place: &Place) -> Result<(), ObjectError> {
    let is_amazon = !S3_ENDPOINTS.iter().any(|name| place.setting(name).is_some());
    if is_amazon || S3_CREDENTIALS.iter().any(|name| place.setting(name).is_some()) {
        return Ok(());
    }
    Err(ObjectError::NoCredentials { place: place.to_string(), hint: place.scheme().credentials_hint() })
}

/// The builders refuse what is missing or malformed. Their messages may repeat values, so only the known ones pass.
fn misconfigured(place: &Place, error: &object_store::Error) -> BlobError {
    let text = error.to_string();
    let lowered = text.to_lowercase();
    let hint = place.scheme().credentials_hint();
    let missing = ["Missing AccessKeyId", "Missing SecretAccessKey", "Account must be specified"];
    let ours = if missing.iter().any(|it| text.contains(it)) {
        ObjectError::NoCredentials { place: place.to_string(), hint }
    } else if ["container", "credential", "account", "key", "decode"].iter().any(|it| lowered.contains(it)) {
        ObjectError::Refused { place: place.to_string(), code: "malformed".to_owned(), hint }
    } else {
        ObjectError::BadSetting {
            place: place.to_string(),
            name: "endpoint or a time-out".to_owned(),
            reason: "is malformed".to_owned(),
        }
    };
    ours.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sentence(url: &str, options: &ObjectOptions) -> String {
        let place = Place::parse(url, options).unwrap();
        connect(&place, options).unwrap_err().to_string()
    }

    #[test]
    fn an_endpoint_without_credentials_is_refused_at_once() {
        let expected =
            "no credentials for s3://papers: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY to a valid pair";
        assert_eq!(sentence("s3://papers?endpoint_url=http://localhost:1", &ObjectOptions::default()), expected);
        let half = ObjectOptions::default().with("aws_access_key_id", "AKIA1");
        assert_eq!(sentence("s3://papers?endpoint_url=http://localhost:1", &half), expected);
    }

    #[test]
    fn azure_without_an_account_is_refused() {
        assert!(sentence("az://papers", &ObjectOptions::default()).starts_with("no credentials for az://papers: "));
    }

    #[test]
    fn unknown_settings_in_the_url_are_named_and_those_of_the_environment_ignored() {
        let options = ObjectOptions::default().with("aws_pager", "less").with("aws_access_key_id", "x");
        let options = options.with("aws_secret_access_key", "y");
        assert_eq!(
            sentence("s3://papers?regoin=eu-west-1", &options),
            "the setting aws_regoin of s3://papers is not known"
        );
        assert!(connect(&Place::parse("s3://papers", &options).unwrap(), &options).is_ok());
    }

    #[test]
    fn every_service_has_a_client() {
        let options = ObjectOptions::default()
            .with("azure_storage_account_name", "me")
            .with("azure_storage_account_key", "aHVzaA==")
            .with("google_skip_signature", "true");
        for url in ["gs://papers/in", "az://papers/in"] {
            let place = Place::parse(url, &options).unwrap();
            assert!(connect(&place, &options).is_ok(), "{url}");
        }
    }
}
