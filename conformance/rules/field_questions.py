"""What rules ask of the fields of events: answered together, for one type of event.

Rule 1: the answers are the bits of a mask; each bit belongs to one question of one path.
Rule 2: fields that are not there, which are most, cost nothing: the mask is that of an event
without any field, in which each field that is there changes bits of its own. An event is walked
through with the paths as a tree.
Rule 3: where a question looks at nothing but one plain value, its answer is remembered. The number
of values is capped; past the cap they are worked out anew.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from msgspec import Struct

from conformance.rules.paths import MISSING, getter
from conformance.rules.patterns import Test, is_shallow, looks_elsewhere, texts_spelled

MOST_VALUES: Final = 256
_LONGEST_VALUE: Final = 64
_CONTAINERS: Final = frozenset({dict, list})
_PLAIN: Final = frozenset({bool, int, type(None), type(MISSING)})


class FieldQuestion(Struct, frozen=True):
    """One condition of one path. Its answer is bit `bit` of the mask."""

    bit: int
    pattern: Any
    test: Test


class PathQuestions:
    """All conditions on one path, their remembered answers, and the fields below.

    Answers are differences: the bits that differ from the answers for a missing field.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self.alone: list[FieldQuestion] = []  # the value by itself decides
        self.related: list[FieldQuestion] = []  # so do other fields, or the exchange
        self.fields: dict[str, PathQuestions] = {}  # inside the value, if it is a mapping
        self.absent = 0  # the bits of `alone` that hold where the field is not there
        self._texts: dict[str, int] = {}
        # For texts that no condition names; None if conditions depend on more than that.
        self._any_text: int | None = None
        # By type and value; for lists and mappings by whether they are empty, where no condition
        # asks for more.
        self._others: dict[tuple[type, Any], int] = {}
        self._is_shallow = False

    def add(self, question: FieldQuestion) -> None:
        """Takes one more condition."""
        (self.related if looks_elsewhere(question.pattern) else self.alone).append(question)

    def settle(self) -> None:
        """Computes what is known before any value comes, once all conditions have been added."""
        self.absent = ask(self.alone, MISSING, {}, None)
        self._is_shallow = all(is_shallow(each.pattern) for each in self.alone)
        if self._is_shallow:
            spelled = {text for each in self.alone for text in texts_spelled(each.pattern)}
            self._texts = {text: self._work_out(text) for text in ("", *spelled)}
            self._any_text = self._work_out(max(self._texts, key=len) + "x")

    def change(self, value: Any) -> int:
        """What a value that is there changes, with all that it holds."""
        kind = value.__class__
        if kind is str:
            bits = self._texts.get(value, self._any_text)
        elif kind in _CONTAINERS:
            bits = self._others.get((kind, not value))
        else:
            bits = self._others.get((kind, value)) if kind in _PLAIN else None
        if bits is None:
            bits = self._remember(value)
        if self.fields and isinstance(value, dict):
            bits ^= _changes(self.fields, value)
        return bits

    def _remember(self, value: Any) -> int:
        kind = value.__class__
        bits = self._work_out(value)
        if kind in _CONTAINERS:
            if self._is_shallow:
                self._others[kind, not value] = bits
        elif kind is str:
            if len(value) <= _LONGEST_VALUE and len(self._texts) < MOST_VALUES:
                self._texts[value] = bits
        elif kind in _PLAIN and len(self._others) < MOST_VALUES:
            self._others[kind, value] = bits
        return bits

    def _work_out(self, value: Any) -> int:
        return ask(self.alone, value, {}, None) ^ self.absent


def _changes(fields: Mapping[str, PathQuestions], mapping: Mapping[str, Any]) -> int:
    """What the fields change that are there."""
    bits = 0
    if len(mapping) >= len(fields):
        for name, field in fields.items():
            if name in mapping:
                bits ^= field.change(mapping[name])
        return bits
    # A delta has one of the many fields with conditions.
    for name, value in mapping.items():
        asked = fields.get(name)
        if asked is not None:
            bits ^= asked.change(value)
    return bits


def ask(
    questions: Sequence[FieldQuestion], value: Any, data: Mapping[str, Any], context: Any
) -> int:
    """The bits of the questions that hold."""
    bits = 0
    for question in questions:
        if question.test(value, data, context):
            bits |= question.bit
    return bits


class _OtherQuestions(NamedTuple):
    """Questions that no tree answers: of lists, or about more than one field."""

    get: Any
    alone: PathQuestions | None
    related: Sequence[FieldQuestion]


class FieldQuestions:
    """All conditions on the fields of one type of event."""

    def __init__(self, paths: Mapping[str, PathQuestions]) -> None:
        self._fields: dict[str, PathQuestions] = {}
        self._absent = 0  # the mask of an event without any field
        self._others: list[_OtherQuestions] = []
        for path in sorted(paths):  # a field before those inside it
            questions, segments = paths[path], path.split(".")
            questions.settle()
            self._absent |= questions.absent
            is_plain = not any(each == "*" or each.isdecimal() for each in segments)
            if is_plain:
                self._place(segments, questions)
            if questions.related or not is_plain:
                alone = None if is_plain else questions
                self._others.append(_OtherQuestions(getter(path), alone, questions.related))

    def _place(self, segments: Sequence[str], questions: PathQuestions) -> None:
        fields = self._fields
        for segment in segments[:-1]:
            if segment not in fields:
                fields[segment] = PathQuestions(segment)
                fields[segment].settle()
            fields = fields[segment].fields
        fields[segments[-1]] = questions

    def mask(self, data: Mapping[str, Any], context: Any) -> int:
        """The answers; raises what a pattern raises."""
        bits = self._absent ^ _changes(self._fields, data)
        for get, alone, related in self._others:
            value = get(data)
            if alone is not None:
                bits ^= alone.change(value)
            if related:
                bits |= ask(related, value, data, context)
        return bits
