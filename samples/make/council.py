"""The papers of the council of Quillhaven, a town that does not exist. Its firms, people and streets do not, either."""

from reports import locked, pdf, scan, sheet, staff_report, word

PUBLIC_WORKS = "Public Works Department"
PLANNING = "Community Development Department"
FINANCE = "Finance Department"


def street_repair():
    return staff_report("Award of the contract for the 2026 Street Repair Program", PUBLIC_WORKS, [
        "# RECOMMENDATION",
        "Award the contract for the 2026 Street Repair Program to Kestrel Paving Company, the lowest responsible bidder, "
        "in the amount of $2,417,350, and authorize the City Manager to approve change orders not to exceed $241,000.",
        "# SUMMARY",
        "The program repaves 6.3 miles of residential streets, rebuilds 41 curb ramps and repairs sidewalks along "
        "Alder Avenue, Spruce Street and Wharf Street.",
        "# BACKGROUND",
        "The City surveys the condition of its streets every third year. The survey of 2025 rated 22 percent of the "
        "residential streets as poor. Four bids were opened on February 18, 2026; they ranged from $2,417,350 to "
        "$2,986,100. The engineer's estimate was $2,550,000.",
        "# FISCAL IMPACT",
        "The total cost of $2,658,350 is paid from the Transportation Benefit Fund, which holds $1,900,000 for this "
        "program, and from a state grant of $758,350.",
        "# SCHEDULE",
        "Work begins on June 15, 2026 and is to be completed by September 30, 2026. Residents receive a notice at least "
        "ten days before their street is closed.",
        "# ATTACHMENTS", "A. Bid tabulation", "B. Form of contract",
    ])


def bids():
    return sheet("Bid tabulation", [
        ["Bidder", "Base bid", "Alternate 1", "Total"],
        ["Kestrel Paving Company", 2231150.00, 186200.00, 2417350.00],
        ["Northfork Asphalt, Inc.", 2298400.00, 214000.00, 2512400.00],
        ["Saltmarsh Contractors LLC", 2475000.00, 199750.00, 2674750.00],
        ["Bluff & Bay Builders", 2741600.00, 244500.00, 2986100.00],
    ], [32, 16, 16, 16])


def street_contract():
    return pdf("Contract for the 2026 Street Repair Program", [
        "= PUBLIC WORKS CONTRACT", "This contract is between the City of Quillhaven and Kestrel Paving Company.",
        "# 1. SCOPE OF WORK", "The Contractor furnishes all labor, equipment and materials for Project No. ST-26-01.",
        "# 2. TIME", "The Contractor completes the work within 108 days after the notice to proceed.",
        "# 3. COMPENSATION", "The City pays the Contractor the unit prices of its bid, in total $2,417,350.",
        "# 4. RETAINAGE", "The City retains five percent of each payment until the work has been accepted.",
        "# 5. INSURANCE", "The Contractor carries insurance of $2,000,000 for each occurrence.",
    ])


def rezoning():
    return staff_report("Public hearing on the rezoning of 1410 and 1422 Cannery Road (Z-2026-002)", PLANNING, [
        "# RECOMMENDATION",
        "1. Hold a public hearing on the rezoning of 1410 and 1422 Cannery Road.",
        "2. Introduce Ordinance No. 2026-06, which changes the zoning of the two parcels from Light Industrial (LI) to "
        "Mixed Use (MU-2), and schedule its second reading for March 24, 2026.",
        "# PROJECT DESCRIPTION",
        "The applicant, Harbor Lantern Homes LLC, asks to rezone 4.2 acres at the former cannery. It plans 96 apartments, of "
        "which 15 are reserved for households with low income, above 8,000 square feet of shops.",
        "# BACKGROUND",
        "The cannery closed in 2019 and its buildings stand empty. The owner of the land is Cannery Road Holdings, Inc. The "
        "Planning Commission held a hearing on February 11, 2026 and recommended approval by a vote of 6 to 1.",
        "# ANALYSIS",
        "The comprehensive plan shows the site as mixed use. Traffic at Cannery Road and Ferry Street grows by 410 trips a "
        "day, and the applicant is to pay $385,000 toward a traffic signal there.",
        "# PUBLIC NOTICE",
        "Notice was mailed to 212 owners within 500 feet of the site on February 20, 2026. The City has received 31 letters: "
        "19 in favor, 12 opposed.",
        "# FISCAL IMPACT", "There is no direct cost to the City. The applicant has paid the application fee of $6,400.",
        "# NEXT STEPS", "If the ordinance is introduced, the second reading takes place on March 24, 2026.",
    ])


