"""What a form is: its syntax, and a machine of pure steps for each rule that has it.

A `Form` is the value that a rule holds, as it is written in YAML. Bound to a profile it gives a
`Machine`, which drives one slice of one rule: `step` takes the slice's state and the names of an
event, and gives the next state and what to do (`Act`). It depends on nothing else, so its results
can be cached (`rules/group.py`). Whatever depends on more than names, such as texts, numbers and
clocks, is up to acts: only they get the event and the memory of the slice.

Rule 1: a violated slice stays silent from then on; there is one finding per rule and slice, however
long the stream goes on.
Rule 2: bounds are judged when a frame is complete (`settle`), because two events of one frame are
neither before nor after each other. A state may record that something came in this frame; `age`
forgets it when the next frame begins.
Rule 3: an obligation that is still open is a violation at a clean end of stream, and inconclusive
where an error event came or we or the transport broke the stream.
Rule 4: nothing grows without a cap; beyond it the rule ends with its own error.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Final, NamedTuple, Self, TypeVar

from msgspec import Struct

from conformance.core.events import Event, Layer
from conformance.rules.about import NOTHING, About
from conformance.rules.alias import Alias
from conformance.rules.forms.reading import FormReader
from conformance.rules.node import Node
from conformance.rules.patterns import RequestValues
from conformance.rules.repetition import Columns, Stretch

T = TypeVar("T")

Names = frozenset[str]
Key = tuple[Any, ...]
State = Any  # small and hashable; a form knows its own


class _NamedState:
    """A state that says nothing but its name."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __repr__(self) -> str:
        return self._name

    def __reduce__(self) -> str:
        return self._name


SILENT: Final = _NamedState("SILENT")  # violated, or not to be judged here at all
OPEN: Final = _NamedState("OPEN")  # a slice of which nothing else is to be known
FIRED: Final = _NamedState("FIRED")  # the same, once it has been looked at


class CapReachedError(Exception):
    """A rule met one of its caps; it ends with verdict ERROR."""


def failure_text(err: Exception) -> str:
    """Why a rule ends with ERROR: a cap that it met, or a fault of ours."""
    prefix = "" if isinstance(err, CapReachedError) else f"internal: {type(err).__name__}: "
    return f"{prefix}{err}"


class Mark(NamedTuple):
    """An event remembered for a message: its type and number."""

    type: str
    number: int

    def __str__(self) -> str:
        return f"{self.type} (event {self.number})"


class Violation(Struct, frozen=True):
    """A broken rule as plain facts; `judging.findings` adds the bytes around it.

    `answer` is the number of the answer that broke it.
    """

    number: int
    slice: Mapping[str, Any]
    expected: tuple[str, ...]
    got: str
    after: str
    message: str
    answer: int = 1
    about: About = NOTHING


class Breach(Struct, frozen=True):
    """What an act found: the violation of a slice. `number` is the event's where it is None.

    `owed` is True for an obligation that the end of the stream left open (rule 3).
    """

    message: str
    expected: tuple[str, ...] = ()
    got: str = ""
    after: Mark | None = None
    number: int | None = None
    owed: bool = False
    about: About = NOTHING  # without what it came after


class Unclear(Struct, frozen=True):
    """A question that an act could not decide, because the stream was broken."""

    message: str


# None: nothing to report; a state (OPEN, FIRED, ...) replaces that of the slice.
Report = Breach | Unclear | State | None


class Context:
    """What acts and patterns may know of the exchange around a slice.

    It does not know the judge: a stream that is over is gone at once, without waiting for a
    collector of cycles.
    """

    __slots__ = ("_evidence", "declared", "ms", "spent", "whole")

    def __init__(self, evidence: RequestValues, declared: frozenset[str] | None) -> None:
        self._evidence = evidence
        self.declared = declared  # events that the client says it reports; None: it does not say
        self.ms: float | None = None  # time of the current frame since the response head
        self.whole = False  # at the end: the stream ended by itself, without an error event
        self.spent: dict[Machine, int] = {}  # work that a rule has done over all its slices

    def requested(self, path: str) -> Any:
        """The value at `path` of the request, or of the response's echo of it, or MISSING."""
        return self._evidence.requested(path)

    def chosen(self, path: str) -> Any:
        """The value at `path` of what the user of a client chose, or MISSING."""
        return self._evidence.chosen(path)

    def spelled(self, text: str) -> bool:
        """Whether the request contains a text, outside of earlier answers of the model."""
        return self._evidence.spelled(text)


