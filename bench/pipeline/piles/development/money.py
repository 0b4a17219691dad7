"""Papers about money that rules are written on."""

from sheet import LETTER, TILL_ROLL, Sheet

INVOICE = {
    "en": dict(title=["INVOICE", "Invoice", "Proforma Invoice"], no="Invoice No.", date="Invoice date", to="Bill To", due="Due date", item="Description", qty="Qty",
               price="Unit price", sum="Amount", net="Subtotal", tax="Sales tax 8 %", total="Total due", terms="Payment terms: 30 days net.",
               carried="Carried forward", page="Page {0} of {1}", ship="Ship To", order="Purchase order"),
    "es": dict(title=["FACTURA", "Factura", "Factura proforma"], no="Número de factura", date="Fecha de factura", to="Cliente", due="Fecha de vencimiento", item="Descripción",
               qty="Cantidad", price="Precio unitario", sum="Importe", net="Base imponible", tax="I.V.A. 21 %", total="Total factura",
               terms="Forma de pago: transferencia a 30 días.", carried="Suma y sigue", page="Página {0} de {1}", ship="Dirección de envío", order="Pedido"),
    "de": dict(title=["RECHNUNG", "Rechnung", "Abschlagsrechnung"], no="Rechnungsnummer", date="Rechnungsdatum", to="Rechnungsadresse", due="Fällig am", item="Bezeichnung",
               qty="Menge", price="Einzelpreis", sum="Gesamtpreis", net="Zwischensumme", tax="MwSt. 19 %", total="Rechnungsbetrag",
               terms="Zahlbar innerhalb von 14 Tagen ohne Abzug.", carried="Übertrag", page="Seite {0} von {1}", ship="Lieferadresse", order="Bestellnummer"),
    "fr": dict(title=["FACTURE", "Facture", "Facture proforma"], no="Numéro de facture", date="Date de facture", to="Facturé à", due="Échéance", item="Désignation",
               qty="Quantité", price="Prix unitaire", sum="Montant", net="Total HT", tax="TVA 20 %", total="Total TTC",
               terms="Conditions de paiement : 30 jours.", carried="À reporter", page="Page {0} sur {1}", ship="Livré à", order="Bon de commande"),
}
CREDIT = {
    "en": dict(title=["CREDIT NOTE", "Credit Note"], no="Credit Note No.", ref="Original invoice", reason="Price correction", total="Total credit",
               note="This amount has been credited to your account."),
    "es": dict(title=["FACTURA RECTIFICATIVA", "Nota de abono"], no="Número de rectificativa", ref="Factura original", reason="Corrección de precio", total="Importe abonado",
               note="Este importe ha sido abonado en su cuenta."),
    "de": dict(title=["GUTSCHRIFT", "Rechnungskorrektur", "Storno"], no="Gutschriftsnummer", ref="Ursprüngliche Rechnung", reason="Preiskorrektur", total="Gutschriftsbetrag",
               note="Der Betrag wurde Ihrem Konto gutgeschrieben."),
    "fr": dict(title=["AVOIR", "Facture d'avoir"], no="Numéro d'avoir", ref="Facture d'origine", reason="Correction de prix", total="Total avoir",
               note="Cette somme a été créditée sur votre compte."),
}
RECEIPT = {
    "en": dict(title="RECEIPT", total="TOTAL", cash="CASH", change="CHANGE", card="CREDIT CARD", thanks="THANK YOU", served="Cashier", paid="Paid",
               got="Receipt", from_="Received from", sum="The sum of", for_="For", sign="Signature"),
    "es": dict(title="TICKET DE COMPRA", total="TOTAL", cash="EFECTIVO", change="CAMBIO", card="TARJETA", thanks="GRACIAS POR SU COMPRA", served="Cajero", paid="Pagado",
               got="Recibo", from_="Recibí de", sum="La cantidad de", for_="En concepto de", sign="Firma"),
    "de": dict(title="KASSENBELEG", total="GESAMT", cash="BAR", change="RÜCKGELD", card="EC-KARTE", thanks="VIELEN DANK FÜR IHREN EINKAUF", served="Kasse", paid="Bezahlt",
               got="Quittung", from_="Erhalten von", sum="Betrag", for_="Für", sign="Unterschrift"),
    "fr": dict(title="TICKET DE CAISSE", total="TOTAL", cash="ESPECES", change="RENDU", card="CARTE BANCAIRE", thanks="MERCI DE VOTRE VISITE", served="Caisse", paid="Payé",
               got="Reçu", from_="Reçu de", sum="La somme de", for_="Pour", sign="Signature"),
}
PAYSLIP = {
    "en": dict(title=["PAYSLIP", "Pay Stub", "Salary Slip"], who="Employee", no="Employee ID", period="Pay period", pay="Salary", extra="Overtime", bonus="Bonus",
               taxes=["Income tax", "Social security", "Health insurance"], gross="Gross pay", off="Total deductions", net="Net pay", earned="Earnings", less="Deductions", ytd="YTD",
               employer="Employer"),
    "es": dict(title=["NÓMINA", "Recibo de salarios", "Recibo individual de salarios"], who="Trabajador", no="NIF", period="Periodo de liquidación", pay="Salario base",
               extra="Horas extraordinarias", bonus="Complementos", taxes=["IRPF", "Seguridad Social", "Formación profesional"], gross="Total devengado", off="Total a deducir",
               net="Líquido a percibir", earned="Devengos", less="Deducciones", ytd="Acum.", employer="Empresa"),
    "de": dict(title=["GEHALTSABRECHNUNG", "Lohnabrechnung", "Abrechnung der Brutto/Netto-Bezüge"], who="Mitarbeiter", no="Personalnummer", period="Abrechnungszeitraum",
               pay="Grundgehalt", extra="Überstundenvergütung", bonus="Prämie", taxes=["Lohnsteuer", "Krankenversicherung", "Rentenversicherung"], gross="Bruttolohn",
               off="Summe Abzüge", net="Nettolohn", earned="Bruttobezüge", less="Gesetzliche Abzüge", ytd="Jahr", employer="Arbeitgeber"),
    "fr": dict(title=["BULLETIN DE PAIE", "Bulletin de salaire"], who="Salarié", no="Matricule", period="Période de paie", pay="Salaire de base", extra="Heures supplémentaires",
               bonus="Prime", taxes=["CSG/CRDS", "Retraite complémentaire", "Sécurité sociale"], gross="Salaire brut", off="Total des cotisations", net="Net payé",
               earned="Rubriques", less="Cotisations", ytd="Cumul", employer="Employeur"),
}
BANK = {
    "en": dict(title=["Bank Statement", "Account Statement"], no="Account number", start="Opening balance", end="Closing balance",
               cols=["Date", "Description", "Withdrawals", "Deposits", "Balance"], moves=["POS purchase", "Payroll deposit", "Electric company", "Check 1042", "Online transfer", "Service fee"],
               bank="First Bank of Examplia", of="Statement period"),
    "es": dict(title=["Extracto de cuenta", "Extracto bancario"], no="Número de cuenta", start="Saldo anterior", end="Saldo actual",
               cols=["Fecha", "Concepto", "Debe", "Haber", "Saldo"], moves=["Compra con tarjeta", "Transferencia recibida", "Recibo luz", "Cheque 1042", "Bizum", "Comisión"],
               bank="Caja de Ejemplia", of="Periodo"),
    "de": dict(title=["Kontoauszug", "Finanzstatus und Kontoauszug"], no="Kontonummer", start="Anfangssaldo", end="Endsaldo",
               cols=["Buchungstag", "Verwendungszweck", "Soll", "Haben", "Saldo"], moves=["Kartenzahlung", "Überweisung Gehalt", "Lastschrift Strom", "Scheck 1042", "Überweisung", "Entgelt"],
               bank="Sparkasse Beispielland", of="Zeitraum"),
    "fr": dict(title=["Relevé de compte", "Extrait de compte"], no="Numéro de compte", start="Solde initial", end="Solde final",
               cols=["Date", "Libellé", "Débit", "Crédit", "Solde"], moves=["Achat carte", "Virement reçu", "Prélèvement électricité", "Chèque 1042", "Virement émis", "Frais"],
               bank="Crédit d'Exemple", of="Période"),
}


