"""Papers of a council as its staff make them: reports, agendas, contracts, a packet with bookmarks, a scanned memo."""

import io
from xml.sax.saxutils import escape

import docx
import openpyxl
from openpyxl.styles import Font
from reportlab.lib import colors
from reportlab.lib.pagesizes import LETTER
from reportlab.lib.styles import ParagraphStyle
from reportlab.platypus import (BaseDocTemplate, Flowable, Frame, PageBreak, PageTemplate, Paragraph, Table,
                                TableStyle)

import pictures
import printed
import texts
from office import MADE
from reportlab.lib.utils import ImageReader

CITY = "City of Quillhaven"

BODY = ParagraphStyle("body", fontName="Times-Roman", fontSize=11, leading=14.5, spaceAfter=7)
HEADING = ParagraphStyle("heading", fontName="Helvetica-Bold", fontSize=11, leading=14, spaceBefore=9, spaceAfter=4)
TITLE = ParagraphStyle("title", fontName="Helvetica-Bold", fontSize=14, leading=18, spaceAfter=6, alignment=1)
CENTRED = ParagraphStyle("centred", parent=BODY, alignment=1)
POINT = ParagraphStyle("point", parent=BODY, leftIndent=20, bulletIndent=4, spaceAfter=3)
LABEL = ParagraphStyle("label", parent=BODY, spaceAfter=2)


class Bookmark(Flowable):
    """A place that the outline of the file leads to."""

    def __init__(self, words, level=0):
        super().__init__()
        self.words, self.level = words, level

    def wrap(self, *_):
        return 0, 0

    def draw(self):
        self.canv.bookmarkPage(self.words)
        self.canv.addOutlineEntry(self.words, self.words, self.level)


def flow(parts):
    """What a paper holds, from plain data: a text is a paragraph, `# ` a heading, `= ` a title in the middle, `* ` and
    `1. ` points, a list of rows a table, `---` a new page, `@ ` a bookmark, a pair a label with its text."""
    for part in parts:
        if isinstance(part, tuple):
            yield Paragraph(f"<b>{escape(part[0])}:</b> {escape(part[1])}", LABEL)
        elif isinstance(part, list):
            yield ruled(part)
        elif part == "---":
            yield PageBreak()
        elif part.startswith("@ "):
            yield Bookmark(part[2:])
        elif part.startswith("# "):
            yield Paragraph(escape(part[2:]), HEADING)
        elif part.startswith("= "):
            yield Paragraph(escape(part[2:]), TITLE)
        elif part.startswith("^ "):
            yield Paragraph(escape(part[2:]), CENTRED)
        elif part.startswith("* "):
            yield Paragraph(f"<bullet>•</bullet>{escape(part[2:])}", POINT)
        elif part[:1].isdigit() and part[1:3] == ". ":
            yield Paragraph(f"<bullet>{part[:2]}</bullet>{escape(part[3:])}", POINT)
        else:
            yield Paragraph(escape(part), BODY)


def ruled(rows):
    cells = [[Paragraph(escape(cell), LABEL) for cell in row] for row in rows]
    table = Table(cells, spaceBefore=4, spaceAfter=8)
    table.setStyle(TableStyle([("GRID", (0, 0), (-1, -1), 0.5, colors.black), ("VALIGN", (0, 0), (-1, -1), "TOP"),
                               ("BACKGROUND", (0, 0), (-1, 0), colors.whitesmoke)]))
    return table


def pdf(title, parts, footer=None):
    """A paper with the city's name above and the number of the page below."""
    target = io.BytesIO()

    def edges(page, document):
        page.saveState()
        page.setFont("Helvetica", 8)
        page.drawString(64, LETTER[1] - 36, CITY)
        page.drawRightString(LETTER[0] - 64, LETTER[1] - 36, footer or title[:80])
        page.drawCentredString(LETTER[0] / 2, 30, f"Page {document.page}")
        page.restoreState()

    document = BaseDocTemplate(target, pagesize=LETTER, invariant=1, title=title, author=CITY, lang="en")
    frame = Frame(64, 54, LETTER[0] - 128, LETTER[1] - 108, 0, 0, 0, 0)
    document.addPageTemplates([PageTemplate("all", [frame], onPage=edges)])
    document.build(list(flow(parts)))
    return target.getvalue()


def head(subject, department, date="March 10, 2026", body="City Council"):
    """How every staff report begins."""
    return ["= STAFF REPORT", ("TO", f"Mayor and Members of the {body}"), ("FROM", department), ("MEETING DATE", date),
            ("SUBJECT", subject)]


def staff_report(subject, department, parts, **more):
    signed = ["Respectfully submitted,", department]
    return pdf(subject, [*head(subject, department, **more), *parts, *signed], "Staff Report")


def word(subject, department, parts):
    """The same as a docx file."""
    file = docx.Document()
    core = file.core_properties
    core.title, core.author, core.language = subject, CITY, "en"
    core.created = core.modified = MADE
    for part in [*head(subject, department), *parts]:
        if isinstance(part, tuple):
            paragraph = file.add_paragraph()
            paragraph.add_run(f"{part[0]}: ").bold = True
            paragraph.add_run(part[1])
        elif part.startswith(("# ", "= ")):
            file.add_heading(part[2:], 0 if part.startswith("=") else 1)
        elif part[:1].isdigit() and part[1:3] == ". ":
            file.add_paragraph(part[3:], style="List Number")
        else:
            file.add_paragraph(part)
    target = io.BytesIO()
    file.save(target)
    return texts.settled(target.getvalue())


def sheet(title, rows, widths):
    """A workbook with one sheet; the first row is its header, numbers are amounts of dollars."""
    book = openpyxl.Workbook()
    page = book.active
    page.title = title
    for row in rows:
        page.append(row)
    for cell in page[1]:
        cell.font = Font(bold=True)
    for row in page.iter_rows(min_row=2):
        for cell in row:
            if isinstance(cell.value, (int, float)):
                cell.number_format = '"$"#,##0.00'
    for column, width in zip("ABCDEFGH", widths):
        page.column_dimensions[column].width = width
    book.properties.creator = CITY
    book.properties.created = book.properties.modified = MADE
    target = io.BytesIO()
    book.save(target)
    return texts.settled(target.getvalue())


def scan(title, lines):
    """A sheet of paper that was scanned: nothing in the file but its picture."""
    paper = pictures.scanned(pictures.page(lines, size=(1700, 2200), margin=150), 0.4, 11, grain=14)
    picture = pictures.black_and_white(paper)
    target = io.BytesIO()
    page = printed.canvas(target, LETTER, title, CITY)
    page.drawImage(ImageReader(picture), 0, 0, *LETTER)
    page.save()
    return target.getvalue()


def locked(title, parts):
    """Nobody reads it without the password."""
    target = io.BytesIO()
    printed.lock(pdf(title, parts), target)
    return target.getvalue()
