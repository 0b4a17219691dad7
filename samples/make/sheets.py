"""Pages as lists of marks, which can be printed into a PDF or drawn as a picture and scanned.

A mark is (x, y, text) in points from the top left corner of the paper, with a size, a weight and an edge. A rule is a line.
"""

import io
from dataclasses import dataclass

from PIL import Image, ImageDraw, ImageFont
from reportlab.lib.pagesizes import A4
from reportlab.lib.utils import ImageReader

import fonts
import pictures
from printed import canvas


@dataclass
class Mark:
    x: float
    y: float
    text: str
    size: float = 10
    bold: bool = False
    # The text ends at x, as amounts do.
    right: bool = False


@dataclass
class Rule:
    x: float
    y: float
    to: float


def column(x, y, lines, size=10, step=14, **how):
    """Lines below each other."""
    return [Mark(x, y + row * step, text, size, **how) for row, text in enumerate(lines)]


def pairs(x, y, rows, to, step=15):
    """Labels with their values at the right."""
    marks = []
    for row, (label, value) in enumerate(rows):
        marks += [Mark(x, y + row * step, label), Mark(to, y + row * step, value, right=True)]
    return marks


def table(y, heads, rows, step=18):
    """Heads are (x, title, right). Returns the marks, and where the table ends."""
    left, edge = min(x for x, _, _ in heads), 539
    marks = [Mark(x, y, title, 9, True, right) for x, title, right in heads] + [Rule(left, y + 5, edge)]
    for number, row in enumerate(rows, 1):
        marks += [Mark(x, y + number * step, text, 9.5, right=right) for (x, _, right), text in zip(heads, row)]
    end = y + len(rows) * step + 8
    return [*marks, Rule(left, end, edge)], end


def draw(page, marks, size):
    """On a page of a PDF, in a font that every reader has."""
    for mark in marks:
        if isinstance(mark, Rule):
            page.setLineWidth(0.6)
            page.line(mark.x, size[1] - mark.y, mark.to, size[1] - mark.y)
            continue
        page.setFont("Helvetica-Bold" if mark.bold else "Helvetica", mark.size)
        place = page.drawRightString if mark.right else page.drawString
        place(mark.x, size[1] - mark.y, mark.text)
    page.showPage()


def printed(pages, title, author, size=A4):
    target = io.BytesIO()
    sheet = canvas(target, size, title, author)
    for marks in pages:
        draw(sheet, marks, size)
    sheet.save()
    return target.getvalue()


def picture(marks, size=A4, dpi=200, paper=255):
    """The same as a picture, in a font with serifs."""
    scale = dpi / 72
    drawn = Image.new("L", (round(size[0] * scale), round(size[1] * scale)), paper)
    pen = ImageDraw.Draw(drawn)
    for mark in marks:
        if isinstance(mark, Rule):
            pen.line([(mark.x * scale, mark.y * scale), (mark.to * scale, mark.y * scale)], fill=60, width=2)
            continue
        file = fonts.path("DejaVuSerif-Bold" if mark.bold else "DejaVuSerif")
        font = ImageFont.truetype(file, round(mark.size * 0.92 * scale))
        pen.text((mark.x * scale, mark.y * scale), mark.text, font=font, fill=25, anchor="rs" if mark.right else "ls")
    return drawn


def scanned(pages, title, author, seed, size=A4, degrees=0.5, quality=40):
    """A PDF that holds nothing but pictures of its pages."""
    target = io.BytesIO()
    sheet = canvas(target, size, title, author)
    for number, marks in enumerate(pages):
        scan = io.BytesIO()
        pictures.scanned(picture(marks, size), degrees, seed + number, 10).save(scan, "JPEG", quality=quality)
        sheet.drawImage(ImageReader(scan), 0, 0, *size)
        sheet.showPage()
    sheet.save()
    return target.getvalue()
