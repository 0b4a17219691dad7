#!/usr/bin/env python3
"""An endpoint that says what language a text is in, by its commonest small words.

    python3 server.py 8700

With the port 0 it takes a free one. The address is printed to stdout once it listens.
"""

import json
import re
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SMALL_WORDS = {
    "de": set("der die das und ist nicht ein eine mit von zu den auf für im dem sich auch es wir".split()),
    "en": set("the and is not a an with of to in on for that it we you are this be was".split()),
    "es": set("el la los las y es no un una con de que en por para se lo como su al".split()),
    "fr": set("le la les et est pas un une avec de que en pour dans ce il nous vous des du".split()),
    "nl": set("de het een en is niet met van te op voor dat wij zijn aan door ook bij uit er".split()),
}
MOST_BYTES = 8 * 1024 * 1024


def language(text):
    words = re.findall(r"[^\W\d_]+", text.lower())
    hits = {name: sum(word in small for word in words) for name, small in SMALL_WORDS.items()}
    best = max(hits, key=hits.get)
    known = sum(hits.values())
    return {"language": best if known else None, "share": round(hits[best] / known, 3) if known else 0.0}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        length = int(self.headers.get("Content-Length") or 0)
        if length > MOST_BYTES:
            self.close_connection = True
            return self.say(413, {"error": {"message": "the text is too long"}})
        try:
            text = json.loads(self.rfile.read(length))["input"]["text"]
        except (ValueError, KeyError, TypeError):
            # An explained refusal is a good answer, so its status is 200.
            error = {"kind": "NoText", "message": "`input.text` is missing", "class": "reject"}
            return self.say(200, {"error": error})
        self.say(200, {"output": language(str(text))})

    def say(self, status, answer):
        body = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    port = int(sys.argv[1]) if len(sys.argv) > 1 else 8700
    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    print(f"http://127.0.0.1:{server.server_port}/language", flush=True)
    server.serve_forever()
