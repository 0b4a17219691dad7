"""Files of text and mark-up, and archives."""

import gzip
import io
import json
import re
import tarfile
import zipfile

# When everything in an archive was written.
WHEN = (2026, 1, 15, 9, 0, 0)
UNIX_TIME = 1768467600

HTML = """<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><title>Ferry times</title><style>td { padding: 2px }</style>
<script>console.log("nobody reads this")</script></head>
<body>
<header><nav><a href="/">Home</a> <a href="/map">Map</a></nav></header>
<main>
<h1>Ferry times</h1>
<p>The ferry runs <strong>every day</strong>, also on holidays. In fog it may stop; see
<a href="https://hafen.example/ferry">the page of the harbour</a>.</p>
<table>
<thead><tr><th rowspan="2">Pier</th><th colspan="2">First and last</th></tr><tr><th>Monday to Friday</th><th>Saturday, Sunday</th></tr></thead>
<tbody><tr><td>Shed 14</td><td>6:00 – 22:00</td><td>8:00 – 20:00</td></tr>
<tr><td>Customs house</td><td>6:12 – 22:12</td><td>8:12 – 20:12</td></tr></tbody>
</table>
<h2>Prices</h2>
<ol><li>One way: 2.40 €</li><li>Ten tickets: 20 €<ul><li>children pay half</li></ul></li></ol>
<pre>+49 431 0000
  ask for the pier</pre>
<img src="ferry.png" alt="The ferry at Shed 14">
<blockquote>Please have your ticket ready.</blockquote>
</main>
<footer>Hafenamt Hafenstadt</footer>
</body>
</html>
"""

MEMBERS = '''Organisation,Town,Since,Fee
Nordwind Papier GmbH,Hamburg,2019,250.00
"Hafenwerk Druckerei eG, Kiel",Kiel,2021,180.00
"Café ""Am Kai""",Kiel,2024,60.00
'''

READINGS = "Day\tWater\tHeat\n2026-01-01\t412.7\t1,204\n2026-01-08\t415.1\t1,377\n2026-01-15\t417.9\t1,540\n"

NOTES = """HOW TO LEND A TOOL

1. Show your card at the desk.
2. Sign for the tool; the desk notes its number.
3. Bring it back clean, within a week.

Tools that are broken are put into the red box, with a note that says
what is wrong. Nobody pays for wear; whoever loses a tool pays half of
its price.

    drill      14
    saw         9
    ladder      3
"""

MARKDOWN = """# Rules of the reading room

Please be *quiet*. Calls are taken **outside**; see the [plan](https://library.example/plan).

## At the tables

- Drinks only with a lid
- No food
  - except on the terrace

| Table | Seats | Screen |
|-------|------:|:------:|
| 1     |     8 |   no   |
| 2     |     4 |  yes   |

> Whoever comes last puts the lights out.

```
Wi-Fi: reading-room
```
"""

CATALOGUE = """<?xml version="1.0" encoding="UTF-8"?>
<catalogue>
  <item id="M-17"><title>Karte des Hafens</title><year>1894</year></item>
  <item id="P-203"><title>Photographs of the shipyard</title><year>1931</year></item>
</catalogue>
"""

SENSOR = {"place": "reading room", "readings": [{"day": "2026-01-15", "celsius": 20.5, "humid": 0.46}], "ok": True}


def ending_in_crlf(text):
    return text.replace("\n", "\r\n")