class Letter:
    """What one event means to the rules that share a slice: the names it answers to, rule by rule.

    None is where the event does not concern a rule. Letters are compared by identity: equal
    ones are one object, as far as they are remembered at all (`code` is negative where not).
    """

    __slots__ = ("belonging", "code", "concerned", "names")

    def __init__(self, names: tuple[Names | None, ...], code: int) -> None:
        self.names = names
        self.code = code
        self.belonging: int | None = None  # which rules need a slice for it, once computed
        # By position, without the rules that it does not concern.
        self.concerned = tuple((at, each) for at, each in enumerate(names) if each is not None)


class Slice:
    """One slice of an exchange and the memory of the rules that share it, by position.

    `marks` holds when each letter came last: running number of the event, frame, and type.
    `opened` has the running number at which a rule opened the slice.
    """

    __slots__ = ("context", "frame", "key", "marks", "memory", "opened", "state")

    def __init__(self, key: Key, state: Any, rules: int, context: Context) -> None:
        self.key = key
        self.context = context
        self.state = state
        self.frame = 0
        self.memory: list[Any] = [None] * rules
        self.opened: list[int] = [0] * rules
        self.marks: dict[Letter, tuple[int, int, str]] = {}

    def remembered(self, position: int, kind: type[T]) -> T:
        """What a rule keeps of the slice, made when there is something to keep."""
        if self.memory[position] is None:
            self.memory[position] = kind()
        kept: T = self.memory[position]
        return kept

    def last_mark(self, position: int, among: Collection[str] | None = None) -> Mark | None:
        """The last event before the current one that a rule got under one of the names."""
        latest: tuple[int, int, str] | None = None
        for letter, marks in self.marks.items():
            names = letter.names[position]
            if not names or (among is not None and names.isdisjoint(among)):
                continue
            if marks[0] >= self.opened[position] and (latest is None or marks > latest):
                latest = marks
        return None if latest is None else Mark(latest[2], latest[1])


class Act:
    """What to do with one event, for one rule in one slice.

    The second half is about events that repeat (`rules/repetition.py`): whether more of them, equal
    except for some columns, can be read as columns, and how.
    """

    collects: ClassVar[bool] = False  # the order of what it reads matters

    def perform(self, slice_: Slice, event: Event) -> Report:
        raise NotImplementedError

    def still(self, slice_: Slice, event: Event, columns: Columns) -> bool:
        """Whether more such events would change nothing but what is collected."""
        del slice_, event, columns
        return False

    def fits(self, slice_: Slice, stretch: Stretch) -> bool:
        """Whether taking the stretch event by event would report nothing; changes nothing."""
        del slice_, stretch
        return True

    def extend(self, slice_: Slice, stretch: Stretch) -> None:
        """Takes a stretch that fits, with the outcome of taking it event by event."""


class ReportAct(Act):
    """An act that only reports, or remembers an event: nothing that could repeat."""

    def __init__(self, report: Callable[[Slice, Event], Report]) -> None:
        self._report = report

    def perform(self, slice_: Slice, event: Event) -> Report:
        return self._report(slice_, event)


Step = tuple[State, tuple[Act, ...]]


