"""An adapter that only extracts: `python client_extract.py WAY`."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import Any

Record = dict[str, Any]
ABOUT = {
    "name": "extract",
    "language": "python",
    "version": "1",
    "dialects": ["openai.chat"],
    "ops": ["extract"],
    "events": ["thinking.delta", "text.delta"],
}
FIELDS = ("reasoning_content", "reasoning", "thinking")
WAYS = ("in-order", "first", "blocks-first", "by-key", "blank", "twice", "two-fields")


def of_fields(message: Record, way: str) -> Iterator[str]:
    known = FIELDS[:2] if way == "two-fields" else FIELDS
    names = [key for key in message if key in known] if way == "by-key" else known
    yield from (message[name] for name in names if name in message)


def of_blocks(message: Record) -> Iterator[str]:
    content = message["content"]
    blocks = content if isinstance(content, list) else []
    yield from (block["text"] for block in blocks if block["type"] in ("reasoning", "thinking"))


def thinking(message: Record, way: str) -> str:
    fields, blocks = list(of_fields(message, way)), list(of_blocks(message))
    found = blocks + fields if way == "blocks-first" else fields + blocks
    if way != "twice":
        found = list(dict.fromkeys(found))
    if way == "first":
        del found[1:]
    return (" " if way == "blank" else "\n").join(found)


def answer(command: Record, way: str) -> Record:
    if command["cmd"] != "extract":
        return {"skipped": "unknown"}
    text = thinking(command["message"], way)
    return {"events": [{"type": "thinking.delta", "channel": "raw", "text": text}]}


def main(way: str) -> None:
    assert way in WAYS
    for line in sys.stdin:
        command = json.loads(line)
        if command["cmd"] == "stop":
            return
        if command["cmd"] == "start":
            introduction: Record = {"version": 1, "implementation": ABOUT}
        else:
            introduction = {"seq": command["seq"], **answer(command, way)}
        sys.stdout.write(json.dumps(introduction) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1])
