"""The judge: events of one exchange in, verdicts and violations out.

For each slice it holds the joint state of the rules that share it (`group`); an event is one step
of that automaton, and what the step asks to be done is done (`forms.base.Act`).

Rule 1: a rule that fails, by a cap or by a fault of ours, ends with ERROR; the others go on.
Rule 2: work is linear. Many slices times many events that lack a slice field would not be: beyond
FREE_VISITS slices such visits are counted, and capped.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from conformance.core.events import Ending, Event, Layer
from conformance.rules.applies import Evidence
from conformance.rules.compiled import Outcomes
from conformance.rules.dispatch import Letters
from conformance.rules.forms.base import (
    FIRED,
    SILENT,
    Act,
    Breach,
    Context,
    Key,
    Letter,
    Slice,
    Unclear,
    failure_text,
)
from conformance.rules.forms.compare import BROKEN, BothSides
from conformance.rules.found import FoundByRules
from conformance.rules.group import OPENS, Group, JointState, JointStep, PlacedAct, step_code
from conformance.rules.model import Rule
from conformance.rules.repetition import Repeated
from conformance.rules.rule_set import QuietEnd, RuleSet
from conformance.rules.slices import begun_slice, carried_on, forget_alike

MOST_SLICES: Final = 65_536
MOST_VISITS: Final = 1_000_000
FREE_VISITS: Final = 16

# The repeated work for an event: slices with their acts, and slices that get a letter.
Repeating = tuple[list[tuple[Slice, int, Act]], list[tuple[Slice, Letter]]]


class Judge:
    """Watches one exchange. Feed it every event in order; call `settle` after each frame."""

    def __init__(self, rules: RuleSet, evidence: Evidence) -> None:
        self.rules = rules
        self.evidence = evidence
        self.context = Context(evidence, evidence.declared)
        self.error: Event | None = None  # the first error that may end the answer
        self.first_error: Event | None = None  # the same of all answers
        self.overflow = False
        self.layers: set[Layer] = set()  # that had an event so far
        self.last = 0  # number of the last frame so far
        self._types = rules.types
        self._silenced = rules.silenced(evidence)
        self._found = FoundByRules(rules.rules)
        self.fresh = self._found.fresh
        self._order = 0  # running number of the event
        self._opened = [0] * len(rules.listeners)  # slices by number
        self._visits: dict[int, int] = {}
        self._waiting: list[tuple[Group, Slice]] = []
        self._unplaced = [0] * len(rules.groups)  # rules an event of which lacked its place
        self._opening = list(rules.opening(self._silenced))
        self._slices: list[dict[Key, Slice]] = [{} for _ in rules.groups]
        for group, begun in rules.begun(self._silenced):
            self._slices[group.number][()] = begun_slice(group, begun, self.context)

    @property
    def ms(self) -> float | None:
        """Time of the current frame since the response head; None without a clock."""
        return self.context.ms

    @ms.setter
    def ms(self, ms: float | None) -> None:
        self.context.ms = ms

    def read(self, event: Event) -> None:
        """Hands an event to every rule that it concerns."""
        number = self.last = event.number
        self.layers.add(event.layer)
        self._order += 1
        now = (self._order, number, event.type)
        for group, letter in self._concerned_groups(event):
            key = group.key(event.data)
            slice_ = self._slices[group.number].get(key)
            if slice_ is None:
                self._hear_elsewhere(group, key, letter, event)
                continue
            # The usual case: the slice is there, and the step is known.
            code = letter.code | (slice_.frame != number) | OPENS
            step = slice_.state.steps.get(code) if code >= 0 else None
            if step is None:
                code = step_code(letter, ages=slice_.frame != number, opens=True)
                step = group.step(slice_.state, letter, code)
            slice_.state = state = step.state
            slice_.frame = number
            if step.rare:
                self._take_rare(group, slice_, letter, step)
            if step.acts:
                self._perform_acts(group, slice_, step.acts, event)
            slice_.marks[letter] = now
            if state.waits:
                self._waiting.append((group, slice_))

    def _concerned_groups(self, event: Event) -> Letters:
        rules = self._types.get((event.layer, event.type))
        if rules is None:
            rules = self.rules.event_rules(event, self.context)
        if rules.alters_stream:
            if rules.breaks and self.error is None and event.data.get("final") is not False:
                self.error = event
                self.first_error = self.first_error or event
            self.overflow = self.overflow or rules.overflows
        try:
            return rules.letters(event, self.context)
        except Exception:  # noqa: BLE001  # a value may nest too deep to be compared
            letters, failed = rules.letters_one_by_one(event, self.context)
            for group, position, text in failed:
                self._fail_rule(group, position, text)
            return letters

    def _hear_elsewhere(self, group: Group, key: Key, letter: Letter, event: Event) -> None:
        """An event for a slice that is not there, or for all that agree with it."""
        key = group.placed_key(key, event)
        if None in key:
            unplaced = group.belonging(letter) if event.layer == "wire" else 0
            for each in self._agreeing_slices(group, key, letter):
                unplaced &= ~group.placed(each.state)
                self._take_event(group, each, letter, event, opens=False)
            self._unplaced[group.number] |= unplaced
            return
        slices, opening = self._slices[group.number], self._opening[group.number]
        slice_ = slices.get(key) or Slice(key, opening, len(group.machines), self.context)
        first = step_code(letter, ages=True, opens=True)
        if key in slices or group.step(opening, letter, first).opened:
            self._take_event(group, slices.setdefault(key, slice_), letter, event, opens=True)

    def _take_event(
        self, group: Group, slice_: Slice, letter: Letter, event: Event, *, opens: bool
    ) -> None:
        code = step_code(letter, ages=slice_.frame != event.number, opens=opens)
        step = group.step(slice_.state, letter, code)
        slice_.state = step.state
        slice_.frame = event.number
        if step.rare:
            self._take_rare(group, slice_, letter, step)
        if step.acts:
            self._perform_acts(group, slice_, step.acts, event)
        slice_.marks[letter] = (self._order, event.number, event.type)
        if slice_.state.waits:
            self._waiting.append((group, slice_))

    def _take_rare(self, group: Group, slice_: Slice, letter: Letter, step: JointStep) -> None:
        """What few steps have: rules that open the slice or fail, a letter past the cap."""
        for position in step.opened:
            number = group.numbers[position]
            self._opened[number] += 1
            if self._opened[number] > MOST_SLICES:
                self._fail_rule(group, position, f"more than {MOST_SLICES} slices")
            slice_.opened[position] = self._order
            if (memory := group.memories[position]) is not None:
                slice_.memory[position] = memory()
        for position, text in step.failed:
            self._fail_rule(group, position, text)
        if letter.code < 0:
            forget_alike(slice_.marks, letter)

    def _agreeing_slices(self, group: Group, key: Key, letter: Letter) -> Iterator[Slice]:
        """The slices that an event may belong to which lacks some slice fields."""
        slices = self._slices[group.number]
        if len(slices) > FREE_VISITS:
            self._count_visits(group, letter)
        for each in list(slices.values()):
            pairs = zip(key, each.key, strict=True)
            if all(part is None or part == whole for part, whole in pairs):
                yield each

    def _count_visits(self, group: Group, letter: Letter) -> None:
        for position, number in enumerate(group.numbers):
            opened = self._opened[number]
            if letter.names[position] is None or opened <= FREE_VISITS:
                continue
            self._visits[number] = self._visits.get(number, 0) + opened
            if self._visits[number] > MOST_VISITS and number not in self._found.errors:
                text = "too many events lack a slice field while many slices are open"
                self._fail_rule(group, position, text)

    def _perform_acts(
        self, group: Group, slice_: Slice, acts: Sequence[PlacedAct], event: Event
    ) -> None:
        stopped: list[int] = []
        fired: tuple[int, ...] = ()  # most reports say only this, and are taken together
        for position, perform, _ in acts:
            if stopped and position in stopped:
                continue
            try:
                report = perform(slice_, event)
            except Exception as err:  # noqa: BLE001  # one rule must not take the others along
                fired = self._take_fired(group, slice_, fired)
                self._fail_rule(group, position, failure_text(err))
                stopped.append(position)
                continue
            if report is FIRED:
                fired = (*fired, position)
            elif report is not None:
                fired = self._take_fired(group, slice_, fired)
                if self._take_report(group, slice_, position, report, event):
                    stopped.append(position)
        if fired:
            self._take_fired(group, slice_, fired)

    def _take_fired(self, group: Group, slice_: Slice, fired: tuple[int, ...]) -> tuple[()]:
        """Rules that have looked at something, by position; those that failed stay silent."""
        if errors := self._found.errors:
            fired = tuple(each for each in fired if group.numbers[each] not in errors)
        if fired:
            slice_.state = group.with_fired(slice_.state, fired)
        return ()

    def _take_report(
        self, group: Group, slice_: Slice, position: int, report: Any, event: Event
    ) -> bool:
        """Takes what an act found; True where the slice is silent from here on."""
        number = group.numbers[position]
        if number in self._found.errors:
            return True
        if isinstance(report, Unclear) or (
            isinstance(report, Breach) and report.owed and not self.context.whole
        ):
            self._found.unclear.setdefault(number, report.message)
            return False
        if not isinstance(report, Breach):
            slice_.state = group.replaced(slice_.state, position, report)
            return False
        self._found.add_violation(number, slice_.key, report, event)
        slice_.state = group.replaced(slice_.state, position, SILENT)
        return True

    def _fail_rule(self, group: Group, position: int, text: str) -> None:
        """Ends a rule with ERROR: it gets no more events, and its memory is dropped."""
        number = group.numbers[position]
        if number < len(self.rules.rules):  # a subject is only not there
            self._found.errors.setdefault(number, text)
        opening = self._opening[group.number]
        self._opening[group.number] = group.replaced(opening, position, SILENT)
        for slice_ in self._slices[group.number].values():
            slice_.state = group.replaced(slice_.state, position, SILENT)
            slice_.memory[position] = None

    def repeating(self, events: Sequence[Repeated]) -> list[Repeating] | None:
        """The acts that take more such events, if no state can change; else None.

        Valid once the events themselves have been read and their frame has settled.
        """
        states: dict[Slice, JointState] = {}
        found: list[Repeating] = []
        collecting: set[tuple[Slice, int]] = set()
        for again in events:
            event, columns = again.event, again.columns
            rules = self.rules.event_rules(event, self.context)
            steady = rules.steady(again, self.context, self.rules.knobs)
            if steady is None:
                return None
            acts: list[tuple[Slice, int, Act]] = []
            letters: list[tuple[Slice, Letter]] = []
            for group, letter in steady:
                places = self._places_again(group, event, letter)
                if places is None:
                    return None
                for slice_, opens in places:
                    before = states.get(slice_, slice_.state)
                    code = step_code(letter, ages=slice_ not in states, opens=opens)
                    step = group.step(before, letter, code)
                    if step.opened or step.failed or step.state.waits:
                        return None
                    states[slice_] = step.state
                    letters.append((slice_, letter))
                    for position, _, act in step.acts:
                        if not act.still(slice_, event, columns):
                            return None
                        # What two events of a frame give comes in turn, not one after the other.
                        if act.collects and (slice_, position) in collecting:
                            return None
                        collecting.add((slice_, position))
                        acts.append((slice_, position, act))
            found.append((acts, letters))
        is_still = all(slice_.state.parts == state.parts for slice_, state in states.items())
        return found if is_still else None

    def _places_again(
        self, group: Group, event: Event, letter: Letter
    ) -> list[tuple[Slice, bool]] | None:
        """The slices that such an event belongs to; None where it would open one, or cost much."""
        key, slices = group.placed_key(group.key(event.data), event), self._slices[group.number]
        slice_ = slices.get(key)
        if slice_ is not None:
            return [(slice_, True)]
        if None not in key:
            opening = self._opening[group.number]
            code = step_code(letter, ages=True, opens=True)
            opens = group.step(opening, letter, code).opened
            return None if opens else []
        if len(slices) > FREE_VISITS:
            return None
        return [(each, False) for each in self._agreeing_slices(group, key, letter)]

    def repeated(self, letters: Sequence[tuple[Slice, Letter]], event: Event, last: int) -> None:
        """Such an event came again in every frame up to `last`."""
        self._order += 1
        for slice_, letter in letters:
            slice_.frame = last
            slice_.marks[letter] = (self._order, last, event.type)

    def settle(self) -> None:
        """The frame is complete: bounds are judged now."""
        if not self._waiting:
            return
        waiting, self._waiting = self._waiting, []
        end = Event("end of frame", {}, self.last, "transport")
        for group, slice_ in waiting:
            if slice_.state.waits:
                step = group.settled(slice_.state, broken=self.error is not None)
                slice_.state = step.state
                self._perform_acts(group, slice_, step.acts, end)

    def end_answer(self, number: int) -> Outcomes:
        """Ends an answer as a clean end would; the next begins in frame `number`.

        Rules that go on over all answers say nothing yet.
        """
        self.settle()
        self.last = number
        outcomes = self._closed_outcomes(self.error is None, is_last=False)
        self._begin_answer()
        return outcomes

    def _begin_answer(self) -> None:
        self.error, self.layers, self.context.whole, self.context.spent = None, set(), False, {}
        self._found.begin_answer(self.rules.of_connection)
        for group in self.rules.groups:
            if group.outlives_answers:
                continue
            for rule in group.numbers:
                self._opened[rule] = 0
                self._visits.pop(rule, None)
            before = self._slices[group.number].get(())
            self._slices[group.number] = {}
            if before is not None:
                begun = group.begun(self._opening[group.number])
                slice_ = begun_slice(group, begun, self.context)
                self._slices[group.number][()] = carried_on(group, before, slice_)

    def close(self, how: Ending) -> Outcomes:
        """Ends the exchange; one outcome per rule, in the order of the rule set."""
        self.settle()
        return self._closed_outcomes(how == "eof" and self.error is None, is_last=True)

    def _closed_outcomes(self, whole: bool, *, is_last: bool) -> Outcomes:
        """What comes of the answer, and of all where it is the last."""
        self.context.whole = whole
        end = Event("end of stream", {}, self.last, "transport")
        fired = [0] * len(self.rules.groups)
        for group in self.rules.groups:
            if group.outlives_answers and not is_last:
                continue
            slices = self._slices[group.number].values()
            if not slices:
                continue
            for slice_, act in _in_order([(s, act) for s in slices for act in group.ends(s.state)]):
                if is_last or act[0] not in group.kept:
                    self._perform_acts(group, slice_, (act,), end)
            for slice_ in slices:
                fired[group.number] |= slice_.state.fired
        unplaced = tuple(self._unplaced)
        layers = frozenset(self.layers)
        quiet = QuietEnd(self._silenced, tuple(fired), unplaced, layers, self.overflow)
        return self._found.outcomes(self.rules.outcomes(self.evidence, quiet))

    def gathered(self) -> list[tuple[Rule, BothSides]]:
        """What this exchange brings to rules that compare exchanges; ask after `close`."""
        found: list[tuple[Rule, BothSides]] = []
        for number, group, position in self.rules.comparisons:
            if number not in self._silenced:
                slice_ = self._slices[group.number][()]
                sides = slice_.memory[position] or group.machines[position].memory()
                sides.error = self._found.errors.get(number, "")
                sides.inconclusive = "" if self.context.whole else BROKEN
                found.append((self.rules.rules[number].rule, sides))
        return found


def _in_order(acts: list[tuple[Slice, PlacedAct]]) -> list[tuple[Slice, PlacedAct]]:
    """Acts in the order in which their rules opened the slices."""
    return sorted(acts, key=lambda pair: pair[0].opened[pair[1][0]])
