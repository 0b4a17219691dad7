//! The client: one request, one answer, within limits of time and size.
//!
//! A redirect is never followed: a POST that becomes a GET on the way loses its body, headers with secrets are for the
//! address that was configured, and a caller that follows one sends each hop through the address guard.

use crate::{
    answer::{Answer, Limits},
    authorities,
    error::HttpError,
    public_address::{Guarded, PrivateAddress},
};
use flate2::read::{MultiGzDecoder, ZlibDecoder};
use std::{
    io::{self, Read},
    time::Duration,
};
use ureq::{
    Agent,
    http::{HeaderMap, Method, Request, Response, header},
    tls::TlsConfig,
    unversioned::transport::DefaultConnector,
};

/// Who we say that we are.
pub const USER_AGENT: &str = concat!("bindery/", env!("CARGO_PKG_VERSION"));

/// Where requests may go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Reach {
    /// Anywhere, for services that the operator has configured; through a proxy where the environment has one.
    #[default]
    Anywhere,
    /// To public addresses, for URLs out of workflows and documents. A name is resolved once, and what was resolved is
    /// checked and then connected to, so that a name cannot change its meaning in between. A proxy would resolve the
    /// name again, so none is used.
    PublicOnly,
    /// To public addresses, unless the environment has a proxy: that decides then.
    PublicOrProxy,
}

/// How a client is made.
#[derive(Debug, Clone)]
pub struct ClientOptions {
    pub reach: Reach,
    pub user_agent: String,
    /// Connections of one host that are kept for the next request.
    pub kept_connections: usize,
}

impl Default for ClientOptions {
    fn default() -> Self {
        Self { reach: Reach::default(), user_agent: USER_AGENT.to_owned(), kept_connections: 3 }
    }
}

/// A guarded HTTP client; one serves any number of threads.
#[derive(Debug, Clone)]
pub struct Client {
    agent: Agent,
}

impl Default for Client {
    fn default() -> Self {
        Self::new(ClientOptions::default())
    }
}

impl Client {
    pub fn new(options: ClientOptions) -> Self {
        let ClientOptions { reach, user_agent, kept_connections } = options;
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .max_idle_connections_per_host(kept_connections)
            .tls_config(TlsConfig::builder().root_certs(authorities::roots()).build())
            .user_agent(user_agent);
        let config = if reach == Reach::PublicOnly { config.proxy(None) } else { config }.build();
        let is_open = reach == Reach::Anywhere || config.proxy().is_some();
        let agent = if is_open {
            config.new_agent()
        } else {
            Agent::with_parts(config, DefaultConnector::default(), Guarded::default())
        };
        Self { agent }
    }

    /// With the usual options.
    pub fn with_reach(reach: Reach) -> Self {
        Self::new(ClientOptions { reach, ..ClientOptions::default() })
    }

    fn run<B: ureq::AsSendBody>(
        &self,
        request: Request<B>,
        limits: &Limits,
    ) -> Result<Response<ureq::Body>, ureq::Error> {
        let request = self
            .agent
            .configure_request(request)
            .timeout_global(Some(limits.total))
            .timeout_connect(Some(limits.connect))
            .build();
        self.agent.run(request)
    }

    /// One exchange. Blocks; an answer of whatever status is an answer.
    pub fn exchange(&self, request: Request<Vec<u8>>, limits: &Limits) -> Result<Answer, HttpError> {
        let method = request.method().clone();
        // A GET has no body at all, not an empty one.
        let said = if request.body().is_empty() && [Method::GET, Method::HEAD].contains(&method) {
            self.run(request.map(drop), limits)
        } else {
            self.run(request, limits)
        };
        let (head, body) = said.map_err(|error| no_answer(error, limits.total))?.into_parts();
        let announced = body.content_length();
        let mut headers = head.headers;
        let (body, missing) = if method == Method::HEAD {
            (Vec::new(), None)
        } else if announced.is_some_and(|size| size > limits.bytes) && !limits.keep_beginning {
            (Vec::new(), Some(HttpError::TooLarge { limit: limits.bytes, announced }))
        } else {
            let reader = body.into_with_config().limit(u64::MAX).reader();
            read_decoded(&mut headers, reader, limits)
        };
        tracing::debug!(status = head.status.as_u16(), bytes = body.len(), "a server answered");
        Ok(Answer { status: head.status, headers, body, missing })
    }
}

/// The body without its compression, of which the headers say nothing any more.
fn read_decoded(headers: &mut HeaderMap, reader: impl Read, limits: &Limits) -> (Vec<u8>, Option<HttpError>) {
    let encoding = headers.get(header::CONTENT_ENCODING).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let encoding = encoding.trim().to_ascii_lowercase();
    let read = match encoding.as_str() {
        "" | "identity" => return read_bounded(reader, limits),
        "gzip" | "x-gzip" => read_bounded(MultiGzDecoder::new(reader), limits),
        "deflate" => read_bounded(ZlibDecoder::new(reader), limits),
        other => {
            let message = format!("it answers in an encoding that was not asked for, {other:?}");
            return (Vec::new(), Some(HttpError::Invalid(message)));
        }
    };
    headers.remove(header::CONTENT_ENCODING);
    headers.remove(header::CONTENT_LENGTH);
    read
}

