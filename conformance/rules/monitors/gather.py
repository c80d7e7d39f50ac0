"""Form `compare`: what one exchange contributes, and the comparison once all are in."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from conformance.core.events import Ending, Event
from conformance.rules.model import Compare, Rule, Side
from conformance.rules.monitors.base import CapReachedError, Context, Key, Monitor, State, Violation
from conformance.rules.monitors.differences import first_difference, first_missing
from conformance.rules.paths import MISSING, Getter, getter
from conformance.rules.patterns import is_number, same
from conformance.rules.repetition import Stretch
from conformance.rules.verdicts import Verdict, combine

MOST_BYTES: Final = 16 * 1024 * 1024
MERGED_FIELDS: Final = (
    *("choice", "channel", "kind", "data", "text", "reason", "name", "arguments"),
    *("input", "output", "reasoning", "total"),
)
# What is compared of a client that does not declare which events it reports.
REPORTED: Final = frozenset(
    {"thinking.delta", "text.delta", "refusal.delta", "tool.end", "finish", "error", "cut"}
)


class Gathered:
    """One side's value, growing."""

    def __init__(self, side: Side) -> None:
        self.side = side
        self.paths: dict[str, Getter] = {name: getter(path) for name, path in side.paths.items()}
        self.parts: list[Any] = []
        self.size = 0

    def read(self, event: Event, names: frozenset[str]) -> None:
        for name in sorted(names & self.paths.keys()):
            self._take(event, name)

    def _take(self, event: Event, name: str) -> None:
        if self.side.how == "merged":
            self._merge(event)
            return
        value = self.paths[name](event.data)
        if self.side.how == "concat" and isinstance(value, list):  # a path with `*`
            for each in value:
                self._add(each)
        else:
            self._add(value)

    def _add(self, value: Any) -> None:
        fits = isinstance(value, str) if self.side.how == "concat" else is_number(value)
        if self.side.how == "count" or fits:
            self._grow(value if isinstance(value, str) else "")
            self.parts.append(value)

    def _merge(self, event: Event) -> None:
        shape = _shape(event)
        text = event.data.get("text")
        self._grow(_spelled(shape) + (text if isinstance(text, str) else ""))
        before = self.parts[-1] if self.parts else None
        if text is not None and before is not None and before[0] == shape:
            before[1].append(text)
        else:
            self.parts.append((shape, [text] if text is not None else None))

    def still(self, event: Event, names: frozenset[str], columns: Collection[str]) -> bool:
        """Whether more such events would only add their columns."""
        named = names & self.paths.keys()
        return len(named) < 2 and all(self._adds(event, name, columns) for name in named)

    def _adds(self, event: Event, name: str, columns: Collection[str]) -> bool:
        if self.side.how == "concat":
            text = isinstance(self.paths[name](event.data), str)
            return text and self.side.paths[name] in columns
        last = self.parts[-1] if self.parts else None
        merges = self.side.how == "merged" and "text" in columns
        return merges and last is not None and last[0] == _shape(event)

    def fits(self, stretch: Stretch, names: frozenset[str]) -> bool:
        """Whether the cap is not met within the stretch."""
        more = sum(self._weight(stretch, name) for name in names & self.paths.keys())
        return self.size + more <= MOST_BYTES

    def extend(self, stretch: Stretch, names: frozenset[str]) -> None:
        """Adds a stretch of events that fits."""
        for name in names & self.paths.keys():
            into = self.parts if self.side.how == "concat" else self.parts[-1][1]
            into.extend(stretch.columns[self._column(name)])
            self.size += self._weight(stretch, name)

    def _column(self, name: str) -> str:
        return self.side.paths[name] if self.side.how == "concat" else "text"

    def _weight(self, stretch: Stretch, name: str) -> int:
        texts = sum(map(len, stretch.columns[self._column(name)]))
        if self.side.how == "concat":
            return texts
        return texts + len(_spelled(_shape(stretch.event))) * stretch.count

    def _grow(self, text: str) -> None:
        self.size += len(text)
        if self.size > MOST_BYTES:
            raise CapReachedError(f"a side of the comparison grew beyond {MOST_BYTES} bytes")

    def value(self) -> Any:
        if self.side.how == "concat":
            return "".join(self.parts)
        if self.side.how == "sum":
            return sum(self.parts)
        if self.side.how == "count":
            return len(self.parts)
        return [s if texts is None else {**s, "text": "".join(texts)} for s, texts in self.parts]


def _shape(event: Event) -> dict[str, Any]:
    """What adjacent deltas must share to be joined."""
    shown = {key: event.data[key] for key in MERGED_FIELDS if key in event.data and key != "text"}
    if event.type == "thinking.part":  # a delta's part is a client's own business
        shown["part"] = event.data.get("part")
    return {"type": event.type, **shown}


