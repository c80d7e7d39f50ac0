"""Pieces of an event stream before they are bytes, and the small texts that fill them."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Fields = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Message:
    """One SSE event: a payload (a JSON value, or text as it stands) and, if named, its name."""

    payload: Any
    event: str = ""

    def encode(self) -> bytes:
        text = self.payload if isinstance(self.payload, str) else compact(self.payload)
        named = f"event: {self.event}\n" if self.event else ""
        return f"{named}data: {text}\n\n".encode()


@dataclass(frozen=True, slots=True)
class Line(Message):
    """One line of JSON."""

    def encode(self) -> bytes:
        return f"{compact(self.payload)}\n".encode()


LINES = "application/x-ndjson"

Piece = Message | bytes
"""A message, or bytes as they stand: comments, stray lines, broken characters."""

DONE = Message("[DONE]")


def encoded(piece: Piece) -> bytes:
    return piece if isinstance(piece, bytes) else piece.encode()


def compact(value: Any) -> str:
    """JSON as servers write it: one line, no spaces, characters as they are."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def comment(text: str) -> bytes:
    return f": {text}\n\n".encode()


def deltas(text: str, words: int = 2) -> list[str]:
    """The text in deltas of a few words; joined they are the text."""
    return re.findall(rf"(?:\s*\S+){{1,{words}}}(?:\s+$)?", text)


def characters(text: str, count: int = 3) -> list[str]:
    """The text in deltas of a few characters, for scripts that put no spaces between words."""
    return [text[start : start + count] for start in range(0, len(text), count)]


def opaque(label: str, size: int = 64) -> str:
    """A string that looks like encrypted thinking and says what it is when it is decoded."""
    text = f"synthetic, nothing is encrypted here: {label} " * 9
    return base64.urlsafe_b64encode(text.encode()).decode()[:size]


def padding(delta: str) -> str:
    """Letters that bring a delta to a multiple of 16, as servers hide its length."""
    return "abcdefghijklmnop"[: 16 - len(delta) % 16]


def put(fields: Mapping[str, Any], path: str, value: Any) -> Fields:
    """A copy in which `value` stands at a dotted path; numbers are places in lists."""
    copy: Fields = json.loads(json.dumps(fields))
    holder, last = _holder(copy, path)
    holder[last] = value
    return copy


def cut(fields: Mapping[str, Any], path: str) -> Fields:
    """A copy in which nothing stands at a dotted path."""
    copy: Fields = json.loads(json.dumps(fields))
    holder, last = _holder(copy, path)
    del holder[last]
    return copy


def at(value: Any, path: str) -> Any:
    """What stands at a dotted path; None where there is nothing."""
    for step in path.split("."):
        if isinstance(value, list):
            is_there = step.isdecimal() and int(step) < len(value)
            value = value[int(step)] if is_there else None
        elif isinstance(value, dict):
            value = value.get(step)
        else:
            return None
    return value


def _holder(value: Any, path: str) -> tuple[Any, Any]:
    *steps, last = [int(step) if step.isdecimal() else step for step in path.split(".")]
    for step in steps:
        value = value[step]
    return value, last
