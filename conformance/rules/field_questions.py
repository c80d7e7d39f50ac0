"""What rules ask of the fields of events: answered together, for one type of event.

Rule 1: the answers are the bits of a mask; each bit belongs to one question of one path.
Rule 2: fields that are not there, which are most, cost nothing: their answers are worked out
before. An event is walked through with the paths as a tree.
Rule 3: where a question looks at nothing but one plain value, its answer is remembered. The number
of values is capped; past the cap they are worked out anew.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from msgspec import Struct

from conformance.rules.paths import MISSING, getter
from conformance.rules.patterns import Test, is_shallow, looks_elsewhere

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
    """All conditions of one path, and what is remembered of their answers."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.alone: list[FieldQuestion] = []  # the value by itself decides
        self.related: list[FieldQuestion] = []  # so do other fields, or the exchange
        # Bits by value; for lists, mappings and long texts by whether they are empty, where no
        # condition asks for more.
        self.strings: dict[str, int] = {}
        self.others: dict[tuple[type, Any], int] = {}
        self._is_shallow = True

    def add(self, question: FieldQuestion) -> None:
        """Takes one more condition."""
        (self.related if looks_elsewhere(question.pattern) else self.alone).append(question)
        self._is_shallow = self._is_shallow and is_shallow(question.pattern, _LONGEST_VALUE)

    def answer(self, value: Any) -> int:
        """The bits that a value gives by itself."""
        kind = value.__class__
        if kind is str:
            bits = self.strings.get(value)
        elif kind in _CONTAINERS:
            bits = self.others.get((kind, not value))
        else:
            bits = self.others.get((kind, value)) if kind in _PLAIN else None
        return self._answer_anew(value) if bits is None else bits

    def _answer_anew(self, value: Any) -> int:
        kind = value.__class__
        is_long = kind is str and len(value) > _LONGEST_VALUE
        if is_long and (kind, False) in self.others:
            return self.others[kind, False]
        bits = ask(self.alone, value, {}, None)
        if is_long or kind in _CONTAINERS:
            if self._is_shallow:
                self.others[kind, not value] = bits
        elif kind is str:
            if len(self.strings) < MOST_VALUES:
                self.strings[value] = bits
        elif kind in _PLAIN and len(self.others) < MOST_VALUES:
            self.others[kind, value] = bits
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


class _Field:
    """A field of an event: what is asked of it, and of the fields inside it.

    `absent` is the answer to all of that where the field is not there, `inside` where it holds
    none of the others.
    """

    def __init__(self) -> None:
        self.questions: PathQuestions | None = None
        self.fields: dict[str, _Field] = {}
        self.absent = self.inside = 0

    def settle(self) -> None:
        """Works out what an absent field answers, once all questions are known."""
        for field in self.fields.values():
            field.settle()
            self.inside |= field.absent
        own = 0 if self.questions is None else ask(self.questions.alone, MISSING, {}, None)
        self.absent = self.inside | own

    def answer(self, value: Any) -> int:
        """The bits of a value that is there, and of all that it holds."""
        bits = self.inside
        fields = self.fields
        if fields and isinstance(value, dict):
            # A delta has one field of the many that are asked for.
            names = value if len(value) < len(fields) else fields
            for name in names:
                if name in fields and name in value:
                    field = fields[name]
                    bits = bits & ~field.absent | field.answer(value[name])
        return bits if self.questions is None else bits | self.questions.answer(value)


class _Asked(NamedTuple):
    """Questions that no tree answers: of lists, or about more than one field."""

    get: Any
    alone: PathQuestions | None
    related: Sequence[FieldQuestion]


class FieldQuestions:
    """All that is asked of the fields of one type of event."""

    def __init__(self, paths: Mapping[str, PathQuestions]) -> None:
        self._root = _Field()
        self._others: list[_Asked] = []
        for path, questions in paths.items():
            segments = path.split(".")
            is_plain = not any(each == "*" or each.isdecimal() for each in segments)
            if is_plain:
                self._place(segments, questions)
            if questions.related or not is_plain:
                alone = None if is_plain else questions
                self._others.append(_Asked(getter(path), alone, questions.related))
        self._root.settle()

    def _place(self, segments: Sequence[str], questions: PathQuestions) -> None:
        field = self._root
        for segment in segments:
            field = field.fields.setdefault(segment, _Field())
        field.questions = questions

    def mask(self, data: Mapping[str, Any], context: Any) -> int:
        """The answers; raises what a pattern raises."""
        bits = self._root.answer(data)
        for get, alone, related in self._others:
            value = get(data)
            if alone is not None:
                bits |= alone.answer(value)
            if related:
                bits |= ask(related, value, data, context)
        return bits
