"""The folders in which profiles lie, and the files that a name may stand for.

Rule 1: a name is looked for in the user's folders first, then among the shipped profiles, as
`<folder>/<dialect>/<name>.yaml` or, in a user's folder, as `<folder>/<name>.yaml`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from conformance.core.errors import Place, UsageError
from conformance.core.shipped import specs
from conformance.rules import document
from conformance.rules.node import nearest

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


def named_well(name: str) -> bool:
    """Whether a profile may bear this name."""
    return bool(_NAME.fullmatch(name))


def checked_folders(folders: Iterable[Path]) -> tuple[Path, ...]:
    """Give all folders to look in; the shipped one comes last."""
    own = tuple(Path(folder) for folder in folders)
    for folder in own:
        if not folder.is_dir():
            raise UsageError("no such folder of profiles", place=Place(str(folder)))
    return (*own, specs() / "profiles")


def candidate_paths(name: str, dialect: str, folders: Iterable[Path]) -> Iterator[Path]:
    # A cassette may name its profile: the name must not lead out of the folders.
    if not (named_well(name) and named_well(dialect)):
        return
    for folder in folders:
        nested, flat = folder / dialect / f"{name}.yaml", folder / f"{name}.yaml"
        if nested.is_file():
            yield nested
        elif flat.is_file() and document.load(flat).required("dialect").string() == dialect:
            yield flat


def suggest_profile(name: str, dialect: str, folders: Iterable[Path]) -> str:
    paths = [path for folder in folders for path in folder.glob("*/*.yaml")]
    names = {path.stem for path in paths if path.parent.name == dialect}
    known = {path.parent.name for path in paths}
    if dialect not in known and (near := nearest(dialect, known)):
        return near
    others = sorted({path.parent.name for path in paths if path.stem == name})
    if others:
        return f"{name!r} is for {', '.join(others)}"
    return nearest(name, names) or f"there are: {', '.join(sorted(names))}"
