"""Excerpts of foreign texts for display: redact the whole text first, then cut.

A key without its beginning has no recognisable shape, so cutting first would leak the rest of it.
`cassette/redaction/leaving.py` finds secrets; it is loaded when the first text is cut.

Rule 1: of a very long text, redaction reads the part shown and, on both sides, the length of the
longest key.
Rule 2: a run of letters and digits that continues past the part read is blanked: it could be the
rest of a key.
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterable, Sequence
from contextvars import ContextVar
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Final, Protocol, cast

if TYPE_CHECKING:  # `conformance --help` passes here and needs no events
    from conformance.core.events import Request

MARGIN: Final = 8192
"""Characters on either side of what is shown in which a key may begin or end."""

_SENT: Final[ContextVar[Request | None]] = ContextVar("sent_request", default=None)
_OF_KEYS: Final = string.ascii_letters + string.digits + "+/=_.%~-"
_LETTERS: Final = re.compile(r"[A-Za-z0-9]")


def sent_request() -> Request | None:
    """What our side sent in the current exchange: credentials that it holds are secrets."""
    return _SENT.get()


def now_about(request: Request | None) -> None:
    """From now on, in this task or thread, texts belong to the exchange of this request."""
    _SENT.set(request)


class _Redacts(Protocol):
    def __call__(self, text: str, *, is_open: bool = False) -> str: ...


class _FindsSplitKeys(Protocol):
    def without_split_keys(
        self, shown: Sequence[str], earlier: Iterable[str], *, begins: bool
    ) -> tuple[list[str], tuple[str, ...]]: ...
    def without_pieces(self, text: str, pieces: Sequence[str]) -> str: ...


@cache
def _split_keys() -> _FindsSplitKeys:
    module = import_module("conformance.cassette.redaction.split_keys")
    return cast("_FindsSplitKeys", module)


@cache
def _redacted_by() -> _Redacts:
    # The one import that leads upwards: code that cuts texts is below the code that finds secrets.
    module = import_module("conformance.cassette.redaction.leaving")
    return cast("_Redacts", module.redacted)


def redacted(text: str) -> str:
    """The text without secrets, as long as before."""
    return _redacted_by()(text)


def without_split_keys(
    shown: Sequence[str], earlier: Iterable[str], *, begins: bool
) -> tuple[list[str], tuple[str, ...]]:
    """Frames without the keys that several of them hold in pieces, and those pieces.

    `earlier` are the frames before them, latest first. `begins`: the stream starts with `earlier`.
    """
    return _split_keys().without_split_keys(shown, earlier, begins=begins)


def without_pieces(text: str, pieces: Sequence[str]) -> str:
    return _split_keys().without_pieces(text, pieces) if pieces else text


def excerpt(text: str, start: int, stop: int) -> str:
    """What stands from `start` to `stop` of the whole text, without secrets."""
    start, stop = max(0, start), min(len(text), stop)
    first, last = max(0, start - MARGIN), min(len(text), stop + MARGIN)
    return _shown_part(text, first, last)[start - first : stop - first]


def open_excerpt(text: str, start: int, stop: int) -> str:
    """As `excerpt`, of a text that may begin and end in the middle of a key."""
    start, stop = max(0, start), min(len(text), stop)
    near = _redacted_by()(text, is_open=True)
    if start >= MARGIN // 2:
        near = without_front(near)
    return near[start:stop]


def _shown_part(text: str, first: int, last: int) -> str:
    near = redacted(text[first:last])
    near = without_front(near) if first else near
    return _without_rest(near) if last < len(text) else near


def without_front(text: str) -> str:
    """A text whose beginning may be the rest of a key."""
    rest = text.lstrip(_OF_KEYS)
    return _LETTERS.sub("x", text[: len(text) - len(rest)]) + rest


def _without_rest(text: str) -> str:
    before = text.rstrip(_OF_KEYS)
    return before + _LETTERS.sub("x", text[len(before) :])


def clipped(text: str, size: int) -> str:
    """A text that is not longer as it is, else its first characters, without secrets."""
    return text if len(text) <= size else excerpt(text, 0, size)


def beginning(text: str, size: int, more: str = "…") -> str:
    """A text's first characters, then `more` if characters were cut off."""
    return redacted(text) if len(text) <= size else f"{excerpt(text, 0, size)}{more}"


def ending(text: str, size: int, more: str = "…") -> str:
    """A text's last characters, after `more` if characters were cut off."""
    whole = len(text)
    return redacted(text) if whole <= size else f"{more}{excerpt(text, whole - size, whole)}"


def both_ends(text: str, head: int, tail: int) -> str:
    """A text's first and last characters, with `…` for the part between them."""
    if len(text) <= head + 1 + tail:
        return redacted(text)
    if len(text) <= MARGIN:  # all of it is looked at for either end
        clean = redacted(text)
        return f"{clean[:head]}…{clean[len(clean) - tail :]}"
    return f"{excerpt(text, 0, head)}…{excerpt(text, len(text) - tail, len(text))}"


def outer_parts(text: str, head: int, tail: int) -> str:
    """As much of a text as `both_ends` looks at, which gives the same for it."""
    first, last = head + MARGIN, tail + MARGIN
    return text if len(text) <= first + last else text[:first] + text[len(text) - last :]
