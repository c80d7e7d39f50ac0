"""Profiles: how one real system speaks a dialect.

Rule 1: `strict` declares the knobs of a dialect; every other profile extends one and says, for
each knob or rule it changes, why (`because`) and how often it was met (`seen`).
Rule 2: a name is looked for in the user's folders first, then among the shipped profiles, as
`<folder>/<dialect>/<name>.yaml` or, in a user's folder, as `<folder>/<name>.yaml`.
Rule 3: what a profile extends is looked for beside it first. A file never extends itself: met
again, its name means the next file of that name.
Rule 4: a profile with `side: client` says what a client promises of its requests and reports. It
says nothing of a server, so it sets a client's knobs only, and is laid over the profile of the
server that the client met: the client's promises and knobs, the server's way of speaking.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, Literal

from conformance.core.errors import ConformanceError, Place, SpecError, UsageError
from conformance.core.shipped import specs
from conformance.dialects.base import Reading
from conformance.profiles.fingerprints import Fingerprint, read
from conformance.profiles.knobs import Knob, KnobSide, declare, read_side
from conformance.rules import document
from conformance.rules.node import Node, nearest
from conformance.rules.verdicts import Level

MAX_OVERRIDES: Final = 3
_MAX_CHAIN: Final = 16
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_HEAD: Final = frozenset({"profile", "dialect", "title", "fields", "promises", "knobs"})
_OWN: Final = frozenset({"extends", "side", "overrides", "fingerprints"})
_SERVERS_OWN: Final = ("fields", "fingerprints")
_LEVELS: Final = ("off", *Level)
_SEMANTIC_FIELDS: Final = ("thinking", "opaque", "text")


@dataclass(frozen=True, slots=True)
class KnobReason:
    """Why a profile sets a knob, and the evidence."""

    because: str
    seen: str


@dataclass(frozen=True, slots=True)
class Override:
    """A rule that this system is known to break: judged at another level, or `off`."""

    level: Level | Literal["off"]
    because: str
    seen: str
    place: Place


@dataclass(frozen=True, slots=True)
class Profile:
    """One profile with everything it inherits.

    `knobs` holds a plain JSON value for every knob that the dialect declares; `reasons` only those
    that differ from strict. `extends` is empty for the profile that declares the knobs.
    `fingerprints` are the one thing that is not inherited.
    """

    name: str
    dialect: str
    title: str
    fields: Mapping[str, tuple[str, ...]]
    promises: tuple[str, ...]
    knobs: Mapping[str, Any]
    file: str
    declared: Mapping[str, Knob]
    reasons: Mapping[str, KnobReason] = field(default_factory=dict)
    overrides: Mapping[str, Override] = field(default_factory=dict)
    extends: str = ""
    fingerprints: tuple[Fingerprint, ...] = ()
    side: KnobSide = "server"


def load_profile(path: Path | str, folders: Iterable[Path] = ()) -> Profile:
    """Read a profile and what it extends. Raises `SpecError` with the place of the mistake."""
    return _load_file(Path(path), _checked_folders(folders), ()).profile


def find(name: str, dialect: str, folders: Iterable[Path] = ()) -> Profile:
    """Find a profile by name: user folders first, then shipped. `UsageError` if there is none.

    CLIENT/SERVER names the one laid over the other.
    """
    client, _, met = name.partition("/")
    if not (named_well(client) and named_well(met)):
        return _find_profile(name, dialect, folders)
    return laid_over(*(_find_profile(each, dialect, folders) for each in (client, met)))


def _find_profile(name: str, dialect: str, folders: Iterable[Path]) -> Profile:
    within = _checked_folders(folders)
    path = next(_candidate_paths(name, dialect, within), None)
    if path is None:
        hint = _suggest_profile(name, dialect, within)
        raise UsageError(f"no profile {name!r} for {dialect}", hint=hint)
    return _expect_name(_load_file(path, within, ()), name, dialect)


def available(folders: Iterable[Path] = ()) -> tuple[tuple[str, str, Path], ...]:
    """List (name, dialect, path) by dialect and name; a user's profile hides a shipped one."""
    found: dict[tuple[str, str], Path] = {}
    for folder in _checked_folders(folders):
        for path in sorted((*folder.glob("*.yaml"), *folder.glob("*/*.yaml"))):
            root = document.load(path)
            if root.kind == "mapping" and root.get("profile"):
                found.setdefault((_string_at(root, "dialect"), _string_at(root, "profile")), path)
    return tuple((name, dialect, found[dialect, name]) for dialect, name in sorted(found))


def named_well(name: str) -> bool:
    """Whether a profile may bear this name."""
    return bool(_NAME.fullmatch(name))


def fingerprints(dialect: str, folders: Iterable[Path] = ()) -> tuple[Fingerprint, ...]:
    """Collect the fingerprints of every profile of a dialect; a user's file hides a shipped one."""
    listed = [(name, path) for name, spoken, path in available(folders) if spoken == dialect]
    return tuple(each for name, path in listed for each in read(document.load(path), name, dialect))


def limits(path: Path | str, folders: Iterable[Path] = ()) -> tuple[SpecError, ...]:
    """Say what is allowed but wrong in a profile file: too many overrides, lines without effect."""
    file = _load_file(Path(path), _checked_folders(folders), ())
    return (*_too_many(file), *_without_effect(file))


