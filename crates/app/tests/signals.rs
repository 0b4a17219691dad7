//! Signals, in a process of their own: they reach everything in it.

use bindery_app::{Notice, Observer, Signals};
use bindery_engine::stop_pair;
use rustix::process::{Signal, getpid, kill_process};
use std::{future::pending, sync::Mutex};

#[derive(Debug, Default)]
struct Heard(Mutex<Vec<Notice>>);

impl Observer for Heard {
    fn notice(&self, notice: &Notice) {
        self.0.lock().expect("nobody panicked").push(notice.clone());
        kill_process(getpid(), Signal::TERM).expect("a process may signal itself");
    }
}

#[tokio::test]
async fn each_signal_says_more_until_nothing_is_waited_for() {
    let mut signals = Signals::new().unwrap();
    let (handle, mut stop) = stop_pair();
    let heard = Heard::default();
    let notices = [Notice::Draining, Notice::StoppingAtOnce];
    kill_process(getpid(), Signal::INT).unwrap();
    let done = signals.attend(&handle, &notices, &heard, pending::<()>()).await;
    assert_eq!(done, None);
    assert_eq!(*heard.0.lock().unwrap(), notices);
    stop.now().await;
    assert_eq!(signals.attend(&handle, &[], &heard, async { 7 }).await, Some(7));
}
