#!/usr/bin/env python3
"""Measures the shipped pipeline: `make bench-pipeline`.

usage: bench.py BINDERY SCORE_FIELDS SCORE_PAGES SHARED MAKER [PART ...]

BINDERY, SCORE_FIELDS and SCORE_PAGES are release builds, SHARED is the folder with fixtures, MAKER a Python that the
generators beside this file run on. PART is any of overhead, waits, tiny, memory, resume, rerun, fields, classes; without it all are
measured.

overhead  The same born-digital pages by `bindery read` and by `bindery run --workflow read` into a fresh store, two threads
          each, in turns, the best of three. Both write every page as JSON with its words, and every file as Markdown. The
          number is the larger of what the engine adds to the time on the clock and to the CPU time.
waits     How often `bindery run` waits for a disk (fsync, fdatasync, syncfs) for each hundred of those pages; counted by strace,
          and left out where there is none.
tiny      10,000 files of two lines by `bindery run --workflow read` into a fresh store: the time and the most memory.
memory    The most memory that `bindery run --workflow documents` has in hand over an inbox of 1,000 files.
resume    The same inbox, killed several times at random moments and started again with the same command: how many pages
          were begun more than once, for each hundred pages.
rerun     The same inbox, done before, with one file changed: how long the whole command takes. The best of three.
fields    F1 over number, date, total, currency and seller, on e-invoices whose XML is hidden, and on generated invoices.
classes   How many pages of a generated pile, in layouts that no rule was written on, are given the right type.

The last line is for programs.
"""

import hashlib
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
THREADS = "2"
ROUNDS = 3
PAGES_WANTED = 600
INBOX_FILES = 1000
TINY_FILES = 10_000
# Scans take seconds each; a few are enough to have them in the inbox.
INBOX_SCANS = "0.02"
KILLS = 6


class Ran:
    """A command that has ended: seconds on the clock and of CPU, the most memory, what it said."""

    def __init__(self, command, expected=(0,), kill_after=None):
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            begun = time.monotonic()
            process = subprocess.Popen([str(part) for part in command], stdout=out, stderr=err)
            timer = threading.Timer(kill_after or 0, process.kill)
            if kill_after is not None:
                timer.start()
            _, status, used = os.wait4(process.pid, 0)
            self.wall = time.monotonic() - begun
            self.code = process.returncode = os.waitstatus_to_exitcode(status)
            timer.cancel()
            self.cpu = used.ru_utime + used.ru_stime
            self.megabytes = used.ru_maxrss * 1024 / 1e6
            out.seek(0)
            err.seek(0)
            self.out = out.read().decode(errors="replace")
            self.err = err.read().decode(errors="replace")
        if kill_after is None and self.code not in expected:
            sys.exit(f"{' '.join(map(str, command[:6]))} … ended with {self.code}:\n{self.err[-2000:]}")


