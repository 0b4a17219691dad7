#!/usr/bin/env python3
"""Writes invoices in layouts and wordings of their own, with what they state as truth.json.

    python3 -m venv venv && venv/bin/pip install reportlab
    venv/bin/python make.py OUT --count 160 --seed 7

The layouts are drawn from how invoices look, not from the rules that read them: letterheads left, right, centred and
only in the footer; a window for the envelope; boxes with labels above values; tables of one row; sentences instead of
fields; totals at the right, in a row, or in a box at the top. Four languages, five currencies, nine ways to write a date.
The same seed always gives the same files.
"""

import argparse
import datetime
import json
import pathlib
import random

from reportlab.lib.colors import HexColor, black
from reportlab.lib.pagesizes import A4, LETTER
from reportlab.pdfgen.canvas import Canvas

MONTHS = {
    "en": "January February March April May June July August September October November December".split(),
    "de": "Januar Februar März April Mai Juni Juli August September Oktober November Dezember".split(),
    "fr": "janvier février mars avril mai juin juillet août septembre octobre novembre décembre".split(),
    "es": "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre".split(),
}

WORDS = {
    "en": {
        "title": ["INVOICE", "Invoice", "Tax Invoice", "SALES INVOICE"],
        "number": ["Invoice No.", "Invoice Number", "Invoice #", "Invoice no:", "Number"],
        "date": ["Date", "Invoice Date", "Date of issue", "Issued"],
        "due": ["Due date", "Payment due", "Please pay by"],
        "order": ["Your order", "PO Number", "Order ref."],
        "customer": ["Customer ID", "Account no.", "Client number"],
        "to": ["Bill to", "Billed to", "Customer", "Invoice to"],
        "from": ["From", "Supplier", "Seller"],
        "item": ["Description", "Item", "Service"],
        "quantity": ["Qty", "Quantity", "Hours"],
        "price": ["Unit price", "Rate", "Price"],
        "amount": ["Amount", "Line total", "Total"],
        "net": ["Subtotal", "Net total", "Total excl. VAT"],
        "tax": ["VAT {rate}%", "VAT", "Tax ({rate}%)"],
        "total": ["Total", "Grand total", "Amount due", "Total payable", "Total incl. VAT", "Invoice total"],
        "sentence": "This is invoice {number} of {date}.",
        "terms": "Payment within 14 days without deduction.",
        "thanks": "Thank you for your business.",
        "vat_id": "VAT Reg. No.",
        "page": "Page 1 of 1",
    },
    "de": {
        "title": ["RECHNUNG", "Rechnung", "Honorarrechnung", "Rechnung / Invoice"],
        "number": ["Rechnungsnummer", "Rechnungs-Nr.", "Rechnung Nr.", "Re-Nr.:", "Belegnummer"],
        "date": ["Datum", "Rechnungsdatum", "Ausstellungsdatum", "Belegdatum"],
        "due": ["Fällig am", "Zahlbar bis", "Zahlungsziel"],
        "order": ["Bestellnummer", "Ihr Auftrag", "Ihre Bestellung"],
        "customer": ["Kundennummer", "Kunden-Nr.", "Kd.-Nr."],
        "to": ["Rechnungsempfänger", "Kunde", "Rechnung an", "Auftraggeber"],
        "from": ["Leistungserbringer", "Anbieter", "Lieferant"],
        "item": ["Bezeichnung", "Leistung", "Beschreibung"],
        "quantity": ["Menge", "Anzahl", "Std."],
        "price": ["Einzelpreis", "Preis", "E-Preis"],
        "amount": ["Gesamt", "Betrag", "Gesamtpreis"],
        "net": ["Nettobetrag", "Zwischensumme", "Summe netto"],
        "tax": ["zzgl. {rate} % MwSt.", "Umsatzsteuer {rate} %", "MwSt. {rate}%"],
        "total": ["Gesamtbetrag", "Rechnungsbetrag", "Endbetrag", "Zu zahlender Betrag", "Gesamtsumme", "Bruttobetrag"],
        "sentence": "Für unsere Leistungen stellen wir Ihnen mit Rechnung {number} vom {date} in Rechnung:",
        "terms": "Zahlbar innerhalb von 14 Tagen ohne Abzug.",
        "thanks": "Vielen Dank für Ihren Auftrag.",
        "vat_id": "USt-IdNr.",
        "page": "Seite 1 von 1",
    },
    "fr": {
        "title": ["FACTURE", "Facture", "Facture de vente", "Note d'honoraires"],
        "number": ["Facture n°", "N° de facture", "Numéro de facture", "Numéro", "Réf. facture"],
        "date": ["Date", "Date de facturation", "Date d'émission", "Émise le"],
        "due": ["Échéance", "Date d'échéance", "À régler avant le"],
        "order": ["Votre commande", "N° de commande", "Bon de commande"],
        "customer": ["Code client", "N° client", "Réf. client"],
        "to": ["Facturé à", "Client", "Adresse de facturation", "Destinataire"],
        "from": ["Émetteur", "Prestataire", "Vendeur"],
        "item": ["Désignation", "Description", "Prestation"],
        "quantity": ["Qté", "Quantité", "Heures"],
        "price": ["Prix unitaire", "P.U. HT", "Prix"],
        "amount": ["Montant", "Montant HT", "Total HT"],
        "net": ["Total HT", "Sous-total", "Montant hors taxes"],
        "tax": ["TVA {rate} %", "TVA ({rate}%)", "Montant TVA"],
        "total": ["Total TTC", "Net à payer", "Montant TTC", "Total à payer", "Montant total"],
        "sentence": "Facture {number} du {date} relative à votre commande.",
        "terms": "Paiement à 30 jours, sans escompte.",
        "thanks": "Nous vous remercions de votre confiance.",
        "vat_id": "N° TVA intracommunautaire",
        "page": "Page 1/1",
    },
    "es": {
        "title": ["FACTURA", "Factura", "Factura de venta", "Minuta"],
        "number": ["Factura nº", "Nº de factura", "Número de factura", "Número", "Ref. factura"],
        "date": ["Fecha", "Fecha de emisión", "Fecha de factura", "Emitida el"],
        "due": ["Vencimiento", "Fecha de vencimiento", "Pagar antes del"],
        "order": ["Su pedido", "Nº de pedido", "Pedido"],
        "customer": ["Código de cliente", "Nº cliente", "Cliente nº"],
        "to": ["Cliente", "Facturar a", "Datos del cliente", "Destinatario"],
        "from": ["Emisor", "Proveedor", "Vendedor"],
        "item": ["Concepto", "Descripción", "Servicio"],
        "quantity": ["Cantidad", "Cant.", "Horas"],
        "price": ["Precio", "Precio unitario", "Tarifa"],
        "amount": ["Importe", "Total", "Subtotal"],
        "net": ["Base imponible", "Subtotal", "Total sin IVA"],
        "tax": ["IVA {rate} %", "IVA ({rate}%)", "Cuota IVA"],
        "total": ["Total factura", "Total", "Total a pagar", "Importe total", "TOTAL CON IVA"],
        "sentence": "Factura {number} de fecha {date} por los servicios prestados.",
        "terms": "Pago a 30 días por transferencia.",
        "thanks": "Gracias por su confianza.",
        "vat_id": "NIF-IVA",
        "page": "Página 1 de 1",
    },
}

