#!/usr/bin/env python3
"""Scores fields on the documents of SHARED: bench.py BENCH_FIELDS SHARED [-v] [--model FILE] [--pages FOLDER] [--without-ocr]

Runs `bench-fields`, scores its results with SHARED/bench/score_fields.py and prints every figure twice: for the files that rules
and makers may be tuned on, and for those that are only tested (see README.md). FOLDER keeps the pages that were read for the next run. The last
line begins with BENCH and is about all files.
"""
import hashlib, json, re, subprocess, sys, tempfile
from pathlib import Path

# The set that each result is scored as. Receipts are read from what people typed, by Tesseract, and by both OCR engines.
SETS = {"receipts": "receipts", "receipts-tesseract": "receipts", "receipts-ocr": "receipts", "ad-buys": "ad-buys", "contracts": "contracts"}
EINVOICE = ["number", "issue_date", "due_date", "seller", "buyer", "currency", "net_total", "tax_total", "grand_total", "amount_due", "seller_vat_id"]


def is_held_out(name):
    """Files whose name has a SHA-256 with an even last digit are for testing only."""
    return int(hashlib.sha256(name.encode()).hexdigest()[-1], 16) % 2 == 0


def scorer(path):
    """The functions of the scorer, without running it."""
    source = path.read_text().rsplit("\nmain()", 1)[0]
    space = {}
    exec(compile(source, str(path), "exec"), space)
    return space


def judged(space, name, documents, truth, verbose):
    """(confidence, right) of every value that was given and has a truth; (flagged, faults) of every document."""
    values, papers = [], []
    by_file = {document["file"]: document for document in documents}
    for file, facts in truth.items():
        document = by_file.get(file)
        if not document:
            continue
        faults = 0
        for field, keys in space["FIELDS"][name].items():
            wanted = facts.get(field)
            if not wanted:
                continue
            pool = [(key, document["extracted_data"][key]) for key in keys if document["extracted_data"].get(key)]
            for one in wanted if isinstance(wanted, list) else [wanted]:
                tried = pool if isinstance(wanted, list) else pool[:1]
                hit = next((key for key, value in tried if space["same"](name, field, one, value)), None)
                faults += hit is None
                if tried:
                    values.append((document["evidence"][hit or tried[0][0]]["confidence"], hit is not None))
        papers.append((document["needs_review"], faults))
        if verbose and faults and not document["needs_review"] and not is_held_out(file):
            print(f"  SILENT {name} {file}")
    return values, papers


def calibration_error(values):
    bands = {}
    for said, right in values:
        band = bands.setdefault(min(int(said * 10), 9), [0, 0.0, 0])
        band[0] += 1
        band[1] += said
        band[2] += right
    for band, (count, said, right) in sorted(bands.items()):
        print(f"  said {said / count:.2f}: {right}/{count} right ({right / count:.2f})")
    return sum(abs(said - right) for _, said, right in bands.values()) / max(len(values), 1)


def letters(text):
    return re.sub(r"[^a-z0-9]", "", str(text).lower())


def same_einvoice(field, truth, value):
    if field.endswith("total") or field == "amount_due":
        try:
            return abs(abs(float(truth)) - abs(float(value))) < 0.005
        except ValueError:
            return False
    if "date" in field:
        return letters(truth)[:8] == letters(value)[:8]
    if field in ("seller", "buyer"):
        short, long = sorted((letters(truth), letters(value)), key=len)
        return bool(short) and short in long and 2 * len(short) >= len(long)
    return letters(truth) == letters(value)


def einvoices(documents, verbose):
    right = wrong = missing = lines_right = lines_all = 0
    for document in documents:
        for field in EINVOICE:
            if field not in document["truth"]:
                continue
            value = document["extracted_data"].get(field)
            if value is None:
                missing += 1
            elif same_einvoice(field, document["truth"][field], value):
                right += 1
            else:
                wrong += 1
                if verbose and not is_held_out(document["file"]):
                    print(f"  WRONG {document['file']} {field}: {value!r} should be {document['truth'][field]!r}")
        left = [round(abs(float(line)), 2) for line in document["lines"]]
        for line in document["truth_lines"]:
            amount = round(abs(float(line)), 2)
            lines_all += 1
            if amount in left:
                left.remove(amount)
                lines_right += 1
    return 2 * right / max(2 * right + 2 * wrong + missing, 1), lines_right / max(lines_all, 1)


def piles(read, wanted, verbose):
    """(share of documents that all pages were given the right type of, share whose pages were found as one document, count)."""
    typed = whole = count = 0
    for pile in read:
        by_page = {page: document for document in pile["found"] for page in document["pages"]}
        spans = {tuple(document["pages"]) for document in pile["found"]}
        for document in pile["truth"]:
            if not wanted(document["file"]):
                continue
            count += 1
            is_typed = all(by_page[page]["doc_type"] == document["doc_type"] for page in document["pages"])
            is_whole = tuple(document["pages"]) in spans
            typed += is_typed
            whole += is_whole
            if verbose and not (is_typed and is_whole):
                found = [(by_page[page]["doc_type"], round(by_page[page]["confidence"], 2)) for page in document["pages"]]
                print(f"  PILE {document['file']} {document['doc_type']} pages {document['pages']}: found {found}, as one document: {is_whole}")
    return typed / max(count, 1), whole / max(count, 1), count


