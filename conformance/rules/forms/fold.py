"""Form `fold`: collects a field over events, and compares the result in exactly one way.

`fold_collect` collects and compares; folds that only watch a text as it streams are in
`fold_lacks`, `fold_lacks_values` and `fold_openings`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, Final, Self

from msgspec import Struct

from conformance.rules.alias import Alias
from conformance.rules.forms.base import Form, Machine, listed
from conformance.rules.forms.fold_collect import (
    Collecting,
    CollectMachine,
    Stated,
    Wanted,
    With,
)
from conformance.rules.forms.fold_lacks import LacksMachine, LacksMarkersMachine
from conformance.rules.forms.fold_lacks_values import LacksValuesMachine
from conformance.rules.forms.fold_openings import BeginsMachine, GrowsMachine
from conformance.rules.forms.fold_repeats import Repeats, RepeatsMachine
from conformance.rules.forms.reading import FormReader, chosen, must_compile, read_texts
from conformance.rules.node import Node
from conformance.rules.patterns import regex, texts

WITH: Final[tuple[With, ...]] = ("concat", "list", "count", "sum", "json", "last")

_COMPARISONS: Final = (
    *("equals", "contains", "lacks", "matches", "begins", "at_least", "grows", "repeats"),
)
_OVERLAPS: Final[tuple[With, ...]] = ("concat", "list")
# Option of a fold -> what it goes with; elsewhere it would be ignored in silence.
_FITTING: Final[Mapping[str, tuple[str, ...]]] = {
    "at": ("json", "matches", "at_least"),
    "order": ("list",),
    "minus": ("list",),
    "mentions": ("lacks", "matches"),
}
_MENTIONS: Final = ("allowed",)


class Overlap(Struct, frozen=True):
    """`lacks` another fold: its text of at least `at_least` and at most `at_most` characters.

    With `is_list` each of its values for itself.
    """

    paths: Mapping[str, str]
    at_least: int
    at_most: int | None = None
    is_list: bool = False


class Fold(Form, frozen=True):
    """Collect `over` (event name -> path) `how`, then compare in exactly one way."""

    key: ClassVar[str] = "fold"
    over: Mapping[str, str]
    how: With
    order: str | None = None
    minus: Any = ()
    equals: Stated | None = None
    contains: Stated | None = None
    lacks: Any = None  # marker list (or $knob), or Overlap
    mentions: bool = False  # a text may speak of what it lacks
    matches: str | None = None
    unlike: str | None = None  # `matches: {not: REGEX}`
    opening: Any = None  # `begins: {not: TEXTS}`, texts or a $knob
    at_least: Any = None
    grows: bool | None = None
    repeats: Repeats | None = None
    at: tuple[str, ...] = ()

    @classmethod
    def read(cls, reader: FormReader, rule: Node, node: Node) -> Self:
        del rule
        entries = node.mapping({"over", "take", "with", *_FITTING, *_COMPARISONS})
        how = chosen(node.required("with"), WITH) if "with" in entries else "concat"
        _refuse_several_comparisons(node, entries, how)
        _refuse_ignored_options(node, entries, how)
        if how != "count" and node.required("over").kind != "mapping" and "take" not in entries:
            raise node.error("key 'take' is missing")
        return cls(
            reader.event_paths(node.required("over"), entries.get("take")),
            how,
            order=entries["order"].string() if "order" in entries else None,
            minus=read_texts(entries["minus"]) if "minus" in entries else (),
            equals=_read_stated(reader, entries.get("equals")),
            contains=_read_stated(reader, entries.get("contains")),
            lacks=_read_lacks(reader, entries.get("lacks")),
            mentions="mentions" in entries and bool(chosen(entries["mentions"], _MENTIONS)),
            matches=_read_regex(_positive_fault(entries.get("matches"))),
            unlike=_read_regex(_negative_fault(entries.get("matches"))),
            opening=_read_opening(entries.get("begins")),
            at_least=entries["at_least"].number() if "at_least" in entries else None,
            grows=entries["grows"].boolean() if "grows" in entries else None,
            repeats=_read_repeats(reader, entries.get("repeats")),
            at=reader.named_events(entries.get("at")),
        )

    def lack(self, events: Mapping[str, str]) -> str:
        collected = listed(events, self.over)
        others = self.stated.events if self.stated else self.at
        if isinstance(self.lacks, Overlap):
            others = tuple(self.lacks.paths)
        if self.grows is not None or self.repeats is not None:
            return f"too few of {collected} to compare"
        if others:
            return f"not both {collected} and {listed(events, others)}"
        return f"no {collected}"

    @property
    def is_ordered(self) -> bool:
        return True

    @property
    def looked_at(self) -> Mapping[str, str]:
        return self.over

    @property
    def stated(self) -> Stated | None:
        return self.equals or self.contains

    def knob_values(self) -> Sequence[Any]:
        return self.minus, self.lacks, self.unlike, self.opening, self.at_least

    def paths(self) -> Iterator[tuple[str, str]]:
        yield from self.over.items()
        if self.stated is not None:
            yield from ((name, self.stated.path) for name in self.stated.events)
        if isinstance(self.lacks, Overlap):
            yield from self.lacks.paths.items()
        if self.repeats is not None:
            yield from ((name, path) for name in self.over for path in self.repeats.parts)

    def machine(
        self, aliases: Mapping[str, Alias], knobs: Mapping[str, Any], *, sliced: bool
    ) -> Machine:
        if self.grows is not None:
            return GrowsMachine(aliases, self.over, sliced=sliced)
        if self.repeats is not None:
            return RepeatsMachine(aliases, self.over, self.repeats, sliced=sliced)
        if self.opening is not None:
            words = texts(self.opening, knobs)
            return BeginsMachine(aliases, self.over, words, sliced=sliced)
        if self.lacks is not None:
            return self._searching_machine(aliases, knobs, sliced=sliced)
        return CollectMachine(aliases, self._collected_values(knobs), sliced=sliced)

    def _searching_machine(
        self, aliases: Mapping[str, Alias], knobs: Mapping[str, Any], *, sliced: bool
    ) -> Machine:
        if isinstance(self.lacks, Overlap):
            over, sizes = self.lacks.paths, (self.lacks.at_least, self.lacks.at_most)
            machine = LacksValuesMachine if self.lacks.is_list else LacksMachine
            return machine(aliases, self.over, over, sizes=sizes, sliced=sliced)
        markers = texts(self.lacks, knobs)
        if self.mentions:
            return LacksMarkersMachine(aliases, self.over, markers, sliced=sliced)
        return LacksMachine(aliases, self.over, {}, markers=markers, sliced=sliced)

    def _collected_values(self, knobs: Mapping[str, Any]) -> Collecting:
        return Collecting(
            self.over,
            self.how,
            self.order,
            self.stated,
            contains=self.contains is not None,
            wanted=self._wanted_value(knobs),
            at_least=self.at_least,
            at=self.at,
            masks=tuple(tuple(path.split(".")) for path in texts(self.minus, knobs)),
            mentions=self.mentions,
        )

    def _wanted_value(self, knobs: Mapping[str, Any]) -> Wanted | None:
        if self.unlike is not None:
            (pattern,) = texts(self.unlike, knobs)
            finds = regex(pattern)
            return Wanted(_unlike_words(self.unlike), lambda text: not finds(text))
        return (
            None
            if self.matches is None
            else Wanted(f"text that matches {self.matches!r}", regex(self.matches))
        )


def _unlike_words(pattern: str) -> str:
    """What a text should be; a name such as `$marked_line` says more than the pattern after it."""
    if pattern.startswith("$"):
        return f"text without a {pattern[1:].replace('_', ' ')}"
    return f"text that does not match {pattern!r}"


def _refuse_several_comparisons(node: Node, entries: Mapping[str, Node], how: With) -> None:
    given = [name for name in _COMPARISONS if name in entries]
    if how == "json" and given:
        message = f"with json asks whether the text is JSON: {given[0]!r} does not go with it"
        raise node.key(given[0]).error(message)
    if len(given) + (how == "json" and not given) != 1:
        wanted = ", ".join(_COMPARISONS)
        raise node.error(f"a fold compares in exactly one way ({wanted}), got {len(given)}")
    if "grows" in given and entries["grows"].boolean():
        raise entries["grows"].error("expected false, got true")


def _refuse_ignored_options(fold: Node, entries: Mapping[str, Node], how: With) -> None:
    given = {how, *(name for name in _COMPARISONS if name in entries)}
    for option, fitting in _FITTING.items():
        if option in entries and given.isdisjoint(fitting):
            raise fold.key(option).error(f"{option!r} goes with {', '.join(fitting)} only")
    if "contains" in given and how not in ("concat", "list"):
        raise fold.key("contains").error(f"contains compares texts and lists, got {how}")
    if how == "last" and "equals" not in given:
        raise fold.required("with").error("the last value goes with equals only")
    if not {"lacks", "begins", "grows", "repeats"}.isdisjoint(given) and how != "concat":
        raise fold.required("with").error(f"expected concat, got {how}")


def _read_stated(reader: FormReader, node: Node | None) -> Stated | None:
    if node is None:
        return None
    node.mapping({"in", "path"})
    events = reader.named_events(node.required("in"))
    return Stated(events, node.required("path").string())


def _read_lacks(reader: FormReader, node: Node | None) -> Any:
    if node is None or node.kind != "mapping":
        return read_texts(node) if node else None
    entries = node.mapping({"over", "take", "with", "at_least", "at_most"})
    paths = reader.event_paths(node.required("over"), entries.get("take"))
    at_most = entries["at_most"].integer() if "at_most" in entries else None
    is_list = "with" in entries and chosen(entries["with"], _OVERLAPS) == "list"
    return Overlap(paths, node.required("at_least").integer(), at_most, is_list)


def _positive_fault(node: Node | None) -> Node | None:
    return node if node is None or node.kind != "mapping" else None


def _negative_fault(node: Node | None) -> Node | None:
    if node is None or node.kind != "mapping":
        return None
    node.mapping({"not"})
    return node.required("not")


def _read_opening(node: Node | None) -> Any:
    if node is None:
        return None
    node.mapping({"not"})
    return read_texts(node.required("not"))


def _read_repeats(reader: FormReader, node: Node | None) -> Repeats | None:
    if node is None:
        return None
    entries = node.mapping(
        {"parts", "at_least", "afresh", "broken_off", "ends", "doubled", "restated"}
    )
    if ("broken_off" in entries) != ("ends" in entries):
        raise node.error("'broken_off' and 'ends' go together")
    return Repeats(
        tuple(each.string() for each in node.required("parts").sequence()),
        node.required("at_least").integer(),
        reader.named_events(entries.get("afresh")),
        entries["broken_off"].integer() if "broken_off" in entries else 0,
        reader.named_events(entries.get("ends")),
        entries["doubled"].integer() if "doubled" in entries else 0,
        entries["restated"].integer() if "restated" in entries else 0,
    )


def _read_regex(node: Node | None) -> str | None:
    if node is None:
        return None
    pattern = node.string()
    if pattern.startswith("$"):
        return pattern  # a knob's
    must_compile(node, lambda: regex(pattern))
    return pattern
