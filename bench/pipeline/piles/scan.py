"""A PDF as it comes from a copier: pictures of its pages, a little turned, grey and dirty."""

import io

import pypdfium2
from PIL import Image, ImageChops, ImageFilter


def scanned(pdf, rng):
    """The bytes of a PDF whose pages are pictures of the pages of `pdf`."""
    pages = []
    document = pypdfium2.PdfDocument(pdf)
    for page in document:
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
        pages.append((ImageChops.subtract(picture, sheet), dpi))
    out = io.BytesIO()
    first, dpi = pages[0]
    first.save(out, "PDF", resolution=dpi, save_all=True, append_images=[page for page, _ in pages[1:]], quality=70)
    return out.getvalue()
