//! How to reach the broker, and how much to have under way.

use crate::{
    error::{AmqpError, AmqpResult},
    requests::Requests,
};
use bindery_core::Name;
use lapin::{
    tcp::OwnedTLSConfig,
    uri::{AMQPScheme, AMQPUri},
};
use std::{fmt, path::PathBuf, sync::Arc, time::Duration};

/// A message that does not expire is announced again only when the work is awaited anew. Ten years, which no clock adds up
/// to anything strange with.
const NEVER_EXPIRES: Duration = Duration::from_secs(10 * 365 * 24 * 60 * 60);

/// More than this only makes messages older.
const MOST_IN_THE_BROKER: usize = 100_000;

/// More than this saves nothing.
const MOST_IN_A_MESSAGE: usize = 500;

/// How the queues are declared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum QueueKind {
    /// Quorum queues with a time to live and dead letters: an acknowledged message survives the loss of a node.
    #[default]
    Quorum,
    /// Classic durable queues with a time to live and dead letters, as seed 002's programs declare them.
    Classic,
    /// Classic durable queues without any argument, as `queue_declare(durable=True)` declares them. Messages do not
    /// expire, and what a program rejects is dropped unless a policy of the broker says otherwise.
    Plain,
}

impl QueueKind {
    const ALL: [(&'static str, Self); 3] =
        [("quorum", Self::Quorum), ("classic", Self::Classic), ("plain", Self::Plain)];
}

/// How messages go over a broker.
#[derive(Clone)]
pub struct AmqpOptions {
    /// `amqp://` or `amqps://`; `?cacertfile=` names an authority besides those that everybody knows.
    pub url: String,
    /// Goes before the name of every exchange and queue, so that several systems can share a virtual host.
    pub prefix: String,
    /// How many published jobs may wait in the broker. Few, so that messages do not grow old there and the priorities of
    /// the store keep their meaning.
    pub window: usize,
    /// How many jobs of one submission and stage a message for our own workers carries at most. It goes to one worker, and
    /// is acknowledged when all of them have ended: many are for jobs that take no time.
    pub batch: usize,
    /// How many messages of a queue are handed to this process before the first is acknowledged.
    pub prefetch: u16,
    /// The queues to publish to and to consume; none: every queue that our own processors work on.
    pub queues: Option<Vec<Name>>,
    /// What the relay's claims are shown as; unique among the workers of a store.
    pub relay: Name,
    /// How long the relay's claims hold without a heartbeat.
    pub lease: Duration,
    /// How long an outside processor's message may wait before it is published again, and how old a message of our own
    /// may become: the time to live of the queues.
    pub message_ttl: Duration,
    pub queue_kind: QueueKind,
    /// The folder that the files of new requests lie in; none: a request cannot name a file.
    pub files: Option<PathBuf>,
    /// Who starts new requests; none: nobody here does.
    pub requests: Option<Arc<dyn Requests>>,
}

impl AmqpOptions {
    pub fn at(url: impl Into<String>) -> Self {
        Self {
            url: url.into(),
            prefix: String::new(),
            window: 2_000,
            batch: 1,
            prefetch: 500,
            queues: None,
            relay: Name::from(format!("relay-{}-{:x}", std::process::id(), fastrand::u32(..))),
            lease: Duration::from_secs(30),
            message_ttl: Duration::from_secs(300),
            queue_kind: QueueKind::default(),
            files: None,
            requests: None,
        }
    }

    /// How long after its announcement a message that nobody has taken is announced again: when it has expired.
    pub(crate) fn announce_again_after(&self) -> Duration {
        match self.queue_kind {
            QueueKind::Quorum | QueueKind::Classic => self.message_ttl,
            QueueKind::Plain => NEVER_EXPIRES,
        }
    }

    /// The same, with what the address says about `prefetch`, `window`, `batch`, `queues` and `files`.
    pub fn from_url(url: &str) -> AmqpResult<Self> {
        let (url, kind) = take_parameter(url, "queues");
        let (url, files) = take_parameter(&url, "files");
        let (url, prefetch) = take_parameter(&url, "prefetch");
        let (url, window) = take_parameter(&url, "window");
        let (url, batch) = take_parameter(&url, "batch");
        let number = |name: &str, written: Option<String>, default: usize, most: usize| match written {
            None => Ok(default),
            Some(written) => written
                .parse()
                .ok()
                .filter(|number| (1..=most).contains(number))
                .ok_or_else(|| AmqpError::Url(format!("{name}={written} is not a whole number from 1 to {most}"))),
        };
        let options = Self::at(url);
        let prefetch = number("prefetch", prefetch, options.prefetch.into(), u16::MAX.into())?;
        let window = number("window", window, options.window, MOST_IN_THE_BROKER)?;
        let batch = number("batch", batch, options.batch, MOST_IN_A_MESSAGE)?;
        let queue_kind = match kind {
            None => QueueKind::default(),
            Some(written) => QueueKind::ALL
                .into_iter()
                .find(|(name, _)| *name == written)
                .map(|(_, kind)| kind)
                .ok_or_else(|| AmqpError::Url(format!("queues={written} is none of quorum, classic and plain")))?,
        };
        let files = files.map(|folder| PathBuf::from(unescaped(&folder)));
        if let Some(folder) = files.as_ref().filter(|folder| !folder.is_dir()) {
            return Err(AmqpError::Url(format!("files={} is no folder", folder.display())));
        }
        let prefetch = u16::try_from(prefetch).unwrap_or(u16::MAX);
        Ok(Self { window, batch, prefetch, queue_kind, files, ..options })
    }
}

/// Without the password.
impl fmt::Debug for AmqpOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = Address::parse(&self.url).map_or_else(|_| "?".to_owned(), |address| address.display_url());
        f.debug_struct("AmqpOptions")
            .field("at", &at)
            .field("prefix", &self.prefix)
            .field("window", &self.window)
            .field("batch", &self.batch)
            .field("prefetch", &self.prefetch)
            .field("queues", &self.queues)
            .field("queue_kind", &self.queue_kind)
            .finish_non_exhaustive()
    }
}

