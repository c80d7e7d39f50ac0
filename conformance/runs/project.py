"""What a project's `conformance.yaml` says to the command line: defaults of options, and targets.

Rule 1: a key is the default of an option, and counts where the command line does not name it.
Rule 2: a target counts only where the command line names it; its keys win over the file's own.
Rule 3: paths stay in the folder of the file, links included: what lies elsewhere is named on the
command line. A report's name says its format.
Rule 4: of secrets the file has names of variables, never values, and no error shows what stands
where a name belongs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final

from msgspec import Struct, field

from conformance.core.errors import Place
from conformance.dialects import APIS
from conformance.rules.node import Node
from conformance.rules.project_document import project_entries
from conformance.scenarios.model import CAPABILITIES

SettingValue = str | bool | int | float | tuple[str, ...]
_YAML: Final = (".yaml", ".yml")
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SUFFIXES: Final[Mapping[str, tuple[str, ...]]] = {
    "text": (".txt",),
    "json": (".json",),
    "junit": (".xml",),
    "sarif": (".sarif", ".json"),
    "github": (".txt",),
    "markdown": (".md",),
    "html": (".html",),
    "badge": (".json", ".svg"),
}


class Setting(Struct, frozen=True):
    """The default of an option, and where it is."""

    value: SettingValue
    place: Place


class ProjectTarget(Struct, frozen=True):
    """A named target: defaults for the options that reach it."""

    name: str
    settings: Mapping[str, Setting]
    place: Place


class Project(Struct, frozen=True):
    """The file, read: defaults by key, and targets by name."""

    settings: Mapping[str, Setting] = field(default_factory=dict)
    targets: Mapping[str, ProjectTarget] = field(default_factory=dict)


def read_project(folder: Path = Path()) -> Project:
    """Return the project file of a folder; an empty one where it is not read. Raises SpecError."""
    return project_of(project_entries(folder))


def project_of(entries: Mapping[str, Node]) -> Project:
    """As `read_project`, of the keys of a document."""
    settings = {key: _setting(_KEYS[key], entries[key]) for key in _KEYS if key in entries}
    named = entries["targets"].mapping() if "targets" in entries else {}
    targets = {name: _target(entries["targets"].key(name), node) for name, node in named.items()}
    return Project(settings, targets)


def _target(name: Node, node: Node) -> ProjectTarget:
    if not _NAME.fullmatch(name.string()):
        raise name.error("a target's name has letters, digits, dots, hyphens and underscores")
    entries = node.mapping(TARGET_KEYS)
    kinds = [key for key in KINDS_OF_TARGETS if key in entries]
    if len(kinds) != 1:
        raise node.error(f"a target has one of {', '.join(KINDS_OF_TARGETS)}")
    settings = {key: _setting(_TARGET_READERS[key], value) for key, value in entries.items()}
    return ProjectTarget(name.string(), settings, name.place)


_Reader = Callable[[Node], SettingValue]


def _setting(read: _Reader, node: Node) -> Setting:
    return Setting(read(node), node.place)


def _values(node: Node) -> tuple[Node, ...]:
    """A list, or one value that stands for a list of one."""
    return node.sequence() if node.kind == "sequence" else (node,)


def _path(node: Node) -> str:
    """Rule 3."""
    name = node.string()
    folder = Path(node.source.file).parent
    try:
        within = (folder / name).resolve().is_relative_to(folder.resolve())
    except (OSError, ValueError):
        within = False
    if not within:
        hint = "name it on the command line"
        raise node.error("the path leads out of the folder of this file", hint=hint)
    return name


def _paths(node: Node) -> tuple[str, ...]:
    return tuple(_path(each) for each in _values(node))


def _name_or_path(node: Node) -> str:
    return _path(node) if node.string().endswith(_YAML) or "/" in node.string() else node.string()


def _suites(node: Node) -> tuple[str, ...]:
    """Ids of shipped suites have slashes, too: a path that is none is one of them."""
    return tuple(_path(each) for each in _values(node))


def _scenarios(node: Node) -> tuple[str, ...]:
    return tuple(_name_or_path(each) for each in _values(node))


def _profile(node: Node) -> str:
    return _path(node) if node.string().endswith(_YAML) else node.string()


def _reports(node: Node) -> tuple[str, ...]:
    return tuple(_report(node.key(name), file) for name, file in node.mapping(_SUFFIXES).items())


def _report(key: Node, node: Node) -> str:
    suffixes = _SUFFIXES[key.string()]
    if not node.string().endswith(suffixes) or any(p[:1] == "." for p in Path(_path(node)).parts):
        raise node.error(f"expected a file that ends in {' or '.join(suffixes)}, and is not hidden")
    return f"{key.string()}={node.string()}"


def _url(node: Node) -> str:
    """Rule 4."""
    if "@" in node.string().partition("//")[2].partition("/")[0]:
        raise node.error("a URL with a password in it is refused", hint="use api-key-env")
    return node.string()


def _variable_name(node: Node) -> str:
    """Rule 4."""
    if not isinstance(node.value, str) or not _VARIABLE.fullmatch(node.value):
        raise node.error("expected the name of a variable of the environment, never a value")
    return node.value


def _variable_names(node: Node) -> tuple[str, ...]:
    return tuple(_variable_name(each) for each in _values(node))


def _headers(node: Node) -> tuple[str, ...]:
    return tuple(f"{name}: {_variable_name(value)}" for name, value in node.mapping().items())


def _apis(node: Node) -> tuple[str, ...]:
    return tuple(each.one_of(APIS) for each in _values(node))


def _capabilities(node: Node) -> tuple[str, ...]:
    return tuple(each.one_of(CAPABILITIES) for each in _values(node))


_KEYS: Final[Mapping[str, _Reader]] = {
    "recordings": _paths,
    "suites": _suites,
    "profile": _profile,
    "expected-failures": _path,
    "strict": Node.boolean,
    "require-exercised": Node.boolean,
    "reports": _reports,
}
KINDS_OF_TARGETS: Final = ("url", "asgi", "gateway", "app", "agent", "client")
"""Keys of a target that say what is sent."""
_TARGET_READERS: Final[Mapping[str, _Reader]] = {
    **dict.fromkeys(("url", "gateway", "app"), _url),
    **dict.fromkeys(("asgi", "agent", "client"), Node.string),
    "protocol": Node.string,
    "upstream-port": Node.integer,
    "pass": _variable_names,
    "cassettes": _paths,
    "api": _apis,
    "model": Node.string,
    "profile": _profile,
    "scenarios": _scenarios,
    "without": _capabilities,
    "expected-failures": _path,
    "api-key-env": _variable_name,
    "api-key-header": Node.string,
    "headers": _headers,
    "max-tokens": Node.integer,
    "rpm": Node.number,
    "timeout": Node.number,
}
TARGET_KEYS: Final = frozenset(_TARGET_READERS)


def own_suites(project: Project) -> Iterator[str]:
    """The files and folders of rules that the project adds to the shipped ones."""
    suites = project.settings.get("suites")
    if suites is not None and isinstance(suites.value, tuple):
        yield from (name for name in suites.value if Path(name).exists())
