"""Office and OpenDocument files, by the libraries that people write them with."""

import io
from datetime import date, datetime

import docx
import openpyxl
import pptx
import xlwt
from docx.enum.text import WD_BREAK
from docx.oxml import OxmlElement
from docx.oxml.ns import qn
from odf import dc, draw, meta, presentation, style, table, text
from odf.opendocument import OpenDocumentPresentation, OpenDocumentSpreadsheet, OpenDocumentText
from openpyxl.comments import Comment
from openpyxl.styles import Font
from PIL import Image
from pptx.util import Cm

MADE = datetime(2026, 1, 15, 9, 0, 0)


def link(paragraph, address, words):
    part = paragraph.part.relate_to(address, docx.opc.constants.RELATIONSHIP_TYPE.HYPERLINK, is_external=True)
    element = OxmlElement("w:hyperlink")
    element.set(qn("r:id"), part)
    run = OxmlElement("w:r")
    run.append(OxmlElement("w:t"))
    run[0].text = words
    element.append(run)
    paragraph._p.append(element)


def write_docx(target):
    """A letter: headings, lists in lists, a table with merged cells, a link, a picture, a comment, header and footer."""
    file = docx.Document()
    core = file.core_properties
    core.title, core.author, core.language = "Invitation to the general meeting", "Harbour Street Library Trust", "en"
    core.created = core.modified = MADE
    core.revision = 1
    file.sections[0].header.paragraphs[0].text = "Harbour Street Library Trust"
    file.sections[0].footer.paragraphs[0].text = "Kaistraße 22, 24103 Kiel"
    file.add_heading("Invitation to the general meeting", 0)
    first = file.add_paragraph("The meeting takes place on ")
    first.add_run("12 September 2026").bold = True
    first.add_run(" at six o’clock in the ")
    first.add_run("reading room").italic = True
    first.add_run(". Proposals may be sent until ")
    first.add_run("15 August").font.strike = True
    last_date = first.add_run(" 22 August")
    first.add_run("; the form is on ")
    link(first, "https://library.example/meeting", "the page of the Trust")
    first.add_run(".")
    file.add_comment(last_date, "Moved by a week, as the Board decided in May.", "The Secretary", "S")
    file.add_heading("Agenda", 1)
    for kind, words in [
        ("List Number", "Report of the Board"), ("List Number", "Accounts and report of the auditors"),
        ("List Number", "Elections"), ("List Bullet 2", "the Treasurer"), ("List Bullet 2", "the Secretary"),
        ("List Number", "Any other business"),
    ]:
        file.add_paragraph(words, kind)
    file.add_heading("Accounts in short", 1)
    grid = file.add_table(4, 3, "Table Grid")
    for row, words in enumerate([("", "2025", "2026"), ("Income", "351,200", "360,500"), ("Costs", "344,135", "360,500"),
                                 ("The accounts were examined in January.", "", "")]):
        for column, word in enumerate(words):
            grid.cell(row, column).text = word
    grid.cell(3, 0).merge(grid.cell(3, 2))
    grid.cell(3, 0).text = "The accounts were examined in January."
    picture = io.BytesIO()
    Image.new("RGB", (60, 40), (40, 90, 140)).save(picture, "PNG")
    picture.seek(0)
    shape = file.add_picture(picture)
    shape._inline.docPr.set("descr", "The flag of the harbour")
    closing = file.add_paragraph("The Board")
    closing.runs[0].add_break(WD_BREAK.LINE)
    closing.add_run("Harbour Street Library Trust")
    file.save(target)


def write_pptx(target):
    """Three slides: a title, a list with notes, a table."""
    file = pptx.Presentation()
    core = file.core_properties
    core.title, core.author, core.created, core.modified = "Upper floor: the plan", "Harbour Street Library Trust", MADE, MADE
    core.last_modified_by = core.author
    slide = file.slides.add_slide(file.slide_layouts[0])
    slide.shapes.title.text, slide.placeholders[1].text = "Upper floor: the plan", "For the Board, January 2026"
    slide = file.slides.add_slide(file.slide_layouts[1])
    slide.shapes.title.text = "What could be there"
    frame = slide.placeholders[1].text_frame
    for number, (level, words) in enumerate([(0, "A workshop"), (1, "for the tools that are lent"), (0, "Quiet rooms"),
                                             (0, "A kitchen for courses")]):
        paragraph = frame.paragraphs[0] if number == 0 else frame.add_paragraph()
        paragraph.text, paragraph.level = words, level
    slide.notes_slide.notes_text_frame.text = "The fire brigade allows no more than sixty people."
    slide = file.slides.add_slide(file.slide_layouts[5])
    slide.shapes.title.text = "What it would cost"
    grid = slide.shapes.add_table(4, 3, Cm(2), Cm(5), Cm(20), Cm(6)).table
    for row, words in enumerate([("Part", "Low", "High"), ("Walls and doors", "40,000", "55,000"),
                                 ("Electricity", "18,000", "21,000"), ("Together", "58,000 to 76,000", "")]):
        for column, word in enumerate(words):
            grid.cell(row, column).text = word
    grid.cell(3, 1).merge(grid.cell(3, 2))
    file.save(target)


