use super::*;

const START: Timestamp = Timestamp::from_millis(1_767_225_600_000);

fn after(millis: u64) -> Timestamp {
    START + Duration::from_millis(millis)
}

/// Without chance.
const fn budget(slots: usize, gap_millis: u64) -> Budget {
    Budget { slots, gap: Duration::from_millis(gap_millis), jitter: Duration::ZERO }
}

/// One of the hosts of a pool.
fn place(pool: &str, host: &str) -> Place {
    let budget = if pool == "trio" { budget(3, 3600) } else { budget(1, 2700) };
    Place { host: host.to_owned(), pool: pool.to_owned(), budget, serves_pool: false, scope: String::new() }
}

/// A host that is a pool by itself.
fn single_host(host: &str) -> Place {
    Place { budget: budget(1, 4500), ..place(host, host) }
}

/// One that serves a whole pool, asked for a city.
fn of_all(scope: &str) -> Place {
    let place = place("api", "api.example");
    Place { budget: budget(3, 2700), serves_pool: true, scope: scope.to_owned(), ..place }
}

fn limiter() -> HostLimiter {
    HostLimiter::new(7)
}

fn later(turn: &Turn) -> Timestamp {
    match turn {
        Turn::At(moment) => *moment,
        other => panic!("a moment was expected, and not {other:?}"),
    }
}

fn is_busy(turn: &Turn) -> bool {
    matches!(turn, Turn::Busy)
}

fn granted(turn: Turn) -> HostTicket {
    match turn {
        Turn::Now(ticket) => ticket,
        other => panic!("expected a ticket, got {other:?}"),
    }
}

/// One whole request.
fn request(limiter: &mut HostLimiter, place: &Place, outcome: Outcome, now: Timestamp) {
    let ticket = granted(limiter.ask(place, now));
    limiter.finished(&ticket, outcome, now);
}

#[test]
fn a_host_is_asked_one_gap_apart_and_by_one_request_at_a_time() {
    let (mut limiter, host) = (limiter(), place("one", "a.example"));
    let ticket = granted(limiter.ask(&host, START));
    assert!(is_busy(&limiter.ask(&host, after(9000))), "while a request is under way");
    limiter.finished(&ticket, Outcome::Good, after(100));
    assert_eq!(later(&limiter.ask(&host, after(100))), after(2700), "from one beginning to the next");
    granted(limiter.ask(&host, after(2700)));
}

#[test]
fn the_hosts_of_a_vendor_share_its_slots() {
    let mut limiter = limiter();
    let hosts: Vec<Place> = (0..4).map(|n| place("trio", &format!("city{n}.example"))).collect();
    let tickets: Vec<HostTicket> = hosts[..3].iter().map(|host| granted(limiter.ask(host, START))).collect();
    assert!(is_busy(&limiter.ask(&hosts[3], START)), "three slots are taken");
    limiter.finished(&tickets[1], Outcome::Good, after(50));
    assert_eq!(later(&limiter.ask(&hosts[3], after(50))), after(3600), "and a slot has its gap");
    granted(limiter.ask(&hosts[3], after(3600)));
}

#[test]
fn a_host_that_serves_all_cities_may_use_the_whole_budget() {
    let (mut limiter, host) = (limiter(), of_all("testvilleCA"));
    for n in 0..3 {
        granted(limiter.ask(&host, after(n * 900)));
    }
    assert!(is_busy(&limiter.ask(&host, after(2700))));
}

#[test]
fn pools_and_hosts_on_their_own_do_not_wait_for_each_other() {
    let mut limiter = limiter();
    let _one = granted(limiter.ask(&place("one", "a.one.example"), START));
    let _trio = granted(limiter.ask(&place("trio", "a.trio.example"), START));
    for n in 0..100 {
        granted(limiter.ask(&single_host(&format!("www.city{n}.example")), START));
    }
}

#[test]
fn a_host_that_has_had_enough_is_asked_half_as_often_and_recovers() {
    let (mut limiter, host) = (limiter(), place("one", "a.example"));
    request(&mut limiter, &host, Outcome::of_status(429), START);
    assert_eq!(later(&limiter.ask(&host, START)), after(5400));
    request(&mut limiter, &host, Outcome::of_status(403), after(5400));
    assert_eq!(later(&limiter.ask(&host, after(5400))), after(5400 + 10_800));
    let mut now = after(5400 + 10_800);
    for _ in 0..15 {
        request(&mut limiter, &host, Outcome::of_status(200), now);
        let Turn::At(next) = limiter.ask(&host, now) else { panic!("a gap was expected") };
        assert!(next.since(now) >= Duration::from_millis(2700));
        now = next;
    }
    request(&mut limiter, &host, Outcome::Good, now);
    assert_eq!(later(&limiter.ask(&host, now)), now + Duration::from_millis(2700), "as at first");
    assert_eq!(Outcome::of_status(404), Outcome::Good, "a page that is not there says nothing about the host");
}

#[test]
fn retry_after_defers_the_whole_vendor_but_not_for_ever() {
    let mut limiter = limiter();
    let (one, other) = (place("one", "a.example"), place("one", "b.example"));
    limiter.defer(&one, Duration::from_secs(30), START);
    assert_eq!(later(&limiter.ask(&other, START)), after(30_000));
    limiter.defer(&one, Duration::from_secs(86_400), START);
    assert_eq!(later(&limiter.ask(&other, START)), after(120_000));
    granted(limiter.ask(&place("trio", "c.example"), START));
    let (own, others) = (single_host("a.example"), single_host("b.example"));
    limiter.defer(&own, Duration::from_secs(30), START);
    granted(limiter.ask(&others, START));
}

#[test]
fn a_host_that_keeps_failing_is_left_alone_for_a_quarter_of_an_hour() {
    let (mut limiter, host) = (limiter(), place("one", "a.example"));
    let mut now = START;
    for n in 1..=4 {
        request(&mut limiter, &host, Outcome::Failed, now);
        now = now + Duration::from_secs(10 * n);
    }
    request(&mut limiter, &host, Outcome::Failed, now);
    let until = now + LEFT_ALONE;
    let turn = limiter.ask(&host, now);
    assert!(matches!(turn, Turn::Down { until: end, failures: 5 } if end == until), "{turn:?}");
    granted(limiter.ask(&place("one", "b.example"), now + Duration::from_secs(10)));
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
    let (mut limiter, broken) = (limiter(), of_all("testvilleCA"));
    for n in 0..5 {
        request(&mut limiter, &broken, Outcome::Failed, after(n * 10_000));
    }
    assert!(matches!(limiter.ask(&broken, after(60_000)), Turn::Down { .. }));
    let other = Place { scope: "elsewhereCA".to_owned(), ..broken };
    granted(limiter.ask(&other, after(60_000)));
}

#[test]
fn a_crawl_delay_lengthens_the_gap_within_reason() {
    let (mut limiter, host) = (limiter(), single_host("a.example"));
    limiter.crawl_delay(&host.host, Duration::from_secs(10));
    request(&mut limiter, &host, Outcome::Good, START);
    assert_eq!(later(&limiter.ask(&host, START)), after(10_000));
    limiter.crawl_delay(&host.host, Duration::from_secs(1_000_000));
    request(&mut limiter, &host, Outcome::Good, after(10_000));
    assert_eq!(later(&limiter.ask(&host, after(10_000))), after(70_000));
}

#[test]
fn chance_is_added_within_its_bounds_and_comes_from_the_seed() {
    let next = |seed: u64| {
        let (mut limiter, mut host) = (HostLimiter::new(seed), place("one", "a.example"));
        host.budget.jitter = Duration::from_secs(1);
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