SELLERS = {
    "en": [("Harbour & Vale Ltd", "harbourvale.example"), ("Northgate Print Works", "northgateprint.example"),
           ("Quillfeather Design Studio", "quillfeather.example"), ("Bramley Logistics PLC", "bramley-logistics.example"),
           ("Silverline Plumbing Inc.", "silverlineplumbing.example"), ("The Copper Kettle Catering Co.", "copperkettle.example")],
    "de": [("Birkenhof Gartenbau GmbH", "birkenhof-gartenbau.example"), ("Schreinerei Lindental", "schreinerei-lindental.example"),
           ("Nordlicht Software UG (haftungsbeschränkt)", "nordlicht-software.example"), ("Kieswerk Auental AG", "kieswerk-auental.example"),
           ("Textbüro am Markt", "textbuero-markt.example"), ("Weber & Thal Elektrotechnik OHG", "weber-thal.example")],
    "fr": [("Menuiserie du Vallon SARL", "menuiserie-vallon.example"), ("Atelier Papier Bleu", "papierbleu.example"),
           ("Boréal Informatique SAS", "boreal-informatique.example"), ("Les Jardins de Sologne", "jardins-sologne.example"),
           ("Transports Chardonnet SA", "chardonnet.example"), ("Cabinet Morvan Conseil EURL", "morvanconseil.example")],
    "es": [("Talleres Sierra Clara S.L.", "sierraclara.example"), ("Imprenta del Puerto", "imprentapuerto.example"),
           ("Montajes Eléctricos Alameda S.A.", "alameda.example"), ("Estudio Luz de Luna", "estudioluzdeluna.example"),
           ("Aceites Valdehierro S.L.U.", "valdehierro.example"), ("Transportes Guadalmar S.A.", "guadalmar.example")],
}

