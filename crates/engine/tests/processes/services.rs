//! Services: requests as bytes, under the limits that inputs have.

use crate::child::processes;
use bindery_core::{StepError, error::ErrorClass};
use bindery_engine::{
    context::BlobAccess,
    runner::{
        Limits, Processes,
        processes::{Call, Service},
    },
};
use std::sync::Mutex;

/// Does what its request says, and keeps memory if it is told to.
#[derive(Debug, Default)]
pub(crate) struct Servant {
    kept: Mutex<Vec<Vec<u8>>>,
}

const NAME: &str = "servant";

impl Service for Servant {
    fn name(&self) -> &'static str {
        NAME
    }

    fn answer(&self, request: &[u8], _blobs: Option<&BlobAccess>) -> Vec<u8> {
        let (deed, number) = std::str::from_utf8(request).unwrap().split_once(' ').unwrap();
        let number: usize = number.parse().unwrap();
        match deed {
            "size" => vec![7; number],
            "keep" => {
                self.kept.lock().unwrap().push(vec![1; number << 20]);
                b"kept".to_vec()
            }
            "take" => vec![vec![1_u8; number << 20].len().to_le_bytes()[0]],
            "panic" => panic!("as it was told"),
            _ => std::process::exit(3),
        }
    }
}

const LIMIT: u64 = 200 << 20;

fn ask(children: &Processes, key: u64, request: &str) -> Result<Vec<u8>, StepError> {
    let limits = Limits { time: None, memory: Some(LIMIT) };
    children.call(&Call { service: NAME, limits, key, request: &|_| request.as_bytes().to_vec() })
}

#[test]
fn answers_are_bytes_of_any_length_and_the_child_is_kept() {
    let children = processes(1);
    for size in [0, 1, 70_000, 3 << 20] {
        assert_eq!(ask(&children, 1, &format!("size {size}")).unwrap(), vec![7; size]);
    }
    let pids = children.pids();
    assert_eq!(pids.len(), 1);
    let error = ask(&children, 1, "panic 0").unwrap_err();
    assert_eq!((error.kind.as_str(), error.message.as_str()), ("Panic", "the service servant panicked"));
    assert_eq!(ask(&children, 1, "size 1").unwrap(), [7]);
    assert_eq!(children.pids(), pids);
}

#[test]
fn a_request_that_needs_too_much_fails_alone() {
    let children = processes(2);
    assert!(ask(&children, 1, "size 1").is_ok());
    let error = ask(&children, 1, "take 2000").unwrap_err();
    assert_eq!((error.kind.as_str(), error.class()), ("MemoryLimit", ErrorClass::Reject), "{error}");
    let error = ask(&children, 1, "end 0").unwrap_err();
    assert_eq!((error.kind.as_str(), error.class()), ("WorkerDied", ErrorClass::Retry), "{error}");
    assert!(error.message.contains("exit code 3"), "{error}");
    assert!(ask(&children, 1, "size 1").is_ok());
}

#[test]
fn what_a_child_has_kept_is_not_counted_against_the_next_request() {
    let children = processes(1);
    assert!(ask(&children, 1, "size 1").is_ok());
    let first = children.pids();
    // More than half of the limit stays behind: another child takes over.
    assert_eq!(ask(&children, 1, "keep 120").unwrap(), b"kept");
    assert!(ask(&children, 1, "take 120").is_ok());
    assert_ne!(children.pids(), first);
    // Less than half stays, and the next request does not fit beside it: it is tried again in a fresh child.
    assert_eq!(ask(&children, 1, "keep 80").unwrap(), b"kept");
    let second = children.pids();
    assert!(ask(&children, 1, "take 170").is_ok());
    assert_ne!(children.pids(), second);
}

#[test]
fn requests_of_a_key_go_to_the_child_that_had_it() {
    let children = processes(2);
    let seen = |key: u64| {
        let known = Mutex::new(None);
        let request = |has_seen: bool| {
            *known.lock().unwrap() = Some(has_seen);
            b"size 1".to_vec()
        };
        children.call(&Call { service: NAME, limits: Limits::default(), key, request: &request }).unwrap();
        known.into_inner().unwrap().unwrap()
    };
    assert_eq!([seen(1), seen(1), seen(2), seen(1), seen(2)], [false, true, false, true, true]);
}

#[test]
fn a_service_that_is_not_there_is_named() {
    let children = processes(1);
    let call = Call { service: "gardener", limits: Limits::default(), key: 0, request: &|_| Vec::new() };
    let error = children.call(&call).unwrap_err();
    assert_eq!(error.message, "the child process has no service gardener");
}
