"""Pictures of printed pages: as a scanner, a fax or a camera leaves them. Every grain of noise is drawn by a seed."""

import io
import random

from PIL import Image, ImageDraw, ImageFilter, ImageFont
from reportlab.lib.pagesizes import A5
from reportlab.lib.utils import ImageReader

import fonts
from printed import canvas

DPI = 200


def page(lines, size=(1165, 1654), margin=110, dpi=DPI):
    """A page of lines: (points, bold, text). An empty text leaves room."""
    picture = Image.new("L", size, 255)
    pen = ImageDraw.Draw(picture)
    top = margin
    for points, bold, text in lines:
        font = ImageFont.truetype(fonts.path("DejaVuSerif-Bold" if bold else "DejaVuSerif"), round(points * dpi / 72))
        pen.text((margin, top), text, font=font, fill=20)
        top += round(points * dpi / 72 * 1.45)
    return picture


def scanned(picture, degrees, seed, grain=18):
    """A little askew, soft and grainy."""
    turned = picture.rotate(degrees, Image.BICUBIC, fillcolor=250).filter(ImageFilter.GaussianBlur(0.7))
    dust = random.Random(seed)
    noise = Image.frombytes("L", turned.size, dust.randbytes(turned.width * turned.height))
    return Image.blend(turned, noise, grain / 255)


def black_and_white(picture):
    return picture.point(lambda grey: 255 if grey > 150 else 0).convert("1")


LETTER = [
    (15, True, "Hafenamt Hafenstadt"), (9, False, "Kaistraße 1, 24103 Kiel"), (11, False, ""),
    (11, False, "To all tenants of Shed 14"), (11, False, ""),
    (12, True, "Repair of the quay wall"), (11, False, ""),
    (11, False, "The wall in front of your shed will be repaired"), (11, False, "from 2 March to 17 April. During this time the"),
    (11, False, "road is closed to lorries of more than 12 tonnes."), (11, False, "Deliveries are possible from the north side,"),
    (11, False, "between seven and ten in the morning."), (11, False, ""),
    (11, False, "Please remove everything that stands within five"), (11, False, "metres of the edge before the end of February."),
    (11, False, ""), (11, False, "The Harbour Master"),
]


def scan_pdf(target):
    """A page with its text in the file, and a letter that was scanned."""
    sheet = canvas(target, A5, "File note and letter", "Hafenwerk Druckerei eG")
    sheet.setFont("Helvetica-Bold", 14)
    sheet.drawString(40, A5[1] - 60, "File note")
    sheet.setFont("Helvetica", 11)
    sheet.drawString(40, A5[1] - 86, "The letter on the next page came on 19 January.")
    sheet.drawString(40, A5[1] - 102, "Deliveries in March must come before ten o’clock.")
    sheet.showPage()
    picture = io.BytesIO()
    scanned(page(LETTER), 0.9, 1).save(picture, "JPEG", quality=35)
    sheet.drawImage(ImageReader(picture), 0, 0, *A5)
    sheet.save()


def png(target):
    lines = [(14, True, "Delivery note 4711"), (11, False, "Nordwind Papier GmbH, Hamburg"), (11, False, ""),
             (11, False, "12 packs of offset paper, 90 g"), (11, False, "3 packs of cover board, 250 g"), (11, False, ""),
             (11, False, "Received complete and dry."), (11, False, "The Storekeeper, Hafenwerk Druckerei eG")]
    black_and_white(scanned(page(lines, (1165, 800)), -0.7, 2)).save(target, dpi=(DPI, DPI), optimize=True)


def jpeg(target):
    """Lies on its side, as cameras store pictures; a mark in the file says how to turn it."""
    lines = [(13, True, "BISTRO AM KAI"), (10, False, "Am Kai 9, Kiel"), (10, False, ""), (10, False, "2 Kaffee            6,40"),
             (10, False, "1 Apfelkuchen       3,90"), (10, True, "Summe EUR          10,30"), (10, False, "Vielen Dank!")]
    picture = scanned(page(lines, (900, 760), 80), 0.6, 3)
    mark = Image.Exif()
    mark[0x0112] = 6
    picture.rotate(90, expand=True).save(target, quality=40, dpi=(DPI, DPI), exif=mark)


def tiff(target):
    """A fax of two pages."""
    first = [(12, True, "FAX"), (11, False, "From: Hafenwerk Druckerei eG"), (11, False, "To: Nordwind Papier GmbH"),
             (11, False, "Pages: 2"), (11, False, ""), (11, False, "Please see our order on the next page.")]
    second = [(12, True, "Order 88"), (11, False, "20 packs of offset paper, 90 g"), (11, False, "Delivery in week 9, before ten o'clock"),
              (11, False, "The Purchasing Department")]
    pages = [black_and_white(scanned(page(lines, (1165, 700)), 0.4, seed)) for seed, lines in [(4, first), (5, second)]]
    pages[0].save(target, save_all=True, append_images=pages[1:], compression="group4", dpi=(DPI, DPI))


def bmp(target):
    lines = [(14, True, "Mind the step"), (11, False, "The door to the archive opens inwards.")]
    black_and_white(page(lines, (1100, 330), 80)).save(target, dpi=(DPI, DPI))


def webp(target):
    lines = [(14, True, "Opening hours"), (11, False, "Tuesday to Friday 10 to 18"), (11, False, "Saturday 10 to 16")]
    scanned(page(lines, (1000, 420), 80), 0.5, 6, 8).save(target, quality=30)


def gif(target):
    lines = [(14, True, "Ticket 0815"), (11, False, "Harbour ferry, one way"), (11, False, "Valid on the day of issue")]
    black_and_white(page(lines, (900, 420), 80)).save(target)


ALL = {"scan.pdf": scan_pdf, "delivery-note.png": png, "receipt.jpg": jpeg, "fax.tiff": tiff, "sign.bmp": bmp,
       "opening-hours.webp": webp, "ticket.gif": gif}
