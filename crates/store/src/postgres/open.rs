//! Connecting: how, and what can be wrong with a server.

use super::{
    fail::message,
    migrate,
    session::{Db, Setup},
    tls,
};
use crate::error::{StoreError, StoreResult};
use bindery_core::{
    fault::{Faults, NoFaults},
    time::Clock,
};
use deadpool_postgres::{Manager, ManagerConfig, Pool, RecyclingMethod};
use std::{fmt, path::PathBuf, sync::Arc, time::Duration};
use tokio_postgres::{
    Client, Config,
    config::{Host, SslMode},
    error::SqlState,
};
use tokio_postgres_rustls::MakeRustlsConnect;

/// The oldest server that has all we use.
const OLDEST_SERVER: i32 = 140_000;

/// How to open a store.
#[derive(Clone)]
pub struct PostgresOptions {
    /// `postgres://user:password@host:port/database`, with `?sslmode=require` for TLS with a server that proves who it
    /// is. Never shown with its password.
    pub url: String,
    /// A PEM file with certificates of authorities that are trusted besides the public ones.
    pub authorities: Option<PathBuf>,
    /// Where our tables are, apart from those of others. Made if it is not there.
    pub schema: String,
    /// How many connections one process may have, besides the one that listens.
    pub connections: usize,
    /// How long to go on trying when the server cannot be reached.
    pub patience: Duration,
    /// For tests: time comes from here. None: from the server.
    pub clock: Option<Arc<dyn Clock>>,
    pub faults: Arc<dyn Faults>,
}

impl PostgresOptions {
    /// The usual settings for a database at this URL.
    pub fn at(url: impl Into<String>) -> Self {
        Self {
            url: url.into(),
            authorities: None,
            schema: "bindery".to_owned(),
            connections: 8,
            patience: Duration::from_secs(15),
            clock: None,
            faults: Arc::new(NoFaults),
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
fn place(url: &str) -> String {
    let Ok(config) = url.parse::<Config>() else { return "postgres".to_owned() };
    let host = match config.get_hosts().first() {
        Some(Host::Tcp(host)) => host.clone(),
        Some(Host::Unix(path)) => path.display().to_string(),
        None => "localhost".to_owned(),
    };
    let port = config.get_ports().first().copied().unwrap_or(5432);
    format!("postgres://{host}:{port}/{}", config.get_dbname().or(config.get_user()).unwrap_or_default())
}

/// Connects, checks the server, and brings the schema forward.
pub(super) async fn open(options: &PostgresOptions) -> StoreResult<Db> {
    let place = place(&options.url);
    check_schema_name(&options.schema)?;
    let config = config(options)?;
    let tls = tls::connector(options, config.get_ssl_mode())?;
    let mut client = first_connection(&config, tls.clone(), &place).await?;
    check_server(&client, &place).await?;
    migrate::migrate(&mut client, &options.schema, &place).await?;
    drop(client);
    let manager_config = ManagerConfig { recycling_method: RecyclingMethod::Fast };
    let manager = Manager::from_config(config.clone(), tls.clone(), manager_config);
    let pool = Pool::builder(manager)
        .max_size(options.connections.max(2))
        .build()
        .map_err(|error| StoreError::CannotOpen { path: place.clone().into(), detail: error.to_string() })?;
    Ok(Db::new(Setup {
        pool,
        place,
        config,
        tls,
        channel: format!("bindery_{}", options.schema),
        patience: options.patience,
        clock: options.clock.clone(),
        faults: Arc::clone(&options.faults),
    }))
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
    let given = config.get_options().unwrap_or_default();
    // Every connection sees our schema alone. Our statements are short and look rows up by their keys. A queue's table is
    // empty at one moment and large at the next, so a plan that was made for the one must not be bad for the other: keys
    // are looked up in an index, in the order of the index, whatever the table looks like.
    let settings = format!(
        "{given} -c search_path={} -c jit=off -c enable_hashjoin=off -c enable_mergejoin=off -c enable_seqscan=off \
         -c enable_bitmapscan=off",
        options.schema
    );
    config.options(settings.trim());
    if config.get_application_name().is_none() {
        config.application_name("bindery");
    }
    if config.get_connect_timeout().is_none() {
        config.connect_timeout(Duration::from_secs(10));
    }
    config.keepalives_idle(Duration::from_secs(60));
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
    let detail = if wrong(&SqlState::INVALID_PASSWORD) {
        format!("the server refused the password of user {user}; check user and password in the URL")
    } else if wrong(&SqlState::INVALID_AUTHORIZATION_SPECIFICATION) {
        format!(
            "the server does not let user {user} in ({}); check pg_hba.conf, and sslmode in the URL",
            message(error)
        )
    } else if wrong(&SqlState::INVALID_CATALOG_NAME) {
        format!("there is no database {database}; make it with `createdb {database}`")
    } else if wrong(&SqlState::TOO_MANY_CONNECTIONS) {
        "the server has no connection left; raise its max_connections or use fewer".to_owned()
    } else if wrong(&SqlState::CANNOT_CONNECT_NOW) {
        "the server is starting or stopping; try again in a moment".to_owned()
    } else if error.code().is_some() {
        message(error)
    } else if message(error).contains("password missing") {
        format!("the server asks for a password of user {user}; put it into the URL")
    } else if config.get_ssl_mode() == SslMode::Require {
        format!("no TLS connection ({}); check host, port and the server's certificate", message(error))
    } else {
        format!("nobody answers there ({}); check host and port, and that PostgreSQL runs", message(error))
    };
    StoreError::CannotOpen { path: place.into(), detail }
}

async fn check_server(client: &Client, place: &str) -> StoreResult<()> {
    let sql =
        "SELECT current_setting('server_version_num')::int, pg_is_in_recovery(), current_setting('server_version')";
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
    Ok(())
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
