//! `kill -9` at random moments.

use crate::{
    child::Orders,
    torture::{Torture, kills_wanted},
};

#[test]
fn workers_killed_at_random_moments_lose_and_repeat_nothing() {
    let wanted = kills_wanted(12);
    let dir = tempfile::tempdir().unwrap();
    let orders = Orders { lease_ms: 500, ..Orders::new(dir.path(), "worker") };
    let mut torture = Torture::begin(orders, if wanted > 100 { 120 } else { 30 });
    while torture.kills < wanted {
        torture.go_on();
    }
    println!("torture: {}", torture.end());
}