STOCK = [("A-100", "Offset paper 90 g", 120, 48.5), ("A-250", "Cover board 250 g", 35, 112), ("H-001", "Handbook", 64, 23)]


def write_xlsx(target):
    """Two sheets: numbers, dates, percents, merged cells and a comment; and a hidden one between them."""
    book = openpyxl.Workbook()
    book.properties.creator, book.properties.title = "Nordwind Papier GmbH", "Stock"
    book.properties.created = book.properties.modified = MADE
    sheet = book.active
    sheet.title = "Stock"
    sheet.append(["Stock on 31 December 2025", None, None, None, None])
    sheet.merge_cells("A1:E1")
    sheet.append(["Number", "Article", "Packs", "Price", "Counted on"])
    for row, (number, article, packs, price) in enumerate(STOCK):
        sheet.append([number, article, packs, price, date(2025, 12, 29 + row % 3)])
        sheet.cell(row + 3, 4).number_format = '#,##0.00 "€"'
        sheet.cell(row + 3, 5).number_format = "yyyy-mm-dd"
    sheet["A1"].font = Font(bold=True)
    sheet["C4"].comment = Comment("Five packs are damp.", "The Storekeeper")
    hidden = book.create_sheet("Scratch")
    hidden["A1"] = "not for printing"
    hidden.sheet_state = "hidden"
    rates = book.create_sheet("Discounts")
    for row in [["From packs", "Discount"], [10, 0.02], [50, 0.05], [100, 0.085]]:
        rates.append(row)
    for row in (2, 3, 4):
        rates.cell(row, 2).number_format = "0.0%"
    book.save(target)


def write_xls(target):
    """The same stock as a workbook of Excel 97."""
    book = xlwt.Workbook()
    sheet = book.add_sheet("Stock")
    sheet.write_merge(0, 0, 0, 4, "Stock on 31 December 2025")
    for column, words in enumerate(["Number", "Article", "Packs", "Price", "Counted on"]):
        sheet.write(1, column, words)
    money, day = xlwt.easyxf(num_format_str="#,##0.00"), xlwt.easyxf(num_format_str="YYYY-MM-DD")
    for row, (number, article, packs, price) in enumerate(STOCK, 2):
        for column, value in enumerate([number, article, packs]):
            sheet.write(row, column, value)
        sheet.write(row, 3, price, money)
        sheet.write(row, 4, date(2025, 12, 27 + row), day)
    other = book.add_sheet("Rabatte")
    for row, (packs, rate) in enumerate([("ab Packungen", "Rabatt"), (10, "2 %"), (50, "5 %")]):
        other.write(row, 0, packs)
        other.write(row, 1, rate)
    book.save(target)


def describe(file, title):
    file.meta.addElement(dc.Title(text=title))
    file.meta.addElement(dc.Creator(text="Harbour Street Library Trust"))
    file.meta.addElement(meta.CreationDate(text=MADE.isoformat()))


def words(element, value):
    element.addElement(text.P(text=value))
    return element


