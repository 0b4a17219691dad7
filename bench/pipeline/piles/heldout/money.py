"""Held-out papers about money. No rule was written on these words and layouts."""

from sheet import LETTER, TILL_ROLL, Sheet

INVOICE = {
    "en": dict(title=["Tax Invoice", "Sales Invoice", "Invoice"], no="Invoice #", date="Date of issue", to="Sold to", due="Pay by", item="Article",
               qty="Units", price="Rate", sum="Line total", net="Net amount", tax="VAT 20 %", total="Balance due",
               note="Please quote the invoice number with your transfer.", carried="Carried over", page="Sheet {0}/{1}", vat="VAT reg. no."),
    "es": dict(title=["Factura de venta", "Factura", "FACTURA ORDINARIA"], no="Factura n.º", date="Fecha de expedición", to="Facturar a", due="Fecha de pago",
               item="Artículo", qty="Uds.", price="P. unitario", sum="Total línea", net="Neto", tax="IVA 21 %", total="Importe a pagar",
               note="Indique el número de factura en su transferencia.", carried="Suma anterior", page="Hoja {0}/{1}", vat="N.I.F."),
    "de": dict(title=["Rechnung", "Schlussrechnung", "Teilrechnung"], no="Rechnungs-Nr.", date="Belegdatum", to="Rechnungsempfänger", due="Zahlbar bis",
               item="Artikel", qty="Anz.", price="Preis/Stk.", sum="Summe", net="Nettobetrag", tax="19 % USt.", total="Zahlbetrag",
               note="Bitte geben Sie bei der Überweisung die Rechnungsnummer an.", carried="Zwischensumme Vorseite", page="Blatt {0}/{1}", vat="USt-ID"),
    "fr": dict(title=["Facture", "Facture de vente", "FACTURE"], no="Facture n°", date="Date d'émission", to="Adresse de facturation", due="À régler avant le",
               item="Article", qty="Nb", price="P.U. HT", sum="Total HT", net="Montant HT", tax="TVA 20 %", total="Net à payer",
               note="Merci de rappeler le numéro de facture lors du règlement.", carried="Report", page="Feuillet {0}/{1}", vat="N° TVA intracom."),
}
CREDIT = {
    "en": dict(title=["Credit Memo", "Credit Note", "Sales Credit"], no="Credit memo #", ref="Against invoice", reason="Returned goods",
               total="Amount credited", note="The amount will be set off against your next order."),
    "es": dict(title=["Nota de crédito", "Factura de abono", "Abono"], no="Abono n.º", ref="Corrige la factura", reason="Mercancía devuelta",
               total="Total abonado", note="El importe se descontará de su próximo pedido."),
    "de": dict(title=["Gutschrift", "Rechnungskorrektur", "Stornorechnung"], no="Beleg-Nr.", ref="zur Rechnung", reason="Zurückgesandte Ware",
               total="Gutschriftbetrag", note="Der Betrag wird mit Ihrer nächsten Bestellung verrechnet."),
    "fr": dict(title=["Avoir", "Facture d'avoir", "Note de crédit"], no="Avoir n°", ref="Sur facture", reason="Marchandise retournée",
               total="Montant de l'avoir", note="Ce montant sera déduit de votre prochaine commande."),
}
RECEIPT = {
    "en": dict(title="Till receipt", total="Amount due", cash="Cash tendered", change="Change given", card="Card payment", thanks="Thanks for shopping with us!",
               served="Operator", got="Payment receipt", from_="Payment received from", for_="In payment of", sign="Received by", tax="incl. VAT"),
    "es": dict(title="Factura simplificada", total="A pagar", cash="Efectivo", change="Su cambio", card="Tarjeta", thanks="¡Gracias por su visita!",
               served="Le atendió", got="Recibo de pago", from_="Hemos recibido de", for_="Por concepto de", sign="Recibí", tax="IVA incluido"),
    "de": dict(title="Kassenbon", total="SUMME", cash="Gegeben BAR", change="Rückgeld", card="Girocard", thanks="Vielen Dank für Ihren Besuch!",
               served="Bediener", got="Quittung", from_="Betrag erhalten von", for_="für", sign="Stempel und Unterschrift des Empfängers", tax="inkl. MwSt."),
    "fr": dict(title="Ticket de vente", total="A PAYER", cash="Espèces reçues", change="Monnaie rendue", card="CB", thanks="Merci, à bientôt !",
               served="Caissier", got="Reçu de paiement", from_="Reçu de la part de", for_="Motif du paiement", sign="Signature du bénéficiaire", tax="TVA incluse"),
}
PAYSLIP = {
    "en": dict(title=["Pay advice", "Earnings statement"], who="Name", no="Staff no.", period="Month", role="Job title", pay="Basic pay", extra="Overtime pay",
               bonus="Holiday pay", taxes=["PAYE tax", "NI contribution", "Pension scheme"], gross="Gross earnings", off="Total deductions", net="Take-home pay",
               earned="Earnings", less="Deductions", tax_no="Tax code"),
    "es": dict(title=["Hoja de salario", "Nómina mensual"], who="Nombre", no="N.º de matrícula", period="Mes", role="Puesto", pay="Sueldo base", extra="Horas extras",
               bonus="Plus de transporte", taxes=["Retención IRPF", "Contingencias comunes", "Desempleo"], gross="Total bruto", off="Total descuentos",
               net="Neto a percibir", earned="Haberes", less="Descuentos", tax_no="N.º afiliación S.S."),
    "de": dict(title=["Entgeltabrechnung", "Verdienstabrechnung"], who="Name", no="Pers.-Nr.", period="Monat", role="Tätigkeit", pay="Gehalt", extra="Überstunden",
               bonus="Fahrgeld", taxes=["Lohnsteuer", "Krankenversicherung AN", "Rentenversicherung AN"], gross="Gesamtbrutto", off="Abzüge gesamt",
               net="Auszahlungsbetrag", earned="Bezüge", less="Abzüge", tax_no="St.-Kl."),
    "fr": dict(title=["Fiche de paie", "Bulletin de salaire"], who="Nom", no="Matricule", period="Mois", role="Fonction", pay="Salaire mensuel", extra="Heures sup.",
               bonus="Indemnité transport", taxes=["Assurance maladie", "Assurance vieillesse", "CSG déductible"], gross="Total brut", off="Total retenues",
               net="Net à verser", earned="Gains", less="Retenues", tax_no="N° Sécurité sociale"),
}
BANK = {
    "en": dict(title=["Statement of account", "Account summary"], no="Account no.", start="Balance brought forward", end="Balance carried forward",
               cols=["Date", "Details", "Paid out", "Paid in", "Balance"], moves=["Direct debit water works", "Card purchase 4411", "Standing order rent",
               "Salary credit", "ATM withdrawal", "Transfer to savings"], bank="River Bank plc", of="Statement period"),
    "es": dict(title=["Extracto de movimientos", "Extracto mensual"], no="N.º de cuenta", start="Saldo inicial", end="Saldo final",
               cols=["F. operación", "Concepto", "Cargo", "Abono", "Saldo"], moves=["Adeudo agua", "Compra tarjeta 4411", "Orden permanente alquiler",
               "Abono nómina", "Reintegro cajero", "Traspaso a ahorro"], bank="Banco del Río", of="Periodo del extracto"),
    "de": dict(title=["Kontoauszug", "Umsatzübersicht"], no="Konto-Nr.", start="Alter Saldo", end="Neuer Saldo",
               cols=["Buchung", "Vorgang", "Belastung", "Gutschrift", "Saldo"], moves=["Lastschrift Wasserwerk", "Kartenzahlung 4411", "Dauerauftrag Miete",
               "Gehaltseingang", "Bargeldauszahlung", "Umbuchung Sparkonto"], bank="Flussbank eG", of="Auszugszeitraum"),
    "fr": dict(title=["Relevé de compte", "Relevé des opérations"], no="N° de compte", start="Solde précédent", end="Nouveau solde",
               cols=["Date", "Nature de l'opération", "Débit", "Crédit", "Solde"], moves=["Prélèvement eau", "Paiement carte 4411", "Virement permanent loyer",
               "Virement salaire", "Retrait DAB", "Virement épargne"], bank="Banque du Fleuve", of="Période du relevé"),
}


