"""Rules that share their slice fields, as one automaton that is built while it runs.

A state of the group is the tuple of its rules' states in one slice, a letter the names by which an
event concerns each of them. The machines are pure, so their step for (state, letter) is cached: a
slice of a stream makes one look-up per event, however many rules there are.

Rule 1: the cache is capped. At the cap of states or steps all of them are dropped and learnt again,
so a hostile stream neither makes a group grow nor slows down others. Letters past their cap are not
cached. The outcome is the same.
Rule 2: whether an event is the first of its frame for a slice is part of the letter's meaning
(machines `age`), and so is whether it has all slice fields: only such an event opens a slice.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Final, NamedTuple

from conformance.core.events import Event
from conformance.rules.forms.base import (
    FIRED,
    SILENT,
    Act,
    Key,
    Letter,
    Machine,
    Names,
    Report,
    State,
    failure_text,
)
from conformance.rules.paths import MISSING, Getter, getter
from conformance.rules.patterns import is_number

MOST_STATES: Final = 2048
MOST_LETTERS: Final = 1024
MOST_STEPS: Final = 1 << 13
LONGEST_KEY: Final = 256

# The act for the rule at a position, with its bound `perform`.
PlacedAct = tuple[int, Callable[..., Report], Act]


_AGES: Final = 1
OPENS: Final = 2


def step_code(letter: Letter, *, ages: bool, opens: bool) -> int:
    """A letter with all its meaning: `ages` for the first of a frame, `opens` with all fields."""
    base = max(letter.code, 0)
    return base | (_AGES if ages else 0) | (OPENS if opens else 0)


class JointState:
    """The states of a group's rules in one slice, None for a rule that does not have the slice.

    It caches its successors: by letter, at the beginning of the next frame (`aged`), with another
    part at one position (`replaced`), and where acts made rules fire (`fires`).
    """

    __slots__ = (
        *("aged", "ends", "fired", "fires", "keeps", "parts", "placed", "replaced", "settled"),
        *("steps", "waits"),
    )

    def __init__(self, parts: tuple[State, ...], *, waits: bool, fired: int) -> None:
        self.parts = parts
        self.waits = waits
        self.fired = fired  # a bit for each position
        self.steps: dict[int, JointStep] = {}
        self.settled: dict[bool, JointStep] = {}
        self.replaced: dict[tuple[int, State], JointState] = {}
        self.fires: dict[tuple[int, ...], JointState] = {}
        self.placed: int | None = None
        self.aged: tuple[State, ...] | None = None
        self.ends: tuple[PlacedAct, ...] | None = None
        self.keeps: tuple[tuple[int, Callable[[], Any]], ...] | None = None

    def forget(self) -> None:
        """Lets go of the states that it leads to."""
        self.steps.clear()
        self.settled.clear()
        self.replaced.clear()
        self.fires.clear()


class JointStep(NamedTuple):
    """The next state after a letter, the acts, who opens the slice, and who met a cap."""

    state: JointState
    acts: tuple[PlacedAct, ...]
    rare: bool = False  # there is more to it than that
    opened: tuple[int, ...] = ()
    failed: tuple[tuple[int, str], ...] = ()


class Group:
    """Rules with the same slice fields. `numbers` are theirs in the rule set.

    `of_connection` are numbers of rules whose slices go on over all answers.
    """

    def __init__(
        self,
        number: int,
        paths: tuple[str, ...],
        machines: Sequence[Machine],
        numbers: Sequence[int],
        of_connection: Collection[int] = (),
    ) -> None:
        self.number = number
        self.paths = paths
        self.machines = tuple(machines)
        self.numbers = tuple(numbers)
        # Positions of rules that go on where the next answer begins: all, or some without slices.
        self.kept = tuple(at for at, each in enumerate(numbers) if each in of_connection)
        self.outlives_answers = bool(paths and self.kept)
        # Most machines keep no memory, or only what they report.
        self.memories = tuple(
            None if type(machine).memory is Machine.memory else machine.memory
            for machine in self.machines
        )
        self._ageing = _machines_with(self.machines, "age")
        self._waiting = _machines_with(self.machines, "waits")
        self._firing = _machines_with(self.machines, "fired")
        self.key = _slice_key(paths)
        self._states: dict[tuple[State, ...], JointState] = {}
        self._letters: dict[tuple[Names | None, ...], Letter] = {}
        self._beginnings: dict[tuple[State, ...], JointState] = {}
        self._steps = 0
        for position, machine in enumerate(self.machines):
            machine.position = position

    def placed_key(self, key: Key, event: Event) -> Key:
        """An event's key, completed by the indices that its reader inferred."""
        place = event.place
        if place is None:
            return key
        pairs = zip(self.paths, key, strict=True)
        return tuple([place.get(path) if part is None else part for path, part in pairs])

    def opening(self, silenced: frozenset[int]) -> JointState:
        """What a slice begins with that no rule has opened yet."""
        return self._held_beginning(
            tuple(SILENT if number in silenced else None for number in self.numbers)
        )

    def begun(self, opening: JointState) -> JointState:
        """The state of the one slice of rules without slice fields, before any event."""
        pairs = zip(self.machines, opening.parts, strict=True)
        return self._held_beginning(
            tuple(part if part is SILENT else machine.begins() for machine, part in pairs)
        )

    def _held_beginning(self, parts: tuple[State, ...]) -> JointState:
        """A state that is held beyond all streams."""
        state = self.state(parts)
        if len(self._beginnings) < MOST_STATES:
            self._beginnings[parts] = state
        return state

    def letter(self, names: tuple[Names | None, ...]) -> Letter:
        """The letter of these names, rule by rule."""
        found = self._letters.get(names)
        if found is None:
            if len(self._letters) >= MOST_LETTERS:
                return Letter(names, -1)
            found = self._letters.setdefault(names, Letter(names, len(self._letters) * 4))
        return found

    def state(self, parts: tuple[State, ...]) -> JointState:
        found = self._states.get(parts)
        if found is None:
            if len(self._states) >= MOST_STATES:
                self._forget_states()
            found = self._states.setdefault(parts, self._new_state(parts))
        return found

    def _forget_states(self) -> None:
        """Lets go of all states but those that streams are in, or begin with, and of all steps."""
        for state in (*self._states.values(), *self._beginnings.values()):
            state.forget()
        self._states.clear()
        self._steps = 0

    def _new_state(self, parts: tuple[State, ...]) -> JointState:
        waits = any(
            machine.waits(parts[at]) for at, machine in self._waiting if _is_live(parts[at])
        )
        fired = sum(1 << at for at, part in enumerate(parts) if part is FIRED)
        for at, machine in self._firing:
            if _is_live(parts[at]) and machine.fired(parts[at]):
                fired |= 1 << at
        return JointState(parts, waits=waits, fired=fired)

    def replaced(self, state: JointState, position: int, part: State) -> JointState:
        found = state.replaced.get((position, part))
        if found is None:
            parts = state.parts
            found = self.state((*parts[:position], part, *parts[position + 1 :]))
            self._count_step()
            state.replaced[position, part] = found
        return found

    def with_fired(self, state: JointState, positions: tuple[int, ...]) -> JointState:
        """The state in which the rules at these positions have looked at something."""
        found = state.fires.get(positions)
        if found is None:
            parts = list(state.parts)
            for position in positions:
                parts[position] = FIRED
            found = self.state(tuple(parts))
            self._count_step()
            state.fires[positions] = found
        return found

    def belonging(self, letter: Letter) -> int:
        """The machines to which this letter means nothing without a slice, by position, as bits."""
        if letter.belonging is None:
            machines = self.machines
            letter.belonging = sum(
                1 << at for at, names in letter.concerned if machines[at].belongs(names)
            )
        return letter.belonging

    def placed(self, state: JointState) -> int:
        """The machines that have opened a slice, by position, as bits."""
        if state.placed is None:
            state.placed = sum(1 << at for at, part in enumerate(state.parts) if part is not None)
        return state.placed

    def kept_by(self, state: JointState) -> tuple[tuple[int, Callable[[], Any]], ...]:
        """What makes the memories of the machines that have opened a slice, with positions."""
        if state.keeps is None:
            pairs = enumerate(zip(self.memories, state.parts, strict=True))
            state.keeps = tuple(
                (at, memory) for at, (memory, part) in pairs if memory and _is_live(part)
            )
        return state.keeps

    def _count_step(self) -> None:
        if self._steps >= MOST_STEPS:
            self._forget_states()
        self._steps += 1

    def step(self, state: JointState, letter: Letter, code: int) -> JointStep:
        """What a letter does in a slice; `code` is that of `step_code`."""
        found = state.steps.get(code) if letter.code >= 0 else None
        if found is None:
            found = self._joint_step(
                state, letter, ages=bool(code & _AGES), opens=bool(code & OPENS)
            )
            if letter.code >= 0:
                self._count_step()
                state.steps[code] = found
        return found

    def _joint_step(
        self, state: JointState, letter: Letter, *, ages: bool, opens: bool
    ) -> JointStep:
        parts = list(self._aged_parts(state) if ages else state.parts)
        acts: list[PlacedAct] = []
        opened: list[int] = []
        failed: list[tuple[int, str]] = []
        for at, names in letter.concerned:
            part, machine = parts[at], self.machines[at]
            if part is SILENT:
                continue
            if part is None and opens and machine.opens(names):
                part = machine.opened_state()
                opened.append(at)
            if part is not None:
                try:
                    part, due = machine.step(part, names)
                except Exception as err:  # noqa: BLE001  # one rule must not take the others along
                    part, due = SILENT, ()
                    failed.append((at, failure_text(err)))
                acts += [(at, act.perform, act) for act in due]
            parts[at] = part
        rare = bool(opened or failed) or letter.code < 0
        following = self.state(tuple(parts))
        return JointStep(following, tuple(acts), rare, tuple(opened), tuple(failed))

    def _aged_parts(self, state: JointState) -> tuple[State, ...]:
        """The parts at the beginning of the next frame."""
        if state.aged is None:
            parts = list(state.parts)
            for at, machine in self._ageing:
                if _is_live(parts[at]):
                    parts[at] = machine.age(parts[at])
            state.aged = tuple(parts)
        return state.aged

    def settled(self, state: JointState, *, broken: bool) -> JointStep:
        """What the end of a frame does to a state that waits for it."""
        found = state.settled.get(broken)
        if found is None:
            parts, acts = list(state.parts), list[PlacedAct]()
            for at, machine in self._waiting:
                part = parts[at]
                if _is_live(part) and machine.waits(part):
                    parts[at], due = machine.settle(part, broken=broken)
                    acts += [(at, act.perform, act) for act in due]
            found = JointStep(self.state(tuple(parts)), tuple(acts))
            state.settled[broken] = found
        return found

    def ends(self, state: JointState) -> tuple[PlacedAct, ...]:
        """The acts in a slice at the end of the exchange."""
        if state.ends is None:
            state.ends = tuple(
                (at, act.perform, act)
                for at, (machine, part) in enumerate(zip(self.machines, state.parts, strict=True))
                if _is_live(part)
                for act in machine.close(part)
            )
        return state.ends


