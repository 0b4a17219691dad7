//! How exactly the limiter keeps its rate: 200 threads call a server on this machine through the whole client, on the
//! machine's clock, and the server writes down when each call arrives.
//!
//! `cargo run --release -p bindery-models --example bench_models [calls] [requests per minute]`

#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a benchmark prints its numbers, and stops if it cannot go on"
)]

use bindery_models::{Models, ModelsConfig, Request, Schema, SizeClass, cache::MemoryCache, ledger::MemoryLedger};
use bindery_testkit::model_server::{Reply, Server};
use serde_json::json;
use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::Instant,
};

const CALLERS: usize = 200;

fn main() {
    let mut arguments = std::env::args().skip(1).map(|argument| argument.parse::<u64>().unwrap());
    let calls = arguments.next().unwrap_or(600) as usize;
    let rate = arguments.next().unwrap_or(3600);
    let arrivals: Arc<Mutex<Vec<Instant>>> = Arc::default();
    let server = Server::start({
        let arrivals = Arc::clone(&arrivals);
        move |seen, _| {
            arrivals.lock().unwrap().push(Instant::now());
            Reply::says(seen, &json!({"item_id": seen.item(), "summary": "x"}).to_string())
        }
    });
    let text = format!(
        "[models]\nprovider = \"openai\"\nbase_url = \"{}\"\nrequests_per_minute = {rate}\nlongest_wait_seconds = 3600\nsmall = {{ model = \"bench\" }}",
        server.url("/v1")
    );
    let config = ModelsConfig::parse(&text, "bench").unwrap();
    let models = Models::new(config, Arc::new(MemoryLedger::default()), Arc::new(MemoryCache::default())).unwrap();
    let schema = json!({"type": "object", "required": ["summary"], "properties": {"summary": {"type": "string"}}});
    let schema = Schema::new(schema).unwrap();
    let next = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..CALLERS {
            scope.spawn(|| {
                loop {
                    let call = next.fetch_add(1, Ordering::SeqCst);
                    if call >= calls {
                        break;
                    }
                    let request = Request {
                        item: format!("item-{call}"),
                        system: "Summarise.".to_owned(),
                        user: format!("Text {call}"),
                        schema: schema.clone(),
                        size: SizeClass::Small,
                        max_output_tokens: 100,
                        temperature: 0.0,
                        prompt_version: "bench-1".to_owned(),
                    };
                    models.ask(&request, &|| false).unwrap();
                }
            });
        }
    });
    let mut arrivals = arrivals.lock().unwrap().clone();
    arrivals.sort();
    let took = arrivals[arrivals.len() - 1].duration_since(arrivals[0]).as_secs_f64();
    let measured = (arrivals.len() - 1) as f64 / took * 60.0;
    let error = (measured - rate as f64).abs() / rate as f64 * 100.0;
    println!("{calls} calls by {CALLERS} threads in {took:.2} s: {measured:.1} per minute, asked for {rate}");
    println!("BENCH limiter_error_pct={error:.2}");
}
