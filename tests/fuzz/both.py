"""One exchange judged both ways: rule by rule, which defines every outcome, and as checks do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from msgspec.structs import fields

from conformance.core.clock import chunk_times
from conformance.core.errors import ConformanceError
from conformance.core.events import Chunk, Ending, Exchange
from conformance.dialects import get
from conformance.judging.fast.running import RunningView, check_wire
from conformance.judging.result import StreamResult
from conformance.judging.rulebook import Rulebook
from conformance.judging.view import JudgedView, JudgeSetting
from conformance.judging.wire import WireView
from conformance.recordings.choices import CheckChoices, choose_profile
from tests.oracle import OracleJudge


@dataclass(frozen=True, slots=True)
class Outcome:
    """Everything that a check says of one exchange, and what it hands on to comparisons."""

    result: StreamResult | str  # or the error it ended with
    gathered: tuple[tuple[Any, ...], ...] = ()


def setting_for(dialect: str, profile: str, rulebook: Rulebook) -> JudgeSetting:
    spoken = get(dialect)
    chosen, named = choose_profile(spoken, CheckChoices(profile=profile), None)
    return JudgeSetting(spoken, chosen, rulebook.bound(chosen), named=named)


def _exchange(chunks: Sequence[Chunk], end: Ending) -> Exchange:
    return Exchange(chunks=tuple(chunks), end=end, role="plain")


def _outcome_of(attempt: Callable[[], JudgedView]) -> Outcome:
    """What one way says; an error for the user is an outcome, too."""
    try:
        found = attempt()
    except ConformanceError as err:
        return Outcome(f"{type(err).__name__}: {err}")
    gathered = tuple(
        (rule, side.value(), side.size, given.sides.error, given.last)
        for rule, given in found.contributions
        for side in (given.sides.left, given.sides.right)
    )
    return Outcome(found.result, gathered)


def _fed(view: WireView, chunks: Sequence[Chunk], end: Ending) -> JudgedView:
    for data, ms in chunk_times(chunks):
        view.feed(data, ms)
    return view.finish(end)


class OracleView(WireView):
    """Frame by frame and rule by rule."""

    judge_type = OracleJudge


def slow(setting: JudgeSetting, chunks: Sequence[Chunk], end: Ending = "eof") -> Outcome:
    """Frame by frame and rule by rule: this defines the outcome."""
    return _outcome_of(lambda: _fed(OracleView(setting, _exchange(chunks, end)), chunks, end))


def fast(setting: JudgeSetting, chunks: Sequence[Chunk], end: Ending = "eof") -> Outcome:
    """In runs, chunk by chunk as they are given."""
    return _outcome_of(lambda: _fed(RunningView(setting, _exchange(chunks, end)), chunks, end))


def hasty(setting: JudgeSetting, chunks: Sequence[Chunk], end: Ending = "eof") -> Outcome:
    """In runs, with nothing left waiting after every third chunk."""
    view = RunningView(setting, _exchange(chunks, end))

    def judged() -> JudgedView:
        for at, (data, ms) in enumerate(chunk_times(chunks)):
            view.feed(data, ms)
            if at % 3 == 2:
                view.catch_up()
        return view.finish(end)

    return _outcome_of(judged)


def usual(setting: JudgeSetting, chunks: Sequence[Chunk], end: Ending = "eof") -> Outcome:
    """The way that every check goes, which may join chunks first."""
    return _outcome_of(lambda: check_wire(setting, _exchange(chunks, end), chunks, end))


def difference(slow: Outcome, fast: Outcome) -> str:
    """Where two outcomes part, in one line; empty where they are equal."""
    if slow == fast:
        return ""
    if not isinstance(slow.result, StreamResult) or not isinstance(fast.result, StreamResult):
        return f"slow {slow.result!r:.300} fast {fast.result!r:.300}"
    for field in fields(StreamResult):
        one, other = getattr(slow.result, field.name), getattr(fast.result, field.name)
        if one != other:
            return f"{field.name}: {_parted(one, other)}"
    return f"gathered: slow {slow.gathered!r:.300} fast {fast.gathered!r:.300}"


def _parted(one: Any, other: Any) -> str:
    if isinstance(one, tuple):
        lost = [each for each in one if each not in other][:1]
        new = [each for each in other if each not in one][:1]
        return f"only slow {lost!r:.900} only fast {new!r:.900}"
    if isinstance(one, dict):
        keys = [key for key in {**one, **other} if one.get(key) != other.get(key)][:3]
        return "; ".join(f"{key}: slow {one.get(key)} fast {other.get(key)}" for key in keys)
    return f"slow {one!r:.300} fast {other!r:.300}"
