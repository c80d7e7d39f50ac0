"""What a request repeats of earlier answers: texts and calls of the model, results of tools.

Rule 1: texts of all turns are one: some APIs join entries, some split them. White space does not
        count; each run of it is shown as one space.
Rule 2: a call is its name with its arguments as JSON; ids may be anybody's own.
Rule 3: a result is every text in its entry that is no name and no id: a string here is a list of
        parts, or an object, there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from msgspec import Struct

from conformance.dialects.turns import HistoryEntry, HistoryForm

_LABELS: Final = frozenset({"type", "role", "name", "tool_name", "id", "status", "toolUseId"})


class RepeatedAnswers(Struct, frozen=True):
    """The model's text, its calls by name and arguments, and what tools gave.

    `texts` are those of its entries, without white space.
    """

    text: str = ""
    texts: tuple[str, ...] = ()
    calls: tuple[tuple[str, str], ...] = ()
    results: str = ""


def is_within(wanted: str, text: str) -> bool:
    """Whether a text holds another one, white space aside."""
    return "".join(wanted.split()) in "".join(text.split())


def repeated_answers(body: Any, form: HistoryForm) -> RepeatedAnswers:
    read = [(entry, form.read(entry)) for entry in form.entries(body)]
    spoken = [one for _, one in read if one.by == "model"]
    calls = ((call.name, call.arguments) for one in spoken for call in one.calls)
    results = (_result_text(entry, one) for entry, one in read if one.results)
    return RepeatedAnswers(
        _spaced(one.text for one in spoken),
        tuple("".join(one.text.split()) for one in spoken),
        tuple(calls),
        _spaced(results),
    )


def _result_text(entry: Any, one: HistoryEntry) -> str:
    ids = set(one.results)
    return " ".join(text for text in _texts(entry) if text not in ids)


def _texts(value: Any) -> Iterator[str]:
    """The texts within a value, in order, but for labels and ids."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, each in value.items():
            if key not in _LABELS and not str(key).endswith("_id"):
                yield from _texts(each)
    elif isinstance(value, list):
        for each in value:
            yield from _texts(each)


def _spaced(texts: Iterable[str]) -> str:
    return " ".join(" ".join(texts).split())
