//! One exchange with a server: the seam at which a recording takes the place of the network.

use super::error::Failure;
use crate::vendor::page::Body;
use std::{fmt, time::Duration};

/// What is sent to a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    pub url: String,
    /// None: a GET or a HEAD.
    pub body: Option<Body>,
    /// Only the headers are wanted.
    pub is_head: bool,
    /// All there are, under names in small letters.
    pub headers: Vec<(String, String)>,
    pub limits: Limits,
}

impl Asked {
    pub fn method(&self) -> &'static str {
        match self.body {
            Some(_) => "POST",
            None if self.is_head => "HEAD",
            None => "GET",
        }
    }
}

/// What an exchange may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Of the body, unpacked.
    pub bytes: u64,
    pub connect: Duration,
    pub total: Duration,
}

/// What a server says, of whatever status.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    pub status: u16,
    /// Under names in small letters.
    pub headers: Vec<(String, String)>,
    /// Unpacked.
    pub bytes: Vec<u8>,
}

impl Answer {
    /// The first of a name.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// Something that answers requests. Blocks; one serves any number of threads. Follows no redirects.
pub trait Transport: Send + Sync + fmt::Debug {
    fn exchange(&self, asked: &Asked) -> Result<Answer, Failure>;
}
