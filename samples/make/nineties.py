"""Word, PowerPoint and RTF files of the nineties, by writers of our own: the least that such files need."""

import struct

from compound import compound


def u16(*numbers):
    return struct.pack(f"<{len(numbers)}H", *numbers)


def u32(*numbers):
    return struct.pack(f"<{len(numbers)}I", *numbers)


def wide(text):
    return text.encode("utf-16-le")


TEXT_AT = 0x600
NORMAL, HEADING_1, HEADING_2 = 0, 1, 2
IN_TABLE = u16(0x2416) + b"\x01"


def row_end(widths, merged=()):
    """The end of a table's row: where its cells begin and end, and which belong to the cell before them."""
    edges, place = [0], 0
    for width in widths:
        place += width
        edges.append(place)
    cells = b"".join(u16(0x2 if index in merged else (0x1 if index + 1 in merged else 0)) + bytes(18)
                     for index in range(len(widths)))
    operand = bytes([len(widths)]) + struct.pack(f"<{len(edges)}h", *edges) + cells
    return IN_TABLE + u16(0x2417) + b"\x01" + u16(0xD608) + u16(len(operand) + 1) + operand


def link(address, text):
    return f'\x13 HYPERLINK "{address}" \x14{text}\x15'


MEMO = [
    (HEADING_1, b"", "Memo: paper for the annual report"),
    (NORMAL, b"", "To the Board of the Harbour Street Library Trust"),
    (NORMAL, b"", "Three offers have come in. **Nordwind Papier GmbH** is the cheapest and can deliver in week 9; its "
                  "paper is made without chlorine.\x02 The offers are on "
                  + link("https://library.example/offers", "our page") + "."),
    (HEADING_2, b"", "The offers"),
    *[(NORMAL, IN_TABLE, f"{text}\x07") for text in ("Company", "Price in euros", "Delivery")],
    (NORMAL, row_end([3000, 2400, 2400]), "\x07"),
    *[(NORMAL, IN_TABLE, f"{text}\x07") for text in ("Nordwind Papier GmbH", "1,257.50", "week 9")],
    (NORMAL, row_end([3000, 2400, 2400]), "\x07"),
    *[(NORMAL, IN_TABLE, f"{text}\x07") for text in ("Südhafen Karton AG", "1,310.00", "week 8")],
    (NORMAL, row_end([3000, 2400, 2400]), "\x07"),
    *[(NORMAL, IN_TABLE, f"{text}\x07") for text in ("Papeterie du Port SA", "no offer for this quantity", "")],
    (NORMAL, row_end([3000, 2400, 2400], merged=(2,)), "\x07"),
    (NORMAL, b"", "I propose to take the first offer."),
    (NORMAL, b"", "The Treasurer"),
]
NOTE = "\x02 As the certificate that came with the offer says."
HEADER = "Harbour Street Library Trust"


