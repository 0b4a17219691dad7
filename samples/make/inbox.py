"""The pile in ../inbox: what a small organisation finds in its mail on a Monday. ../README.md says what is in it.

The organisations are made up, the one person is a specimen, and the bank accounts are those of the banks' own examples.
"""

import io
from email import policy
from email.message import EmailMessage
from unittest import mock

import docx
import openpyxl
from openpyxl.styles import Font
from PIL import Image, ImageDraw, ImageFont

import fonts
import invoice
import pictures
import texts
from office import MADE
from sheets import Mark, Rule, column, pairs, picture, printed, scanned, table

TRUST = ["Harbour Street Library Trust", "Kaistraße 22", "24103 Kiel"]


def lantern():
    """An English invoice. Whoever typed it swapped two digits of the total: 1,541.40 is not 1,180.00 and 271.40."""
    lines, end = table(300, [(56, "Description", False), (360, "Qty", True), (450, "Unit price", True), (539, "Amount", True)], [
        ("LED panels for the reading room", "12", "65.00", "780.00"),
        ("Emergency exit light", "2", "80.00", "160.00"),
        ("Fitting, two electricians, hours", "6", "40.00", "240.00"),
    ])
    marks = [
        Mark(56, 70, "Lantern Electric Ltd", 18, True),
        *column(56, 90, ["8 Foundry Lane, Cork, Ireland", "VAT no: IE1234567FA", "accounts@lantern-electric.example"], 9, 12),
        Mark(539, 70, "INVOICE", 20, True, True),
        Mark(56, 160, "Bill to", 9, True), *column(56, 175, TRUST),
        *pairs(360, 160, [("Invoice number", "LE-3312"), ("Invoice date", "12 January 2026"), ("Due date", "11 February 2026"),
                          ("Order number", "2025-118")], 539),
        *lines,
        *pairs(380, end + 24, [("Net total", "EUR 1,180.00"), ("VAT 23 %", "EUR 271.40")], 539),
        Mark(380, end + 60, "Grand total", 11, True), Mark(539, end + 60, "EUR 1,541.40", 11, True, True),
        *column(56, end + 110, ["Payment terms: 30 days net.", "IBAN: IE29 AIBK 9311 5212 3456 78", "BIC: AIBKIE2D"], 9.5, 14),
        Mark(56, 800, "Lantern Electric Ltd is registered in Ireland. Goods remain ours until they are paid.", 8),
    ]
    return printed([marks], "Invoice LE-3312", "Lantern Electric Ltd")


def factura():
    """A Spanish invoice: the sender below the title, the sums in a table of their own."""
    lines, end = table(290, [(56, "Concepto", False), (380, "Cantidad", True), (460, "Precio", True), (539, "Importe", True)], [
        ("Estanterías de madera de pino", "8", "210,00", "1.680,00"),
        ("Transporte y montaje", "1", "145,50", "145,50"),
    ])
    sums, below = table(end + 40, [(300, "Base imponible", False), (400, "IVA", False), (470, "Cuota", True), (539, "Total factura", True)], [
        ("1.825,50 €", "21 %", "383,36 €", "2.208,86 €")])
    marks = [
        Mark(56, 66, "FACTURA", 18, True), Mark(539, 66, "Nº 2026/045", 12, True, True), Rule(56, 76, 539),
        *column(56, 100, ["Maderas del Puerto S.L.", "Calle de la Ribera 5, 36202 Vigo", "NIF: B12345674"], 10, 14),
        Mark(330, 100, "Cliente:", 9, True), *column(330, 114, TRUST),
        Mark(56, 180, "Fecha de factura: 09/01/2026"), Mark(56, 196, "Fecha de vencimiento: 08/02/2026"),
        Mark(56, 212, "Forma de pago: transferencia bancaria"), *lines, *sums,
        *column(56, below + 40, ["IBAN: ES91 2100 0418 4502 0005 1332", "Gracias por su confianza."], 9.5, 15),
    ]
    return printed([marks], "Factura 2026/045", "Maderas del Puerto S.L.")


