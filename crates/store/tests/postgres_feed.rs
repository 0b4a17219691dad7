//! Transactions that commit in another order than they began: a reader of the feed must not run past one of them.

mod postgres_server;

use bindery_core::{
    EventSeq,
    event::{Event, NewEvent},
};
use bindery_store::{Feed, postgres::PostgresStore, query::EventFilter};
use postgres_server::Server;
use tokio_postgres::Transaction;

/// Writes an event in a transaction of our own, which stays open.
async fn write(transaction: &Transaction<'_>, schema: &str, kind: &str) {
    let sql = format!(
        "INSERT INTO {schema}.event (seq, kind, at, data) \
         SELECT ((pg_current_xact_id()::text::bigint - base) << 20) + 1, $1, 0, '{{}}' FROM {schema}.feed"
    );
    transaction.execute(&sql, &[&kind]).await.expect("the event is written");
}

async fn read(store: &PostgresStore, after: EventSeq) -> Vec<Event> {
    store.read_events(after, EventFilter::default(), 100).await.expect("the log is read")
}

fn kinds(events: &[Event]) -> Vec<&str> {
    events.iter().map(|event| event.kind.as_str()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_event_that_commits_late_is_never_behind_a_reader() {
    let Some(server) = Server::start() else { return };
    let options = server.options();
    let schema = options.schema.clone();
    let store = PostgresStore::open(options).await.unwrap();
    store.append_events(vec![NewEvent::new("First", None, "{}".to_owned())]).await.unwrap();
    let seen = read(&store, EventSeq::START).await;
    assert_eq!(kinds(&seen), ["First"]);
    let position = seen[0].seq;

    let (mut one, mut two) = (server.connect().await, server.connect().await);
    let early = one.transaction().await.unwrap();
    write(&early, &schema, "BegunEarly").await;
    let late = two.transaction().await.unwrap();
    write(&late, &schema, "BegunLate").await;

    late.commit().await.unwrap();
    assert_eq!(kinds(&read(&store, position).await), [] as [&str; 0], "a reader would pass the one that began earlier");
    assert_eq!(store.last_event().await.unwrap(), position, "the newest position that can be read");
    let appended = store.append_events(vec![NewEvent::new("Last", None, "{}".to_owned())]).await.unwrap();
    assert_eq!(kinds(&read(&store, position).await), [] as [&str; 0], "our own event waits its turn too");

    early.commit().await.unwrap();
    let rest = read(&store, position).await;
    assert_eq!(kinds(&rest), ["BegunEarly", "BegunLate", "Last"]);
    assert_eq!(appended, [Some(rest[2].seq)], "the position that was said is the one that is read");
    assert!(rest.windows(2).all(|pair| pair[0].seq < pair[1].seq));

    let given_up = one.transaction().await.unwrap();
    write(&given_up, &schema, "GivenUp").await;
    store.append_events(vec![NewEvent::new("After", None, "{}".to_owned())]).await.unwrap();
    given_up.rollback().await.unwrap();
    assert_eq!(kinds(&read(&store, rest[2].seq).await), ["After"], "what was rolled back holds nobody up");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn positions_go_on_growing_on_another_server() {
    let Some(server) = Server::start() else { return };
    let options = server.options();
    let store = PostgresStore::open(options.clone()).await.unwrap();
    store.append_events(vec![NewEvent::new("Before", None, "{}".to_owned())]).await.unwrap();
    let before = store.last_event().await.unwrap();
    drop(store);
    // As after a restore from a dump: the events are there, but this server has counted fewer transactions.
    let move_up = format!("UPDATE {}.event SET seq = seq + (1::bigint << 50)", options.schema);
    server.connect().await.execute(&move_up, &[]).await.unwrap();
    let before = EventSeq::from_raw(before.raw() + (1 << 50));

    let store = PostgresStore::open(options).await.unwrap();
    store.append_events(vec![NewEvent::new("After", None, "{}".to_owned())]).await.unwrap();
    assert_eq!(kinds(&read(&store, EventSeq::START).await), ["Before", "After"]);
    assert_eq!(kinds(&read(&store, before).await), ["After"], "a consumer would never hear of what follows");
}