BUYERS = {
    "en": ["Ashdown Books Ltd", "Riverside Clinic", "Meadow School Trust"],
    "de": ["Buchhandlung Seeblick KG", "Stadtwerke Musterau GmbH", "Praxis am Kanal"],
    "fr": ["Librairie des Arts SARL", "Mairie de Valbrun", "Clinique Beaulieu SAS"],
    "es": ["Librería Central S.L.", "Ayuntamiento de Valverde", "Clínica Mirador S.A."],
}

TOWNS = {
    "en": [("14 Mill Lane", "York YO1 7HB"), ("220 Station Road", "Leeds LS2 8JR"), ("9 Castle Street", "Bristol BS1 3AD")],
    "us": [("1200 Oak Avenue", "Austin, TX 78701"), ("45 Harbor Drive", "Portland, ME 04101"), ("310 Maple Street", "Denver, CO 80203")],
    "de": [("Lindenstraße 12", "50674 Köln"), ("Am Hafen 3", "24103 Kiel"), ("Talweg 45a", "79098 Freiburg")],
    "fr": [("12 rue des Lilas", "69003 Lyon"), ("8 avenue Jean Jaurès", "31000 Toulouse"), ("3 place du Marché", "35000 Rennes")],
    "es": [("Calle Mayor 21", "28013 Madrid"), ("Avenida del Mar 7", "46011 Valencia"), ("Plaza Nueva 2", "41001 Sevilla")],
}

ITEMS = {
    "en": ["Web hosting, 12 months", "Printed flyers A5", "Consulting", "Oak shelf", "Translation of manual", "Repair of pump"],
    "de": ["Heckenschnitt", "Druck von Faltblättern", "Beratung vor Ort", "Regalboden Eiche", "Übersetzung", "Wartung der Anlage"],
    "fr": ["Hébergement annuel", "Impression de dépliants", "Conseil", "Étagère en chêne", "Traduction", "Entretien de la chaudière"],
    "es": ["Alojamiento web anual", "Impresión de folletos", "Asesoría", "Estante de roble", "Traducción", "Mantenimiento"],
}

RATES = {"en": [20, 0], "us": [8, 6], "de": [19, 7], "fr": [20, 10], "es": [21, 10], "ch": [8]}
SIGNS = {"EUR": "€", "GBP": "£", "USD": "$", "CHF": "CHF", "CAD": "CA$"}


