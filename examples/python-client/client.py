"""Runs an agent at a daemon and prints what it says, with Python's own library only.

    VITRINE_URL=http://127.0.0.1:2468 VITRINE_TOKEN=… python3 client.py 'Make a page for my bakery'
"""

import http.client
import json
import os
import sys
import time
import urllib.error
import urllib.request
import uuid

URL = os.environ.get("VITRINE_URL", "http://127.0.0.1:2468")
TOKEN = os.environ["VITRINE_TOKEN"]
PROMPT = sys.argv[1] if len(sys.argv) > 1 else "Make a page for my bakery"


def request(method, path, body=None, headers=None):
    """One call of the daemon. The body of an error says what is wrong and what to do."""
    data = None if body is None else json.dumps(body).encode()
    headers = {"authorization": f"Bearer {TOKEN}", "content-type": "application/json", **(headers or {})}
    call = urllib.request.Request(f"{URL}/v1{path}", data, headers, method=method)
    try:
        return urllib.request.urlopen(call, timeout=60)
    except urllib.error.HTTPError as error:
        problem = json.load(error)
        sys.exit(f"{method} {path}: {problem['code']}: {problem['detail']} {problem.get('hint', '')}")


def call(method, path, body=None):
    with request(method, path, body) as response:
        text = response.read()
        return json.loads(text) if text else None


def pieces(turn_path):
    """The pieces of a turn. A connection that is cut continues after the last piece that came."""
    after = None
    while True:
        headers = {"accept": "text/event-stream", **({"last-event-id": after} if after else {})}
        try:
            with request("GET", f"{turn_path}/pieces", headers=headers) as stream:
                cursor, event = None, None
                for line in stream:
                    field, _, value = line.decode().rstrip("\n").partition(": ")
                    if field == "id":
                        cursor = value
                    elif field == "event":
                        event = value
                    elif field == "data" and event is None:
                        after = cursor
                        piece = json.loads(value)
                        yield piece
                        if piece["type"] == "end":
                            return
                    elif field == "":
                        event = None
        except (OSError, http.client.HTTPException):
            pass
        time.sleep(0.5)


sandbox = f"/sandboxes/{call('POST', '/sandboxes', {})['id']}"
session = f"{sandbox}/sessions/{call('POST', f'{sandbox}/sessions', {'agent': 'demo'})['id']}"
turn = f"turn_{uuid.uuid4().hex}"  # sent again with its id, a prompt is still one turn
call("POST", f"{session}/prompt", {"prompt": PROMPT, "turn": turn})
for piece in pieces(f"{session}/turns/{turn}"):
    if piece["type"] == "text":
        print(piece["text"], end="", flush=True)
    elif piece["type"] == "fileChange":
        print(f"\n{piece['change']} {piece['path']}")
    elif piece["type"] == "permission" and "outcome" not in piece:
        call("POST", f"{session}/permissions/{piece['id']}", {"answer": "allow_once"})
    elif piece["type"] == "end":
        print(f"\nThe turn ended: {piece['outcome']}")
