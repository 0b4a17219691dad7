//! Connecting: how, and what can be wrong with a server.

use super::{
    claim,
    fail::{is_going, message},
    migrate,
    session::{Db, Setup},
    tls,
};
use crate::{
    error::{StoreError, StoreResult},
    rows::Domain,
};
use bindery_core::{
    ContentHash, Timestamp,
    fault::{Faults, NoFaults},
    time::Clock,
};
use deadpool_postgres::{Hook, HookError, Manager, ManagerConfig, Pool, QueueMode, RecyclingMethod};
use std::{fmt, path::PathBuf, sync::Arc, time::Duration};
use tokio_postgres::{
    Client, Config,
    config::{Host, SslMode},
    error::SqlState,
};
use tokio_postgres_rustls::MakeRustlsConnect;

/// The oldest server that has all we use.
const OLDEST_SERVER: i32 = 140_000;

/// How long the server waits for a process that is in the middle of a transaction and does not answer: it may be frozen,
/// or cut off, and others wait for its locks.
const PATIENCE_WITH_US: &str = "-c idle_in_transaction_session_timeout=30s -c tcp_keepalives_idle=10 \
    -c tcp_keepalives_interval=5 -c tcp_keepalives_count=3 -c tcp_user_timeout=25s";

/// How to open a store.
#[derive(Clone)]
pub struct PostgresOptions {
    /// `postgres://user:password@host:port/database`, with `?sslmode=require` for TLS with a server that proves who it
    /// is. Never shown with its password.
    pub url: String,
    /// For a URL without a password, which may then be seen by others.
    pub password: Option<String>,
    /// A PEM file with certificates of authorities that are trusted besides the public ones.
    pub authorities: Option<PathBuf>,
    /// Where our tables are, apart from those of others. Made if it is not there.
    pub schema: String,
    /// How long one try to connect may take, unless the URL says it.
    pub connect_within: Duration,
    /// How many connections one process may have, besides the one that listens.
    pub connections: usize,
    /// How long to go on trying when the server cannot be reached.
    pub patience: Duration,
    /// For tests: time comes from here. None: from the server.
    pub clock: Option<Arc<dyn Clock>>,
    pub faults: Arc<dyn Faults>,
    /// Whose rows are kept besides the store's own.
    pub domains: &'static [&'static dyn Domain],
}

impl PostgresOptions {
    /// The usual settings for a database at this URL.
    pub fn at(url: impl Into<String>) -> Self {
        Self {
            url: url.into(),
            password: None,
            authorities: None,
            schema: "bindery".to_owned(),
            connect_within: Duration::from_secs(10),
            connections: 8,
            patience: Duration::from_secs(15),
            clock: None,
            faults: Arc::new(NoFaults),
            domains: &[],
        }
    }
}

impl fmt::Debug for PostgresOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresOptions")
            .field("place", &place(&self.url))
            .field("schema", &self.schema)
            .field("connections", &self.connections)
            .finish_non_exhaustive()
    }
}

/// The URL as far as it may be shown: no user, no password, no settings.
pub(super) fn place(url: &str) -> String {
    let Ok(config) = url.parse::<Config>() else { return "postgres".to_owned() };
    let host = match config.get_hosts().first() {
        Some(Host::Tcp(host)) => host.clone(),
        Some(Host::Unix(path)) => path.display().to_string(),
        None => "localhost".to_owned(),
    };
    let port = config.get_ports().first().copied().unwrap_or(5432);
    // An IPv6 address has colons of its own.
    let host = if host.contains(':') { format!("[{host}]") } else { host };
    format!("postgres://{host}:{port}/{}", config.get_dbname().or(config.get_user()).unwrap_or_default())
}

/// Connects, checks the server, and makes the schema or brings it forward.
pub(super) async fn open(options: &PostgresOptions) -> StoreResult<Db> {
    let mut opening = Opening::connect(options).await?;
    migrate::migrate(&mut opening.client, options, &opening.place).await?;
    opening.into_db(options)
}

/// The same for a schema that is there and as new as this program. Changes nothing; none where there is no store.
pub(super) async fn open_existing(options: &PostgresOptions) -> StoreResult<Option<Db>> {
    let opening = Opening::connect(options).await?;
    if !migrate::is_there(&opening.client, options, &opening.place).await? {
        return Ok(None);
    }
    opening.into_db(options).map(Some)
}

/// A server that will do, before anything was looked at.
struct Opening {
    place: String,
    config: Config,
    tls: MakeRustlsConnect,
    client: Client,
    /// The server's time.
    now: Timestamp,
}

