"""A sequence of semantic events as lines: to read, to compare, and to keep as a snapshot.

Adjacent deltas are joined, so that lines do not change with the cuts of tokens. Ids and opaque data
are numbered in the order in which they appear, and times are left out.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from difflib import ndiff
from typing import Any, Final

from conformance.cassette import Redactor
from conformance.cassette.redaction.placeholders import Blanks
from conformance.core.events import Event, Exchange

_JOINED: Final = {"thinking.delta": "text", "text.delta": "text", "tool.delta": "arguments"}
# Opaque data, a signature or sealed thinking, is another each time, as ids are.
_MASKED: Final = frozenset({"id", "data"})


def event_lines(exchanges: Sequence[Exchange], events: Sequence[Event]) -> Iterator[str]:
    """The semantic events of these exchanges, readable and without what changes with each run."""
    masks: dict[tuple[str, str], str] = {}
    redactor = Redactor(opaque=False, placeholders=Blanks())
    for exchange in exchanges:
        if exchange.request is not None:
            redactor.learn_request(exchange.request)  # what our side sent is known from then on
    for type_, fields in joined_deltas(events):
        shown = (f"{name}={_masked_value(name, field, masks)}" for name, field in fields.items())
        yield redactor.text(" ".join((type_, *shown)))


def sequence_difference(left: Sequence[str], right: Sequence[str]) -> list[str]:
    """What only the left has (`-`), what only the right has (`+`), between what both have."""
    return [line.rstrip() for line in ndiff(left, right) if not line.startswith("? ")]


def joined_deltas(events: Sequence[Event]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Events with runs of deltas that differ in their text only as one."""
    type_, fields = "", dict[str, Any]()
    for event in events:
        key = _JOINED.get(event.type)
        if (
            key
            and event.type == type_
            and _other_fields(fields, key) == _other_fields(event.data, key)
        ):
            fields[key] += event.data[key]
            continue
        if type_:
            yield type_, fields
        type_, fields = event.type, dict(event.data)
    if type_:
        yield type_, fields


def _other_fields(fields: Mapping[str, Any], key: str) -> dict[str, Any]:
    return {name: field for name, field in fields.items() if name != key}


def _masked_value(name: str, field: Any, masks: dict[tuple[str, str], str]) -> str:
    if name in _MASKED and isinstance(field, str) and field:
        number = 1 + sum(kind == name for kind, _ in masks)
        return masks.setdefault((name, field), f"<{name} {number}>")
    return json.dumps(field, ensure_ascii=False)