def item_rows(w, words, count):
    goods, net = w.goods(count)
    rows = [[name, str(quantity), w.figure(price), w.figure(total)] for name, quantity, price, total in goods]
    return rows, net, [row[3] for row in goods]


def totals(s, w, words, net, total_label):
    tax = net * 20 // 100
    for label, cents, bold in [(words["net"], net, False), (words["tax"], tax, False), (total_label, net + tax, True)]:
        s.room(16)
        s.y += 14
        s.put(s.right - 130, s.y, label, 10, bold, "right")
        s.put(s.right, s.y, w.money(cents), 10, bold, "right")
    s.gap(14)


def invoice_right_head(w):
    """The sender's name at the right, the title large below the addresses."""
    words = INVOICE[w.language]
    s = Sheet("vera", margin=50)
    number = w.number("F")
    s.line(w.company, 15, True, "right")
    s.lines([*w.address(), w.phone(), f"{words['vat']} {w.digits(9)}"], size=8, align="right", after=2)
    s.gap(20)
    s.line(words["to"], 8, after=6)
    s.lines([w.client, *w.address()])
    s.gap(24)
    s.line(w.pick(words["title"]), 20, True)
    s.pairs([(words["no"], number), (words["date"], w.date()), (words["due"], w.date(14))], colon="", offset=130)
    s.gap(12)
    rows, net, sums = item_rows(w, words, w.rng.choice([3, 5, 8, 40, 62]))

    def carry(sheet, index, after):
        if after:
            sheet.line(f"{words['no']} {number}", 8)
        sheet.gap(4)
        sheet.put(sheet.right, sheet.y + 8, f"{words['carried']} {w.money(sum(sums[:index]))}", 9, False, "right")
        sheet.gap(16)

    s.table([(words["item"], 250, "left"), (words["qty"], 60, "right"), (words["price"], 90, "right"), (words["sum"], 95, "right")],
            rows, looks="lines", on_break=carry)
    totals(s, w, words, net, words["total"])
    s.paragraph(words["note"], 9)
    s.footer = lambda sheet, page, pages: sheet.put(sheet.right, 815, words["page"].format(page, pages), 8, False, "right")
    return s