def packed(files):
    """A zip whose bytes depend on nothing but the files: names and contents in this order."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        for name, content in files:
            entry = zipfile.ZipInfo(name, WHEN)
            # An EPUB says first, and readable for everybody, what it is.
            entry.compress_type = zipfile.ZIP_STORED if name == "mimetype" else zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, content)
    return target.getvalue()


def settled(package):
    """The same package without the time at which a library wrote it, around its parts and in them."""
    moment = re.compile(rb"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")

    def part(archive, name):
        content = archive.read(name)
        timed = name in ("docProps/core.xml", "word/comments.xml")
        return moment.sub(b"2026-01-15T09:00:00Z", content) if timed else content

    with zipfile.ZipFile(io.BytesIO(package)) as archive:
        return packed([(name, part(archive, name)) for name in archive.namelist()])


def tar_gz(files):
    target = io.BytesIO()
    with gzip.GzipFile(fileobj=target, mode="wb", mtime=UNIX_TIME, filename="") as pressed, \
            tarfile.open(fileobj=pressed, mode="w") as archive:
        for name, content in files:
            entry = tarfile.TarInfo(name)
            entry.size, entry.mtime = len(content), UNIX_TIME
            archive.addfile(entry, io.BytesIO(content))
    return target.getvalue()


def epub():
    """Two chapters with a table of contents and a note."""
    page = ('<?xml version="1.0" encoding="UTF-8"?>\n<html xmlns="http://www.w3.org/1999/xhtml" '
            'xmlns:epub="http://www.idpf.org/2007/ops"><head><title>{0}</title></head><body>{1}</body></html>')
    chapters = [
        ("The first boat", "<h1>The first boat</h1><p>It carried <em>coal</em> and, once, a piano.</p>"
                           "<p>The pier was built of oak<a epub:type=\"noteref\" href=\"#n1\">1</a>.</p>"
                           "<aside epub:type=\"footnote\" id=\"n1\"><p>Parts of it are in the reading room.</p></aside>"),
        ("The bridge", "<h1>The bridge</h1><p>It opens at every full hour.</p><ul><li>Ships wait at the red light.</li>"
                       "<li>Ferries never wait.</li></ul>"),
    ]
    items = "".join(f'<item id="c{n}" href="c{n}.xhtml" media-type="application/xhtml+xml"/>' for n in (1, 2))
    contents = "".join(f'<li><a href="c{n}.xhtml">{title}</a></li>' for n, (title, _) in enumerate(chapters, 1))
    return packed([
        ("mimetype", "application/epub+zip"),
        ("META-INF/container.xml", '<?xml version="1.0"?><container version="1.0" xmlns="urn:oasis:names:tc:opendocument:'
         'xmlns:container"><rootfiles><rootfile full-path="OEBPS/book.opf" '
         'media-type="application/oebps-package+xml"/></rootfiles></container>'),
        ("OEBPS/book.opf", '<?xml version="1.0"?><package xmlns="http://www.idpf.org/2007/opf" version="3.0" '
         'unique-identifier="id"><metadata xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:identifier id="id">'
         'harbour-1</dc:identifier><dc:title>A short history of the harbour</dc:title><dc:creator>Harbour Street '
         'Library Trust</dc:creator><dc:language>en</dc:language></metadata><manifest><item id="nav" href="nav.xhtml" '
         f'media-type="application/xhtml+xml" properties="nav"/>{items}</manifest><spine><itemref idref="c1"/>'
         '<itemref idref="c2"/></spine></package>'),
        ("OEBPS/nav.xhtml", page.format("Contents", f'<nav epub:type="toc"><ol>{contents}</ol></nav>')),
        *[(f"OEBPS/c{n}.xhtml", page.format(title, body)) for n, (title, body) in enumerate(chapters, 1)],
    ])


def all_files():
    notes, members = NOTES.encode(), MEMBERS.encode()
    return {
        "ferry.html": HTML.encode(),
        "members.csv": ending_in_crlf(MEMBERS).encode(),
        "readings.tsv": READINGS.encode(),
        "tools.txt": notes,
        "hours-latin-1.txt": "Der Lesesaal ist dienstags bis samstags geöffnet.\r\nGrüße vom Büro!\r\n".encode("cp1252"),
        "rules.md": MARKDOWN.encode(),
        "catalogue.xml": CATALOGUE.encode(),
        "sensor.json": (json.dumps(SENSOR, indent=2) + "\n").encode(),
        "history.epub": epub(),
        "papers.zip": packed([("list/members.csv", members), ("tools.txt", notes)]),
        "papers.tar.gz": tar_gz([("papers/members.csv", members), ("papers/tools.txt", notes)]),
    }
