"""Adds a field to every invoice: how risky it is to pay it. Other documents are left as they are."""

import json
import sys

document = json.load(sys.stdin)["input"]

fields = {}
if document["doc_type"] == "invoice":
    found = document["extraction"]["fields"]
    total = float(found["grand_total"]["normalised"]) if "grand_total" in found else None
    if total is None:
        fields["risk"] = {"value": "unknown", "confidence": 0.3}
    else:
        fields["risk"] = "high" if total >= 1000 else "low"

print(json.dumps({"output": {"fields": fields}}))