impl Opening {
    async fn connect(options: &PostgresOptions) -> StoreResult<Self> {
        let place = place(&options.url);
        check_schema_name(&options.schema)?;
        let config = config(options)?;
        let tls = tls::connector(options, config.get_ssl_mode())?;
        let client = first_connection(&config, tls.clone(), &place).await?;
        let now = check_server(&client, &place).await?;
        Ok(Self { place, config, tls, client, now })
    }

    fn into_db(self, options: &PostgresOptions) -> StoreResult<Db> {
        let Self { place, config, tls, client, now } = self;
        drop(client);
        let setup = pooled(options, place, config, tls)?;
        Ok(Db::new(setup, now))
    }
}

fn pooled(options: &PostgresOptions, place: String, config: Config, tls: MakeRustlsConnect) -> StoreResult<Setup> {
    let manager_config = ManagerConfig { recycling_method: RecyclingMethod::Fast };
    let manager = Manager::from_config(config.clone(), tls.clone(), manager_config);
    let (class, process) = (lock_class(&options.schema), fastrand::i32(1..));
    let lock = format!("SELECT pg_advisory_lock_shared({class}, {process}); {}", claim::NUMBER_CONNECTION);
    let be_seen = Hook::async_fn(move |client: &mut deadpool_postgres::ClientWrapper, _| {
        let lock = lock.clone();
        Box::pin(async move { client.batch_execute(&lock).await.map_err(HookError::Backend) })
    });
    let pool = Pool::builder(manager)
        .post_create(be_seen)
        .max_size(options.connections.max(2))
        // The one that was used last: its statements are prepared, and the others may rest.
        .queue_mode(QueueMode::Lifo)
        .build()
        .map_err(|error| StoreError::CannotOpen { path: place.clone().into(), detail: error.to_string() })?;
    Ok(Setup {
        pool,
        place,
        config,
        tls,
        channel: format!("bindery_{}", options.schema),
        use_lock: (class, process),
        patience: options.patience,
        clock: options.clock.clone(),
        faults: Arc::clone(&options.faults),
        domains: options.domains,
    })
}

/// Every connection holds a shared advisory lock of this class under the number of its process, so that processes that use a
/// schema see each other.
fn lock_class(schema: &str) -> i32 {
    let hash = ContentHash::of(format!("bindery use of schema {schema}").as_bytes());
    let [a, b, c, d, ..] = *hash.as_bytes();
    i32::from_be_bytes([a & 0x7F, b, c, d])
}

/// The name becomes part of statements, so it is plain.
fn check_schema_name(schema: &str) -> StoreResult<()> {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    if schema.bytes().all(plain)
        && schema.bytes().next().is_some_and(|first| !first.is_ascii_digit())
        && schema.len() < 50
    {
        return Ok(());
    }
    let expected = "expected up to 49 small letters, digits and underscores, beginning with a letter";
    Err(StoreError::Invalid(format!("schema {schema:?}: {expected}")))
}

fn config(options: &PostgresOptions) -> StoreResult<Config> {
    // The parser's own message may quote what it did not understand, so it is left out.
    let mut config = options.url.parse::<Config>().map_err(|_| {
        StoreError::Invalid("database URL: expected postgres://user:password@host:port/database".to_owned())
    })?;
    if config.get_hosts().is_empty() {
        config.host("localhost");
    }
    if let (None, Some(password)) = (config.get_password(), &options.password) {
        config.password(password);
    }
    let given = config.get_options().unwrap_or_default();
    // Every connection sees our schema alone. Our statements are short and look rows up by their keys. A queue's table is
    // empty at one moment and large at the next, so a plan that was made for the one must not be bad for the other: keys
    // are looked up in an index, in the order of the index, whatever the table looks like.
    let plans =
        "-c jit=off -c enable_hashjoin=off -c enable_mergejoin=off -c enable_seqscan=off -c enable_bitmapscan=off";
    let settings = format!("{given} -c search_path={} {plans} {PATIENCE_WITH_US}", options.schema);
    config.options(settings.trim());
    if config.get_application_name().is_none() {
        config.application_name("bindery");
    }
    if config.get_connect_timeout().is_none() {
        config.connect_timeout(options.connect_within);
    }
    // A machine that was cut off holds locks that others wait for: both sides notice within half a minute.
    config.keepalives_idle(Duration::from_secs(10)).keepalives_interval(Duration::from_secs(5)).keepalives_retries(3);
    config.tcp_user_timeout(Duration::from_secs(25));
    Ok(config)
}

