"""Makes the samples anew: in ../files one small file of each type that Bindery reads, in ../inbox a pile of papers, in
../civic a recorded town, in ../checklists three case files.

    python3 -m venv env && env/bin/pip install -r requirements.txt && env/bin/python make.py

Every run writes the same bytes. ../README.md says what the files are.
"""

import io
import sys
from pathlib import Path

import case_files
import civic
import inbox
import invoice
import mails
import nineties
import office
import pictures
import printed
import texts

PACKAGES = ("docx", "pptx", "xlsx", "odt", "ods", "odp")


def written(maker):
    target = io.BytesIO()
    maker(target)
    return target.getvalue()


def all_files():
    files = {f"{maker.__name__}.pdf": written(maker) for maker in
             (printed.report, printed.budget, printed.rotated, printed.form, printed.languages, printed.encrypted)}
    files["invoice.pdf"] = written(invoice.make)
    # Which format a picture gets is told by the name it is saved under.
    for name, maker in pictures.ALL.items():
        target = io.BytesIO()
        target.name = name
        maker(target)
        files[name] = target.getvalue()
    for name, maker in office.ALL.items():
        files[name] = written(maker)
        if name.endswith(PACKAGES):
            files[name] = texts.settled(files[name])
    files["memo.doc"], files["training.ppt"], files["lease.rtf"] = nineties.doc(), nineties.ppt(), nineties.rtf()
    files["order.eml"], files["question.msg"] = mails.eml(files["invoice.pdf"]), mails.msg()
    return files | texts.all_files()


def main():
    samples = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent.parent
    for name, files in {"files": all_files(), "inbox": inbox.all_files(), "civic": civic.all_files(),
                        "checklists": case_files.all_files()}.items():
        folder = samples / name
        folder.mkdir(parents=True, exist_ok=True)
        for file, content in files.items():
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            (folder / file).write_bytes(content)
        print(f"{name}: {len(files)} files, {sum(map(len, files.values()))} bytes")


if __name__ == "__main__":
    main()