class Invoice:
    """One made-up invoice: what it says, and how its country writes it."""

    def __init__(self, rng, language, index):
        self.rng = rng
        self.language = language
        self.words = {key: rng.choice(value) if isinstance(value, list) else value for key, value in WORDS[language].items()}
        self.country = language
        if language == "en":
            self.country = rng.choice(["en", "en", "us"])
        if language == "de":
            self.country = rng.choice(["de", "de", "de", "ch"])
        self.currency = {"en": "GBP", "us": "USD", "ch": "CHF"}.get(self.country, "EUR")
        self.seller, self.domain = rng.choice(SELLERS[language])
        self.buyer = rng.choice(BUYERS[language])
        towns = TOWNS.get(self.country, TOWNS[language])
        self.seller_town, self.buyer_town = rng.sample(towns, 2)
        self.date = datetime.date(2019 + rng.randrange(7), rng.randrange(1, 13), rng.randrange(1, 29))
        self.due = self.date + datetime.timedelta(days=rng.choice([14, 21, 30]))
        self.number = self.make_number(index)
        self.rate = rng.choice(RATES[self.country])
        self.items = []
        for name in rng.sample(ITEMS[language], rng.randrange(2, 6)):
            quantity = rng.randrange(1, 25)
            price = rng.randrange(350, 48000)
            self.items.append((name, quantity, price, quantity * price))
        self.net = sum(item[3] for item in self.items)
        self.tax = (self.net * self.rate * 2 + 100) // 200
        self.total = self.net + self.tax
        self.date_style = rng.randrange(3)
        self.sign_place = rng.choice(["behind", "before", "none"])
        self.phone = {"en": "+44 20 7946 0{:03d}", "us": "(512) 555-0{:03d}", "de": "+49 221 9988{:03d}", "ch": "+41 44 555 0{:03d}",
                      "fr": "+33 1 99 00 {:03d}", "es": "+34 91 555 0{:03d}"}[self.country].format(rng.randrange(100, 999))

    def make_number(self, index):
        rng = self.rng
        running = rng.randrange(100, 99999)
        year = self.date.year
        return rng.choice([f"{running}", f"INV-{running:05d}", f"{year}-{running:04d}", f"{year}/{running}", f"R{year}{index:04d}",
                           f"A-{running}-{rng.randrange(10)}", f"F{running}", f"{year}{self.date.month:02d}-{index:03d}"])

    def money(self, cents, sign=True):
        whole, rest = divmod(abs(cents), 100)
        grouped = f"{whole:,}"
        if self.country in ("en", "us"):
            text = f"{grouped}.{rest:02d}"
        elif self.country == "ch":
            text = f"{grouped}.{rest:02d}".replace(",", "'")
        elif self.country == "fr":
            text = f"{grouped},{rest:02d}".replace(",", " ", grouped.count(","))
        else:
            text = f"{grouped.replace(',', '.')},{rest:02d}"
        mark = SIGNS[self.currency]
        if not sign or self.sign_place == "none":
            return text
        if self.country in ("en", "us"):
            return mark + text
        return f"{mark} {text}" if self.sign_place == "before" else f"{text} {mark}"

    def total_text(self):
        """The total always names its currency; only the rows may leave it out."""
        text = self.money(self.total, sign=False)
        mark = SIGNS[self.currency]
        if self.country in ("en", "us"):
            return self.rng.choice([f"{mark}{text}", f"{text} {self.currency}"])
        return self.rng.choice([f"{text} {mark}", f"{self.currency} {text}", f"{mark} {text}"])

    def day(self, date):
        month = MONTHS[self.language][date.month - 1]
        if self.country == "us":
            return [f"{date:%m/%d/%Y}", f"{month} {date.day}, {date.year}", f"{date:%b} {date.day:02d}, {date.year}"][self.date_style]
        if self.language == "en":
            return [f"{date:%d/%m/%Y}", f"{date.day} {month} {date.year}", f"{date:%Y-%m-%d}"][self.date_style]
        if self.language == "de":
            return [f"{date:%d.%m.%Y}", f"{date.day}. {month} {date.year}", f"{date:%d.%m.%y}"][self.date_style]
        if self.language == "fr":
            return [f"{date:%d/%m/%Y}", f"{date.day} {month} {date.year}", f"{date:%d-%m-%Y}"][self.date_style]
        return [f"{date:%d/%m/%Y}", f"{date.day} de {month} de {date.year}", f"{date:%d-%m-%Y}"][self.date_style]

    def tax_label(self):
        return self.words["tax"].format(rate=self.rate)

    def truth(self, name, layout):
        return {"file": name, "layout": layout, "language": self.language, "number": self.number, "issue_date": self.date.isoformat(),
                "grand_total": f"{self.total // 100}.{self.total % 100:02d}", "currency": self.currency, "seller": self.seller}


