"""Where the package's data is: rules, profiles, scenarios, cassettes.

A wheel has it inside the package, a checkout next to the package.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from conformance.core.errors import HarnessError

_PACKAGE: Final = Path(__file__).resolve().parent.parent
_DATA: Final = "_data"
VALUES_NAME: Final = "built_values.pickle"
"""The file of values that were built from the YAML files."""


def specs() -> Path:
    """Folder of the shipped YAML files. Raises `HarnessError` if it was not installed."""
    return _shipped_folder("specs")


def cassettes() -> Path:
    """Folder of the shipped recordings. Raises `HarnessError` if it was not installed."""
    return _shipped_folder("cassettes")


def is_in_wheel(folder: Path) -> bool:
    """Whether a shipped folder lies inside the package."""
    return folder.parent == _PACKAGE / _DATA


def values_file() -> Path:
    """Where the values built from the shipped YAML files are, if they were."""
    folder = specs()
    place = folder.parent if is_in_wheel(folder) else folder.parent / "build" / "values"
    return place / VALUES_NAME


def _shipped_folder(name: str) -> Path:
    places = (_PACKAGE / _DATA / name, _PACKAGE.parent / name)
    for place in places:
        if place.is_dir():
            return place
    tried = " or ".join(str(place) for place in places)
    raise HarnessError(f"the shipped folder {name!r} is missing: expected {tried}")
