"""The recording in ../civic: what the sites of Quillhaven, a town that does not exist, answered on 2 March 2026.

The council is on Legistar, the Parks and Trees Commission on PrimeGov. The form of a recording is in
docs/civic-recordings.md; one document is not there any more, and one is encrypted.
"""

import json

import council

API = "https://webapi.legistar.com/v1/quillhaven"
FILES = "https://quillhaven.legistar1.com/quillhaven"
PORTAL = "https://quillhaven.primegov.com"
DAY = "2026-03-02T17:00:00Z"

MEMBERS = {7101: "Ilse Varga", 7102: "Tobias Okafor", 7103: "Rosalind Quist", 7104: "Henrik Adeyemi", 7105: "Marisol Trent"}
PAST, UPCOMING = 4101, 4102

CITIES = """banana,name,vendor,slug,tz,extra,zipcodes,population
quillhavenWA,Quillhaven,legistar,quillhaven,America/Los_Angeles,primegov:quillhaven,00000,11400
"""


class Row:
    """A row of an agenda: a heading without a number, or an item with its matter and its documents."""

    def __init__(self, title, number=None, matter=None, kind=None, files=(), note=None, consent=0, vote=None, sponsors=()):
        self.title, self.number, self.matter, self.kind, self.files = title, number, matter, kind, files
        self.note, self.consent, self.vote, self.sponsors = note, consent, vote, sponsors


# (action, passed, tally, mover, seconder, who voted no)
ALL_FIVE = ("adopted", "Pass", "5:0", 7103, 7104, ())

FEBRUARY = [
    Row("CALL TO ORDER"), Row("ROLL CALL"), Row("CONSENT CALENDAR"),
    Row("Approval of the minutes of the regular meeting of February 10, 2026", "1.", consent=1),
    Row("Agreement with Plover & Finch, LLP for audits of the years 2025 to 2027", "2.", (9002, "CON 2026-007"), "Contract",
        [("Staff Report", "audit-report.pdf")], consent=1, vote=("approved", "Pass", "5:0", 7102, 7105, ())),
    Row("ORDINANCES AND RESOLUTIONS"),
    Row("Ordinance No. 2026-04 on short-term rentals (first reading)", "3.", (9003, "ORD 2026-04"), "Ordinance",
        [("Staff Report, first reading", "rentals-first-report.pdf"), ("Ordinance No. 2026-04", "rentals-ordinance.pdf")],
        vote=("introduced", "Pass", "4:1", 7105, 7103, (7102,)), sponsors=(7105,)),
    Row("Resolution No. 2026-11 adopting the Transportation Plan for 2026 to 2045", "4.", (9004, "RES 2026-11"), "Resolution",
        [("Staff Report", "transportation-report.pdf")], vote=ALL_FIVE),
    Row("Interim Ordinance No. 2026-03, a moratorium on new storage buildings downtown", "5.", (9005, "ORD 2026-03"), "Ordinance",
        [("Staff Report", "storage-report.pdf")], vote=("adopted", "Fail", "2:3", 7104, 7105, (7101, 7102, 7103)), sponsors=(7104, 7105)),
    Row("ADJOURNMENT"),
]