class Sheet:
    """A page on which y grows downwards."""

    def __init__(self, path, size, seed):
        self.canvas = Canvas(str(path), pagesize=size, invariant=1)
        self.width, self.height = size
        self.font = ["Helvetica", "Times-Roman", "Helvetica"][seed % 3]
        self.bold = {"Helvetica": "Helvetica-Bold", "Times-Roman": "Times-Bold"}[self.font]

    def text(self, x, y, text, size=9.5, bold=False, align="left", color=black):
        self.canvas.setFillColor(color)
        self.canvas.setFont(self.bold if bold else self.font, size)
        draw = {"left": self.canvas.drawString, "right": self.canvas.drawRightString, "center": self.canvas.drawCentredString}[align]
        draw(x, self.height - y, text)

    def line(self, x0, y, x1, width=0.5):
        self.canvas.setLineWidth(width)
        self.canvas.line(x0, self.height - y, x1, self.height - y)

    def box(self, x, y, width, height, fill=None):
        self.canvas.setLineWidth(0.6)
        if fill:
            self.canvas.setFillColor(HexColor(fill))
        self.canvas.rect(x, self.height - y - height, width, height, fill=1 if fill else 0, stroke=0 if fill else 1)

    def lines(self, x, y, lines, step=13, **looks):
        for line in lines:
            self.text(x, y, line, **looks)
            y += step
        return y

    def save(self):
        self.canvas.save()


def items(sheet, invoice, y, left, right, ruled=True, with_sign=True):
    """A table of items; gives back where it ends."""
    words = invoice.words
    columns = [right - 210, right - 120, right]
    if ruled:
        sheet.line(left, y - 11, right)
    sheet.text(left, y, words["item"], bold=True)
    for x, key in zip(columns, ["quantity", "price", "amount"]):
        sheet.text(x, y, words[key], bold=True, align="right")
    if ruled:
        sheet.line(left, y + 4, right)
    y += 18
    for name, quantity, price, amount in invoice.items:
        sheet.text(left, y, name)
        sheet.text(columns[0], y, str(quantity), align="right")
        sheet.text(columns[1], y, invoice.money(price, with_sign), align="right")
        sheet.text(columns[2], y, invoice.money(amount, with_sign), align="right")
        y += 16
    if ruled:
        sheet.line(left, y - 10, right)
    return y + 8


def totals(sheet, invoice, y, label_x, right, gap=16):
    """Totals below each other; gives back where they end."""
    words = invoice.words
    for label, text in [(words["net"], invoice.money(invoice.net)), (invoice.tax_label(), invoice.money(invoice.tax))]:
        sheet.text(label_x, y, label)
        sheet.text(right, y, text, align="right")
        y += gap
    sheet.text(label_x, y, words["total"], bold=True, size=11)
    sheet.text(right, y, invoice.total_text(), bold=True, size=11, align="right")
    return y + gap


def footer(sheet, invoice, y):
    middle = sheet.width / 2
    sheet.line(60, y - 12, sheet.width - 60)
    town = invoice.seller_town
    sheet.text(middle, y, f"{invoice.seller} | {town[0]} | {town[1]} | {invoice.phone}", size=7.5, align="center")
    sheet.text(middle, y + 10, f"info@{invoice.domain}   www.{invoice.domain}", size=7.5, align="center")


def letterhead_left(sheet, invoice):
    words = invoice.words
    sheet.text(56, 70, invoice.seller, size=16, bold=True)
    sheet.lines(56, 86, [*invoice.seller_town, invoice.phone, f"office@{invoice.domain}"], size=8.5, step=11)
    sheet.text(sheet.width - 56, 70, words["title"], size=20, align="right", color=HexColor("#335577"))
    y = 160
    for label, value in [(words["number"], invoice.number), (words["date"], invoice.day(invoice.date)),
                         (words["order"], "4500" + invoice.number[-2:]), (words["due"], invoice.day(invoice.due))]:
        sheet.text(360, y, label)
        sheet.text(sheet.width - 56, y, value, align="right")
        y += 14
    sheet.text(56, 160, words["to"] + ":", bold=True)
    sheet.lines(56, 174, [invoice.buyer, *invoice.buyer_town])
    y = items(sheet, invoice, 270, 56, sheet.width - 56)
    y = totals(sheet, invoice, y, 360, sheet.width - 56)
    sheet.text(56, y + 30, words["terms"])


