"""Defects of clients: edits of what a client reports of a stream that it was sent.

The bytes stay as they are. The rule that compares the two views and the suites of the client view
have to find every one of them.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from conformance.core.events import Exchange
from conformance.editing.operator import Mutant

_Report = list[dict[str, Any]]
_ReportEdit = Callable[[_Report], _Report]


class Defect(Struct, frozen=True):
    """One thing that clients get wrong. An edit that changes nothing does not apply."""

    name: str
    says: str
    edit: _ReportEdit


def client_mutants(exchange: Exchange, defects: Sequence[Defect] | None = None) -> Iterator[Mutant]:
    """The exchange with every defect that applies to what its client reported."""
    reported = [dict(event) for event in exchange.seen or ()]
    for defect in DEFECTS if defects is None else defects:
        edited = defect.edit([dict(event) for event in reported])
        if edited != reported:
            yield Mutant(defect.name, "kill", 0, replace(exchange, seen=tuple(edited)))


def _events_of(report: _Report, *types: str) -> list[int]:
    return [n for n, event in enumerate(report) if event.get("type") in types]


def _middle_place(places: Sequence[int]) -> list[int]:
    return [places[len(places) // 2]] if places else []


def _drop_events(report: _Report, places: Sequence[int]) -> _Report:
    return [event for n, event in enumerate(report) if n not in places]


def _lose_one(*types: str) -> _ReportEdit:
    """One event of these types is lost, from the middle."""
    return lambda report: _drop_events(report, _middle_place(_events_of(report, *types)))


def _lose_call(report: _Report) -> _Report:
    """One call is lost, from the middle of those that the client itself has to carry out."""
    calls = [at for at in _events_of(report, "tool.end") if not report[at].get("hosted")]
    return _drop_events(report, _middle_place(calls))


def _lose_all(*types: str) -> _ReportEdit:
    return lambda report: _drop_events(report, _events_of(report, *types))


def _double_one(*types: str) -> _ReportEdit:
    def edit(report: _Report) -> _Report:
        places = _middle_place(_events_of(report, *types))
        return [e for n, event in enumerate(report) for e in [event] * (1 + (n in places))]

    return edit


def _change_text(kind: str, field: str, change: Callable[[str], str]) -> _ReportEdit:
    """Another text in the event of a kind in the middle."""

    def edit(report: _Report) -> _Report:
        for place in _middle_place(_events_of(report, kind)):
            report[place][field] = change(str(report[place].get(field, "")))
        return report

    return edit


def _change_every(kind: str, more: Callable[[dict[str, Any]], Mapping[str, Any]]) -> _ReportEdit:
    def edit(report: _Report) -> _Report:
        for place in _events_of(report, kind):
            report[place] = {**report[place], **more(report[place])}
        return report

    return edit


def _lose_at(before: int) -> _ReportEdit:
    """What is at the boundary of thinking and text is lost, on one side of it."""

    def edit(report: _Report) -> _Report:
        kinds = ("thinking.delta", "text.delta")
        places = _events_of(report, *kinds)
        types = [report[n]["type"] for n in places]
        crossings = [n for n in range(1, len(places)) if types[n - 1 : n + 1] == [*kinds]]
        return _drop_events(report, [places[n - before] for n in crossings[:1]])

    return edit


def _lose_shown(*types: str) -> _ReportEdit:
    """All events of these types, where thinking was shown: an empty block may stay untold."""
    lost = _lose_all(*types)
    return lambda report: lost(report) if _events_of(report, "thinking.delta") else report


def _start_per_delta(report: _Report) -> _Report:
    made: _Report = []
    starts = _events_of(report, "thinking.start")  # numbers of blocks begin anew with an answer
    deltas = _events_of(report, "thinking.delta")
    blocks = {(bisect(starts, n), report[n].get("block")) for n in deltas}
    if len(blocks) == len(deltas):
        return report  # every delta is a block already
    block = 100
    for event in report:
        if event.get("type") == "thinking.delta":
            block += 1
            place: dict[str, Any] = {"choice": event.get("choice", 0), "block": block}
            start: dict[str, Any] = {"type": "thinking.start", **place, "explicit": False}
            end: dict[str, Any] = {"type": "thinking.end", **place, "explicit": False}
            made += [start, {**event, **place}, end]
        elif event.get("type") not in ("thinking.start", "thinking.end"):
            made.append(event)
    return made


def _add_thinking(kind: str, text: str) -> _ReportEdit:
    """A made-up delta after the last event of a kind, in its block."""

    def edit(report: _Report) -> _Report:
        for place in _events_of(report, kind)[-1:]:
            found = report[place].items()
            kept = {key: value for key, value in found if key in ("choice", "block", "channel")}
            report.insert(place + 1, {**kept, "type": "thinking.delta", "text": text})
        return report

    return edit


def _swap_boundary(report: _Report) -> _Report:
    """The last thinking and the first text are reported the other way round."""
    thoughts, texts = _events_of(report, "thinking.delta"), _events_of(report, "text.delta")
    if thoughts and texts and thoughts[-1] < texts[0]:
        one, two = thoughts[-1], texts[0]
        report[one], report[two] = report[two], report[one]
    return report


def _lose_ends(report: _Report) -> _Report:
    """No end of thinking; where an error discharges what is owed, nothing is lost."""
    return report if _events_of(report, "error") else _lose_all("thinking.end")(report)


def _start_early(report: _Report) -> _Report:
    deltas = _events_of(report, "thinking.delta", "text.delta")
    if not deltas or report[deltas[0]]["type"] != "thinking.delta" or _events_of(report, "error"):
        return report  # text that comes first is not early, and an error discharges what is owed
    for place in _events_of(report, "message.start")[:1]:
        report.insert(place + 1, {"type": "text.start", "choice": 0, "block": 0})
    return report


def _cut_as_done(report: _Report) -> _Report:
    cuts = _events_of(report, "cut")
    finish = {"choice": 0, "type": "finish", "reason": "stop"}
    done = {"choice": 0, "type": "done", "explicit": True}
    return [*_drop_events(report, cuts), finish, done] if cuts else report


def _done_as_cut(report: _Report) -> _Report:
    if _events_of(report, "done"):
        kept = _drop_events(report, _events_of(report, "done", "finish"))
        return [*kept, {"type": "cut", "choice": 0, "how": "eof"}]
    return report


def _opaque_as_text(report: _Report) -> _Report:
    for place in _events_of(report, "thinking.opaque")[:1]:
        data = report[place].get("data", "")
        report[place] = {"type": "text.delta", "choice": 0, "block": 9, "text": data}
    return report


def _other_channel(event: dict[str, Any]) -> dict[str, Any]:
    return {"channel": "raw" if event.get("channel") == "summary" else "summary"}


DEFECTS: Final = (
    Defect("C1-lost-delta", "A delta of thinking is lost.", _lose_one("thinking.delta")),
    Defect("C1-lost-text", "A delta of text is lost.", _lose_one("text.delta")),
    Defect(
        "C2-doubled-delta", "A delta of thinking is reported twice.", _double_one("thinking.delta")
    ),
    Defect(
        "C3-swallowed-thinking", "The thinking of the boundary chunk is swallowed.", _lose_at(1)
    ),
    Defect("C3-swallowed-text", "The text of the boundary chunk is swallowed.", _lose_at(0)),
    Defect(
        "C4-summed",
        "Mirrored thinking is added up.",
        _change_every("thinking.delta", lambda event: {"text": event["text"] * 2}),
    ),
    Defect(
        "C5-no-thinking",
        "All thinking is dropped.",
        _lose_shown("thinking.start", "thinking.delta", "thinking.part", "thinking.end"),
    ),
    Defect("C6-start-per-delta", "Every delta of thinking is a separate block.", _start_per_delta),
    Defect("C7-no-start", "The start of thinking is missing.", _lose_shown("thinking.start")),
    Defect(
        "C7-start-twice", "The start of thinking is reported twice.", _double_one("thinking.start")
    ),
    Defect("C8-no-end", "The end of thinking is missing.", _lose_ends),
    Defect(
        "C8-delta-after-end",
        "Thinking is reported after its end.",
        _add_thinking("thinking.end", "hm"),
    ),
    Defect("C9-finish-twice", "The finish is reported twice.", _double_one("finish")),
    Defect("C9-no-finish", "The finish is missing.", _lose_all("finish")),
    Defect("C10-no-usage", "Usage is lost.", _lose_all("usage")),
    Defect("C11-no-signature", "Opaque data is lost.", _lose_all("thinking.opaque")),
    Defect("C12-parts-merged", "Parts of a summary are merged.", _lose_all("thinking.part")),
    Defect(
        "C13-marker-in-text",
        "A marker shows in the text.",
        _change_text("text.delta", "text", lambda text: f"</think>{text}"),
    ),
    Defect("C14-text-started-early", "Text is started by the role chunk.", _start_early),
    Defect("C15-cut-as-done", "A stream that broke off is reported as done.", _cut_as_done),
    Defect("C15-done-as-cut", "A complete stream is reported as broken off.", _done_as_cut),
    Defect("C16-order-swapped", "Text is reported before the thinking.", _swap_boundary),
    Defect("C17-opaque-as-text", "Opaque data is shown.", _opaque_as_text),
    Defect(
        "C18-thinking-as-text",
        "Thinking is reported as text.",
        _change_every("thinking.delta", lambda _: {"type": "text.delta"}),
    ),
    Defect(
        "C18-text-as-thinking",
        "Text is reported as thinking.",
        _change_every("text.delta", lambda _: {"type": "thinking.delta", "channel": "raw"}),
    ),
    Defect("C19-empty-delta", "An empty delta is reported.", _add_thinking("thinking.delta", "")),
    Defect("C20-message-twice", "The message is started twice.", _double_one("message.start")),
    Defect(
        "C21-arguments-cut",
        "Arguments of a call are cut short.",
        _change_text("tool.end", "arguments", lambda text: text[:-1]),
    ),
    Defect("C21-lost-call", "A tool call is lost.", _lose_call),
    Defect(
        "C22-other-reason",
        "Another finish reason.",
        _change_text("finish", "reason", lambda _: "?"),
    ),
    Defect("C23-error-swallowed", "An error is swallowed.", _lose_all("error")),
    Defect(
        "C24-other-channel",
        "A summary is reported as raw thinking, or the reverse.",
        _change_every("thinking.delta", _other_channel),
    ),
    Defect("C25-no-done", "The end of the stream is not reported.", _lose_all("done")),
)
