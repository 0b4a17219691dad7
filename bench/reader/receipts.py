"""Receipts read by each OCR engine, beside rapidocr: the words that are found, and the true totals.

A word is cut at spaces; case and punctuation around it do not count, and each is counted as often as it is there. A total is
in the text where a number equals it (43.7 is 43.70). Texts and totals are those that people typed.
"""

import collections
import decimal
import hashlib
import json
import re

ENGINES = ("tesseract", "ppocr", "auto")
HALVES = ("tune", "test")

RAPIDOCR = """
import sys, time, pathlib, logging
logging.disable(logging.CRITICAL)
from rapidocr import RapidOCR
engine = RapidOCR(params={"EngineConfig.onnxruntime.intra_op_num_threads": 1, "EngineConfig.onnxruntime.inter_op_num_threads": 1})
out, begun = pathlib.Path(sys.argv[1]), time.process_time()
out.mkdir(parents=True, exist_ok=True)
for path in map(pathlib.Path, sys.argv[2:]):
    (out / (path.name + ".txt")).write_text("\\n".join(engine(str(path)).txts or ()))
print(time.process_time() - begun)
"""


def half(name):
    """Files whose name has a SHA-256 with an even last digit are for testing alone."""
    return HALVES[int(hashlib.sha256(name.encode()).hexdigest()[-1], 16) % 2 == 0]


def words(text):
    cut = (re.sub(r"^\W+|\W+$", "", word) for word in text.lower().split())
    return collections.Counter(word for word in cut if word)


def numbers(text):
    return {decimal.Decimal(number.replace(",", "")) for number in re.findall(r"\d[\d,]*(?:\.\d+)?", text)}


def typed(boxes):
    """The text of a receipt: eight coordinates and a text a line."""
    return "\n".join(line.split(",", 8)[-1] for line in boxes.read_text(errors="replace").splitlines())


class Counts:
    """What one engine found in one half of the receipts."""

    def __init__(self):
        self.files = self.wanted = self.got = self.found = self.totals = 0

    def add(self, text, truth, total):
        wanted, got = words(truth), words(text)
        self.files += 1
        self.wanted += sum(wanted.values())
        self.got += sum(got.values())
        self.found += sum((wanted & got).values())
        self.totals += bool(numbers(total) & numbers(text))

    def __add__(self, other):
        both = Counts()
        for name in vars(both):
            setattr(both, name, getattr(self, name) + getattr(other, name))
        return both

    def __str__(self):
        return (
            f"words {self.found / max(1, self.wanted):.4f} (precision {self.found / max(1, self.got):.4f}), "
            f"totals {self.totals} of {self.files}"
        )


def score(documents, out):
    """The counts of each half, of texts `NAME.jpg.txt` in a folder."""
    truth = json.loads((documents / "receipts.truth.json").read_text())
    counts = {name: Counts() for name in HALVES}
    for picture in sorted((documents / "receipts").glob("*.jpg")):
        boxes = typed(documents / "receipts.boxes" / f"{picture.stem}.boxes.csv")
        read = out / f"{picture.name}.txt"
        text = read.read_text(errors="replace") if read.exists() else ""
        counts[half(picture.name)].add(text, boxes, truth[picture.name]["total"])
    return counts


def report(name, counts, seconds):
    everything = counts["tune"] + counts["test"]
    each = seconds / max(1, everything.files)
    print(f"receipts, {name}: {everything}; to tune on {counts['tune']}; for testing alone {counts['test']}; CPU {each:.2f} s each")
    return everything, each


def measure(bench, cpu):
    """The figures of the engines; what `auto` reads is what users get."""
    pictures = sorted((bench.documents / "receipts").glob("*.jpg"))
    figures = {}
    for engine in ENGINES:
        out = bench.out / f"receipts-{engine}"
        seconds, done = cpu(bench.read(pictures, "--ocr-engine", engine, "--format", "text", "--out", str(out)))
        if not out.exists():
            print(f"receipts, {engine}: skipped: {(done.stderr.strip() or 'no text').splitlines()[-1]}")
            continue
        figures[engine] = report(engine, score(bench.documents, out), seconds)
    out = bench.out / "receipts-rapidocr"
    _, done = cpu([bench.peers, "-c", RAPIDOCR, str(out), *map(str, pictures)])
    if done.returncode == 0:
        report("rapidocr", score(bench.documents, out), float(done.stdout.split()[-1]))
    else:
        print(f"receipts, rapidocr: skipped: {(done.stderr.strip() or 'no text').splitlines()[-1]}")
    numbers = {}
    if "auto" in figures:
        counts, _ = figures["auto"]
        numbers |= {"receipts_recall": counts.found / counts.wanted, "receipts_totals": counts.totals / counts.files}
    if "ppocr" in figures:
        numbers["ocr2_cpu_s"] = figures["ppocr"][1]
    return numbers
