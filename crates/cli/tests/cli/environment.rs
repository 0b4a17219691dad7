//! What the machine around it does: readers that go away, disks that are read-only or full, files that cannot be read,
//! databases that come and go.

use crate::support::{Desk, PATIENCE, Ran, is_final};
use bindery_testkit::PostgresServer;
use std::{
    fs,
    io::{self, BufRead as _, BufReader, Read as _, Write as _},
    net::{Shutdown, TcpListener, TcpStream},
    os::unix::fs::PermissionsExt as _,
    process::{Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

fn desk_with_result() -> Desk {
    let desk = Desk::new();
    desk.write("a.txt", "one two\nthree");
    desk.bindery(&["run", "a.txt"]).ok();
    desk
}

#[test]
fn nobody_reading_any_more_ends_a_command_quietly() {
    let desk = desk_with_result();
    desk.write("b.txt", "four");
    for (args, code) in [
        (&["run", "b.txt"][..], 0),
        (&["--log", "trace", "run", "b.txt", "--anew"], 0),
        (&["--log", "trace", "status"], 0),
        (&["events", "--json"], 0),
        (&["result", "sub_1", "--csv", "-"], 0),
        (&["read", "a.txt", "--out", "-"], 0),
        (&["workflows", "show", "documents"], 0),
        (&["--help"], 0),
        (&["status", "nosuch"], 2),
        (&["--no-such-flag"], 2),
    ] {
        // `2>&1 | true`, and `2>&1 | head -1`.
        for lines in [0, 1] {
            let (reader, writer) = io::pipe().unwrap();
            let mut command = desk.command(args);
            command.stdin(Stdio::null()).stdout(writer.try_clone().unwrap()).stderr(writer);
            let mut child = command.spawn().unwrap();
            drop(command);
            let mut reader = BufReader::new(reader);
            for _ in 0..lines {
                reader.read_line(&mut String::new()).unwrap();
            }
            drop(reader);
            assert_eq!(child.wait().unwrap().code(), Some(code), "{args:?} after {lines} lines");
        }
    }
}

/// Runs a shell script among mounts of its own. Root needs no user namespace for that, and gets none in a changed root.
fn own_mounts(script: &str) -> Command {
    let mut command = Command::new("unshare");
    if !rustix::process::geteuid().is_root() {
        command.arg("--map-root-user");
    }
    command.args(["--mount", "sh", "-c", script]);
    command
}

/// The binary without the right to overrule permissions, which root has.
fn without_privilege(desk: &Desk, args: &[&str]) -> Command {
    let inner = desk.command(args);
    if !rustix::process::geteuid().is_root() {
        return inner;
    }
    let mut command = Command::new("setpriv");
    command.args(["--bounding-set=-dac_override,-dac_read_search", "--inh-caps=-all"]);
    command.arg(inner.get_program()).args(inner.get_args()).current_dir(desk.path(""));
    command
}

#[test]
fn one_file_that_cannot_be_read_keeps_nobody_from_the_others() {
    let desk = Desk::new();
    desk.write("in/a.txt", "one two");
    let secret = desk.write("in/locked.txt", "nobody's");
    desk.write("in/closed/c.txt", "three");
    fs::set_permissions(&secret, fs::Permissions::from_mode(0o000)).unwrap();
    fs::set_permissions(desk.path("in/closed"), fs::Permissions::from_mode(0o000)).unwrap();
    let run = |args: &[&str]| Ran::from(without_privilege(&desk, args).stdin(Stdio::null()).output().unwrap());

    let ran = run(&["run", "in", "--workflow", "words", "--json"]);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    let answer = ran.json();
    assert_eq!((&answer["status"], &answer["result"]["totals"]["words"]), (&"completed".into(), &2.into()), "{answer}");
    let names: Vec<&str> =
        answer["unreadable"].as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["closed", "locked.txt"], "{answer}");
    assert!(ran.err.contains("not taken in: locked.txt: in/locked.txt cannot be read: Permission denied"), "{ran:?}");

    let ran = run(&["submit", "in", "--anew", "--json"]);
    assert_eq!((ran.code, ran.json()["unreadable"].as_array().unwrap().len()), (Some(3), 2), "{ran:?}");
    let ran = run(&["watch", "in", "--once", "--settle", "0", "--json"]);
    assert_eq!((ran.code, ran.out.lines().count()), (Some(0), 1), "{ran:?}");
    assert!(ran.err.contains("locked.txt is left alone until it changes"), "{ran:?}");
    // A file that was named is meant: without it nothing is taken in.
    run(&["run", "in/a.txt", "in/locked.txt"]).fails_with(2, "in/locked.txt cannot be read: Permission denied");
    fs::remove_file(desk.path("in/a.txt")).unwrap();
    run(&["run", "in"]).fails_with(2, "none of the files can be read; the first: in/closed cannot be read");

    fs::set_permissions(desk.path("in/closed"), fs::Permissions::from_mode(0o700)).unwrap();
    fs::set_permissions(&secret, fs::Permissions::from_mode(0o600)).unwrap();
    assert_eq!(run(&["run", "in", "--workflow", "words"]).code, Some(0));
}

#[test]
fn one_unreadable_input_of_a_folder_fails_and_the_others_are_run() {
    let desk = Desk::new();
    let samples = crate::support::sample_inputs("bank_statement");
    fs::create_dir_all(desk.path("inputs/closed")).unwrap();
    for entry in fs::read_dir(&samples).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), desk.path("inputs").join(entry.file_name())).unwrap();
    }
    let locked = desk.write("inputs/locked.json", "{}");
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o000)).unwrap();
    fs::set_permissions(desk.path("inputs/closed"), fs::Permissions::from_mode(0o000)).unwrap();
    let run = |args: &[&str]| Ran::from(without_privilege(&desk, args).stdin(Stdio::null()).output().unwrap());
    let whole = desk.bindery(&["--store", "other", "process", "bank_statement", &samples, "--json"]).json();
    let ran = run(&["process", "bank_statement", "inputs", "--json"]);
    let metrics = &ran.json()["metrics"];
    assert_eq!(metrics["succeeded"], whole["metrics"]["succeeded"], "{ran:?}");
    assert!(
        ran.code == Some(10) && ran.out.contains("inputs/locked.json cannot be read: Permission denied"),
        "{ran:?}"
    );
    assert!(ran.out.contains("inputs/closed cannot be read: "), "{ran:?}");
    run(&["process", "bank_statement", "inputs/locked.json"]).fails_with(2, "hint: nothing was run");
    fs::set_permissions(desk.path("inputs/closed"), fs::Permissions::from_mode(0o700)).unwrap();
}

