"""The case files in ../checklists: a loan application, an insurance claim, a hiring file. ../README.md says what is in them.

Needs nothing but Python.
"""

from pathlib import Path


LEFT, VALUES, COLUMNS = 56, 200, (56, 140, 340, 430, 510)


def page(title, *parts):
    """A PDF of one page in Helvetica, written by hand so that no package is needed and every run gives the same bytes."""
    marks, y = [], 780
    for part in parts:
        for size, row in part:
            marks += [f"BT /F1 {size} Tf {x} {y} Td ({escaped(text)}) Tj ET" for x, text in row if text]
            y -= size + 7
        y -= 10
    stream = "\n".join(marks)
    objects = ["<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
               "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>",
               f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream",
               "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>", f"<< /Title ({title}) >>"]
    out, places = "%PDF-1.4\n", []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += f"{number} 0 obj\n{body}\nendobj\n"
    start = len(out)
    out += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n" + "".join(f"{place:010} 00000 n \n" for place in places)
    return out + f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R /Info 6 0 R >>\nstartxref\n{start}\n%%EOF\n"


def escaped(text):
    return text.replace("(", "\\(").replace(")", "\\)")


def heading(text):
    return [(18, [(LEFT, text)])]


def lines(*texts):
    """What is before a colon is a label, and the value stands beside it."""
    def row(text):
        label, colon, value = text.partition(": ")
        return [(LEFT, label + ":"), (VALUES, value)] if colon else [(LEFT, text)]
    return [(10, row(text)) for text in texts]


def table(*rows):
    return [(10, list(zip(COLUMNS, row))) for row in rows]


def form(title, number, *pairs):
    return page(title, heading(title), lines(f"Form number: {number}", "Please complete all fields in block letters."),
                lines(*(f"{name}: {value}" for name, value in pairs)), lines("Signature of the applicant: signed"))


def id_card(given, surname, number, born, expires):
    return page("Identity card", heading("IDENTITY CARD"),
                lines("Republic of Utopia", f"Document number: {number}", f"Surname: {surname}", f"Given names: {given}",
                      f"Date of birth: {born}", "Nationality: Utopian", "Sex: F", f"Date of expiry: {expires}"))


def payslip(month, period, paid, employee="Alex Specimen"):
    return page(f"Payslip {month}", heading("PAYSLIP"),
                lines("Employer: Harbour Street Library Trust", f"Employee: {employee}", "Employee number: 0042",
                      f"Pay period: {period}", f"Payment date: {paid}"),
                table(("Earnings", "", "Amount"), ("Basic pay", "", "3,024.00")),
                lines("Gross pay: EUR 3,024.00", "Total deductions: EUR 885.24", "Net pay: EUR 2,138.76",
                      "IBAN: DE02 1005 0000 0054 5404 02"))


def statement(holder):
    return page("Bank statement", heading("Bank statement"),
                lines("Utopia Savings Bank", f"Account holder: {holder}", "IBAN: DE02 1005 0000 0054 5404 02", "BIC: BELADEBEXXX",
                      "Statement number: 2/2026", "Statement date: 28 February 2026",
                      "Statement period: 1 February 2026 to 28 February 2026", "Opening balance: EUR 1,200.00"),
                table(("Date", "Description", "Credit", "Debit", "Balance"),
                      ("27.02.2026", "Salary Harbour Street Library Trust", "2,138.76", "", "3,338.76"),
                      ("28.02.2026", "Rent", "", "900.00", "2,438.76")),
                lines("Closing balance: EUR 2,438.76"))


def contract(title, number, party_a, party_b, date, start, text):
    return page(title, heading(title),
                lines(f"Contract number: {number}", f"Date: {date}", f"This agreement is made between {party_a} and {party_b}.",
                      f"Start date: {start}", text, "The parties agree to the terms and conditions of this agreement.",
                      f"Signed on {date}"))


def loan():
    """A payslip is missing, another is there twice, and the account is somebody else's."""
    applied = form("Loan application form", "LA-7", ("Name", "Alex Specimen"), ("Date of birth", "12 August 1974"),
                   ("IBAN", "DE02 1005 0000 0054 5404 02"), ("Date", "10 March 2026"))
    return {"application.pdf": applied,
            "id-card.pdf": id_card("ALEX", "SPECIMEN", "L01X00T47", "12 August 1974", "1 August 2031"),
            "payslip-2026-01.pdf": payslip("January 2026", "01/2026", "30 January 2026"),
            "payslip-2026-02.pdf": payslip("February 2026", "02/2026", "27 February 2026"),
            "payslip-2026-02-copy.pdf": payslip("February 2026 (copy)", "02/2026", "27 February 2026"),
            "statement.pdf": statement("Robin Example")}


def claim():
    """The policy began after the damage was repaired."""
    claimed = form("Claim form", "CF-3", ("Name", "Alex Specimen"), ("Reference", "P-2026-118"), ("Date", "20 March 2026"))
    bill = page("Invoice", lines("Dachdeckerei Seewind GmbH"), heading("Invoice"),
                lines("Invoice number: 88/2026", "Invoice date: 14 January 2026", "Bill to: Alex Specimen"),
                table(("Description", "", "Quantity", "Unit price", "Amount"), ("New gutter, zinc", "", "14", "38.00", "532.00")),
                lines("Net total: EUR 532.00", "VAT 19 %: EUR 101.08", "Grand total: EUR 633.08", "Please pay within 30 days."))
    policy = contract("Insurance contract", "P-2026-118", "Utopia Mutual Insurance Ltd", "Alex Specimen", "1 February 2026",
                      "1 February 2026", "The insurer insures the house against storm and water.")
    return {"claim-form.pdf": claimed, "invoice.pdf": bill, "policy.pdf": policy}


def hiring():
    """Everything is there and agrees."""
    work = contract("Employment contract", "HR-42", "Harbour Street Library Trust", "Alex Specimen", "5 January 2026",
                    "1 February 2026", "The employee is employed as a librarian for 38 hours a week.")
    resume = page("Resume", heading("Curriculum vitae"),
                  lines("Name: Alex Specimen", "Date of birth: 12 August 1974", "Email: alex@specimen.example"),
                  lines("Work experience"), lines("2010 - 2025 Librarian, Town Library of Utopia"),
                  lines("Education"), lines("1995 - 2000 Library science, University of Utopia"),
                  lines("Skills"), lines("Languages: English, German"))
    details = form("Personal details form", "HR-1", ("Name", "Alex Specimen"), ("Date of birth", "12 August 1974"),
                   ("IBAN", "DE02 1005 0000 0054 5404 02"), ("Date", "6 January 2026"))
    return {"contract.pdf": work, "resume.pdf": resume, "personal-details.pdf": details,
            "id-card.pdf": id_card("ALEX", "SPECIMEN", "L01X00T47", "12 August 1974", "1 August 2031")}


def all_files():
    cases = {"loan_application": loan(), "insurance_claim": claim(), "hiring_file": hiring()}
    return {f"{case}/{name}": text.encode() for case, files in cases.items() for name, text in files.items()}


def main():
    folder = Path(__file__).parent.parent / "checklists"
    for name, content in all_files().items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)


if __name__ == "__main__":
    main()
