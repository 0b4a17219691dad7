"""Checks in the manner of olmocr-bench: what must be in the Markdown of a page, what must not, in which order, and which cells stand beside each
other. `checks.json` has them; the files are our samples and pages that are made here.

| kind | holds where |
|---|---|
| present, absent | the words stand in the Markdown, or do not |
| order | one stands before the other |
| heading | a heading says that and nothing else |
| table | a cell of a table says that, and its neighbour to the left, right, above (`up`) or below (`down`) says what is named |
"""

import collections
import html
import json
import pathlib
import re

KINDS = ("present", "absent", "order", "table", "heading")

PYMUPDF4LLM = """
import pathlib, sys, time
import pymupdf4llm
out, begun = pathlib.Path(sys.argv[1]), time.process_time()
out.mkdir(parents=True, exist_ok=True)
for path in map(pathlib.Path, sys.argv[2:]):
    try:
        (out / (path.name + ".md")).write_text(pymupdf4llm.to_markdown(str(path), show_progress=False))
    except Exception as error:
        print(path, error, file=sys.stderr)
print(time.process_time() - begun)
"""


class Sheet:
    """One page of a PDF file under construction, 600 by 800 points."""

    def __init__(self):
        self.content = []

    def text(self, x, y, text, size=10, font="F1", matrix="1 0 0 1"):
        escaped = re.sub(r"([\\()])", r"\\\1", text)
        self.content.append(f"BT /{font} {size} Tf {matrix} {x} {y} Tm ({escaped}) Tj ET")
        return self

    def rule(self, x0, y0, x1, y1):
        self.content.append(f"0.6 w {x0} {y0} m {x1} {y1} l S")
        return self

    def shade(self, x, y, width, height):
        self.content.append(f"0.85 g {x} {y} {width} {height} re f 0 g")
        return self

    def lines(self, x, y, lines, step=12):
        for line in lines:
            self.text(x, y, line)
            y -= step
        return self


def pdf(*sheets):
    """The file. Fonts: F1 Helvetica, F2 Helvetica Oblique, F3 Courier, F4 Symbol."""
    kids = " ".join(f"{20 + 2 * at} 0 R" for at in range(len(sheets)))
    fonts = ("Helvetica", "Helvetica-Oblique", "Courier", "Symbol")
    resources = " ".join(f"/F{at + 1} {10 + at} 0 R" for at in range(len(fonts)))
    objects = {1: "<</Type/Catalog/Pages 2 0 R>>", 2: f"<</Type/Pages/Count {len(sheets)}/Kids[{kids}]/MediaBox[0 0 600 800]>>"}
    for at, name in enumerate(fonts):
        encoding = "" if name == "Symbol" else "/Encoding/WinAnsiEncoding"
        objects[10 + at] = f"<</Type/Font/Subtype/Type1/BaseFont/{name}{encoding}>>"
    for at, sheet in enumerate(sheets):
        content = "\n".join(sheet.content)
        objects[20 + 2 * at] = f"<</Type/Page/Parent 2 0 R/Resources<</Font<<{resources}>>>>/Contents {21 + 2 * at} 0 R>>"
        objects[21 + 2 * at] = f"<</Length {len(content.encode('cp1252'))}>>stream\n{content}\nendstream"
    file, places = b"%PDF-1.7\n", {}
    for number, body in objects.items():
        places[number] = len(file)
        file += f"{number} 0 obj\n{body}\nendobj\n".encode("cp1252")
    start = len(file)
    table = "".join(f"{number} 1\n{place:010} 00000 n \n" for number, place in places.items())
    return file + f"xref\n0 1\n0000000000 65535 f \n{table}trailer<</Size 200/Root 1 0 R>>\nstartxref\n{start}\n%%EOF".encode()


def prose(begins, ends):
    middle = ["the ships of the harbour were counted in", "spring and once more in the autumn of that", "year, when most of them lay at anchor and", "nobody was on board but a guard who slept"]
    return [begins, *middle * 4, ends]


def rows(sheet, xs, y, cells, step=16):
    for row in cells:
        for x, cell in zip(xs, row):
            sheet.text(x, y, cell)
        y -= step
    return sheet


