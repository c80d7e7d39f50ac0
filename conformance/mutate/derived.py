"""Mutants made from a rule: what would violate it, by its form, on a stream that keeps it.

grammar   an event of its alphabet is dropped, doubled or moved
never     an event that may not come is moved, copied, or made of one that nearly is it
response  the answers are dropped, or moved
values    one value is changed, or made that of another event
each      a required field is dropped, a field has a value of another type
fold      one of the collected texts is changed, dropped or doubled, or the statement is changed

Whether such an edit violates the rule shows only when it is judged: these mutants prove that a
rule can fail, and prove nothing where it does not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from conformance.core.json_values import Path, cut_at, put_at, value_at
from conformance.mutate.evidence import (
    REQUEST,
    Seen,
    nearly,
    occurrences,
    path_in,
    seen,
)
from conformance.mutate.operator import Mutant
from conformance.mutate.stream import Stream
from conformance.profiles.profile import Profile
from conformance.rules.model import Answer, Each, Fold, Grammar, Never, Values
from conformance.rules.patterns import UNASKED, compile_value
from conformance.rules.plans import Named, Plan

MOST: Final = 16
_WRONG: Final = "another value"
Found = Mapping[str, list[Seen]]
Edits = Iterator[Stream | None]


@dataclass(frozen=True, slots=True)
class Ground:
    """A stream with its events, on which rules are to be violated."""

    stream: Stream
    events: list[Seen]

    @classmethod
    def of(cls, stream: Stream, profile: Profile) -> Ground:
        return cls(stream, seen(stream, profile))

    def mutants(self, plan: Plan) -> Iterator[Mutant]:
        """At most `MOST` mutants made from one rule."""
        made = 0
        for edited in self._edits(plan):
            if edited is None:
                continue
            exchange = edited.renumbered().result()
            if exchange != self.stream.exchange:
                made += 1
                yield Mutant(f"rule:{plan.rule.id}", "either", made, exchange)
            if made >= MOST:
                return

    def _edits(self, plan: Plan) -> Edits:
        form = plan.rule.form
        found = occurrences(plan, self.events)
        if isinstance(form, Grammar):
            yield from _shuffled(self.stream, found, found)
        elif isinstance(form, Never):
            yield from _forbidden(self, plan, form, found)
        elif isinstance(form, Answer):
            yield from _unanswered(self.stream, form, found)
        elif isinstance(form, Values):
            yield from _revalued(self.stream, form, found)
        elif isinstance(form, Each):
            yield from _unfit(self.stream, form, found)
        elif isinstance(form, Fold):
            yield from _miscollected(self.stream, form, found)


def _ends(found: Iterable[Seen]) -> list[Seen]:
    """The first and the last, without repetition."""
    every = list(found)
    return [every[0], every[-1]] if len(every) > 1 else every


def _bytes(found: Iterable[Seen]) -> list[int]:
    """Places of these events in the body, each once."""
    return sorted({each.place for each in found if each.place != REQUEST})


def _shuffled(stream: Stream, found: Found, names: Iterable[str]) -> Edits:
    for name in names:
        for each in _ends(found.get(name, [])):
            if each.place != REQUEST:
                yield stream.dropped(each.place)
                yield stream.inserted(each.place + 1, stream.pieces[each.place])
                yield stream.moved(each.place, 0)
                yield stream.moved(each.place, len(stream.pieces))


def _forbidden(ground: Ground, plan: Plan, form: Never, found: Found) -> Edits:
    stream = ground.stream
    bad = _bytes(s for name in form.events for s in found.get(name, []))
    after = _bytes(s for name in form.after for s in found.get(name, []))
    until = _bytes(s for name in form.until for s in found.get(name, []))
    for place in bad[:1] + bad[-1:]:
        for bound in after[:1] + after[-1:]:
            yield stream.inserted(bound + 1, stream.pieces[place])
            yield stream.inserted(len(stream.pieces), stream.pieces[place])
        if until:
            yield stream.moved(place, until[0])
            yield stream.dropped(*until)
    named = {each.name: each for each in plan.names}
    for name in form.events:
        near = nearly(named[name], ground.events)
        for each in _ends(near):
            yield _made(stream, named[name], each)


def _made(stream: Stream, named: Named, what: Seen) -> Stream | None:
    """The event changed so that the name's conditions hold for it."""
    for (path, pattern), (get, test) in zip(named.alias.conditions, named.conditions, strict=True):
        if test(get(what.event.data), what.event.data, UNASKED):
            continue
        way = path_in(stream, what, path)
        change = _fitting(pattern, what, way) if way else None
        if change is None:
            return None
        stream = _changed(stream, what, change)
    return stream


