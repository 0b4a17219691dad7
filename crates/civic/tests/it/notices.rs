//! Who is told of what, each once: changes, words, digests.

use crate::hall::{CITY, Hall, document, item, meeting};
use bindery_civic::records::Civic as _;
use bindery_civic::records::{Alert, Channel, Notification, Watch};
use bindery_civic::{
    notices::{self, Digest, letter::Letter},
    vendor::{Ballot, ItemVote, VendorItem, VendorMeeting, model::MeetingStatus},
};
use bindery_core::Timestamp;
use jiff::civil::{date, time};
use std::time::Duration;

pub(crate) fn council() -> VendorMeeting {
    let rezoning = VendorItem {
        matter_file: Some("ORD 2026-7".to_owned()),
        matter_type: Some("Ordinance".to_owned()),
        attachments: vec![document("Staff Report")],
        ..item("12", "Ordinance rezoning 400 Harbour Street to mixed use", 2)
    };
    VendorMeeting {
        body: Some("City Council".to_owned()),
        location: Some("City Hall".to_owned()),
        agenda_url: Some("https://example.com/agenda/1".to_owned()),
        items: vec![item("11", "Roll Call", 1), rezoning, item("13", "Lease of the pier to a party boat", 3)],
        has_agenda: true,
        ..meeting("1", "City Council - Regular Meeting", date(2026, 3, 9), 18)
    }
}

pub(crate) fn alert(id: &str, keywords: &[&str], frequency: &str) -> Alert {
    let owner = format!("{id}@example.org");
    Alert {
        id: id.to_owned(),
        name: format!("the {id} alert"),
        cities: vec![CITY.to_owned()],
        keywords: keywords.iter().map(|word| (*word).to_owned()).collect(),
        frequency: frequency.to_owned(),
        channels: vec![Channel { kind: "mail".to_owned(), address: owner.clone() }],
        owner,
        ..Alert::default()
    }
}

impl Hall {
    pub(crate) async fn messages(&self) -> Vec<Notification> {
        let mut all = self.store.civic().notifications(false).await.unwrap();
        all.retain(|message| !notices::is_internal(message));
        all
    }

    /// What there is besides what was there: kind and whom for.
    async fn news(&self, before: &[Notification]) -> Vec<(String, String)> {
        let is_new = |message: &Notification| !before.iter().any(|known| known.key == message.key);
        let news = self.messages().await.into_iter().filter(is_new);
        let mut news: Vec<_> = news.map(|one| (one.kind, one.alert_id.unwrap_or_default())).collect();
        news.sort();
        news
    }

    /// A pass, twice one after the other and twice at once.
    pub(crate) async fn pass(&self) {
        notices::produce(&*self.store).await.unwrap();
        let again = notices::produce(&*self.store).await.unwrap();
        assert_eq!(again, notices::Produced::default());
        let (one, other) = tokio::join!(notices::produce(&*self.store), notices::produce(&*self.store));
        assert_eq!((one.unwrap(), other.unwrap()), Default::default());
    }
}

fn pairs(news: &[(String, String)]) -> Vec<(&str, &str)> {
    news.iter().map(|(kind, whom)| (kind.as_str(), whom.as_str())).collect()
}