def made():
    """Pages of our own, by name."""
    columns = Sheet().text(210, 770, "Journal of Harbour Studies", 8).text(545, 770, "117", 8)
    columns.lines(60, 720, prose("The left side begins here, where it says that", "and the left side ends here, full of sleep."))
    columns.text(60, 492, "This line of the left side reaches far into the space between")
    columns.lines(330, 720, prose("The right side begins here, and says that", "and the right side ends here, wide awake."))
    columns.text(60, 440, "What stands below both columns goes over the whole width of the page, as such lines do, and is read after them.")
    goods = [["Article", "Quantity", "Price"], ["Paper", "20", "4.55"], ["Thread", "3", "12.00"], ["Glue", "7", "3.10"]]
    sideways = rows(Sheet(), (120, 300, 420), 500, goods)
    sideways.content = ["q 0 1 -1 0 600 0 cm", *sideways.content, "Q"]
    slanted = Sheet().text(104, 526, "Town")
    for x, name in zip((210, 240, 270), ("Births", "Deaths", "Marriages")):
        slanted.text(x, 526, name, 9, matrix="0.7071 0.7071 -0.7071 0.7071")
    rows(slanted, (104, 204, 234, 264), 505, [["Aarau", "12", "9", "4"], ["Baden", "17", "11", "6"], ["Chur", "21", "13", "8"]])
    money = rows(Sheet(), (100, 250, 265, 350, 365), 600, [["Purpose", "", "2024", "", "2025"], ["Paper", "$", "1,200", "$", "900"], ["Ink", "", "340", "", "310"], ["Sum", "$", "1,540", "$", "1,210"]])
    shaded, towns = Sheet(), [["Town", "Ships"], ["Bonn", "120"], ["Köln", "310"], ["Mainz", "214"], ["Trier", "95"]]
    for at in (1, 3):
        shaded.shade(90, 600 - 16 * at - 4, 300, 16)
    rows(shaded, (100, 300), 600, towns)
    first, second = Sheet().text(60, 770, "Yearbook of Towns", 8), Sheet().text(60, 770, "Yearbook of Towns", 8)
    for sheet, cells in ((first, [["Town", "People"], ["Basel", "173,500"], ["Bern", "134,600"], ["Chur", "38,400"]]), (second, [["Genf", "203,800"], ["Thun", "43,700"], ["Zug", "31,300"]])):
        y = 720
        for at in range(len(cells) + 1):
            sheet.rule(90, y + 12 - 16 * at, 400, y + 12 - 16 * at)
        for x in (90, 250, 400):
            sheet.rule(x, y + 12, x, y + 12 - 16 * len(cells))
        rows(sheet, (100, 260), y, cells)
    formula = Sheet().lines(60, 700, ["The number of ships in the harbour is told by the following rule,", "which has been used since the bridge was built:"])
    formula.text(250, 650, "y", font="F2").text(260, 650, "=").text(275, 657, "a", font="F2").text(281, 657, "+").text(288, 657, "b", font="F2").rule(273, 653, 296, 653).text(282, 643, "c", font="F2")
    formula.text(303, 650, "+").text(314, 650, "\xe5", 14, "F4").text(313, 640, "i=1", 6).text(318, 664, "n", 6, "F2").text(330, 650, "x", font="F2").text(335.5, 654, "2", 6)
    formula.lines(60, 610, ["where the ships of each year are those that were seen by the guard of the", "harbour at noon on the first day of May."])
    listing = Sheet()
    for at, line in enumerate(["def sum_of(ships):", "    total = 0", "    for ship in ships:", "        total += ship.load", "    return total"]):
        listing.text(60, 700 - 12 * at, line, 9, "F3")
    pages = {"two-columns": [columns], "sideways": [sideways], "slanted": [slanted], "money": [money], "shaded": [shaded], "goes-on": [first, second], "formula": [formula], "listing": [listing]}
    return {name: pdf(*sheets) for name, sheets in pages.items()}


def plain(text):
    """Words without what Markdown adds to them."""
    text = html.unescape(re.sub(r"</?(?:u|sup|sub|br|b|i|em|strong)\s*/?>", " ", text))
    text = re.sub(r"\]\([^)]*\)", "", re.sub(r"[*_`#\[\]|\\~]|<!--.*?-->|\[\^\d+\]", "", text, flags=re.S))
    return " ".join(text.replace("’", "'").split()).lower()


