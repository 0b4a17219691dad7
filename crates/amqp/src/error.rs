//! What can go wrong with the broker, in sentences that say what to do. None of them holds a password.

use bindery_engine::EngineError;
use bindery_store::StoreError;
use lapin::ErrorKind;

pub type AmqpResult<T> = Result<T, AmqpError>;

#[derive(Debug, thiserror::Error)]
pub enum AmqpError {
    #[error("the address of the broker is not understood ({0}); write it like amqp://user:password@host:5672/vhost")]
    Url(String),
    #[error("{at}: no broker answers ({detail}); is RabbitMQ running, and are host and port right?")]
    Unreachable { at: String, detail: String },
    #[error("{at}: the broker refuses the name {user:?} with this password; check both in the broker's address")]
    Login { at: String, user: String },
    #[error(
        "{at}: there is no virtual host {vhost:?}; make it with `rabbitmqctl add_vhost {vhost}` or name another one"
    )]
    NoVhost { at: String, vhost: String },
    #[error(
        "{at}: {user:?} may not use the virtual host {vhost:?}; \
         allow it with `rabbitmqctl set_permissions -p {vhost} {user} '.*' '.*' '.*'`"
    )]
    VhostRefused { at: String, vhost: String, user: String },
    #[error(
        "{at}: no encrypted connection ({detail}); does the port speak TLS, and is its certificate signed by an \
             authority that is known here? (name another one with ?cacertfile=/path/to/ca.pem)"
    )]
    Tls { at: String, detail: String },
    #[error(
        "the {what} {name} exists already, but {differs}; delete it when it is empty \
             (`rabbitmqctl delete_queue {name}`), or use a virtual host of your own"
    )]
    Conflict { what: &'static str, name: String, differs: String },
    #[error("the broker does not allow {what} ({detail}); give the user the rights to configure, write and read")]
    Forbidden { what: String, detail: String },
    /// Passes when the broker is back.
    #[error("the connection to the broker is lost ({0})")]
    Lost(String),
    #[error(transparent)]
    Engine(#[from] EngineError),
}

impl From<StoreError> for AmqpError {
    fn from(error: StoreError) -> Self {
        Self::Engine(error.into())
    }
}

impl From<lapin::Error> for AmqpError {
    fn from(error: lapin::Error) -> Self {
        Self::Lost(detail(&error))
    }
}

impl AmqpError {
    /// Trying again later may work, without anybody changing anything.
    pub const fn is_transient(&self) -> bool {
        match self {
            Self::Unreachable { .. } | Self::Lost(_) => true,
            Self::Engine(EngineError::Store(error)) => error.is_transient(),
            _ => false,
        }
    }
}

/// What lapin says, without its own prefixes.
pub(crate) fn detail(error: &lapin::Error) -> String {
    match error.kind() {
        ErrorKind::IOError(error) | ErrorKind::RuntimeShutdownError(error) => error.to_string(),
        ErrorKind::ProtocolError(error) => error.get_message().to_string(),
        _ => error.to_string(),
    }
}

/// The number of an answer of the broker, such as 406 for a queue that exists with other arguments.
pub(crate) fn reply_code(error: &lapin::Error) -> Option<u16> {
    match error.kind() {
        ErrorKind::ProtocolError(error) => Some(error.get_id()),
        _ => None,
    }
}