def rezoning_ordinance():
    return pdf("Ordinance No. 2026-06", [
        "= ORDINANCE NO. 2026-06",
        "AN ORDINANCE OF THE CITY OF QUILLHAVEN, WASHINGTON, AMENDING THE OFFICIAL ZONING MAP FOR 1410 AND 1422 CANNERY ROAD "
        "FROM LIGHT INDUSTRIAL TO MIXED USE (MU-2).",
        "WHEREAS, Harbor Lantern Homes LLC has applied for the rezoning of 4.2 acres; and",
        "WHEREAS, the Planning Commission recommended approval on February 11, 2026;",
        "NOW, THEREFORE, THE CITY COUNCIL OF THE CITY OF QUILLHAVEN DOES ORDAIN AS FOLLOWS:",
        "Section 1. The official zoning map is amended as shown in Exhibit A.",
        "Section 2. This ordinance takes effect five days after its publication.",
    ])


def letters():
    """What people wrote: a compilation that nobody summarises."""
    voices = ["We live behind the cannery and want homes there.", "Please keep the road quiet at night.",
              "My shop needs neighbors.", "Ninety-six apartments are too many for two lanes.",
              "Where will the trucks of the boatyard go?", "The town needs places for people who work here."]
    pages = [part for number in range(1, 32) for part in (
        f"# Letter {number}", "From: a resident of Quillhaven", voices[number % len(voices)], *(["---"] if number % 4 == 0 else []))]
    return pdf("Public comments received on Z-2026-002", ["= PUBLIC COMMENTS RECEIVED", *pages])


def appeal():
    return staff_report("Appeal of the conditional use permit for a drive-through at 305 Ferry Street", PLANNING, [
        "# REQUESTED ACTION",
        "Deny the appeal and uphold the Hearing Examiner's approval of Conditional Use Permit CUP-2025-019 with the two added "
        "conditions in Attachment B.",
        "# SUMMARY",
        "The Old Ferry Neighbors Association appeals the permit for a coffee shop with a drive-through at 305 Ferry Street. The "
        "applicant is Brightcup Coffee Company.",
        "# BACKGROUND",
        "The Hearing Examiner approved the permit on January 15, 2026. The appeal was filed on January 28, 2026, within the "
        "fourteen days that the code allows.",
        "# DISCUSSION",
        "The appellant argues that the line of cars will block the sidewalk to Ferry Street School. Staff proposes that the "
        "drive-through stays closed from 7:45 to 8:30 a.m. on school days, and that the applicant builds a second lane for "
        "eight cars.",
        "# FISCAL IMPACT", "None. The appellant has paid the appeal fee of $750.",
        "# NEXT STEPS", "The decision of the Council is final. It can be appealed to the superior court within 21 days.",
    ])


def rentals(reading, date):
    first = reading == "first"
    asked = ("Introduce Ordinance No. 2026-04 and schedule its second reading for March 10, 2026." if first else
             "Adopt Ordinance No. 2026-04 on second reading. It takes effect on April 15, 2026.")
    return staff_report(f"Ordinance No. 2026-04 on short-term rentals, {reading} reading", PLANNING, [
        "# RECOMMENDATION", asked,
        "# SUMMARY",
        "The ordinance asks owners who rent out a home for fewer than 30 days at a time to hold a license, limits such "
        "rentals to 120 in the whole town and to one for each owner, and sets a fine of $500 for each day without a license.",
        "# BACKGROUND",
        "About 260 homes in Quillhaven are offered to visitors, twice as many as in 2020. The Council discussed the matter on "
        "November 18, 2025 and asked for an ordinance.",
        *([] if first else ["# CHANGES SINCE THE FIRST READING",
                            "On February 24, 2026 the Council introduced the ordinance by a vote of 4 to 1. As asked then, owners who "
                            "live on the property are exempt from the limit of 120."]),
        "# FISCAL IMPACT",
        "Licenses cost $240 per year. Staff expects revenue of about $28,800 per year, which pays for half a position in code "
        "enforcement.",
    ], date=date)


