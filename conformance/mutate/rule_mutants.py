"""Mutants made from a rule: what would violate it, by its form, on a stream that keeps it.

grammar   an event of its alphabet is dropped, doubled or moved
never     an event that may not come is moved, copied, or made of one that near_misses is it
response  the answers are dropped, or moved
values    one value is changed, or made that of another event
each      a required field is dropped, a field has a value of another type
carries   a field is dropped, or has a value of another type
fold      one of the collected texts is changed, dropped or doubled, or the statement is changed

Whether such an edit violates the rule shows only when it is judged: these mutants prove that a
rule can fail, and prove nothing where it does not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct

from conformance.core.json_values import Path, cut_at, put_at, value_at
from conformance.editing.edits import request_body
from conformance.editing.operator import Mutant
from conformance.editing.stream import Stream
from conformance.mutate.rule_events import (
    REQUEST,
    RuleEvent,
    events_by_name,
    field_path,
    near_misses,
)
from conformance.rules.compiled import CompiledRule, NamedEvent
from conformance.rules.forms.carries import Carries
from conformance.rules.forms.each import Each
from conformance.rules.forms.fold import Fold
from conformance.rules.forms.grammar import Grammar
from conformance.rules.forms.never import Never
from conformance.rules.forms.response import Answer
from conformance.rules.forms.values import Values
from conformance.rules.patterns import NO_REQUEST, compile_value

_MOST: Final = 16
_WRONG: Final = "another value"
_Found = Mapping[str, list[RuleEvent]]
_Edits = Iterator[Stream | None]


class RuledStream(Struct, frozen=True):
    """A stream with its events, on which rules are to be violated."""

    stream: Stream
    events: list[RuleEvent]

    def mutants(self, compiled: CompiledRule) -> Iterator[Mutant]:
        """At most `_MOST` mutants made from one rule."""
        made = 0
        for edited in self._edits_of(compiled):
            if edited is None:
                continue
            exchange = edited.renumbered().result()
            if exchange != self.stream.exchange:
                made += 1
                yield Mutant(f"rule:{compiled.rule.id}", "either", made, exchange)
            if made >= _MOST:
                return

    def _edits_of(self, compiled: CompiledRule) -> _Edits:
        form = compiled.rule.form
        found = events_by_name(compiled, self.events)
        if isinstance(form, Grammar):
            yield from _violate_grammar(self.stream, found)
        elif isinstance(form, Never):
            yield from _violate_never(self, compiled, form, found)
        elif isinstance(form, Answer):
            yield from _violate_answer(self.stream, form, found)
        elif isinstance(form, Values):
            yield from _violate_values(self.stream, form, found)
        elif isinstance(form, Each):
            yield from _violate_each(self.stream, form, found)
        elif isinstance(form, Carries):
            yield from _violate_carries(self.stream, form, found)
        elif isinstance(form, Fold):
            yield from _violate_fold(self.stream, form, found)


def _first_and_last(found: Sequence[RuleEvent]) -> Sequence[RuleEvent]:
    """The first and the last, without repetition."""
    return [found[0], found[-1]] if len(found) > 1 else found


def _outer_events(found: _Found, names: Iterable[str]) -> Iterator[RuleEvent]:
    """The first and the last event of each name."""
    for name in names:
        yield from _first_and_last(found.get(name, []))


def _body_places(found: _Found, names: Iterable[str]) -> list[int]:
    """Places of the events of these names in the body, each once."""
    places = {each.place for name in names for each in found.get(name, [])}
    return sorted(places - {REQUEST})


def _violate_grammar(stream: Stream, found: _Found) -> _Edits:
    for each in _outer_events(found, found):
        if each.place != REQUEST:
            yield stream.without(each.place)
            yield stream.insert(each.place + 1, stream.pieces[each.place])
            yield stream.move(each.place, 0)
            yield stream.move(each.place, len(stream.pieces))


def _violate_never(
    ruled: RuledStream, compiled: CompiledRule, form: Never, found: _Found
) -> _Edits:
    stream = ruled.stream
    bad = _body_places(found, form.events)
    after = _body_places(found, form.after)
    until = _body_places(found, form.until)
    for place in bad[:1] + bad[-1:]:
        for bound in after[:1] + after[-1:]:
            yield stream.insert(bound + 1, stream.pieces[place])
            yield stream.insert(len(stream.pieces), stream.pieces[place])
        if until:
            yield stream.move(place, until[0])
            yield stream.without(*until)
    named = {each.name: each for each in compiled.names}
    for name in form.events:
        for each in _first_and_last(near_misses(named[name], ruled.events)):
            yield _make_event(stream, named[name], each)


def _make_event(stream: Stream, named: NamedEvent, what: RuleEvent) -> Stream | None:
    """The event changed so that the name's conditions hold for it."""
    for condition in named.conditions:
        if condition.holds(what.event.data, NO_REQUEST):
            continue
        field_place = field_path(stream, what, condition.path)
        change = _fitting_change(condition.pattern, what, field_place) if field_place else None
        if change is None:
            return None
        stream = _change_field(stream, what, change)
    return stream


