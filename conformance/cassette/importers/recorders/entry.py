"""One entry of a recorder's file: the values at its paths, and their lines."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import msgspec

from conformance.cassette.importers.yaml_tree import Scalar, plain
from conformance.cassette.payloads import TextPart, array_elements, part
from conformance.core.json_values import value_at

EACH = "[]"


class Entry(NamedTuple):
    """A value of JSON or YAML (whose scalars know their lines), and where it begins.

    `raw` is how JSON spells it, empty for other forms; `is_text` says that the body is in the
    file as it is, from that line on. `fault` says why it cannot be read, if it cannot.
    """

    value: Any
    line: int = 1
    raw: bytes = b""
    is_text: bool = False
    fault: str = ""

    def at(self, path: str) -> Any:
        """The value at a path, or at the first of several, without lines; None if missing."""
        for each in split_paths(path):
            if (found := self._plain_at(each)) is not None:
                return found
        return None

    def line_at(self, path: str) -> int:
        """The line on which the value at a path (one alone) begins; else that of the entry."""
        if self.raw:
            try:
                return self.line + part(self.raw, *keys_of(path)).line - 1
            except (LookupError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                return self.line
        return first_line(self._node(path)) or self.line

    def each_at(self, path: str) -> list[Any] | None:
        """The values at `list[].inner`; None if there is no list, or an element lacks a value."""
        outer, _, inner = path.partition(EACH)
        found = self.at(outer)
        if not isinstance(found, list):
            return None
        keys = keys_of(inner.removeprefix("."))
        values = [value_at(each, *keys) for each in found]
        return None if any(value is None for value in values) else values

    def parts_at(self, path: str) -> list[TextPart] | None:
        """The elements of a list as JSON spells them, with lines of the file."""
        outer = path.partition(EACH)[0]
        if not self.raw:
            return None
        try:
            found = list(array_elements(self.raw, *keys_of(outer)))
        except (LookupError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return None
        return [TextPart(self.line + each.line - 1, each.raw) for each in found]

    def _plain_at(self, path: str) -> Any:
        node = self._node(path)
        return node if self.raw else plain(node)

    def _node(self, path: str) -> Any:
        return value_at(self.value, *keys_of(path))


@cache  # paths are those of rows, looked up in every entry
def split_paths(paths: str) -> tuple[str, ...]:
    return tuple(each.strip() for each in paths.split("|"))


@cache
def keys_of(path: str) -> tuple[str | int, ...]:
    """The keys and indices of one path; an empty path, the value itself, has none."""
    return tuple(int(key) if key.isdigit() else key for key in path.split(".")) if path else ()


def first_line(tree: Any) -> int | None:
    """The line of the first scalar inside; trees are no deeper than the loader allows."""
    if isinstance(tree, Scalar):
        return tree.line
    children = tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list) else ()
    return next((line for child in children if (line := first_line(child))), None)
