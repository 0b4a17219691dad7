#!/usr/bin/env python3
"""Kills and freezes workers while they work, and counts afterwards. It knows the binary and nothing else of Bindery.

    kills.py BINDERY [--store URL] [--pages 2000] [--kills 60] [--freezes 5] [--guilty] [--seed N]

Every setting of Bindery is the shipped one. A program in the workflow writes each of its executions to a file of its own.
What is checked at the end:

  - no page was lost: each was executed at least once, and the result counts each exactly once;
  - no innocent page failed, however often its worker died;
  - the result is, byte for byte, that of the same work done undisturbed (submission ids aside);
  - with --guilty, one page kills its worker whenever it runs: it fails, and nothing else does.

Without --store everything is in a folder (SQLite); a postgres:// URL is a database that may be filled.
Ends with one line `OUTSIDE …`, and with exit code 1 when something is wrong.
"""

import argparse
import collections
import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

WORKERS = 3
# The shipped lease is 30 seconds; whoever is frozen for longer has lost its jobs when it wakes.
FROZEN_SECONDS = 33
PAGES_PER_FILE = 100
# How long all of the work may take after the last kill.
PATIENCE_SECONDS = 900
FINAL = ("completed", "failed", "cancelled")

WORKFLOW = """
name: outside
version: 1
stages:
  - {name: split, component: text_splitter, over: file, parallel: true}
  - {name: record, component: recorder, over: page, parallel: true}
  - {name: count, component: word_counter, over: page, parallel: true}
  - name: consolidate
    component: word_consolidator
    timeout_seconds: 300
    aggregation: {collect_by: submission_id, expect_count_from: page_count}
"""

PROCESSOR = """
name: recorder
version: 1
command:
  run: [python3, -S, -E, recorder.py]
  env: {EXECUTIONS: '%(executions)s', GUILTY: '%(guilty)s'}
"""

# What a user's program would be. The guilty page takes the worker that started the program with it.
RECORDER = """
import json, os, signal, sys, tempfile
request = json.load(sys.stdin)
page = request["input"]["text"].split(maxsplit=1)[0]
handle, path = tempfile.mkstemp(prefix=page + "-", dir=os.environ["EXECUTIONS"])
os.write(handle, json.dumps({"attempt": request["attempt"]}).encode())
os.close(handle)
if page == os.environ["GUILTY"]:
    os.kill(os.getppid(), signal.SIGKILL)
print(json.dumps({"output": request["input"]}))
"""


def page_name(number):
    return f"page{number:05d}"


