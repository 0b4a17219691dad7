//! Items, meetings and matters, found by their words.

use crate::{
    hall::{CITY, Hall},
    notices::council,
};
use bindery_civic::search::{self, Found, Indexed, SearchFor};
use bindery_store::search::Query;
use jiff::civil::date;

fn wanted(words: &str) -> SearchFor {
    SearchFor {
        query: Query::parse(words).unwrap(),
        city_key: None,
        topic: None,
        from: None,
        to: None,
        only_matters: false,
        limit: 20,
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn items_are_found_by_titles_summaries_and_texts() {
    let hall = Hall::new().await;
    let mut with_text = council();
    with_text.items[2].body_text = Some("The pier is let to a brewery.".to_owned());
    hall.visit(vec![with_text]).await;
    let meeting = hall.meeting("1").await;
    let find = async |wanted: SearchFor| search::find(&*hall.store, &wanted).await.unwrap();
    assert_eq!(find(wanted("harbour")).await, []);
    assert_eq!(search::indexed_documents(&*hall.store, CITY).await.unwrap(), 0);
    let done = search::index_meeting(&*hall.store, &meeting.id).await.unwrap();
    assert_eq!(done, Indexed { meetings: 1, items: 3, matters: 1 });
    assert_eq!(search::reindex(&*hall.store, CITY).await.unwrap(), done);
    assert_eq!(search::indexed_documents(&*hall.store, CITY).await.unwrap(), 5);

    let kinds = |found: &[Found]| {
        let mut kinds: Vec<&str> = found.iter().map(|one| one.kind).collect();
        kinds.sort_unstable();
        kinds.join(" ")
    };
    assert_eq!(kinds(&find(wanted("harbour")).await), "item matter");
    assert_eq!(kinds(&find(SearchFor { only_matters: true, ..wanted("harbour") }).await), "matter");
    let brewery = find(wanted("pier brewery")).await;
    assert_eq!(brewery.len(), 1);
    assert_eq!((&*brewery[0].city, brewery[0].day.as_deref()), ("Palo Alto, CA", Some("2026-03-09")));
    assert!(brewery[0].snippet.contains("brewery"), "{brewery:?}");

    let rezoning = hall.items("1").await[1].clone();
    hall.summarise(&rezoning, "Allows 120 homes.", &["housing"]).await;
    search::index_meeting(&*hall.store, &meeting.id).await.unwrap();
    let homes = find(SearchFor { topic: Some("housing".to_owned()), ..wanted("homes") }).await;
    assert_eq!(homes[0].id, rezoning.id);
    assert_eq!(find(SearchFor { topic: Some("parks".to_owned()), ..wanted("homes") }).await, []);
    assert_eq!(find(SearchFor { from: Some(date(2026, 3, 10)), ..wanted("homes") }).await, []);
    assert_eq!(find(SearchFor { to: Some(date(2026, 3, 9)), ..wanted("homes") }).await.len(), 1);
    assert_eq!(find(SearchFor { city_key: Some("oaklandCA".to_owned()), ..wanted("homes") }).await, []);

    let mut without = council();
    without.items.remove(2);
    hall.visit(vec![without]).await;
    search::index_meeting(&*hall.store, &meeting.id).await.unwrap();
    assert_eq!(find(wanted("brewery")).await, []);
}
