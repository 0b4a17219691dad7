"""Gathers all pages of a file. Its stage has an `aggregation`, so it runs when the last page has been read."""

import json
import sys

work = json.load(sys.stdin)["work"]

longest, words = None, -1
with open(work["parts"]["path"], encoding="utf-8") as parts:
    for line in parts:
        page = json.loads(line)
        read = page["results"].get("read")
        # A page that could not be read has no result; `errors` says why.
        if read and read["words"] > words:
            longest, words = page["label"], read["words"]

print(json.dumps({"output": {"file": work["file"]["name"], "pages": work["parts"]["count"], "longest": longest, "words": words}}))
