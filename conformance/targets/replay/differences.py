"""Where two JSON values differ first, told for people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

import msgspec

ABSENT: Final = "(absent)"
_SHOWN: Final = 60  # characters of a value
_BEFORE: Final = 15  # characters shown before the first that differs
_MOST_VISITS: Final = 50_000


@dataclass(frozen=True, slots=True)
class BodyDifference:
    """One place, `sent` by the client and as `recorded`, both clipped."""

    path: str
    sent: str
    recorded: str

    def __str__(self) -> str:
        if self.sent == ABSENT:
            return f"{self.path} was not sent, recorded {self.recorded}"
        if self.recorded == ABSENT:
            return f"{self.path} was not recorded, sent {self.sent}"
        return f"{self.path} is {self.sent}, recorded {self.recorded}"


def find_differences(sent: Any, recorded: Any, most: int) -> tuple[BodyDifference, ...]:
    """The first `most` places that differ, in the order of the recording."""
    return tuple(islice(_walk_values(sent, recorded), most))


_NOTHING: Final = object()


def _walk_values(sent: Any, recorded: Any) -> Iterator[BodyDifference]:
    waiting: list[tuple[str, Any, Any]] = [("", sent, recorded)]
    for _ in range(_MOST_VISITS):
        if not waiting:
            return
        path, one, other = waiting.pop()
        if isinstance(one, dict) and isinstance(other, dict):
            keys = [*other, *(key for key in one if key not in other)]
            pairs = [(k, one.get(k, _NOTHING), other.get(k, _NOTHING)) for k in keys]
        elif isinstance(one, list) and isinstance(other, list):
            indices = range(max(len(one), len(other)))
            pairs = [(str(i), _item_at(one, i), _item_at(other, i)) for i in indices]
        else:
            if not _same_value(one, other):
                yield _clipped_difference(path or "the body", one, other)
            continue
        prefix = f"{path}." if path else ""
        waiting += [(prefix + key, a, b) for key, a, b in reversed(pairs)]


def _item_at(values: Sequence[Any], index: int) -> Any:
    return values[index] if index < len(values) else _NOTHING


def _same_value(one: Any, other: Any) -> bool:
    # True equals 1 for Python, but not in JSON.
    return isinstance(one, bool) == isinstance(other, bool) and bool(one == other)


def _clipped_difference(path: str, one: Any, other: Any) -> BodyDifference:
    start = 0
    if isinstance(one, str) and isinstance(other, str):
        pairs = enumerate(zip(one, other, strict=False))
        first = next((i for i, (a, b) in pairs if a != b), min(len(one), len(other)))
        start = first - _BEFORE if first > _SHOWN - _BEFORE else 0
    return BodyDifference(path, _clipped_value(one, start), _clipped_value(other, start))


def _clipped_value(value: Any, start: int) -> str:
    if value is _NOTHING:
        return ABSENT
    if isinstance(value, str) and (start or len(value) > _SHOWN):
        lead = "…" if start else ""
        part = value[start : start + _SHOWN]
        rest = "…" if len(value) > start + _SHOWN else ""
        return f'"{lead}{part}{rest}"'
    text = msgspec.json.encode(value).decode()
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