def window_envelope(sheet, invoice):
    words = invoice.words
    town = invoice.seller_town
    sheet.text(sheet.width - 60, 60, invoice.seller, size=13, bold=True, align="right")
    sheet.text(60, 128, f"{invoice.seller} · {town[0]} · {town[1]}", size=6.5)
    sheet.lines(60, 146, [invoice.buyer, *invoice.buyer_town], size=10)
    y = 146
    for label, value in [(words["customer"], str(10000 + len(invoice.buyer) * 37)), (words["number"], invoice.number), (words["date"], invoice.day(invoice.date))]:
        sheet.text(380, y, label.rstrip(":") + ":")
        sheet.text(475, y, value)
        y += 13
    sheet.text(60, 250, f"{words['title']} {invoice.number}", size=13, bold=True)
    sheet.text(60, 272, words["thanks"])
    y = items(sheet, invoice, 304, 60, sheet.width - 60)
    y = totals(sheet, invoice, y, 330, sheet.width - 60)
    sheet.text(60, y + 24, words["terms"])
    footer(sheet, invoice, sheet.height - 60)


def boxes_in_a_row(sheet, invoice):
    words = invoice.words
    sheet.box(0, 0, sheet.width, 70, fill="#224466")
    sheet.text(50, 45, words["title"], size=24, bold=True, color=HexColor("#ffffff"))
    sheet.text(sheet.width - 50, 42, invoice.seller, size=12, align="right", color=HexColor("#ffffff"))
    x = 50
    for label, value in [(words["number"], invoice.number), (words["date"], invoice.day(invoice.date)),
                         (words["due"], invoice.day(invoice.due)), (words["customer"], "K-20" + str(len(invoice.seller)))]:
        sheet.text(x, 100, label, size=7.5, color=HexColor("#667788"))
        sheet.text(x, 114, value, size=10.5, bold=True)
        x += 128
    sheet.text(50, 150, words["to"], size=7.5, color=HexColor("#667788"))
    sheet.lines(50, 164, [invoice.buyer, *invoice.buyer_town])
    y = items(sheet, invoice, 240, 50, sheet.width - 50, ruled=False)
    y = totals(sheet, invoice, y + 6, 340, sheet.width - 50, gap=18)
    sheet.lines(50, y + 30, [words["terms"], words["thanks"]])
    footer(sheet, invoice, sheet.height - 50)


def freelancer(sheet, invoice):
    words = invoice.words
    middle = sheet.width / 2
    sheet.text(middle, 64, invoice.seller, size=14, align="center")
    sheet.text(middle, 80, ", ".join(invoice.seller_town), size=8.5, align="center")
    sheet.text(middle, 92, f"hello@{invoice.domain}", size=8.5, align="center")
    sheet.lines(70, 140, [invoice.buyer, *invoice.buyer_town])
    sheet.text(70, 220, words["sentence"].format(number=invoice.number, date=invoice.day(invoice.date)))
    y = items(sheet, invoice, 256, 70, sheet.width - 70, ruled=False, with_sign=False)
    y = totals(sheet, invoice, y, 300, sheet.width - 70)
    sheet.lines(70, y + 26, [words["terms"], words["thanks"]])


def table_of_one_row(sheet, invoice):
    words = invoice.words
    sheet.lines(48, 60, [invoice.seller, *invoice.seller_town, invoice.phone], step=12)
    sheet.text(sheet.width - 48, 64, words["title"], size=22, bold=True, align="right")
    left = sheet.width - 248
    sheet.box(left, 84, 200, 36)
    sheet.line(left, 102, left + 200)
    for x, label, value in [(left + 50, words["date"], invoice.day(invoice.date)), (left + 150, words["number"], invoice.number)]:
        sheet.text(x, 97, label, size=8.5, align="center")
        sheet.text(x, 115, value, align="center")
    sheet.box(48, 150, 220, 64)
    sheet.text(54, 162, words["to"], size=8.5)
    sheet.line(48, 167, 268)
    sheet.lines(54, 180, [invoice.buyer, *invoice.buyer_town], step=12)
    y = items(sheet, invoice, 250, 54, sheet.width - 54)
    y = totals(sheet, invoice, y, sheet.width - 220, sheet.width - 54)
    sheet.text(54, y + 40, words["thanks"])


