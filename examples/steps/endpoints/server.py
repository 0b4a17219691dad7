"""The four programs of ../processors as HTTP endpoints: `python3 server.py 8711`, then `--processors endpoints`."""

import base64
import hashlib
import json
import sys
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def risk(request):
    document = request["input"]
    if document["doc_type"] != "invoice":
        return {}
    found = document["extraction"]["fields"]
    if "grand_total" not in found:
        return {"fields": {"risk": {"value": "unknown", "confidence": 0.3}}}
    return {"fields": {"risk": "high" if float(found["grand_total"]["normalised"]) >= 1000 else "low"}}


def longest_page(request):
    work = request["work"]
    pages = [page for page in work["parts"]["items"] if page["results"].get("read")]
    longest = max(pages, key=lambda page: page["results"]["read"]["words"], default=None)
    words = longest["results"]["read"]["words"] if longest else -1
    label = longest["label"] if longest else None
    return {"file": work["file"]["name"], "pages": work["parts"]["count"], "longest": label, "words": words}


def received(file):
    """The bytes: from the worker that asks, where it serves files, and else inside the request."""
    if "url" in file:
        with urllib.request.urlopen(file["url"]) as answer:
            return answer.read()
    return base64.b64decode(file["content_base64"])


def checksum(request):
    file = request["work"]["file"]
    same = hashlib.sha256(received(file)).hexdigest() == file["sha256"]
    return {"name": file["name"], "size": file["size"], "type": file["media_type"], "same": same}


def report(request):
    work = request["work"]
    files = [part["results"].get("checksum") for part in work["parts"]["items"]]
    files = sorted((file for file in files if file), key=lambda file: file["name"])
    digest = hashlib.sha256(json.dumps(files).encode()).hexdigest()
    return {"title": f"Report on {work['submission']}", "files": files, "digest": digest}


PROGRAMS = {"/risk": risk, "/longest_page": longest_page, "/checksum": checksum, "/report": report}


class Endpoint(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        answer = json.dumps({"output": PROGRAMS[self.path](request)}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Endpoint)
    print(server.server_address[1], flush=True)
    server.serve_forever()
