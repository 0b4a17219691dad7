//! The network as it is: certificates are checked, and whoever asks says who they are.
//!
//! Addresses come from pages, and pages from anybody. What leads to this machine or to the networks around it is refused
//! after its name was resolved, unless the settings allow it, or a proxy decides where one can get to.

use super::{
    error::Failure,
    transport::{Answer, Asked, Transport},
    want::Settings,
};
use bindery_http::{Client, ClientOptions, HttpError, Limits, Reach, Request, header};

/// Connections of one host that are kept for the next request.
const KEPT_CONNECTIONS: usize = 5;

/// Speaks HTTP, through a proxy where the environment has one.
#[derive(Debug, Clone)]
pub struct Network {
    client: Client,
}

impl Network {
    pub fn new(settings: &Settings) -> Self {
        let reach = if settings.allow_private { Reach::Anywhere } else { Reach::PublicOrProxy };
        let user_agent = settings.user_agent();
        Self { client: Client::new(ClientOptions { reach, user_agent, kept_connections: KEPT_CONNECTIONS }) }
    }
}

impl Transport for Network {
    fn exchange(&self, asked: &Asked) -> Result<Answer, Failure> {
        let mut request = Request::builder().method(asked.method()).uri(&asked.url);
        request = request.header(header::ACCEPT_ENCODING, "gzip");
        for (name, value) in &asked.headers {
            request = request.header(name, value);
        }
        if let Some(body) = &asked.body {
            request = request.header(header::CONTENT_TYPE, &body.content_type);
        }
        let body = asked.body.as_ref().map(|body| body.text.clone().into_bytes()).unwrap_or_default();
        let request = request.body(body).map_err(|error| Failure::Invalid(error.to_string()))?;
        let limits = Limits { connect: asked.limits.connect, ..Limits::new(asked.limits.total, asked.limits.bytes) };
        let answer = self.client.exchange(request, &limits).and_then(bindery_http::Answer::whole).map_err(failure)?;
        // What is not text in the sense of HTTP is no header that we need.
        let headers = answer
            .headers
            .iter()
            .filter_map(|(name, value)| Some((name.as_str().to_owned(), value.to_str().ok()?.to_owned())));
        Ok(Answer { status: answer.status.as_u16(), headers: headers.collect(), bytes: answer.body })
    }
}

fn failure(error: HttpError) -> Failure {
    match error {
        HttpError::Timeout(total) => Failure::Late(total),
        HttpError::Unreachable(why) => Failure::Unreachable(why),
        HttpError::CutShort(why) => Failure::CutShort(why),
        HttpError::TooLarge { limit, announced } => Failure::TooLarge { limit, said: announced },
        HttpError::Invalid(why) => Failure::Invalid(why),
        HttpError::PrivateAddress(why) => {
            Failure::Invalid(format!("{why}; `allow_private` in the settings allows that"))
        }
    }
}