def item_rows(w, count):
    goods, net = w.goods(count)
    return [[name, str(quantity), w.money(price), w.money(total)] for name, quantity, price, total in goods], net, [row[3] for row in goods]


def totals(s, w, lines):
    for label, cents in lines:
        s.room(16)
        s.pairs([(label, w.money(cents))], x=s.right - 220, right=s.right)
    s.gap(10)


def invoice_classic(w):
    """Title at the top right, two addresses side by side, page numbers and carried sums on later pages."""
    words = INVOICE[w.language]
    s = Sheet("helvetica", LETTER if w.language == "en" else (595, 842))
    number = w.number("INV-")
    s.put(s.right, 74, w.pick(words["title"]), 24, True, "right")
    s.line(w.company, 14, True)
    s.lines([*w.address(), w.phone(), w.mail()], size=9, after=2)
    s.gap(16)
    y = s.y
    s.lines([words["to"], w.client, *w.address()], size=10)
    s.y = y
    s.pairs([(words["no"], number), (words["date"], w.date()), (words["due"], w.date(30)), (words["order"], w.digits(5))], x=s.right - 230)
    s.gap(24)
    rows, net, sums = item_rows(w, w.rng.choice([2, 4, 7, 38, 60]))

    def carry(sheet, index, after):
        sheet.gap(4)
        if after:
            sheet.line(f"{words['no']} {number}", 9)
        sheet.pairs([(words["carried"], w.money(sum(sums[:index])))], x=sheet.right - 220, right=sheet.right)

    s.table([(words["item"], 230, "left"), (words["qty"], 60, "right"), (words["price"], 90, "right"), (words["sum"], 95, "right")], rows, on_break=carry)
    totals(s, w, [(words["net"], net), (words["tax"], net // 10), (words["total"], net + net // 10)])
    s.paragraph(words["terms"], 9)
    s.line(f"IBAN: {w.iban()}", 9)
    s.footer = lambda sheet, page, pages: sheet.put(sheet.width / 2, sheet.height - 26, words["page"].format(page, pages), 8, align="center")
    return s


def invoice_typed(w):
    """As a typewriter would do it, no rules, totals in a row."""
    words = INVOICE[w.language]
    s = Sheet("courier", margin=50)
    s.line(w.company, 11, True, "center")
    s.line(", ".join(w.address()), 9, align="center", after=22)
    s.line(f"{w.pick(words['title'])} {w.number()}", 13, True, after=12)
    s.pairs([(words["date"], w.date()), (words["to"], w.client), (words["due"], w.date(10))], offset=170, size=9)
    s.gap(14)
    rows, net, _ = item_rows(w, w.rng.choice([1, 3, 9]))
    s.table([(words["item"], 220, "left"), (words["qty"], 60, "right"), (words["price"], 100, "right"), (words["sum"], 110, "right")], rows, looks="none")
    totals(s, w, [(words["net"], net), (words["tax"], net // 5), (words["total"], net + net // 5)])
    s.paragraph(words["terms"], 9)
    return s


def invoice_letter(w):
    """A business letter that is an invoice: the addressee in the window, a salutation, then the table."""
    words = INVOICE[w.language]
    hello = {"en": "Dear customer, we charge you for our services as follows:", "es": "Estimado cliente: por nuestros servicios le facturamos lo siguiente:",
             "de": "Sehr geehrte Damen und Herren, für unsere Leistungen berechnen wir Ihnen:", "fr": "Madame, Monsieur, veuillez trouver le détail de nos prestations :"}
    s = Sheet("helvetica", margin=64)
    s.line(" - ".join([w.company, *w.address()]), 7, after=14)
    s.lines([w.client, *w.address()])
    s.pairs([(words["no"], w.number()), (words["date"], w.date())], x=s.right - 210)
    s.gap(26)
    s.line(f"{w.pick(words['title'])}", 14, True, after=10)
    s.paragraph(hello[w.language])
    rows, net, _ = item_rows(w, w.rng.choice([2, 5]))
    s.table([(words["item"], 210, "left"), (words["qty"], 60, "right"), (words["price"], 90, "right"), (words["sum"], 95, "right")], rows, looks="grid")
    totals(s, w, [(words["net"], net), (words["tax"], net // 5), (words["total"], net + net // 5)])
    s.paragraph(words["terms"])
    s.line(f"IBAN {w.iban()}", 9)
    return s


def credit_classic(w):
    words, bill = CREDIT[w.language], INVOICE[w.language]
    s = Sheet("helvetica")
    s.line(w.company, 14, True)
    s.lines(w.address(), size=9, after=2)
    s.put(s.right, 70, w.pick(words["title"]), 18, True, "right")
    s.gap(20)
    s.lines([bill["to"], w.client, *w.address()])
    s.gap(12)
    s.pairs([(words["no"], w.number("CN-")), (bill["date"] if w.language != "de" else "Datum", w.date()), (words["ref"], w.number("INV-"))], offset=170)
    s.gap(10)
    rows, net, _ = item_rows(w, w.rng.choice([1, 3]))
    s.table([(bill["item"], 230, "left"), (bill["qty"], 60, "right"), (bill["price"], 90, "right"), (bill["sum"], 95, "right")], rows, looks="grid")
    totals(s, w, [(bill["net"], -net), (bill["tax"], -net // 5), (words["total"], -net - net // 5)])
    s.paragraph(words["note"], 9)
    return s


def credit_typed(w):
    words = CREDIT[w.language]
    s = Sheet("courier", margin=50)
    s.line(f"{w.pick(words['title'])} {w.number()}", 14, True, after=14)
    s.line(f"{w.company}, {', '.join(w.address())}", 9, after=14)
    s.pairs([(words["ref"], w.number()), ("-> ", w.client)], offset=200, size=9)
    s.pairs([(words["reason"], w.money(-w.amount())), (words["total"], w.money(-w.amount()))], offset=200)
    s.paragraph(words["note"], 9)
    return s


def receipt_till(w):
    words = RECEIPT[w.language]
    goods, total = w.goods(w.rng.randrange(2, 12))
    s = Sheet("courier", (TILL_ROLL, 230 + 13 * len(goods)), margin=12)
    s.line(w.company.upper(), 10, True, "center")
    s.lines(w.address(), size=8, align="center", after=2)
    s.line(words["title"], 10, True, "center", after=6)
    s.line(f"{w.date(style='short')} {w.rng.randrange(8, 20)}:{w.rng.randrange(10, 59)} {words['served']}: {w.rng.randrange(1, 9)}", 7)
    for name, quantity, price, line in goods:
        s.pairs([(f"{name}", w.figure(line))], right=s.right, colon="", size=7)
    s.rule()
    s.pairs([(words["total"], w.money(total))], right=s.right, colon="", size=11)
    if w.rng.random() < 0.5:
        s.pairs([(words["cash"], w.figure(total + 500)), (words["change"], w.figure(500))], right=s.right, colon="", size=8)
    else:
        s.pairs([(words["card"], w.figure(total))], right=s.right, colon="", size=8)
    s.line(words["thanks"], 8, align="center")
    return s


def receipt_page(w):
    words = RECEIPT[w.language]
    s = Sheet("helvetica", (420, 595) if w.rng.random() < 0.5 else (595, 842), margin=46)
    s.line(words["got"].upper(), 18, True, "center", after=16)
    s.pairs([(words["from_"], w.client), (words["sum"], w.money(w.amount(20, 900))), (words["for_"], w.goods(1)[0][0][0]), (words["paid"], w.date())], offset=120, size=11, after=8)
    s.gap(40)
    s.line("______________________")
    s.line(words["sign"], 8)
    return s


def payslip_table(w):
    words = PAYSLIP[w.language]
    s = Sheet("helvetica", margin=44)
    s.line(w.pick(words["title"]), 16, True, "center", after=12)
    s.pairs([(words["employer"], w.company), (words["who"], w.person()), (words["no"], w.digits(6)), (words["period"], f"{w.date(-30, 'short')} - {w.date(0, 'short')}")], offset=140)
    s.gap(10)
    pay, extra, bonus = w.amount(1300, 4200), w.amount(40, 300), w.amount(40, 300)
    gross = pay + extra + bonus
    taxes = [gross * share // 100 for share in (15, 7, 3)]
    s.table([(words["earned"], 250, "left"), ("", 120, "right"), (words["ytd"], 120, "right")],
            [[label, w.figure(cents), w.figure(cents * 7)] for label, cents in [(words["pay"], pay), (words["extra"], extra), (words["bonus"], bonus), (words["gross"], gross)]], looks="grid")
    s.table([(words["less"], 250, "left"), ("", 120, "right"), (words["ytd"], 120, "right")],
            [[label, w.figure(cents), w.figure(cents * 7)] for label, cents in [*zip(words["taxes"], taxes), (words["off"], sum(taxes))]], looks="grid")
    s.pairs([(words["net"], w.money(gross - sum(taxes)))], size=13, offset=200)
    return s


def payslip_typed(w):
    words = PAYSLIP[w.language]
    s = Sheet("courier", margin=40)
    s.line(f"{w.company}    {w.pick(words['title'])}", 11, True, after=10)
    s.pairs([(words["who"], w.person()), (words["period"], w.month()), (words["no"], w.digits(6))], size=9, offset=160)
    s.rule()
    pay = w.amount(1300, 4200)
    taxes = [pay * share // 100 for share in (18, 6, 2)]
    s.pairs([(words["pay"], w.figure(pay)), (words["gross"], w.figure(pay)), *[(label, w.figure(-cents)) for label, cents in zip(words["taxes"], taxes)],
             (words["net"], w.money(pay - sum(taxes)))], right=s.right, size=10)
    return s


def statement(w, font, looks, count):
    words = BANK[w.language]
    s = Sheet(font, margin=46)
    number = w.iban()
    s.line(words["bank"], 15, True)
    s.line(w.pick(words["title"]), 13, True, "right", after=12)
    s.lines([w.person(), *w.address()])
    s.gap(10)
    s.pairs([(words["no"], number), ("IBAN", number), (words["of"], f"{w.date(-30, 'short')} - {w.date(0, 'short')}")], offset=140)
    s.gap(8)
    balance = w.amount(500, 6000)
    s.pairs([(words["start"], w.money(balance))], right=s.right)
    rows = []
    for index in range(count):
        cents = w.amount(3, 300) * w.rng.choice([-1, -1, 1])
        balance += cents
        rows.append([w.date(index - 30, "short"), w.pick(words["moves"]), w.figure(-cents) if cents < 0 else "", w.figure(cents) if cents > 0 else "", w.figure(balance)])
    s.table(list(zip(words["cols"], (80, 180, 80, 80, 80), ("left", "left", "right", "right", "right"))), rows, looks=looks)
    s.pairs([(words["end"], w.money(balance))], right=s.right)
    page_of = INVOICE[w.language]["page"]
    s.footer = lambda sheet, page, pages: sheet.put(sheet.right, 818, page_of.format(page, pages), 8, align="right")
    return s


def statement_grid(w):
    return statement(w, "helvetica", "grid", w.rng.choice([10, 30, 60]))


def statement_typed(w):
    return statement(w, "courier", "none", w.rng.choice([5, 18, 64]))


TYPES = {
    "invoice": [invoice_classic, invoice_typed, invoice_letter],
    "credit_note": [credit_classic, credit_typed],
    "receipt": [receipt_till, receipt_page],
    "payslip": [payslip_table, payslip_typed],
    "bank_statement": [statement_grid, statement_typed],
}