def _spelled(shape: dict[str, Any]) -> str:
    return msgspec.json.encode(shape).decode()


class GatherMonitor(Monitor[State]):
    """Collects both sides as far as this exchange is one of them; judges nothing itself."""

    collects = True

    def __init__(self, rule: Rule, context: Context, form: Compare) -> None:
        super().__init__(rule, context)
        self.left = Gathered(form.left)
        self.right = Gathered(form.right)
        declared = REPORTED if context.declared is None else context.declared
        self._compared = declared if form.left.view != form.right.view else None

    def state(self, key: Key) -> State:  # noqa: ARG002  # comparisons have no slices
        return State()

    def step(self, event: Event, names: frozenset[str]) -> None:
        if self._compared is None or event.type in self._compared:
            self.left.read(event, names)
            self.right.read(event, names)

    def still(self, event: Event, names: frozenset[str], columns: Collection[str]) -> bool:
        if self._compared is not None and event.type not in self._compared:
            return False
        sides = (self.left, self.right)
        return all(side.still(event, names, columns) for side in sides)

    def fits(self, stretch: Stretch, names: frozenset[str]) -> bool:
        return self.left.fits(stretch, names) and self.right.fits(stretch, names)

    def extend(self, stretch: Stretch, names: frozenset[str]) -> None:
        self.left.extend(stretch, names)
        self.right.extend(stretch, names)

    def close(self, how: Ending) -> None:
        if how != "eof" or self.context.broken:
            self.inconclusive = "one of the compared streams was broken"


@dataclass(frozen=True, slots=True)
class Contribution:
    """What one exchange, seen in one view, brings to a comparison."""

    exchange: int
    role: str
    hop: str
    view: str
    last: int
    monitor: GatherMonitor


def _matches(side: Side, given: Contribution) -> bool:
    wanted = (side.role or given.role, side.hop or given.hop, side.view)
    return wanted == (given.role, given.hop, given.view)


def compare(
    form: Compare, given: Sequence[Contribution]
) -> tuple[Verdict, str, tuple[Violation, ...]]:
    """Verdict, reason and violations over all exchanges of a run."""
    pairs = _pairs(form, given)
    if not pairs:
        return Verdict.NOT_APPLICABLE, "no exchange has the role, hop or view it names", ()
    results = [_result(form, *pair) for pair in pairs]
    verdict = combine(each for each, _, _ in results)
    reason = next(why for each, why, _ in results if each is verdict)
    found = tuple(v for each, _, v in results if each is verdict and v is not None)
    return verdict, reason, found


def _result(
    form: Compare, left: Contribution, right: Contribution
) -> tuple[Verdict, str, Violation | None]:
    if error := left.monitor.error or right.monitor.error:
        return Verdict.ERROR, error, None
    # Two views of one exchange saw the same end, however it came: that is comparable.
    broken = left.monitor.inconclusive or right.monitor.inconclusive
    if broken and left.exchange != right.exchange:
        return Verdict.INCONCLUSIVE, broken, None
    if not left.monitor.left.parts and not right.monitor.right.parts:
        return Verdict.VACUOUS, "never fired: neither side has anything to compare", None
    violation = _judge(form, left, right)
    return (Verdict.FAIL if violation else Verdict.PASS), "", violation


def _pairs(form: Compare, given: Sequence[Contribution]) -> list[tuple[Contribution, Contribution]]:
    lefts = [each for each in given if _matches(form.left, each)]
    rights = [each for each in given if _matches(form.right, each)]
    if (form.left.role, form.left.hop) != (form.right.role, form.right.hop):
        return list(zip(lefts[:1], rights[:1], strict=False))
    by_exchange = {each.exchange: each for each in rights}
    return [(left, by_exchange[left.exchange]) for left in lefts if left.exchange in by_exchange]


def _judge(form: Compare, left: Contribution, right: Contribution) -> Violation | None:
    one, other = left.monitor.left.value(), right.monitor.right.value()
    if _holds(form, one, other):
        return None
    where, had, has = first_difference(one, other)
    message = (
        f"{_label(left)} and {_label(right)} are not {form.are} at {where}: {had} against {has}"
    )
    return Violation(left.last, {"exchange": left.exchange}, (has,), had, "", message)


def _holds(form: Compare, one: Any, other: Any) -> bool:
    if form.are == "greater":
        return bool(one > other)
    if form.are == "equal":
        return same(one, other)
    return other in one if isinstance(one, str) else first_missing(other, one) is MISSING


def _label(given: Contribution) -> str:
    words = [f"exchange {given.exchange}", given.role, given.hop]
    if given.view == "client":
        words.append("as the client saw it")
    return " ".join(word for word in words if word)
