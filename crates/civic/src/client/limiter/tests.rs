use super::*;

const START: Timestamp = Timestamp::from_millis(1_767_225_600_000);

fn after(millis: u64) -> Timestamp {
    START + Duration::from_millis(millis)
}

fn place(vendor: &'static str, host: &str) -> Place {
    Place { vendor, host: host.to_owned(), scope: "testvilleCA".to_owned() }
}

/// Without chance.
fn limiter() -> Limiter {
    let vendors = ["legistar", "granicus", "primegov", vendors::UNKNOWN];
    let exact = |vendor: &str| Budget { jitter: Duration::ZERO, ..vendors::budget(vendor) };
    let budgets = vendors.iter().map(|vendor| ((*vendor).to_owned(), exact(vendor))).collect();
    Limiter::new(2, budgets, 7)
}

fn granted(turn: Turn) -> Ticket {
    match turn {
        Turn::Now(ticket) => ticket,
        other => panic!("expected a ticket, got {other:?}"),
    }
}

/// One whole request.
fn request(limiter: &mut Limiter, place: &Place, outcome: Outcome, now: Timestamp) {
    let ticket = granted(limiter.ask(place, now));
    limiter.finished(&ticket, outcome, now);
}

#[test]
fn a_host_is_asked_one_gap_apart_and_by_one_request_at_a_time() {
    let (mut limiter, host) = (limiter(), place("primegov", "a.primegov.com"));
    let ticket = granted(limiter.ask(&host, START));
    assert_eq!(limiter.ask(&host, after(9000)), Turn::Busy, "while a request is under way");
    limiter.finished(&ticket, Outcome::Good, after(100));
    assert_eq!(limiter.ask(&host, after(100)), Turn::At(after(2700)), "from one beginning to the next");
    granted(limiter.ask(&host, after(2700)));
}

#[test]
fn the_hosts_of_a_vendor_share_its_slots() {
    let mut limiter = limiter();
    let hosts: Vec<Place> = (0..4).map(|n| place("granicus", &format!("city{n}.granicus.com"))).collect();
    let tickets: Vec<Ticket> = hosts[..3].iter().map(|host| granted(limiter.ask(host, START))).collect();
    assert_eq!(limiter.ask(&hosts[3], START), Turn::Busy, "three slots are taken");
    limiter.finished(&tickets[1], Outcome::Good, after(50));
    assert_eq!(limiter.ask(&hosts[3], after(50)), Turn::At(after(3600)), "and a slot has its gap");
    granted(limiter.ask(&hosts[3], after(3600)));
}

#[test]
fn a_host_that_serves_all_cities_may_use_the_whole_budget() {
    let (mut limiter, host) = (limiter(), place("legistar", "webapi.legistar.com"));
    for n in 0..3 {
        granted(limiter.ask(&host, after(n * 900)));
    }
    assert_eq!(limiter.ask(&host, after(2700)), Turn::Busy);
}

#[test]
fn s001_15_no_pause_between_vendors_and_no_queue_for_cities_on_their_own_domains() {
    // ▲ The seed pauses for 30 to 40 s between groups of vendors; limits of vendors are independent instead.
    let mut limiter = limiter();
    let _legistar = granted(limiter.ask(&place("legistar", "a.legistar.com"), START));
    let _granicus = granted(limiter.ask(&place("granicus", "a.granicus.com"), START));
    for n in 0..100 {
        granted(limiter.ask(&place(vendors::UNKNOWN, &format!("www.city{n}.example")), START));
    }
}

#[test]
fn s001_14_at_most_so_many_cities_of_a_vendor_at_once() {
    // ▲ A value; two, as in the seed, by default.
    let mut limiter = limiter();
    assert!(limiter.begin_city("legistar") && limiter.begin_city("legistar"));
    assert!(!limiter.begin_city("legistar"), "the third waits");
    assert!(limiter.begin_city("granicus"), "other vendors do not");
    limiter.end_city("legistar");
    assert!(limiter.begin_city("legistar"));
}

#[test]
fn a_host_that_has_had_enough_is_asked_half_as_often_and_recovers() {
    let (mut limiter, host) = (limiter(), place("primegov", "a.primegov.com"));
    request(&mut limiter, &host, Outcome::of_status(429), START);
    assert_eq!(limiter.ask(&host, START), Turn::At(after(5400)));
    request(&mut limiter, &host, Outcome::of_status(403), after(5400));
    assert_eq!(limiter.ask(&host, after(5400)), Turn::At(after(5400 + 10_800)));
    let mut now = after(5400 + 10_800);
    for _ in 0..15 {
        request(&mut limiter, &host, Outcome::of_status(200), now);
        let Turn::At(next) = limiter.ask(&host, now) else { panic!("a gap was expected") };
        assert!(next.since(now) >= Duration::from_millis(2700));
        now = next;
    }
    request(&mut limiter, &host, Outcome::Good, now);
    assert_eq!(limiter.ask(&host, now), Turn::At(now + Duration::from_millis(2700)), "as at first");
    assert_eq!(Outcome::of_status(404), Outcome::Good, "a page that is not there says nothing about the host");
}

