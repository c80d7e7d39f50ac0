"""Which rules an event concerns, and under which names: prepared once per type of event.

Rule 1: a question that several names share is evaluated once per event (`field_questions`).
The answers are the bits of a mask, and what a mask means to each group of rules is remembered.
Rule 2: the numbers of types and masks are capped; past a cap all is worked out anew.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct

from conformance.core.events import Event, Layer
from conformance.rules.compiled import Listener, NamedEvent
from conformance.rules.field_questions import FieldQuestion, FieldQuestions, PathQuestions
from conformance.rules.forms.base import Context, Letter, Names, failure_text
from conformance.rules.group import Group
from conformance.rules.repetition import Columns, Repeated, is_related, is_steady

MOST_MASKS: Final = 4096
_CLOCK: Final = "clock"  # the question whether there is one
_OVERFLOW: Final = ".overflow"  # a dialect's wire event: it gives no semantic events from here on

# Groups, and what an event says to each of them.
Letters = tuple[tuple[Group, Letter], ...]
PlacedListener = tuple[Listener, Group, int]  # with its group, and its position there


class _PossibleRule(Struct, frozen=True):
    """A rule that such events may concern, by its group and its position there.

    `claims` are its names, each with the bits that must be set.
    """

    group: Group
    position: int
    claims: tuple[tuple[NamedEvent, int], ...]
    hears_all: bool  # even where no name holds


class EventRules:
    """What one type of event means to a set of rules."""

    def __init__(
        self, layer: Layer, kind: str, rules: Iterable[PlacedListener], context: Context
    ) -> None:
        self.breaks = layer == "semantic" and kind == "error"
        self.overflows = layer == "wire" and kind.endswith(_OVERFLOW)
        self.alters_stream = self.breaks or self.overflows
        self._paths: dict[str, PathQuestions] = {}
        self._bits: dict[object, int] = {}
        self._hearings: list[_PossibleRule] = []
        for rule, group, position in rules:
            named = [n for n in rule.names if n.alias.layer == layer and n.is_type(kind, context)]
            if named or rule.machine.hears_all:
                claims = tuple((each, self._bits_needed(each)) for each in named)
                self._hearings.append(
                    _PossibleRule(group, position, claims, rule.machine.hears_all)
                )
        self._fields = FieldQuestions(self._paths)
        self._clock = self._bits.get(_CLOCK, 0)
        self._by_mask: dict[int, Letters] = {}
        self._steady: dict[tuple[Columns, Columns, int], Letters | None] = {}

    def _bits_needed(self, named: NamedEvent) -> int:
        bits = self._bit_of(_CLOCK)[0] if named.needs_clock else 0
        for condition in named.all_conditions():
            path, pattern = condition.path, condition.pattern
            bit, is_new = self._bit_of((path, repr(pattern)))
            bits |= bit
            if is_new:
                questions = self._paths.setdefault(path, PathQuestions(path))
                questions.add(FieldQuestion(bit, pattern, condition.test))
        return bits

    def _bit_of(self, question: object) -> tuple[int, bool]:
        """The bit of a question, and whether it is new."""
        is_new = question not in self._bits
        return self._bits.setdefault(question, 1 << len(self._bits)), is_new

    def letters(self, event: Event, context: Context) -> Letters:
        """Whom the event concerns; raises what a pattern raises."""
        mask = self._fields.mask(event.data, context)
        if context.ms is not None:
            mask |= self._clock
        found = self._by_mask.get(mask)
        if found is None:
            found = self._letters_of(mask)
            if len(self._by_mask) < MOST_MASKS:
                self._by_mask[mask] = found
        return found

    def _mask_of(self, data: Mapping[str, Any], context: Context) -> int:
        mask = self._fields.mask(data, context)
        return mask if context.ms is None else mask | self._clock

    def _letters_of(self, mask: int) -> Letters:
        held: dict[Group, list[Names | None]] = {}
        for hearing in self._hearings:
            _add_names(held, hearing, [n.name for n, bits in hearing.claims if not bits & ~mask])
        return tuple((group, group.letter(tuple(names))) for group, names in held.items())

    def letters_one_by_one(
        self, event: Event, context: Context
    ) -> tuple[Letters, list[tuple[Group, int, str]]]:
        """The same where a pattern raises: without the rules that it belongs to, and those.

        A value may nest too deep to be compared.
        """
        held: dict[Group, list[Names | None]] = {}
        failed: list[tuple[Group, int, str]] = []
        for hearing in self._hearings:
            try:
                names = [n.name for n, _ in hearing.claims if n.holds(event, context)]
            except Exception as err:  # noqa: BLE001  # one rule must not take the others along
                failed.append((hearing.group, hearing.position, failure_text(err)))
            else:
                _add_names(held, hearing, names)
        letters = tuple((group, group.letter(tuple(names))) for group, names in held.items())
        return letters, failed

    def steady(self, again: Repeated, context: Context, knobs: Mapping[str, Any]) -> Letters | None:
        """Whom all events concern that differ in the columns alone; None where that is unclear."""
        mask = self._mask_of(again.event.data, context)
        key = again.columns, again.alike, mask
        if key in self._steady:
            return self._steady[key]
        found = self._steady_letters(again, mask, knobs)
        if len(self._steady) < MOST_MASKS:
            self._steady[key] = found
        return found

    def _steady_letters(
        self, again: Repeated, mask: int, knobs: Mapping[str, Any]
    ) -> Letters | None:
        steady, columns = self._bits_of_steady(again, knobs), again.columns
        for hearing in self._hearings:
            for _, bits in hearing.claims:
                if bits & ~steady and not bits & steady & ~mask:
                    return None  # one condition that never holds would settle it
        letters = self._letters_of(mask)
        is_keyed = any(is_related(path, columns) for group, _ in letters for path in group.paths)
        return None if is_keyed else letters

    def _bits_of_steady(self, again: Repeated, knobs: Mapping[str, Any]) -> int:
        """The questions whose answers are the same whatever the columns hold."""
        return self._clock | sum(
            question.bit
            for questions in self._paths.values()
            for question in (*questions.alone, *questions.related)
            if is_steady(questions.path, question.pattern, again, knobs)
        )


def _add_names(
    held: dict[Group, list[Names | None]], hearing: _PossibleRule, names: Sequence[str]
) -> None:
    if names or hearing.hears_all:
        place = held.setdefault(hearing.group, [None] * len(hearing.group.machines))
        place[hearing.position] = frozenset(names)