def laid_over(client: Profile, met: Profile) -> Profile:
    """Give the profile by which a client is judged that met a server of profile `met`.

    Its name is CLIENT/SERVER, as `find` reads it. Raises `UsageError` for a profile that is no
    client's, and for two dialects.
    """
    if client.side != "client":
        raise UsageError(f"profile {client.name!r} is a server's: it is laid over nothing")
    if client.dialect != met.dialect:
        said = f"profile {client.name!r} is for {client.dialect}"
        raise UsageError(f"{said}, but the server speaks {met.dialect}")
    own = {name: client.knobs[name] for name, knob in met.declared.items() if knob.side == "client"}
    return replace(
        met,
        name=f"{client.name}/{met.name}",
        title=client.title,
        promises=client.promises,
        knobs={**met.knobs, **own},
        reasons={**met.reasons, **client.reasons},
        overrides={**met.overrides, **client.overrides},
        file=f"{client.file} over {met.file}",
        fingerprints=(),
        side="client",
    )


def reading(profile: Profile) -> Reading:
    """Tell a dialect how this system's streams are to be read."""
    knobs = profile.knobs
    return Reading(
        markers=tuple((pair[0], pair[1]) for pair in knobs.get("markers", ())),
        opened_by_prompt=knobs.get("think_opened_by") == "prompt",
        last_close=knobs.get("marker_close") == "last",
        fields=profile.fields,
    )


@dataclass(frozen=True, slots=True)
class _ProfileFile:
    """A profile file as it stands, beside what came of it."""

    root: Node
    profile: Profile
    parent: Profile | None


def _load_file(path: Path, folders: tuple[Path, ...], chain: tuple[Path, ...]) -> _ProfileFile:
    root = document.load(path)
    name, dialect = _string_at(root, "profile"), _string_at(root, "dialect")
    if name == "strict" and root.get("extends") is None:
        root.mapping(known=_HEAD)
        return _ProfileFile(root, _strict_profile(root, dialect), None)
    root.mapping(known=_HEAD | _OWN)
    home = path.parent.parent if path.parent.name == dialect else path.parent
    parent = _load_parent(root, dialect, (home, *folders), (*chain, path.resolve()))
    return _ProfileFile(root, _derived_profile(root, name, parent), parent)


def _load_parent(
    root: Node, dialect: str, folders: tuple[Path, ...], chain: tuple[Path, ...]
) -> Profile:
    name = _string_at(root, "extends") if root.get("extends") else "strict"
    at = root.get("extends") or root
    if len(chain) > _MAX_CHAIN:
        raise at.error(f"more than {_MAX_CHAIN} profiles extend each other")
    known = [path.resolve() for path in _candidate_paths(name, dialect, folders)]
    path = next((path for path in known if path not in chain), None)
    if path is None and known:
        raise at.error(f"profile {name!r} extends itself, through {len(chain)} file(s)")
    if path is None:
        hint = _suggest_profile(name, dialect, folders)
        raise at.error(f"no profile {name!r} for {dialect}", hint=hint)
    return _expect_name(_load_file(path, folders, chain), name, dialect)


def _expect_name(file: _ProfileFile, name: str, dialect: str) -> Profile:
    profile = file.profile
    if (profile.name, profile.dialect) != (name, dialect):
        said = f"{profile.name!r} for {profile.dialect}"
        raise file.root.error(f"the file is named for {name!r} for {dialect}, but says {said}")
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


def _entries_of(root: Node, key: str) -> dict[str, Node]:
    node = root.get(key)
    return node.mapping() if node else {}


def _string_at(node: Node, key: str) -> str:
    return node.required(key).string()


def _checked_folders(folders: Iterable[Path]) -> tuple[Path, ...]:
    """Give all folders to look in; the shipped one comes last."""
    own = tuple(Path(folder) for folder in folders)
    for folder in own:
        if not folder.is_dir():
            raise UsageError("no such folder of profiles", place=Place(str(folder)))
    return (*own, specs() / "profiles")


def _candidate_paths(name: str, dialect: str, folders: Iterable[Path]) -> Iterator[Path]:
    # A cassette may name its profile: the name must not lead out of the folders.
    if not (named_well(name) and named_well(dialect)):
        return
    for folder in folders:
        nested, flat = folder / dialect / f"{name}.yaml", folder / f"{name}.yaml"
        if nested.is_file():
            yield nested
        elif flat.is_file() and _string_at(document.load(flat), "dialect") == dialect:
            yield flat


def _suggest_profile(name: str, dialect: str, folders: Iterable[Path]) -> str:
    paths = [path for folder in folders for path in folder.glob("*/*.yaml")]
    names = {path.stem for path in paths if path.parent.name == dialect}
    others = sorted({path.parent.name for path in paths if path.stem == name})
    if others:
        return f"{name!r} is there for {', '.join(others)}"
    return nearest(name, names) or f"there are: {', '.join(sorted(names))}"


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


def profile_at_hand(name: str, dialect: str) -> Profile:
    """The profile of that name, or strict where it came from a file or folder of the user's."""
    try:
        return find(name, dialect)
    except ConformanceError:
        return find("strict", dialect)
