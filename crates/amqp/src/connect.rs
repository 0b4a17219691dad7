//! Opening connections, and saying clearly why one cannot be opened.

use crate::{
    error::{AmqpError, AmqpResult, detail, reply_code},
    options::Address,
};
use bindery_core::backoff::{Backoff, Retries};
use bindery_engine::StopSignal;
use lapin::{Connection, ConnectionProperties, ErrorKind, runtime::default_runtime};
use std::time::Duration;

/// How long a broker may take to let us in.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long it may take for what it is asked then; many queues take their time on a busy one.
const ANSWER_WITHIN: Duration = Duration::from_secs(30);

const CLOSE_WITHIN: Duration = Duration::from_secs(3);

/// How often a waiting publisher polls whether the connection is still there.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// The numbers of AMQP's answers.
pub(crate) const ACCESS_REFUSED: u16 = 403;
pub(crate) const PRECONDITION_FAILED: u16 = 406;
const NOT_ALLOWED: u16 = 530;

/// One connection; `purpose` is how the broker shows it.
pub(crate) async fn open(address: &Address, purpose: &str) -> AmqpResult<Connection> {
    let properties = ConnectionProperties::default().with_connection_name(format!("bindery {purpose}").into());
    let runtime = default_runtime().map_err(|error| AmqpError::Lost(detail(&error)))?;
    let opening = Connection::connect_uri_with_config(address.uri.clone(), properties, address.tls.clone(), runtime);
    match tokio::time::timeout(PATIENCE, opening).await {
        Ok(Ok(connection)) => Ok(connection),
        Ok(Err(error)) => Err(connect_error(address, &error)),
        Err(_) => {
            let detail = format!("no answer within {} s", PATIENCE.as_secs());
            Err(AmqpError::Unreachable { at: address.display_url(), detail })
        }
    }
}

/// What the broker is asked, and must answer in time. One that is just starting may accept a connection and then forget
/// what it was asked on it; nobody would wait for that in vain.
pub(crate) async fn within_answer_limit<T>(
    is_open: impl Fn() -> bool,
    asked: impl Future<Output = AmqpResult<T>>,
) -> AmqpResult<T> {
    tokio::select! {
        biased;
        answered = asked => answered,
        () = wait_until_closed(is_open) => Err(AmqpError::Lost(GONE.to_owned())),
        () = tokio::time::sleep(ANSWER_WITHIN) => {
            Err(AmqpError::Lost(format!("no answer within {} s", ANSWER_WITHIN.as_secs())))
        }
    }
}

/// Why no confirm will come any more.
pub(crate) const GONE: &str = "the connection was lost";

/// Returns when a connection or a channel is gone. The client answers everything that is open at that moment; what is asked
/// at the very same moment it may forget, and a publisher that waits for that would wait in vain.
pub(crate) async fn wait_until_closed(is_open: impl Fn() -> bool) {
    while is_open() {
        tokio::time::sleep(LOOK_EVERY).await;
    }
    // What was answered comes first.
    tokio::time::sleep(LOOK_EVERY).await;
}

/// Closes a connection, or leaves it: one that is half gone may never answer.
pub(crate) async fn close(connection: &Connection) {
    let _ = tokio::time::timeout(CLOSE_WITHIN, connection.close(200, "done".into())).await;
}

fn connect_error(address: &Address, error: &lapin::Error) -> AmqpError {
    let (at, user, vhost) = (address.display_url(), address.user(), address.uri.vhost.clone());
    let said = detail(error);
    match (reply_code(error), error.kind()) {
        (Some(ACCESS_REFUSED), _) => AmqpError::Login { at, user },
        (Some(NOT_ALLOWED), _) if said.contains("not found") => AmqpError::NoVhost { at, vhost },
        (Some(NOT_ALLOWED), _) => AmqpError::VhostRefused { at, vhost, user },
        (_, ErrorKind::IOError(error)) if address.is_encrypted() && is_about_tls(error) => {
            AmqpError::Tls { at, detail: said }
        }
        _ => AmqpError::Unreachable { at, detail: said },
    }
}

/// A port that does not speak TLS closes the connection, or answers with something else.
fn is_about_tls(error: &std::io::Error) -> bool {
    use std::io::ErrorKind as Io;
    !matches!(error.kind(), Io::ConnectionRefused | Io::HostUnreachable | Io::NetworkUnreachable | Io::TimedOut)
        && !error.to_string().contains("lookup")
}

/// The back-off between connections, so that processes do not come back all at once.
pub(crate) const RECONNECT: Backoff = Backoff::doubling(Duration::from_millis(100), Duration::from_millis(6_400));

/// Waits before the next try; false if it should end.
pub(crate) async fn pause(retries: &mut Retries, stop: &mut StopSignal) -> bool {
    tokio::select! {
        () = tokio::time::sleep(retries.next_delay()) => true,
        () = stop.stopping() => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{cell::Cell, time::Instant};

    #[tokio::test]
    async fn who_waits_on_a_connection_that_is_lost_waits_no_longer() {
        let (begun, asked) = (Instant::now(), Cell::new(0));
        // It is there when somebody asks, and gone a moment later.
        let is_open = || asked.replace(asked.get() + 1) < 2;
        let never = std::future::pending::<AmqpResult<()>>();
        let ended = within_answer_limit(is_open, never).await.unwrap_err();
        assert_eq!(ended.to_string(), AmqpError::Lost(GONE.to_owned()).to_string());
        assert!(begun.elapsed() < ANSWER_WITHIN / 2, "{:?}", begun.elapsed());
        // What was answered before is what counts.
        assert_eq!(within_answer_limit(|| false, async { Ok(7) }).await.unwrap(), 7);
    }
}
