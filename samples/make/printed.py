"""PDF files: columns, tables, turned pages, a form, several languages, an encrypted one."""

import io
from unittest import mock

import arabic_reshaper
import pypdf
from bidi.algorithm import get_display
from reportlab.lib import colors
from reportlab.lib.pagesizes import A4, A5
from reportlab.lib.styles import ParagraphStyle
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.cidfonts import UnicodeCIDFont
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import BaseDocTemplate, Frame, PageTemplate, Paragraph, Table, TableStyle

import fonts

PASSWORD = "bindery"

BODY = ParagraphStyle("body", fontName="Times-Roman", fontSize=12, leading=17, spaceAfter=7, alignment=4)
HEADING = ParagraphStyle("heading", fontName="Helvetica-Bold", fontSize=15, leading=19, spaceBefore=12, spaceAfter=5)
ITEM = ParagraphStyle("item", parent=BODY, leftIndent=14, bulletIndent=3, spaceAfter=2, alignment=0)


def canvas(target, size=A4, title="", author="Harbour Street Library Trust"):
    """Its streams are not compressed: whoever looks into the file sees how a page is made."""
    page = Canvas(target, pagesize=size, invariant=1, pageCompression=0)
    page.setTitle(title)
    page.setAuthor(author)
    return page


REPORT = [
    (HEADING, "1. What was built"),
    (BODY, "The reading room on the ground floor was opened in March after eleven months of work. It holds forty "
           "seats, of which twelve are kept for people who need a screen, and its shelves carry the local collection "
           "that had been in storage since the flood. The roof above it was renewed at the same time, because the "
           "scaffolding could be used for both<super>1</super>."),
    (BODY, "Heat now comes from the harbour grid. In the first winter the building used a third less energy than in "
           "the years before, although it was open on more days. The Treasurer expects the saving to pay for the "
           "new pipes within nine years."),
    (HEADING, "2. Who came"),
    (BODY, "Visits rose from 41,200 to 58,900. Most of the growth came on Saturdays, when the room is open until six "
           "o’clock. Lending of printed books fell slightly; lending of tools, which was an experiment, grew tenfold "
           "and will be continued."),
    (ITEM, "<bullet>•</bullet>Courses in reading and writing: 64 evenings, 890 people"),
    (ITEM, "<bullet>•</bullet>Visits of school classes: 112"),
    (ITEM, "<bullet>•</bullet>Tools lent: 2,310, of which four were lost"),
    (HEADING, "3. What it cost"),
    (BODY, "The work cost 1.84 million euros, 60,000 less than was planned. The city paid half, the Trust a third, and "
           "the rest came from donations of companies at the harbour. Nordwind Papier GmbH gave the paper for the "
           "catalogue of the local collection without charge."),
    (BODY, "Running costs were within the budget for the second year. The largest single item is wages, followed by "
           "electronic media, whose prices rise faster than those of printed books. The Board has therefore decided "
           "to join the regional consortium from next year."),
    (HEADING, "4. What comes next"),
    (BODY, "The upper floor is empty. The Board asks all members for proposals until the end of May; two public "
           "meetings will be held in the reading room. Details are on "
           '<link href="https://library.example/upper-floor"><u>the page of the Trust</u></link>.'),
    (BODY, "The Trust thanks everybody who carried boxes, sorted cards and painted walls. Without more than three "
           "thousand hours of unpaid work the collection would still be in the cellar of the customs house."),
    (BODY, "A list of all donations above one thousand euros is kept at the desk and may be read there by any member. "
           "The accounts were examined by the auditors in January and found to be in order; their letter follows the "
           "accounts in the printed edition of this report. The next general meeting will take place in September, "
           "when the terms of the Treasurer and of the Secretary end and both offices are to be filled anew."),
    (HEADING, "5. The local collection"),
    (BODY, "The collection holds 7,400 books, 1,900 maps and about 60,000 photographs of the harbour, most of them "
           "from the archive of the shipyard. Half of the photographs have been described so far. A group of former "
           "ship-<br/>wrights meets every Wednesday to name the ships that are seen on them."),
    (BODY, "Maps are scanned in the reading room with the camera that the university lent. The pictures are free for "
           "everybody; whoever prints them is asked to send a copy."),
    (HEADING, "6. Thanks to the harbour"),
    (BODY, "The pilots’ association let the Trust store 214 boxes in its shed for two years and asked for nothing but "
           "a dry floor afterwards. It has one now."),
    (BODY, "The fire brigade dried the oldest maps in its hose tower. Not one of them was lost."),
]


