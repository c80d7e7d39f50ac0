"""What rules ask of the fields of events: answered together, for one type of event.

Rule 1: the answers are the bits of a mask; each bit belongs to one question of one path.
Rule 2: fields that are not there, which are most, cost nothing: the mask is that of an event
without any field, in which each field that is there changes bits of its own. An event is walked
through with the paths as a tree. What a missing field answers hangs on nothing else
(`patterns`, rule 1).
Rule 3: where a question looks at nothing but one plain value, its answer is remembered. The number
of values is capped; past the cap they are worked out anew.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from msgspec import Struct

from conformance.rules.paths import MISSING, Getter, getter
from conformance.rules.patterns import (
    NO_REQUEST,
    Test,
    is_shallow,
    looks_elsewhere,
    texts_spelled,
)

MOST_VALUES: Final = 256
_LONGEST_VALUE: Final = 64
_CONTAINERS: Final = frozenset({dict, list})
_PLAIN: Final = frozenset({bool, int, type(None)})


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
        self.elements: list[tuple[int, PathQuestions]] = []  # the same, if it is a list
        self.absent = 0  # the bits that hold where the field is not there
        self._related_absent = 0
        self._texts: dict[str, int] = {}
        # For texts that no condition names: of the conditions that ask for no more than that.
        self._any_text = 0
        # By type and value; for lists and mappings by whether they are empty, where no condition
        # asks for more.
        self._others: dict[tuple[type, Any], int] = {}
        self._deep: list[FieldQuestion] = []  # of `alone`: they ask for more
        self._deep_absent = 0
        self._longest_spelled = 0

    def add(self, question: FieldQuestion) -> None:
        """Takes one more condition."""
        (self.related if looks_elsewhere(question.pattern) else self.alone).append(question)

    def settle(self) -> None:
        """Computes what is known before any value comes, once all conditions have been added."""
        self._related_absent = ask(self.related, MISSING, {}, NO_REQUEST)
        self.absent = self._related_absent | ask(self.alone, MISSING, {}, None)
        shallow = [each for each in self.alone if is_shallow(each.pattern)]
        self._deep = [each for each in self.alone if not is_shallow(each.pattern)]
        self._deep_absent = ask(self._deep, MISSING, {}, None)
        spelled = ("", *(text for each in shallow for text in texts_spelled(each.pattern)))
        if not self._deep:
            self._texts = {text: self._work_out(text) for text in spelled}
        unnamed = max(spelled, key=len) + "x"
        self._any_text = ask(shallow, unnamed, {}, None) ^ ask(shallow, MISSING, {}, None)
        self._longest_spelled = max(map(len, spelled))

    def inside(self, segment: str) -> PathQuestions:
        """The questions about a field of the value, or an element."""
        found = self.fields.get(segment)
        if found is None:
            found = PathQuestions(segment)
            found.settle()
            self.put_inside(segment, found)
        return found

    def put_inside(self, segment: str, questions: PathQuestions) -> None:
        self.fields[segment] = questions
        if segment.isdecimal():
            self.elements.append((int(segment), questions))

    def change(self, value: Any, data: Mapping[str, Any], context: Any) -> int:
        """What a value that is there changes, with all that it holds; `data` is the event's."""
        kind = value.__class__
        if kind is str:
            bits = self._texts.get(value, None if self._deep else self._any_text)
        elif kind in _CONTAINERS:
            bits = self._others.get((kind, not value))
        else:
            bits = self._others.get((kind, value)) if kind in _PLAIN else None
        if bits is None:
            bits = self._remember_value(value)
        if self.related:
            bits ^= self._related_absent ^ ask(self.related, value, data, context)
        if self.fields:
            if kind is dict:
                bits ^= _changed_bits(self.fields, value, data, context)
            elif kind is list:
                for index, questions in self.elements:
                    if index < len(value):
                        bits ^= questions.change(value[index], data, context)
        return bits

    def _remember_value(self, value: Any) -> int:
        kind = value.__class__
        if kind is str and len(value) > max(_LONGEST_VALUE, self._longest_spelled):
            return self._any_text ^ self._deep_absent ^ ask(self._deep, value, {}, None)
        bits = self._work_out(value)
        if kind in _CONTAINERS:
            if not self._deep:
                self._others[kind, not value] = bits
        elif kind is str:
            if len(value) <= _LONGEST_VALUE and len(self._texts) < MOST_VALUES:
                self._texts[value] = bits
        elif kind in _PLAIN and len(self._others) < MOST_VALUES:
            self._others[kind, value] = bits
        return bits

    def _work_out(self, value: Any) -> int:
        return ask(self.alone, value, {}, None) ^ self.absent ^ self._related_absent


def _changed_bits(
    fields: Mapping[str, PathQuestions],
    mapping: Mapping[str, Any],
    data: Mapping[str, Any],
    context: Any,
) -> int:
    """What the fields change that are there."""
    bits = 0
    if len(mapping) >= len(fields):
        for name, field in fields.items():
            if name in mapping:
                bits ^= field.change(mapping[name], data, context)
        return bits
    # A delta has one of the many fields with conditions.
    for name, value in mapping.items():
        questions = fields.get(name)
        if questions is not None:
            bits ^= questions.change(value, data, context)
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


class FieldQuestions:
    """All conditions on the fields of one type of event."""

    def __init__(self, paths: Mapping[str, PathQuestions]) -> None:
        self._whole = PathQuestions("")
        self._absent = 0  # the mask of an event without any field
        self._of_lists: list[tuple[Getter, PathQuestions]] = []  # paths that map over lists
        for path in sorted(paths):  # a field before those inside it
            questions, segments = paths[path], path.split(".")
            questions.settle()
            self._absent |= questions.absent
            if "*" in segments:
                self._of_lists.append((getter(path), questions))
            else:
                self._place_questions(segments, questions)
        self._fields = self._whole.fields

    def _place_questions(self, segments: Sequence[str], questions: PathQuestions) -> None:
        holder = self._whole
        for segment in segments[:-1]:
            holder = holder.inside(segment)
        holder.put_inside(segments[-1], questions)

    def mask(self, data: Mapping[str, Any], context: Any) -> int:
        """The answers; raises what a pattern raises."""
        bits = self._absent ^ _changed_bits(self._fields, data, data, context)
        for get, questions in self._of_lists:
            value = get(data)
            if value is not MISSING:
                bits ^= questions.change(value, data, context)
        return bits