MARCH = [
    Row("CALL TO ORDER"), Row("ROLL CALL"), Row("PUBLIC COMMENT"), Row("PROCLAMATIONS"),
    Row("Proclamation: April 2026 as Arbor Month in Quillhaven", "1.", (9011, "PRO 2026-02"), "Proclamation",
        [("Proclamation", "arbor-proclamation.pdf")]),
    Row("CONSENT CALENDAR"),
    Row("Approval of the minutes of the regular meeting of February 24, 2026", "2.", files=[("Draft Minutes", "minutes-2026-02-24.pdf")],
        matter=(9012, "MIN 2026-04"), kind="Minutes", consent=1),
    Row("Approval of claims and payroll for February 2026 in the amount of $872,272.77", "3.", (9013, "CLM 2026-02"), "Claims",
        [("Register of claims", "claims-2026-02.xlsx")], consent=1),
    Row("Acceptance of a state grant for the Mill Creek culvert at Orchard Lane", "4.", (9014, "GR 2026-003"), "Grant",
        [("Staff Report: Mill Creek Culvert Program", "culvert-report.pdf")], consent=1),
    Row("Amendment No. 1 to the agreement with Tidewater Engineering, Inc. for the design of the Mill Creek culvert", "5.",
        (9015, "CON 2026-009"), "Contract", [("Staff Report: Mill Creek Culvert Program", "culvert-report.pdf")], consent=1),
    Row("Purchase of two electric street sweepers from Northline Fleet Supply", "6.", (9016, "CON 2026-010"), "Contract",
        [("Staff Report", "sweepers-report.docx")], consent=1),
    Row("PUBLIC HEARINGS"),
    Row("Public hearing: rezoning of 1410 and 1422 Cannery Road from Light Industrial to Mixed Use (Z-2026-002)", "7.",
        (9017, "ORD 2026-06"), "Ordinance",
        [("Staff Report", "rezoning-report.pdf"), ("Ordinance No. 2026-06", "rezoning-ordinance.pdf"),
         ("Public Comments Received", "rezoning-comments.pdf")]),
    Row("Appeal of Conditional Use Permit CUP-2025-019 for a drive-through at 305 Ferry Street", "8.", (9018, "APP 2026-001"), "Appeal",
        [("Staff Report", "appeal-report.pdf")]),
    Row("ORDINANCES AND RESOLUTIONS"),
    Row("Ordinance No. 2026-04 on short-term rentals (second reading)", "9.", (9003, "ORD 2026-04"), "Ordinance",
        [("Staff Report, second reading", "rentals-second-report.pdf"), ("Ordinance No. 2026-04", "rentals-ordinance.pdf")],
        sponsors=(7105,)),
    Row("Ordinance No. 2026-05 amending the 2026 budget (first reading)", "10.", (9020, "ORD 2026-05"), "Ordinance",
        [("Staff Report", "budget-report.pdf"), ("Budget Lines", "budget-lines.xlsx")]),
    Row("NEW BUSINESS"),
    Row("Award of the contract for the 2026 Street Repair Program to Kestrel Paving Company", "11.", (9021, "CON 2026-011"), "Contract",
        [("Staff Report", "street-report.pdf"), ("Bid Tabulation", "street-bids.xlsx"), ("Form of Contract", "street-contract.pdf")]),
    Row("Lease of the Boathouse at 12 Wharf Street to the Quillhaven Rowing Club", "12.", (9022, "LSE 2026-001"), "Lease",
        [("Staff Report", "boathouse-report.pdf"), ("Lease Terms", "boathouse-terms.pdf")]),
    Row("Ratification of the emergency repair of the water main in Spruce Street", "13.", (9023, "CON 2026-012"), "Contract",
        [("Memorandum (scanned)", "water-main-memo.pdf")]),
    Row("Agreement with the Inlet Fiber Cooperative for the use of city conduits", "14.", (9024, "CON 2026-013"), "Contract",
        [("Draft agreement", "fiber-agreement.pdf")],
        note="The City Council will consider an agreement with the Inlet Fiber Cooperative for the use of 22 miles of city conduits. "
             "The cooperative pays $243,900 per year from July 1, 2026."),
    Row("Interlocal agreement with the Port of Quillhaven on the care of Harbor Square", "15.", (9025, "ILA 2026-002"), "Interlocal Agreement",
        [("Interlocal Agreement", "port-agreement.pdf")]),
    Row("REPORTS"), Row("City Manager's report"), Row("ADJOURNMENT"),
]


def documents():
    return {
        "agenda-2026-02-24.pdf": council.agenda("February 24, 2026", printed(FEBRUARY)),
        "agenda-2026-03-10.pdf": council.agenda("March 10, 2026", printed(MARCH)),
        "audit-report.pdf": council.audit(), "transportation-report.pdf": council.transportation_plan(),
        "storage-report.pdf": council.storage(), "rentals-first-report.pdf": council.rentals("first", "February 24, 2026"),
        "rentals-second-report.pdf": council.rentals("second", "March 10, 2026"), "rentals-ordinance.pdf": council.rentals_ordinance(),
        "arbor-proclamation.pdf": council.arbor(), "minutes-2026-02-24.pdf": council.minutes(), "claims-2026-02.xlsx": council.claims(),
        "culvert-report.pdf": council.culverts(), "sweepers-report.docx": council.sweepers(), "rezoning-report.pdf": council.rezoning(),
        "rezoning-ordinance.pdf": council.rezoning_ordinance(), "rezoning-comments.pdf": council.letters(),
        "appeal-report.pdf": council.appeal(), "budget-report.pdf": council.budget(), "budget-lines.xlsx": council.budget_lines(),
        "street-report.pdf": council.street_repair(), "street-bids.xlsx": council.bids(), "street-contract.pdf": council.street_contract(),
        "boathouse-report.pdf": council.lease(), "boathouse-terms.pdf": council.lease_terms(), "water-main-memo.pdf": council.water_main(),
        "fiber-agreement.pdf": council.fiber(), "parks-packet.pdf": council.packet(),
    }


def printed(rows):
    return [(row.number or "", row.title) for row in rows]


def attachment(number, name, file):
    return {"MatterAttachmentId": number, "MatterAttachmentName": name, "MatterAttachmentHyperlink": f"{FILES}/attachments/{file}",
            "MatterAttachmentFileName": file, "MatterAttachmentShowOnInternetPage": True}