def silent_share(papers):
    """Of the documents that are not flagged, the share with a wrong or missing value, and the counts."""
    unflagged = [faults for flagged, faults in papers if not flagged]
    wrong = sum(faults > 0 for faults in unflagged)
    return wrong / max(len(unflagged), 1), f"{wrong} of {len(unflagged)} that are not flagged, of {len(papers)}"


def flagged_right(papers):
    """How many documents are flagged though all of their values are right, and how many are right: a doubt about everything is no help."""
    right = [flagged for flagged, faults in papers if not faults]
    return sum(right), len(right)


def flagged_with_xml(documents, verbose):
    """How many e-invoices are flagged where their XML is read."""
    flagged = [document for document in documents if document["with_xml"]["needs_review"]]
    for document in flagged:
        if verbose and not is_held_out(document["file"]):
            print(f"  FLAGGED {document['file']}: {document['with_xml']['reasons']}")
    return len(flagged)


def main():
    binary, shared, options = sys.argv[1], Path(sys.argv[2]), sys.argv[3:]
    verbose = "-v" in options
    documents = shared / "fixtures/documents"
    space = scorer(shared / "bench/score_fields.py")
    figures, values, papers = {}, {}, {}
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder)
        own_type = Path(__file__).with_name("ad_buy.yaml")
        command = [binary, shared, out, own_type, *(option for option in options if option != "-v")]
        print(subprocess.run(command, check=True, capture_output=True, text=True).stdout, end="")
        results = {name: as_set for name, as_set in SETS.items() if (out / f"{name}.json").exists()}
        for part, wanted in [("tuned on", lambda f: not is_held_out(f)), ("held out", is_held_out), ("all", lambda f: True)]:
            for name, as_set in results.items():
                truth = {file: facts for file, facts in json.loads((documents / f"{as_set}.truth.json").read_text()).items() if wanted(file)}
                place = out / part.replace(" ", "-")
                place.mkdir(exist_ok=True)
                (place / f"{as_set}.truth.json").write_text(json.dumps(truth))
                command = [sys.executable, shared / "bench/score_fields.py", place / as_set, out / f"{name}.json"]
                command += ["-v"] if verbose and part == "tuned on" else []
                lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
                if verbose and part == "tuned on":
                    print("\n".join(line for line in lines if "WRONG" in line or "MISSING" in line))
                said = lines[-1].replace(as_set, name, 1)
                print(f"{part} ({len(truth)}): {said}")
                figures[part, name] = dict(pair.split("=") for pair in said.split()[1:])
                if part == "all":
                    found = json.loads((out / f"{name}.json").read_text())["documents"]
                    values[name], papers[name] = judged(space, as_set, found, truth, verbose)
            found = json.loads((out / "einvoices.json").read_text())["documents"]
            found = [document for document in found if wanted(document["file"])]
            figures[part, "einvoices"] = einvoices(found, verbose and part == "tuned on")
            print("%s (%d): einvoices f1=%.3f lines=%.3f" % (part, len(found), *figures[part, "einvoices"]))
            with_xml = flagged_with_xml(found, verbose and part == "tuned on")
            print(f"{part} ({len(found)}): einvoices with XML flagged={with_xml}")
            read = json.loads((out / "piles.json").read_text())["piles"]
            figures[part, "piles"] = piles(read, wanted, verbose and part == "tuned on")
            typed, whole, count = figures[part, "piles"]
            print("%s (%d): piles types=%.3f borders=%.3f" % (part, count, typed, whole))
    for name, own in values.items():
        print(f"{name}: what was said of {len(own)} values")
        print(f"  calibration error {calibration_error(own):.3f}")
    values = [value for own in values.values() for value in own]
    print(f"all: what was said of {len(values)} values")
    error = calibration_error(values)
    for name, own in papers.items():
        print("silently wrong, %s: %.3f (%s)" % (name, *silent_share(own)))
    silent, counts = silent_share([paper for own in papers.values() for paper in own])
    print(f"silently wrong, all: {silent:.3f} ({counts})")
    for name, own in papers.items():
        print("flagged though right, %s: %d of %d" % (name, *flagged_right(own)))
    held_up, right = flagged_right([paper for own in papers.values() for paper in own])
    print(f"flagged though right, all: {held_up} of {right}")

    def figure(name, field):
        own = figures.get(("all", name))
        return f"{float(own[field]):.3f}" if own else "none"

    receipts = [
        f"{prefix}_{field}={figure(name, field)}"
        for prefix, name in [("receipts", "receipts-ocr"), ("tesseract", "receipts-tesseract"), ("gold", "receipts")]
        for field in ["total", "company", "date"]
    ]
    f1, lines = figures["all", "einvoices"]
    typed, whole, _ = figures["all", "piles"]
    print(
        f"BENCH {' '.join(receipts)} einv_f1={f1:.3f} einv_lines={lines:.3f} adbuys_f1={figure('ad-buys', 'f1')}"
        f" parties={figure('contracts', 'party')} effective_date={figure('contracts', 'effective_date')}"
        f" pile_types={typed:.3f} pile_borders={whole:.3f} silent_wrong={silent:.3f} flagged_right={held_up}/{right} ece={error:.3f} values={len(values)}"
    )


main()
