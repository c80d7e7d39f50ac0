"""The values built from the YAML files: a wheel ships them, and make builds them for a checkout."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from conformance.core.built_values import SpecValue, write_checkout_values, write_values
from conformance.core.shipped import specs
from conformance.dialects.marker_families import FILE_NAME, read_families
from conformance.judging.suites import dialect_vocabulary, suite_files
from conformance.profiles.fingerprints import read
from conformance.profiles.load import load_named
from conformance.profiles.profile import Profile
from conformance.rules import document
from conformance.rules.load import load_suite


def build_values(file: Path) -> None:
    """Read every shipped suite and profile from YAML, and write what came of them to a file."""
    write_values(file, spec_values())


def build_for_checkout() -> None:
    """Write them where this checkout looks for them; `make` runs it."""
    write_checkout_values(spec_values())


def spec_values() -> Iterator[SpecValue]:
    """Every shipped suite, profile, and fingerprints of a profile, as YAML states them."""
    for path in suite_files(specs()):
        yield SpecValue("suite", path, load_suite(path, dialect_vocabulary))
    registry = specs() / FILE_NAME
    yield SpecValue("markers", registry, read_families(document.load(registry)))
    folder = specs() / "profiles"
    for path in sorted(folder.glob("*/*.yaml")):
        name, dialect = path.stem, path.parent.name
        profile = _load_shipped(folder, name, dialect)
        yield SpecValue("profile", path, profile, (*_ancestor_files(folder, profile), registry))
        yield SpecValue("fingerprints", path, read(document.load(path), name, dialect))


def _load_shipped(folder: Path, name: str, dialect: str) -> Profile:
    return load_named(folder / dialect / f"{name}.yaml", name, dialect, (folder,))


def _ancestor_files(folder: Path, profile: Profile) -> Iterator[Path]:
    while profile.extends:
        profile = _load_shipped(folder, profile.extends, profile.dialect)
        yield Path(profile.file)
