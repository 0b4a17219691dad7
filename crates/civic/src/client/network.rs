//! The network as it is: certificates are checked, and whoever asks says who they are.
//!
//! Addresses come from pages, and pages from anybody. What leads to this machine or to the networks around it is refused
//! after its name was resolved, unless the settings allow it, or a proxy decides where one can get to.

use super::{
    error::Failure,
    transport::{Answer, Asked, Transport},
    want::Settings,
};
use bindery_processors::outside::public_address::{Guarded, PrivateAddress};
use flate2::read::{MultiGzDecoder, ZlibDecoder};
use std::{
    io::{self, Read},
    time::Duration,
};
use ureq::{Agent, http, unversioned::transport::DefaultConnector};

/// Connections of one host that are kept for the next request.
const KEPT_CONNECTIONS: usize = 5;

/// Speaks HTTP, through a proxy where the environment has one.
#[derive(Debug, Clone)]
pub struct Network {
    agent: Agent,
}

impl Network {
    pub fn new(settings: &Settings) -> Self {
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .max_idle_connections_per_host(KEPT_CONNECTIONS)
            .user_agent(settings.user_agent())
            .build();
        let is_open = settings.allow_private || config.proxy().is_some();
        let agent = if is_open {
            config.new_agent()
        } else {
            Agent::with_parts(config, DefaultConnector::default(), Guarded::default())
        };
        Self { agent }
    }
}

impl Transport for Network {
    fn exchange(&self, asked: &Asked) -> Result<Answer, Failure> {
        let total = asked.limits.total;
        let mut request = http::Request::builder().method(asked.method()).uri(&asked.url);
        request = request.header(http::header::ACCEPT_ENCODING, "gzip");
        for (name, value) in &asked.headers {
            request = request.header(name, value);
        }
        if let Some(body) = &asked.body {
            request = request.header(http::header::CONTENT_TYPE, &body.content_type);
        }
        let body = asked.body.as_ref().map(|body| body.text.clone().into_bytes()).unwrap_or_default();
        let request = request.body(body).map_err(|error| Failure::Invalid(error.to_string()))?;
        let (head, body) = request.into_parts();
        // A GET has no body at all, not an empty one.
        let answer = if asked.body.is_some() {
            self.run(http::Request::from_parts(head, body), asked)
        } else {
            self.run(http::Request::from_parts(head, ()), asked)
        };
        let (head, body) = answer.map_err(|error| failure(error, total))?.into_parts();
        let said = body.content_length();
        let limit = asked.limits.bytes;
        if let Some(said) = said.filter(|said| *said > limit && !asked.is_head) {
            return Err(Failure::TooLarge { limit, said: Some(said) });
        }
        let named = |name| head.headers.get(name).and_then(|value: &http::HeaderValue| value.to_str().ok());
        let encoding = named(http::header::CONTENT_ENCODING).unwrap_or_default().trim().to_ascii_lowercase();
        let reader = body.into_with_config().limit(u64::MAX).reader();
        let bytes = match encoding.as_str() {
            _ if asked.is_head => Ok(Vec::new()),
            "gzip" | "x-gzip" => read(MultiGzDecoder::new(reader), limit, total),
            "deflate" => read(ZlibDecoder::new(reader), limit, total),
            "" | "identity" => read(reader, limit, total),
            other => Err(Failure::Invalid(format!("it answers in an encoding that was not asked for, {other:?}"))),
        }?;
        // What is not text in the sense of HTTP is no header that we need.
        let headers = head.headers.iter().filter_map(|(name, value)| {
            Some((name.as_str().to_owned(), value.to_str().ok()?.to_owned()))
                .filter(|(name, _)| name != "content-encoding")
        });
        Ok(Answer { status: head.status.as_u16(), headers: headers.collect(), bytes })
    }
}

impl Network {
    fn run<B: ureq::AsSendBody>(
        &self,
        request: http::Request<B>,
        asked: &Asked,
    ) -> Result<http::Response<ureq::Body>, ureq::Error> {
        let request = self
            .agent
            .configure_request(request)
            .timeout_global(Some(asked.limits.total))
            .timeout_connect(Some(asked.limits.connect))
            .build();
        self.agent.run(request)
    }
}

/// A whole body, or none: what is more than the limit is not even read.
fn read(reader: impl Read, limit: u64, total: Duration) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    match reader.take(limit.saturating_add(1)).read_to_end(&mut bytes) {
        Ok(_) if bytes.len() as u64 > limit => Err(Failure::TooLarge { limit, said: None }),
        Ok(_) => Ok(bytes),
        Err(error) if is_late(&error) => Err(Failure::Late(total)),
        Err(error) => Err(Failure::CutShort(format!("{error} after {} bytes", bytes.len()))),
    }
}

fn is_late(error: &io::Error) -> bool {
    let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<ureq::Error>());
    error.kind() == io::ErrorKind::TimedOut || matches!(inner, Some(ureq::Error::Timeout(_)))
}

fn failure(error: ureq::Error, total: Duration) -> Failure {
    match error {
        ureq::Error::Timeout(_) => Failure::Late(total),
        ureq::Error::Io(error) if is_late(&error) => Failure::Late(total),
        ureq::Error::HostNotFound => Failure::Unreachable("there is no such host".to_owned()),
        ureq::Error::Other(other) if other.is::<PrivateAddress>() => {
            Failure::Invalid(format!("{other}; `allow_private` in the settings allows that"))
        }
        error @ (ureq::Error::BadUri(_) | ureq::Error::Http(_) | ureq::Error::InvalidProxyUrl) => {
            Failure::Invalid(error.to_string())
        }
        error => Failure::Unreachable(error.to_string()),
    }
}
