"""A rule's example as two tables, a row per frame and a column per lane.

One is of a stream that keeps the rule, the other of one that breaks it.

Rule 1: what is shown begins shortly before the first row in which the two differ, and the row of
the finding is always there. Rows that are left out are counted.
Rule 2: texts come from recordings, so each is made visible, clipped and escaped.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec
from msgspec import Struct

from conformance.core.errors import ConformanceError
from conformance.core.events import Event, Exchange
from conformance.core.trace import TracedFrame
from conformance.dialects import get
from conformance.judging.result import StreamResult
from conformance.profiles.lookup import profile_at_hand
from conformance.profiles.profile import reading
from conformance.recordings.examples import ExampleStreams, JudgedRecording
from conformance.report.escaping import escape_html
from conformance.report.retrace import LANES, Lane, LaneChoice
from conformance.report.wording import count

_BEFORE: Final = 3  # rows shown before the first difference
_AFTER: Final = 2  # and after it, and around the finding
_CLIP: Final = 60  # characters of one text
_TOLD: Final = ("name", "arguments", "kind", "data", "reason", "id", "message", "how")
_PLAIN: Final = frozenset({"model", "messages", "input", "stream", "tools", "contents", "system"})
_Cells = Mapping[Lane, str]


class LaneRow(Struct, frozen=True):
    """What one frame says, by lane. `number` is the frame's; 0 is the request."""

    number: int
    cells: _Cells


def lane_tables(streams: ExampleStreams) -> str:
    """The two tables as HTML on lines of their own; empty where nothing can be drawn."""
    finding = streams.finding
    number = next(r.exchange for r in streams.failing.results if finding in r.findings)
    view = next(r.view for r in streams.failing.results if finding in r.findings)
    try:
        failing = _rows(streams.failing, number, view)
        passing = _rows(streams.passing, number, view) if streams.passing else []
    except ConformanceError:
        return ""
    differs = _first_difference(passing, failing)
    at = _row_at(failing, finding.event)
    parts = [
        _table("passes", passing, _window(len(passing), differs), None) if passing else "",
        _table("fails", failing, _window(len(failing), differs, at), at),
    ]
    # A search finds the words around it, not those of an example.
    return f'<div class="lanes-pair" data-search-exclude>\n{"".join(parts)}</div>'


def _rows(judged: JudgedRecording, number: int, view: str) -> list[LaneRow]:
    exchange = judged.exchange_numbered(number)
    if view == "client":
        return _reported_rows(exchange)
    results = judged.results
    stream = next((r for r in results if r.exchange == exchange.number), results[0])
    return _wire_rows(exchange, stream)


def _wire_rows(exchange: Exchange, stream: StreamResult) -> list[LaneRow]:
    lanes = LaneChoice()
    profile = profile_at_hand(stream.profile, stream.dialect)
    request = exchange.request
    asked = f"{request.method} {request.path} {_asked(request.json)}" if request else ""
    rows = [LaneRow(0, {"stream": asked.strip()})] if asked else []
    frames = get(stream.dialect).trace(exchange, reading(profile))
    table = (LaneRow(each.number, _frame_cells(each, lanes)) for each in frames if each.number)
    return [*rows, *table]


def _reported_rows(exchange: Exchange) -> list[LaneRow]:
    """The events that a client reported, which have no frames: numbered from 1."""
    lanes = LaneChoice()
    rows = []
    for number, reported in enumerate(exchange.seen or (), 1):
        data = {key: value for key, value in reported.items() if key != "type"}
        event = Event(str(reported["type"]), data, number, "semantic")
        rows.append(LaneRow(number, {lanes.of(event): _words(event)}))
    return rows


def _asked(body: Any) -> str:
    """What a request asks for beside its texts."""
    if not isinstance(body, dict):
        return ""
    kept = {key: value for key, value in body.items() if key not in _PLAIN}
    return ", ".join(f"{key}: {msgspec.json.encode(value).decode()}" for key, value in kept.items())


def _frame_cells(frame: TracedFrame, lanes: LaneChoice) -> _Cells:
    texts: dict[Lane, list[str]] = {}
    for event in frame.events:
        if event.layer == "semantic":
            texts.setdefault(lanes.of(event), []).append(_words(event))
    if not texts:
        wire = [event.type for event in frame.events if event.layer == "wire"]
        other = frame.frame.kind if frame.frame else "end of stream"
        return {"stream": wire[0] if wire else other}
    return {lane: ", ".join(words) for lane, words in texts.items()}


def _words(event: Event) -> str:
    """An event in a few words: the text of a delta, else what it is and what it names."""
    text = event.data.get("text")
    if isinstance(text, str):
        return f"“{text}”"
    kind, _, moment = event.type.partition(".")
    facts = [str(event.data[name]) for name in _TOLD if event.data.get(name) not in (None, "")]
    named = f"{kind} {moment}" if kind not in ("thinking", "text", "tool") else moment
    return " ".join((named.strip(), *facts))


def _first_difference(passing: Sequence[LaneRow], failing: Sequence[LaneRow]) -> int:
    pairs = enumerate(zip(passing, failing, strict=False))
    shorter = min(len(passing), len(failing))
    return next((i for i, (one, two) in pairs if one.cells != two.cells), shorter)


def _row_at(rows: Sequence[LaneRow], event: int) -> int:
    """The row of a frame, or the last before it."""
    before = [place for place, row in enumerate(rows) if row.number <= event]
    return before[-1] if before else 0


def _window(total: int, *places: int) -> list[int]:
    """The rows to show: those around the places."""
    shown = {row for place in places for row in range(place - _BEFORE, place + _AFTER + 1)}
    return sorted(row for row in shown if 0 <= row < total) or list(range(total))[-_BEFORE:]


def _table(verdict: str, rows: Sequence[LaneRow], shown: Sequence[int], at: int | None) -> str:
    lanes = [lane for lane in LANES if any(lane in rows[place].cells for place in shown)]
    heads = "".join(f'<th scope="col">{lane}</th>' for lane in lanes)
    lines = [
        f'<figure class="lanes {verdict}"><figcaption>{verdict}</figcaption>',
        f'<table class="lanes"><thead><tr><th scope="col">event</th>{heads}</tr></thead><tbody>',
        *_table_rows(rows, shown, lanes, at),
        "</tbody></table></figure>\n",
    ]
    return "\n".join(lines)


def _table_rows(
    rows: Sequence[LaneRow], shown: Sequence[int], lanes: Sequence[Lane], at: int | None
) -> Iterator[str]:
    before = -1
    for place in [*shown, len(rows)]:
        if missing := place - before - 1:
            number = count(missing, "event")
            yield f'<tr class="gap"><td colspan="{len(lanes) + 1}">{number}</td></tr>'
        if place < len(rows):
            row = rows[place]
            mark = ' class="at"' if place == at else ""
            name = f"{row.number}" if row.number else "request"
            cells = "".join(_cell(row.cells.get(lane), lane) for lane in lanes)
            yield f'<tr{mark}><th scope="row">{name}</th>{cells}</tr>'
        before = place


def _cell(text: str | None, lane: Lane) -> str:
    if text is None:
        return "<td></td>"
    return f'<td class="{lane}"><span>{escape_html(text, _CLIP)}</span></td>'
