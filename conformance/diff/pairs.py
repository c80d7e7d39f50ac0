"""Which recording is compared with which: by name in folders, by scenario and role in files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, Literal

from msgspec import Struct

from conformance.cassette import Recording, discover, open_recording
from conformance.core.errors import ConformanceError, Place, SpecError, UsageError
from conformance.core.events import Exchange
from conformance.diff.changes import WireChange, shape_changes
from conformance.diff.shape import shape_of
from conformance.judging.result import StreamResult
from conformance.judging.rulebook import Rulebook
from conformance.recordings.check import check_recording
from conformance.recordings.choices import CheckChoices

_MOST_KEYS: Final = 6  # keys of two requests that are named where they differ


class ExchangeComparison(Struct, frozen=True):
    """One pair of exchanges, or what only one side has. `notes` are sentences for the reader."""

    name: str
    changes: tuple[WireChange, ...] = ()
    notes: tuple[str, ...] = ()


class RecordingDifference(Struct, frozen=True):
    """Everything that was compared. `errors` are files that could not be, one line each."""

    compared: tuple[ExchangeComparison, ...] = ()
    errors: tuple[str, ...] = ()

    @property
    def changed(self) -> tuple[ExchangeComparison, ...]:
        return tuple(each for each in self.compared if each.changes)


def compare(
    old: Path | str,
    new: Path | str,
    *,
    choices: CheckChoices | None = None,
    rulebook: Rulebook | None = None,
    with_text: bool = False,
) -> RecordingDifference:
    """Compares two recordings, or all that two folders hold under the same names.

    Raises UsageError for a missing path, and for a file compared with a folder.
    """
    comparing = _Comparison(choices or CheckChoices(), rulebook or Rulebook.load(), with_text)
    before, now = Path(old), Path(new)
    for path in (before, now):
        if not path.exists():
            raise UsageError("no such file or folder", place=Place(str(path)))
    if before.is_dir() != now.is_dir():
        raise UsageError(f"expected two files or two folders, got {before} and {now}")
    compared: list[ExchangeComparison] = []
    errors: list[str] = []
    for name, one, other in _pair_files(before, now) if before.is_dir() else (("", before, now),):
        try:
            compared.extend(comparing.compare_files(name, one, other))
        except SpecError:
            raise
        except ConformanceError as error:
            errors.append(str(error) if error.place else f"{other or one}: {error}")
    return RecordingDifference(tuple(compared), tuple(errors))


def _pair_files(old: Path, new: Path) -> Iterator[tuple[str, Path | None, Path | None]]:
    before, now = (
        {p.relative_to(root).as_posix(): p for p in discover(root)} for root in (old, new)
    )
    for name in sorted(before.keys() | now.keys()):
        yield name, before.get(name), now.get(name)


class _JudgedExchange(Struct, frozen=True):
    recording: Recording
    exchange: Exchange
    result: StreamResult


class _Comparison(Struct, frozen=True):
    choices: CheckChoices
    rulebook: Rulebook
    with_text: bool

    def compare_files(
        self, name: str, old: Path | None, new: Path | None
    ) -> Iterator[ExchangeComparison]:
        if old is None or new is None:
            yield _on_one_side("recording", name, is_new=old is None)
            return
        before, now = self._judged_exchanges(old), self._judged_exchanges(new)
        for key in dict.fromkeys((*before, *now)):
            label = f"{name}, {key}" if name else key
            yield self._compare_pair(label, before.get(key), now.get(key))

    def _compare_pair(
        self, label: str, old: _JudgedExchange | None, new: _JudgedExchange | None
    ) -> ExchangeComparison:
        if old is None or new is None:
            return _on_one_side("exchange", label, is_new=old is None)
        is_framed = old.recording.header.fidelity == new.recording.header.fidelity
        before, now = (
            shape_of(each.recording, each.exchange, each.result, is_framed=is_framed)
            for each in (old, new)
        )
        notes = list(_request_notes(old.exchange, new.exchange))
        if not is_framed:
            notes.append("the framing of one recording was rebuilt, and is not compared")
        if before.is_clipped or now.is_clipped:
            notes.append("a stream has more steps or fields than are compared; the rest was not")
        return ExchangeComparison(
            label, shape_changes(before, now, with_text=self.with_text), tuple(notes)
        )

    def _judged_exchanges(self, path: Path) -> Mapping[str, _JudgedExchange]:
        """By scenario, role and hop where those are unique, else by number."""
        recording = open_recording(path, dialect=self.choices.dialect)
        results = check_recording(recording, self.rulebook, self.choices)
        wire = {each.exchange: each for each in results if each.view == "wire"}
        # They say more than a number: another exchange may have come between.
        steps = {
            each.number: "/".join(filter(None, (each.scenario, each.role, each.hop)))
            for each in recording.exchanges
        }
        named = Counter(steps.values())
        return {
            step if step and named[step] == 1 else f"exchange {each.number}": _JudgedExchange(
                recording, each, wire[each.number]
            )
            for each in recording.exchanges
            for step in [steps[each.number]]
        }


def _on_one_side(
    kind: Literal["recording", "exchange"], name: str, *, is_new: bool
) -> ExchangeComparison:
    side = ("", "only here") if is_new else ("only here", "")
    return ExchangeComparison(name, (WireChange(kind, name, *side),))


def _request_notes(old: Exchange, new: Exchange) -> Iterator[str]:
    """Two requests that differ make other answers: the reader must know."""
    if old.request is None or new.request is None:
        return
    if old.request.path != new.request.path:
        yield f"the requests went to {old.request.path} and {new.request.path}"
    keys = sorted(_differing_keys(old.request.json, new.request.json))
    if keys:
        more = f" and {len(keys) - _MOST_KEYS} more" if keys[_MOST_KEYS:] else ""
        yield f"the requests differ in {', '.join(keys[:_MOST_KEYS])}{more}"


def _differing_keys(old: Any, new: Any) -> set[str]:
    if not isinstance(old, Mapping) or not isinstance(new, Mapping):
        return set() if old == new else {"their bodies"}
    return {str(key) for key in old.keys() | new.keys() if old.get(key) != new.get(key)}
