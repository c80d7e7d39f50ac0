"""What a request holds besides its history: instructions and tools, as a text to compare."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from conformance.dialects.json_edge import elements, mapping, string
from conformance.dialects.requests import RequestForm

_MARK: Final = "cache_control"
# Claude Code puts a line of its own in front of the instructions, anew for each request.
_LABEL: Final = "x-anthropic-billing-header"
_ROLES: Final = ("system", "developer")


def given_instructions(body: Any, form: RequestForm) -> str:
    """The instructions as JSON without marks of caches; a bare text as it is."""
    given = mapping(body).get(form.instructions)
    if isinstance(given, list):
        labels = (string(mapping(each).get("text")).startswith(_LABEL) for each in given)
        given = [each for each, is_label in zip(given, labels, strict=True) if not is_label]
    return _canonical(given)


def given_to(body: Any, form: RequestForm) -> str:
    """The model that is to answer, and its instructions: two of these are two agents."""
    return f"{mapping(body).get('model')}\n{given_instructions(body, form)}"


def instruction_texts(body: Any, form: RequestForm) -> Iterator[str]:
    """The texts of the instructions, in addition to the history or as entries of it."""
    fields = mapping(body)
    given = fields.get(form.instructions) if form.instructions else None
    yield from _spoken(mapping(given).get("parts") if isinstance(given, dict) else given)
    for entry in elements(fields.get(form.history)):
        if mapping(entry).get("role") in _ROLES:
            yield from _spoken(mapping(entry).get("content"))


def _spoken(content: Any) -> Iterator[str]:
    """The texts of a content: one, or those of its parts."""
    if isinstance(content, str):
        yield content
    for part in elements(content):
        text = string(mapping(part).get("text"))
        if text and not text.startswith(_LABEL):
            yield text


def given_tools(body: Any) -> str:
    """The tools as JSON without marks of caches."""
    return _canonical(mapping(body).get("tools"))


def content_types(entry: Any) -> list[str]:
    parts = elements(mapping(entry).get("content"))
    return [string(mapping(part).get("type")) for part in parts]


def _canonical(value: Any) -> str:
    if isinstance(value, str):
        return value
    try:
        return msgspec.json.encode(_unmarked(value), order="sorted").decode()
    except (TypeError, ValueError, RecursionError):
        return ""


def _unmarked(value: Any) -> Any:
    """Marks are on the elements of a list: blocks and tools. Nothing is like an empty list."""
    if not isinstance(value, list):
        return [] if value is None else value
    return [
        {key: inner for key, inner in each.items() if key != _MARK}
        if isinstance(each, dict)
        else each
        for each in value
    ]
