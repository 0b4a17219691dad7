#!/usr/bin/env python3
"""Makes a pile of documents of all types, and the truth about each of its pages.

usage: make.py OUT [--split development|heldout] [--documents N] [--seed N] [--scans SHARE]

OUT gets PDFs and `truth.jsonl`: one line for each page with `file`, `page` (from 1), `doctype`, `document` (from 0, within
the file), and `language`, `layout` and `scan` for those who ask where it went wrong. About half of the documents have a file
of their own; the others are bound together, as somebody has put them on the feeder. The same arguments give the same pile.

Rules are written on the `development` split. The layouts, wordings and fonts of `heldout` are others, and no rule is
written on them: they tell how recognition does on papers that it has not seen.
"""

import argparse
import importlib
import io
import json
import pathlib
import random

from reportlab.pdfgen.canvas import Canvas
from scan import scanned
from world import LANGUAGES, World


def documents(types, count, rng):
    """(doctype, language, layout) so that every combination comes before one comes again."""
    combinations = [(doctype, language, layout) for doctype, layouts in sorted(types.items()) for language in LANGUAGES for layout in layouts]
    while True:
        rng.shuffle(combinations)
        for combination in combinations:
            if count == 0:
                return
            count -= 1
            yield combination


def bundles(chosen, rng):
    """Documents as files: one alone, or a few together."""
    chosen = list(chosen)
    while chosen:
        size = 1 if rng.random() < 0.75 else rng.randrange(2, 6)
        yield [chosen.pop() for _ in range(min(size, len(chosen)))]


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("out", type=pathlib.Path)
    arguments.add_argument("--split", choices=["development", "heldout"], default="development")
    arguments.add_argument("--documents", type=int, default=480)
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--scans", type=float, default=0.1, help="the share of files that are pictures of pages")
    given = arguments.parse_args()

    rng = random.Random(f"{given.split} {given.seed}")
    types = importlib.import_module(given.split).TYPES
    given.out.mkdir(parents=True, exist_ok=True)
    truth = []
    for index, bundle in enumerate(bundles(documents(types, given.documents, rng), rng)):
        name = f"{index:04}.pdf"
        scan = rng.random() < given.scans
        buffer = io.BytesIO()
        canvas = Canvas(buffer, invariant=1)
        page = 0
        for number, (doctype, language, layout) in enumerate(bundle):
            sheet = layout(World(language, rng))
            sheet.draw(canvas)
            for _ in sheet.pages:
                page += 1
                truth.append(dict(file=name, page=page, doctype=doctype, document=number, language=language, layout=layout.__name__, scan=scan))
        canvas.save()
        pdf = buffer.getvalue()
        (given.out / name).write_bytes(scanned(pdf, rng) if scan else pdf)
    (given.out / "truth.jsonl").write_text("".join(json.dumps(line) + "\n" for line in truth))
    print(f"{index + 1} files, {len(truth)} pages, {given.documents} documents in {given.out}")


if __name__ == "__main__":
    main()
