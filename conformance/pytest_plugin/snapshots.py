"""Event sequences as syrupy snapshots: `snapshot(extension_class=EventSequence) == trace`.

Needs syrupy. One line per event, adjacent deltas joined, so that a snapshot does not change with
the cuts of tokens. Ids and opaque data are numbered in the order in which they appear; times are
left out.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from conformance.cassette import Redactor
from conformance.cassette.redaction.placeholders import Blanks
from conformance.core.events import Event
from conformance.pytest_plugin.trace import Trace

if TYPE_CHECKING:
    Extension = object  # syrupy need not be there for this to be checked
else:
    from syrupy.extensions.single_file import SingleFileSnapshotExtension as Extension
    from syrupy.extensions.single_file import WriteMode

_JOINED: Final = {"thinking.delta": "text", "text.delta": "text", "tool.delta": "arguments"}
# Opaque data, a signature or sealed thinking, is another each time, as ids are.
_MASKED: Final = frozenset({"id", "data"})


class EventSequence(Extension):
    """What a correct client would report, a line per event; other values as JSON."""

    file_extension = "events"
    if not TYPE_CHECKING:
        _write_mode = WriteMode.TEXT

    def serialize(self, data: Any, **_: Any) -> str:
        if not isinstance(data, Trace):
            return json.dumps(data, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
        return "\n".join(event_lines(data)) + "\n"


def event_lines(trace: Trace) -> Iterator[str]:
    """The semantic events of a trace, readable and without what changes from run to run."""
    masks: dict[tuple[str, str], str] = {}
    redactor = Redactor(opaque=False, placeholders=Blanks())
    for exchange in trace.exchanges:
        if exchange.request is not None:
            redactor.learn_request(exchange.request)  # what our side sent is known from then on
    for type_, fields in _joined_deltas(trace.semantic):
        shown = (f"{name}={_masked_value(name, field, masks)}" for name, field in fields.items())
        yield redactor.text(" ".join((type_, *shown)))


def _joined_deltas(events: tuple[Event, ...]) -> Iterator[tuple[str, Mapping[str, Any]]]:
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