def rentals_ordinance():
    return pdf("Ordinance No. 2026-04", [
        "= ORDINANCE NO. 2026-04",
        "AN ORDINANCE OF THE CITY OF QUILLHAVEN, WASHINGTON, ADDING A CHAPTER ON SHORT-TERM RENTALS TO THE MUNICIPAL CODE.",
        "NOW, THEREFORE, THE CITY COUNCIL OF THE CITY OF QUILLHAVEN DOES ORDAIN AS FOLLOWS:",
        "Section 1. No one shall rent out a dwelling for fewer than 30 consecutive days without a license.",
        "Section 2. The City issues no more than 120 licenses, and no more than one to each owner. Owners who live on the "
        "property do not count toward this number.",
        "Section 3. A license costs $240 per year and is renewed each January.",
        "Section 4. Whoever rents out a dwelling without a license pays a fine of $500 for each day.",
        "Section 5. This ordinance takes effect on April 15, 2026.",
    ])


def budget():
    return staff_report("First amendment of the 2026 budget", FINANCE, [
        "# RECOMMENDATION",
        "Introduce Ordinance No. 2026-05, which amends the 2026 budget and appropriates $1,930,000 from fund balances.",
        "# SUMMARY",
        "The amendment carries forward projects that were not finished in 2025, adds two firefighters and replaces the roof of "
        "the library.",
        "# FISCAL IMPACT",
        "The General Fund balance falls by $1,120,000 to $8,460,000, which is 21 percent of yearly expenses and above the "
        "minimum of 16 percent. The Capital Fund pays $810,000 for the library roof.",
        "# NEXT STEPS", "The second reading and a public hearing take place on March 24, 2026.",
    ])


def budget_lines():
    return sheet("Amendment 1", [
        ["Fund", "Purpose", "Adopted 2026", "Amendment", "Amended 2026"],
        ["General", "Fire: two firefighters", 6210000, 296000, 6506000],
        ["General", "Projects carried forward", 1400000, 824000, 2224000],
        ["Capital", "Library roof", 0, 810000, 810000],
        ["", "Total", 7610000, 1930000, 9540000],
    ], [14, 30, 16, 16, 16])


def lease():
    return staff_report("Lease of the Boathouse at 12 Wharf Street", "City Manager's Office", [
        "# RECOMMENDED ACTION",
        "Authorize the City Manager to execute a lease of the Boathouse at 12 Wharf Street with the Quillhaven Rowing Club for "
        "ten years, from May 1, 2026 to April 30, 2036, at a rent of $1,200 per month.",
        "# BACKGROUND",
        "The club has used the building since 1998. The old lease ended on December 31, 2025 and continues from month to month. "
        "The club will renew the dock at its own cost of about $90,000 and teach 60 children to row without charge each summer.",
        "# FISCAL IMPACT", "The rent brings $14,400 per year to the Waterfront Fund, $2,400 more than before.",
    ])


def lease_terms():
    return pdf("Boathouse lease: terms", [
        "= TERMS OF THE LEASE",
        [["What", "Terms"], ["Term", "Ten years from May 1, 2026"], ["Premises", "Boathouse and dock, 12 Wharf Street, 3,100 square feet"],
         ["Rent", "$1,200 per month, raised by 2 percent each May"], ["Repairs", "Inside by the club, roof and walls by the City"],
         ["Public use", "Dock open to everybody from sunrise to sunset"]],
    ])


def culverts():
    """One report for two items of the consent calendar."""
    return staff_report("Mill Creek Culvert Program: grant and design", PUBLIC_WORKS, [
        "# RECOMMENDATION",
        "1. Accept a grant of $212,000 from the State Salmon Recovery Board for the culvert at Mill Creek and Orchard Lane.",
        "2. Authorize the City Manager to execute Amendment No. 1 to the agreement with Tidewater Engineering, Inc. for the design of "
        "the culvert, in an amount not to exceed $148,500.",
        "# BACKGROUND",
        "The culvert was built in 1957 and blocks salmon from two miles of the creek. It floods Orchard Lane in most winters. The "
        "new one is twelve feet wide.",
        "# FISCAL IMPACT",
        "The grant pays the design in full. The remaining $63,500 is set aside for permits. Construction is estimated at "
        "$1,650,000 and has no funds yet.",
        "# SCHEDULE", "The design is due by November 30, 2026. Construction is planned for the summer of 2027.",
    ])


