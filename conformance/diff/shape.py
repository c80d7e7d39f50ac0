"""The shape of one recorded exchange: what stays the same when a model answers again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any, Final

from msgspec import Struct, field

from conformance.cassette import Recording
from conformance.core.events import Event, Exchange
from conformance.core.reading import Reading
from conformance.dialects import get
from conformance.diff.fields import FieldShapes
from conformance.diff.order import StepOrder
from conformance.judging.result import StreamResult
from conformance.profiles.lookup import profile_at_hand
from conformance.profiles.profile import reading
from conformance.recordings.identification import identity_of
from conformance.rules.verdicts import Verdict

# What of a semantic event is shape.
_KEPT: Final = ("channel", "explicit", "kind", "role", "reason", "how", "status")
_TEXTS: Final = {"text.delta": "text", "refusal.delta": "text", "tool.delta": "arguments"}
_MOST_TEXT: Final = 1 << 24  # characters of one text
# A rebuilt framing has these, whatever was sent.
_OF_FRAMING: Final = frozenset({"[DONE]", "done"})


class ExchangeShape(Struct):
    """What one exchange looked like. `facts` are single values by name, `texts` in pieces."""

    knobs: Mapping[str, Any]
    verdicts: Mapping[str, Verdict]
    facts: dict[str, str]
    wire: StepOrder = field(default_factory=StepOrder)
    semantic: StepOrder = field(default_factory=StepOrder)
    counts: Counter[str] = field(default_factory=Counter)
    fields: FieldShapes = field(default_factory=FieldShapes)
    texts: dict[str, list[str]] = field(default_factory=dict)
    framing: set[str] = field(default_factory=set)
    is_framed: bool = True
    _sizes: Counter[str] = field(default_factory=Counter)

    @property
    def is_clipped(self) -> bool:
        return self.wire.is_clipped or self.semantic.is_clipped or self.fields.is_clipped

    def add_events(self, events: Iterable[Event]) -> None:
        steps: list[str] = []
        for event in events:
            if not self.is_framed and event.type in _OF_FRAMING:
                continue
            if event.layer == "wire":
                steps.append(event.type)
                self.counts[event.type] += 1
                self.fields.add_payload(event.type, event.data)
            elif event.layer == "semantic":
                self.semantic.add_step(_semantic_step(event))
                self._add_text(event)
            elif self.is_framed and (how := _framing_name(event)):
                self.framing.add(how)
        self.wire.add_step(" + ".join(dict.fromkeys(steps)))

    def _add_text(self, event: Event) -> None:
        name = _text_channel(event)
        text = event.data.get(_TEXTS.get(event.type, "text"), "")
        if name and isinstance(text, str) and self._sizes[name] < _MOST_TEXT:
            self.texts.setdefault(name, []).append(text)
            self._sizes[name] += len(text)


def shape_of(
    recording: Recording, exchange: Exchange, result: StreamResult, *, is_framed: bool = True
) -> ExchangeShape:
    """The shape of an exchange that was judged with this result; read as its profile says.

    Without `is_framed` it leaves out what the framing alone says.
    """
    knobs = identity_of(recording, exchange, get(result.dialect)).knobs
    read_as = reading(profile_at_hand(result.profile, result.dialect))
    return wire_shape(exchange, result, read_as, knobs, is_framed=is_framed)


def wire_shape(
    exchange: Exchange,
    result: StreamResult,
    read_as: Reading,
    knobs: Mapping[str, Any],
    *,
    is_framed: bool = True,
) -> ExchangeShape:
    """The shape of an exchange that is read so, and has shown these knobs."""
    facts = _exchange_facts(exchange, result)
    shape = ExchangeShape(knobs, result.verdicts, facts, is_framed=is_framed)
    # The request is not the server's doing.
    for each in islice(get(result.dialect).trace(exchange, read_as), 1, None):
        shape.add_events(each.events)
    shape.facts["framing"] = ", ".join(sorted(shape.framing))
    return shape


def _exchange_facts(exchange: Exchange, result: StreamResult) -> dict[str, str]:
    response = exchange.response
    kind = (response.header("content-type") or "") if response else ""
    return {
        "dialect": result.dialect,
        "status": "" if response is None or response.status is None else str(response.status),
        "http": response.http if response else "",
        "content-type": kind.lower().replace(" ", ""),
        "end": exchange.end,
    }


def _framing_name(event: Event) -> str:
    if event.type == "sse.frame":
        return "event lines" if event.data.get("named") else "no event lines"
    if event.type == "line.frame":
        return "lines of JSON"
    if event.type == "binary.frame":
        return "binary messages"
    if event.type == "element.frame":
        return "elements of an array"
    is_passed_over = event.type == "sse.comment" or event.type.endswith(".ignored")
    return str(event.data.get("reason", "comments")) if is_passed_over else ""


def _semantic_step(event: Event) -> str:
    facts = [
        _value_text(event.data[name]) for name in _KEPT if event.data.get(name) not in (None, "")
    ]
    choice = event.data.get("choice")
    facts += [f"choice {choice}"] if choice else []
    return f"{event.type}({', '.join(facts)})" if facts else event.type


def _value_text(value: object) -> str:
    if isinstance(value, bool):  # the only truth value: whether the wire has it
        return "explicit" if value else "implied"
    return str(value)


def _text_channel(event: Event) -> str:
    if event.type == "thinking.delta":
        return f"thinking ({event.data.get('channel', 'raw')})"
    return event.type.partition(".")[0] if event.type in _TEXTS else ""