async fn first_connection(config: &Config, tls: MakeRustlsConnect, place: &str) -> StoreResult<Client> {
    let (client, connection) = config.connect(tls).await.map_err(|error| cannot_connect(&error, config, place))?;
    tokio::spawn(async move {
        if let Err(error) = connection.await {
            tracing::debug!(error = %error, "the opening connection ended");
        }
    });
    Ok(client)
}

/// Why there is no connection, with what to do about it.
fn cannot_connect(error: &tokio_postgres::Error, config: &Config, place: &str) -> StoreError {
    let user = config.get_user().unwrap_or("of this login");
    let database = config.get_dbname().unwrap_or(user);
    let wrong = |state: &SqlState| error.code() == Some(state);
    // What may be otherwise in a moment.
    if error.code().is_some_and(is_going) {
        let detail = if wrong(&SqlState::TOO_MANY_CONNECTIONS) {
            "the server has no connection left; raise its max_connections or use fewer".to_owned()
        } else {
            "the server is starting or stopping; try again in a moment".to_owned()
        };
        return StoreError::Unreachable { path: place.into(), detail };
    }
    if is_not_connected(error) {
        let detail = format!("nobody answers there: {}; check host and port, and that PostgreSQL runs", message(error));
        return StoreError::Unreachable { path: place.into(), detail };
    }
    let detail = if wrong(&SqlState::INVALID_PASSWORD) {
        format!("the server refused the password of user {user}; check user and password in the URL")
    } else if wrong(&SqlState::INVALID_AUTHORIZATION_SPECIFICATION) {
        format!(
            "the server does not let user {user} in ({}); check pg_hba.conf, and sslmode in the URL",
            message(error)
        )
    } else if wrong(&SqlState::INVALID_CATALOG_NAME) {
        format!("there is no database {database}; make it with `createdb {database}`")
    } else if error.code().is_some() {
        message(error)
    } else if message(error).contains("password missing") {
        format!("the server asks for a password of user {user}; put it into the URL or into PGPASSWORD")
    } else if config.get_ssl_mode() == SslMode::Require {
        format!("no TLS connection ({}); check host, port and the server's certificate", message(error))
    } else {
        format!("what answers there does not speak like PostgreSQL ({}); check host and port", message(error))
    };
    StoreError::CannotOpen { path: place.into(), detail }
}

/// No connection came about at all, or it broke before the server had said anything.
fn is_not_connected(error: &tokio_postgres::Error) -> bool {
    use std::{error::Error as _, io};
    let broken = |error: &io::Error| {
        use io::ErrorKind as Kind;
        !matches!(error.kind(), Kind::InvalidData | Kind::InvalidInput | Kind::Other)
    };
    let source = error.source().and_then(|source| source.downcast_ref::<io::Error>());
    // The library does not tell its kinds apart in any other way.
    error.code().is_none()
        && (error.is_closed() || error.to_string().starts_with("error connecting") || source.is_some_and(broken))
}

/// Whether the server will do; its time.
async fn check_server(client: &Client, place: &str) -> StoreResult<Timestamp> {
    let sql = "SELECT current_setting('server_version_num')::int, pg_is_in_recovery(), \
               current_setting('server_version'), floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint";
    let row = client.query_one(sql, &[]).await.map_err(|error| super::fail::explain(&error, place))?;
    let (number, replica, version): (i32, bool, String) = (row.get(0), row.get(1), row.get(2));
    if number < OLDEST_SERVER {
        let detail = format!("the server is PostgreSQL {version}; 14 or newer is needed");
        return Err(StoreError::CannotOpen { path: place.into(), detail });
    }
    if replica {
        let detail = "the server is a read-only replica; use the URL of the primary server".to_owned();
        return Err(StoreError::NotWritable { path: place.into(), detail });
    }
    Ok(Timestamp::from_millis(row.get(3)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_password_is_never_shown() {
        let options = PostgresOptions::at("postgres://ann:s3cret@db.example:6000/work?sslmode=require");
        let shown = format!("{options:?}");
        assert!(shown.contains("postgres://db.example:6000/work"), "{shown}");
        assert!(!shown.contains("s3cret"), "{shown}");
        let broken = PostgresOptions::at("postgres://ann:s3cret@db.example:port/work");
        assert!(!format!("{broken:?} {}", config(&broken).unwrap_err()).contains("s3cret"));
    }

    #[test]
    fn a_schema_has_a_plain_name() {
        assert!(check_schema_name("bindery_2").is_ok());
        for bad in ["", "Bindery", "2nd", "a b", "x\";drop", &"x".repeat(50)] {
            assert!(check_schema_name(bad).is_err(), "{bad:?} was taken for a schema");
        }
    }
}