class Site:
    """A folder with papers, a workflow and a processor, and the workers on one store."""

    def __init__(self, binary, root, store, guilty=""):
        self.binary, self.root, self.guilty = binary, root, guilty
        self.executions = root / "executions"
        for name in ("executions", "workflows", "processors", "papers", "logs"):
            (root / name).mkdir(parents=True)
        (root / "workflows" / "outside.yaml").write_text(WORKFLOW)
        places = {"executions": self.executions, "guilty": guilty}
        (root / "processors" / "recorder.yaml").write_text(PROCESSOR % places)
        (root / "processors" / "recorder.py").write_text(RECORDER)
        self.flags = ["--workflows", root / "workflows", "--processors", root / "processors", "--store", store or root / "store"]
        if store:
            self.flags += ["--blobs", root / "blobs"]
        self.started = 0

    def papers(self, pages):
        for first in range(0, pages, PAGES_PER_FILE):
            numbers = range(first, min(first + PAGES_PER_FILE, pages))
            text = "\f".join(f"{page_name(number)} is one of {pages} pages\n" for number in numbers)
            (self.root / "papers" / f"{first:06d}.txt").write_text(text)
        return self.root / "papers"

    def bindery(self, *args):
        """Runs a command to its end and returns its output."""
        command = [self.binary, *args, *self.flags]
        ran = subprocess.run(command, capture_output=True, text=True, cwd=self.root, stdin=subprocess.DEVNULL)
        if ran.returncode != 0:
            raise SystemExit(f"bindery {' '.join(map(str, args))} exited with {ran.returncode}: {ran.stderr.strip()}")
        return ran.stdout

    def worker(self):
        self.started += 1
        log = open(self.root / "logs" / f"worker-{self.started}.log", "w")
        command = [self.binary, "worker", *self.flags]
        return subprocess.Popen(command, cwd=self.root, stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def submit(self, pages):
        answer = json.loads(self.bindery("submit", self.papers(pages), "--workflow", "outside", "--json"))
        return answer["submission"]

    def is_final(self, submission):
        listed = json.loads(self.bindery("status", "--json"))
        return all(one["status"] in FINAL for one in listed if one["id"] == submission)

    def executed(self):
        """How often each page was executed, and the attempts that the program was told."""
        runs, attempts = collections.Counter(), collections.defaultdict(list)
        for path in self.executions.iterdir():
            page = path.name.split("-")[0]
            runs[page] += 1
            text = path.read_text()
            if text:
                attempts[page].append(json.loads(text)["attempt"])
        return runs, attempts


def neutral(result):
    """The result without what differs between two submissions of the same papers."""
    return re.sub(r"sub_\d+", "sub_N", result)


def undisturbed(binary, root, pages):
    site = Site(binary, root, store=None)
    submission = site.submit(pages)
    site.bindery("worker", "--until-idle")
    return neutral(site.bindery("result", submission, "--json"))


class Crew:
    """The workers on a site; one that dies is replaced."""

    def __init__(self, site, chance):
        self.site, self.chance = site, chance
        self.workers = [site.worker() for _ in range(WORKERS)]
        self.frozen = {}
        self.kills = self.freezes = self.deaths = 0

    def look_after(self):
        """Wakes who was frozen for long enough, and replaces who died by itself, as only the guilty page may make it."""
        for place, wake_at in list(self.frozen.items()):
            if time.monotonic() >= wake_at:
                self.workers[place].send_signal(signal.SIGCONT)
                del self.frozen[place]
        for place, worker in enumerate(self.workers):
            if worker.poll() is None:
                continue
            if worker.returncode != -signal.SIGKILL or not self.site.guilty:
                raise SystemExit(f"a worker ended by itself with {worker.returncode}; see {self.site.root}/logs")
            self.deaths += 1
            self.workers[place] = self.site.worker()

    def victim(self):
        return self.chance.choice([place for place in range(WORKERS) if place not in self.frozen])

    def kill(self):
        place = self.victim()
        self.workers[place].kill()
        self.workers[place].wait()
        self.workers[place] = self.site.worker()
        self.kills += 1

    def freeze(self):
        place = self.victim()
        self.workers[place].send_signal(signal.SIGSTOP)
        self.frozen[place] = time.monotonic() + FROZEN_SECONDS
        self.freezes += 1

    def end(self):
        for worker in self.workers:
            worker.send_signal(signal.SIGCONT)
            worker.terminate()
        for worker in self.workers:
            worker.wait()


def disturb(site, submission, options, chance):
    """Kills and freezes as often as asked, as long as there is work, and waits until it is done."""
    crew, began = Crew(site, chance), time.monotonic()
    try:
        harm(crew, submission, options)
    finally:
        crew.end()
    seconds = round(time.monotonic() - began)
    return {"kills": crew.kills, "freezes": crew.freezes, "deaths": crew.deaths, "seconds": seconds}


def harm(crew, submission, options):
    site, chance, last_harm = crew.site, crew.chance, time.monotonic()
    while True:
        time.sleep(chance.uniform(0.2, 0.9))
        crew.look_after()
        if site.is_final(submission) and not crew.frozen:
            return
        if time.monotonic() > last_harm + PATIENCE_SECONDS:
            raise SystemExit(f"not finished {PATIENCE_SECONDS} s after the last kill; see {site.root}")
        # Spread over the kills; one worker at least must be there to take the jobs up.
        freezes_due = options.freezes * (crew.kills + 1) > crew.freezes * (options.kills + 1)
        if crew.freezes < options.freezes and freezes_due and len(crew.frozen) < WORKERS - 1:
            crew.freeze()
        elif crew.kills < options.kills:
            crew.kill()
        else:
            continue
        last_harm = time.monotonic()


def check(site, submission, pages, expected):
    """What is wrong, one line each."""
    wrong = []
    text = site.bindery("result", submission, "--json")
    result = json.loads(text)
    runs, attempts = site.executed()
    names = [page_name(number) for number in range(pages)]
    never = [name for name in names if not runs[name]]
    if never:
        wrong.append(f"{len(never)} pages were never executed, such as {never[0]}")
    failed, guilty = result["failed"], len([site.guilty] if site.guilty else [])
    if len(failed) != guilty:
        wrong.append(f"{len(failed)} pages failed, expected {guilty}: {json.dumps(failed[:3])}")
    places = [place for name in names for place in result["index"].get(name, [])]
    if len(places) != pages - guilty or len(set(map(tuple, places))) != len(places):
        wrong.append(f"{len(places)} pages are counted in the result, expected {pages - guilty}, each once")
    if not site.guilty and neutral(text) != expected:
        wrong.append("the result differs from that of the undisturbed run")
    told = max((max(told) for page, told in attempts.items() if page != site.guilty), default=0)
    if told > 1:
        wrong.append(f"an innocent page was told that this is its attempt {told}, though no attempt of it had failed")
    return wrong, runs


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("binary")
    parser.add_argument("--store", help="a postgres:// URL; none: SQLite in a folder")
    parser.add_argument("--pages", type=int, default=2000)
    parser.add_argument("--kills", type=int, default=60)
    parser.add_argument("--freezes", type=int, default=5)
    parser.add_argument("--guilty", action="store_true", help="one page kills its worker whenever it runs")
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    options = parser.parse_args()
    binary, chance = pathlib.Path(options.binary).resolve(), random.Random(options.seed)
    # Stays when something is wrong: its logs say more.
    root = pathlib.Path(tempfile.mkdtemp(prefix="bindery-outside-"))
    expected = undisturbed(binary, root / "quiet", options.pages)
    guilty = page_name(chance.randrange(options.pages)) if options.guilty else ""
    site = Site(binary, root / "loud", options.store, guilty)
    submission = site.submit(options.pages)
    done = disturb(site, submission, options, chance)
    wrong, runs = check(site, submission, options.pages, expected)
    if wrong:
        print(f"its files are in {root}", file=sys.stderr)
    else:
        shutil.rmtree(root)
    for line in wrong:
        print(f"wrong: {line}", file=sys.stderr)
    twice = sum(1 for count in runs.values() if count > 1)
    figures = {"store": "postgres" if options.store else "sqlite", "seed": options.seed, "pages": options.pages, **done}
    figures |= {"executions": sum(runs.values()), "pages_run_again": twice, "wrong": len(wrong)}
    print("OUTSIDE", *(f"{name}={value}" for name, value in figures.items()))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
