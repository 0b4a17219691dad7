"""Mails with attachments: as they are sent, and as Outlook saves them."""

import struct
from email import policy
from email.message import EmailMessage

from compound import compound
from nineties import u32, wide

ORDER_LIST = "article;packs;price\r\nOffsetpapier 90 g;12;48,50\r\nUmschlagkarton 250 g;3,5;112,00\r\n"


def eml(invoice):
    """HTML beside plain text, a list as CSV, the invoice as PDF, and a mail inside the mail."""
    mail = EmailMessage(policy=policy.SMTP)
    mail["From"] = "Nordwind Papier GmbH <office@nordwind-papier.example>"
    mail["To"] = "Hafenwerk Druckerei eG <einkauf@hafenwerk.example>"
    mail["Cc"] = "accounts@hafenwerk.example"
    mail["Subject"] = "Ihre Bestellung 88 – Rechnung und Lieferschein"
    mail["Date"] = "Thu, 15 Jan 2026 09:12:00 +0100"
    mail["Message-ID"] = "<order-88@nordwind-papier.example>"
    mail.set_content("Guten Tag,\n\ndie Ware ist unterwegs. Rechnung und Liste liegen bei.\n\nNordwind Papier GmbH\n")
    mail.add_alternative(
        "<html><body><p>Guten Tag,</p><p>die Ware ist <b>unterwegs</b>. Rechnung und Liste liegen bei; Fragen "
        'beantwortet <a href="https://nordwind-papier.example/hilfe">unsere Hilfe</a>.</p>'
        "<ul><li>12 Packungen Offsetpapier</li><li>3,5 Packungen Umschlagkarton</li></ul>"
        "<p>Nordwind Papier GmbH</p></body></html>", subtype="html")
    mail.add_attachment(ORDER_LIST.encode(), "text", "csv", filename="Bestellung 88.csv")
    mail.add_attachment(invoice, "application", "pdf", filename="Rechnung 2026-0117.pdf")
    asked = EmailMessage(policy=policy.SMTP)
    asked["From"] = "einkauf@hafenwerk.example"
    asked["To"] = "office@nordwind-papier.example"
    asked["Subject"] = "Bestellung 88"
    asked["Date"] = "Mon, 12 Jan 2026 16:40:00 +0100"
    asked.set_content("Bitte liefern Sie vor zehn Uhr.\n")
    mail.add_attachment(asked)
    for part, boundary in zip([part for part in mail.walk() if part.is_multipart() and part.get_content_maintype() == "multipart"],
                              ["outer-5f1c", "inner-77ab"]):
        part.set_boundary(boundary)
    return mail.as_bytes()


def moment(unix):
    """A time as Windows counts it: in tenths of a microsecond since 1601."""
    return (unix + 11644473600) * 10_000_000


def properties(head, fixed):
    """Properties of few bytes: number, kind and value."""
    return head + b"".join(struct.pack("<HHIQ", kind, number, 6, value) for number, kind, value in fixed)


def texts(pairs):
    return {f"__substg1.0_{number:04X}001F": wide(value) for number, value in pairs}


def msg():
    """A question with a text attached."""
    body = ("Sehr geehrte Damen und Herren,\r\n\r\nwann ist der Lesesaal im Sommer geöffnet? Wir kommen mit zwei "
            "Schulklassen.\r\n\r\nSekretariat der Hafenschule\r\n")
    note = "Klasse 5a: 24 Kinder\r\nKlasse 5b: 22 Kinder\r\n".encode()
    mail = {
        "__properties_version1.0": properties(u32(0, 0, 1, 1, 1, 1, 0, 0), [(0x0039, 0x40, moment(1768466400)), (0x3FDE, 3, 65001)]),
        "__nameid_version1.0": {"__substg1.0_00020102": b"", "__substg1.0_00030102": b"", "__substg1.0_00040102": b""},
        **texts([(0x001A, "IPM.Note"), (0x0037, "Öffnungszeiten im Sommer"), (0x0C1A, "Hafenschule"),
                 (0x0C1F, "sekretariat@hafenschule.example"), (0x0E04, "Harbour Street Library Trust"), (0x1000, body)]),
        "__recip_version1.0_#00000000": {
            "__properties_version1.0": properties(bytes(8), [(0x0C15, 3, 1)]),
            **texts([(0x3001, "Harbour Street Library Trust"), (0x39FE, "desk@library.example")])},
        "__attach_version1.0_#00000000": {
            "__properties_version1.0": properties(bytes(8), [(0x3705, 3, 1)]),
            "__substg1.0_37010102": note,
            **texts([(0x3707, "Klassen.txt"), (0x370E, "text/plain")])},
    }
    return compound(mail)
