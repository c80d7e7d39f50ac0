"""The shape of one recorded exchange: what stays the same when a model answers again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Final

from conformance.cassette import Recording
from conformance.core.events import Event, Exchange
from conformance.dialects import get
from conformance.diff.fields import FieldShapes
from conformance.diff.order import StepOrder
from conformance.judging.result import StreamResult
from conformance.judging.rulebook import Rulebook
from conformance.profiles.profile import profile_at_hand, reading
from conformance.recordings.identification import identify_exchange
from conformance.rules.verdicts import Verdict

# What of a semantic event is shape.
_TOLD: Final = ("channel", "explicit", "kind", "role", "reason", "how", "status")
_TEXTS: Final = {"text.delta": "text", "refusal.delta": "text", "tool.delta": "arguments"}
_MOST_TEXT: Final = 1 << 24  # characters of one text


@dataclass(frozen=True, slots=True)
class ExchangeShape:
    """What one exchange looked like. `facts` are single values by name."""

    facts: Mapping[str, str]
    wire: tuple[str, ...]
    semantic: tuple[str, ...]
    counts: Mapping[str, int]
    fields: FieldShapes
    knobs: Mapping[str, Any]
    verdicts: Mapping[str, Verdict]
    texts: Mapping[str, str]
    is_clipped: bool


@dataclass(slots=True)
class _ShapeCollector:
    """What is collected on the way."""

    wire: StepOrder = field(default_factory=StepOrder)
    semantic: StepOrder = field(default_factory=StepOrder)
    counts: Counter[str] = field(default_factory=Counter)
    fields: FieldShapes = field(default_factory=FieldShapes)
    framing: set[str] = field(default_factory=set)
    texts: dict[str, list[str]] = field(default_factory=dict)
    sizes: Counter[str] = field(default_factory=Counter)

    def add_events(self, events: Iterable[Event]) -> None:
        steps: list[str] = []
        for event in events:
            if event.layer == "wire":
                steps.append(event.type)
                self.counts[event.type] += 1
                self.fields.add_payload(event.type, event.data)
            elif event.layer == "semantic":
                self.semantic.add_step(_semantic_step(event))
                self._add_text(event)
            else:
                self._add_framing(event)
        self.wire.add_step(" + ".join(dict.fromkeys(steps)))

    def _add_text(self, event: Event) -> None:
        name = _text_channel(event)
        text = event.data.get(_TEXTS.get(event.type, "text"), "")
        if name and isinstance(text, str) and self.sizes[name] < _MOST_TEXT:
            self.texts.setdefault(name, []).append(text)
            self.sizes[name] += len(text)

    def _add_framing(self, event: Event) -> None:
        if event.type == "sse.frame":
            self.framing.add("event lines" if event.data.get("named") else "no event lines")
        elif event.type == "line.frame":
            self.framing.add("lines of JSON")
        elif event.type in ("sse.comment", "sse.ignored", "line.ignored"):
            self.framing.add(str(event.data.get("reason", "comments")))


def shape_of(
    recording: Recording, exchange: Exchange, result: StreamResult, rulebook: Rulebook
) -> ExchangeShape:
    """The shape of an exchange that was judged with this result."""
    profile = profile_at_hand(result.profile, result.dialect)
    collected = _ShapeCollector()
    # The request is not the server's doing.
    for each in islice(get(result.dialect).trace(exchange, reading(profile)), 1, None):
        collected.add_events(each.events)
    identified = identify_exchange(recording, exchange, get(result.dialect), rulebook)
    return ExchangeShape(
        facts={
            **_exchange_facts(exchange, result),
            "framing": ", ".join(sorted(collected.framing)),
        },
        wire=collected.wire.collapsed_steps(),
        semantic=collected.semantic.collapsed_steps(),
        counts=collected.counts,
        fields=collected.fields,
        knobs=identified.identity.knobs,
        verdicts=result.verdicts,
        texts={name: "".join(parts) for name, parts in collected.texts.items()},
        is_clipped=collected.wire.is_clipped
        or collected.semantic.is_clipped
        or collected.fields.is_clipped,
    )


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


def _semantic_step(event: Event) -> str:
    told = [
        _value_text(event.data[name]) for name in _TOLD if event.data.get(name) not in (None, "")
    ]
    choice = event.data.get("choice")
    told += [f"choice {choice}"] if choice else []
    return f"{event.type}({', '.join(told)})" if told else event.type


def _value_text(value: object) -> str:
    if isinstance(value, bool):  # the one truth value: whether the wire said so
        return "explicit" if value else "implied"
    return str(value)


def _text_channel(event: Event) -> str:
    if event.type == "thinking.delta":
        return f"thinking ({event.data.get('channel', 'raw')})"
    return event.type.partition(".")[0] if event.type in _TEXTS else ""
