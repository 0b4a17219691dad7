"""A hybrid invoice: a PDF that people read, with the same invoice as XML inside it (Factur-X 1.0, profile BASIC)."""

import io
from decimal import Decimal
from xml.sax.saxutils import escape

import pypdf
from pypdf.generic import ArrayObject, DecodedStreamObject, DictionaryObject, NameObject, TextStringObject
from reportlab.lib import colors
from reportlab.lib.pagesizes import A4
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.platypus import Table, TableStyle

import fonts
from printed import canvas

NUMBER, DATE, DUE = "2026-0117", "20260115", "20260214"
SELLER = {"name": "Nordwind Papier GmbH", "street": "Speicherstraße 14", "post": "20457", "town": "Hamburg",
          "country": "DE", "vat": "DE999999999"}
BUYER = {"name": "Hafenwerk Druckerei eG", "street": "Am Kai 3", "post": "24103", "town": "Kiel", "country": "DE"}
IBAN = "DE02120300000000202051"
# What, how much, unit, price of one, percent of tax.
LINES = [
    ("Offsetpapier 90 g/m², 70 × 100 cm", Decimal("12"), "XPK", Decimal("48.50"), 19),
    ("Umschlagkarton 250 g/m²", Decimal("3.5"), "XPK", Decimal("112.00"), 19),
    ("Handbuch „Papier richtig lagern“", Decimal("4"), "C62", Decimal("23.00"), 7),
]
CENT = Decimal("0.01")


def totals():
    """Net for each rate, tax for each rate, net, tax and what is to be paid."""
    net = {}
    for _, count, _, price, rate in LINES:
        net[rate] = net.get(rate, Decimal()) + (count * price).quantize(CENT)
    tax = {rate: (amount * rate / 100).quantize(CENT) for rate, amount in net.items()}
    return net, tax, sum(net.values()), sum(tax.values()), sum(net.values()) + sum(tax.values())


def german(amount):
    return f"{amount:,.2f}".translate(str.maketrans(",.", ".,"))


def day(date):
    return f"{date[6:]}.{date[4:6]}.{date[:4]}"


def party(kind, who):
    vat = who.get("vat")
    tax = f'<ram:SpecifiedTaxRegistration><ram:ID schemeID="VA">{vat}</ram:ID></ram:SpecifiedTaxRegistration>'
    return (f"<ram:{kind}TradeParty><ram:Name>{escape(who['name'])}</ram:Name><ram:PostalTradeAddress>"
            f"<ram:PostcodeCode>{who['post']}</ram:PostcodeCode><ram:LineOne>{escape(who['street'])}</ram:LineOne>"
            f"<ram:CityName>{who['town']}</ram:CityName><ram:CountryID>{who['country']}</ram:CountryID>"
            f"</ram:PostalTradeAddress>{tax if vat else ''}</ram:{kind}TradeParty>")