def report(target):
    """Two columns below a title that runs across, headings, a list, a footnote, header and footer on both pages."""
    width, height = A4
    column = (width - 2 * 56 - 22) / 2

    def edges(page, document):
        page.saveState()
        page.setFont("Helvetica", 8)
        page.drawString(56, height - 34, "Harbour Street Library Trust")
        page.drawRightString(width - 56, height - 34, "Annual report 2025")
        page.drawCentredString(width / 2, 28, f"Page {document.page}")
        if document.page == 1:
            page.setFont("Times-Bold", 22)
            page.drawCentredString(width / 2, height - 86, "A Year with an Open Roof")
            page.setFont("Times-Italic", 11)
            page.drawCentredString(width / 2, height - 106, "Report of the Board to the members")
            page.bookmarkPage("start")
            page.addOutlineEntry("A Year with an Open Roof", "start", 0)
            page.line(56, 78, 56 + 120, 78)
            note = page.beginText(56, 66)
            note.setFont("Times-Roman", 6)
            note.setRise(3)
            note.textOut("1")
            note.setRise(0)
            note.setFont("Times-Roman", 8)
            note.textOut(" The city’s surveyor had asked for a new roof in 2019.")
            page.drawText(note)
        page.restoreState()

    def frames(top, bottom):
        return [Frame(56 + side * (column + 22), bottom, column, top - bottom, 0, 0, 0, 0) for side in (0, 1)]

    document = BaseDocTemplate(target, pagesize=A4, invariant=1, pageCompression=0, title="A Year with an Open Roof",
                               author="Harbour Street Library Trust", subject="Annual report 2025", lang="en")
    # The first page has room for the title above its columns and for the note below them.
    first = PageTemplate("first", frames(height - 130, 96), onPage=edges, autoNextPageTemplate="later")
    later = PageTemplate("later", frames(height - 56, 480), onPage=edges)
    document.addPageTemplates([first, later])
    document.build([Paragraph(text, style) for style, text in REPORT])