/// A URL, taken apart.
#[derive(Clone)]
pub(crate) struct Address {
    pub(crate) uri: AMQPUri,
    pub(crate) tls: OwnedTLSConfig,
}

impl Address {
    pub(crate) fn parse(url: &str) -> AmqpResult<Self> {
        let (rest, authority) = take_parameter(url, "cacertfile");
        let tls = match authority {
            None => OwnedTLSConfig::default(),
            Some(file) => {
                let file = unescaped(&file);
                let read = std::fs::read_to_string(&file);
                let chain = read.map_err(|error| AmqpError::Url(format!("cacertfile {file}: {error}")))?;
                OwnedTLSConfig { identity: None, cert_chain: Some(chain) }
            }
        };
        // What the parser says may quote what it was given, and with it the password.
        let uri: AMQPUri = rest.parse().map_err(|_| {
            let scheme = rest.split_once("://").map(|(scheme, _)| scheme);
            AmqpError::Url(match scheme {
                Some("amqp" | "amqps") => "something after amqp:// is wrong".to_owned(),
                Some(other) => format!("it begins with {other}://, not with amqp:// or amqps://"),
                None => "it does not begin with amqp:// or amqps://".to_owned(),
            })
        })?;
        Ok(Self { uri, tls })
    }

    /// For people and for logs: without the name and the password.
    pub(crate) fn display_url(&self) -> String {
        let scheme = if self.uri.scheme == AMQPScheme::AMQPS { "amqps" } else { "amqp" };
        format!("{scheme}://{}:{}", self.uri.authority.host, self.uri.authority.port)
    }

    pub(crate) fn user(&self) -> String {
        self.uri.authority.userinfo.username.clone()
    }