def e_invoice():
    """The e-invoice of ../files with other contents, printed in another form."""
    contents = {
        "NUMBER": "2026-0121", "SELLER": invoice.SELLER | {"vat": "DE999999995"},
        "BUYER": {"name": TRUST[0], "street": TRUST[1], "post": "24103", "town": "Kiel", "country": "DE"},
        "LINES": [("Katalogpapier 120 g/m², A4", invoice.Decimal("20"), "XPK", invoice.Decimal("9.80"), 19),
                  ("Umschlagkarton 250 g/m²", invoice.Decimal("2"), "XPK", invoice.Decimal("112.00"), 19)],
    }
    lines, end = table(310, [(56, "Pos.", False), (90, "Bezeichnung", False), (360, "Menge", True), (450, "Einzelpreis", True), (539, "Betrag", True)], [
        (str(number), what, str(count), invoice.german(price), invoice.german(count * price))
        for number, (what, count, _, price, _) in enumerate(contents["LINES"], 1)])
    marks = [
        Mark(56, 66, "Nordwind Papier GmbH", 16, True),
        *column(56, 84, ["Speicherstraße 14", "20457 Hamburg", "USt-IdNr.: DE999999995"], 9, 12),
        *column(56, 160, TRUST),
        *pairs(350, 160, [("Rechnungsnummer", "2026-0121"), ("Rechnungsdatum", "15.01.2026"), ("Lieferdatum", "12.01.2026"),
                          ("Zahlbar bis", "14.02.2026")], 539),
        Mark(56, 260, "Rechnung 2026-0121", 15, True), *lines,
        *pairs(350, end + 24, [("Summe netto", "420,00 EUR"), ("Umsatzsteuer 19 %", "79,80 EUR")], 539),
        Mark(350, end + 60, "Gesamtbetrag", 11, True), Mark(539, end + 60, "499,80 EUR", 11, True, True),
        Mark(56, end + 110, "Bitte überweisen Sie den Betrag auf das Konto DE02 1203 0000 0000 2020 51.", 9.5),
    ]
    target = io.BytesIO()
    with mock.patch.multiple(invoice, **contents):
        invoice.make(target, printed([marks], "Rechnung 2026-0121", "Nordwind Papier GmbH"))
    return target.getvalue()


def roof():
    """A German invoice that came on paper."""
    lines, end = table(330, [(60, "Pos.", False), (95, "Bezeichnung", False), (370, "Menge", True), (450, "Einzelpreis", True), (535, "Gesamt", True)], [
        ("1", "Dachrinne erneuern, Zink, je Meter", "14", "38,00", "532,00"),
        ("2", "Gerüst stellen", "1", "260,00", "260,00"),
        ("3", "Arbeitsstunden", "9", "52,00", "468,00"),
    ])
    marks = [
        Mark(60, 70, "Dachdeckerei Seewind GmbH", 16, True),
        *column(60, 88, ["Werftstraße 31, 24143 Kiel", "Steuernummer 20 123 45678"], 9, 13),
        *column(60, 150, TRUST, 11, 16),
        Mark(60, 230, "Rechnung", 18, True),
        *pairs(340, 150, [("Rechnungsnummer", "88/2026"), ("Rechnungsdatum", "14.01.2026"), ("Leistungsdatum", "08.01.2026"),
                          ("Kundennummer", "10417")], 535, 17),
        Mark(60, 270, "Für die Arbeiten am Dach des Lesesaals berechnen wir Ihnen:", 10.5),
        *lines,
        *pairs(330, end + 26, [("Nettobetrag", "1.260,00 EUR"), ("Umsatzsteuer 19 %", "239,40 EUR")], 535, 18),
        Mark(330, end + 64, "Gesamtbetrag", 12, True), Mark(535, end + 64, "1.499,40 EUR", 12, True, True),
        *column(60, end + 120, ["Zahlbar bis 28.01.2026 ohne Abzug.", "IBAN DE02 1203 0000 0000 2020 51"], 10.5, 17),
    ]
    return scanned([marks], "Scan", "Office scanner", 21, quality=32)


