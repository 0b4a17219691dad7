#!/usr/bin/env python3
"""Says whether a text sounds friendly, unfriendly or neither, by the words in it.

Started once for each input: reads one request as JSON from stdin and prints one answer as JSON to stdout.
Try it by hand:

    echo '{"input": {"text": "Thank you, that was excellent."}}' | python3 sentiment.py
"""

import json
import re
import sys

FRIENDLY = set(
    "agree appreciate best better delighted easy excellent fair friendly glad good grateful great happy helpful "
    "improved kind love nice perfect pleased pleasant quick recommend reliable satisfied success thank thanks "
    "welcome wonderful".split()
)
UNFRIENDLY = set(
    "angry annoyed awful bad broken complain complaint damaged defective delay delayed disappointed fail failed "
    "failure false hate horrible late lost never poor problem refuse rude slow sorry terrible unacceptable "
    "unfair unhappy useless worst wrong".split()
)
TURNING = set("not no never hardly without isn't wasn't don't didn't can't won't".split())
# A word such as "not" turns the words that follow it around, up to this many.
REACH = 3


def words_of(text):
    return re.findall(r"[^\W\d_]+(?:'[^\W\d_]+)?", text.lower().replace("\u2019", "'"))


def measure(text):
    words = words_of(text)
    friendly, unfriendly = [], []
    for place, word in enumerate(words):
        if word not in FRIENDLY and word not in UNFRIENDLY:
            continue
        turned = any(before in TURNING for before in words[max(0, place - REACH) : place])
        (friendly if (word in FRIENDLY) != turned else unfriendly).append(word)
    found = len(friendly) + len(unfriendly)
    tone = (len(friendly) - len(unfriendly)) / found if found else 0.0
    label = "friendly" if tone > 0.2 else "unfriendly" if tone < -0.2 else "neutral"
    return {"label": label, "tone": round(tone, 3), "friendly": friendly, "unfriendly": unfriendly, "words": len(words)}


def answer(request):
    text = (request.get("input") or {}).get("text")
    if not isinstance(text, str):
        return {"error": {"kind": "NoText", "message": "`input.text` is missing or no text", "class": "reject"}}
    return {"output": measure(text)}


if __name__ == "__main__":
    json.dump(answer(json.load(sys.stdin)), sys.stdout)