def xml():
    net, tax, total, total_tax, due = totals()
    date = lambda text: f'<udt:DateTimeString format="102">{text}</udt:DateTimeString>'
    lines = "".join(
        "<ram:IncludedSupplyChainTradeLineItem><ram:AssociatedDocumentLineDocument>"
        f"<ram:LineID>{number}</ram:LineID></ram:AssociatedDocumentLineDocument><ram:SpecifiedTradeProduct>"
        f"<ram:Name>{escape(what)}</ram:Name></ram:SpecifiedTradeProduct><ram:SpecifiedLineTradeAgreement>"
        f"<ram:NetPriceProductTradePrice><ram:ChargeAmount>{price}</ram:ChargeAmount></ram:NetPriceProductTradePrice>"
        "</ram:SpecifiedLineTradeAgreement><ram:SpecifiedLineTradeDelivery>"
        f'<ram:BilledQuantity unitCode="{unit}">{count}</ram:BilledQuantity></ram:SpecifiedLineTradeDelivery>'
        "<ram:SpecifiedLineTradeSettlement><ram:ApplicableTradeTax><ram:TypeCode>VAT</ram:TypeCode>"
        f"<ram:CategoryCode>S</ram:CategoryCode><ram:RateApplicablePercent>{rate}</ram:RateApplicablePercent>"
        "</ram:ApplicableTradeTax><ram:SpecifiedTradeSettlementLineMonetarySummation>"
        f"<ram:LineTotalAmount>{(count * price).quantize(CENT)}</ram:LineTotalAmount>"
        "</ram:SpecifiedTradeSettlementLineMonetarySummation></ram:SpecifiedLineTradeSettlement>"
        "</ram:IncludedSupplyChainTradeLineItem>"
        for number, (what, count, unit, price, rate) in enumerate(LINES, 1))
    taxes = "".join(
        f"<ram:ApplicableTradeTax><ram:CalculatedAmount>{tax[rate]}</ram:CalculatedAmount><ram:TypeCode>VAT</ram:TypeCode>"
        f"<ram:BasisAmount>{net[rate]}</ram:BasisAmount><ram:CategoryCode>S</ram:CategoryCode>"
        f"<ram:RateApplicablePercent>{rate}</ram:RateApplicablePercent></ram:ApplicableTradeTax>" for rate in net)
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<rsm:CrossIndustryInvoice '
        'xmlns:rsm="urn:un:unece:uncefact:data:standard:CrossIndustryInvoice:100" '
        'xmlns:ram="urn:un:unece:uncefact:data:standard:ReusableAggregateBusinessInformationEntity:100" '
        'xmlns:udt="urn:un:unece:uncefact:data:standard:UnqualifiedDataType:100">'
        "<rsm:ExchangedDocumentContext><ram:GuidelineSpecifiedDocumentContextParameter>"
        "<ram:ID>urn:cen.eu:en16931:2017#compliant#urn:factur-x.eu:1p0:basic</ram:ID>"
        "</ram:GuidelineSpecifiedDocumentContextParameter></rsm:ExchangedDocumentContext>"
        f"<rsm:ExchangedDocument><ram:ID>{NUMBER}</ram:ID><ram:TypeCode>380</ram:TypeCode>"
        f"<ram:IssueDateTime>{date(DATE)}</ram:IssueDateTime></rsm:ExchangedDocument>"
        f"<rsm:SupplyChainTradeTransaction>{lines}<ram:ApplicableHeaderTradeAgreement>{party('Seller', SELLER)}"
        f"{party('Buyer', BUYER)}</ram:ApplicableHeaderTradeAgreement><ram:ApplicableHeaderTradeDelivery>"
        "<ram:ActualDeliverySupplyChainEvent><ram:OccurrenceDateTime>"
        f"{date('20260112')}</ram:OccurrenceDateTime></ram:ActualDeliverySupplyChainEvent>"
        "</ram:ApplicableHeaderTradeDelivery><ram:ApplicableHeaderTradeSettlement>"
        "<ram:InvoiceCurrencyCode>EUR</ram:InvoiceCurrencyCode><ram:SpecifiedTradeSettlementPaymentMeans>"
        "<ram:TypeCode>58</ram:TypeCode><ram:PayeePartyCreditorFinancialAccount>"
        f"<ram:IBANID>{IBAN}</ram:IBANID></ram:PayeePartyCreditorFinancialAccount>"
        f"</ram:SpecifiedTradeSettlementPaymentMeans>{taxes}<ram:SpecifiedTradePaymentTerms>"
        f"<ram:DueDateDateTime>{date(DUE)}</ram:DueDateDateTime></ram:SpecifiedTradePaymentTerms>"
        "<ram:SpecifiedTradeSettlementHeaderMonetarySummation>"
        f"<ram:LineTotalAmount>{total}</ram:LineTotalAmount><ram:TaxBasisTotalAmount>{total}</ram:TaxBasisTotalAmount>"
        f'<ram:TaxTotalAmount currencyID="EUR">{total_tax}</ram:TaxTotalAmount>'
        f"<ram:GrandTotalAmount>{due}</ram:GrandTotalAmount><ram:DuePayableAmount>{due}</ram:DuePayableAmount>"
        "</ram:SpecifiedTradeSettlementHeaderMonetarySummation></ram:ApplicableHeaderTradeSettlement>"
        "</rsm:SupplyChainTradeTransaction></rsm:CrossIndustryInvoice>\n").encode()


XMP = """<?xpacket begin="\ufeff" id="W5M0MpCehiHzreSzNTczkc9d"?>
<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
<rdf:Description rdf:about="" xmlns:pdfaid="http://www.aiim.org/pdfa/ns/id/" pdfaid:part="3" pdfaid:conformance="B"/>
<rdf:Description rdf:about="" xmlns:fx="urn:factur-x:pdfa:CrossIndustryDocument:invoice:1p0#" fx:DocumentType="INVOICE"
 fx:DocumentFileName="factur-x.xml" fx:Version="1.0" fx:ConformanceLevel="BASIC"/>
</rdf:RDF></x:xmpmeta>
<?xpacket end="w"?>"""