def property_pages(kind, runs, end):
    """Pages of 512 bytes: places of runs, and a list of changes for each."""
    pages, at = [], 0
    per_entry = 13 if kind == "paragraph" else 1
    while at < len(runs):
        page, floor, count = bytearray(512), 511, 0
        lists = []
        while at + count < len(runs):
            changes = runs[at + count][1]
            if kind == "paragraph":
                # The size is in words, the style is among them.
                changes = changes + b"\0" * ((len(changes) + 1) % 2)
                block = bytes([(len(changes) + 1) // 2]) + changes
            else:
                block = bytes([len(changes)]) + changes if changes else b""
            start = (floor - len(block)) // 2 * 2
            if start < (count + 2) * 4 + (count + 1) * per_entry:
                break
            if block:
                page[start:start + len(block)] = block
                floor = start
            lists.append(start // 2 if block else 0)
            count += 1
        places = [place for place, _ in runs[at:at + count]]
        places.append(runs[at + count][0] if at + count < len(runs) else end)
        page[0:4 * len(places)] = u32(*places)
        for index, place in enumerate(lists):
            page[4 * len(places) + index * per_entry] = place
        page[511] = count
        pages.append((places[0], bytes(page)))
        at += count
    return pages


def styles():
    sheet = u16(18, 3, 10, 0, 0, 0, 0, 0, 0, 0)
    for number, name in enumerate(["Normal", "heading 1", "heading 2"]):
        # Paragraph style, based on nothing (Normal) or on Normal; what follows it is Normal.
        base = 0xFFF if number == 0 else 0
        style = u16(number, 1 | base << 4, 2 | 0 << 4, 0, 0) + u16(len(name)) + wide(name) + u16(0)
        style += u16(2) + u16(number) + u16(0)
        sheet += u16(len(style)) + style
    return sheet


def doc():
    """A memo: headings, bold, a link, a table with merged cells, a footnote, a header."""
    text, paragraphs, looks, references = "", [], [(0, b"")], []
    for style, changes, words in MEMO:
        paragraphs.append((len(text), u16(style) + changes))
        for index, part in enumerate(words.split("**")):
            if index % 2:
                looks += [(len(text), u16(0x0835) + b"\x01"), (len(text) + len(part), b"")]
            for letter in part:
                if letter == "\x02":
                    references.append(len(text))
                    looks += [(len(text), u16(0x0855) + b"\x01"), (len(text) + 1, b"")]
                text += letter
        if not text.endswith("\x07"):
            text += "\r"
    body = len(text)
    for words in (NOTE, HEADER):
        paragraphs.append((len(text), u16(NORMAL)))
        if words == NOTE:
            looks += [(len(text), u16(0x0855) + b"\x01"), (len(text) + 1, b"")]
        text += words + "\r"
    notes, headers = len(NOTE) + 1, len(HEADER) + 1
    paragraphs.append((len(text), u16(NORMAL)))
    text += "\r"
    end = TEXT_AT + 2 * len(text)
    stream = bytearray(TEXT_AT) + wide(text)
    stream += bytes(-len(stream) % 512)
    table = bytearray()

    def part(number, content):
        struct.pack_into("<II", stream, 0x9A + 8 * number, len(table), len(content))
        table.extend(content)

    part(1, styles())
    part(2, u32(*references, body) + u16(1))
    part(3, u32(0, notes - 1, notes))
    # Six stories about notes come first, then even and odd headers, footers, and those of the first page.
    part(11, u32(*[0] * 8, *[headers - 1] * 5, headers))
    for number, kind, runs in [(12, "letters", looks), (13, "paragraph", paragraphs)]:
        in_file = [(TEXT_AT + 2 * place, changes) for place, changes in runs]
        pages = property_pages(kind, [run for run, after in zip(in_file, [*in_file[1:], (end, b"")])
                                      if run[0] < after[0]], end)
        bins = u32(*[place for place, _ in pages], end)
        for _, page in pages:
            bins += u32(len(stream) // 512)
            stream += page
        part(number, bins)
    # One section, set as sections are by default.
    part(6, u32(0, len(text)) + u16(0) + u32(0xFFFFFFFF) + u16(0) + u32(0xFFFFFFFF))
    pieces = u32(0, len(text)) + u16(0) + u32(TEXT_AT) + u16(0)
    part(33, b"\x02" + u32(len(pieces)) + pieces)
    struct.pack_into("<HHHHHHH", stream, 0, 0xA5EC, 0x00C1, 0, 0x0409, 0, 0x1200, 0x00BF)
    struct.pack_into("<II", stream, 0x18, TEXT_AT, end)
    struct.pack_into("<H", stream, 0x20, 14)
    struct.pack_into("<H", stream, 0x3E, 22)
    struct.pack_into("<I", stream, 0x40, len(stream))
    struct.pack_into("<III", stream, 0x4C, body, notes, headers)
    struct.pack_into("<H", stream, 0x98, 93)
    stream += bytes(max(0, 4096 - len(stream)))
    table += bytes(max(0, 4096 - len(table)))
    return compound({"WordDocument": bytes(stream), "1Table": bytes(table)})


def record(kind, body, instance=0, container=False):
    return u16(instance << 4 | (0xF if container else 0), kind) + u32(len(body)) + body


def container(kind, *children, instance=0):
    return record(kind, b"".join(children), instance, True)


TITLE, BODY, NOTES = 0, 1, 2


def words(purpose, text):
    return record(0x0F9F, u32(purpose)) + record(0x0FA0, wide(text))


def shape(*content):
    return container(0xF004, container(0xF00D, *content))


def drawing(*shapes):
    return container(0x040C, container(0xF002, container(0xF003, *shapes)))


SLIDES = [
    ("Working at the quay", ["Wear a vest, always", "Keep five metres from the edge", "Tell the crane before you pass"],
     "Hand out the vests before the talk begins."),
    ("In an emergency", ["Call 112", "Ring the bell at Shed 14", "Meet at the flagpole"], None),
]


def ppt():
    """A presentation of two slides, the first with notes."""
    parts, listed, listed_notes = [], b"", b""
    for number, (title, items, note) in enumerate(SLIDES):
        slide, notes = 2 + 2 * number, 3 + 2 * number
        atom = record(0x03EF, u32(0, 0, 0, 0, notes if note else 0, 0))
        shapes = drawing(shape(record(0x0F9E, u32(0))), shape(words(BODY, "\r".join(items))))
        parts.append((slide, container(0x03EE, atom, shapes)))
        listed += record(0x03F3, u32(slide, 0, 0, 256 + number, 0)) + words(TITLE, title)
        if note:
            parts.append((notes, container(0x03F0, drawing(shape(words(NOTES, note))))))
            listed_notes += record(0x03F3, u32(notes, 0, 0, notes, 0))
    document = container(0x03E8, record(0x0FF0, listed, 0, True), record(0x0FF0, listed_notes, 2, True))
    stream, directory = b"", b""
    for number, part in [(1, document), *parts]:
        directory += u32(number | 1 << 20, len(stream))
        stream += part
    persist = len(stream)
    stream += record(0x1772, directory)
    edit = len(stream)
    stream += record(0x0FF5, u32(0, 0, 0, persist, 1, 0, 0))
    user = record(0x0FF6, u32(20, 0xE391C05F, edit, 0))
    return compound({"PowerPoint Document": stream, "Current User": user})


RTF = r"""{\rtf1\ansi\ansicpg1252\deff0{\fonttbl{\f0\froman Liberation Serif;}}
{\stylesheet{\s0 Normal;}{\s1\outlinelevel0 heading 1;}}
{\info{\title Mietvertrag \'fcber Schuppen 14}{\author Hafenamt Hafenstadt}}
{\pard\s1\outlinelevel0\b\fs32 Mietvertrag \'fcber Schuppen 14\par}
{\pard\fs22 Zwischen dem {\b Hafenamt Hafenstadt} (Vermieter) und der {\b Hafenwerk Druckerei eG} (Mieterin).\par}
{\pard\s1\outlinelevel0\b\fs32 \'a7 1 Mietsache\par}
{\pard\fs22 Vermietet wird der Schuppen 14 mit 640 m{\super 2} Fl\'e4che. Das Dach wurde 2024 erneuert{\super\chftn{\footnote\pard {\super\chftn} Siehe das Protokoll der Abnahme.}}.\par}
{\pard\s1\outlinelevel0\b\fs32 \'a7 2 Miete\par}
\trowd\cellx4000\cellx7000
\pard\intbl\b Jahr\b0\cell\b Miete im Monat\b0\cell\row
\trowd\cellx4000\cellx7000
\pard\intbl 2026\cell 2.400,00 \u8364?\cell\row
\trowd\cellx4000\cellx7000
\pard\intbl 2027\cell 2.460,00 \u8364?\cell\row
{\pard\fs22 Sie ist am {\i dritten Werktag} f\'e4llig. Weiteres steht {\field{\*\fldinst HYPERLINK "https://hafen.example/miete"}{\fldrslt auf der Seite des Hafenamts}}.\par}
}
"""


def rtf():
    return RTF.replace("\n", "\r\n").encode("ascii")
