//! A database that cannot be used says why, in one sentence, and never with its password.

use crate::{
    postgres::desk_on,
    support::{Desk, Ran, samples},
};
use bindery_testkit::PostgresServer;

const PASSWORD: &str = "s3cret";

/// One sentence, a hint, the exit code of a store that cannot be used, and no password.
#[track_caller]
fn refused(ran: Ran, sentence: &str) {
    let ran = ran.fails_with(20, sentence);
    assert!(!ran.err.contains(PASSWORD) && !ran.out.contains(PASSWORD), "the password is shown: {ran:?}");
    assert_eq!(ran.err.lines().count(), 2, "not a sentence and a hint: {ran:?}");
    assert!(ran.err.lines().nth(1).unwrap().starts_with("hint: "), "{ran:?}");
}

async fn connect(url: &str) -> tokio_postgres::Client {
    let (client, connection) = tokio_postgres::connect(url, tokio_postgres::NoTls).await.unwrap();
    tokio::spawn(connection);
    client
}

#[tokio::test(flavor = "multi_thread")]
async fn every_way_to_be_refused_has_its_sentence() {
    let Some(server) = PostgresServer::start() else { return };
    let admin = connect(&server.url()).await;
    let roles = "CREATE ROLE ann LOGIN PASSWORD 's3cret'; CREATE ROLE looker LOGIN PASSWORD 's3cret'; \
                 CREATE ROLE readonly LOGIN PASSWORD 's3cret'; \
                 ALTER ROLE readonly SET default_transaction_read_only = on; \
                 GRANT CREATE ON DATABASE postgres TO readonly";
    admin.batch_execute(roles).await.unwrap();
    let desk = Desk::new().with_env("BINDERY_BLOBS", "blobs");
    let at = |login: &str, rest: &str| format!("postgres://{login}@127.0.0.1:{}/{rest}", server.port());
    let samples = samples();
    let run = |store: &str| desk.bindery(&["--store", store, "--log", "trace", "run", &samples]);
    let quietly = |store: &str| desk.bindery(&["--store", store, "run", &samples]);

    refused(quietly(&at("ann:s3cret-not", "postgres")), "the server refused the password of user ann");
    refused(quietly(&at("ann", "postgres")), "asks for a password of user ann; put it into the URL or into PGPASSWORD");
    refused(quietly(&at("postgres", "nowhere")), "there is no database nowhere; make it with `createdb nowhere`");
    refused(quietly(&at("ann:s3cret", "postgres")), "permission denied");
    refused(quietly(&at("readonly:s3cret", "postgres")), "use the URL of the primary server");
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    refused(quietly(&format!("postgres://ann:s3cret@{free}/b")), "nobody answers there");
    let ran = desk.bindery(&["--store", "postgres://ann:s3cret@h:port/x", "status"]);
    assert!(!ran.err.contains(PASSWORD), "{ran:?}");
    ran.fails_with(2, "expected postgres://user:password@host:port/database");
    admin.batch_execute("CREATE SCHEMA theirs; CREATE TABLE theirs.a (b int)").await.unwrap();
    refused(quietly(&at("postgres", "postgres?schema=theirs")), "has tables of another program");

    // Nor do logs show it, whatever is logged.
    admin.batch_execute("GRANT CREATE ON DATABASE postgres TO ann").await.unwrap();
    let ran = run(&at("ann:s3cret", "postgres?schema=logged")).ok();
    assert!(!ran.err.contains(PASSWORD), "{ran:?}");

    // A password that is not in the URL comes from the environment.
    let own = Desk::new()
        .with_env("BINDERY_STORE", at("ann", "postgres?schema=logged"))
        .with_env("BINDERY_BLOBS", desk.path("blobs").display().to_string())
        .with_env("PGPASSWORD", PASSWORD);
    own.bindery(&["status", "sub_1"]).ok();
    let rights = "GRANT USAGE ON SCHEMA logged TO looker; GRANT SELECT ON ALL TABLES IN SCHEMA logged TO looker";
    admin.batch_execute(rights).await.unwrap();
    let looker = at("looker:s3cret", "postgres?schema=logged");
    desk.bindery(&["--store", &looker, "status", "sub_1"]).ok();
    refused(desk.bindery(&["--store", &looker, "cancel", "sub_1"]), "permission denied");

    admin.execute("UPDATE logged.bindery_version SET version = 0", &[]).await.unwrap();
    refused(own.bindery(&["status"]), "the store has version 0, this program needs version");
    admin.execute("UPDATE logged.bindery_version SET version = 99", &[]).await.unwrap();
    own.bindery(&["status"]).fails_with(20, "the database has version 99, this program knows versions up to");
}

#[test]
fn a_database_needs_blobs_that_every_machine_sees() {
    let desk = Desk::new().with_env("BINDERY_STORE", "postgres://ann:s3cret@127.0.0.1:1/b");
    refused(desk.bindery(&["run", &samples()]), "with PostgreSQL, every machine must see the same blobs");
    let Some(server) = PostgresServer::start() else { return };
    let desk = desk_on(&server);
    desk.bindery(&["run", &samples()]).ok();
    std::fs::rename(desk.path("shared"), desk.path("unmounted")).unwrap();
    refused(desk.bindery(&["run", &samples()]), "there are no blobs in shared/blobs, and the store is in use already");
    assert!(!desk.path("shared").exists());
}