def from_and_to(sheet, invoice):
    words = invoice.words
    sheet.text(60, 70, words["title"].upper(), size=18, bold=True)
    sheet.text(60, 110, words["from"], bold=True, size=8.5)
    sheet.lines(60, 124, [invoice.seller, *invoice.seller_town])
    sheet.text(320, 110, words["to"], bold=True, size=8.5)
    sheet.lines(320, 124, [invoice.buyer, *invoice.buyer_town])
    y = 190
    for label, value in [(words["number"], invoice.number), (words["date"], invoice.day(invoice.date)), (words["due"], invoice.day(invoice.due))]:
        sheet.text(60, y, label.rstrip(":") + ":", bold=True)
        sheet.text(190, y, value)
        y += 14
    y = items(sheet, invoice, 260, 60, sheet.width - 60)
    y = totals(sheet, invoice, y, 350, sheet.width - 60)
    sheet.text(60, sheet.height - 50, words["page"], size=7.5)


def box_at_the_top(sheet, invoice):
    words = invoice.words
    sheet.text(56, 66, f"{words['title']} {words['number']} {invoice.number}" if "°" in words["number"] or "º" in words["number"] or "." in words["number"] else words["title"], size=14, bold=True)
    sheet.box(330, 86, sheet.width - 386, 70, fill="#eef2f6")
    sheet.text(342, 106, words["total"], size=9)
    sheet.text(342, 128, invoice.total_text(), size=17, bold=True)
    sheet.text(342, 146, f"{words['due']}: {invoice.day(invoice.due)}", size=8.5)
    sheet.lines(56, 100, [f"{words['number'].rstrip(':')}: {invoice.number}", f"{words['date']}: {invoice.day(invoice.date)}"], step=14)
    sheet.lines(56, 150, [invoice.buyer, *invoice.buyer_town])
    y = items(sheet, invoice, 240, 56, sheet.width - 56)
    for label, cents in [(words["net"], invoice.net), (invoice.tax_label(), invoice.tax)]:
        sheet.text(sheet.width - 200, y, label)
        sheet.text(sheet.width - 56, y, invoice.money(cents), align="right")
        y += 15
    sheet.text(56, y + 24, words["terms"])
    footer(sheet, invoice, sheet.height - 70)


def totals_in_a_row(sheet, invoice):
    words = invoice.words
    town = invoice.seller_town
    sheet.text(50, 56, invoice.seller.upper(), size=12, bold=True)
    sheet.text(50, 70, f"{town[0]}, {town[1]}", size=8)
    sheet.text(330, 110, words["to"], size=8)
    sheet.lines(330, 124, [invoice.buyer, *invoice.buyer_town])
    sheet.text(50, 124, f"{words['number']} {invoice.number}", size=12, bold=True)
    sheet.text(50, 142, f"{words['date']} {invoice.day(invoice.date)}")
    y = items(sheet, invoice, 220, 50, sheet.width - 50, with_sign=False)
    y += 20
    sheet.box(50, y - 14, sheet.width - 100, 40)
    for x, label, text in [(150, words["net"], invoice.money(invoice.net, False)), (320, invoice.tax_label(), invoice.money(invoice.tax, False)),
                           (sheet.width - 60, words["total"], invoice.total_text())]:
        sheet.text(x, y, label, size=8, align="right")
        sheet.text(x, y + 16, text, size=10, bold=True, align="right")
    sheet.text(50, y + 60, words["terms"])


LAYOUTS = [letterhead_left, window_envelope, boxes_in_a_row, freelancer, table_of_one_row, from_and_to, box_at_the_top, totals_in_a_row]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--count", type=int, default=160)
    parser.add_argument("--seed", type=int, default=7)
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    truths = []
    languages = list(WORDS)
    for index in range(arguments.count):
        rng = random.Random(f"{arguments.seed}/{index}")
        layout = LAYOUTS[index % len(LAYOUTS)]
        invoice = Invoice(rng, languages[index // len(LAYOUTS) % len(languages)], index)
        name = f"{index:04d}.pdf"
        size = LETTER if invoice.country == "us" else A4
        sheet = Sheet(arguments.out / name, size, index // 3)
        layout(sheet, invoice)
        sheet.save()
        truths.append(invoice.truth(name, layout.__name__))
    (arguments.out / "truth.json").write_text(json.dumps(truths, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