_Change = Callable[[Any], Any]


def _fitting(pattern: Any, what: Seen, way: Path) -> _Change | None:
    """The first change found that makes a value fit a pattern."""
    if pattern == {"absent": True}:
        return _off(way)
    candidates = [*_constants(pattern), _WRONG, 7, None, "", [], ["x"], {}, {"x": 1}, True, False]
    candidates += [10_000_000, what.event.type]
    # What a pattern with a knob stands for, only the profile tells: the first candidate is tried.
    test = compile_value(pattern, {}) if "$" not in repr(pattern) else None
    for value in candidates:
        if test is None or test(value, what.event.data, UNASKED):
            return _to(way, value)
    return None


def _to(way: Path, value: Any) -> _Change:
    return lambda body: put_at(body, way, value)


def _off(way: Path) -> _Change:
    return lambda body: cut_at(body, way)


def _other(way: Path) -> _Change:
    return lambda body: put_at(body, way, _another(value_at(body, *way)))


def _constants(pattern: Any) -> list[Any]:
    if isinstance(pattern, list | tuple):
        return [value for each in pattern for value in _constants(each)]
    if isinstance(pattern, Mapping):
        return [
            value
            for key in ("const", "enum")
            if key in pattern
            for value in _constants(pattern[key])
        ]
    return [pattern]


def _changed(stream: Stream, what: Seen, change: _Change) -> Stream:
    """Another payload for an event, or another body for the request."""
    if what.place != REQUEST:
        return stream.changed(what.place, change(stream.pieces[what.place].payload))
    request = stream.exchange.request
    assert request is not None
    body = change(request.json)
    return replace(stream, exchange=replace(stream.exchange, request=replace(request, json=body)))


def _unanswered(stream: Stream, form: Answer, found: Found) -> Edits:
    answers = _bytes(s for name in form.then for s in found.get(name, []))
    if not answers:
        return
    yield stream.dropped(*answers)
    yield stream.dropped(answers[-1])
    yield stream.dropped(answers[0])
    yield stream.moved(answers[0], len(stream.pieces))
    yield stream.with_pieces(stream.pieces[: answers[0]])


def _revalued(stream: Stream, form: Values, found: Found) -> Edits:
    everywhere = [(s, path) for name, path in form.paths.items() for s in found.get(name, [])]
    everywhere.sort(key=lambda pair: pair[0].place)
    for what, dotted in everywhere[-1:] + everywhere[:1]:
        way = path_in(stream, what, dotted)
        if not way:
            continue
        for other, path in everywhere:
            there = path_in(stream, other, path)
            if there is not None and other.place not in (what.place, REQUEST):
                value = stream.value_at(other.place, *there)
                yield _changed(stream, what, _to(way, value))
        yield _changed(stream, what, _other(way))
        if what.place != REQUEST:
            yield stream.dropped(what.place)


def _another(value: Any) -> Any:
    if isinstance(value, bool) or value is None:
        return _WRONG
    if isinstance(value, int | float):
        return value + 1
    return f"{value} {_WRONG}" if isinstance(value, str) else _WRONG


def _unfit(stream: Stream, form: Each, found: Found) -> Edits:
    for name in form.events:
        for what in _ends(found.get(name, [])):
            for dotted, values in _demands(form.schema):
                way = path_in(stream, what, dotted)
                if not way:
                    continue
                yield _changed(stream, what, _off(way))
                for value in values:
                    yield _changed(stream, what, _to(way, value))


def _demands(schema: Any, way: str = "") -> Iterator[tuple[str, tuple[Any, ...]]]:
    """Paths that a schema speaks of, with values that it may refuse."""
    inner = schema.get("properties", {}) if isinstance(schema, Mapping) else {}
    required = schema.get("required", ()) if isinstance(schema, Mapping) else ()
    for name in dict.fromkeys((*required, *inner)):
        path = f"{way}.{name}" if way else name
        yield path, (_WRONG, 7, "", None)
        yield from _demands(inner.get(name, {}), path)


def _miscollected(stream: Stream, form: Fold, found: Found) -> Edits:
    for name, dotted in form.paths.items():
        for what in _ends(found.get(name, [])):
            way = path_in(stream, what, dotted)
            if way:
                yield _changed(stream, what, _other(way))
            if what.place != REQUEST:
                yield stream.dropped(what.place)
                yield stream.inserted(what.place + 1, stream.pieces[what.place])
    stated = form.equals or form.contains
    for name in stated.events if stated is not None else ():
        for what in _ends(found.get(name, [])):
            way = path_in(stream, what, stated.path if stated is not None else "")
            if way:
                yield _changed(stream, what, _other(way))
                yield _changed(stream, what, _to(way, []))
