"""Tables of requirements as frozen values: those that ship, by name, and the user's own, by path.

Every error names file, line, column and the nearest word.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from msgspec import Struct

from conformance.core.errors import Place, UsageError
from conformance.core.shipped import specs
from conformance.rules import document
from conformance.rules.node import Node, nearest
from conformance.rules.verdicts import Verdict
from conformance.scenarios.load import read_name

_SIDES: Final = ("server", "client", "both", "recorder")
"""Whose behaviour a requirement is about; a recorder writes fixtures for tests."""
_PRESET_SIDES: Final = ("server", "client")
_KEYS: Final = frozenset({"system", "title", "documents", "presets", "requirements"})
_PRESET_KEYS: Final = frozenset({"name", "side", "profile", "gateway", "beside"})
_JUDGED_KEYS: Final = frozenset({"rules", "scenarios", "presets", "verdict"})
_REQUIREMENT_KEYS: Final = frozenset({"id", "says", "source", "side", "reason"}) | _JUDGED_KEYS
_SOURCE_KEYS: Final = frozenset({"document", "at"})


class Preset(Struct, frozen=True):
    """An executable model of a system, and the profile that says how it behaves.

    A server that `is_gateway` is judged between two halves of the toolkit, too. One that
    `is_beside` the system's own shows the requirements that name it, and no other.
    """

    name: str
    side: str
    profile: str
    place: Place
    is_gateway: bool = False
    is_beside: bool = False


class RequirementSource(Struct, frozen=True):
    """Where a behaviour is documented: the key of a document, and the place in it."""

    document: str
    at: str


class Requirement(Struct, frozen=True):
    """One documented behaviour: the rules that judge it, or the reason why none can.

    `scenarios` are globs over `scenario/role`, empty for every exchange. `verdict` is what a run
    of each of the `presets` must come to.
    """

    id: str
    says: str
    side: str
    source: RequirementSource
    place: Place
    rules: tuple[str, ...] = ()
    reason: str = ""
    scenarios: tuple[str, ...] = ()
    presets: tuple[Preset, ...] = ()
    verdict: Verdict = Verdict.PASS


class System(Struct, frozen=True):
    """Everything that one system's documents ask for."""

    name: str
    title: str
    documents: Mapping[str, str]
    presets: tuple[Preset, ...]
    requirements: tuple[Requirement, ...]
    file: str


def system_names() -> tuple[str, ...]:
    """Names of the shipped tables, sorted."""
    return tuple(sorted(path.stem for path in (specs() / "systems").glob("*.yaml")))


def find_system(name: str) -> System:
    """The table of a shipped system, or the one in a file. Raises UsageError for neither.

    SpecError at the first thing that is wrong in it.
    """
    path = Path(name)
    if path.suffix not in (".yaml", ".yml"):
        if name not in system_names():
            hint = nearest(name, system_names()) or f"there are: {', '.join(system_names())}"
            raise UsageError(f"no system {name!r}, neither shipped nor a file", hint=hint)
        path = specs() / "systems" / f"{name}.yaml"
    return read_system(document.load(path))


def read_system(root: Node) -> System:
    """The table in a document."""
    root.mapping(_KEYS)
    name = read_name(root.required("system"))
    documents = root.required("documents").mapping()
    presets = _read_presets(root.get("presets"))
    found: dict[str, Requirement] = {}
    for node in root.required("requirements").sequence():
        each = _read_requirement(node, name, documents, presets)
        if each.id in found:
            first = found[each.id].place.line
            raise node.required("id").error(f"{each.id!r} already appears in line {first}")
        found[each.id] = each
    return System(
        name=name,
        title=root.required("title").string(),
        documents={key: each.string() for key, each in documents.items()},
        presets=tuple(presets.values()),
        requirements=tuple(found.values()),
        file=root.source.file,
    )


def _read_presets(node: Node | None) -> dict[str, Preset]:
    found: dict[str, Preset] = {}
    for each in node.sequence() if node else ():
        keys = each.mapping(_PRESET_KEYS)
        name, profile = read_name(each.required("name")), each.required("profile")
        if name in found:
            raise each.required("name").error(f"preset {name!r} appears twice")
        found[name] = Preset(
            name=name,
            side=each.required("side").one_of(_PRESET_SIDES),
            profile=profile.string(),
            place=profile.place,
            is_gateway="gateway" in keys and keys["gateway"].boolean(),
            is_beside="beside" in keys and keys["beside"].boolean(),
        )
    return found


def _read_requirement(
    node: Node, system: str, documents: Mapping[str, Node], presets: Mapping[str, Preset]
) -> Requirement:
    keys = node.mapping(_REQUIREMENT_KEYS)
    side = node.required("side").one_of(_SIDES)
    if ("rules" in keys) == ("reason" in keys):
        raise node.error("expected either rules that judge it, or the reason why none can")
    misplaced = next(iter(sorted(_JUDGED_KEYS & keys.keys())), None)
    if "reason" in keys and misplaced:
        raise node.key(misplaced).error(f"{misplaced!r} says nothing where there are no rules")
    return Requirement(
        id=f"{system}/{read_name(node.required('id'))}",
        says=node.required("says").string(),
        side=side,
        source=_read_source(node.required("source"), documents),
        place=node.place,
        rules=_read_texts(keys.get("rules")),
        reason=keys["reason"].string() if "reason" in keys else "",
        scenarios=_read_texts(keys.get("scenarios")),
        presets=_read_preset_names(keys.get("presets"), side, presets),
        verdict=Verdict(keys["verdict"].one_of(tuple(Verdict)) if "verdict" in keys else "PASS"),
    )


def _read_source(node: Node, documents: Mapping[str, Node]) -> RequirementSource:
    node.mapping(_SOURCE_KEYS)
    return RequirementSource(
        node.required("document").one_of(tuple(documents)), node.required("at").string()
    )


def _read_preset_names(
    node: Node | None, side: str, presets: Mapping[str, Preset]
) -> tuple[Preset, ...]:
    """The presets that are named, else the system's own ones of the requirement's side."""
    if node is None:
        own = (each for each in presets.values() if not each.is_beside)
        return tuple(each for each in own if side in (each.side, "both"))
    for each in node.sequence():
        if each.string() not in presets:
            raise each.error(f"no preset {each.value!r}", hint=nearest(each.value, presets))
    return tuple(presets[each.value] for each in node.sequence())


def _read_texts(node: Node | None) -> tuple[str, ...]:
    if node is None:
        return ()
    if not node.sequence():
        raise node.error("expected at least one")
    return tuple(each.string() for each in node.sequence())
