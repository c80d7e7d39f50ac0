"""Recordings, linted: each by itself, and together against the rules they should exercise."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from conformance.cassette import Recording, discover, is_recording, open_recording
from conformance.cassette.pipes import STDIN
from conformance.cassette.search import MUTANTS, named_paths
from conformance.core.errors import ConformanceError, Place, UsageError
from conformance.core.unexpected import refuse_unexpected
from conformance.judging.result import StreamResult
from conformance.judging.rulebook import Rulebook
from conformance.judging.run_rules import ADDED_RULES
from conformance.judging.suites import load_suites, shipped_suites
from conformance.recordings.check import check_recording
from conformance.recordings.choices import CheckChoices
from conformance.recordings.lint_recording import find_flaws
from conformance.recordings.lint_requests import RequestMatching
from conformance.rules.lint import Problem
from conformance.rules.model import Suite
from conformance.rules.verdicts import Verdict


class LintedRecordings(NamedTuple):
    """Problems of recordings, and how many of each kind were looked at."""

    problems: list[Problem]
    kinds: Mapping[str, int]


def lint_recordings(paths: Sequence[Path], suites: Sequence[Suite] = ()) -> LintedRecordings:
    """What is wrong with recordings in files and below folders, also those that fail on purpose.

    `suites` are linted along: a rule of theirs that no recording exercises is a warning. Raises
    UsageError for a path that is not there.
    """
    rules = {rule.id for suite in (*shipped_suites(), *suites) for rule in suite.rules}
    rules |= ADDED_RULES.keys()
    problems: list[Problem] = []
    good: list[Recording] = []
    kinds: Counter[str] = Counter()
    matching = RequestMatching()
    folders = tuple(each for path in paths for each in (path / "profiles",) if each.is_dir())
    for path in recording_paths(paths):
        try:
            recording = open_recording(path)
            kinds[recording.kind] += 1
            with refuse_unexpected(path):
                found = find_flaws(recording, rules, folders)
        except ConformanceError as err:
            place = err.place or Place(str(path))
            problems.append(Problem(place, _error_text(err), "error", "unreadable"))
            continue
        problems += found.problems
        if found.thinks is not None:
            matching.add(recording, thinks=found.thinks)
            good += [recording] if suites else []
    problems += matching.problems()
    return LintedRecordings([*problems, *_unexercised_rules(good, suites, folders)], kinds)


def recording_paths(paths: Sequence[Path]) -> list[Path]:
    """Recordings among the files, and all below the folders, those that fail on purpose too."""
    found: dict[Path, None] = {}
    for path in chain.from_iterable(map(named_paths, paths)):
        if path.is_dir():
            mutants = [each for each in path.rglob(MUTANTS) if each.is_dir()]
            found.update(dict.fromkeys(chain(discover(path), *map(discover, sorted(mutants)))))
        elif is_recording(path):
            found[path] = None
    return list(found)


def split_paths(paths: Sequence[Path]) -> tuple[list[Path], list[Path]]:
    """Which paths hold YAML files of ours, and which hold recordings; a folder may hold both."""
    named = list(chain.from_iterable(map(_named_paths, paths)))
    recorded = [path for path in named if _is_there(path) and recording_paths([path])]
    written = [path for path in named if (_holds_yaml(path) if path in recorded else True)]
    return written, recorded


def _named_paths(path: Path) -> list[Path]:
    """As `named_paths`; of a path that is not there the lint of YAML files shows."""
    try:
        return named_paths(path)
    except UsageError:
        return [path]


def _is_there(path: Path) -> bool:
    return path == STDIN or path.exists()


def _holds_yaml(folder: Path) -> bool:
    return folder.is_dir() and any(next(folder.rglob(glob), None) for glob in ("*.yaml", "*.yml"))


def suites_in(paths: Sequence[Path]) -> tuple[Suite, ...]:
    """Suites below folders; none where one of them is broken."""
    folders = [str(path) for path in paths if path.is_dir()]
    try:
        return load_suites(folders) if folders else ()
    except ConformanceError:
        return ()  # the lint of that file shows it


def _error_text(err: ConformanceError) -> str:
    return f"{err.message} ({err.hint})" if err.hint else err.message


def _unexercised_rules(
    good: Sequence[Recording], suites: Sequence[Suite], folders: tuple[Path, ...]
) -> Iterator[Problem]:
    """Rules that no recording makes fire; only where both were given."""
    if not (good and suites):
        return
    rulebook = Rulebook(suites)
    fired = {
        rule
        for recording in good
        for result in _results_of(recording, rulebook, folders)
        for rule, verdict in result.verdicts.items()
        if verdict in (Verdict.PASS, Verdict.FAIL)
    }
    for rule in rulebook.rules:
        if rule.id not in fired:
            message = f"no recording exercises rule {rule.id!r}"
            yield Problem(rule.place, message, "warning", "unexercised")


def _results_of(
    recording: Recording, rulebook: Rulebook, folders: tuple[Path, ...]
) -> Sequence[StreamResult]:
    try:
        return check_recording(recording, rulebook, CheckChoices(folders=folders, keep=True))
    except ConformanceError:
        return ()  # reported by its own lint