_Change = Callable[[Any], Any]


def _fitting_change(pattern: Any, what: RuleEvent, field_place: Path) -> _Change | None:
    """The first change found that makes a value fit a pattern."""
    if pattern == {"absent": True}:
        return _drop_field(field_place)
    candidates = _pattern_values(pattern)
    candidates += [_WRONG, 7, None, "", [], ["x"], {}, {"x": 1}, True, False, 10_000_000]
    candidates.append(what.event.type)
    # What a pattern with a knob stands for, only the profile shows: the first candidate is tried.
    test = compile_value(pattern, {}) if "$" not in repr(pattern) else None
    for value in candidates:
        if test is None or test(value, what.event.data, NO_REQUEST):
            return _set_to(field_place, value)
    return None


def _set_to(field_place: Path, value: Any) -> _Change:
    return lambda body: put_at(body, field_place, value)


def _drop_field(field_place: Path) -> _Change:
    return lambda body: cut_at(body, field_place)


def _set_other(field_place: Path) -> _Change:
    return lambda body: put_at(body, field_place, _another_value(value_at(body, *field_place)))


def _pattern_values(pattern: Any) -> list[Any]:
    if isinstance(pattern, list | tuple):
        return [value for each in pattern for value in _pattern_values(each)]
    if isinstance(pattern, Mapping):
        stated = [pattern[key] for key in ("const", "enum") if key in pattern]
        return _pattern_values(stated)
    return [pattern]


def _change_field(stream: Stream, what: RuleEvent, change: _Change) -> Stream:
    """Another payload for an event, or another body for the request."""
    if what.place != REQUEST:
        return stream.with_payload(what.place, change(stream.pieces[what.place].payload))
    return stream.with_request(change(request_body(stream)))


def _violate_answer(stream: Stream, form: Answer, found: _Found) -> _Edits:
    answers = _body_places(found, form.then)
    if not answers:
        return
    yield stream.without(*answers)
    yield stream.without(answers[-1])
    yield stream.without(answers[0])
    yield stream.move(answers[0], len(stream.pieces))
    yield stream.with_pieces(stream.pieces[: answers[0]])


def _violate_values(stream: Stream, form: Values, found: _Found) -> _Edits:
    everywhere = [(s, path) for name, path in form.of.items() for s in found.get(name, [])]
    everywhere.sort(key=lambda pair: pair[0].place)
    for what, dotted in everywhere[-1:] + everywhere[:1]:
        field_place = field_path(stream, what, dotted)
        if not field_place:
            continue
        for other, path in everywhere:
            there = field_path(stream, other, path)
            if there is not None and other.place not in (what.place, REQUEST):
                value = stream.value_at(other.place, *there)
                yield _change_field(stream, what, _set_to(field_place, value))
        yield _change_field(stream, what, _set_other(field_place))
        if what.place != REQUEST:
            yield stream.without(what.place)


def _another_value(value: Any) -> Any:
    if isinstance(value, bool) or value is None:
        return _WRONG
    if isinstance(value, int | float):
        return value + 1
    return f"{value} {_WRONG}" if isinstance(value, str) else _WRONG


def _violate_each(stream: Stream, form: Each, found: _Found) -> _Edits:
    for what in _outer_events(found, form.events):
        for dotted in _schema_paths(form.schema):
            if field_place := field_path(stream, what, dotted):
                yield _change_field(stream, what, _drop_field(field_place))
                for value in (_WRONG, 7, "", None):  # the schema may refuse any of them
                    yield _change_field(stream, what, _set_to(field_place, value))


def _violate_carries(stream: Stream, form: Carries, found: _Found) -> _Edits:
    for name, dotted in form.paths():
        for what in _first_and_last(found.get(name, [])):
            if "*" not in dotted and (field_place := field_path(stream, what, dotted)):
                yield _change_field(stream, what, _drop_field(field_place))
                yield _change_field(stream, what, _set_to(field_place, [_WRONG]))


def _schema_paths(schema: Any, field_place: str = "") -> Iterator[str]:
    inner = schema.get("properties", {}) if isinstance(schema, Mapping) else {}
    required = schema.get("required", ()) if isinstance(schema, Mapping) else ()
    for name in dict.fromkeys((*required, *inner)):
        path = f"{field_place}.{name}" if field_place else name
        yield path
        yield from _schema_paths(inner.get(name, {}), path)


def _violate_fold(stream: Stream, form: Fold, found: _Found) -> _Edits:
    for name, dotted in form.over.items():
        for what in _first_and_last(found.get(name, [])):
            if field_place := field_path(stream, what, dotted):
                yield _change_field(stream, what, _set_other(field_place))
            if what.place != REQUEST:
                yield stream.without(what.place)
                yield stream.insert(what.place + 1, stream.pieces[what.place])
    stated = form.equals or form.contains
    for what in _outer_events(found, stated.events) if stated is not None else ():
        if stated is not None and (field_place := field_path(stream, what, stated.path)):
            yield _change_field(stream, what, _set_other(field_place))
            yield _change_field(stream, what, _set_to(field_place, []))
