"""Paper to write on: pages of text, rules and tables, drawn to a PDF once it is known how many pages there are."""

from reportlab.lib.pagesizes import A4, LETTER
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.pdfmetrics import stringWidth
from reportlab.pdfbase.ttfonts import TTFont

CARD = (242.6, 153.0)
TILL_ROLL = 226.0

for name, file in [("Vera", "Vera.ttf"), ("Vera-Bold", "VeraBd.ttf")]:
    pdfmetrics.registerFont(TTFont(name, file))

FONTS = {
    "helvetica": ("Helvetica", "Helvetica-Bold"),
    "courier": ("Courier", "Courier-Bold"),
    "times": ("Times-Roman", "Times-Bold"),
    "vera": ("Vera", "Vera-Bold"),
}


class Sheet:
    """Pages with a cursor that runs down them. Places are points from the top left."""

    def __init__(self, font, size=A4, margin=56):
        self.regular, self.bold = FONTS[font]
        self.width, self.height = size
        self.margin = margin
        self.pages = []
        # Called with (sheet, page, pages) for each page at the end; they draw at places of their own.
        self.header = None
        self.footer = None
        self.top = margin
        self.new_page()

    def new_page(self):
        self.pages.append([])
        self.y = self.top

    @property
    def right(self):
        return self.width - self.margin

    def font(self, bold):
        return self.bold if bold else self.regular

    def room(self, height):
        """Goes to a new page if there is not that much left of this one; says whether it did."""
        if self.y + height <= self.height - self.margin:
            return False
        self.new_page()
        return True

    def put(self, x, y, text, size=10, bold=False, align="left", color=0.0):
        width = stringWidth(text, self.font(bold), size)
        x -= {"left": 0, "right": width, "center": width / 2}[align]
        self.pages[-1].append(("text", x, y, text, self.font(bold), size, color))

    def line(self, text, size=10, bold=False, align="left", x=None, after=4, color=0.0):
        self.room(size * 1.3)
        self.y += size
        if x is None:
            x = {"left": self.margin, "right": self.right, "center": self.width / 2}[align]
        self.put(x, self.y, text, size, bold, align, color)
        self.y += after

    def lines(self, texts, **looks):
        for text in texts:
            self.line(text, **looks)

    def gap(self, height=10):
        self.y += height

    def rule(self, x0=None, x1=None, width=0.6):
        self.pages[-1].append(("line", x0 or self.margin, self.y, x1 or self.right, self.y, width))
        self.y += 4

    def box(self, x0, y0, x1, y1, fill=None):
        self.pages[-1].append(("box", x0, y0, x1, y1, fill))

    def wrap(self, text, width, size=10, bold=False):
        lines, line = [], ""
        for word in text.split():
            longer = f"{line} {word}".strip()
            if line and stringWidth(longer, self.font(bold), size) > width:
                lines.append(line)
                longer = word
            line = longer
        return [*lines, line]

    def paragraph(self, text, size=10, bold=False, x=None, width=None, after=6, first=""):
        x = self.margin if x is None else x
        width = width or self.right - x
        for index, line in enumerate(self.wrap(text, width, size, bold)):
            self.room(size * 1.4)
            self.y += size * 1.25
            if first and index == 0:
                self.put(x - stringWidth(first + "  ", self.regular, size), self.y, first, size, bold)
            self.put(x, self.y, line, size, bold)
        self.y += after

    def bullets(self, texts, mark="•", size=10, indent=16, after=2):
        for text in texts:
            self.paragraph(text, size, x=self.margin + indent, after=after, first=mark)

    def pairs(self, pairs, x=None, offset=110, size=10, colon=":", after=4, right=None):
        """Label and value, side by side."""
        x = self.margin if x is None else x
        for label, value in pairs:
            self.room(size * 1.3)
            self.y += size
            self.put(x, self.y, label + colon, size)
            if right:
                self.put(right, self.y, value, size, align="right")
            else:
                self.put(x + offset, self.y, value, size)
            self.y += after

    def table(self, columns, rows, size=9, looks="lines", x=None, on_break=None):
        """`columns` are (title, width, align). `on_break(sheet, rows_before)` writes around a page break."""
        x = self.margin if x is None else x
        edges = [x]
        for _, width, _ in columns:
            edges.append(edges[-1] + width)
        step = size * 1.75

        def row(cells, bold=False):
            top = self.y
            self.y += step
            for (_, _, align), left, end, text in zip(columns, edges, edges[1:], cells):
                place = {"left": left + 3, "right": end - 3, "center": (left + end) / 2}[align]
                self.put(place, self.y - size * 0.5, text, size, bold, align)
            if looks == "grid":
                for left, end in zip(edges, edges[1:]):
                    self.box(left, top, end, self.y)
            elif looks == "lines":
                self.pages[-1].append(("line", x, self.y, edges[-1], self.y, 0.4))

        titles = [title for title, _, _ in columns]
        if any(titles):
            row(titles, bold=True)
        for index, cells in enumerate(rows):
            if self.y + step * 2 > self.height - self.margin:
                if on_break:
                    on_break(self, index, False)
                self.new_page()
                if on_break:
                    on_break(self, index, True)
                if any(titles):
                    row(titles, bold=True)
            row(cells)
        self.y += 8

    def fill_blank(self, label, width=None, size=10, x=None):
        """A label with a line to write on."""
        x = self.margin if x is None else x
        self.room(size * 2)
        self.y += size * 1.6
        self.put(x, self.y, label, size)
        start = x + stringWidth(label, self.regular, size) + 5
        self.pages[-1].append(("line", start, self.y + 2, x + width if width else self.right, self.y + 2, 0.5))

    def checkboxes(self, labels, size=10, across=True):
        x = self.margin
        self.room(size * 2)
        self.y += size * 1.6
        for label in labels:
            self.box(x, self.y - size * 0.8, x + size * 0.8, self.y)
            self.put(x + size * 1.4, self.y, label, size)
            if across:
                x += stringWidth(label, self.regular, size) + size * 4
            else:
                self.y += size * 1.6

    def draw(self, canvas):
        """Adds the pages to a reportlab canvas."""
        total = len(self.pages)
        for number in range(1, total + 1):
            self.pages.append(self.pages.pop(0))
            for decorate in (self.header, self.footer):
                if decorate:
                    decorate(self, number, total)
            canvas.setPageSize((self.width, self.height))
            for op in self.pages[-1]:
                self.draw_one(canvas, op)
            canvas.showPage()

    def draw_one(self, canvas, op):
        kind, *rest = op
        if kind == "text":
            x, y, text, font, size, color = rest
            canvas.setFont(font, size)
            canvas.setFillGray(color)
            canvas.drawString(x, self.height - y, text)
        elif kind == "line":
            x0, y0, x1, y1, width = rest
            canvas.setLineWidth(width)
            canvas.line(x0, self.height - y0, x1, self.height - y1)
        else:
            x0, y0, x1, y1, fill = rest
            canvas.setLineWidth(0.5)
            if fill is not None:
                canvas.setFillGray(fill)
            canvas.rect(x0, self.height - y1, x1 - x0, y1 - y0, stroke=fill is None, fill=fill is not None)


__all__ = ["A4", "CARD", "LETTER", "TILL_ROLL", "Sheet"]
