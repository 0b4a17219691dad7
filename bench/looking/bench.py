#!/usr/bin/env python3
"""Measures what looking at a large submission costs: a part of `make bench-engine`.

usage: bench.py BINDERY [PAGES]

BINDERY is a release build. One text of PAGES pages (a million by default) goes through the workflow `words` into a fresh
store; then it is looked at, a process for each look, the best of three. Memory is the most that a process had.

The last line is for programs.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

ROUNDS = 3


def ran(command):
    """Seconds on the clock, and the most memory in MB."""
    begun = time.monotonic()
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen([str(part) for part in command], stdout=subprocess.DEVNULL, stderr=errors)
        _, status, used = os.wait4(process.pid, 0)
        wall = time.monotonic() - begun
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            errors.seek(0)
            said = errors.read().decode(errors="replace")[-2000:]
            sys.exit(f"{' '.join(map(str, command))} ended with {process.returncode}:\n{said}")
    return wall, used.ru_maxrss / 1024


def looked(command):
    rounds = [ran(command) for _ in range(ROUNDS)]
    return min(wall for wall, _ in rounds), max(memory for _, memory in rounds)


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    bindery, pages = sys.argv[1], int(sys.argv[2]) if len(sys.argv) == 3 else 1_000_000
    below = os.environ.get("BINDERY_BENCH_DIR") or pathlib.Path(bindery).resolve().parent
    scratch = pathlib.Path(tempfile.mkdtemp(prefix="bench-looking-", dir=below))
    try:
        text, store = scratch / "book.txt", scratch / "store"
        with text.open("w") as book:
            for page in range(pages):
                book.write(f"page {page} of the book\n\f")
        common = [bindery, "--store", store]
        wall, words = ran([*common, "run", "--workflow", "words", "--no-progress", text])
        print(f"{pages} pages through `words`: {wall:.1f} s, {words:.0f} MB of memory at most")
        status, status_memory = looked([*common, "status", "sub_1"])
        print(f"status: {status * 1000:.0f} ms, {status_memory:.0f} MB")
        for name, options in [
            ("status --json", ["status", "sub_1", "--json"]),
            ("status --tables", ["status", "sub_1", "--tables"]),
            ("result --json", ["result", "sub_1", "--json"]),
            ("result", ["result", "sub_1"]),
            ("events", ["events"]),
        ]:
            wall, memory = ran([*common, *options])
            print(f"{name}: {wall * 1000:.0f} ms, {memory:.0f} MB")
        print(f"BENCH status_1m_ms={status * 1000:.0f} status_1m_rss_mb={status_memory:.0f} words_1m_rss_mb={words:.0f}")
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


main()
