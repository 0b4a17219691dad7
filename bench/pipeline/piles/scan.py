"""A PDF as it comes from a copier: pictures of its pages, a little turned, grey and dirty."""

import io

import pypdfium2
from PIL import Image, ImageChops, ImageFilter
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas


def scanned(pdf, rng):
    """The bytes of a PDF whose pages are pictures of the pages of `pdf`."""
    out = io.BytesIO()
    canvas = Canvas(out, invariant=1)
    for page in pypdfium2.PdfDocument(pdf):
        size = page.get_size()
        canvas.setPageSize(size)
        canvas.drawImage(ImageReader(io.BytesIO(picture_of(page, rng))), 0, 0, *size)
        canvas.showPage()
    canvas.save()
    return out.getvalue()


def picture_of(page, rng):
    # Small papers are copied at a higher resolution, or nobody could read them.
    dpi = 300 if page.get_width() < 300 else 200
    picture = page.render(scale=dpi / 72, grayscale=True).to_pil().convert("L")
    picture = picture.rotate(rng.uniform(-1.2, 1.2), Image.Resampling.BICUBIC, expand=False, fillcolor=250)
    picture = picture.filter(ImageFilter.GaussianBlur(rng.uniform(0.2, 0.7)))
    dirt = Image.frombytes("L", (256, 256), rng.randbytes(256 * 256)).point(lambda grey: grey // 12)
    sheet = Image.new("L", picture.size)
    for x in range(0, picture.width, 256):
        for y in range(0, picture.height, 256):
            sheet.paste(dirt, (x, y))
    jpeg = io.BytesIO()
    ImageChops.subtract(picture, sheet).save(jpeg, "JPEG", quality=70)
    return jpeg.getvalue()