def invoice_boxes(w):
    """A grey band with the title, facts in a grid, the bank below."""
    words = INVOICE[w.language]
    s = Sheet("times", LETTER if w.language == "en" else (595, 842), margin=44)
    s.box(s.margin, 40, s.right, 70, 0.85)
    s.put(s.margin + 8, 62, w.pick(words["title"]).upper(), 18, True)
    s.put(s.right - 8, 62, w.company, 12, True, "right")
    s.y = 84
    s.table([(words["no"], 160, "left"), (words["date"], 160, "left"), (words["due"], 160, "left")],
            [[w.number(), w.date(style="short"), w.date(30, "short")]], looks="grid", size=10)
    s.line(f"{words['to']}:", 10, True)
    s.lines([w.client, *w.address()])
    s.gap(14)
    rows, net, _ = item_rows(w, words, w.rng.choice([2, 6, 11]))
    s.table([("#", 30, "left"), (words["item"], 230, "left"), (words["qty"], 60, "right"), (words["price"], 80, "right"),
             (words["sum"], 90, "right")], [[str(n), *row] for n, row in enumerate(rows, 1)], looks="grid")
    totals(s, w, words, net, words["total"])
    s.paragraph(words["note"])
    s.rule()
    s.lines([f"IBAN {w.iban()}", f"{words['vat']} {w.digits(9)}"], size=8)
    return s


