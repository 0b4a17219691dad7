#!/usr/bin/env python3
"""Measures `bindery read` beside its peers, on the same files in the same run: `make bench-reader`.

usage: bench.py BINDERY PDF_TABLES SHARED PEERS [PART ...]

BINDERY and PDF_TABLES are the release builds, with `ruled_grids` beside the latter; SHARED the folder with fixtures and scorers, PEERS a Python with pypdfium2,
markitdown, pymupdf4llm and rapidocr. PART is any of text, tables, grids, checks, office, ocr, receipts, photos, messy; without it all are measured. Times are CPU seconds of whole processes, one page at a time, the better of two runs; of the Python peers
only the reading is counted, not the start of Python. The last line is for programs.
"""

import collections
import pathlib
import re
import resource
import subprocess
import sys
import tempfile
import time
import unicodedata

sys.dont_write_bytecode = True  # The folder stays as it is.

import checks
import photos
import receipts

# The numbers of the last line, in its order, and their digits after the point.
NUMBERS = {
    "pages_per_cpu_s": 0,
    "ratio": 2,
    "token_f1": 4,
    "token_f1_joined": 4,
    "order": 4,
    "table_f1": 4,
    "grids": 3,
    "receipts_recall": 4,
    "receipts_totals": 3,
    "ocr_cer": 4,
    "ocr_cpu_ratio": 2,
    "ocr2_cpu_s": 2,
    "photos_recall": 3,
    "checks": 3,
    "office_ratio": 2,
    "messy_panics": 0,
    "messy_timeouts": 0,
}
PARTS = ("text", "tables", "grids", "checks", "office", "ocr", "receipts", "photos", "messy")

# Fewer runs of four words say nothing about a file.
FEWEST_RUNS = 20
LIMIT_SECONDS = 20
LIMIT_BYTES = 1 << 30

PDFIUM = """
import sys, time, pypdfium2
pages, begun = 0, time.process_time()
for path in sys.argv[1:]:
    pdf = pypdfium2.PdfDocument(path)
    for page in pdf:
        page.get_textpage().get_text_bounded()
        pages += 1
print(pages, time.process_time() - begun)
"""

MUPDF = """
import pathlib, sys, time, pymupdf
out = pathlib.Path(sys.argv[1])
out.mkdir(parents=True, exist_ok=True)
pages, texts, begun = 0, {}, time.process_time()
for path in sys.argv[2:]:
    with pymupdf.open(path) as pdf:
        texts[path] = "\\f".join(page.get_text() for page in pdf)
        pages += len(pdf)
print(pages, time.process_time() - begun)
for path, text in texts.items():
    (out / (pathlib.Path(path).name + ".txt")).write_text(text)
"""

PDFIUM_WORDS = """
import sys, pypdfium2
for path in sys.argv[1:]:
    words = 0
    try:
        for page in pypdfium2.PdfDocument(path):
            words += len(page.get_textpage().get_text_bounded().split())
    except Exception:
        pass
    print(words, path, flush=True)
"""

MARKITDOWN = """
import sys, time, warnings
warnings.simplefilter("ignore")
from markitdown import MarkItDown
converter = MarkItDown()
read, spent = [], 0.0
for path in sys.argv[1:]:
    begun = time.process_time()
    try:
        converter.convert(path)
        read.append(path)
    except Exception:
        pass
    spent += time.process_time() - begun
print(len(read), spent)
"""


