"""Which deltas are only text: all others are read one by one, not in a run.

An empty text may mean nothing to a rule, or to the reader of a delta. Where visible text may hold
thinking markers, the first character of a marker may be more than text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any, Final

from conformance.core.events import Event
from conformance.dialects.base import DeltaColumns
from conformance.judging.fast.template import Taken, Template
from conformance.rules.paths import getter

TEXTS: Final[Mapping[str, str]] = {
    "thinking.delta": "text",
    "text.delta": "text",
    "refusal.delta": "text",
    "tool.delta": "arguments",
}


def is_unchanged_text(text: str, columns: DeltaColumns, event: Event) -> bool:
    """Whether the reader held nothing back, before this text or of it.

    Of white space before the first word, what follows may be something else.
    """
    if event.data.get("blank"):
        return False
    if not columns.alone:
        return True
    return event.data.get(TEXTS[event.type]) == text and not set(columns.alone) & set(text)


def set_text(payload: Any, columns: DeltaColumns, text: str) -> None:
    """Gives a payload another text, and the same in every field that repeats it."""
    for path in (columns.text, *columns.mirrors):
        above, _, name = path.rpartition(".")
        owner = getter(above)(payload) if above else payload
        owner[name] = text


def plain_part(taken: Taken, alike: Template, columns: DeltaColumns) -> Taken | None:
    """The frames before the first one that is to be read alone; None where it is the first."""
    count = plain_count(taken.values, alike, columns)
    if count == len(taken.rows):
        return taken
    if not count:
        return None
    rows = taken.rows[:count]
    size = sum(map(len, rows)) + alike.around * count
    return Taken(size, tuple(values[:count] for values in taken.values), rows)


def plain_count(values: Sequence[Sequence[Any]], alike: Template, columns: DeltaColumns) -> int:
    """How many frames come before the first one that is to be read alone."""
    count = len(values[0])
    for column in values:
        if "" in column:
            count = min(count, column.index(""))
    if columns.alone or columns.mirrors:
        texts = values[alike.columns.index(columns.text)][:count]
        for path in columns.mirrors:
            count = _before_difference(texts[:count], values[alike.columns.index(path)])
        if columns.alone:
            count = _before_any(columns.alone, texts[:count])
    return count


def _before_difference(texts: Sequence[str], others: Sequence[str]) -> int:
    """How many texts there are before the first one that another field states otherwise."""
    pairs = zip(texts, others, strict=False)
    return next((at for at, (one, other) in enumerate(pairs) if one != other), len(texts))


def _before_any(characters: str, texts: Sequence[str]) -> int:
    """How many texts there are before the first one with any of the characters."""
    whole = "".join(texts)
    found = [at for at in map(whole.find, characters) if at >= 0]
    if not found:
        return len(texts)
    return next(n for n, end in enumerate(accumulate(map(len, texts))) if end > min(found))
