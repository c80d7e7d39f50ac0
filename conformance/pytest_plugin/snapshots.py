"""Event sequences as syrupy snapshots: `snapshot(extension_class=EventSequence) == trace`.

Needs syrupy. One line per event, adjacent deltas joined, so that a snapshot does not change with
the cuts of tokens. Ids are numbered in the order in which they appear; times are left out.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from conformance.events import Event
from conformance.pytest_plugin.trace import Trace

if TYPE_CHECKING:
    Extension = object  # syrupy need not be there for this to be checked
else:
    from syrupy.extensions.single_file import SingleFileSnapshotExtension as Extension
    from syrupy.extensions.single_file import WriteMode

_JOINED: Final = {"thinking.delta": "text", "text.delta": "text", "tool.delta": "arguments"}
_IDS: Final = frozenset({"id"})


class EventSequence(Extension):
    """What a correct client would report, a line per event; other values as JSON."""

    file_extension = "events"
    if not TYPE_CHECKING:
        _write_mode = WriteMode.TEXT

    def serialize(self, data: Any, **_: Any) -> str:
        if not isinstance(data, Trace):
            return json.dumps(data, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
        return "\n".join(lines(data)) + "\n"


def lines(trace: Trace) -> Iterator[str]:
    """The semantic events of a trace, readable and without what changes from run to run."""
    ids: dict[str, str] = {}
    for type_, fields in _joined(trace.semantic):
        shown = (f"{name}={_spelt(name, field, ids)}" for name, field in fields.items())
        yield " ".join((type_, *shown))


def _joined(events: tuple[Event, ...]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Events with runs of deltas that differ in their text only as one."""
    type_, fields = "", dict[str, Any]()
    for event in events:
        key = _JOINED.get(event.type)
        if key and event.type == type_ and _apart(fields, key) == _apart(event.data, key):
            fields[key] += event.data[key]
            continue
        if type_:
            yield type_, fields
        type_, fields = event.type, dict(event.data)
    if type_:
        yield type_, fields


def _apart(fields: Mapping[str, Any], key: str) -> dict[str, Any]:
    return {name: field for name, field in fields.items() if name != key}


def _spelt(name: str, field: Any, ids: dict[str, str]) -> str:
    if name in _IDS and isinstance(field, str) and field:
        return ids.setdefault(field, f"<id {len(ids) + 1}>")
    return json.dumps(field, ensure_ascii=False)