class Bench:
    def __init__(self, bindery, score_fields, score_pages, shared, maker):
        self.bindery, self.score_fields, self.score_pages, self.maker = bindery, score_fields, score_pages, maker
        self.documents = pathlib.Path(shared) / "fixtures" / "documents"
        self.scratch = pathlib.Path(tempfile.mkdtemp(prefix="bindery-bench-"))
        self.numbers = {}
        self.inbox_pages = None

    def run(self, store, workflow, paths, *options):
        return [*self.run_by_content(store, workflow, paths, *options), "--external-id", "bench"]

    def run_by_content(self, store, workflow, paths, *options):
        command = [self.bindery, "--store", store, *options, "run", "--workflow", workflow, "--threads", THREADS]
        return [*command, "--no-progress", "--json", *paths]

    def born_digital(self):
        """PDFs of these folders, by name, all pages of which are text without pictures of text, until there are enough pages.
        Each content once: of a file that is there twice, a submission reads one."""
        chosen, pages, known = [], 0, set()
        for folder in ["text", "tables", "einvoices", "messy"]:
            for file in sorted((self.documents / folder).glob("*.pdf")):
                if pages >= PAGES_WANTED:
                    return chosen, pages
                content = hashlib.sha256(file.read_bytes()).digest()
                if content in known:
                    continue
                known.add(content)
                said = Ran([self.bindery, "read", "--ocr", "never", "--explain", "--json", file], expected=(0, 10)).out
                kinds = [json.loads(line)["kind"] for line in said.splitlines()]
                if kinds and all(kind == "text" for kind in kinds):
                    chosen.append(file)
                    pages += len(kinds)
        return chosen, pages

    def overhead(self):
        files, pages = self.born_digital()
        read, run = [], []
        for turn in range(ROUNDS):
            out, store = self.scratch / f"read-{turn}", self.scratch / f"store-{turn}"
            command = [self.bindery, "read", "--no-progress", "--format", "json,md", "--jobs", THREADS, "--out", out]
            read.append(Ran([*command, *files]))
            run.append(Ran(self.run(store, "read", files)))
            done = json.loads(run[-1].out)["result"]["totals"]
            if (done["pages"], done["failed"]) != (pages, 0):
                sys.exit(f"the engine read {done}, not {pages} pages")
        # What a round wrote stays until the end: a file system that has just deleted thousands of files makes new ones slowly.
        added = []
        for name, of in [("wall", lambda ran: ran.wall), ("CPU", lambda ran: ran.cpu)]:
            bare, whole = min(map(of, read)), min(map(of, run))
            added.append(100 * (whole / bare - 1))
            print(f"overhead: {len(files)} files, {pages} pages: {name} read {bare:.2f} s, run {whole:.2f} s, {added[-1]:+.1f} %")
        self.numbers["overhead_pct"] = max(added)

    def waits(self):
        if shutil.which("strace") is None:
            print("waits: strace is not here, so they were not counted")
            return
        files, pages = self.born_digital()
        log = self.scratch / "waits.log"
        calls = "trace=fsync,fdatasync,syncfs"
        Ran(["strace", "-f", "-qq", "-e", calls, "-o", log, *self.run(self.scratch / "store-waits", "read", files)])
        waits = len(re.findall(r"(?:fsync|fdatasync|syncfs)\(", log.read_text(errors="replace")))
        print(f"waits: {waits} for {pages} pages of {len(files)} files")
        self.numbers["disk_waits_per_100_pages"] = 100 * waits / pages

    def tiny(self):
        folder = self.scratch / "tiny"
        folder.mkdir()
        for number in range(TINY_FILES):
            (folder / f"note-{number:05}.txt").write_text(f"Note {number}\nThe order {number * 7} was paid.\n")
        ran = Ran(self.run(self.scratch / "store-tiny", "read", [folder]))
        totals = json.loads(ran.out)["result"]["totals"]
        if (totals["files"], totals["failed"]) != (TINY_FILES, 0):
            sys.exit(f"of {TINY_FILES} tiny files it read {totals}")
        print(f"tiny: {TINY_FILES} files in {ran.wall:.1f} s, CPU {ran.cpu:.1f} s, at most {ran.megabytes:.0f} MB")
        self.numbers["tiny_10k_s"], self.numbers["tiny_10k_rss_mb"] = ran.wall, ran.megabytes

    def inbox(self):
        """1,000 files: generated piles of all types, and invoices for the rest."""
        folder = self.scratch / "inbox"
        if folder.exists():
            return folder
        pile = self.made("piles", "--split", "heldout", "--documents", "400", "--seed", "3", "--scans", INBOX_SCANS)
        count = INBOX_FILES - len(list(pile.glob("*.pdf")))
        invoices = self.made("invoices", "--count", str(count), "--seed", "11")
        folder.mkdir()
        for source in (pile, invoices):
            for file in sorted(source.glob("*.pdf")):
                file.rename(folder / f"{source.name}-{file.name}")
            shutil.rmtree(source)
        return folder

    def made(self, generator, *options):
        folder = self.scratch / f"{generator}-{len(list(self.scratch.iterdir()))}"
        Ran([self.maker, HERE / generator / "make.py", folder, *options])
        return folder

    def memory(self):
        store = self.scratch / "memory"
        ran = Ran(self.run(store, "documents", [self.inbox()]))
        totals = json.loads(ran.out)["result"]["totals"]
        self.inbox_pages = totals["pages"]
        print(
            f"memory: {totals['files']} files, {totals['pages']} pages, {totals['documents']} documents in {ran.wall:.0f} s, "
            f"CPU {ran.cpu:.0f} s, at most {ran.megabytes:.0f} MB"
        )
        self.numbers["rss_mb"] = ran.megabytes
        self.seconds = ran.wall
        shutil.rmtree(store)

    def resume(self):
        if self.inbox_pages is None:
            self.memory()
        store = self.scratch / "resume"
        command = self.run(store, "documents", [self.inbox()], "--log", "bindery_engine::worker=debug")
        rng = random.Random(5)
        begun, kills = [], 0
        while True:
            patience = rng.uniform(0.05, 0.25) * self.seconds
            ran = Ran(command, kill_after=patience if kills < KILLS else None)
            begun += re.findall(r"begins .*?job\.id=(\S+) stage=read ", ran.err)
            if ran.code >= 0:
                break
            kills += 1
        totals = json.loads(ran.out)["result"]["totals"]
        if totals["pages"] != self.inbox_pages:
            sys.exit(f"resumed, it read {totals['pages']} pages, not {self.inbox_pages}")
        again = len(begun) - len(set(begun))
        share = 100 * again / self.inbox_pages
        print(f"resume: killed {kills} times, {again} of {self.inbox_pages} pages were begun again")
        self.numbers["resume_repeat_pct"] = share
        shutil.rmtree(store)

    def rerun(self):
        store, inbox = self.scratch / "rerun", self.inbox()
        command = self.run_by_content(store, "documents", [inbox], "--log", "bindery_engine::worker=debug")
        first = Ran(command)
        file = sorted(inbox.glob("invoices-*.pdf"))[0]
        times = []
        for turn in range(ROUNDS):
            # A PDF with a remark behind its end is the same paper, and another file.
            file.write_bytes(file.read_bytes() + f"%{turn}\n".encode())
            again = Ran(command)
            begun = len(re.findall(r"begins .*?job\.id=", again.err))
            stages = len(re.findall(r"begins .*?stage=split ", again.err))
            if stages != 1:
                sys.exit(f"one file was changed, and {stages} were opened")
            times.append(again.wall)
            print(f"rerun: {again.wall * 1000:.0f} ms, CPU {again.cpu * 1000:.0f} ms, {begun} pieces of work; at first {first.wall:.1f} s")
        self.numbers["rerun_one_changed_ms"] = min(times) * 1000
        shutil.rmtree(store)

    def scored(self, what, command, name):
        said = Ran(command).out
        found = re.search(rf"SCORE .*\b{name}=([0-9.]+).*", said)
        layouts = [line for line in said.splitlines() if line.startswith("layout ")]
        print("\n".join([f"{what}: {found.group(0)[6:]}", *(f"  {line}" for line in layouts)]))
        return float(found.group(1))

    def fields(self):
        command = [self.score_fields, self.documents / "einvoices"]
        self.numbers["field_f1"] = self.scored("fields of e-invoices, their XML hidden", command, "field_f1")
        self.scored("fields of generated invoices", [self.score_fields, self.made("invoices")], "field_f1")

    def classes(self):
        pile = self.made("piles", "--split", "heldout", "--scans", "0.05")
        self.numbers["class_acc"] = self.scored("types of pages", [self.score_pages, pile], "page_accuracy")


def main(*arguments):
    bench = Bench(*arguments[:5])
    parts = {"overhead": bench.overhead, "waits": bench.waits, "tiny": bench.tiny, "memory": bench.memory, "resume": bench.resume, "rerun": bench.rerun, "fields": bench.fields, "classes": bench.classes}
    begun = time.monotonic()
    try:
        for part in arguments[5:] or parts:
            parts[part]()
            sys.stdout.flush()
    finally:
        shutil.rmtree(bench.scratch)
    print(f"measured in {time.monotonic() - begun:.0f} s")
    digits = {"overhead_pct": 1, "disk_waits_per_100_pages": 0, "tiny_10k_s": 1, "tiny_10k_rss_mb": 0, "rss_mb": 0, "resume_repeat_pct": 2, "rerun_one_changed_ms": 0, "field_f1": 3, "class_acc": 4}
    print("BENCH " + " ".join(f"{name}={bench.numbers[name]:.{digits[name]}f}" for name in digits if name in bench.numbers))


if __name__ == "__main__":
    if len(sys.argv) < 6:
        sys.exit(__doc__)
    main(*sys.argv[1:])
