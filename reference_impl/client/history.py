"""Entries of a history in the form of one API."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .turn import Turn

Entry = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class HistoryForm:
    """What is known of the entries of one API.

    `is_answer`: the model said it. `body` is the whole answer that such entries, one behind the
    other, would be. `given` are the turns of any other entry; None where it has no form of its own.
    """

    is_answer: Callable[[Entry], bool]
    body: Callable[[Sequence[Entry]], dict[str, Any]]
    given: Callable[[Entry], Iterable[Turn] | None]
