"""What a `*.conformance.yaml` file asks for.

    suites: [summary, wire/responses]          # none: all that ship; examples in yours are tried
    cassettes: [cassettes/think, "*.sse"]      # files, folders, globs; or `scenarios: [think]`
    profile: openrouter
    expected-failures: expected.yaml

Paths are relative to the file. Every mistake is reported with its line.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final, Literal

from msgspec import Struct

from conformance.cassette import discover
from conformance.core.errors import ConformanceError
from conformance.dialects import APIS
from conformance.judging.rulebook import Rulebook
from conformance.judging.suites import load_suites
from conformance.pytest_plugin.rule_examples import own_suites
from conformance.rules import document
from conformance.rules.node import Node
from conformance.scenarios.model import CAPABILITIES

ItemGrain = Literal["rule", "exchange"]
_LIVE: Final = ("apis", "model", "without", "api-key-env", "target")
_KEYS: Final = (
    "suites",
    "rules",
    "cassettes",
    "scenarios",
    "dialect",
    "profile",
    "expected-failures",
    "items",
    *_LIVE,
)
_GLOB: Final = frozenset("*?[")


class ListedRecording(Struct, frozen=True):
    """A recording and the 1-based line that names it."""

    path: Path
    line: int


class LiveSpec(Struct, frozen=True):
    """What to ask of a live target; `dialects` empty: every API that it has."""

    scenarios: tuple[str, ...]
    line: int
    dialects: tuple[str, ...] = ()
    model: str = ""
    without: frozenset[str] = frozenset()
    api_key_env: str | None = None
    target: str = ""


class FileSpec(Struct, frozen=True):
    """One file, read. `cassettes` or `live`, which says which scenarios, or examples of rules."""

    file: Path
    rulebook: Rulebook
    suites: tuple[str, ...]
    own_suites: bool  # whether the file names them, and so their examples
    rules: tuple[str, ...]
    cassettes: tuple[ListedRecording, ...]
    live: LiveSpec | None
    dialect: str | None
    profile: str | None
    expected_failures: Path | None
    items: ItemGrain


def read_spec(file: Path, default_suites: tuple[str, ...] = ()) -> FileSpec:
    """The file's wishes; the suites are the default ones where it names none.

    Raises SpecError, UsageError.
    """
    root = document.load(file)
    entries = root.mapping(_KEYS)
    if "cassettes" in entries and "scenarios" in entries:
        raise root.error("expected either 'cassettes' or 'scenarios'")
    for key in _LIVE:
        if key in entries and "scenarios" not in entries:
            raise root.key(key).error(f"{key!r} belongs to 'scenarios'")
    suites = tuple(_suite_name(file.parent, node) for node in _values_of(entries.get("suites")))
    rules = tuple(node.string() for node in _values_of(entries.get("rules")))
    rulebook = _load_rulebook(entries, suites, rules, default_suites)
    has_examples = bool(suites) and bool(own_suites(rulebook.suites))
    if not ("cassettes" in entries or "scenarios" in entries or has_examples):
        hint = "or rules of yours with examples under 'suites'"
        raise root.error("expected either 'cassettes' or 'scenarios'", hint=hint)
    profile = _optional_string(entries, "profile")
    grain = entries["items"].one_of(("rule", "exchange")) if "items" in entries else "rule"
    items: ItemGrain = "exchange" if grain == "exchange" else "rule"
    baseline = _optional_string(entries, "expected-failures")
    return FileSpec(
        file=file,
        rulebook=rulebook,
        suites=suites or default_suites,
        own_suites=bool(suites),
        rules=rules,
        cassettes=tuple(_listed_recordings(file.parent, entries)),
        live=_live_spec(file.parent, entries) if "scenarios" in entries else None,
        dialect=_optional_string(entries, "dialect"),
        profile=profile and _name_or_path(file.parent, profile),
        expected_failures=None if baseline is None else file.parent / baseline,
        items=items,
    )


def _load_rulebook(
    entries: Mapping[str, Node],
    suites: tuple[str, ...],
    rules: tuple[str, ...],
    default_suites: tuple[str, ...],
) -> Rulebook:
    for node, name in zip(_values_of(entries.get("suites")), suites, strict=True):
        with _errors_at(node):
            load_suites([name])
    for node, glob in zip(_values_of(entries.get("rules")), rules, strict=True):
        with _errors_at(node):
            Rulebook.load(suites or default_suites, [glob])
    return Rulebook.load(suites or default_suites, rules)


@contextmanager
def _errors_at(node: Node) -> Iterator[None]:
    """Gives an error the place of the caller; a suite's own mistake has one already."""
    try:
        yield
    except ConformanceError as err:
        if err.place is not None:
            raise
        raise node.error(err.message, hint=err.hint) from err


def _suite_name(folder: Path, node: Node) -> str:
    """An id, or the path of a file or folder next to this file."""
    name = node.string()
    is_folder = name.startswith(".") or (folder / name).is_dir()
    return str(folder / name) if is_folder else _name_or_path(folder, name)


def _name_or_path(folder: Path, name: str) -> str:
    """Return the path of a YAML file in `folder`; shipped files keep their name."""
    return str(folder / name) if name.endswith((".yaml", ".yml")) else name


def _optional_string(entries: Mapping[str, Node], key: str) -> str | None:
    return entries[key].string() if key in entries else None


def _listed_recordings(folder: Path, entries: Mapping[str, Node]) -> Iterator[ListedRecording]:
    met: set[Path] = set()
    for node in _values_of(entries.get("cassettes")):
        found = list(_recordings_named(folder, node))
        if not found:
            raise node.error(f"no recording is called {node.string()!r}")
        for path in found:
            if path not in met:
                met.add(path)
                yield ListedRecording(path, node.line)


def _recordings_named(folder: Path, node: Node) -> Iterator[Path]:
    name = node.string()
    path = folder / name
    if path.is_dir():
        yield from discover(path)
    elif path.is_file():
        yield path
    elif not _GLOB.isdisjoint(name):
        if Path(name).is_absolute():
            raise node.error("expected a pattern relative to this file")
        yield from sorted(each for each in folder.glob(name) if each.is_file())


def _live_spec(folder: Path, entries: Mapping[str, Node]) -> LiveSpec:
    node = entries["scenarios"]
    without = (each.one_of(CAPABILITIES) for each in _values_of(entries.get("without")))
    return LiveSpec(
        scenarios=tuple(_name_or_path(folder, each.string()) for each in _values_of(node)),
        line=node.line,
        dialects=tuple(APIS[each.one_of(APIS)] for each in _values_of(entries.get("apis"))),
        model=_optional_string(entries, "model") or "",
        without=frozenset(without),
        api_key_env=_optional_string(entries, "api-key-env"),
        target=_optional_string(entries, "target") or "",
    )


def _values_of(node: Node | None) -> tuple[Node, ...]:
    """A list, or one value that stands for a list of one."""
    if node is None:
        return ()
    return node.sequence() if node.kind == "sequence" else (node,)