def item(meeting, place, row):
    number = meeting * 100 + place
    action, passed, tally, mover, seconder, _ = row.vote or (None,) * 6
    matter, file = row.matter or (None, None)
    return {
        "EventItemId": number, "EventItemEventId": meeting, "EventItemAgendaSequence": place, "EventItemMinutesSequence": None,
        "EventItemAgendaNumber": row.number, "EventItemTitle": row.title, "EventItemAgendaNote": row.note, "EventItemConsent": row.consent,
        "EventItemActionName": action, "EventItemPassedFlagName": passed, "EventItemTally": tally, "EventItemMover": MEMBERS.get(mover),
        "EventItemSeconder": MEMBERS.get(seconder), "EventItemRollCallFlag": 0, "EventItemMatterId": matter, "EventItemMatterFile": file,
        "EventItemMatterType": row.kind, "EventItemMatterAttachments": [
            attachment(number * 10 + at, name, file) for at, (name, file) in enumerate(row.files)],
    }


def event(number, date, file, minutes=None):
    return {
        "EventId": number, "EventGuid": f"0F1E2D3C-0000-4000-8000-{number:012}", "EventBodyId": 301, "EventBodyName": "City Council",
        "EventDate": f"{date}T00:00:00", "EventTime": "6:30 PM", "EventAgendaStatusName": "Final", "EventMinutesStatusName": "Draft",
        "EventLocation": "Council Chamber, Town Hall, 1 Harbor Square", "EventAgendaFile": f"{FILES}/meetings/{file}",
        "EventMinutesFile": minutes, "EventComment": None, "EventVideoPath": None,
        "EventInSiteURL": f"https://quillhaven.legistar.com/MeetingDetail.aspx?LEGID={number}&GID=301", "EventItems": [],
    }


def votes(row):
    against = row.vote[5]
    return [{"VoteId": number, "VotePersonId": number, "VotePersonName": name, "VoteValueName": "Nay" if number in against else "Aye",
             "VoteSort": at} for at, (number, name) in enumerate(MEMBERS.items(), 1)]


def office(number, name):
    return {"OfficeRecordId": number, "OfficeRecordPersonId": number, "OfficeRecordFullName": name, "OfficeRecordBodyId": 301,
            "OfficeRecordBodyName": "City Council", "OfficeRecordTitle": "Mayor" if number == 7101 else "Council Member",
            "OfficeRecordStartDate": "2024-01-01T00:00:00", "OfficeRecordEndDate": "2027-12-31T00:00:00"}


def sponsor(at, number):
    return {"MatterSponsorId": at, "MatterSponsorSequence": at, "MatterSponsorNameId": number, "MatterSponsorName": MEMBERS[number]}


def parks():
    return [{
        "id": 511, "title": "Parks and Trees Commission", "dateTime": "2026-03-05T17:30:00", "date": "Mar 05, 2026", "time": "5:30 PM",
        "committeeId": 12, "meetingTypeId": 3, "meetingState": 3, "location": "Community Hall, 40 Orchard Lane",
        "documentList": [{"id": 8811, "templateId": 2291, "templateName": "Agenda Packet", "compileOutputType": 1, "publishStatus": 1,
                          "language": "en"}],
    }]


def lines(files):
    """Every answer that a visit and the reading after it ask for."""
    yield {"url": f"{API}/Events?*", "json": [event(UPCOMING, "2026-03-10", "agenda-2026-03-10.pdf"),
                                              event(PAST, "2026-02-24", "agenda-2026-02-24.pdf")]}
    yield {"url": f"{API}/OfficeRecords?*", "json": [office(number, name) for number, name in MEMBERS.items()]}
    matters = {}
    for meeting, rows in ((PAST, FEBRUARY), (UPCOMING, MARCH)):
        yield {"url": f"{API}/Events/{meeting}/EventItems?*", "json": [item(meeting, place, row) for place, row in enumerate(rows, 1)]}
        for place, row in enumerate(rows, 1):
            if row.vote:
                yield {"url": f"{API}/EventItems/{meeting * 100 + place}/Votes", "json": votes(row)}
            if row.matter:
                matters[row.matter[0]] = row.sponsors
    for matter, sponsors in matters.items():
        yield {"url": f"{API}/Matters/{matter}/Sponsors", "json": [sponsor(at, number) for at, number in enumerate(sponsors, 1)]}
    yield {"url": f"{PORTAL}/api/v2/PublicPortal/ListUpcomingMeetings", "json": parks()}
    yield {"url": f"{PORTAL}/api/v2/PublicPortal/ListArchivedMeetings?year=2026", "json": []}
    for name in files:
        folder = "meetings" if name.startswith("agenda") else "attachments"
        url = f"{FILES}/{folder}/{name}"
        if name.startswith("parks"):
            url = f"{PORTAL}/Public/CompiledDocument?meetingTemplateId=2291&compileOutputType=1"
        yield {"url": url, "body": name}
    yield {"url": f"{FILES}/attachments/port-agreement.pdf", "status": 404}


def all_files():
    files = documents()
    text = [json.dumps({**line, "at": DAY}, ensure_ascii=False) for line in lines(files)]
    return files | {"recording.jsonl": "\n".join([*text, ""]).encode(), "cities.csv": CITIES.encode()}