def payslip():
    earnings, end = table(270, [(56, "Earnings", False), (300, "Hours", True), (400, "Rate", True), (539, "Amount", True)], [
        ("Basic pay", "150", "19.20", "2,880.00"), ("Overtime", "6", "24.00", "144.00")])
    taken, below = table(end + 40, [(56, "Deductions", False), (539, "Amount", True)], [
        ("Income tax", "318.50"), ("Health insurance", "246.20"), ("Pension insurance", "281.23"), ("Unemployment insurance", "39.31")])
    marks = [
        Mark(56, 66, "PAYSLIP", 18, True), Mark(539, 66, "January 2026", 12, True, True), Rule(56, 78, 539),
        *column(56, 104, ["Employer:", "Employee:", "Employee number:", "Job title:"], step=15),
        *column(150, 104, [TRUST[0], "Alex Specimen", "0042", "Librarian"], step=15),
        *column(340, 104, ["Pay period:", "Payment date:", "Tax id:"], step=15),
        *column(420, 104, ["01/2026", "30 January 2026", "00 000 000 000"], step=15),
        *earnings, *taken,
        *pairs(340, below + 30, [("Gross pay", "EUR 3,024.00"), ("Total deductions", "EUR 885.24")], 539, 16),
        Mark(340, below + 66, "Net pay", 11, True), Mark(539, below + 66, "EUR 2,138.76", 11, True, True),
        Mark(56, below + 110, "Paid to the account DE02 1005 0000 0054 5404 02.", 9.5),
    ]
    return printed([marks], "Payslip January 2026", TRUST[0])


def check_digit(text):
    """As passports have it: figures count as they are, letters from 10 on, times 7, 3 and 1 by turns."""
    values = [0 if letter == "<" else int(letter, 36) for letter in text]
    return str(sum(value * (7, 3, 1)[place % 3] for place, value in enumerate(values)) % 10)


def id_card():
    """A card of the country that exists for specimens alone."""
    number, born, expires = "X4RTBPFW4", "890213", "310918"
    first = f"IDUTO{number}{check_digit(number)}".ljust(30, "<")
    second = f"{born}{check_digit(born)}X{expires}{check_digit(expires)}UTO".ljust(29, "<")
    second += check_digit(first[5:30] + second[:7] + second[8:15] + second[18:29])
    size = (243, 153)
    marks = [
        Mark(12, 20, "UTOPIA", 11, True), Mark(231, 20, "IDENTITY CARD", 9, True, True),
        *[Mark(x, y, text, 5) for x, y, text in [
            (84, 34, "Surname"), (84, 53, "Given names"), (84, 72, "Date of birth"), (160, 72, "Nationality"),
            (84, 91, "Document number"), (160, 91, "Date of expiry")]],
        *[Mark(x, y, text, 8, True) for x, y, text in [
            (84, 44, "SPECIMEN"), (84, 63, "ALEX"), (84, 82, "13.02.1989"), (160, 82, "UTO"), (84, 101, number),
            (160, 101, "18.09.2031")]],
    ]
    card = picture(marks, size, 300, 246).convert("RGB")
    pen = ImageDraw.Draw(card)
    scale = 300 / 72
    # Where a face would be: nobody's.
    pen.rectangle([12 * scale, 30 * scale, 70 * scale, 104 * scale], fill=(214, 220, 226))
    pen.ellipse([29 * scale, 42 * scale, 53 * scale, 70 * scale], fill=(170, 180, 190))
    pen.pieslice([19 * scale, 72 * scale, 63 * scale, 136 * scale], 180, 360, fill=(170, 180, 190))
    machine = ImageFont.truetype(fonts.path("DejaVuSansMono"), round(10.4 * scale))
    for row, line in enumerate([first, second, "SPECIMEN<<ALEX".ljust(30, "<")]):
        pen.text((20 * scale, (120 + row * 12.5) * scale), line, font=machine, fill=(20, 20, 20), anchor="ls")
    stamp = Image.new("L", (620, 110), 0)
    ImageDraw.Draw(stamp).text((310, 55), "SPECIMEN", font=ImageFont.truetype(fonts.path("DejaVuSans-Bold"), 80), fill=46, anchor="mm")
    stamp = stamp.rotate(18, expand=True)
    card.paste((200, 60, 60), (330, 130), stamp)
    target = io.BytesIO()
    card.save(target, "JPEG", quality=72, dpi=(300, 300))
    return target.getvalue()


