//! What language models cost and answer: never above the cap, never twice, never forgotten.

use bindery_conformance::Fixture;
use bindery_models::stored::{Granted, ModelCall, ModelCallFilter, ModelLedger, ModelLedgerDomain, MoneySetAside};
use bindery_store::rows::Domain as _;
use serde_json::json;

const DAY: &str = "2026-03-04";

fn money(f: &Fixture, id: &str, micros: i64) -> MoneySetAside {
    MoneySetAside { id: id.to_owned(), micros, until: Some(f.after(600)) }
}

fn call(id: &str, cost_micros: i64) -> ModelCall {
    ModelCall {
        id: id.to_owned(),
        day: DAY.to_owned(),
        model: "small-model".to_owned(),
        input_tokens: 100,
        output_tokens: 20,
        cost_micros,
        outcome: "answered".to_owned(),
        ..ModelCall::default()
    }
}

/// Writes a call down for which nothing was set aside.
async fn record(ledger: ModelLedger<'_>, call: ModelCall) {
    ledger.settle_money(&call.day.clone(), "none", Some(call)).await.unwrap();
}

pub(crate) async fn money_is_set_aside_before_a_call_and_exchanged_after_it(f: &Fixture) {
    let ledger = ModelLedger::new(&*f.store);
    let set_aside = |id: &'static str, micros| ledger.set_money_aside(DAY, money(f, id, micros), Some(100));
    assert_eq!(set_aside("a", 60).await.unwrap(), Granted::Yes);
    assert_eq!(
        set_aside("b", 41).await.unwrap(),
        Granted::No { spent_micros: 0, set_aside_micros: 60 },
        "what is under way counts"
    );
    ledger.settle_money(DAY, "a", Some(call("call-a", 30))).await.unwrap();
    assert_eq!(set_aside("b", 70).await.unwrap(), Granted::Yes, "it did cost less");
    assert_eq!(set_aside("c", 1).await.unwrap(), Granted::No { spent_micros: 30, set_aside_micros: 70 });
    ledger.settle_money(DAY, "b", None).await.unwrap();
    ledger.settle_money(DAY, "b", None).await.unwrap();
    let day = ledger.model_day(DAY).await.unwrap();
    assert_eq!((day.spent_micros, day.calls, day.set_aside), (30, 1, vec![]), "the call was not made");
    let another = ledger.set_money_aside("2026-03-05", money(f, "d", 100), Some(100)).await.unwrap();
    assert_eq!(another, Granted::Yes, "another day, another account");
    assert_eq!(ledger.set_money_aside(DAY, money(f, "e", 1_000), None).await.unwrap(), Granted::Yes, "no cap");
}

pub(crate) async fn a_call_is_written_down_once_whoever_says_it_again(f: &Fixture) {
    let ledger = ModelLedger::new(&*f.store);
    for _ in 0..2 {
        record(ledger, call("batches/1 item-7", 40)).await;
    }
    ledger.set_money_aside(DAY, money(f, "a", 60), None).await.unwrap();
    ledger.settle_money(DAY, "a", Some(call("batches/1 item-7", 40))).await.unwrap();
    let day = ledger.model_day(DAY).await.unwrap();
    assert_eq!((day.spent_micros, day.calls, day.set_aside.len()), (40, 1, 0));
    record(ledger, ModelCall { day: "2026-03-06".to_owned(), ..call("later", 5) }).await;
    let all = ledger.model_calls(&ModelCallFilter::default()).await.unwrap();
    assert_eq!(all.iter().map(|call| call.id.as_str()).collect::<Vec<_>>(), ["batches/1 item-7", "later"]);
    assert_eq!(all[0], call("batches/1 item-7", 40));
    let of = |from: &str, to: &str| ModelCallFilter {
        from_day: Some(from.to_owned()),
        to_day: Some(to.to_owned()),
        limit: None,
    };
    assert_eq!(ledger.model_calls(&of(DAY, DAY)).await.unwrap().len(), 1);
    assert_eq!(ledger.model_calls(&of("2026-03-05", "2026-03-06")).await.unwrap()[0].id, "later");
    assert_eq!(ledger.model_calls(&of("2026-03-07", "2026-03-09")).await.unwrap(), []);
}