def credit_like_invoice(w):
    words, bill = CREDIT[w.language], INVOICE[w.language]
    s = Sheet("vera", margin=50)
    s.line(w.company, 13, True)
    s.lines(w.address(), size=8, after=2)
    s.gap(30)
    s.lines([w.client, *w.address()])
    s.gap(26)
    s.line(w.pick(words["title"]), 18, True)
    s.pairs([(words["no"], w.number("C")), (bill["date"], w.date()), (words["ref"], w.number("F"))], offset=140)
    s.gap(12)
    rows, net, _ = item_rows(w, bill, w.rng.choice([1, 2, 4]))
    s.table([(bill["item"], 250, "left"), (bill["qty"], 60, "right"), (bill["price"], 90, "right"), (bill["sum"], 95, "right")], rows)
    totals(s, w, bill, -net, words["total"])
    s.paragraph(f"{words['reason']}. {words['note']}")
    return s


def credit_short(w):
    words, bill = CREDIT[w.language], INVOICE[w.language]
    s = Sheet("times", margin=70)
    s.line(w.pick(words["title"]).upper(), 22, True, "center", after=16)
    s.line(f"{w.company} · {' · '.join(w.address())}", 9, align="center", after=20)
    s.pairs([(words["no"], w.number()), (bill["date"], w.date()), (bill["to"], w.client), (words["ref"], f"{w.number()} / {w.date(-20)}")], offset=170)
    s.gap(10)
    amount = w.amount(40, 4000)
    s.table([(bill["item"], 330, "left"), (bill["sum"], 120, "right")], [[words["reason"], w.money(-amount)]], looks="grid", size=11)
    s.pairs([(words["total"], w.money(-amount))], size=13)
    s.paragraph(words["note"])
    return s