def contract():
    file = docx.Document()
    core = file.core_properties
    core.title, core.author, core.language = "Storage agreement", TRUST[0], "en"
    core.created = core.modified = MADE
    core.revision = 1
    file.add_heading("Storage Agreement", 0)
    for words in [
        "Contract number: 2026-14",
        "Date: 16 January 2026",
        "between",
        "Lagerhaus am Kai GmbH, Kaistraße 14, 24103 Kiel, hereinafter the Lessor,",
        "and",
        "Harbour Street Library Trust, Kaistraße 22, 24103 Kiel, hereinafter the Lessee.",
    ]:
        file.add_paragraph(words)
    for title, words in [
        ("1. Scope", "The Lessor lets to the Lessee the dry half of Shed 14, about 60 square metres, for the storage of books and "
                     "shelves. The parties have inspected it together."),
        ("2. Term and termination", "This agreement commences on 1 February 2026 and ends on 31 January 2028. Either party may terminate it "
                                    "in writing; the notice period is three months."),
        ("3. Rent", "The monthly rent is 240.00 EUR, payable in advance on the third working day of each month."),
        ("4. Liability", "The Lessor keeps the roof tight. Neither party is liable for floods. The Lessee insures what it stores."),
        ("5. Governing law", "This agreement shall be governed by the law of Germany. Changes must be made in writing."),
    ]:
        file.add_heading(title, 1)
        file.add_paragraph(words)
    file.add_paragraph("Signed by the parties in Kiel on 16 January 2026.")
    target = io.BytesIO()
    file.save(target)
    return texts.settled(target.getvalue())


def shelves():
    book = openpyxl.Workbook()
    book.properties.creator, book.properties.title = TRUST[0], "Count of the shelves"
    book.properties.created = book.properties.modified = MADE
    sheet = book.active
    sheet.title = "Ground floor"
    sheet.append(["Shelf", "Subject", "Books", "On loan"])
    for cell in sheet[1]:
        cell.font = Font(bold=True)
    for row in [("A1", "Ships and harbours", 412, 37), ("A2", "Local history", 268, 12), ("B1", "Gardens", 190, 41),
                ("B2", "Children", 655, 203)]:
        sheet.append(row)
    sheet.append([None, "Together", 1525, 293])
    target = io.BytesIO()
    book.save(target)
    return texts.settled(target.getvalue())


def statements():
    """Three documents in one file, as they were printed together: a bank statement of two pages, a credit note, a letter."""
    heads = [(56, "Date", False), (130, "Description", False), (370, "Debit", True), (450, "Credit", True), (539, "Balance", True)]
    first, _ = table(250, heads, [
        ("02.01.2026", "Balance brought forward", "", "", "4,210.00"),
        ("05.01.2026", "Membership fees", "", "620.00", "4,830.00"),
        ("07.01.2026", "Harbour grid, heating", "380.00", "", "4,450.00"),
        ("09.01.2026", "Nordwind Papier GmbH, 2025-0998", "512.40", "", "3,937.60")])
    second, end = table(140, heads, [
        ("12.01.2026", "Donation", "", "1,500.00", "5,437.60"),
        ("16.01.2026", "Lagerhaus am Kai GmbH, deposit", "480.00", "", "4,957.60")])
    head = [Mark(56, 66, "Förde-Bank eG", 16, True), Mark(539, 66, "BANK STATEMENT", 12, True, True)]
    bank = [
        [*head, *pairs(56, 110, [("Account holder", TRUST[0]), ("IBAN", "DE02 1005 0000 0054 5404 02"),
                                 ("Statement number", "1/2026"), ("Statement date", "16.01.2026")], 330),
         *pairs(350, 110, [("Period from", "01.01.2026"), ("Period to", "16.01.2026"), ("Currency", "EUR")], 539),
         Mark(56, 215, "Opening balance", bold=True), Mark(539, 215, "4,210.00", bold=True, right=True), *first,
         Mark(539, 800, "Page 1 of 2", 8, right=True)],
        [*head, Mark(56, 100, "Statement number 1/2026, continued"), *second,
         Mark(56, end + 30, "Closing balance", bold=True), Mark(539, end + 30, "4,957.60", bold=True, right=True),
         *pairs(300, end + 60, [("Total credits", "2,120.00"), ("Total debits", "1,372.40")], 539),
         Mark(539, 800, "Page 2 of 2", 8, right=True)],
    ]
    lines, end = table(290, [(56, "Description", False), (360, "Qty", True), (450, "Unit price", True), (539, "Amount", True)], [
        ("Offset paper, packs returned wet", "2", "48.50", "97.00")])
    credit = [
        Mark(56, 70, "Nordwind Papier GmbH", 16, True),
        *column(56, 88, ["Speicherstraße 14, 20457 Hamburg", "VAT no: DE999999995"], 9, 12),
        Mark(539, 70, "CREDIT NOTE", 16, True, True), *column(56, 150, TRUST),
        *pairs(340, 150, [("Credit note number", "G-2026-004"), ("Date", "15 January 2026"), ("Original invoice number", "2025-0998")], 539),
        Mark(56, 250, "We credit what came back:"), *lines,
        *pairs(380, end + 24, [("Net total", "EUR 97.00"), ("VAT 19 %", "EUR 18.43")], 539),
        Mark(380, end + 60, "Grand total", 11, True), Mark(539, end + 60, "EUR 115.43", 11, True, True),
    ]
    letter = [
        Mark(56, 70, "Port Authority of Kiel", 15, True), *column(56, 88, ["Kaistraße 1, 24103 Kiel", "Phone: 0431 000 000"], 9, 12),
        *column(56, 150, TRUST), Mark(539, 150, "Kiel, 13 January 2026", right=True),
        Mark(539, 166, "Our reference: Q-14", right=True),
        Mark(56, 230, "Subject: Repair of the quay wall", 11, True),
        *column(56, 262, [
            "Dear Sir or Madam,", "", "The wall in front of your building will be repaired from 2 March to 17 April. During this time the road",
            "is closed to lorries of more than 12 tonnes. Deliveries are possible from the north side, between seven",
            "and ten in the morning.", "", "Please remove everything that stands within five metres of the edge before the end of February.",
            "", "Yours faithfully,", "", "The Harbour Master"], 10.5, 16),
    ]
    return printed([*bank, credit, letter], "Printed together", TRUST[0])