def sweepers():
    return word("Purchase of two electric street sweepers", PUBLIC_WORKS, [
        "# RECOMMENDATION",
        "Approve the purchase of two electric street sweepers from Northline Fleet Supply in the amount of $684,200, through the "
        "state's cooperative contract No. 05721.",
        "# BACKGROUND",
        "The two diesel sweepers were bought in 2009. Repairs cost $71,000 last year, and one of them stood still for eleven weeks.",
        "# FISCAL IMPACT",
        "The Equipment Fund has budgeted $700,000 for the purchase. Staff expects to save $26,000 per year in fuel and repairs.",
        "# SCHEDULE", "Delivery is expected by October 1, 2026.",
    ])


def claims():
    return sheet("Claims February 2026", [
        ["Payee", "Purpose", "Amount"],
        ["Kestrel Paving Company", "Patching, Spruce Street", 18240.50],
        ["Quillhaven School District", "Shared gymnasium", 9600.00],
        ["Inlet Power & Light", "Street lighting", 31977.27],
        ["Payroll", "February 2026", 812455.00],
        ["Total", "", 872272.77],
    ], [30, 30, 16])


def minutes():
    return pdf("Minutes of February 24, 2026", [
        "= MINUTES OF THE REGULAR MEETING", "^ February 24, 2026",
        "Mayor Ilse Varga called the meeting to order at 6:30 p.m. All five members were present.",
        "# ACTIONS", "Ordinance No. 2026-04 on short-term rentals was introduced, 4 to 1.",
        "The Transportation Plan was adopted, 5 to 0. The moratorium on new storage buildings failed, 2 to 3.",
        "The meeting was adjourned at 8:52 p.m.",
    ])


def arbor():
    return pdf("Proclamation: Arbor Month", [
        "= PROCLAMATION", "WHEREAS, the trees of Quillhaven shade its streets; and",
        "WHEREAS, volunteers planted 340 trees last year;",
        "NOW, THEREFORE, I, the Mayor of Quillhaven, do hereby proclaim April 2026 as ARBOR MONTH.",
    ])


def water_main():
    """An emergency: the memo came on paper."""
    return scan("Memo: water main in Spruce Street", [
        (15, True, "City of Quillhaven"), (11, False, "MEMORANDUM"), (11, False, ""),
        (11, False, "TO: City Council"), (11, False, "FROM: Public Works Department"),
        (11, False, "SUBJECT: Emergency repair of the Spruce Street water main"), (11, False, ""),
        (11, True, "RECOMMENDATION"),
        (11, False, "Ratify the emergency contract with Deepwell Utilities, Inc."),
        (11, False, "for the repair of the water main in Spruce Street in the"),
        (11, False, "amount of $96,400."), (11, False, ""),
        (11, True, "BACKGROUND"),
        (11, False, "The main broke on February 26, 2026. Eighty homes had no"),
        (11, False, "water for fourteen hours. The pipe was laid in 1949 and"),
        (11, False, "another 900 feet of it should be replaced this year."), (11, False, ""),
        (11, True, "FISCAL IMPACT"),
        (11, False, "The Water Fund pays $96,400 from its reserve."),
    ])


def fiber():
    return locked("Draft agreement, confidential", [
        "= CONDUIT USE AGREEMENT", "The cooperative pays the City $2.10 per foot and year for the use of its conduits."])


def transportation_plan():
    return staff_report("Transportation Plan 2026 to 2045", PUBLIC_WORKS, [
        "# RECOMMENDATION", "Adopt Resolution No. 2026-11, approving the Transportation Plan for 2026 to 2045.",
        "# SUMMARY",
        "The plan names 38 projects, among them a bicycle lane on Ferry Street and a roundabout at Cannery Road.",
        "# FISCAL IMPACT", "The projects cost $74 million over twenty years, of which $31 million have no funding yet.",
    ], date="February 24, 2026")


def audit():
    return staff_report("Agreement for audit services", FINANCE, [
        "# RECOMMENDATION",
        "Authorize the City Manager to execute an agreement with Plover & Finch, LLP for the audits of the years 2025 to 2027, in "
        "an amount not to exceed $68,400.",
        "# FISCAL IMPACT", "The audit of 2025 costs $22,000 and is in the budget.",
    ], date="February 24, 2026")