def cpu(command, **options):
    """CPU seconds of a command and its children, and what it printed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", **options)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done


def best(command, **options):
    return min(cpu(command, **options)[0] for _ in range(2))


class Bench:
    def __init__(self, bindery, pdf_tables, shared, peers):
        self.bindery, self.pdf_tables, self.peers = bindery, pdf_tables, peers
        self.samples = pathlib.Path(__file__).resolve().parents[2] / "samples"
        self.documents = pathlib.Path(shared) / "fixtures" / "documents"
        self.scorers = pathlib.Path(shared) / "bench"
        self.out = pathlib.Path(tempfile.mkdtemp(prefix="bindery-bench-"))
        self.numbers = {}

    def read(self, files, *options):
        return [self.bindery, "read", "--no-progress", "--jobs", "1", *options, *map(str, files)]

    def files(self, folder, *endings):
        return sorted(p for p in (self.documents / folder).iterdir() if p.suffix.lower().lstrip(".") in endings)

    def score(self, scorer, truth, out):
        _, done = cpu([sys.executable, str(self.scorers / scorer), str(truth), str(out)])
        return float(re.search(r"_f1=([0-9.]+)", done.stdout).group(1)), done.stdout

    def text(self):
        files = self.files("text", "pdf")
        ours = best(self.read(files, "--ocr", "never", "--format", "text", "--out", str(self.out / "text")))
        theirs = []
        for _ in range(2):
            pages, seconds = cpu([self.peers, "-c", PDFIUM, *map(str, files)])[1].stdout.split()
            theirs.append(float(seconds))
        pages = int(pages)
        f1, said = self.score("score_text.py", self.documents / "text", self.out / "text")
        joined = joined_f1(files, self.out / "text")
        print(f"text: {pages} pages, ours {ours:.2f} s with layout, pdfium {min(theirs):.2f} s; {said.splitlines()[-1]} joined={joined:.4f}")
        self.mupdf(files)
        order = self.order(files)
        self.numbers |= {"pages_per_cpu_s": pages / ours, "ratio": min(theirs) / ours, "token_f1": f1, "token_f1_joined": joined, "order": order}

    def mupdf(self, files):
        done = cpu([self.peers, "-c", MUPDF, str(self.out / "mupdf"), *map(str, files)])[1]
        if done.returncode:
            print("text, mupdf: skipped: it cannot be run")
            return
        seconds = float(done.stdout.split()[-1])
        f1, _ = self.score("score_text.py", self.documents / "text", self.out / "mupdf")
        print(f"text, mupdf: {seconds:.2f} s, token F1 {f1:.4f}")

    def order(self, files):
        """Word order: of the runs of four words on which pdftotext and mupdf agree, those that are in our text."""
        shares = {"ours": [], "pdfium": []}
        for file in files:
            runs = {name: runs_of_four(file.with_name(f"{file.name}.{name}.txt")) for name in ("pdftotext", "mupdf", "pdfium")}
            agreed = runs["pdftotext"] & runs["mupdf"]
            count = sum(agreed.values())
            if count < FEWEST_RUNS:
                continue
            shares["ours"].append(sum((runs_of_four(self.out / "text" / f"{file.name}.txt") & agreed).values()) / count)
            shares["pdfium"].append(sum((runs["pdfium"] & agreed).values()) / count)
        mean = {name: sum(shares) / max(1, len(shares)) for name, shares in shares.items()}
        print(f"order: {len(shares['ours'])} files, ours {mean['ours']:.4f}, pdfium {mean['pdfium']:.4f} of the runs of four words")
        return mean["ours"]

    def tables(self):
        files = self.files("tables", "pdf")
        cpu([self.pdf_tables, str(self.out / "cells"), *map(str, files)])
        cpu(self.read(files, "--ocr", "never", "--out", str(self.out / "markdown")))
        cells, _ = self.score("score_tables.py", self.documents / "tables", self.out / "cells")
        markdown, _ = self.score("score_tables.py", self.documents / "tables", self.out / "markdown")
        print(f"tables: adjacency F1 {cells:.4f} of the cells found, {markdown:.4f} of the Markdown (which cannot say what spans)")
        out = self.out / "markdown-pymupdf4llm"
        if cpu([self.peers, "-c", checks.PYMUPDF4LLM, str(out), *map(str, files)])[1].returncode == 0:
            theirs, _ = self.score("score_tables.py", self.documents / "tables", out)
            print(f"tables, pymupdf4llm: {theirs:.4f} of the Markdown")
        self.numbers["table_f1"] = cells

    def grids(self):
        """Ruled grids that are read as tables, over every PDF file; files for testing alone are counted apart."""
        files = sorted(self.documents.parent.rglob("*.pdf"))
        program = pathlib.Path(self.pdf_tables).with_name("ruled_grids")
        _, done = cpu([str(program), *map(str, files)])
        found = [tuple(map(int, pair)) for pair in re.findall(r"(\d+) of (\d+) found", done.stdout)]
        print(done.stdout.strip())
        self.numbers["grids"] = sum(one for one, _ in found) / max(1, sum(all for _, all in found))

    def office(self):
        files = self.files("office", "docx", "pptx", "xlsx")
        ours = best(self.read(files, "--out", str(self.out / "office")))
        count, seconds = cpu([self.peers, "-c", MARKITDOWN, *map(str, files)])[1].stdout.split()[-2:]
        print(f"office: {len(files)} files, ours {ours:.2f} s; markitdown {float(seconds):.2f} s for the {count} it can read")
        self.numbers["office_ratio"] = float(seconds) / ours

    def ocr(self):
        truths = {"phototest-rotated-180": "phototest.gold", "phototest-rotated-R": "phototest.gold", "phototest": "phototest.gold"}
        errors, lengths, ours, theirs, their_errors = 0, 0, 0.0, 0.0, 0
        for scan in self.files("scans", "tif", "png"):
            truth = (self.documents / "scans" / f"{truths.get(scan.stem, scan.stem)}.txt").read_text(errors="replace")
            spent, done = cpu(self.read([scan], "--format", "text", "--out", "-"))
            ours += spent
            environment = {"PATH": "/usr/local/bin:/usr/bin:/bin", "OMP_THREAD_LIMIT": "1"}
            spent, peer = cpu(["tesseract", str(scan), "-", "--psm", "1"], env=environment)
            theirs += spent
            truth = flat(truth)
            lengths += len(truth)
            errors += distance(flat(done.stdout), truth)
            their_errors += distance(flat(peer.stdout), truth)
        print(
            f"OCR: character errors {errors / lengths:.4f}, the tesseract command {their_errors / lengths:.4f}; "
            f"CPU {ours:.2f} s and {theirs:.2f} s"
        )
        self.numbers |= {"ocr_cer": errors / lengths, "ocr_cpu_ratio": ours / theirs if theirs else 0.0}

    def receipts(self):
        self.numbers |= receipts.measure(self, cpu)

    def checks(self):
        self.numbers |= checks.measure(self, cpu)

    def photos(self):
        self.numbers |= photos.measure(self, cpu, receipts.RAPIDOCR)

    def messy(self):
        files = self.files("messy", "pdf")
        words = {}
        for line in cpu([self.peers, "-c", PDFIUM_WORDS, *map(str, files)])[1].stdout.splitlines():
            count, path = line.split(" ", 1)
            words[path] = int(count)
        panics, late, empty = [], [], []
        for file in files:
            command = self.read([file], "--ocr", "never", "--format", "text", "--out", "-")
            try:
                limit = lambda: resource.setrlimit(resource.RLIMIT_AS, (LIMIT_BYTES + (1 << 30), LIMIT_BYTES + (1 << 30)))
                done = cpu(command, timeout=LIMIT_SECONDS, preexec_fn=limit)[1]
            except subprocess.TimeoutExpired:
                late.append(file.name)
                continue
            if done.returncode not in (0, 10) or "panicked" in done.stderr:
                panics.append(file.name)
            elif words.get(str(file)) and not done.stdout.split():
                empty.append(file.name)
        print(f"messy: {len(files)} files, {len(panics)} panics {panics[:5]}, {len(late)} too late {late[:5]}")
        print(f"messy: no text where pdfium gives some: {len(empty)} {empty[:12]}")
        self.numbers |= {"messy_panics": len(panics), "messy_timeouts": len(late)}


def joined_words(path):
    """Words, with those that the end of a line parts joined in whoever's text: pdfium writes its own signs for such hyphens."""
    text = path.read_text(errors="replace") if path.exists() else ""
    text = re.sub("(\\w)(?:[-\u00ad\u2010\ufffe\x02]\\s*\n\\s*(?=[a-z])|[\ufffe\x02](?=\\w))", r"\1", text)
    return collections.Counter(re.findall(r"\w+", unicodedata.normalize("NFKC", text).lower()))


