"""Drafts a `conformance.yaml` for a folder from the files in it and the owner's answers.

Rule 1: files are recognised by name, and YAML by its first keys: the walk is bounded, and nothing
in the folder is run or judged.
Rule 2: a profile is proposed in a comment only. Naming one is up to the owner, since it may silence
rules.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct

from conformance.baseline.spelling import spell_scalar
from conformance.cassette.recording import is_named_recording, open_recording
from conformance.cassette.search import MUTANTS
from conformance.core.configuration import CONFIGURATION, KEYS
from conformance.core.errors import ConformanceError
from conformance.core.regular_file import expect_regular
from conformance.recordings.choices import choose_dialect
from conformance.recordings.identification import identity_of
from conformance.rules import document
from conformance.runs.project import project_of
from conformance.runs.project_schemas import SCHEMAS

_DEPTH: Final = 4  # folders above a file that is met
_MOST_FILES: Final = 5000  # that are met
_MOST_YAML: Final = 200  # that are looked into
_MOST_BYTES: Final = 256 * 1024  # of a file that is looked into
_MOST_STREAMS: Final = 20  # whose sender is looked for
_LEFT_OUT: Final = frozenset({MUTANTS, "node_modules", "venv", "site-packages", "__pycache__"})
_YAML: Final = (".yaml", ".yml")
_TELLING: Final = re.compile(rb"^(?:suite|entries):", re.MULTILINE)
"""What a file that counts begins a line with: to parse all others would take long."""


class FoundFolder(Struct, frozen=True):
    """The content of a folder: recordings, files of rules, baselines, and the senders."""

    recordings: tuple[str, ...] = ()
    suites: tuple[str, ...] = ()
    baselines: tuple[str, ...] = ()
    profile: str = ""
    streams: int = 0  # that show the profile


class ProjectDraft(Struct, frozen=True):
    """The content of the file to write; `target` are the keys of the one target, by name."""

    found: FoundFolder = FoundFolder()
    recordings: tuple[str, ...] = ()
    profile: str = ""
    target_name: str = ""
    target: Mapping[str, str] = {}


def look_around(folder: Path = Path()) -> FoundFolder:
    """The files of a folder that a project file can name (rule 1)."""
    met = list(_files_below(folder))
    recordings = [path for path in met if is_named_recording(path)]
    tops = dict.fromkeys(_top(path, folder) for path in recordings)
    yamls = [path for path in met if path.suffix in _YAML and path.name != CONFIGURATION]
    kinds = {path: _kind_of(path) for path in yamls[:_MOST_YAML]}
    profile, streams = _sender(recordings)
    return FoundFolder(
        tuple(tops),
        tuple(_below(path, folder) for path, kind in kinds.items() if kind == "suite"),
        tuple(_below(path, folder) for path, kind in kinds.items() if kind == "entries"),
        profile,
        streams,
    )


def _files_below(folder: Path) -> Iterator[Path]:
    left = _MOST_FILES
    for where, folders, names in os.walk(folder):
        depth = len(Path(where).relative_to(folder).parts)
        folders[:] = filter(_is_ours, sorted(folders)) if depth < _DEPTH else ()
        for name in filter(str.isprintable, sorted(names)):
            if left == 0:
                return
            left -= 1
            yield Path(where, name)


def _is_ours(name: str) -> bool:
    """Whether a name is neither hidden, nor of another tool, nor impossible to write as text."""
    return name[:1] != "." and name not in _LEFT_OUT and name.isprintable()


def _top(path: Path, folder: Path) -> str:
    return path.relative_to(folder).parts[0] if path.parent != folder else "."


def _below(path: Path, folder: Path) -> str:
    return path.relative_to(folder).as_posix()


def _kind_of(path: Path) -> str:
    """The key that identifies a YAML file of this tool; empty for any other."""
    try:
        expect_regular(path)
        if path.stat().st_size > _MOST_BYTES or not _TELLING.search(path.read_bytes()):
            return ""
        keys = document.load(path).mapping()
    except (ConformanceError, OSError):
        return ""
    return "suite" if {"suite", "rules"} <= keys.keys() else "entries" if "entries" in keys else ""


def _sender(recordings: Sequence[Path]) -> tuple[str, int]:
    """The one profile whose signs all streams show, and how many were looked at."""
    shown: Counter[str] = Counter()
    for path in recordings[:_MOST_STREAMS]:
        try:
            if path.stat().st_size <= _MOST_BYTES:
                shown.update(_shown_profiles(path))
        except (ConformanceError, OSError):
            continue  # `check` reports the mistake
    (profile, streams), *others = shown.most_common() or [("", 0)]
    return ("", 0) if others else (profile, streams)


def _shown_profiles(path: Path) -> Iterator[str]:
    recording = open_recording(path)
    for exchange in recording.exchanges:
        dialect = choose_dialect(exchange, exchange.dialect or recording.header.dialect)
        identity = identity_of(recording, exchange, dialect)
        yield identity.profile or "" if identity.certainty == "certain" else ""


def spell_project(draft: ProjectDraft) -> str:
    """The text of the file. Raises SpecError where its own reader would refuse it."""
    text = "\n".join(_lines(draft)) + "\n"
    project_of(document.parse(text, CONFIGURATION).mapping(KEYS))
    return text


def _lines(draft: ProjectDraft) -> Iterator[str]:
    yield f"# yaml-language-server: $schema={SCHEMAS.as_posix()}/project.schema.json"
    yield "# The conformance project of this folder; `conformance schema project` lists all keys."
    yield ""
    yield "# What `conformance check` judges."
    yield f"recordings: {_spell_list(draft.recordings)}"
    yield ""
    yield "# All rules that ship, and those of your own."
    yield f"suites: {_spell_list(('shipped', *draft.found.suites))}"
    yield ""
    yield from _profile_lines(draft)
    yield from _baseline_lines(draft.found.baselines)
    yield "# What `check` and `run` also write."
    yield "# reports: {html: report.html, junit: junit.xml}"
    if draft.target:
        yield ""
        yield f"# conformance run --target {draft.target_name}"
        yield "targets:"
        yield f"  {spell_scalar(draft.target_name)}:"
        yield from (f"    {key}: {spell_scalar(value)}" for key, value in draft.target.items())


def _profile_lines(draft: ProjectDraft) -> Iterator[str]:
    yield "# How the system speaks. A profile that you name is your word: its knobs hold."
    if draft.profile:
        yield f"profile: {spell_scalar(draft.profile)}"
    elif draft.found.profile:
        seen = f"shown by {draft.found.streams} of {draft.found.streams} streams"
        yield f"# profile: {draft.found.profile}    # {seen}"
    else:
        yield "# profile: strict"
    yield ""


def _baseline_lines(baselines: Sequence[str]) -> Iterator[str]:
    yield "# Violations that are known; `conformance baseline` writes them down."
    named = spell_scalar(baselines[0]) if len(baselines) == 1 else ""
    yield f"expected-failures: {named}" if named else "# expected-failures: expected.yaml"
    yield ""


def _spell_list(values: Sequence[str]) -> str:
    return f"[{', '.join(map(spell_scalar, values))}]"
