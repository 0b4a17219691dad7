"""Photographs that the benchmark makes itself of pages of our own samples, and how well each OCR engine reads them.

A page lies on a dark table and is seen from one side (`tilted`), curls up at its spine (`curled`), lies in the shadow of a hand (`shadow`),
or is grey, out of focus and noisy (`dim`). The text of the page is known from its PDF file. A word counts as often as it is there.
"""

import collections
import pathlib
import re

PAGES = (
    ("files/report.pdf", 0),
    ("files/invoice.pdf", 0),
    ("inbox/invoice-LE-3312.pdf", 0),
    ("inbox/factura-2026-045.pdf", 0),
    ("inbox/bank-credit-letter.pdf", 3),
)
KINDS = ("tilted", "curled", "shadow", "dim")
ENGINES = ("tesseract", "auto")

# Run by the Python of the peers, which has numpy, OpenCV and pdfium.
MAKER = """
import pathlib, sys
import cv2, numpy as np, pypdfium2

out, samples, kinds = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3].split(",")

def desk(height, width, random):
    grain = cv2.GaussianBlur(random.normal(0, 18, (height, width)).astype(np.float32), (0, 0), 6)
    return np.clip(70 + 4 * grain, 20, 120).astype(np.float32)

def warped(page, corners, random):
    height, width = page.shape
    big = desk(int(height * 1.16), int(width * 1.16), random)
    whole = np.float32([[0, 0], [width, 0], [width, height], [0, height]])
    seen = np.float32([[x * big.shape[1], y * big.shape[0]] for x, y in corners])
    matrix = cv2.getPerspectiveTransform(whole, seen)
    picture = cv2.warpPerspective(page, matrix, (big.shape[1], big.shape[0]), flags=cv2.INTER_AREA)
    paper = cv2.warpPerspective(np.full_like(page, 255), matrix, (big.shape[1], big.shape[0]))
    return np.where(paper > 127, picture, big)

def curled(picture):
    height, width = picture.shape
    x, y = np.meshgrid(np.arange(width, dtype=np.float32), np.arange(height, dtype=np.float32))
    return cv2.remap(picture, x, y + 0.03 * height * np.exp(-x / (0.3 * width)), cv2.INTER_LINEAR, borderValue=70.0)

def shaded(picture, strength):
    height, width = picture.shape
    x, y = np.meshgrid(np.linspace(0, 1, width, dtype=np.float32), np.linspace(0, 1, height, dtype=np.float32))
    edge = 1 / (1 + np.exp(-(x + 0.6 * y - 0.75) * 14))
    return picture * (1 - strength * edge)

for number, argument in enumerate(sys.argv[4:]):
    name, page = argument.rsplit(":", 1)
    source = pypdfium2.PdfDocument(str(samples / name))[int(page)]
    text = source.get_textpage().get_text_bounded()
    clean = np.asarray(source.render(scale=200 / 72, grayscale=True).to_pil().convert("L"), dtype=np.float32)
    clean = 25 + clean * (225 / 255)
    for kind in kinds:
        random = np.random.default_rng(19 + number)
        if kind == "tilted":
            picture = warped(clean, [(0.16, 0.07), (0.88, 0.03), (0.97, 0.96), (0.03, 0.93)], random)
        elif kind == "curled":
            picture = curled(warped(clean, [(0.06, 0.06), (0.94, 0.06), (0.94, 0.94), (0.06, 0.94)], random))
        elif kind == "shadow":
            picture = shaded(warped(clean, [(0.05, 0.06), (0.93, 0.05), (0.95, 0.95), (0.06, 0.94)], random), 0.7)
        else:
            picture = 110 + (clean - 25) * 0.28
            picture = cv2.GaussianBlur(picture, (0, 0), 1.6)
        picture = cv2.GaussianBlur(picture, (0, 0), 0.7) + random.normal(0, 4, picture.shape)
        file = out / f"{pathlib.Path(name).stem}-{page}-{kind}.jpg"
        cv2.imwrite(str(file), np.clip(picture, 0, 255).astype(np.uint8), [cv2.IMWRITE_JPEG_QUALITY, 85])
        file.with_suffix(".txt").write_text(text)
"""


def words(text):
    return collections.Counter(re.findall(r"\w+", text.lower()))


def make(bench, cpu):
    """The pictures, with the text of each beside it."""
    folder = bench.out / "photos"
    folder.mkdir()
    pages = [f"{name}:{page}" for name, page in PAGES]
    _, done = cpu([bench.peers, "-c", MAKER, str(folder), str(bench.samples), ",".join(KINDS), *pages])
    if done.returncode:
        print(f"photos: skipped: {(done.stderr.strip() or 'no picture was made').splitlines()[-1]}")
    return sorted(folder.glob("*.jpg"))


def recall(pictures, out):
    """The share of the words that were found, by kind."""
    found, wanted = collections.Counter(), collections.Counter()
    for picture in pictures:
        kind = picture.stem.rsplit("-", 1)[-1]
        truth = words(picture.with_suffix(".txt").read_text())
        read = out / f"{picture.name}.txt"
        got = words(read.read_text(errors="replace") if read.exists() else "")
        for name in (kind, "all"):
            wanted[name] += sum(truth.values())
            found[name] += sum((truth & got).values())
    return {name: found[name] / max(1, wanted[name]) for name in (*KINDS, "all")}


def report(name, shares, seconds, count):
    said = ", ".join(f"{kind} {share:.3f}" for kind, share in shares.items())
    print(f"photos, {name}: words {said}; CPU {seconds / max(1, count):.2f} s each")


def measure(bench, cpu, rapidocr):
    """The figures of the engines; what `auto` reads is what users get."""
    pictures = make(bench, cpu)
    numbers = {}
    for engine in ENGINES if pictures else ():
        out = bench.out / f"photos-{engine}"
        seconds, done = cpu(bench.read(pictures, "--ocr-engine", engine, "--format", "text", "--out", str(out)))
        if not out.exists():
            print(f"photos, {engine}: skipped: {(done.stderr.strip() or 'no text').splitlines()[-1]}")
            continue
        shares = recall(pictures, out)
        report(engine, shares, seconds, len(pictures))
        numbers["photos_recall"] = shares["all"]
    out = bench.out / "photos-rapidocr"
    _, done = cpu([bench.peers, "-c", rapidocr, str(out), *map(str, pictures)]) if pictures else (0, None)
    if done and done.returncode == 0:
        report("rapidocr", recall(pictures, out), float(done.stdout.split()[-1]), len(pictures))
    return numbers