/// As much of a body as is allowed, and why that is not all of it.
fn read_bounded(reader: impl Read, limits: &Limits) -> (Vec<u8>, Option<HttpError>) {
    let (mut bytes, limit) = (Vec::new(), limits.bytes);
    let missing = match reader.take(limit.saturating_add(1)).read_to_end(&mut bytes) {
        Ok(_) if bytes.len() as u64 > limit => Some(HttpError::TooLarge { limit, announced: None }),
        Ok(_) => None,
        Err(error) if is_late(&error) => Some(HttpError::Timeout(limits.total)),
        Err(error) => Some(HttpError::CutShort(format!("{error} after {} bytes", bytes.len()))),
    };
    bytes.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    (bytes, missing)
}

fn is_late(error: &io::Error) -> bool {
    let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<ureq::Error>());
    error.kind() == io::ErrorKind::TimedOut || matches!(inner, Some(ureq::Error::Timeout(_)))
}

fn no_answer(error: ureq::Error, total: Duration) -> HttpError {
    match error {
        ureq::Error::Timeout(_) => HttpError::Timeout(total),
        ureq::Error::Io(error) if is_late(&error) => HttpError::Timeout(total),
        ureq::Error::HostNotFound => HttpError::Unreachable("there is no such host".to_owned()),
        ureq::Error::Other(other) => match other.downcast::<PrivateAddress>() {
            Ok(refused) => HttpError::PrivateAddress(*refused),
            Err(other) => HttpError::Unreachable(other.to_string()),
        },
        error @ (ureq::Error::BadUri(_) | ureq::Error::Http(_) | ureq::Error::InvalidProxyUrl) => {
            HttpError::Invalid(error.to_string())
        }
        error => HttpError::Unreachable(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{io::Write as _, net::TcpListener, thread};
    use ureq::http::StatusCode;

    /// A server for one request; gives back its address.
    fn server(answer: &'static [u8]) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}/", listener.local_addr().unwrap());
        thread::spawn(move || {
            let (mut connection, _) = listener.accept().unwrap();
            let (mut request, mut buffer) = (Vec::new(), [0; 4096]);
            while !request.windows(4).any(|end| end == b"\r\n\r\n") {
                let read = connection.read(&mut buffer).unwrap();
                request.extend_from_slice(&buffer[..read]);
            }
            connection.write_all(answer).unwrap();
        });
        address
    }

    fn get(url: &str, reach: Reach, limits: &Limits) -> Result<Answer, HttpError> {
        Client::with_reach(reach).exchange(Request::get(url).body(Vec::new()).unwrap(), limits)
    }

    const LIMITS: Limits = Limits::new(Duration::from_secs(20), 8);

    #[test]
    fn a_body_is_whole_or_says_why_it_is_not() {
        let whole = get(&server(b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n12345678"), Reach::Anywhere, &LIMITS);
        assert_eq!(whole.unwrap().whole().unwrap().body, b"12345678");
        let long = b"HTTP/1.1 500 Oops\r\nconnection: close\r\n\r\n123456789";
        let long = get(&server(long), Reach::Anywhere, &LIMITS).unwrap();
        assert_eq!((long.status, long.body.len()), (StatusCode::INTERNAL_SERVER_ERROR, 8));
        assert_eq!(long.whole().unwrap_err(), HttpError::TooLarge { limit: 8, announced: None });
        let announced = b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n123456789";
        let answer = get(&server(announced), Reach::Anywhere, &LIMITS).unwrap();
        assert_eq!((answer.body.len(), answer.whole().unwrap_err().to_string().contains("it has 9 bytes")), (0, true));
        let kept = Limits { keep_beginning: true, ..LIMITS };
        let answer = get(&server(announced), Reach::Anywhere, &kept).unwrap();
        assert_eq!((answer.body.as_slice(), answer.missing.is_some()), (&b"12345678"[..], true));
        let short = b"HTTP/1.1 200 OK\r\ncontent-length: 7\r\n\r\n123";
        let short = get(&server(short), Reach::Anywhere, &LIMITS).unwrap();
        assert_eq!(short.body, b"123");
        assert!(matches!(short.missing, Some(HttpError::CutShort(_))), "{short:?}");
    }

    #[test]
    fn redirects_are_answers_and_private_addresses_are_refused() {
        let redirect = b"HTTP/1.1 302 Found\r\nlocation: http://169.254.169.254/\r\nretry-after: 7\r\n\
            content-length: 0\r\n\r\n";
        let answer = get(&server(redirect), Reach::Anywhere, &LIMITS).unwrap();
        assert_eq!((answer.status.as_u16(), answer.redirect_target().as_str()), (302, " to http://169.254.169.254/"));
        assert_eq!(answer.retry_after(), Some(Duration::from_secs(7)));
        for url in ["http://127.0.0.1:1/", "http://localhost:1/", "http://[::1]:1/", "http://169.254.169.254/latest"] {
            let refused = get(url, Reach::PublicOnly, &LIMITS).unwrap_err();
            assert!(matches!(refused, HttpError::PrivateAddress(_)), "{url}: {refused}");
        }
        let refused = get("http://127.0.0.1:1/", Reach::Anywhere, &LIMITS).unwrap_err();
        assert!(matches!(refused, HttpError::Unreachable(_)) && refused.is_transient(), "{refused}");
    }

    #[test]
    fn an_encoding_that_nobody_asked_for_is_refused() {
        let answer = b"HTTP/1.1 200 OK\r\ncontent-encoding: br\r\nconnection: close\r\n\r\nx";
        let error = get(&server(answer), Reach::Anywhere, &LIMITS).unwrap().whole().unwrap_err();
        assert!(error.to_string().contains("\"br\""), "{error}");
    }
}
