//! What can go wrong with object storage, in sentences that say what to do.
//!
//! The library's own messages are never passed on: they hold addresses with tokens in them, and whole answers of the
//! server. What is kept is the status, the server's short code and the operating system's reason.

use super::place::{Place, Scheme};
use crate::blobs::BlobError;
use bindery_core::Disposition;
use object_store::client::{HttpError, HttpErrorKind};
use std::error::Error as StdError;

/// Why object storage could not do its part.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ObjectError {
    #[error("{url} is no place for blobs: {reason}")]
    BadUrl { url: String, reason: String },
    #[error("the setting {name} of {place} {reason}")]
    BadSetting { place: String, name: String, reason: String },
    #[error("the key {key:?} cannot be used: {reason}")]
    BadKey { key: String, reason: &'static str },
    #[error("an object below {place} has a key that cannot be used ({reason}): rename or remove it")]
    OddKey { place: String, reason: String },
    #[error("{location} was replaced or removed after it was listed: list again")]
    Changed { location: String },
    #[error("the copy of {location} differs from it: {why}")]
    CopyDiffers { location: String, why: String },

    #[error("there is no bucket {bucket} at {endpoint}: create it, or correct the URL or the endpoint")]
    NoBucket { bucket: String, endpoint: String },
    #[error("no credentials for {place}: {hint}")]
    NoCredentials { place: String, hint: &'static str },
    #[error("the credentials for {place} were refused ({code}): {hint}")]
    Refused { place: String, code: String, hint: &'static str },
    #[error("no permission to {action} {location}: check the credentials and the rights that they have on the bucket")]
    Denied { action: &'static str, location: String },
    #[error("{place} is in another region: set AWS_REGION to the region of the bucket")]
    WrongRegion { place: String },
    #[error("{endpoint} does not answer like object storage: check the endpoint of {place}")]
    NotStorage { endpoint: String, place: String },

    #[error("cannot reach {endpoint} ({reason}): check the endpoint and the network")]
    Unreachable { endpoint: String, reason: String },
    #[error("{endpoint} took too long to {action} {location}: raise the time-out, or see what slows it down")]
    TimedOut { endpoint: String, action: &'static str, location: String },
    #[error("{endpoint} is overloaded or out of order ({code}) and could not {action} {location}")]
    Busy { endpoint: String, code: String, action: &'static str, location: String },
    #[error("could not {action} {location}: {reason}")]
    Other { action: &'static str, location: String, reason: String },
}

impl ObjectError {
    /// What should happen to the work that met this error.
    pub fn disposition(&self) -> Disposition {
        let park = |until: String| Disposition::Park { until, at: None };
        match self {
            Self::BadUrl { .. } | Self::BadSetting { .. } | Self::BadKey { .. } => Disposition::Reject,
            // More tries change nothing until somebody changes the bucket, the rights or the settings.
            Self::NoBucket { bucket, .. } => park(format!("there is a bucket {bucket}")),
            Self::NoCredentials { place, .. } | Self::Refused { place, .. } => {
                park(format!("there are credentials for {place}"))
            }
            Self::Denied { action, location } => park(format!("there is permission to {action} {location}")),
            Self::WrongRegion { place } => park(format!("the region of {place} is set")),
            Self::NotStorage { place, .. } => park(format!("the endpoint of {place} is right")),
            Self::OddKey { place, .. } => park(format!("the keys below {place} can be used")),
            Self::Changed { .. }
            | Self::CopyDiffers { .. }
            | Self::Unreachable { .. }
            | Self::TimedOut { .. }
            | Self::Busy { .. }
            | Self::Other { .. } => Disposition::Retry { after: None },
        }
    }
}

/// Codes with which servers refuse who asks, not what is asked for.
const REFUSALS: &[&str] = &[
    "InvalidAccessKeyId",
    "SignatureDoesNotMatch",
    "InvalidToken",
    "ExpiredToken",
    "InvalidSecurity",
    "NotSignedUp",
    "AuthenticationFailed",
    "InvalidAuthenticationInfo",
    "AuthenticationRequired",
    "RequestTimeTooSkewed",
];

/// Codes with which servers say that there is no such bucket.
const NO_BUCKET: &[&str] = &["NoSuchBucket", "ContainerNotFound", "BucketNotFound"];

/// Where machines in a cloud ask for their credentials. Asked in vain, there are none.
const CREDENTIAL_SERVICES: &[&str] = &["169.254.169.254", "169.254.170.2", "metadata.google.internal", "/metadata/"];

/// Whether the bucket is what is missing, and not an object in it.
pub(super) fn is_no_bucket(error: &object_store::Error) -> bool {
    code_in(&error.to_string()).is_some_and(|code| NO_BUCKET.contains(&code))
}

/// Turns an error of the library into one of ours.
pub(super) fn on_object(
    place: &Place,
    action: &'static str,
    location: String,
    error: &object_store::Error,
) -> BlobError {
    use object_store::Error as Theirs;
    let text = error.to_string();
    let code = code_in(&text);
    let status = status_in(&text);
    let endpoint = place.endpoint().to_owned();
    let at = place.to_string();
    let http = causes(error).find_map(<dyn StdError>::downcast_ref::<HttpError>);
    let is = |codes: &[&str]| code.is_some_and(|code| codes.contains(&code));

    let ours = if CREDENTIAL_SERVICES.iter().any(|service| text.contains(service)) {
        ObjectError::NoCredentials { place: at, hint: place.scheme().credentials_hint() }
    } else if is(NO_BUCKET) {
        ObjectError::NoBucket { bucket: place.bucket().to_owned(), endpoint }
    } else if is(REFUSALS) || matches!(error, Theirs::Unauthenticated { .. }) {
        let code = code.unwrap_or("401").to_owned();
        let hint = match code.as_str() {
            "RequestTimeTooSkewed" => "set the clock of this machine",
            "ExpiredToken" => "get new ones",
            _ => place.scheme().credentials_hint(),
        };
        ObjectError::Refused { place: at, code, hint }
    } else if is(&["AuthorizationHeaderMalformed", "PermanentRedirect", "TemporaryRedirect"])
        || text.contains("redirect without LOCATION")
    {
        ObjectError::WrongRegion { place: at }
    } else if let Theirs::InvalidPath { source } = error {
        ObjectError::OddKey { place: at, reason: source.to_string() }
    } else if let Some(http) = http {
        match http.kind() {
            HttpErrorKind::Timeout => ObjectError::TimedOut { endpoint, action, location },
            HttpErrorKind::Decode => ObjectError::NotStorage { endpoint, place: at },
            _ => ObjectError::Unreachable { endpoint, reason: innermost(http) },
        }
    } else if matches!(error, Theirs::PermissionDenied { .. }) {
        ObjectError::Denied { action, location }
    } else if matches!(error, Theirs::NotFound { .. }) && place.scheme() != Scheme::File {
        // Only for blobs is it an answer, and callers have dealt with those: what else is missing is the bucket.
        ObjectError::NoBucket { bucket: place.bucket().to_owned(), endpoint }
    } else if is(&["SlowDown", "InternalError", "ServerBusy"]) || status.is_some_and(is_transient) {
        let code = code.map_or_else(|| status.unwrap_or(500).to_string(), str::to_owned);
        ObjectError::Busy { endpoint, code, action, location }
    } else if ["invalid list response", "invalid XML", "Error getting list response"].iter().any(|it| text.contains(it))
        || status == Some(405)
    {
        ObjectError::NotStorage { endpoint, place: at }
    } else {
        let reason = match (status, code) {
            (Some(status), Some(code)) => format!("the server answered {status} ({code})"),
            (Some(status), None) => format!("the server answered {status}"),
            (None, Some(code)) => format!("the server answered {code}"),
            (None, None) if place.scheme() == Scheme::File => innermost(error),
            (None, None) => "the server's answer was not understood".to_owned(),
        };
        ObjectError::Other { action, location, reason }
    };
    ours.into()
}

const fn is_transient(status: u16) -> bool {
    status >= 500 || status == 429 || status == 408
}

/// The short code in an answer such as `<Error><Code>NoSuchBucket</Code>…`. Only plain words are taken for one.
fn code_in(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once("<Code>")?;
    let (code, _) = rest.split_once("</Code>")?;
    let is_plain = !code.is_empty() && code.len() <= 64 && code.bytes().all(|byte| byte.is_ascii_alphanumeric());
    is_plain.then_some(code)
}

/// The library keeps the type that holds the status to itself, so it is read from its message.
fn status_in(text: &str) -> Option<u16> {
    let (_, rest) = text.split_once("status code: ")?;
    rest.get(..3)?.parse().ok()
}

/// An error and its causes, the last one last.
fn causes<'a>(error: &'a (dyn StdError + 'static)) -> impl Iterator<Item = &'a (dyn StdError + 'static)> {
    let mut next = Some(error);
    std::iter::from_fn(move || {
        let this = next?;
        next = this.source();
        Some(this)
    })
}

/// The last cause: the operating system's word, without the addresses that the layers above add.
fn innermost(error: &(dyn StdError + 'static)) -> String {
    causes(error).last().map(ToString::to_string).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blobs::object::{ObjectOptions, place::Place};

    fn error_from(source: &str, wrap: fn(Box<dyn StdError + Send + Sync>) -> object_store::Error) -> BlobError {
        let place = Place::parse("s3://papers/in", &ObjectOptions::default()).unwrap();
        on_object(&place, "write", "s3://papers/in/sha256/ab/cd".to_owned(), &wrap(source.into()))
    }

    fn generic(source: Box<dyn StdError + Send + Sync>) -> object_store::Error {
        object_store::Error::Generic { store: "S3", source }
    }

    #[test]
    fn throttling_is_tried_again() {
        for answer in
            ["<Error><Code>SlowDown</Code></Error>", "status code: 503 Service Unavailable: ", "status code: 429 : "]
        {
            let error = error_from(answer, generic);
            assert_eq!(error.disposition(), Disposition::Retry { after: None }, "{error}");
            assert!(error.to_string().contains("overloaded"), "unexpected: {error}");
        }
    }

    #[test]
    fn other_regions_and_expired_tokens_wait_for_a_person() {
        let error = error_from("Received redirect without LOCATION, this normally …", generic);
        assert_eq!(
            error.to_string(),
            "s3://papers/in is in another region: set AWS_REGION to the region of the bucket"
        );
        assert!(matches!(error.disposition(), Disposition::Park { .. }));
        let error = error_from("status code: 400 Bad Request: <Error><Code>ExpiredToken</Code></Error>", generic);
        assert_eq!(error.to_string(), "the credentials for s3://papers/in were refused (ExpiredToken): get new ones");
    }

    #[test]
    fn what_the_server_says_besides_its_code_is_not_repeated() {
        let answer =
            "GET https://x/?sig=SECRET status code: 400 : <Error><Code>Odd</Code><Message>SECRET</Message></Error>";
        let error = error_from(answer, generic);
        assert_eq!(error.to_string(), "could not write s3://papers/in/sha256/ab/cd: the server answered 400 (Odd)");
        assert!(!format!("{error:?}").contains("SECRET"), "{error:?}");
    }

    #[test]
    fn no_answer_from_the_metadata_service_means_no_credentials() {
        let error = error_from("Error performing PUT http://169.254.169.254/latest/api/token in 1s", generic);
        assert!(error.to_string().starts_with("no credentials for s3://papers/in: set AWS_ACCESS_KEY_ID"), "{error}");
    }
}