def _is_live(part: State) -> bool:
    """Whether the slice is the rule's, and the rule not silent."""
    return part is not None and part is not SILENT


def _machines_with(machines: Sequence[Machine], method: str) -> tuple[tuple[int, Machine], ...]:
    """The machines that have their own method, with their positions."""
    usual = getattr(Machine, method)
    pairs = enumerate(machines)
    return tuple((at, each) for at, each in pairs if getattr(type(each), method) is not usual)


def _slice_key(paths: Sequence[str]) -> Callable[[Mapping[str, Any]], Key]:
    """A function that gives an event's slice fields; None for one that is missing or null."""
    getters = tuple(getter(path) for path in paths)
    if not getters:
        return lambda _data: ()
    if len(getters) == 1:
        return _single_key(*getters) if "." in paths[0] else _named_key(paths[0])
    if len(getters) == 2:
        return _double_key(*getters)
    return lambda data: tuple([key_part(get(data)) for get in getters])


def _named_key(name: str) -> Callable[[Mapping[str, Any]], Key]:
    def key(data: Mapping[str, Any]) -> Key:
        value = data.get(name)
        return (value if value.__class__ is int else key_part(value),)

    return key


def _single_key(get: Getter) -> Callable[[Mapping[str, Any]], Key]:
    def key(data: Mapping[str, Any]) -> Key:
        value = get(data)
        return (value if value.__class__ is int else key_part(value),)

    return key


def _double_key(first: Getter, second: Getter) -> Callable[[Mapping[str, Any]], Key]:
    def key(data: Mapping[str, Any]) -> Key:
        one, other = first(data), second(data)
        return (
            one if one.__class__ is int else key_part(one),
            other if other.__class__ is int else key_part(other),
        )

    return key


def key_part(value: Any) -> Any:
    """A slice field as part of a key; None where it is missing, null or no plain value."""
    if value.__class__ is int:
        return value
    if value is MISSING or value is None:
        return None
    if isinstance(value, str):
        return value if len(value) <= LONGEST_KEY else _text_digest(value)
    return value if is_number(value) else _text_digest(repr(value))


def _text_digest(text: str) -> str:
    return text[:24] + "…" + hashlib.blake2b(text.encode("utf-8", "replace")).hexdigest()[:24]
