#!/usr/bin/env python3
"""A component of a Bindery workflow, written in Python: the extractor of the `default` workflow.

Bindery asks it for work on the queue `q.extractor` and takes its results on the exchange `doc.direct` under the routing
key `doc.extracted`. Any program that can speak AMQP 0-9-1 can take part in the same way.

    AMQP_URL=amqp://guest:guest@localhost:5672/%2f python3 extractor.py

The workflow has to say that the work is done outside:

    - name: extract
      component: extractor
      routing_key: doc.extract
      processors: [{name: extractor, external: true}]

Needs pika (on Debian: apt install python3-pika).
"""

import json
import os
import re
import signal
import sys

import pika

URL = os.environ.get("AMQP_URL", "amqp://guest:guest@localhost:5672/%2f")
# Goes before every name, where several systems share a virtual host.
PREFIX = os.environ.get("AMQP_PREFIX", "")

QUEUE = PREFIX + "q.extractor"
EXCHANGE = PREFIX + "doc.direct"
RESULT_KEY = "doc.extracted"


def extract(payload):
    """The work itself: what is found in the texts of a document's pages."""
    pages = payload.get("ocr_texts") or {}
    text = "\n".join(str(page) for page in pages.values())
    total = re.search(r"total\D*([0-9]+(?:[.,][0-9]{2})?)", text, re.IGNORECASE)
    return {
        "doc_type": payload.get("doc_type"),
        "extracted_data": {"words": len(text.split()), "total": total.group(1) if total else None},
        # Below the stage's confidence_threshold a person is asked.
        "extraction_confidence": 0.9,
    }


def on_message(channel, method, properties, body):
    """One message is one document."""
    message = json.loads(body)
    # The result is the message that came, with its payload replaced: request_id and document_id say what it is about.
    message["payload"] = extract(message.get("payload") or {})
    message["source_component"] = "extractor"
    channel.basic_publish(
        exchange=EXCHANGE,
        routing_key=RESULT_KEY,
        body=json.dumps(message).encode(),
        properties=pika.BasicProperties(
            content_type="application/json",
            delivery_mode=2,  # survives a restart of the broker
            headers={"request_id": message["request_id"], "component": "extraction_aggregator"},
        ),
        # No queue for it is an error, not a loss.
        mandatory=True,
    )
    # Only now, so that a crash before this line brings the message back. If the result was published already it is
    # published twice: Bindery counts the first one.
    channel.basic_ack(method.delivery_tag)


def main():
    connection = pika.BlockingConnection(pika.URLParameters(URL))
    channel = connection.channel()
    # basic_publish returns when the broker has the message, and raises when it does not take it.
    channel.confirm_delivery()
    # A few at a time, so that several of these programs share the work.
    channel.basic_qos(prefetch_count=10)
    # Bindery has declared the queue. Declaring it here with other arguments would be refused.
    channel.basic_consume(QUEUE, on_message)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    print(f"extracting from {QUEUE}", flush=True)
    channel.start_consuming()


if __name__ == "__main__":
    main()