def page():
    pdfmetrics.registerFont(TTFont("DejaVu", fonts.path("DejaVuSans")))
    pdfmetrics.registerFont(TTFont("DejaVu-Bold", fonts.path("DejaVuSans-Bold")))
    net, tax, total, _, due = totals()
    plain = io.BytesIO()
    width, height = A4
    sheet = canvas(plain, title=f"Rechnung {NUMBER}", author=SELLER["name"])

    def text(x, y, words, font="DejaVu", size=9.5):
        sheet.setFont(font, size)
        sheet.drawString(x, height - y, words)

    text(56, 60, SELLER["name"], "DejaVu-Bold", 14)
    text(56, 76, f"{SELLER['street']} · {SELLER['post']} {SELLER['town']} · USt-IdNr. {SELLER['vat']}", size=8)
    for row, line in enumerate([BUYER["name"], BUYER["street"], f"{BUYER['post']} {BUYER['town']}"]):
        text(56, 124 + row * 14, line, size=10)
    for row, (label, value) in enumerate([("Rechnungsnummer", NUMBER), ("Rechnungsdatum", day(DATE)),
                                          ("Lieferdatum", "12.01.2026"), ("Zahlbar bis", day(DUE))]):
        text(350, 124 + row * 14, f"{label}:")
        text(460, 124 + row * 14, value)
    text(56, 216, f"Rechnung {NUMBER}", "DejaVu-Bold", 14)
    text(56, 238, "Für unsere Lieferung vom 12. Januar berechnen wir:")
    rows = [["Pos.", "Bezeichnung", "Menge", "Einzelpreis", "USt", "Betrag"]]
    for number, (what, count, _, price, rate) in enumerate(LINES, 1):
        rows.append([str(number), what, str(count).replace(".", ","), german(price), f"{rate} %",
                     german(count * price)])
    table = Table(rows, colWidths=[32, 220, 46, 70, 40, 75], rowHeights=20)
    table.setStyle(TableStyle([
        ("FONT", (0, 0), (-1, -1), "DejaVu", 9), ("FONT", (0, 0), (-1, 0), "DejaVu-Bold", 9),
        ("LINEBELOW", (0, 0), (-1, 0), 0.8, colors.black), ("LINEBELOW", (0, -1), (-1, -1), 0.8, colors.black),
        ("ALIGN", (2, 0), (-1, -1), "RIGHT"), ("VALIGN", (0, 0), (-1, -1), "MIDDLE")]))
    table.wrapOn(sheet, width, height)
    bottom = 256 + 20 * len(rows)
    table.drawOn(sheet, 56, height - bottom)
    sums = [("Summe netto", total), *((f"Umsatzsteuer {rate} % auf {german(net[rate])}", tax[rate]) for rate in net),
            ("Zu zahlen (EUR)", due)]
    for row, (label, amount) in enumerate(sums):
        sheet.setFont("DejaVu-Bold" if row == len(sums) - 1 else "DejaVu", 9.5)
        line = height - bottom - 24 - row * 16
        sheet.drawString(300, line, label)
        sheet.drawRightString(536, line, german(amount))
    text(56, bottom + 120, f"Bitte überweisen Sie den Betrag bis zum {day(DUE)} auf das Konto {IBAN}.")
    sheet.save()
    return plain.getvalue()


def make(target, printed=None):
    """The XML is attached to the page of this module, or to another one that says the same."""
    writer = pypdf.PdfWriter(clone_from=io.BytesIO(printed or page()))
    file = writer.add_attachment("factur-x.xml", xml())
    specification = file.pdf_object
    specification[NameObject("/AFRelationship")] = NameObject("/Data")
    specification[NameObject("/Desc")] = TextStringObject("Invoice as XML")
    stream = specification["/EF"]["/F"].get_object()
    stream[NameObject("/Subtype")] = NameObject("/text/xml")
    reference = specification.indirect_reference or writer._add_object(specification)
    writer.root_object[NameObject("/AF")] = ArrayObject([reference])
    metadata = DecodedStreamObject()
    metadata.set_data(XMP.encode())
    metadata.update(DictionaryObject({NameObject("/Type"): NameObject("/Metadata"),
                                      NameObject("/Subtype"): NameObject("/XML")}))
    writer.root_object[NameObject("/Metadata")] = writer._add_object(metadata)
    writer.write(target)
