"""A user interface under test: reads a UI message stream, and says what it shows."""

from __future__ import annotations

import http.client
import json
import sys
import urllib.request
from collections.abc import Iterator
from typing import Any

ABOUT = {
    "name": "small-interface",
    "language": "python",
    "version": "1",
    "dialects": ["vercel.ui"],
    "ops": ["stream"],
    "events": ["thinking.delta", "text.delta"],
}
DELTAS = {
    "reasoning-delta": {"type": "thinking.delta", "channel": "raw"},
    "text-delta": {"type": "text.delta"},
}


def write_line(line: Any) -> None:
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


def shown(url: str) -> Iterator[dict[str, Any]]:
    request = urllib.request.Request(url, b"{}", {"content-type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        for line in answer:
            if line.startswith(b"data: {"):
                part = json.loads(line[6:])
                if part["type"] in DELTAS and part["delta"]:
                    yield {**DELTAS[part["type"]], "text": part["delta"]}


for command in map(json.loads, sys.stdin):
    if command["cmd"] == "stop":
        break
    if command["cmd"] == "start":
        write_line({"version": 1, "implementation": ABOUT})
    elif command["cmd"] == "stream":
        how = "completed"
        try:
            for event in shown(command["base_url"]):
                write_line({"seq": command["seq"], "event": event})
        except (OSError, http.client.HTTPException):
            how = "failed"
        write_line({"seq": command["seq"], "end": {"how": how}})
    else:
        write_line({"seq": command["seq"], "skipped": "unknown"})
