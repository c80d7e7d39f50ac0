"""Keys of an answer that no API documents, joined over its deltas, so that they can go back.

A client that keeps the message as it came sends them back with it: signatures of LiteLLM's
`thinking_blocks`, OpenRouter's `reasoning_details`, Google's `extra_content`.

Rule 1: texts are joined; words (`type`, `id` and the like) and numbers are not.
Rule 2: an element of a list continues where the next one has the same words, unless it was signed
        and nothing numbers them.
Rule 3: what is null or empty says nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final

_WORDS: Final = frozenset({"type", "id", "index", "format", "role", "name", "model", "object"})
_SEALS: Final = ("signature", "data")


def unknown_keys(deltas: Iterable[Mapping[str, Any]], known: Collection[str]) -> dict[str, Any]:
    """What the deltas say in addition to the known keys, joined."""
    made: dict[str, Any] = {}
    for delta in deltas:
        others = {key: value for key, value in delta.items() if key not in known}
        made = _join_objects(made, others)
    return made


def _join_objects(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    joined = dict(before)
    for key, value in after.items():
        if value is not None and value not in ("", [], {}):
            joined[key] = _join_values(key, before.get(key), value)
    return joined


def _join_values(key: str, before: Any, after: Any) -> Any:
    if isinstance(before, str) and isinstance(after, str) and key not in _WORDS:
        return before + after
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        return _join_objects(before, after)
    if isinstance(before, list) and isinstance(after, list):
        return _join_lists(before, after)
    return after


def _join_lists(before: list[Any], after: list[Any]) -> list[Any]:
    joined = list(before)
    for number, each in enumerate(after):
        if joined and (number == 0 or _is_numbered(each)) and _goes_on(joined[-1], each):
            joined[-1] = _join_objects(joined[-1], each)
        else:
            joined.append(each)
    return joined


def _is_numbered(element: Any) -> bool:
    return isinstance(element, Mapping) and "index" in element


def _goes_on(before: Any, after: Any) -> bool:
    """Rule 2."""
    if not (isinstance(before, Mapping) and isinstance(after, Mapping)):
        return False
    words = [word for word in _WORDS & after.keys() if after[word] is not None]
    if any(before.get(word) != after[word] for word in words):
        return False
    return _is_numbered(after) or not any(before.get(seal) for seal in _SEALS)