fn digest(message: &Notification) -> Digest {
    serde_json::from_value(message.body["digest"].clone()).unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_happens_to_a_meeting_is_told_once_to_those_who_follow_it() {
    let hall = Hall::new().await;
    let civic = hall.store.civic();
    hall.visit(vec![council()]).await;
    hall.pass().await;
    // Nobody follows anything; whoever asked for the city is told of its first meeting.
    assert_eq!(pairs(&hall.news(&[]).await), [("city_activated", "")]);

    civic.put_alert(alert("all", &[], "daily")).await.unwrap();
    civic.put_alert(alert("harbour", &["harbor", "rezone"], "weekly")).await.unwrap();
    civic.put_alert(alert("dogs", &["dog park", "art"], "daily")).await.unwrap();
    let before = hall.messages().await;
    hall.pass().await;
    // What is to come is told at first, in a digest; what happened before is not.
    let news = hall.news(&before).await;
    assert_eq!(
        pairs(&news),
        [
            ("digest", "all"),
            ("digest", "harbour"),
            ("item_matched", "harbour"),
            ("matter_matched", "harbour"),
            ("meeting_matched", "all"),
        ]
    );

    let tell = async |visited: VendorMeeting| {
        let before = hall.messages().await;
        hall.visit(vec![visited]).await;
        hall.pass().await;
        hall.news(&before).await
    };
    let mut now = council();
    now.title = Some("City Council - Special Meeting".to_owned());
    assert_eq!(pairs(&tell(now.clone()).await), [("meeting_renamed", "all"), ("meeting_renamed", "harbour")]);
    now.start.as_mut().unwrap().time = Some(time(19, 0, 0, 0));
    assert_eq!(pairs(&tell(now.clone()).await), [("meeting_moved", "all"), ("meeting_moved", "harbour")]);
    now.agenda_url = Some("https://example.com/agenda/1-revised".to_owned());
    assert_eq!(pairs(&tell(now.clone()).await).len(), 2);
    now.items.remove(2);
    // The pier is nothing to who follows the harbour.
    assert_eq!(pairs(&tell(now.clone()).await), [("meeting_item_removed", "all")]);
    let ballot = |name: &str, vote: &str| Ballot { name: name.to_owned(), vote: vote.to_owned(), person_id: None };
    let ballots = vec![ballot("Ada Roy", "Aye"), ballot("Sam Lee", "Nay"), ballot("Maria Ortega", "Aye")];
    now.items[1].votes = vec![ItemVote { ballots, ..ItemVote::default() }];
    assert_eq!(
        pairs(&tell(now.clone()).await),
        [("meeting_vote_recorded", "all"), ("meeting_vote_recorded", "harbour")]
    );
    now.status = Some(MeetingStatus::Cancelled);
    assert_eq!(pairs(&tell(now.clone()).await), [("meeting_cancelled", "all"), ("meeting_cancelled", "harbour")]);
    // It is cancelled: what else changes is no news any more.
    now.items.push(item("14", "Harbour dredging", 4));
    now.location = Some("Library".to_owned());
    assert_eq!(pairs(&tell(now.clone()).await), []);

    // What cannot wait is due at once and names its reader; the rest waits for the digest.
    for message in hall.messages().await {
        let is_urgent = ["meeting_moved", "meeting_cancelled", "digest", "city_activated"].contains(&&*message.kind);
        let is_told = message.told_in.is_some();
        assert!(is_urgent || message.is_gathered() || is_told, "{message:?}");
        // An announcement is sent once it has become a message to each address.
        let is_sent = message.channel.is_none() && message.sent_at.is_some();
        let is_due = message.due_at.is_some_and(|due| due <= hall.clock_now());
        assert!(!is_urgent || is_due || is_sent, "{message:?}");
        if message.kind == "meeting_cancelled" {
            let letter = Letter::from_message(&message).unwrap();
            assert!(
                letter.subject.starts_with("Cancelled: City Council - Special Meeting, Monday, March 9"),
                "{letter:?}"
            );
            assert!(letter.text.contains("Palo Alto, CA"), "{}", letter.text);
        }
    }
}

impl Hall {
    fn clock_now(&self) -> Timestamp {
        self.store.clock().now()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_digest_comes_once_in_its_time_and_tells_everything_once() {
    let hall = Hall::new().await;
    let civic = hall.store.civic();
    civic.put_alert(alert("daily", &["rezoning"], "daily")).await.unwrap();
    civic.put_alert(alert("weekly", &[], "weekly")).await.unwrap();
    civic.put_alert(alert("soon", &["pier"], "immediate")).await.unwrap();
    hall.visit(vec![council()]).await;
    hall.pass().await;
    let digests = async || {
        let mut found = hall.messages().await;
        found.retain(|message| message.kind == "digest");
        found
    };
    let first = digests().await;
    assert_eq!(first.len(), 3);
    let daily = digest(first.iter().find(|one| one.alert_id.as_deref() == Some("daily")).unwrap());
    let shown = &daily.cities[0].meetings[0];
    assert_eq!(
        shown.items.iter().map(|item| &*item.title).collect::<Vec<_>>(),
        ["Ordinance rezoning 400 Harbour Street to mixed use"]
    );
    assert_eq!((&shown.items[0].why[..], shown.more_items, shown.skipped_items), (&["rezoning".to_owned()][..], 1, 1));

    // A summary comes: nobody is told of the same item again. Something changes: it waits for the next day.
    let rezoning = hall.items("1").await[1].clone();
    hall.summarise(&rezoning, "Rezoning for **120 homes**.", &["housing"]).await;
    let mut changed = council();
    changed.items.push(item("14", "Rezonings of the hills", 4));
    hall.visit(vec![changed]).await;
    hall.pass().await;
    assert_eq!(digests().await.len(), 3);
    hall.clock.advance(Duration::from_hours(24));
    hall.pass().await;
    let second = digests().await;
    // The weekly one waits for its week.
    assert_eq!(second.len(), 4);
    let fresh = second.iter().find(|one| !first.iter().any(|known| known.key == one.key)).unwrap();
    let told = digest(fresh);
    let items = &told.cities[0].meetings[0].items;
    assert_eq!(items.iter().map(|item| &*item.title).collect::<Vec<_>>(), ["Rezonings of the hills"]);
    assert_eq!(told.cities[0].changes[0].headline, "Item added");
    hall.clock.advance(Duration::from_hours(24 * 6));
    hall.pass().await;
    assert_eq!(digests().await.len(), 5);
    assert!(hall.messages().await.iter().all(|message| !message.is_gathered()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_meeting_that_is_cancelled_before_the_digest_is_told_as_that() {
    let hall = Hall::new().await;
    let civic = hall.store.civic();
    hall.visit(vec![]).await;
    civic.put_alert(alert("a", &["pier"], "daily")).await.unwrap();
    hall.pass().await;
    hall.visit(vec![council()]).await;
    let mut off = council();
    off.status = Some(MeetingStatus::Cancelled);
    hall.visit(vec![off]).await;
    hall.pass().await;
    let messages = hall.messages().await;
    let kinds: Vec<&str> =
        messages.iter().map(|message| &*message.kind).filter(|kind| *kind != "city_activated").collect();
    assert_eq!(kinds, ["meeting_cancelled"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn old_meetings_that_are_found_late_are_no_news() {
    let hall = Hall::new().await;
    hall.store.civic().put_alert(alert("a", &[], "immediate")).await.unwrap();
    let mut old = council();
    old.start.as_mut().unwrap().date = date(2026, 2, 17);
    hall.visit(vec![old]).await;
    hall.pass().await;
    let kinds: Vec<String> = hall.messages().await.into_iter().map(|message| message.kind).collect();
    // The announcement, and the message to who follows the city.
    assert_eq!(kinds, ["city_activated", "city_activated"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_watched_is_told_to_who_watches_it() {
    let hall = Hall::new().await;
    let civic = hall.store.civic();
    let mut before = council();
    before.items[1].sponsors = vec!["Council Member Maria Ortega".to_owned()];
    hall.visit(vec![before.clone()]).await;
    let stored = hall.meeting("1").await;
    let rezoning = hall.items("1").await[1].clone();
    let member = civic.people(CITY).await.unwrap().remove(0);
    let watch = async |owner: &str, kind: &str, id: &str| {
        let (entity_type, entity_id) = (kind.to_owned(), id.to_owned());
        let owner = format!("{owner}@example.org");
        civic.watch(Watch { owner, entity_type, entity_id, created_at: None }).await.unwrap();
    };
    watch("meeting", "meeting", &stored.id).await;
    watch("matter", "matter", &rezoning.matter_id.clone().unwrap()).await;
    watch("committee", "committee", &stored.committee_id.clone().unwrap()).await;
    watch("city", "city", CITY).await;
    watch("member", "council_member", &member.id).await;
    watch("topic", "topic", "housing").await;
    watch("other", "city", "oaklandCA").await;
    hall.pass().await;
    hall.summarise(&rezoning, "120 homes.", &["housing"]).await;
    before.status = Some(MeetingStatus::Cancelled);
    hall.visit(vec![before]).await;
    hall.pass().await;
    let mut told: Vec<String> = hall
        .messages()
        .await
        .into_iter()
        .filter(|message| message.kind == "meeting_cancelled")
        .filter_map(|message| Some(message.channel?.address))
        .collect();
    told.sort();
    let all = ["city", "committee", "matter", "meeting", "member", "topic"].map(|who| format!("{who}@example.org"));
    assert_eq!(told, all);
}