/// Every command that only looks.
const LOOKS: &[&[&str]] = &[
    &["status"],
    &["status", "--json"],
    &["status", "sub_1"],
    &["status", "sub_1", "--json"],
    &["result", "sub_1"],
    &["result", "sub_1", "--json"],
    &["result", "sub_1", "--csv", "-"],
    &["events"],
    &["events", "--json"],
    &["jobs"],
    &["queues"],
    &["workers"],
    &["dead-letters"],
    &["review", "list"],
    &["runs"],
    &["runs", "show", "latest"],
    &["runs", "stats"],
    &["workflows"],
    &["workflows", "show", "documents"],
    &["processors"],
    &["search", "one"],
    &["machine", "list"],
    &["civic", "city", "list"],
    &["civic", "queue"],
    &["civic", "status"],
    &["civic", "costs"],
    &["store", "export", "-"],
];

/// A way to run the binary.
type Way<'a> = &'a dyn Fn(&[&str]) -> Ran;

#[test]
fn a_store_that_cannot_be_written_can_be_looked_at() {
    let desk = desk_with_result();
    desk.bindery(&["process", "bank_statement", &crate::support::sample_inputs("bank_statement")]);
    let look = |args: &[&str]| desk.bindery(args);
    let expected: Vec<Ran> = LOOKS.iter().map(|args| look(args)).collect();
    let files = || {
        let mut names: Vec<_> =
            fs::read_dir(desk.path("bindery-data")).unwrap().map(|it| it.unwrap().file_name()).collect();
        names.sort();
        names
    };
    let before = files();

    // On a disk that is mounted read-only.
    let mounted = |args: &[&str]| {
        let inner = desk.command(args);
        let script =
            "mount --bind bindery-data bindery-data && mount -o remount,bind,ro bindery-data && exec \"$0\" \"$@\"";
        let mut command = own_mounts(script);
        command.arg(inner.get_program()).args(inner.get_args());
        Ran::from(command.current_dir(desk.path("")).stdin(Stdio::null()).output().unwrap())
    };
    // In a folder without the permission to write.
    let locked = |args: &[&str]| Ran::from(without_privilege(&desk, args).stdin(Stdio::null()).output().unwrap());
    let set_modes = |folder, file| {
        fs::set_permissions(desk.path("bindery-data/bindery.db"), fs::Permissions::from_mode(file)).unwrap();
        fs::set_permissions(desk.path("bindery-data"), fs::Permissions::from_mode(folder)).unwrap();
    };
    for (name, run) in [("mounted", &mounted as Way<'_>), ("locked", &locked)] {
        if name == "locked" {
            set_modes(0o500, 0o400);
        }
        for (args, expected) in LOOKS.iter().zip(&expected) {
            let ran = run(args);
            assert_eq!(ran.code, expected.code, "{name}: {args:?}: {ran:?}");
            // Those that say how long ago something was are never the same.
            let tells_ages = ["workers", "runs", "status", "queues"].iter().any(|it| args.contains(it));
            if !tells_ages {
                assert_eq!(ran.out, expected.out, "{name}: {args:?}");
            }
        }
        run(&["cancel", "sub_1"]).fails_with(20, "bindery.db: cannot be written");
        run(&["pause", "text_splitter"]).fails_with(20, "bindery.db: cannot be written");
        run(&["run", "a.txt"]).fails_with(20, "cannot be written");
        assert_eq!(files(), before, "{name}: looking has left something");
    }
    set_modes(0o700, 0o600);
    desk.bindery(&["run", "a.txt"]).ok();
}

#[test]
fn what_others_write_is_seen_also_by_those_who_may_only_read() {
    let desk = Desk::slow();
    let lines: Vec<String> = (0..300).map(|line| format!("line {line}")).collect();
    desk.write("a.txt", lines.join("\n"));
    desk.bindery(&["submit", "a.txt", "--workflow", "slow"]).ok();
    let worker = desk.start(&["worker", "--until-idle"]);
    desk.wait_for("sub_1", "some pages are done", |status| status.to_string().contains("\"completed\":"));
    let script = "mount --bind bindery-data bindery-data && mount -o remount,bind,ro bindery-data && exec \"$0\" status sub_1 --json";
    let begun = Instant::now();
    loop {
        let looked = own_mounts(script).arg(env!("CARGO_BIN_EXE_bindery")).current_dir(desk.path("")).output();
        let ran = Ran::from(looked.unwrap()).ok();
        if is_final(&ran.json()) {
            break;
        }
        assert!(begun.elapsed() < PATIENCE, "{ran:?}");
    }
    assert_eq!(worker.wait(), Some(0));
}

/// Runs a script in a mount namespace of its own, where `disk` is a small disk.
fn on_small_disk(desk: &Desk, megabytes: u32, script: &str) -> Ran {
    fs::create_dir_all(desk.path("disk")).unwrap();
    let whole = format!(
        "set -e; mount -t tmpfs -o size={megabytes}m none disk; B={}; \
         fill() {{ dd if=/dev/zero of=disk/fill bs=4096 2>/dev/null || true; }}; {script}",
        env!("CARGO_BIN_EXE_bindery")
    );
    let mut command = own_mounts(&whole);
    command.current_dir(desk.path("")).stdin(Stdio::null());
    if desk.path("workflows").is_dir() {
        command.env("BINDERY_WORKFLOWS", "workflows");
    }
    command.output().unwrap().into()
}

fn slow_desk(pages: usize) -> Desk {
    let desk = Desk::slow();
    let lines: Vec<String> = (0..pages).map(|line| format!("line {line}")).collect();
    desk.write("a.txt", lines.join("\n"));
    desk
}

const RUN: &str = "$B --store disk/store run a.txt --workflow slow --no-progress";

#[test]
fn a_full_disk_ends_a_run_with_one_sentence_and_the_same_command_goes_on() {
    let desk = slow_desk(400);
    let script = format!(
        "{RUN} --store-wait 3 2>first.err >first.out & \
         until [ -s disk/store/bindery.db-wal ] && $B --store disk/store status sub_1 2>/dev/null | grep -q 'count'; do :; done; \
         fill; code=0; wait $! || code=$?; echo first $code; \
         code=0; $B --store disk/store status sub_1 >looked.out 2>&1 || code=$?; echo looked $code; \
         code=0; $B --store disk/store run a.txt --workflow words >full.out 2>full.err || code=$?; echo full $code; \
         rm disk/fill; code=0; {RUN} >second.out 2>second.err || code=$?; echo second $code"
    );
    let ran = on_small_disk(&desk, 48, &script).ok();
    let text = |name: &str| fs::read_to_string(desk.path(name)).unwrap();
    let all = || {
        format!("{ran:?}\n{}\n{}\n{}\n{}", text("first.err"), text("looked.out"), text("full.err"), text("second.err"))
    };
    assert_eq!(ran.out, "first 20\nlooked 0\nfull 20\nsecond 0\n", "{}", all());
    let first = text("first.err");
    assert_eq!(first.matches("error: ").count(), 1, "{first}");
    assert!(first.contains("no space left on the disk") && first.contains("waiting up to 3 s"), "{first}");
    assert!(first.contains("hint: what is done is kept: the same command goes on"), "{first}");
    assert!(first.lines().count() <= 8, "it says the same again and again: {first}");
    assert!(text("full.err").contains("no space left"), "{}", all());
    assert!(text("second.out").contains("800"), "{}", all());
}

#[test]
fn a_run_goes_on_by_itself_when_there_is_room_again() {
    let desk = slow_desk(400);
    let script = format!(
        "{RUN} 2>run.err >run.out & \
         until [ -s disk/store/bindery.db-wal ] && $B --store disk/store status sub_1 2>/dev/null | grep -q 'count'; do :; done; \
         fill; until grep -q 'waiting up to 60 s' run.err; do sleep 0.1; done; rm disk/fill; wait $!"
    );
    let ran = on_small_disk(&desk, 48, &script);
    let said = fs::read_to_string(desk.path("run.err")).unwrap();
    assert_eq!(ran.code, Some(0), "{ran:?}\n{said}");
}

#[test]
fn blobs_on_a_full_disk_are_waited_for_and_nothing_fails_for_good() {
    let desk = Desk::new();
    // The text of each page is a blob.
    let text = "Dear Sir or Madam, the harbour is open again. ".repeat(4_000);
    desk.write("in/a.txt", &text);
    let run = "$B --store store --blobs disk/blobs run in --external-id pile --no-progress";
    let script = format!(
        "$B --store store --blobs disk/blobs submit in --workflow read --external-id pile >/dev/null 2>&1; fill; \
         code=0; {run} --store-wait 2 >first.out 2>first.err || code=$?; echo first $code; \
         rm disk/fill; code=0; {run} >second.out 2>second.err || code=$?; echo second $code"
    );
    let ran = on_small_disk(&desk, 4, &script);
    let said = |name: &str| fs::read_to_string(desk.path(name)).unwrap_or_default();
    assert_eq!(ran.out, "first 20\nsecond 0\n", "{ran:?}\n{}\n{}", said("first.err"), said("second.err"));
    assert!(said("first.err").contains("no space left to write"), "{}", said("first.err"));
    assert_eq!(said("first.err").matches("error: ").count(), 1, "{}", said("first.err"));
    assert!(said("first.err").contains("waiting up to 2 s for it"), "{}", said("first.err"));
    assert!(said("second.err").contains("sub_1 completed"), "no attempt was used up: {}", said("second.err"));
}

/// A way to a server that can be cut.
struct Proxy {
    port: u16,
    is_cut: Arc<AtomicBool>,
    /// After so many answers of the server everything is cut, once.
    answers_left: Arc<AtomicUsize>,
}

impl Proxy {
    fn to(server: u16, answers: usize) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (is_cut, answers_left) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(answers)));
        let (cut, left) = (Arc::clone(&is_cut), Arc::clone(&answers_left));
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                if cut.load(Ordering::SeqCst) {
                    continue;
                }
                let Ok(server) = TcpStream::connect(("127.0.0.1", server)) else { continue };
                let (from_client, to_server) = (client.try_clone().unwrap(), server.try_clone().unwrap());
                thread::spawn(move || io::copy(&mut { from_client }, &mut { to_server }));
                let (cut, left) = (Arc::clone(&cut), Arc::clone(&left));
                thread::spawn(move || pass_answers(server, client, &cut, &left));
            }
        });
        Self { port, is_cut, answers_left }
    }

    /// Waits for the cut, and heals it after a while.
    fn heal_after_cut(&self) {
        let begun = Instant::now();
        while !self.is_cut.load(Ordering::SeqCst) && begun.elapsed() < Duration::from_secs(20) {
            thread::sleep(Duration::from_millis(5));
        }
        thread::sleep(Duration::from_secs(1));
        self.answers_left.store(usize::MAX, Ordering::SeqCst);
        self.is_cut.store(false, Ordering::SeqCst);
    }
}