pub(crate) async fn money_that_a_dead_process_leaves_behind_counts_as_spent(f: &Fixture) {
    let ledger = ModelLedger::new(&*f.store);
    ledger.set_money_aside(DAY, money(f, "dead", 60), Some(100)).await.unwrap();
    let day = ledger.model_day(DAY).await.unwrap();
    assert_eq!((day.spent_at(f.now()), day.under_way_at(f.now())), (0, 60));
    f.advance(601);
    let day = ledger.model_day(DAY).await.unwrap();
    assert_eq!((day.spent_at(f.now()), day.under_way_at(f.now())), (60, 0));
    let asked = ledger.set_money_aside(DAY, money(f, "b", 41), Some(100)).await.unwrap();
    assert_eq!(asked, Granted::No { spent_micros: 60, set_aside_micros: 0 });
    // It was only slow: what it did cost counts after all.
    ledger.settle_money(DAY, "dead", Some(call("slow", 10))).await.unwrap();
    assert_eq!(ledger.model_day(DAY).await.unwrap().spent_at(f.now()), 10);
}

pub(crate) async fn many_at_once_stay_below_the_cap_together(f: &Fixture) {
    let mut asking = tokio::task::JoinSet::new();
    for worker in 0..8 {
        let (store, until) = (f.store.clone(), f.after(600));
        asking.spawn(async move {
            let (ledger, mut granted) = (ModelLedger::new(&*store), 0);
            for n in 0..5 {
                let money = MoneySetAside { id: format!("{worker}-{n}"), micros: 10, until: Some(until) };
                granted += usize::from(ledger.set_money_aside(DAY, money, Some(155)).await.unwrap() == Granted::Yes);
            }
            granted
        });
    }
    let granted: usize = asking.join_all().await.into_iter().sum();
    assert_eq!(granted, 15);
    assert_eq!(ModelLedger::new(&*f.store).model_day(DAY).await.unwrap().under_way_at(f.now()), 150);
}

pub(crate) async fn an_answer_is_kept_as_it_was_first_given(f: &Fixture) {
    let ledger = ModelLedger::new(&*f.store);
    assert_eq!(ledger.model_answer("k1").await.unwrap(), None);
    let first = json!({"value": {"summary": "Ünïcode \u{0}and [] {}", "topics": []}, "model": "m"});
    ledger.keep_model_answer("k1", first.clone()).await.unwrap();
    ledger.keep_model_answer("k1", json!("another")).await.unwrap();
    let kept = ledger.model_answer("k1").await.unwrap().unwrap();
    assert_eq!((kept.answer, kept.kept_at), (first, Some(f.now())));
}

pub(crate) async fn answers_and_calls_age_out_and_what_a_day_has_cost_stays(f: &Fixture) {
    const A_DAY: u64 = 24 * 60 * 60;
    let ledger = ModelLedger::new(&*f.store);
    let day: String = f.now().to_string().chars().take(10).collect();
    ledger.keep_model_answer("key", json!({"text": "yes"})).await.unwrap();
    record(ledger, ModelCall { day: day.clone(), ..call("call", 30) }).await;
    assert_eq!(ModelLedgerDomain.age_out(&*f.store).await.unwrap(), 0);
    f.advance(91 * A_DAY);
    assert_eq!(ModelLedgerDomain.age_out(&*f.store).await.unwrap(), 1);
    assert_eq!(ledger.model_answer("key").await.unwrap(), None);
    assert_eq!(ledger.model_calls(&ModelCallFilter::default()).await.unwrap().len(), 1);
    f.advance(311 * A_DAY);
    assert_eq!(ModelLedgerDomain.age_out(&*f.store).await.unwrap(), 1);
    let cost = ledger.model_day(&day).await.unwrap();
    assert_eq!((cost.spent_micros, cost.calls), (30, 1));
}
