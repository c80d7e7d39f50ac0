"""Plain YAML from outside: mappings, sequences and scalars, each scalar with its line.

Built from parser events, so no tag can construct anything: `!!binary` gives bytes, every other
scalar text, or what the JSON spelling of a plain one means; a key that a tag would construct of one
text is that text (vcrpy over aiohttp writes names of headers so). Nesting is bounded. An alias may
stand for a small value that is complete and holds no alias itself: what comes out is at most
`_LARGEST_ALIASED` times the file.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from conformance.core.errors import CassetteError, Place

if TYPE_CHECKING:
    import yaml

_MAX_DEPTH: Final = 200
_LARGEST_ALIASED: Final = 16  # scalars
_BINARY: Final = ("tag:yaml.org,2002:binary", "!binary")  # the latter as Ruby writes it
_NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]{0,17})(\.[0-9]{1,17})?([eE][+-]?[0-9]{1,3})?")
_WORDS: Final = {"": None, "~": None, "null": None, "true": True, "false": False}


class Scalar(NamedTuple):
    """A leaf and the 1-based line on which it begins."""

    value: Any
    line: int


def load_tree(file: str, data: bytes) -> Any:
    """The first document: dicts, lists and Scalars. Raises CassetteError with line and column."""
    return next(load_trees(file, data), None)


def load_trees(file: str, data: bytes) -> Iterator[Any]:
    """Every document, as `load_tree` has the first."""
    import yaml  # noqa: PLC0415  # 10 ms that a recording in JSON must not pay

    # The parser in C is about ten times as fast; wheels of PyYAML have it.
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        yield from _TreeBuilder(file, yaml.parse(data, Loader=loader)).documents()
    except yaml.MarkedYAMLError as err:
        message = (err.problem or "broken YAML").removesuffix(".")
        raise CassetteError(
            f"broken YAML: {message}", place=_mark_place(file, err.problem_mark)
        ) from err
    except (yaml.YAMLError, UnicodeDecodeError) as err:
        message = " ".join(str(err).split())
        raise CassetteError(f"broken YAML: {message}", place=Place(file)) from err


def tree_of(value: Any) -> Any:
    """A tree of a JSON value, all of it on line 1."""
    if isinstance(value, dict):
        return {key: tree_of(one) for key, one in value.items()}
    return [tree_of(one) for one in value] if isinstance(value, list) else Scalar(value, 1)


def plain(tree: Any) -> Any:
    """The tree without lines."""
    if isinstance(tree, Scalar):
        return tree.value
    if isinstance(tree, dict):
        return {key: plain(value) for key, value in tree.items()}
    return [plain(value) for value in tree] if isinstance(tree, list) else tree


class _TreeBuilder:
    """Turns the events of one document into a tree."""

    def __init__(self, file: str, events: Iterator[yaml.Event]) -> None:
        self._file = file
        self._events = events
        self._depth = 0
        self._scalars = 0
        self._aliases = 0
        self._anchored: dict[str, Any] = {}  # small values; None for what may not be repeated

    def documents(self) -> Iterator[Any]:
        for event in self._events:
            if type(event).__name__ == "DocumentStartEvent":
                self._anchored.clear()
                yield self._node(next(self._events))

    def _node(self, event: Any) -> Any:
        kind = type(event).__name__
        if kind == "AliasEvent":
            return self._aliased(event)
        scalars, aliases, anchor = self._scalars, self._aliases, event.anchor
        if kind == "ScalarEvent":
            self._scalars += 1
            node: Any = Scalar(self._scalar_value(event), event.start_mark.line + 1)
        else:
            node = self._collection(event, kind)
        if anchor is not None:
            is_small = self._scalars - scalars <= _LARGEST_ALIASED and aliases == self._aliases
            self._anchored[anchor] = node if is_small else None
        return node

    def _collection(self, event: Any, kind: str) -> Any:
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise self._refused(event, f"nested more than {_MAX_DEPTH} deep")
        node = dict(self._entries()) if kind == "MappingStartEvent" else list(self._items())
        self._depth -= 1
        return node

    def _aliased(self, event: Any) -> Any:
        self._aliases += 1
        node = self._anchored.get(event.anchor)
        if node is None:
            raise self._refused(
                event, f"aliases of large values are not allowed, got *{event.anchor}"
            )
        return node

    def _items(self) -> Iterator[Any]:
        while type(event := next(self._events)).__name__ != "SequenceEndEvent":
            yield self._node(event)

    def _entries(self) -> Iterator[tuple[str, Any]]:
        key: Any
        while type(key := next(self._events)).__name__ != "MappingEndEvent":
            yield self._key(key), self._node(next(self._events))

    def _key(self, event: Any) -> str:
        """The text of a key, or the only one inside what a tag would make of it."""
        if type(event).__name__ == "ScalarEvent" and event.anchor is None:
            self._scalars += 1
            return str(event.value)
        node = self._node(event)
        while isinstance(node, list) and len(node) == 1:
            node = node[0]
        if not isinstance(node, Scalar):
            raise self._refused(event, "expected a scalar key")
        return node.value.decode("latin-1") if isinstance(node.value, bytes) else str(node.value)

    def _scalar_value(self, event: Any) -> Any:
        text: str = event.value
        if event.tag in _BINARY:
            try:
                return base64.b64decode("".join(text.split()), validate=True)
            except ValueError as err:
                raise self._refused(event, "!!binary is not base64") from err
        if event.style or not event.implicit[0]:
            return text
        if text in _WORDS:
            return _WORDS[text]
        match = _NUMBER.fullmatch(text)
        if match is None:
            return text
        return float(text) if match[1] or match[2] else int(text)

    def _refused(self, event: Any, message: str) -> CassetteError:
        return CassetteError(message, place=_mark_place(self._file, event.start_mark))


def _mark_place(file: str, mark: Any) -> Place:
    return Place(file) if mark is None else Place(file, mark.line + 1, mark.column + 1)
