"""Examples inside a rule: `keeps` and `breaks`, each a small stream, as data.

Rule 1: an example is a text (the stream as it came), a list (its payloads, a frame each), the path
of a recording, or a mapping that says one of these and what a stream cannot say itself.
Rule 2: a string of one line is a path, unless it begins as a stream does.
Rule 3: how many there may be is bounded; the document bounds their size.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, Literal, get_args

import msgspec
from msgspec import Struct

from conformance.core.errors import Place
from conformance.rules.node import Node

Expected = Literal["keeps", "breaks"]

EXPECTED: Final[tuple[Expected, ...]] = get_args(Expected)
"""The keys of a rule that hold examples."""
MOST: Final = 50  # examples under one key
_FORMS: Final = ("text", "frames", "file")
_OTHER_KEYS: Final = ("dialect", "profile", "request")
_BEGINNINGS: Final = ("data:", "event:", "id:", "retry:", ":", "{", "[", "<|")


class StreamExample(Struct, frozen=True):
    """One stream, and the expected outcome of its rule.

    `number` counts from 1 below its key. Exactly one of these is present: `text`, the stream;
    `frames`, its payloads, with texts used literally; `file`, a path relative to the rule's file.
    `dialect` and `profile` are empty if the example names none, `request` is the JSON body of the
    request.
    """

    expected: Expected
    number: int
    place: Place
    text: str = ""
    frames: tuple[str, ...] = ()
    file: str = ""
    dialect: str = ""
    profile: str = ""
    request: Mapping[str, Any] | None = None


def read_examples(entries: Mapping[str, Node]) -> tuple[StreamExample, ...]:
    """The examples of a rule, from its keys. Raises SpecError."""
    return tuple(
        each for key in EXPECTED if key in entries for each in _examples_under(key, entries[key])
    )


def _examples_under(key: Expected, node: Node) -> Iterator[StreamExample]:
    nodes = node.sequence()
    if not nodes:
        raise node.error("expected at least one example, got none")
    if len(nodes) > MOST:
        raise node.error(f"more than {MOST} examples under one key")
    for number, each in enumerate(nodes, 1):
        yield _read_example(key, number, each)


def _read_example(key: Expected, number: int, node: Node) -> StreamExample:
    if node.kind != "mapping":
        form = _form_of(node)
        return StreamExample(key, number, node.place, **_read_stream(form, node))
    entries = node.mapping((*_FORMS, *_OTHER_KEYS))
    named = [form for form in _FORMS if form in entries]
    if len(named) != 1:
        hint = "a list of frames begins with two dashes: `- - {...}`"
        raise node.error(f"expected one of {', '.join(_FORMS)}", hint=hint)
    request = entries.get("request")
    return StreamExample(
        key,
        number,
        node.place,
        **_read_stream(named[0], entries[named[0]]),
        dialect=_read_word(entries, "dialect"),
        profile=_read_word(entries, "profile"),
        request=None if request is None else _read_body(request),
    )


def _read_word(entries: Mapping[str, Node], key: str) -> str:
    return entries[key].string() if key in entries else ""


def _form_of(node: Node) -> str:
    """Rule 2."""
    if node.kind == "sequence":
        return "frames"
    text = node.string()
    return "text" if "\n" in text or text.startswith(_BEGINNINGS) else "file"


def _read_stream(form: str, node: Node) -> dict[str, Any]:
    if form != "frames":
        return {form: node.string()}
    frames = tuple(_read_payload(each) for each in node.sequence())
    if not frames:
        raise node.error("expected at least one frame, got none")
    return {"frames": frames}


def _read_payload(node: Node) -> str:
    if node.kind == "scalar":
        return node.string()
    return msgspec.json.encode(node.plain()).decode()


def _read_body(node: Node) -> Mapping[str, Any]:
    node.mapping()
    body: Mapping[str, Any] = node.plain()
    return body
