"""A client that asks for the rest of an answer, or does so wrongly on command: `... DEFECT`."""

from __future__ import annotations

import json
import re
import sys
import threading
from collections.abc import Iterator
from http.client import HTTPConnection, IncompleteRead
from typing import Any
from urllib.parse import urlsplit

ABOUT = {
    "name": "reconnecting",
    "language": "python",
    "version": "1",
    "dialects": ["openai.chat"],
    "ops": ["stream"],
    "events": ["text.delta"],
    "features": ["reconnect"],
}
MOST = 8
LINE_END = re.compile(rb"\r\n|\n|\r")


class Client:
    """What it has of one answer, over all its requests."""

    def __init__(self, command: dict[str, Any], defect: str) -> None:
        self.seq = command["seq"]
        self.url = urlsplit(command["base_url"] + "/chat/completions")
        asked = {"model": command["model"], "messages": command["messages"], "stream": True}
        self.body = json.dumps(asked)
        self.defect = defect
        self.last_id, self.has_id, self.retry, self.done = "", False, 0.0, False

    def run(self) -> str:
        for _ in range(MOST):
            if not self.ask():
                return "failed"
            if self.done:
                return "completed"
            if not self.has_id or self.defect == "gives-up":
                return "cut"
            if self.defect != "does-not-wait":
                threading.Event().wait(self.retry)
        return "cut"

    def ask(self) -> bool:
        headers = {"content-type": "application/json"}
        if self.last_id and self.defect != "forgets-the-id":
            headers["Last-Event-ID"] = self.last_id.encode().decode("latin-1")
        if self.has_id and not self.last_id and self.defect == "sends-an-empty-id":
            headers["Last-Event-ID"] = ""
        connection = HTTPConnection(self.url.hostname or "", self.url.port)
        again = self.has_id and self.defect == "asks-otherwise"
        connection.request("POST", self.url.path, "{}" if again else self.body, headers)
        answer = connection.getresponse()
        if answer.status == 204 and self.defect == "goes-on-after-204":
            return True
        if answer.status != 200:
            return False
        try:
            data = answer.read()
        except IncompleteRead as err:
            data = err.partial
        for kind, block in blocks(data, keeps_half=self.defect == "keeps-half-an-event"):
            self.take(kind, block)
        return True

    def take(self, event_id: str | None, block: dict[str, list[str]]) -> None:
        for text in block.get("retry", ()):
            if text.isascii() and text.isdigit():
                self.retry = int(text) / 1000
            elif self.defect == "believes-any-retry":
                self.retry = 0.0
        if event_id is not None:
            self.has_id, self.last_id = True, event_id
        data = "\n".join(block.get("data", ()))
        if data == "[DONE]":
            self.done = True
        elif data.endswith("}"):
            for choice in json.loads(data)["choices"]:
                if text := choice["delta"].get("content"):
                    write_line({"seq": self.seq, "event": {"type": "text.delta", "text": text}})


def blocks(data: bytes, *, keeps_half: bool) -> Iterator[tuple[str | None, dict[str, list[str]]]]:
    """Every block with the id that it commits; what has no blank line behind it is no block."""
    block: dict[str, list[str]] = {}
    event_id: str | None = None
    for line in LINE_END.split(data)[: None if keeps_half else -1]:
        name, _, value = line.decode().partition(":")
        value = value.removeprefix(" ")
        if not line:
            yield event_id, block
            block, event_id = {}, None
        elif name == "id" and "\0" not in value:
            event_id = value
        else:
            block.setdefault(name, []).append(value)
    if keeps_half:
        yield event_id, block


def write_line(line: object) -> None:
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


def main(defect: str) -> None:
    for line in sys.stdin:
        command = json.loads(line)
        if command["cmd"] == "start":
            features = [] if defect == "declares-nothing" else ABOUT["features"]
            write_line({"version": 1, "implementation": {**ABOUT, "features": features}})
        elif command["cmd"] == "stream":
            write_line({"seq": command["seq"], "end": {"how": Client(command, defect).run()}})
        elif command["cmd"] == "stop":
            return
        else:
            write_line({"seq": command["seq"], "skipped": "unknown"})


if __name__ == "__main__":
    main("".join(sys.argv[1:]))
