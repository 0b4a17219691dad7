#!/usr/bin/env python3
"""Finds the words that are typical of a text, compared with the texts seen before.

Started once and given many inputs: one request for each line of stdin, one answer for each on stdout. What it has learnt
lives as long as the process, and each process learns from the texts that it was given; so use it for hints, not for
results that must come out the same.
"""

import json
import math
import re
import sys
from collections import Counter

COMMON = set(
    "a about after all also an and any are as at be been but by can could did do for from had has have he her his how if "
    "in into is it its may more most no not of on or other our out shall she should so some such than that the their "
    "them then there these they this to under up was we were what when where which who will with would you your".split()
)

seen_texts = 0
texts_with = Counter()


def keywords(text, most):
    global seen_texts
    words = [w for w in re.findall(r"[^\W\d_]{3,}", text.lower()) if w not in COMMON]
    counts = Counter(words)
    seen_texts += 1
    texts_with.update(counts.keys())

    def weight(word):
        return counts[word] * (1 + math.log(seen_texts / texts_with[word]))

    # Words of the same weight come in the order of the alphabet.
    best = sorted(counts, key=lambda word: (-weight(word), word))[:most]
    return [{"word": word, "count": counts[word]} for word in best]


def answer(request):
    text = (request.get("input") or {}).get("text")
    if not isinstance(text, str):
        return {"error": {"kind": "NoText", "message": "`input.text` is missing or no text", "class": "reject"}}
    most = int(request.get("settings", {}).get("most", 5))
    return {"output": {"keywords": keywords(text, most)}}


if __name__ == "__main__":
    for line in sys.stdin:
        request = json.loads(line)
        # The id tells which request this answers. Without the flush the answer would stay in a buffer.
        print(json.dumps({"id": request["id"], **answer(request)}), flush=True)
