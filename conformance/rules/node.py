"""Values of a document, each with its place.

The readers (`string`, `mapping`, `one_of`, ...) raise a `SpecError` that starts with that place,
states the expected and the actual value, and names the nearest known word.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal

from conformance.core.errors import Place, SpecError
from conformance.core.excerpts import beginning

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

Kind = Literal["mapping", "sequence", "scalar"]

_MAX_SHOWN: Final = 60  # characters of a value inside a message
_MAX_LINE: Final = 400  # characters of a source line carried by an error
_JSON_NAMES: Final[Mapping[bool | None, str]] = {None: "null", True: "true", False: "false"}


def nearest(name: str, names: Collection[str]) -> str:
    """Suggest the closest of `names`: `did you mean 'x'?`, or an empty string."""
    if len(name) > _MAX_SHOWN:
        return ""
    close = difflib.get_close_matches(name, sorted(names), n=1)
    return f"did you mean {str(close[0])!r}?" if close else ""  # an enum is not a plain str


@dataclass(frozen=True, slots=True)
class Source:
    """A text by lines, for places and for the line that an error shows."""

    file: str
    lines: tuple[str, ...]

    def error(self, line: int, column: int, message: str, *, hint: str = "") -> SpecError:
        """Make an error at a 1-based line and column; its `text` is that line, clipped."""
        text = self.lines[line - 1] if 0 < line <= len(self.lines) else ""
        place = Place(self.file, line, column)
        return SpecError(message, place=place, text=text[:_MAX_LINE], hint=hint)


@dataclass(frozen=True, slots=True)
class Node:
    """One value of a document, at its 1-based line and column.

    `value` is a JSON scalar, a tuple of nodes, or a mapping from key to (key node, value node),
    by `kind`. `quoted` distinguishes `"5"` from `5`. Every reader raises a `SpecError` at the right
    place.
    """

    kind: Kind
    value: Any
    line: int
    column: int
    source: Source = field(repr=False, compare=False)
    quoted: bool = False

    @property
    def place(self) -> Place:
        return Place(self.source.file, self.line, self.column)

    def error(self, message: str, *, hint: str = "") -> SpecError:
        """Make an error at this node, for the caller to raise."""
        return self.source.error(self.line, self.column, message, hint=hint)

    def mapping(self, known: Collection[str] | None = None) -> dict[str, Node]:
        """Give the values by key, in file order; a key outside `known` (None: any) is an error."""
        entries = self._entries_by_key()
        for name, (key, _) in entries.items():
            if known is not None and name not in known:
                raise key.error(f"unknown key {shown(name)}", hint=_spelling_help(name, known))
        return {name: value for name, (_, value) in entries.items()}

    def key(self, name: str) -> Node:
        """Give the key itself as a node, for errors about the key."""
        entries = self._entries_by_key()
        if name not in entries:
            raise self.error(f"key {name!r} is missing")
        return entries[name][0]

    def required(self, key: str) -> Node:
        """Give the value under `key`; its absence is an error."""
        found = self.get(key)
        if found is None:
            raise self.error(f"key {key!r} is missing")
        return found

    def get(self, key: str) -> Node | None:
        """Give the value under `key`, or None. A written `null` is a node."""
        entry = self._entries_by_key().get(key)
        return entry[1] if entry else None

    def sequence(self) -> tuple[Node, ...]:
        if self.kind != "sequence":
            raise self._unexpected_value("a list")
        items: tuple[Node, ...] = self.value
        return items

    def string(self) -> str:
        """Give a string of at least one character."""
        if not isinstance(self.value, str):
            raise self._unexpected_value("a string", hint="put it in quotes")
        if not self.value:
            raise self.error("expected a string, got an empty one")
        return self.value

    def integer(self) -> int:
        if not isinstance(self.value, int) or isinstance(self.value, bool):
            raise self._unexpected_value("an integer")
        return self.value

    def number(self) -> int | float:
        if not isinstance(self.value, int | float) or isinstance(self.value, bool):
            raise self._unexpected_value("a number")
        return self.value

    def boolean(self) -> bool:
        if not isinstance(self.value, bool):
            raise self._unexpected_value("true or false")
        return self.value

    def one_of(self, choices: Collection[str]) -> str:
        """Give a string among `choices`; for another one the error names the nearest."""
        value = self.string()
        if value not in choices:
            expected = ", ".join(choices)
            hint = nearest(value, choices)
            raise self.error(f"expected one of {expected}, got {shown(value)}", hint=hint)
        return value

    def plain(self) -> Any:
        """Give the value as JSON would: dict, list, str, int, float, bool or None."""
        if self.kind == "mapping":
            return {name: value.plain() for name, (_, value) in self._entries_by_key().items()}
        if self.kind == "sequence":
            return [item.plain() for item in self.sequence()]
        return self.value

    def _entries_by_key(self) -> Mapping[str, tuple[Node, Node]]:
        if self.kind != "mapping":
            raise self._unexpected_value("a mapping")
        entries: Mapping[str, tuple[Node, Node]] = self.value
        return entries

    def _unexpected_value(self, wanted: str, *, hint: str = "") -> SpecError:
        came = {"mapping": "a mapping", "sequence": "a list"}.get(self.kind) or shown(self.value)
        return self.error(f"expected {wanted}, got {came}", hint=hint if self._is_scalar else "")

    @property
    def _is_scalar(self) -> bool:
        return self.kind == "scalar"


def shown(value: object) -> str:
    """Name a value inside a message, clipped."""
    if value is None or isinstance(value, bool):
        return _JSON_NAMES[value]
    text = repr(value)
    return beginning(text, _MAX_SHOWN)


def _spelling_help(name: str, known: Collection[str]) -> str:
    return nearest(name, known) or f"known: {', '.join(sorted(known))}"
