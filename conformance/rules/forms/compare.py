"""Form `compare`: what one exchange contributes, and the comparison once all are in."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar, Final, Literal, Self

from msgspec import Struct

from conformance.core.events import Event
from conformance.core.spelling import one_alphabet, one_spelling
from conformance.rules.alias import Alias
from conformance.rules.forms.base import (
    OPEN,
    Act,
    Form,
    Machine,
    Names,
    Slice,
    State,
    Step,
)
from conformance.rules.forms.differences import first_missing, in_one_order
from conformance.rules.forms.gathered_side import (
    Gather,
    GatheredSide,
    Side,
    TurnAge,
    View,
)
from conformance.rules.forms.reading import FormReader, chosen
from conformance.rules.node import Node
from conformance.rules.paths import MISSING, getter
from conformance.rules.patterns import same
from conformance.rules.repetition import Columns, Stretch

# Compared for a client that does not declare which events it reports.
REPORTED: Final = frozenset(
    {"thinking.delta", "text.delta", "refusal.delta", "tool.end", "finish", "error", "cut"}
)

Relation = Literal[
    "equal",
    "equal-or-none",
    "within-or-none",
    "contains",
    "lacks",
    "kept",
    "not-both",
    "in-order",
    "greater",
]
Spelling = Literal["exact", "any", "base64"]
GATHER: Final[tuple[Gather, ...]] = ("concat", "list", "sum", "count", "merged")
RELATIONS: Final[tuple[Relation, ...]] = (
    *("equal", "equal-or-none", "within-or-none", "contains", "lacks", "kept"),
    *("not-both", "in-order", "greater"),
)
VIEWS: Final[tuple[View, ...]] = ("wire", "client")
SPELLINGS: Final[Mapping[Spelling, Callable[[str], str]]] = {
    "exact": str,
    "any": one_spelling,
    "base64": one_alphabet,
}
TURNS: Final[tuple[TurnAge, ...]] = ("current", "earlier", "named")
_TELLING: Final = 12  # characters that no other text has by chance
_COMPARABLE: Final[Mapping[Relation, tuple[Gather, ...]]] = {
    "equal": GATHER,
    "equal-or-none": ("concat", "merged"),
    "within-or-none": ("concat", "list"),
    "contains": ("concat", "list", "merged"),
    "lacks": ("concat", "list"),
    "kept": ("concat", "merged"),
    "not-both": ("concat", "merged"),
    "in-order": ("list",),
    "greater": ("sum", "count"),
}


class Compare(Form, frozen=True):
    key: ClassVar[str] = "compare"
    left: Side
    right: Side
    are: Relation
    spelling: Spelling = "exact"

    @classmethod
    def read(cls, reader: FormReader, rule: Node, node: Node) -> Self:
        del rule
        entries = node.mapping({"left", "right", "are", "spelling"})
        left = _read_side(reader, node.required("left"))
        right = _read_side(reader, node.required("right"))
        are = chosen(node.required("are"), RELATIONS)
        if left.how != right.how:
            raise node.error(f"sides that compare collect alike, got {left.how} and {right.how}")
        if {left.link, right.link} not in ({""}, {"answer", "request"}):
            raise node.error(
                "an `answer: linked` is compared with a `request: this`, or its answer"
            )
        if left.how not in _COMPARABLE[are]:
            wanted = " or ".join(_COMPARABLE[are])
            raise node.required("are").error(f"{are} compares {wanted}, got {left.how}")
        spelling = (
            chosen(entries["spelling"], tuple(SPELLINGS)) if "spelling" in entries else "exact"
        )
        return cls(left, right, are, spelling)

    def fires_on(self, left: Any, right: Any) -> bool:
        """Whether the collected values are enough to compare; `not-both` needs one side only."""
        if self.are == "in-order":
            return len(set(left)) > 1 and in_one_order(left, right) is not None
        return bool(left) if self.are == "not-both" else bool(left and right)

    @property
    def may_lack(self) -> bool:
        """Whether an empty right side breaks nothing."""
        return self.are in ("equal-or-none", "within-or-none")

    @property
    def is_linked(self) -> bool:
        """Whether an answer is compared with the request that brings it back."""
        return bool(self.left.link)

    def holds(self, one: Any, other: Any) -> bool:
        """Whether two gathered values are in the relation, texts in the spelling that counts."""
        if isinstance(one, str) and isinstance(other, str):
            spell = SPELLINGS[self.spelling]
            one, other = spell(one), spell(other)
        match self.are:
            case "greater":
                held = one > other
            case "kept":
                held = other or not one
            case "not-both":
                held = not (one and other)
            case "in-order":
                held = in_one_order(one, other) is not False
            case "lacks":
                held = _has_nothing_of(other, one)
            case "contains":
                held = _is_within(one, other, is_list=self.left.how == "list")
            case "within-or-none":
                held = _is_within(other, one, is_list=self.left.how == "list")
            case _:
                held = same(one, other)
        return bool(held)

    def paths(self) -> Iterator[tuple[str, str]]:
        yield from (*self.left.paths.items(), *self.right.paths.items())

    def machine(
        self, aliases: Mapping[str, Alias], knobs: Mapping[str, Any], *, sliced: bool
    ) -> Machine:
        del knobs
        return CompareMachine(aliases, self, sliced=sliced)


def _has_nothing_of(whole: Any, part: Any) -> bool:
    if isinstance(part, list):
        return not any(each in whole for each in part)
    return len(part) < _TELLING or part not in whole


def _is_within(within: Any, wanted: Any, *, is_list: bool) -> bool:
    if isinstance(within, str):
        return bool(wanted in within)
    if is_list:
        rest = iter(within)
        return all(each in rest for each in wanted)  # what `in` skips is used up
    return first_missing(wanted, within) is MISSING


def _read_side(reader: FormReader, node: Node) -> Side:
    entries = node.mapping(
        {"role", "hop", "view", "over", "take", "with", "answer", "request", "turn"}
    )
    how = chosen(entries["with"], GATHER) if "with" in entries else "concat"
    return Side(
        reader.event_paths(node.required("over"), entries.get("take")),
        how,
        role=entries["role"].string() if "role" in entries else "",
        hop=entries["hop"].string() if "hop" in entries else "",
        view=chosen(entries["view"], VIEWS) if "view" in entries else "wire",
        link=_read_link(node, entries),
        turn=chosen(entries["turn"], TURNS) if "turn" in entries else None,
        in_answer=_is_own_answer(entries),
    )


def _is_own_answer(entries: Mapping[str, Node]) -> bool:
    return "answer" in entries and entries["answer"].value == "this"


def _read_link(node: Node, entries: Mapping[str, Node]) -> Literal["answer", "request", ""]:
    is_later = "request" in entries or _is_own_answer(entries)
    if "turn" in entries and not is_later:
        raise node.error("a turn is one of a request, or of its answer")
    for name, words in (("answer", ("linked", "this")), ("request", ("this",))):
        if name in entries:
            chosen(entries[name], words)
            others = sorted(entries.keys() & {"role", "hop", "view", "answer", "request"} - {name})
            if others:
                raise node.error(f"{name} excludes {' and '.join(others)}")
    return "request" if is_later else "answer" if "answer" in entries else ""


BROKEN: Final = "one of the compared streams was broken"


class BothSides(Struct):
    """What one exchange brings to a comparison.

    `error` says which cap was met, `inconclusive` that the stream was broken.
    """

    left: GatheredSide
    right: GatheredSide
    error: str = ""
    inconclusive: str = ""


class CompareMachine(Machine):
    """Collects both sides as far as this exchange is one of them; judges nothing itself."""

    def __init__(self, aliases: Mapping[str, Alias], form: Compare, *, sliced: bool) -> None:
        super().__init__(aliases, sliced=sliced)
        self.form = form
        self.views_differ = form.left.view != form.right.view

    def begins(self) -> State | None:
        return OPEN

    def memory(self) -> BothSides:
        return BothSides(GatheredSide(self.form.left), GatheredSide(self.form.right))

    def step(self, state: State, names: Names) -> Step:
        return state, (_GatherEvent(self, names),)


class _GatherEvent(Act):
    collects = True

    def __init__(self, machine: CompareMachine, names: Names) -> None:
        self.machine = machine
        self.left = tuple(sorted(names & machine.form.left.paths.keys()))
        self.right = tuple(sorted(names & machine.form.right.paths.keys()))

    def perform(self, slice_: Slice, event: Event) -> None:
        if not self._is_compared(slice_, event):
            return
        sides: BothSides = slice_.memory[self.machine.position]
        for name in self.left:
            sides.left.add_event(event, name)
        for name in self.right:
            sides.right.add_event(event, name)

    def _is_compared(self, slice_: Slice, event: Event) -> bool:
        if not self.machine.views_differ:
            return True
        declared = slice_.context.declared
        return event.type in (REPORTED if declared is None else declared)

    def _named_sides(self, slice_: Slice) -> tuple[tuple[GatheredSide, tuple[str, ...]], ...]:
        sides: BothSides = slice_.memory[self.machine.position]
        return (sides.left, self.left), (sides.right, self.right)

    def still(self, slice_: Slice, event: Event, columns: Columns) -> bool:
        if not self._is_compared(slice_, event):
            return False
        return all(
            len(names) < 2 and all(_adds_columns(side, event, name, columns) for name in names)
            for side, names in self._named_sides(slice_)
        )

    def fits(self, slice_: Slice, stretch: Stretch) -> bool:
        return all(
            side.has_room(stretch, _column_name(side.side, name))
            for side, names in self._named_sides(slice_)
            for name in names
        )

    def extend(self, slice_: Slice, stretch: Stretch) -> None:
        for side, names in self._named_sides(slice_):
            for name in names:
                side.add_column(stretch, _column_name(side.side, name))


def _adds_columns(side: GatheredSide, event: Event, name: str, columns: tuple[str, ...]) -> bool:
    """Whether more such events would only add the texts of a column."""
    path = side.side.paths[name]
    if side.side.how == "concat":
        return path in columns and isinstance(getter(path)(event.data), str)
    return side.side.how == "merged" and "text" in columns and side.merges(event)


def _column_name(side: Side, name: str) -> str:
    return side.paths[name] if side.how == "concat" else "text"