def receipt_roll(w):
    words = RECEIPT[w.language]
    goods, total = w.goods(w.rng.randrange(3, 10))
    s = Sheet("vera", (TILL_ROLL, 250 + 14 * len(goods)), margin=14)
    s.line(w.company, 10, True, "center")
    s.lines([*w.address(), f"{w.phone()}"], size=7, align="center", after=2)
    s.line(words["title"], 8, align="center", after=8)
    s.line(f"{w.date(style='short')}   {w.rng.randrange(8, 20)}:{w.rng.randrange(10, 59)}   {words['served']} {w.rng.randrange(1, 9)}", 7)
    s.rule()
    for name, quantity, price, line in goods:
        s.y += 10
        s.put(s.margin, s.y, f"{quantity} x {name}", 7)
        s.put(s.right, s.y, w.figure(line), 7, align="right")
        s.y += 2
    s.rule()
    given = (total // 1000 + 1) * 1000
    s.pairs([(words["total"], w.money(total))], size=10, colon="", right=s.right)
    if w.rng.random() < 0.5:
        s.pairs([(words["cash"], w.figure(given)), (words["change"], w.figure(given - total))], size=8, colon="", right=s.right)
    else:
        s.pairs([(words["card"], w.figure(total)), ("VISA", f"**** {w.digits(4)}")], size=8, colon="", right=s.right)
    s.line(f"{words['tax']}: {w.figure(total // 6)}", 7)
    s.line(words["thanks"], 8, align="center")
    return s


def receipt_slip(w):
    """For a sum of money that was handed over, on half a page."""
    words = RECEIPT[w.language]
    s = Sheet("times", (595, 420), margin=50)
    s.line(words["got"], 20, True)
    s.put(s.right, 70, f"No. {w.number()}", 11, align="right")
    s.gap(12)
    amount = w.amount(30, 900)
    s.pairs([(words["from_"], w.client), (words["for_"], w.pick({"en": ["rent", "course fee", "deposit"], "es": ["alquiler", "curso", "fianza"],
             "de": ["Miete", "Kursgebühr", "Kaution"], "fr": ["loyer", "cours", "caution"]})), (words["total"], w.money(amount)), (words["card"], "x")],
            offset=200, size=12, after=10)
    s.line(f"{w.pick(w_towns(w))}, {w.date()}", 11, after=40)
    s.rule(s.margin, s.margin + 180)
    s.line(words["sign"], 8)
    return s


def w_towns(w):
    return [w.address()[1]]


def payslip_columns(w):
    words = PAYSLIP[w.language]
    s = Sheet("vera", margin=46)
    s.line(w.company, 11, True)
    s.lines(w.address(), size=8, after=2)
    s.gap(8)
    s.line(f"{w.pick(words['title'])} {w.month()}", 15, True, after=12)
    s.pairs([(words["who"], w.person()), (words["no"], w.digits(5)), (words["role"], w.pick({"en": ["Technician", "Clerk"], "es": ["Técnico", "Auxiliar"],
             "de": ["Technik", "Sachbearbeitung"], "fr": ["Technicien", "Employé"]})), (words["tax_no"], w.digits(4))], size=9)
    s.gap(8)
    pay, extra, bonus = w.amount(1500, 3800), w.amount(50, 300), w.amount(20, 120)
    gross = pay + extra + bonus
    taxes = [gross * share // 100 for share in (14, 8, 5)]
    left = [(words["pay"], pay), (words["extra"], extra), (words["bonus"], bonus)]
    rows = [[a, w.figure(b), c, w.figure(d)] for (a, b), (c, d) in zip(left, zip(words["taxes"], taxes))]
    rows.append([words["gross"], w.figure(gross), words["off"], w.figure(sum(taxes))])
    s.table([(words["earned"], 160, "left"), ("", 90, "right"), (words["less"], 160, "left"), ("", 90, "right")], rows, looks="grid")
    s.pairs([(words["net"], w.money(gross - sum(taxes)))], size=13)
    s.line(f"IBAN {w.iban()}", 8)
    return s


def payslip_list(w):
    words = PAYSLIP[w.language]
    s = Sheet("times", margin=60)
    s.line(w.pick(words["title"]), 18, True, "center", after=14)
    s.pairs([(words["period"], w.month()), (words["no"], w.digits(6)), (words["who"], w.person()), (words["tax_no"], w.digits(8))], colon="", size=10)
    s.rule()
    pay = w.amount(1400, 4000)
    taxes = [pay * share // 100 for share in (15, 9, 4)]
    s.pairs([(words["pay"], w.figure(pay)), (words["gross"], w.figure(pay))], right=s.right, colon="")
    s.rule()
    s.pairs([(label, "- " + w.figure(cents)) for label, cents in zip(words["taxes"], taxes)], right=s.right, colon="")
    s.pairs([(words["off"], "- " + w.figure(sum(taxes)))], right=s.right, colon="")
    s.rule()
    s.pairs([(words["net"], w.money(pay - sum(taxes)))], right=s.right, colon="", size=13)
    return s


def statement(w, font, looks, count):
    words = BANK[w.language]
    s = Sheet(font, margin=48)
    number = w.iban()
    s.line(words["bank"], 14, True)
    s.gap(10)
    s.lines([w.person(), *w.address()])
    s.gap(14)
    s.line(w.pick(words["title"]), 15, True)
    s.pairs([(words["no"], number), (words["of"], f"{w.date(-30, 'short')} - {w.date(0, 'short')}")], offset=130)
    s.gap(8)
    balance, rows = w.amount(300, 5000), []
    start = balance
    for index in range(count):
        cents = w.amount(4, 300) * w.rng.choice([-1, -1, 1])
        balance += cents
        rows.append([w.date(index - 30, "short"), w.pick(words["moves"]), w.figure(-cents) if cents < 0 else "", w.figure(cents) if cents > 0 else "",
                     w.figure(balance)])
    s.pairs([(words["start"], w.money(start))], offset=200)
    s.table([(title, width, align) for title, width, align in zip(words["cols"], (75, 190, 75, 75, 80), ("left", "left", "right", "right", "right"))],
            rows, looks=looks)
    s.pairs([(words["end"], w.money(balance))], offset=200, size=11)
    s.footer = lambda sheet, page, pages: sheet.put(sheet.margin, 815, f"{words['bank']} · {number} · {page}/{pages}", 8)
    return s


def statement_lines(w):
    return statement(w, "vera", "lines", w.rng.choice([8, 20, 55]))


def statement_plain(w):
    return statement(w, "times", "none", w.rng.choice([6, 15, 70]))


TYPES = {
    "invoice": [invoice_right_head, invoice_boxes],
    "credit_note": [credit_like_invoice, credit_short],
    "receipt": [receipt_roll, receipt_slip],
    "payslip": [payslip_columns, payslip_list],
    "bank_statement": [statement_lines, statement_plain],
}