fn pass_answers(mut server: TcpStream, mut client: TcpStream, cut: &AtomicBool, left: &AtomicUsize) {
    let mut buffer = [0; 8_192];
    while let Ok(count @ 1..) = server.read(&mut buffer) {
        if cut.load(Ordering::SeqCst)
            || left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1)).is_err()
        {
            cut.store(true, Ordering::SeqCst);
            break;
        }
        if client.write_all(&buffer[..count]).is_err() {
            break;
        }
    }
    let _ = client.shutdown(Shutdown::Both);
    let _ = server.shutdown(Shutdown::Both);
}

#[test]
fn a_worker_that_starts_while_its_database_goes_away_waits_for_it() {
    let Some(server) = PostgresServer::start() else { return };
    // At different places of its start: connecting, looking at the schema, storing workflows, taking the first job.
    for answers in [1, 4, 8, 16, 30, 60] {
        let schema = format!("cut{answers}");
        let at = |port: u16| {
            server.url().replace(&format!(":{}", server.port()), &format!(":{port}")) + &format!("?schema={schema}")
        };
        let desk = Desk::new().with_env("BINDERY_BLOBS", "blobs");
        desk.write("a.txt", "one two three");
        desk.bindery(&["--store", &at(server.port()), "submit", "a.txt", "--workflow", "words"]).ok();
        let proxy = Proxy::to(server.port(), answers);
        let worker = desk.start(&["--store", &at(proxy.port), "worker", "--until-idle"]);
        proxy.heal_after_cut();
        let log = || fs::read_to_string(desk.path("worker.log")).unwrap();
        assert_eq!(worker.wait(), Some(0), "cut after {answers} answers: {}", log());
        assert!(log().lines().count() < 20, "{}", log());
        let status = desk.bindery(&["--store", &at(server.port()), "status", "sub_1", "--json"]).ok().json();
        assert_eq!(status["status"], "completed", "{status:#}");
    }
    // Whoever waits at the terminal is told in one sentence.
    let proxy = Proxy::to(server.port(), 0);
    proxy.is_cut.store(true, Ordering::SeqCst);
    let desk = Desk::new().with_env("BINDERY_BLOBS", "blobs");
    let url = server.url().replace(&format!(":{}", server.port()), &format!(":{}", proxy.port));
    let ran = desk.bindery(&["--store", &url, "status"]).fails_with(20, "cannot be reached");
    assert_eq!(ran.err.lines().count(), 2, "not a sentence and a hint: {ran:?}");
}
