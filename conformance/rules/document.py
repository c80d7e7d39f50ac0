"""YAML documents in which every node knows its place.

Rule 1: only JSON is resolved. `true false null`, integers and floats mean what they mean in JSON;
every other plain scalar is a string (`no`, `on`, `1:30`, `0o7`, `2026-11-20`, `~`).
Rule 2: syntax that hides meaning is refused at its place: anchors, aliases, tags, merge keys,
directives, duplicate keys, keys that are not strings, missing values, several documents, tabs.
Rule 3: a document may be hostile: its size, depth and number of nodes are bounded, and an alias is
refused before it is followed.
"""

from __future__ import annotations

import math
import re
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct, field

from conformance.core.errors import Place, SpecError, UsageError
from conformance.core.regular_file import expect_regular
from conformance.rules.node import Kind, Node, Source, nearest, shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import yaml

__all__ = ["Kind", "Node", "Source", "decode", "load", "nearest", "parse", "read_bytes"]

MAX_BYTES: Final = 4 * 1024 * 1024
MAX_DEPTH: Final = 64
MAX_NODES: Final = 500_000
_TOO_DEEP: Final = "maximum nesting depth"  # libyaml's words
_MAX_NUMBER: Final = 64  # characters; beyond it int() may refuse and floats gain nothing

# libyaml and PyYAML disagree on what of this is white space, a line break, or forbidden.
_FOREIGN: Final = (
    "[^\n\r\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]"
)
_SURROGATE = re.compile("[\ud800-\udfff]")
_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]*)")
_FLOAT = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")
_NOT_FINITE = re.compile(r"[-+]?\.?(?:inf|infinity|nan)", re.IGNORECASE)
_CONSTANTS: Final[Mapping[str, bool | None]] = {"true": True, "false": False, "null": None}
_PROPERTY: Final[Mapping[str, str]] = {"&": "anchors", "!": "tags"}


def load(path: Path | str) -> Node:
    """Read the document in a file of at most `MAX_BYTES` of UTF-8.

    Raises `UsageError` if the file cannot be read, `SpecError` if it is not such a document.
    """
    return decode(read_bytes(path), str(path))


def read_bytes(path: Path | str) -> bytes:
    """The bytes of a file that may be a document. Raises as `load` does."""
    file = str(path)
    try:
        expect_regular(Path(path))
        with Path(path).open("rb") as stream:
            data = stream.read(MAX_BYTES + 1)
    except (OSError, ValueError) as err:
        reason = getattr(err, "strerror", None) or str(err)
        raise UsageError(f"cannot read the file: {reason}", place=Place(file)) from err
    if len(data) > MAX_BYTES:
        raise SpecError(f"file is larger than {MAX_BYTES} bytes", place=Place(file))
    return data


def decode(data: bytes, file: str) -> Node:
    """Read the one document in the bytes of a file. Raises `SpecError`."""
    try:
        return parse(data.decode("utf-8"), file)
    except UnicodeDecodeError as err:
        raise SpecError(f"not UTF-8: {err.reason}", place=Place(file, byte=err.start)) from err


def parse(text: str, file: str) -> Node:
    """Read the one document in `text`; `file` names it in places. Raises `SpecError`."""
    if len(text) > MAX_BYTES:
        raise SpecError(f"text is longer than {MAX_BYTES} characters", place=Place(file))
    text = text.removeprefix("\ufeff")
    source = Source(file, tuple(re.split("\r\n|\n|\r", text)))
    _refuse_foreign(source)
    _refuse_directives(source)
    builder = _NodeBuilder(source)
    for event in _parser_events(text, source):
        builder.take(event)
    if builder.root is None:
        raise source.error(1, 1, "the file is empty")
    return builder.root


def _refuse_foreign(source: Source) -> None:
    foreign = re.compile(_FOREIGN)  # kept by `re`; 4 ms that an import must not pay
    for number, line in enumerate(source.lines, start=1):
        found = foreign.search(line)
        if found:
            char = found.group()
            name = "tab" if char == "\t" else f"character U+{ord(char):04X}"
            hint = 'indent with spaces; in strings write "\\t"' if char == "\t" else ""
            hint = hint or "write it as an escape in double quotes"
            raise source.error(number, found.start() + 1, f"{name} in the text", hint=hint)


def _refuse_directives(source: Source) -> None:
    # The parsers disagree on unknown ones, and silently ignore known ones.
    written = (
        n for n, text in enumerate(source.lines, 1) if text.strip() and text.strip()[0] != "#"
    )
    first = next(written, None)
    if first is not None and source.lines[first - 1].startswith("%"):
        raise source.error(first, 1, "directives are not allowed")


def _parser_events(
    text: str, source: Source, *, in_c: bool = True, skip: int = 0
) -> Iterator[yaml.Event]:
    """Parser events after the first `skip`; a fault of a parser is one line with a place."""
    import yaml  # noqa: PLC0415  # 10 ms that `import conformance` must not pay

    # The parser in C has the same result, ten times faster.
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader) if in_c else yaml.SafeLoader
    given = 0
    try:
        for event in islice(yaml.parse(text, Loader=loader), skip, None):
            yield event
            given += 1
    except yaml.MarkedYAMLError as err:
        if _TOO_DEEP not in str(err.problem) or loader is yaml.SafeLoader:
            raise source.error(*_fault_position(err), _fault_sentence(err)) from err
        # libyaml 0.2.6 reads ahead and has a limit of its own; the pure parser meets ours first,
        # or another fault.
        yield from _parser_events(text, source, in_c=False, skip=given)
    except (yaml.YAMLError, ValueError, OverflowError) as err:
        # The pure parser hands out-of-range escapes to chr().
        raise SpecError(f"not valid YAML: {err}", place=Place(source.file)) from err