    pub(crate) fn is_encrypted(&self) -> bool {
        self.uri.scheme == AMQPScheme::AMQPS
    }
}

/// A path as people write it into a URL.
fn unescaped(path: &str) -> String {
    path.replace("%2F", "/").replace("%2f", "/").replace("%20", " ")
}

/// The URL without a parameter, and the parameter.
fn take_parameter(url: &str, name: &str) -> (String, Option<String>) {
    let Some((before, query)) = url.split_once('?') else { return (url.to_owned(), None) };
    let mut found = None;
    let rest: Vec<&str> = query
        .split('&')
        .filter(|part| match part.split_once('=') {
            Some((key, value)) if key == name => {
                found = Some(value.to_owned());
                false
            }
            _ => true,
        })
        .collect();
    let rest = if rest.is_empty() { before.to_owned() } else { format!("{before}?{}", rest.join("&")) };
    (rest, found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_shown_without_its_password() {
        let options = AmqpOptions::at("amqp://ann:secret@broker:5671/docs?heartbeat=10");
        let shown = format!("{options:?}");
        assert!(shown.contains("amqp://broker:5671") && !shown.contains("secret"), "{shown}");
        let address = Address::parse(&options.url).unwrap();
        assert_eq!((address.uri.vhost.as_str(), address.user().as_str()), ("docs", "ann"));
    }

    #[test]
    fn a_wrong_address_is_told_without_its_password() {
        for wrong in ["http://ann:secret@broker", "broker", "amqp://ann:secret@bro ker:x/", "amqp://ann:secret@h:99999"]
        {
            let said = Address::parse(wrong).err().unwrap().to_string();
            assert!(said.contains("amqp://user:password@host") && !said.contains("secret"), "{wrong}: {said}");
        }
        let said = Address::parse("amqps://h?cacertfile=/no/such/file").err().unwrap().to_string();
        assert!(said.contains("cacertfile /no/such/file"), "{said}");
    }

    #[test]
    fn an_address_says_how_much_may_be_under_way() {
        let options = AmqpOptions::from_url("amqp://h/docs?prefetch=1000&heartbeat=10&window=4000&batch=100").unwrap();
        assert_eq!(
            (options.prefetch, options.window, options.batch, options.url.as_str()),
            (1000, 4000, 100, "amqp://h/docs?heartbeat=10")
        );
        for wrong in ["amqp://h?prefetch=0", "amqp://h?prefetch=65536", "amqp://h?window=many", "amqp://h?batch=501"] {
            let said = AmqpOptions::from_url(wrong).err().unwrap().to_string();
            assert!(said.contains("is not a whole number from 1 to"), "{said}");
        }
    }

    #[test]
    fn an_address_says_how_queues_are_declared_and_where_files_are() {
        let options = AmqpOptions::from_url("amqp://h/docs?queues=classic&files=%2Ftmp").unwrap();
        assert_eq!((options.queue_kind, options.files), (QueueKind::Classic, Some(PathBuf::from("/tmp"))));
        assert_eq!(AmqpOptions::from_url("amqp://h").unwrap().queue_kind, QueueKind::Quorum);
        let said = AmqpOptions::from_url("amqp://h?queues=lazy").err().unwrap().to_string();
        assert!(said.contains("queues=lazy is none of quorum, classic and plain"), "{said}");
        let said = AmqpOptions::from_url("amqp://h?files=/no/such/folder").err().unwrap().to_string();
        assert!(said.contains("files=/no/such/folder is no folder"), "{said}");
    }

    #[test]
    fn parameters_are_taken_out() {
        assert_eq!(take_parameter("a?x=1&f=2&y=3", "f"), ("a?x=1&y=3".to_owned(), Some("2".to_owned())));
        assert_eq!(take_parameter("a?f=2", "f"), ("a".to_owned(), Some("2".to_owned())));
        assert_eq!(take_parameter("a", "f"), ("a".to_owned(), None));
    }
}
