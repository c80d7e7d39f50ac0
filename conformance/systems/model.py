"""What is known of a system as frozen values: its documents, its presets, its requirements."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from conformance.core.errors import Place
from conformance.rules.verdicts import Verdict

SIDES: Final = ("server", "client", "both", "recorder")
"""Whose behaviour a requirement is about; a recorder writes fixtures for tests."""
PRESET_SIDES: Final = ("server", "client")


@dataclass(frozen=True, slots=True)
class Preset:
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


@dataclass(frozen=True, slots=True)
class Source:
    """Where a behaviour is documented: the key of a document, and the place in it."""

    document: str
    at: str


@dataclass(frozen=True, slots=True)
class Requirement:
    """One documented behaviour: the rules that judge it, or the reason why none can.

    `scenarios` are globs over `scenario/role`, empty for every exchange. `verdict` is what a run
    of each of the `presets` must come to.
    """

    id: str
    says: str
    side: str
    source: Source
    place: Place
    rules: tuple[str, ...] = ()
    reason: str = ""
    scenarios: tuple[str, ...] = ()
    presets: tuple[Preset, ...] = ()
    verdict: Verdict = Verdict.PASS


@dataclass(frozen=True, slots=True)
class System:
    """Everything that one system's documents ask for."""

    name: str
    title: str
    documents: Mapping[str, str]
    presets: tuple[Preset, ...]
    requirements: tuple[Requirement, ...]
    file: str