def tables(markdown):
    """Each table as rows of cells."""
    found, rows = [], []
    for line in [*markdown.splitlines(), ""]:
        if line.strip().startswith("|"):
            cells = [plain(cell) for cell in re.split(r"(?<!\\)\|", line.strip().strip("|"))]
            if not re.fullmatch(r"[|:\-\s]+", line):
                rows.append(cells)
        elif rows:
            found.append(rows)
            rows = []
    for table in re.findall(r"<table.*?</table>", markdown, flags=re.S):
        rows = re.findall(r"<tr.*?</tr>", table, flags=re.S)
        found.append([[plain(re.sub(r"<[^>]+>", " ", cell)) for cell in re.findall(r"<t[dh].*?</t[dh]>", row, flags=re.S)] for row in rows])
    return found


SIDES = {"left": (0, -1), "right": (0, 1), "up": (-1, 0), "down": (1, 0)}


def has_cell(markdown, wanted):
    neighbours = {side: plain(text) for side, text in wanted.items() if side != "cell"}
    for rows in tables(markdown):
        for y, row in enumerate(rows):
            for x, cell in enumerate(row):
                if cell == plain(wanted["cell"]) and all(neighbour(rows, y, x, SIDES[side]) == text for side, text in neighbours.items()):
                    return True
    return False


def neighbour(rows, y, x, step):
    """What the next cell that is not empty says."""
    while True:
        y, x = y + step[0], x + step[1]
        if not (0 <= y < len(rows) and 0 <= x < len(rows[y])):
            return None
        if rows[y][x]:
            return rows[y][x]


def holds(kind, wanted, markdown):
    if kind == "table":
        return has_cell(markdown, wanted)
    if kind == "heading":
        return any(re.match(r"#+ ", line) and plain(line) == plain(wanted) for line in markdown.splitlines())
    if kind == "order":
        text = plain(markdown)
        before, after = (text.find(plain(part)) for part in wanted)
        return 0 <= before < after
    is_there = wanted in markdown if re.search(r"[\\`|]|^ ", wanted) else plain(wanted) in plain(markdown)
    return is_there == (kind == "present")


def score(checks, out):
    """How many checks hold and how many there are, by kind; and which do not."""
    held, asked, failed = collections.Counter(), collections.Counter(), []
    for check in checks:
        file = out / f"{pathlib.Path(check['file']).name}.md"
        markdown = file.read_text(errors="replace") if file.exists() else ""
        for kind in KINDS:
            for wanted in check.get(kind, ()):
                # A page of which nothing was read does not do well for what it leaves out.
                ok = bool(markdown) and holds(kind, wanted, markdown)
                asked[kind] += 1
                held[kind] += ok
                if not ok:
                    failed.append(f"{check['file']}: {kind} {wanted}")
    return held, asked, failed


def measure(bench, cpu):
    checks = json.loads(pathlib.Path(__file__).with_name("checks.json").read_text())
    folder = bench.out / "made"
    folder.mkdir()
    for name, content in made().items():
        (folder / f"{name}.pdf").write_bytes(content)
    for check in checks:
        check["file"] += ".pdf" if check["file"].startswith("made/") else ""
    roots = {"made": folder, "samples": bench.samples, "shared": bench.documents}

    def path(name):
        root, rest = name.split("/", 1)
        return roots[root] / rest

    checks = [check for check in checks if path(check["file"]).exists()]
    files = sorted({path(check["file"]) for check in checks})
    numbers = {}
    for name in ("ours", "pymupdf4llm"):
        out = bench.out / f"checks-{name}"
        if name == "ours":
            cpu(bench.read(files, "--ocr", "never", "--out", str(out)))
        elif cpu([bench.peers, "-c", PYMUPDF4LLM, str(out), *map(str, files)])[1].returncode:
            print("checks, pymupdf4llm: skipped: it cannot be run")
            continue
        held, asked, failed = score(checks, out)
        said = ", ".join(f"{kind} {held[kind]} of {asked[kind]}" for kind in KINDS)
        print(f"checks, {name}: {said}")
        if name == "ours":
            print("\n".join(f"  not held: {line}" for line in failed))
            numbers["checks"] = sum(held.values()) / sum(asked.values())
    return numbers