def budget(target):
    """A ruled table with cells that span rows and columns, and below it one without rules."""
    page = canvas(target, title="Budget 2026", author="Harbour Street Library Trust")
    width, height = A4
    page.setFont("Helvetica-Bold", 16)
    page.drawString(56, height - 70, "Budget 2026")
    page.setFont("Helvetica", 10)
    page.drawString(56, height - 90, "All amounts in euros. Adopted by the Board on 4 November 2025.")
    rows = [
        ["Purpose", "", "2025", "", "2026", ""],
        ["", "", "planned", "spent", "planned", "change"],
        ["Media", "Printed books", "48,000", "46,310", "45,000", "−3,000"],
        ["", "Electronic media", "39,000", "41,870", "52,000", "+13,000"],
        ["", "Newspapers", "6,500", "6,420", "6,500", "0"],
        ["Building", "Heating", "31,000", "22,940", "24,000", "−7,000"],
        ["", "Repairs", "12,000", "13,115", "12,000", "0"],
        ["Wages", "", "214,000", "213,480", "221,000", "+7,000"],
        ["Total", "", "350,500", "344,135", "360,500", "+10,000"],
    ]
    table = Table(rows, colWidths=[70, 110, 74, 74, 74, 74], rowHeights=20)
    table.setStyle(TableStyle([
        ("GRID", (0, 0), (-1, -1), 0.6, colors.black),
        ("FONT", (0, 0), (-1, 1), "Helvetica-Bold", 10),
        ("FONT", (0, 2), (-1, -1), "Helvetica", 10),
        ("FONT", (0, 8), (-1, 8), "Helvetica-Bold", 10),
        ("VALIGN", (0, 0), (-1, -1), "MIDDLE"),
        ("ALIGN", (2, 0), (-1, 1), "CENTER"),
        ("ALIGN", (2, 2), (-1, -1), "RIGHT"),
        ("SPAN", (0, 0), (1, 1)), ("SPAN", (2, 0), (3, 0)), ("SPAN", (4, 0), (5, 0)),
        ("SPAN", (0, 2), (0, 4)), ("SPAN", (0, 5), (0, 6)), ("SPAN", (0, 7), (1, 7)), ("SPAN", (0, 8), (1, 8)),
    ]))
    table.wrapOn(page, width, height)
    table.drawOn(page, 56, height - 290)
    page.setFont("Helvetica-Bold", 12)
    page.drawString(56, height - 330, "Where the money comes from")
    page.setFont("Helvetica", 10)
    income = [("City of Hafenstadt", "180,000", "49.9 %"), ("Membership fees", "96,400", "26.7 %"),
              ("Donations", "58,100", "16.1 %"), ("Courses and rent", "26,000", "7.2 %")]
    for row, (source, amount, share) in enumerate([("Source", "Amount", "Share"), *income]):
        page.setFont("Helvetica-Bold" if row == 0 else "Helvetica", 10)
        line = height - 352 - row * 16
        page.drawString(56, line, source)
        page.drawRightString(300, line, amount)
        page.drawRightString(390, line, share)
    page.save()


def rotated(target):
    """A page that is turned for showing, and one whose text runs up the paper."""
    page = canvas(target, A5, "Tide table", "Hafenamt Hafenstadt")
    width, height = A5

    def content(title, lines):
        page.setFont("Helvetica-Bold", 15)
        page.drawString(40, width - 60, title)
        page.setFont("Helvetica", 11)
        for row, line in enumerate(lines):
            page.drawString(40, width - 90 - row * 16, line)

    for turned, title, lines in [
        (90, "Tide table for April", ["High water comes about fifty minutes later each day.",
                                      "Ships of more than four metres wait for high water.",
                                      "The bridge opens at every full hour from six to twenty."]),
        (0, "Notice to all ships", ["This sheet was printed sideways and is not turned for showing.",
                                    "Its lines run from the bottom of the paper to its top."]),
    ]:
        page.setPageRotation(turned)
        page.saveState()
        page.translate(width, 0)
        page.rotate(90)
        content(title, lines)
        page.restoreState()
        page.showPage()
    page.save()


def form(target):
    """A form that was filled in: text, a choice, boxes that are ticked and not."""
    page = canvas(target, A5, "Application for membership")
    height = A5[1]
    page.setFont("Helvetica-Bold", 15)
    page.drawString(40, height - 56, "Application for membership")
    page.setFont("Helvetica", 10)
    fields = page.acroForm
    for row, (label, name, value) in enumerate([
        ("Organisation", "organisation", "Nordwind Papier GmbH"),
        ("Street", "street", "Speicherstraße 14"),
        ("Town", "town", "20457 Hamburg"),
        ("Contact", "contact", "office@nordwind-papier.example"),
    ]):
        line = height - 92 - row * 28
        page.drawString(40, line, f"{label}:")
        fields.textfield(name=name, tooltip=label, value=value, x=130, y=line - 6, width=230, height=18, fontSize=10,
                         borderWidth=0.5, forceBorder=True)
    line = height - 92 - 4 * 28
    page.drawString(40, line, "Kind:")
    fields.choice(name="kind", tooltip="Kind", value="Company", options=["Person", "Company", "Association"], x=130,
                  y=line - 6, width=120, height=18, fontSize=10, borderWidth=0.5, forceBorder=True)
    for row, (label, name, ticked) in enumerate([
        ("We want the printed report each year", "report", True),
        ("We want to be named among the donors", "named", False),
    ]):
        line = height - 92 - 5 * 28 - row * 24
        fields.checkbox(name=name, tooltip=label, checked=ticked, x=40, y=line - 3, size=13, borderWidth=0.5)
        page.drawString(62, line, label)
    page.save()


