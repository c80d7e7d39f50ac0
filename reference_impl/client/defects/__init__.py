"""Named faults of clients, each switched on alone: what conformance has to find.

Nothing in the client knows of them. A defect stands at one of five doors: it sees the bytes before
they are read, the events before they are reported, what is asked, the request before it goes, or
the record before it is stored.

`defects.toml` has an entry each: `edits` of events by their type, the first text `after_thinking`,
what is `asked` otherwise, or code, the function of its name for the door that `at` names.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from . import report_edits, request_edits
from .defect import Defect

__all__ = ["DEFECTS", "HONEST", "REPORT_DEFECTS", "REQUEST_DEFECTS", "Defect"]

_DOORS: Final = {
    "bytes": report_edits,
    "events": report_edits,
    "ask": request_edits,
    "request": request_edits,
    "store": request_edits,
}


def _read_defects() -> dict[str, Defect]:
    text = Path(__file__).with_name("defects.toml").read_text(encoding="utf-8")
    return {name: _defect_of_entry(name, entry) for name, entry in tomllib.loads(text).items()}


def _defect_of_entry(name: str, entry: Mapping[str, Any]) -> Defect:
    defect = Defect(name, entry["says"], tuple(entry["rules"]))
    if "edits" in entry:
        edits = report_edits.edited(entry["edits"], entry.get("where", {}))
        return replace(defect, events=edits)
    if "after_thinking" in entry:
        events = report_edits.first_after_thinking(entry["after_thinking"])
        return replace(defect, events=events)
    if "asked" in entry:
        return replace(defect, ask=lambda ask: replace(ask, **entry["asked"]))
    at = entry["at"]
    return replace(defect, **{at: getattr(_DOORS[at], name.replace("-", "_"))})


HONEST: Final = Defect("none", "Everything is right.", ())
DEFECTS: Final = _read_defects()
REPORT_DEFECTS: Final = tuple(
    each for each in DEFECTS.values() if (each.bytes, each.events) != (HONEST.bytes, HONEST.events)
)
REQUEST_DEFECTS: Final = tuple(each for each in DEFECTS.values() if each not in REPORT_DEFECTS)
