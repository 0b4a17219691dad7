"""The free fonts that samples are set in, and where the machine keeps them."""

from pathlib import Path

FOLDERS = ["/usr/share/fonts/truetype/dejavu", "/usr/share/fonts/dejavu", "/usr/share/fonts/TTF"]


def path(name):
    """The file of a DejaVu font, such as "DejaVuSans"."""
    for folder in FOLDERS:
        file = Path(folder) / f"{name}.ttf"
        if file.exists():
            return str(file)
    raise SystemExit(f"{name}.ttf is not here: install the DejaVu fonts (apt-get install fonts-dejavu)")