class Machine:
    """How the slices of one rule go on. Pure except its acts; shared by exchanges and threads.

    `position` is the rule's among those that share its slices.
    """

    hears_all: bool = False  # every event concerns it
    needs_clock: bool = False  # without one, none does

    def __init__(self, aliases: Mapping[str, Alias], *, sliced: bool) -> None:
        self.aliases = aliases
        self.sliced = sliced
        self.position = 0

    def needs(self, name: str) -> tuple[str, Any] | None:
        """Path and pattern of what an event must hold to concern the rule under a name, if any."""
        del name
        return None

    def begins(self) -> State | None:
        """State of the one slice that is there before any event; None where there is none."""
        return None

    def opens(self, names: Names) -> bool:
        """Whether an event with all slice fields opens a slice that is not there."""
        del names
        return True

    def belongs(self, names: Names) -> bool:
        """Whether an event of these names means nothing but in one slice."""
        return self.opens(names)

    def opened_state(self) -> State:
        """State of a slice that was just opened."""
        return OPEN

    def memory(self) -> Any:
        """What acts keep of a slice that was just opened."""
        return None

    def step(self, state: State, names: Names) -> Step:
        """The state after an event with these names, and what to do."""
        raise NotImplementedError

    def age(self, state: State) -> State:
        """The state at the beginning of the next frame."""
        return state

    def waits(self, state: State) -> bool:
        """Whether something is left to do when the frame is complete."""
        del state
        return False

    def settle(self, state: State, *, broken: bool) -> Step:
        """The step at the end of a frame, for states that wait for it."""
        del broken
        return state, ()

    def close(self, state: State) -> tuple[Act, ...]:
        """What to do at the end of the exchange."""
        del state
        return ()

    def fired(self, state: State) -> bool:
        """Whether the rule has looked at something it speaks of."""
        return state is FIRED

    def fired_by(self, layers: Collection[Layer]) -> bool:
        """Whether it has fired without any slice, because these layers had events."""
        del layers
        return False

    def describe(self, names: Collection[str]) -> tuple[str, ...]:
        """Names of this rule as wire types, sorted."""
        return tuple(sorted({self.aliases[name].describe() for name in names}))

    def types(self, names: Collection[str]) -> tuple[str, ...]:
        """The types that events of these names can have."""
        return tuple(sorted({kind for name in names for kind in self.aliases[name].types}))


def listed(events: Mapping[str, str], names: Iterable[str] | None = None) -> str:
    chosen = events if names is None else names
    return " / ".join(sorted({events[name] for name in chosen}))


class Form(Struct, frozen=True):
    """A form as a rule holds it: frozen data, and what reading, lint and docs know of it."""

    key: ClassVar[str]  # in YAML

    @classmethod
    def read(cls, reader: FormReader, rule: Node, node: Node) -> Self:
        """The form at `node`, the value of its key in `rule`."""
        raise NotImplementedError

    def machine(
        self, aliases: Mapping[str, Alias], knobs: Mapping[str, Any], *, sliced: bool
    ) -> Machine:
        """The machine of a rule under a profile's knobs; PatternError where they do not fit.

        `aliases` are the rule's events by name; `sliced` is False for a rule without slice fields.
        """
        raise NotImplementedError

    def lack(self, events: Mapping[str, str]) -> str:
        """What was missing if the rule never fired; `events` describes each name."""
        return f"no {listed(events)}"

    @property
    def is_ordered(self) -> bool:
        """Whether the outcome hangs on the order of the events it names."""
        return False

    def candidates(self, aliases: Mapping[str, Alias]) -> Mapping[str, Alias]:
        """More events that its machine needs, by name, to know that its subject was present."""
        del aliases
        return {}

    @property
    def looked_at(self) -> Mapping[str, str] | None:
        """Event name -> path of the judged value, `*` for all of it; None for whole sequences."""
        return None

    def knob_values(self) -> Sequence[Any]:
        """What the form holds where `$knob` may stand."""
        return ()

    def paths(self) -> Iterator[tuple[str, str]]:
        """Every (event name, path) that the form itself reads."""
        return iter(())


def either(words: tuple[str, ...]) -> str:
    """`a, b or c`."""
    if len(words) < 2:
        return "".join(words) or "nothing"
    return f"{', '.join(words[:-1])} or {words[-1]}"
