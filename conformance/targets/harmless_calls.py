"""Which tool of an agent a played model may call: one that only reads, in a folder of ours.

Calls of a played model have no purpose, so they must have no effect. The name and the required
parameters of a tool show what it does.

Rule 1: its name has a word for reading, and no word with another possible meaning.
Rule 2: every required parameter is a path, a pattern, a word about the call, or may be null; a tool
        without any place is called only if it needs no parameter.
Rule 3: a tool that reads a file comes first, then one that lists, then one that searches; then a
        shell, with a command that reads that file; then one without parameters.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from conformance.core.schema_samples import sample_of
from conformance.dialects.json_edge import elements, mapping
from conformance.dialects.wishes import OfferedFunction

NOTES: Final = ("notes.txt", "more-notes.txt")
"""The files in the folder of an agent that its tools may read."""
_READS: Final = (
    {"read", "view", "cat", "open"},
    {"list", "ls", "glob", "find", "tree", "dir"},
    {"grep", "search"},
    {"get", "show", "status"},
)
_PLACES: Final = frozenset(
    {
        *("path", "paths", "filepath", "file", "files", "filename", "root", "cwd"),
        *("dir", "directory", "directories", "folder"),
    }
)
_PATTERNS: Final = frozenset({"pattern", "patterns", "glob", "query", "regex", "include"})
# What else a name may say that reads; any other word may do more, or read elsewhere.
_READ_OF: Final = frozenset(
    {
        *("a", "all", "by", "current", "for", "in", "many", "multiple", "of", "the"),
        *("code", "codebase", "content", "contents", "line", "lines", "name", "text"),
        *("goal", "project", "repo", "repository", "workspace"),
    }
)
_HARMLESS: Final = _READ_OF.union(_PLACES, _PATTERNS, *_READS)
_SHELLS: Final = frozenset(
    {"bash", "cmd", "command", "exec", "execute", "in", "local", "run", "shell", "terminal"}
)
_COMMANDS: Final = frozenset({"cmd", "command"})
_ABOUT: Final = frozenset(
    {
        *("description", "explanation", "intent", "justification", "purpose", "reason"),
        *("thought", "title"),
    }
)
_WORD: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_WHY: Final = "To read the notes."
_SHELL: Final = len(_READS)
_LONGEST: Final = 200  # characters of a name


class HarmlessCall(Struct, frozen=True):
    """A call of a tool that only reads, and the arguments of one next to it."""

    tool: str
    arguments: Mapping[str, Any]
    more_arguments: Mapping[str, Any]


def harmless_call(offered: Iterable[OfferedFunction], folder: str) -> HarmlessCall | None:
    """The call that does least of those that are offered; None where none is known to be harmless.

    `folder` holds the files `NOTES`; without one no tool is called.
    """
    if not folder:
        return None
    known = [(rank, each) for each in offered if (rank := _rank(each)) is not None]
    if not known:
        return None
    rank, tool = min(known, key=lambda each: each[0])
    files = NOTES if rank in (0, _SHELL) else ("", "")
    return HarmlessCall(tool.name, *(_arguments(tool, Path(folder) / name) for name in files))


def _rank(tool: OfferedFunction) -> int | None:
    """How soon a tool is called; None where it is not (rules 1 and 2)."""
    words = set(_words(tool.name))
    needed = list(_needed(tool.parameters))
    if words and words <= _SHELLS:
        return _SHELL if _takes_command(needed) else None
    reads = next((at for at, verbs in enumerate(_READS) if words & verbs), None)
    if reads is None or not words <= _HARMLESS or not tool.parameters:
        return None
    if not any(_is_placed(name) for name in _properties(tool.parameters)):
        return None if needed else _SHELL + 1
    if all(_is_known(name, schema) for name, schema in needed):
        return reads
    return None


def _takes_command(needed: Sequence[tuple[str, Mapping[str, Any]]]) -> bool:
    """Whether a shell needs a command, and nothing that is not known."""
    is_known = all(_is_command(name) or _is_known(name, schema) for name, schema in needed)
    return is_known and any(_is_command(name) for name, _ in needed)


def _is_command(name: str) -> bool:
    return bool(set(_words(name)) & _COMMANDS)


def _arguments(tool: OfferedFunction, place: Path) -> dict[str, Any]:
    return {name: _argument(name, schema, str(place)) for name, schema in _needed(tool.parameters)}


def _argument(name: str, schema: Mapping[str, Any], place: str) -> Any:
    words = set(_words(name))
    if words & _COMMANDS:
        command = ["cat", place]
        return command if schema.get("type") == "array" else shlex.join(command)
    if words & _PLACES:
        return sample_of(schema, place)
    if words & _PATTERNS:
        return sample_of(schema, "*")
    return None if _may_be_null(schema) else sample_of(schema, _WHY)


def _is_known(name: str, schema: Mapping[str, Any]) -> bool:
    return _is_placed(name) or bool(set(_words(name)) & _ABOUT) or _may_be_null(schema)


def _is_placed(name: str) -> bool:
    return bool(set(_words(name)) & (_PLACES | _PATTERNS))


def _may_be_null(schema: Mapping[str, Any]) -> bool:
    kinds = schema.get("type")
    stated = [
        kinds,
        *elements(kinds),
        *(mapping(e).get("type") for e in elements(schema.get("anyOf"))),
    ]
    return "null" in stated


def _needed(parameters: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    stated = _properties(parameters)
    for name in elements(parameters.get("required")):
        if isinstance(name, str):
            yield name, mapping(stated.get(name)) or {"type": "string"}


def _properties(parameters: Mapping[str, Any]) -> Mapping[str, Any]:
    return mapping(parameters.get("properties"))


def _words(name: str) -> Iterator[str]:
    """The words of a name, in small letters: `read_file`, `ReadFile` and `filePath` have two."""
    return (word.lower() for word in _WORD.findall(name[:_LONGEST]))
