"""Profiles from YAML files: every error names file, line, column and the nearest known word.

Rule 1: what a profile extends is looked for next to it first. A file never extends itself: met
again, its name means the next file of that name.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from conformance.core.errors import SpecError
from conformance.profiles.fingerprints import read
from conformance.profiles.folders import candidate_paths, checked_folders, suggest_profile
from conformance.profiles.knobs import Knob, KnobSide, declare, read_side
from conformance.profiles.profile import KnobReason, Override, Profile
from conformance.profiles.variants import read_variants
from conformance.rules import document
from conformance.rules.node import Node, nearest
from conformance.rules.verdicts import Level

MAX_OVERRIDES: Final = 3
_MAX_CHAIN: Final = 16
# Profiles are looked up time and again: the documents of the last files are kept by their bytes,
# and what came of them as long as it would come of the same documents. More than ship: who reads
# one after the other finds none of fewer.
_FILES: Final = 512
_MOST_KEPT: Final = 32 * 1024  # bytes of one of them
_HEAD: Final = frozenset({"profile", "dialect", "title", "fields", "promises", "knobs"})
_OWN: Final = frozenset({"extends", "side", "overrides", "fingerprints", "hosts", "variants"})
_SERVERS_OWN: Final = ("fields", "fingerprints", "hosts", "variants")
_LEVELS: Final = ("off", *Level)
_SEMANTIC_FIELDS: Final = ("thinking", "opaque", "text")


def load_profile(path: Path | str, folders: Iterable[Path] = ()) -> Profile:
    """Read a profile and what it extends. Raises `SpecError` with the place of the mistake."""
    return _load_file(Path(path), checked_folders(folders), ()).profile


def load_named(path: Path, name: str, dialect: str, folders: tuple[Path, ...]) -> Profile:
    """Read a profile from a file that must be of this name and dialect."""
    return _expect_name(_load_file(path, folders, ()), name, dialect)


def limits(path: Path | str, folders: Iterable[Path] = ()) -> tuple[SpecError, ...]:
    """Say what is allowed but wrong in a profile file: too many overrides, lines without effect."""
    file = _load_file(Path(path), checked_folders(folders), ())
    return (*_too_many(file), *_without_effect(file))


class _ProfileFile(Struct, frozen=True):
    """A profile file as it stands, and what came of it."""

    root: Node
    profile: Profile
    parent: Profile | None


class _Same:
    """Stands for one object in the key of a cache: equal ones take long to compare."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __hash__(self) -> int:
        return id(self.value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.value is other.value


@lru_cache(maxsize=_FILES)
def _kept_document(data: bytes, file: str) -> Node:
    return document.decode(data, file)


@lru_cache(maxsize=_FILES)
def _kept_strict(root: _Same, dialect: str) -> Profile:
    return _strict_profile(root.value, dialect)


@lru_cache(maxsize=_FILES)
def _kept_derived(root: _Same, name: str, parent: _Same) -> Profile:
    return _derived_profile(root.value, name, parent.value)


def _load_file(path: Path, folders: tuple[Path, ...], chain: tuple[Path, ...]) -> _ProfileFile:
    data = document.read_bytes(path)
    is_kept = len(data) <= _MOST_KEPT
    root = _kept_document(data, str(path)) if is_kept else document.load(path)
    name, dialect = _string_at(root, "profile"), _string_at(root, "dialect")
    if name == "strict" and root.get("extends") is None:
        root.mapping(known=_HEAD)
        strict = _kept_strict(_Same(root), dialect) if is_kept else _strict_profile(root, dialect)
        return _ProfileFile(root, strict, None)
    root.mapping(known=_HEAD | _OWN)
    home = path.parent.parent if path.parent.name == dialect else path.parent
    parent = _load_parent(root, dialect, (home, *folders), (*chain, path.resolve()))
    derived = (
        _kept_derived(_Same(root), name, _Same(parent))
        if is_kept
        else _derived_profile(root, name, parent)
    )
    return _ProfileFile(root, derived, parent)


def _load_parent(
    root: Node, dialect: str, folders: tuple[Path, ...], chain: tuple[Path, ...]
) -> Profile:
    name = _string_at(root, "extends") if root.get("extends") else "strict"
    at = root.get("extends") or root
    if len(chain) > _MAX_CHAIN:
        raise at.error(f"more than {_MAX_CHAIN} profiles extend each other")
    known = [path.resolve() for path in candidate_paths(name, dialect, folders)]
    path = next((path for path in known if path not in chain), None)
    if path is None and known:
        raise at.error(f"profile {name!r} extends itself, through {len(chain)} file(s)")
    if path is None:
        hint = suggest_profile(name, dialect, folders)
        raise at.error(f"no profile {name!r} for {dialect}", hint=hint)
    return _expect_name(_load_file(path, folders, chain), name, dialect)


def _expect_name(file: _ProfileFile, name: str, dialect: str) -> Profile:
    profile = file.profile
    if (profile.name, profile.dialect) != (name, dialect):
        stated = f"{profile.name!r} for {profile.dialect}"
        raise file.root.error(f"the file is named for {name!r} for {dialect}, but says {stated}")
    return profile


def _strict_profile(root: Node, dialect: str) -> Profile:
    entries = root.required("knobs").mapping()
    declared = {name: declare(name, node) for name, node in entries.items()}
    return Profile(
        name="strict",
        dialect=dialect,
        title=_read_title(root),
        fields=_read_fields(root),
        promises=_read_promises(root),
        knobs={name: knob.strict for name, knob in declared.items()},
        file=root.source.file,
        declared=declared,
    )


def _derived_profile(root: Node, name: str, parent: Profile) -> Profile:
    side = read_side(root) or parent.side
    if side == "client":
        _refuse_servers(root)
    knobs, reasons = _read_knobs(root, parent.declared, side)
    own = _read_promises(root)
    return Profile(
        name=name,
        dialect=parent.dialect,
        title=_read_title(root),
        fields={**parent.fields, **_read_fields(root)},
        promises=(*parent.promises, *(each for each in own if each not in parent.promises)),
        knobs={**parent.knobs, **knobs},
        reasons={**parent.reasons, **reasons},
        overrides={**parent.overrides, **_read_overrides(root)},
        extends=parent.name,
        file=root.source.file,
        declared=parent.declared,
        fingerprints=read(root, name, parent.dialect),
        side=side,
        variants=read_variants(root),
    )


def _refuse_servers(root: Node) -> None:
    for name in _SERVERS_OWN:
        if root.get(name):
            raise root.key(name).error(f"{name!r} is about servers, and this profile is a client's")


def _read_knobs(
    root: Node, declared: Mapping[str, Knob], side: KnobSide
) -> tuple[dict[str, Any], dict[str, KnobReason]]:
    values: dict[str, Any] = {}
    reasons: dict[str, KnobReason] = {}
    for name, node in _entries_of(root, "knobs").items():
        if name not in declared:
            key = root.required("knobs").key(name)
            raise key.error(f"unknown knob {name!r}", hint=nearest(name, declared))
        if side == "client" and declared[name].side == "server":
            key = root.required("knobs").key(name)
            own = ", ".join(sorted(n for n, knob in declared.items() if knob.side == "client"))
            message = f"knob {name!r} says how a server speaks"
            raise key.error(message, hint=f"a client's knobs: {own or 'none'}")
        node.mapping(known={"value", "because", "seen"})
        values[name] = declared[name].read(node.required("value"))
        reasons[name] = KnobReason(_string_at(node, "because"), _string_at(node, "seen"))
    return values, reasons


def _read_overrides(root: Node) -> dict[str, Override]:
    found: dict[str, Override] = {}
    for rule, node in _entries_of(root, "overrides").items():
        node.mapping(known={"level", "because", "seen"})
        level = node.required("level").one_of(_LEVELS)
        key = root.required("overrides").key(rule)
        found[rule] = Override(
            level="off" if level == "off" else Level(level),
            because=_string_at(node, "because"),
            seen=_string_at(node, "seen"),
            place=key.place,
        )
    return found


def _read_fields(root: Node) -> dict[str, tuple[str, ...]]:
    node = root.get("fields")
    entries = node.mapping(known=_SEMANTIC_FIELDS) if node else {}
    return {name: tuple(p.string() for p in each.sequence()) for name, each in entries.items()}


def _read_promises(root: Node) -> tuple[str, ...]:
    node = root.get("promises")
    return tuple(item.string() for item in node.sequence()) if node else ()


def _read_title(root: Node) -> str:
    return _string_at(root, "title") if root.get("title") else ""


def _too_many(file: _ProfileFile) -> Iterator[SpecError]:
    rules = list(_entries_of(file.root, "overrides"))
    if len(rules) > MAX_OVERRIDES:
        key = file.root.required("overrides").key(rules[MAX_OVERRIDES])
        hint = "a system with more is a baseline of expected failures"
        yield key.error(f"more than {MAX_OVERRIDES} overrides", hint=hint)


def _without_effect(file: _ProfileFile) -> Iterator[SpecError]:
    parent = file.parent
    if parent is None:
        return
    for name, node in _entries_of(file.root, "knobs").items():
        if file.profile.knobs[name] == parent.knobs[name]:
            yield node.error(f"knob {name!r} has no effect: {parent.name!r} has the same value")
    for rule, node in _entries_of(file.root, "overrides").items():
        inherited = parent.overrides.get(rule)
        if inherited and inherited.level == file.profile.overrides[rule].level:
            yield node.error(f"override of {rule!r} has no effect: {parent.name!r} has it too")
    promises = file.root.get("promises")
    for item in promises.sequence() if promises else ():
        if item.value in parent.promises:
            yield item.error(f"promise {item.value!r} has no effect: {parent.name!r} has it too")


def _entries_of(root: Node, key: str) -> dict[str, Node]:
    node = root.get(key)
    return node.mapping() if node else {}


def _string_at(node: Node, key: str) -> str:
    return node.required(key).string()