#[test]
fn retry_after_defers_the_whole_vendor_but_not_for_ever() {
    let mut limiter = limiter();
    let (one, other) = (place("primegov", "a.primegov.com"), place("primegov", "b.primegov.com"));
    limiter.defer(&one, Duration::from_secs(30), START);
    assert_eq!(limiter.ask(&other, START), Turn::At(after(30_000)));
    limiter.defer(&one, Duration::from_secs(86_400), START);
    assert_eq!(limiter.ask(&other, START), Turn::At(after(120_000)));
    granted(limiter.ask(&place("granicus", "a.granicus.com"), START));
    let (own, others) = (place(vendors::UNKNOWN, "a.example"), place(vendors::UNKNOWN, "b.example"));
    limiter.defer(&own, Duration::from_secs(30), START);
    granted(limiter.ask(&others, START));
}

#[test]
fn a_host_that_keeps_failing_is_left_alone_for_a_quarter_of_an_hour() {
    let (mut limiter, host) = (limiter(), place("iqm2", "a.iqm2.com"));
    let mut now = START;
    for n in 1..=4 {
        request(&mut limiter, &host, Outcome::Failed, now);
        now = now + Duration::from_secs(10 * n);
    }
    request(&mut limiter, &host, Outcome::Failed, now);
    let until = now + LEFT_ALONE;
    assert_eq!(limiter.ask(&host, now), Turn::Down { until, failures: 5 });
    granted(limiter.ask(&place("iqm2", "b.iqm2.com"), now + Duration::from_secs(10)));
    // Then one more failure is enough, and one good answer makes it well.
    let mut limiter = self::limiter();
    for n in 0..5 {
        request(&mut limiter, &host, Outcome::Failed, after(n * 10_000));
    }
    let back = after(40_000) + LEFT_ALONE;
    request(&mut limiter, &host, Outcome::Failed, back);
    assert!(matches!(limiter.ask(&host, back), Turn::Down { failures: 6, .. }));
    request(&mut limiter, &host, Outcome::Good, back + LEFT_ALONE);
    request(&mut limiter, &host, Outcome::Failed, back + LEFT_ALONE + Duration::from_secs(10));
    assert!(matches!(limiter.ask(&host, back + LEFT_ALONE + Duration::from_secs(20)), Turn::Now(_)));
}

#[test]
fn on_a_host_for_all_the_failures_of_one_city_are_its_own() {
    let (mut limiter, broken) = (limiter(), place("legistar", "webapi.legistar.com"));
    for n in 0..5 {
        request(&mut limiter, &broken, Outcome::Failed, after(n * 10_000));
    }
    assert!(matches!(limiter.ask(&broken, after(60_000)), Turn::Down { .. }));
    let other = Place { scope: "elsewhereCA".to_owned(), ..broken };
    granted(limiter.ask(&other, after(60_000)));
}

#[test]
fn a_crawl_delay_lengthens_the_gap_within_reason() {
    let (mut limiter, host) = (limiter(), place(vendors::UNKNOWN, "a.example"));
    limiter.crawl_delay(&host, Duration::from_secs(10));
    request(&mut limiter, &host, Outcome::Good, START);
    assert_eq!(limiter.ask(&host, START), Turn::At(after(10_000)));
    limiter.crawl_delay(&host, Duration::from_secs(1_000_000));
    request(&mut limiter, &host, Outcome::Good, after(10_000));
    assert_eq!(limiter.ask(&host, after(10_000)), Turn::At(after(70_000)));
}

#[test]
fn chance_is_added_within_its_bounds_and_comes_from_the_seed() {
    let next = |seed: u64| {
        let (mut limiter, host) = (Limiter::new(2, HashMap::new(), seed), place("primegov", "a.primegov.com"));
        request(&mut limiter, &host, Outcome::Good, START);
        match limiter.ask(&host, START) {
            Turn::At(moment) => moment,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(next(5), next(5));
    assert!((0..50).all(|seed| (2700..=3700).contains(&next(seed).since(START).as_millis())));
    assert!((0..50).any(|seed| next(seed) != next(0)));
}
