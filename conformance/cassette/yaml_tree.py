"""Plain YAML from outside: mappings, sequences and scalars, each scalar with its line.

Built from parser events, so no tag can construct anything: `!!binary` gives bytes, every other
scalar text, or what the JSON spelling of a plain one means. Aliases are refused, nesting is
bounded: what comes out is never larger than the file.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import yaml

from conformance.core.errors import CassetteError, Place

_MAX_DEPTH: Final = 200
_BINARY: Final = "tag:yaml.org,2002:binary"
_NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]{0,17})(\.[0-9]{1,17})?([eE][+-]?[0-9]{1,3})?")
_WORDS: Final = {"": None, "~": None, "null": None, "true": True, "false": False}
# The parser in C is about ten times as fast; wheels of PyYAML have it.
_LOADER: Final = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class Scalar(NamedTuple):
    """A leaf and the 1-based line on which it begins."""

    value: Any
    line: int


def load_tree(file: str, data: bytes) -> Any:
    """The first document: dicts, lists and Scalars. Raises CassetteError with line and column."""
    try:
        return _Builder(file).build(yaml.parse(data, Loader=_LOADER))
    except yaml.MarkedYAMLError as err:
        message = (err.problem or "broken YAML").removesuffix(".")
        raise CassetteError(
            f"broken YAML: {message}", place=_place(file, err.problem_mark)
        ) from err
    except (yaml.YAMLError, UnicodeDecodeError) as err:
        raise CassetteError(f"broken YAML: {_one_line(err)}", place=Place(file)) from err


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


class _Builder:
    """Turns the events of one document into a tree."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._depth = 0

    def build(self, events: Iterator[yaml.Event]) -> Any:
        for event in events:
            if isinstance(event, yaml.DocumentStartEvent):
                return self._node(next(events), events)
        return None

    def _node(self, event: yaml.Event, events: Iterator[yaml.Event]) -> Any:
        if isinstance(event, yaml.ScalarEvent):
            return Scalar(self._scalar(event), self._place(event).line or 1)
        if isinstance(event, yaml.AliasEvent):
            raise self._refused(event, f"aliases are not allowed, got *{event.anchor}")
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise self._refused(event, f"nested more than {_MAX_DEPTH} deep")
        mapping = isinstance(event, yaml.MappingStartEvent)
        node = self._mapping(events) if mapping else self._sequence(events)
        self._depth -= 1
        return node

    def _sequence(self, events: Iterator[yaml.Event]) -> list[Any]:
        items = []
        for event in events:
            if isinstance(event, yaml.SequenceEndEvent):
                break
            items.append(self._node(event, events))
        return items

    def _mapping(self, events: Iterator[yaml.Event]) -> dict[str, Any]:
        items = {}
        for event in events:
            if isinstance(event, yaml.MappingEndEvent):
                break
            if not isinstance(event, yaml.ScalarEvent):
                raise self._refused(event, "expected a scalar key")
            items[event.value] = self._node(next(events), events)
        return items

    def _scalar(self, event: yaml.ScalarEvent) -> Any:
        text: str = event.value
        if event.tag == _BINARY:
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

    def _refused(self, event: yaml.Event, message: str) -> CassetteError:
        return CassetteError(message, place=self._place(event))

    def _place(self, event: yaml.Event) -> Place:
        return _place(self._file, event.start_mark)


def _place(file: str, mark: Any) -> Place:
    return Place(file) if mark is None else Place(file, mark.line + 1, mark.column + 1)


def _one_line(err: Exception) -> str:
    return " ".join(str(err).split())
