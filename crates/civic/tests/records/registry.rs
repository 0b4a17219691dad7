//! Cities that people enter, change and take out, and how much waits.

use crate::changes::{CITY, changes, city, complete, jurisdiction};
use crate::cities::put_cities;
use bindery_civic::records::{
    Civic as _, CivicChanges, CivicJob, Committee, Edited, Jurisdiction, JurisdictionEdit, QueueStats, RequestStatus,
    SyncRun, SyncRunFilter, SyncStatus, TakenOut,
};
use bindery_conformance::Fixture;

fn new(after: Jurisdiction) -> JurisdictionEdit {
    JurisdictionEdit { before: None, after }
}

fn stale(city_keys: &[&str]) -> Edited {
    Edited::Stale(city_keys.iter().map(|city_key| (*city_key).to_owned()).collect())
}

pub(crate) async fn a_city_is_entered_once_and_changed_as_it_was_seen(f: &Fixture) {
    let civic = f.store.civic();
    civic.request_city(CITY).await.unwrap();
    civic.request_city("oaklandCA").await.unwrap();
    let palo_alto = jurisdiction(CITY, "Palo Alto");
    let oakland = Jurisdiction { status: "paused".to_owned(), ..jurisdiction("oaklandCA", "Oakland") };
    let both = vec![new(palo_alto.clone()), new(oakland)];
    assert_eq!(civic.edit_jurisdictions(both).await.unwrap(), Edited::Stored);
    // Whoever asked for it has it; one that is not visited is still missed.
    let waiting = civic.city_requests(Some(RequestStatus::Pending)).await.unwrap();
    assert_eq!(waiting.iter().map(|request| request.city_key.as_str()).collect::<Vec<_>>(), ["oaklandCA"]);
    // Entering it again changes nothing, nor does what comes along.
    let again = vec![new(jurisdiction("berkeleyCA", "Berkeley")), new(palo_alto)];
    assert_eq!(civic.edit_jurisdictions(again).await.unwrap(), stale(&[CITY]));
    assert_eq!(civic.jurisdiction("berkeleyCA").await.unwrap(), None);
    // A visit is not a change of what people say of it; another's change is.
    let before = civic.jurisdiction(CITY).await.unwrap().unwrap();
    let run = civic.start_sync_run(CITY, "a visitor").await.unwrap();
    civic.finish_sync_run(SyncRun { status: SyncStatus::Completed, ..run }, Some(f.now())).await.unwrap();
    let edit = |slug: &str| JurisdictionEdit {
        before: Some(before.clone()),
        after: Jurisdiction { slug: slug.to_owned(), ..before.clone() },
    };
    assert_eq!(civic.edit_jurisdictions(vec![edit("moved")]).await.unwrap(), Edited::Stored);
    assert_eq!(civic.edit_jurisdictions(vec![edit("elsewhere")]).await.unwrap(), stale(&[CITY]));
    let stored = civic.jurisdiction(CITY).await.unwrap().unwrap();
    assert_eq!((stored.slug.as_str(), stored.health.next_sync_at), ("moved", Some(f.now())));
    let taken = civic.edit_jurisdictions(vec![new(jurisdiction("paCA", "Palo Alto"))]).await;
    assert!(taken.unwrap_err().to_string().contains("paCA: Palo Alto, CA is stored as paloaltoCA already"));
}

pub(crate) async fn of_two_who_enter_one_city_at_once_one_is_told(f: &Fixture) {
    let civic = f.store.civic();
    let enter = |slug: &str| {
        let city = Jurisdiction { slug: slug.to_owned(), ..jurisdiction(CITY, "Palo Alto") };
        civic.edit_jurisdictions(vec![new(city)])
    };
    let (one, other) = tokio::join!(enter("one"), enter("other"));
    let mut came = [one.unwrap(), other.unwrap()];
    came.sort_by_key(|edited| *edited != Edited::Stored);
    assert_eq!(came, [Edited::Stored, stale(&[CITY])]);
    // The same name under two keys.
    let enter = |city_key: &str| civic.edit_jurisdictions(vec![new(jurisdiction(city_key, "Oakland"))]);
    let (one, other) = tokio::join!(enter("oaklandCA"), enter("oakCA"));
    let told = one.err().or(other.err()).unwrap().to_string();
    assert!(told.contains("Oakland, CA is stored as oak"), "{told}");
}

pub(crate) async fn a_city_is_taken_out_unless_something_is_known_of_it(f: &Fixture) {
    let civic = city(f).await;
    assert_eq!(civic.take_out_jurisdiction("nowhereXX").await.unwrap(), TakenOut::Unknown);
    let within = Jurisdiction { county: Some(CITY.to_owned()), ..jurisdiction("stanfordCA", "Stanford") };
    put_cities(&civic, vec![within]).await.unwrap();
    civic.start_sync_run(CITY, "a visitor").await.unwrap();
    let (id, city_key) = ("paloaltoCA_comm_1".to_owned(), CITY.to_owned());
    let mut roster = CivicChanges::of_city(CITY);
    roster.committees.push(Committee { id, city_key, ..Committee::default() });
    civic.apply(vec![roster]).await.unwrap();
    let TakenOut::Gone(was) = civic.take_out_jurisdiction(CITY).await.unwrap() else { panic!("it is still there") };
    assert_eq!((was.name.as_str(), civic.jurisdiction(CITY).await.unwrap()), ("Palo Alto", None));
    assert_eq!(civic.jurisdiction("stanfordCA").await.unwrap().unwrap().county, None);
    assert!(civic.sync_runs(SyncRunFilter::default()).await.unwrap().is_empty());
    assert!(civic.committees(CITY).await.unwrap().is_empty());
    // It can come back; and stays as soon as a meeting of it is known.
    assert_eq!(civic.edit_jurisdictions(vec![new(said(&was))]).await.unwrap(), Edited::Stored);
    civic.apply(vec![changes("paloaltoCA_m1", 0)]).await.unwrap();
    let kept = civic.take_out_jurisdiction(CITY).await.unwrap();
    assert_eq!(kept, TakenOut::InUse { meetings: 1, matters: 0 });
    assert!(civic.jurisdiction(CITY).await.unwrap().is_some());
}

fn said(city: &Jurisdiction) -> Jurisdiction {
    jurisdiction(&city.city_key, &city.name)
}

pub(crate) async fn s001_05_the_queue_is_counted(f: &Fixture) {
    let civic = city(f).await;
    assert_eq!(civic.queue_stats().await.unwrap(), QueueStats::default());
    let mut told = changes("paloaltoCA_m1", 0);
    told.jobs = vec![
        CivicJob::meeting("paloaltoCA_m1", 149),
        CivicJob::matter("paloaltoCA_bill", "paloaltoCA_m1", Vec::new(), 49),
    ];
    civic.apply(vec![told, changes("paloaltoCA_m2", 0)]).await.unwrap();
    let waiting = QueueStats { pending: 2, ..QueueStats::default() };
    assert_eq!(civic.queue_stats().await.unwrap(), waiting);
    complete(f, "paloaltoCA_m1", "items", 2.0).await;
    complete(f, "paloaltoCA_m2", "items", 5.0).await;
    let read = QueueStats { completed: 2, avg_processing_seconds: Some(3.5), ..waiting };
    assert_eq!(civic.queue_stats().await.unwrap(), read);
}