def joined_f1(files, out):
    """Token F1 as the scorer has it, but for hyphens: we join words that the end of a line parts, and most readers do not."""
    scores = []
    for file in files:
        counts = [joined_words(file.with_name(f"{file.name}.{name}.txt")) for name in ("pdftotext", "pdfium", "mupdf")]
        agreed = collections.Counter({word: sorted(count[word] for count in counts)[1] for word in set().union(*counts)})
        got = joined_words(out / f"{file.name}.txt")
        total = sum(got.values()) + sum(agreed.values())
        scores.append(2 * sum((got & agreed).values()) / total if total else 1.0)
    return sum(scores) / max(1, len(scores))


def runs_of_four(path):
    words = re.findall(r"\w+", path.read_text(errors="replace").lower()) if path.exists() else []
    return collections.Counter(zip(words, words[1:], words[2:], words[3:]))


def flat(text):
    """Words in one line. A word that a line end has parted is one word, whoever joined it."""
    return " ".join(re.sub(r"(\w)-[ \t]*\n\s*(\w)", r"\1\2", text).split())


def distance(one, other):
    """Edits between two texts, row by row."""
    previous = list(range(len(other) + 1))
    for i, a in enumerate(one, 1):
        current = [i]
        for j, b in enumerate(other, 1):
            current.append(min(previous[j] + 1, current[-1] + 1, previous[j - 1] + (a != b)))
        previous = current
    return previous[-1]


def main(*arguments):
    unknown = [part for part in arguments[4:] if part not in PARTS]
    if len(arguments) < 4 or unknown:
        sys.exit(f"usage: bench.py BINDERY PDF_TABLES SHARED PEERS [PART ...], with PART of {', '.join(PARTS)}")
    bench = Bench(*arguments[:4])
    begun = time.time()
    for part in arguments[4:] or PARTS:
        getattr(bench, part)()
    print(f"measured in {time.time() - begun:.0f} s")
    numbers = {name: bench.numbers[name] for name in NUMBERS if name in bench.numbers}
    line = " ".join(f"{name}={value if isinstance(value, int) else format(value, f'.{NUMBERS[name]}f')}" for name, value in numbers.items())
    print(f"BENCH {line}")


if __name__ == "__main__":
    main(*sys.argv[1:])
