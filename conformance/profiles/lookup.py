"""Profiles by name, and the fingerprints of all profiles of a dialect."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from conformance.core.built_values import built_value
from conformance.core.errors import ConformanceError, UsageError
from conformance.profiles.fingerprints import Fingerprint, read
from conformance.profiles.folders import (
    candidate_paths,
    checked_folders,
    named_well,
    suggest_profile,
)
from conformance.profiles.load import load_named
from conformance.profiles.profile import Profile, laid_over
from conformance.rules import document


def find(name: str, dialect: str, folders: Iterable[Path] = ()) -> Profile:
    """Find a profile by name: user folders first, then shipped. `UsageError` if there is none.

    CLIENT/SERVER names the one laid over the other.
    """
    within = checked_folders(folders)
    first, *others = (_find_profile(each, dialect, within) for each in _names(name))
    return laid_over(first, *others) if others else first


def has_profile(dialect: str, name: str, folders: Iterable[Path] = ()) -> bool:
    """Whether a dialect has a profile of that name, or a client's laid over a server's."""
    own, names = tuple(folders), _names(name)
    try:
        within = checked_folders(own)
        # The hint of `find` on the nearest name searches every folder, and is not shown here.
        if not all(any(candidate_paths(each, dialect, within)) for each in names):
            return False
        if own or len(names) > 1:  # else it ships: lint reads it, no check needs to
            find(name, dialect, own)
    except UsageError:
        return False
    return True


def _names(name: str) -> tuple[str, ...]:
    """The profiles that a name stands for: two of CLIENT/SERVER, else the one."""
    client, _, met = name.partition("/")
    return (client, met) if named_well(client) and named_well(met) else (name,)


def _find_profile(name: str, dialect: str, within: tuple[Path, ...]) -> Profile:
    path = next(candidate_paths(name, dialect, within), None)
    if path is None:
        hint = suggest_profile(name, dialect, within)
        raise UsageError(f"no profile {name!r} for {dialect}", hint=hint)
    built: Profile | None = built_value("profile", path)
    return built or load_named(path, name, dialect, within)


def available(folders: Iterable[Path] = ()) -> tuple[tuple[str, str, Path], ...]:
    """List (name, dialect, path) by dialect and name; a user's profile hides a shipped one."""
    *own, shipped = checked_folders(folders)
    # What ships lies in the folder of its dialect under its own name: no file need be read.
    found = {(path.parent.name, path.stem): path for path in shipped.glob("*/*.yaml")}
    found |= _profile_files(own)
    return tuple((name, dialect, found[dialect, name]) for dialect, name in sorted(found))


def _profile_files(own: Iterable[Path]) -> dict[tuple[str, str], Path]:
    """The user's files by the dialect and name that they state; of two the first counts."""
    found: dict[tuple[str, str], Path] = {}
    for folder in own:
        for path in sorted((*folder.glob("*.yaml"), *folder.glob("*/*.yaml"))):
            root = document.load(path)
            if root.kind == "mapping" and root.get("profile"):
                dialect = root.required("dialect").string()
                found.setdefault((dialect, root.required("profile").string()), path)
    return found


def fingerprints(dialect: str, folders: Iterable[Path] = ()) -> tuple[Fingerprint, ...]:
    """Collect the fingerprints of every profile of a dialect; a user's file hides a shipped one."""
    *own, shipped = checked_folders(folders)
    paths = {path.stem: path for path in (shipped / dialect).glob("*.yaml")}
    listed = _profile_files(own).items()
    paths |= {name: path for (spoken, name), path in listed if spoken == dialect}
    return tuple(
        each for name in sorted(paths) for each in _fingerprints_of(paths[name], name, dialect)
    )


def _fingerprints_of(path: Path, name: str, dialect: str) -> tuple[Fingerprint, ...]:
    built: tuple[Fingerprint, ...] | None = built_value("fingerprints", path)
    return read(document.load(path), name, dialect) if built is None else built


def profile_at_hand(name: str, dialect: str) -> Profile:
    """The profile of that name, or strict where it came from a file or folder of the user's."""
    try:
        return find(name, dialect)
    except ConformanceError:
        return find("strict", dialect)