def arabic(text):
    """Shaped and in the order in which it is drawn, as programs without a layout engine put it into a PDF."""
    return get_display(arabic_reshaper.reshape(text))


def languages(target):
    """One notice in German, French, Spanish, Arabic and Japanese."""
    pdfmetrics.registerFont(TTFont("DejaVu", fonts.path("DejaVuSans")))
    pdfmetrics.registerFont(TTFont("DejaVu-Bold", fonts.path("DejaVuSans-Bold")))
    # The font is not in the file: the predefined CMap alone says which letters these are.
    pdfmetrics.registerFont(UnicodeCIDFont("HeiseiMin-W3"))
    page = canvas(target, A5, "Opening hours")
    width, height = A5
    line = height - 56
    for heading, lines in [
        ("Öffnungszeiten", ["Der Lesesaal ist dienstags bis samstags geöffnet,", "außer an gesetzlichen Feiertagen."]),
        ("Heures d’ouverture", ["La salle de lecture est ouverte du mardi au samedi,", "sauf les jours fériés."]),
        ("Horario", ["La sala de lectura abre de martes a sábado.", "¿Preguntas? Estamos a su disposición."]),
    ]:
        page.setFont("DejaVu-Bold", 12)
        page.drawString(40, line, heading)
        page.setFont("DejaVu", 10)
        for row, text in enumerate(lines):
            page.drawString(40, line - 17 - row * 14, text)
        line -= 72
    page.setFont("DejaVu-Bold", 12)
    page.drawRightString(width - 40, line, arabic("ساعات العمل"))
    page.setFont("DejaVu", 10)
    page.drawRightString(width - 40, line - 17, arabic("قاعة القراءة مفتوحة من الثلاثاء إلى السبت."))
    page.drawRightString(width - 40, line - 31, arabic("الدخول مجاني للجميع."))
    line -= 72
    page.setFont("HeiseiMin-W3", 13)
    page.drawString(40, line, "開館時間")
    page.setFont("HeiseiMin-W3", 10)
    page.drawString(40, line - 17, "閲覧室は火曜日から土曜日まで開いています。")
    page.drawString(40, line - 31, "祝日は休館です。")
    page.save()


def encrypted(target):
    """AES with 256 bits. The password is PASSWORD."""
    plain = io.BytesIO()
    page = canvas(plain, A5, "Offer, confidential", "Hafenwerk Druckerei eG")
    page.setFont("Helvetica-Bold", 15)
    page.drawString(40, A5[1] - 60, "Offer 2026-017, confidential")
    page.setFont("Helvetica", 11)
    page.drawString(40, A5[1] - 90, "We print 5,000 copies of the annual report for 7,450 euros.")
    page.drawString(40, A5[1] - 106, "The offer is valid until 31 January 2026.")
    page.save()
    lock(plain.getvalue(), target)


def lock(plain, target):
    """The same file, encrypted with PASSWORD."""
    writer = pypdf.PdfWriter(clone_from=io.BytesIO(plain))
    # Its salt and keys are random; here they are always the same, so that the file is.
    with mock.patch("secrets.token_bytes", lambda size: bytes(range(7, 7 + size))), \
            mock.patch("secrets.token_hex", lambda size: "5a" * size):
        writer.encrypt(PASSWORD, algorithm="AES-256")
        writer.write(target)
