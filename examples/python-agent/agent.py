"""An agent in Python: it counts the words of a prompt. It speaks the Agent Client Protocol on stdin and stdout."""

import json
import sys


def send(message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def prompt(params):
    text = " ".join(part.get("text", "") for part in params["prompt"])
    for chunk in ("Let me count. ", f"{len(text.split())} words."):
        update = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": chunk}}
        send({"method": "session/update", "params": {"sessionId": params["sessionId"], "update": update}})
    return {"stopReason": "end_turn"}


methods = {
    "initialize": lambda params: {"protocolVersion": 1, "agentCapabilities": {}},
    "session/new": lambda params: {"sessionId": "words-1"},
    "session/prompt": prompt,
}

for line in sys.stdin:
    request = json.loads(line)
    if "id" not in request:
        continue  # a notification, such as session/cancel
    if request["method"] in methods:
        send({"id": request["id"], "result": methods[request["method"]](request.get("params"))})
    else:
        send({"id": request["id"], "error": {"code": -32601, "message": "method not found"}})
