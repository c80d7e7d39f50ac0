"""Edits of the elements of a list, as rows state them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import msgspec

from conformance.core.json_values import cut_at, put_at, value_at
from conformance.editing.filled import filled, path_of
from conformance.editing.operator import Edit, Sites
from conformance.editing.stream import Stream

Given = Mapping[str, Any]


def _set_value(element: Any, given: Sequence[Any]) -> Any:
    return put_at(element, path_of(given[0]), filled(given[1], element))


def _drop_value(element: Any, path: Any) -> Any:
    return cut_at(element, path_of(path))


def _write_text(element: Any, path: Any) -> Any:
    text = msgspec.json.encode(value_at(element, *path_of(path))).decode()
    return put_at(element, path_of(path), text)


_CHANGES: Final[Mapping[str, Callable[[Any, Any], Any]]] = {
    "set": _set_value,
    "drop": _drop_value,
    "write": _write_text,
}


def element_sites(given: Given) -> Sites:
    """Payloads with such an element."""
    path = path_of(given["in"])
    return lambda stream: [
        n
        for n, _ in stream.events()
        if any(_fits(each, given) for each in stream.list_at(n, *path))
    ]


def edit_elements(given: Given) -> Edit:
    """Every such element of a payload is another one, or gone; the changes are made in turn."""
    path = path_of(given["in"])
    changes = [(_CHANGES[verb], value) for verb, value in given.items() if verb in _CHANGES]

    def changed(element: Any) -> Any:
        for change, value in changes:
            element = change(element, value)
        return element

    def edited(stream: Stream, site: int) -> Stream:
        every = [(each, _fits(each, given)) for each in stream.list_at(site, *path)]
        if given.get("leave_out"):
            return stream.with_value(site, path, [each for each, fits in every if not fits])
        new = [changed(each) if fits else each for each, fits in every]
        return stream.with_value(site, path, new)

    return edited


def _fits(element: Any, given: Given) -> bool:
    having = given.get("having", ())
    if isinstance(having, dict):
        return all(value_at(element, *path_of(key)) == each for key, each in having.items())
    paths = [having] if isinstance(having, str) else having
    return all(value_at(element, *path_of(each)) for each in paths)