def storage():
    return staff_report("Moratorium on new storage buildings downtown", PLANNING, [
        "# REQUESTED ACTION",
        "Adopt Interim Ordinance No. 2026-03, a moratorium of six months on permits for new self-storage buildings downtown.",
        "# SUMMARY", "Three applications for storage buildings downtown were filed since October 2025.",
        "# FISCAL IMPACT", "None.",
    ], date="February 24, 2026")


TAKING_PART = [
    "# HOW TO TAKE PART",
    "The meeting is hybrid: attend in person at Town Hall, 1 Harbor Square, Quillhaven, or join online at "
    "https://us02web.zoom.us/j/81234567890. Meeting ID: 812 3456 7890. Passcode: 246810. To listen by phone dial "
    "(253) 555-0142.",
    "Written comments: send an e-mail to comments@quillhaven.example by noon on March 10, 2026; they are given to the Council before "
    "the meeting.",
    "City Clerk: clerk@quillhaven.example, phone (360) 555-0117.",
]


def agenda(date, rows):
    """The agenda as people print it."""
    parts = ["= QUILLHAVEN CITY COUNCIL", f"^ Regular meeting, {date}, 6:30 p.m.", "^ Council Chamber, Town Hall, 1 Harbor Square",
             *TAKING_PART, "# AGENDA"]
    lines = (f"{number} {title}" if number else f"# {title}" for number, title in rows)
    return pdf(f"Agenda, {date}", [*parts, *lines], "Agenda")


def packet():
    """The Parks and Trees Commission publishes one file, with bookmarks."""
    date = "March 5, 2026"
    return pdf("Parks and Trees Commission, agenda packet", [
        "@ Agenda", "= QUILLHAVEN PARKS AND TREES COMMISSION", f"^ Regular meeting, {date}, 5:30 p.m.",
        "^ Community Hall, 40 Orchard Lane, Quillhaven",
        "Comments may be sent to parks@quillhaven.example until March 5, 2026 at noon.",
        "# AGENDA", "1. Call to order", "2. Approval of the minutes of February 5, 2026",
        "3. Removal of fourteen street trees on Alder Avenue", "4. New playground at Cooper Park",
        "5. Lifeguards at Mill Pond in the summer of 2026", "6. Adjournment",
        "---", "@ 2. Approval of the minutes of February 5, 2026", "= MINUTES", "The commission met on February 5, 2026. All were present.",
        "---", "@ 3. Removal of fourteen street trees on Alder Avenue",
        ("SUBJECT", "Removal of fourteen street trees on Alder Avenue"),
        "# RECOMMENDATION",
        "Approve the removal of fourteen ash trees between 200 and 480 Alder Avenue, and the planting of twenty oaks in their place by "
        "December 1, 2026.",
        "# BACKGROUND", "The ash borer was found in the trees in August 2025. An arborist has examined each of them; none can be saved.",
        "# FISCAL IMPACT", "Removal and planting cost $38,700, from the Tree Fund.",
        "---", "@ 4. New playground at Cooper Park", ("SUBJECT", "New playground at Cooper Park"),
        "# RECOMMENDED ACTION",
        "Recommend that the City Council accept a grant of $386,000 for a new playground at Cooper Park and approve the design.",
        "# SUMMARY", "The playground of 1994 is replaced by one that children in wheelchairs can use, with a fence and shade.",
        "# FISCAL IMPACT", "The grant pays $386,000 of $425,000. The Parks Fund pays the remaining $39,000.",
        "# SCHEDULE", "The playground is closed from September 8, 2026 to November 20, 2026.",
        "---", "@ 5. Lifeguards at Mill Pond in the summer of 2026",
        ("SUBJECT", "Lifeguards at Mill Pond in the summer of 2026"),
        "# RECOMMENDATION", "Receive the report and give direction on the hours of the lifeguards.",
        "# BACKGROUND",
        "Six lifeguards watched the pond from June 20 to August 31, 2025. Four have applied so far this year. With four, the pond can be "
        "watched from noon to 5 p.m., with six from 11 a.m. to 7 p.m.",
        "# FISCAL IMPACT", "Four lifeguards cost $41,600 for the season, six cost $62,400. The budget has $55,000.",
    ], "Agenda packet")