def receipt():
    """A small receipt, photographed."""
    size = (250, 330)
    marks = [
        Mark(125 - 58, 34, "BISTRO AM KAI", 13, True), Mark(67, 50, "Am Kai 9, 24103 Kiel", 9),
        Mark(24, 82, "Datum: 13.01.2026", 9.5), Mark(24, 98, "Beleg Nr. 1187", 9.5), Rule(24, 108, 226),
        *pairs(24, 128, [("4 Kaffee", "12,80"), ("4 Apfelkuchen", "15,60")], 226, 18), Rule(24, 156, 226),
        Mark(24, 178, "Summe EUR", 12, True), Mark(226, 178, "28,40", 12, True, True),
        *pairs(24, 202, [("Netto", "26,54"), ("MwSt 7 %", "1,86")], 226, 16),
        Mark(24, 246, "Bezahlt mit Karte", 9.5), Mark(24, 276, "Vielen Dank!", 9.5),
    ]
    target = io.BytesIO()
    pictures.scanned(picture(marks, size, 220), 0.6, 31, 12).save(target, "JPEG", quality=40, dpi=(220, 220))
    return target.getvalue()


def mail(e_invoice_pdf):
    """One attachment is in the folder already."""
    message = EmailMessage(policy=policy.SMTP)
    message["From"] = "Nordwind Papier GmbH <office@nordwind-papier.example>"
    message["To"] = "Harbour Street Library Trust <office@library.example>"
    message["Subject"] = "Papers of our visit"
    message["Date"] = "Fri, 16 Jan 2026 10:05:00 +0100"
    message["Message-ID"] = "<2026-0121@nordwind-papier.example>"
    message.set_content("Hamburg, 16 January 2026\n\nDear colleagues,\n\nthank you for the tour on Tuesday. Please find attached the papers that you asked for.\n\n"
                        "Kind regards\nNordwind Papier GmbH\n")
    message.add_attachment(e_invoice_pdf, "application", "pdf", filename="Rechnung-2026-0121.pdf")
    message.add_attachment(receipt(), "image", "jpeg", filename="receipt.jpg")
    message.set_boundary("parts-2026-0121")
    return message.as_bytes()


def all_files():
    e_invoice_pdf, statements_pdf = e_invoice(), statements()
    return {
        "Rechnung-2026-0121.pdf": e_invoice_pdf,
        "bank-credit-letter.pdf": statements_pdf,
        # The download stopped before anything of use had come.
        "delivery-note-771.pdf": payslip()[:420],
        "count-of-shelves.xlsx": shelves(),
        "factura-2026-045.pdf": factura(),
        "id-card.jpg": id_card(),
        "invoice-LE-3312.pdf": lantern(),
        "mail-from-nordwind.eml": mail(e_invoice_pdf),
        "payslip-2026-01.pdf": payslip(),
        "scan-0007.pdf": roof(),
        "storage-agreement.docx": contract(),
    }