def write_odt(target):
    """Minutes: headings, a numbered list, a footnote, a table with a cell that spans."""
    file = OpenDocumentText()
    describe(file, "Minutes of the Board")
    numbered = text.ListStyle(name="Numbered")
    numbered.addElement(text.ListLevelStyleNumber(level="1", numformat="1", numsuffix="."))
    bold = style.Style(name="Bold", family="text")
    bold.addElement(style.TextProperties(fontweight="bold"))
    file.automaticstyles.addElement(numbered)
    file.automaticstyles.addElement(bold)
    body = file.text
    body.addElement(text.H(outlinelevel=1, text="Minutes of the Board, 13 January 2026"))
    first = text.P(text="Present: the Chair, the Treasurer, the Secretary. The ")
    first.addElement(text.Span(stylename=bold, text="quorum"))
    first.addText(" was reached")
    note = text.Note(noteclass="footnote", id="n1")
    note.addElement(text.NoteCitation(text="1"))
    holder = text.NoteBody()
    holder.addElement(text.P(text="Three members, as § 9 of the statutes asks for."))
    note.addElement(holder)
    first.addElement(note)
    first.addText(".")
    body.addElement(first)
    body.addElement(text.H(outlinelevel=2, text="Decisions"))
    items = text.List(stylename=numbered)
    for item in ["The offer of Nordwind Papier GmbH is accepted.", "The meeting of members is on 12 September."]:
        items.addElement(words(text.ListItem(), item))
    body.addElement(items)
    body.addElement(text.H(outlinelevel=2, text="Votes"))
    grid = table.Table(name="Votes")
    grid.addElement(table.TableColumn(numbercolumnsrepeated=3))
    for row in [["Question", "Yes", "No"], ["Offer", "3", "0"], ["Date", "2", "1"]]:
        line = table.TableRow()
        for value in row:
            line.addElement(words(table.TableCell(valuetype="string"), value))
        grid.addElement(line)
    line = table.TableRow()
    line.addElement(words(table.TableCell(valuetype="string", numbercolumnsspanned="3"), "Nobody abstained."))
    line.addElement(table.CoveredTableCell(numbercolumnsrepeated=2))
    grid.addElement(line)
    body.addElement(grid)
    file.write(target)


def write_ods(target):
    """Accounts of two months, a sheet each."""
    file = OpenDocumentSpreadsheet()
    describe(file, "Cash book")
    for name, rows in [("January", [("2026-01-02", "Membership fee", 120), ("2026-01-09", "Stamps", -18.4)]),
                       ("February", [("2026-02-03", "Course fees", 340.5), ("2026-02-20", "Paint", -77.25)])]:
        sheet = table.Table(name=name)
        head = table.TableRow()
        for value in ["Date", "Purpose", "Amount"]:
            head.addElement(words(table.TableCell(valuetype="string"), value))
        sheet.addElement(head)
        for day, purpose, amount in rows:
            line = table.TableRow()
            line.addElement(words(table.TableCell(valuetype="date", datevalue=day), day))
            line.addElement(words(table.TableCell(valuetype="string"), purpose))
            line.addElement(words(table.TableCell(valuetype="float", value=str(amount)), f"{amount:.2f}"))
            sheet.addElement(line)
        file.spreadsheet.addElement(sheet)
    file.write(target)


def write_odp(target):
    """Two slides in French and Spanish, the first with notes."""
    file = OpenDocumentPresentation()
    describe(file, "Visite de la bibliothèque")
    layout = style.PageLayout(name="Screen")
    layout.addElement(style.PageLayoutProperties(pagewidth="28cm", pageheight="21cm"))
    file.automaticstyles.addElement(layout)
    master = style.MasterPage(name="Plain", pagelayoutname=layout)
    file.masterstyles.addElement(master)
    for name, title, items, note in [
        ("Bienvenue", "Bienvenue à la bibliothèque", ["La salle de lecture : quarante places", "Les cartes du port"],
         "Commencer par la salle de lecture."),
        ("Bienvenida", "Bienvenidos a la biblioteca", ["Préstamo de herramientas", "Cursos los jueves"], None),
    ]:
        slide = draw.Page(name=name, masterpagename=master)
        for kind, top, lines in [("title", "1cm", [title]), ("outline", "5cm", items)]:
            frame = draw.Frame(width="24cm", height="4cm", x="2cm", y=top)
            frame.setAttribute("class", kind)
            box = draw.TextBox()
            if kind == "title":
                words(box, lines[0])
            else:
                items_list = text.List()
                for line in lines:
                    items_list.addElement(words(text.ListItem(), line))
                box.addElement(items_list)
            frame.addElement(box)
            slide.addElement(frame)
        if note:
            notes = presentation.Notes()
            frame = draw.Frame(width="16cm", height="10cm", x="2cm", y="14cm")
            frame.setAttribute("class", "notes")
            frame.addElement(words(draw.TextBox(), note))
            notes.addElement(frame)
            slide.addElement(notes)
        file.presentation.addElement(slide)
    file.write(target)


ALL = {"invitation.docx": write_docx, "upper-floor.pptx": write_pptx, "stock.xlsx": write_xlsx, "stock.xls": write_xls,
       "minutes.odt": write_odt, "cash-book.ods": write_ods, "tour.odp": write_odp}
