//! A stop signal ends every wait at once.

use crate::{
    server::{Reply, Server},
    vendor::{client, driver, site},
};
use async_trait::async_trait;
use bindery_civic::{
    client::{Client, Kind, Network, Session, Settings, Timer, Trouble, Want},
    visit::{Known, VisitFault},
};
use bindery_core::Timestamp;
use bindery_engine::stop_pair;
use bindery_http::Cancelled;
use std::sync::Arc;
use tokio::sync::Notify;

/// A clock on which no moment ever comes.
#[derive(Debug, Default)]
struct StandingTimer {
    somebody_waits: Notify,
}

#[async_trait]
impl Timer for StandingTimer {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(0)
    }

    fn wall_clock(&self) -> Timestamp {
        self.now()
    }

    fn wait_until(&self, _: Timestamp, cancelled: Cancelled<'_>) -> bool {
        while !cancelled() {
            std::thread::yield_now();
        }
        false
    }

    async fn sleep_until(&self, _: Timestamp) {
        self.somebody_waits.notify_one();
        std::future::pending::<()>().await;
    }
}

#[tokio::test]
async fn s001_03_waiting_for_ones_turn_ends_with_the_signal() {
    let server = Server::start(|_, _| Reply::text("well"));
    let timer = Arc::new(StandingTimer::default());
    let settings = Settings { allow_private: true, ..Settings::default() };
    let client = Client::new(&settings, Arc::new(Network::new(&settings)), Arc::clone(&timer) as Arc<dyn Timer>);
    let (handle, stop) = stop_pair();
    let (session, want) = (Session::new("lines", "testvilleCA"), Want::new(server.url("/"), Kind::Page));
    // The page waits behind its robots.txt, and would for ever.
    let (fetched, ()) = tokio::join!(client.fetch(&session, &want, &stop), async {
        timer.somebody_waits.notified().await;
        handle.stop();
    });
    assert_eq!(fetched.unwrap_err().trouble, Trouble::Stopped);
    assert!(client.begin_city("lines", &stop).await.is_none());
}

#[tokio::test]
async fn s001_03_a_request_under_way_is_not_waited_for() {
    let asked = Arc::new(Notify::new());
    let server = Server::start({
        let asked = Arc::clone(&asked);
        move |seen, _| {
            if seen.path == "/robots.txt" {
                return Reply::new(404);
            }
            asked.notify_one();
            Reply::text("").hangs()
        }
    });
    let (client, site, known) = (client(&Settings::default()), site(&server), Known::default());
    let (handle, stop) = stop_pair();
    let driver = driver(&client, &site, &known);
    let (visited, ()) = tokio::join!(driver.visit(&stop), async {
        asked.notified().await;
        handle.stop();
    });
    assert_eq!(visited.unwrap_err().fault, VisitFault::Stopped);
}

#[tokio::test]
async fn s001_14_a_city_waits_until_another_of_its_vendor_has_ended() {
    // ▲ A setting; two by default, as in the seed.
    let client = client(&Settings::default());
    let (_handle, stop) = stop_pair();
    let first = client.begin_city("legistar", &stop).await.unwrap();
    let _second = client.begin_city("legistar", &stop).await.unwrap();
    let _other = client.begin_city("granicus", &stop).await.unwrap();
    let mut third = std::pin::pin!(client.begin_city("legistar", &stop));
    tokio::select! {
        biased;
        _ = &mut third => panic!("two are under way"),
        () = tokio::task::yield_now() => {}
    }
    drop(first);
    assert!(third.await.is_some());
}