def _fault_position(err: yaml.MarkedYAMLError) -> tuple[int, int]:
    mark = err.problem_mark or err.context_mark
    return (1, 1) if mark is None else (mark.line + 1, mark.column + 1)


def _fault_sentence(err: yaml.MarkedYAMLError) -> str:
    parts = [err.problem or "cannot be parsed"]
    if err.context:
        parts.append(err.context)
    if err.context and err.context_mark:
        parts.append(f"from line {err.context_mark.line + 1} on")
    return " ".join(["not valid YAML:", *" ".join(parts).split()])


class _OpenNode(Struct):
    """A collection whose end has not come. `key` waits for its value."""

    kind: Kind
    line: int
    column: int
    items: list[Node] = field(default_factory=list)
    entries: dict[str, tuple[Node, Node]] = field(default_factory=dict)
    key: Node | None = None


class _NodeBuilder:
    """Nodes out of parser events; refuses what the subset leaves out."""

    def __init__(self, source: Source) -> None:
        self.root: Node | None = None
        self._source = source
        self._open: list[_OpenNode] = []
        self._nodes = 0

    def take(self, event: yaml.Event) -> None:
        mark = event.start_mark
        assert mark is not None, "every parser event has a start"
        # libyaml places a value that is missing at the very end one line after the last.
        line, column = min(mark.line + 1, len(self._source.lines)), mark.column + 1
        name = type(event).__name__
        if name == "DocumentStartEvent" and self.root is not None:
            raise self._source.error(line, column, "a second document in one file")
        if name == "AliasEvent":
            raise self._source.error(line, column, "aliases are not allowed", hint="write it out")
        if name in {"ScalarEvent", "MappingStartEvent", "SequenceStartEvent"}:
            self._begin_node(event, line, column)
        elif name in {"MappingEndEvent", "SequenceEndEvent"}:
            self._close_node()

    def _begin_node(self, event: Any, line: int, column: int) -> None:
        self._nodes += 1
        if self._nodes > MAX_NODES:
            raise self._source.error(line, column, f"more than {MAX_NODES} values")
        # The first character decides: libyaml forgets the tag `!` in its events.
        refused = _PROPERTY.get(self._source.lines[line - 1][column - 1 : column])
        if refused:
            raise self._source.error(line, column, f"{refused} are not allowed")
        if type(event).__name__ == "ScalarEvent":
            self._add_node(self._scalar_node(event, line, column))
            return
        if len(self._open) >= MAX_DEPTH:
            raise self._source.error(line, column, f"nested deeper than {MAX_DEPTH} levels")
        kind: Kind = "mapping" if type(event).__name__ == "MappingStartEvent" else "sequence"
        self._open.append(_OpenNode(kind, line, column))

    def _close_node(self) -> None:
        done = self._open.pop()
        value = done.entries if done.kind == "mapping" else tuple(done.items)
        self._add_node(Node(done.kind, value, done.line, done.column, self._source))

    def _scalar_node(self, event: Any, line: int, column: int) -> Node:
        quoted = not event.implicit[0]
        text: str = event.value
        if _SURROGATE.search(text):
            raise self._source.error(line, column, "escape is half of a surrogate pair")
        value = text if quoted else self._resolved_scalar(text, line, column)
        return Node("scalar", value, line, column, self._source, quoted)

    def _resolved_scalar(
        self, text: str, line: int, column: int
    ) -> str | int | float | bool | None:
        if not text:
            hint = 'write null, "" or {}'
            raise self._source.error(line, column, "a value is missing here", hint=hint)
        if text in _CONSTANTS:
            return _CONSTANTS[text]
        if _NOT_FINITE.fullmatch(text):
            raise self._source.error(line, column, f"{text} is not a JSON number")
        if not _FLOAT.fullmatch(text):
            return text
        number = _number_of(text)
        if number is None:
            raise self._source.error(line, column, "number out of range")
        return number

    def _add_node(self, node: Node) -> None:
        if not self._open:
            self.root = node
            return
        parent = self._open[-1]
        if parent.kind == "sequence":
            parent.items.append(node)
        elif parent.key is None:
            parent.key = _checked_key(node, parent.entries)
        else:
            parent.entries[parent.key.value] = (parent.key, node)
            parent.key = None


def _checked_key(key: Node, entries: Mapping[str, tuple[Node, Node]]) -> Node:
    if not isinstance(key.value, str):
        raise key.error("keys are strings", hint="put it in quotes" if key.kind == "scalar" else "")
    if key.value == "<<" and not key.quoted:
        raise key.error("merge keys are not allowed")
    if key.value in entries:
        first = entries[key.value][0].line
        raise key.error(f"key {shown(key.value)} already appears in line {first}")
    return key


def _number_of(text: str) -> int | float | None:
    if len(text) > _MAX_NUMBER:
        return None
    if _INTEGER.fullmatch(text):
        return int(text)
    value = float(text)
    return value if math.isfinite(value) else None
