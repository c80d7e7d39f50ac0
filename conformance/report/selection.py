"""A finding found again by its id: in recordings, or by way of a json report that names them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from conformance.cassette import Recording, open_recording
from conformance.core.errors import ConformanceError, SpecError, UsageError
from conformance.judging.group_id import group_id
from conformance.judging.result import Finding, StreamResult
from conformance.judging.rule_names import find_rule_id
from conformance.judging.rulebook import Rulebook
from conformance.judging.run_rules import ADDED_RULES
from conformance.profiles.lookup import profile_at_hand
from conformance.recordings.check import check_recording, recording_files
from conformance.recordings.choices import CheckChoices
from conformance.systems import read_streams

_SHOWN: Final = 8  # ids that are listed if the requested one does not exist
_ID: Final = re.compile(r"[0-9a-f]+(?:/[0-9a-f]+)?")  # of a finding or a group
_SHORTEST: Final = 4  # characters of an id that are enough


class SelectedFinding(Struct, frozen=True):
    """The finding, where it is, and how it was judged; `others` counts it elsewhere."""

    recording: Recording
    stream: StreamResult
    finding: Finding
    choices: CheckChoices
    others: int = 0


def select_finding(
    wanted: str, paths: Sequence[Path], choices: CheckChoices, rulebook: Rulebook
) -> SelectedFinding:
    """The first finding of that id, or of the group or rule of that id or short name.

    Raises UsageError if there is none. Paths are recordings, folders of them, or json reports.
    Files that cannot be judged are skipped as long as another one has the finding.
    """
    wanted = _meant_rule(wanted, rulebook)
    found: list[SelectedFinding] = []
    known: dict[str, str] = {}
    errors: list[str] = []
    for path in _recording_files(paths, wanted):
        try:
            for each in _judged_findings(path, choices, rulebook):
                known.setdefault(each.finding.id, each.finding.rule)
                if _is_selected(wanted, each.finding):
                    found.append(each)
        except SpecError:
            raise
        except ConformanceError as error:
            errors.append(str(error) if error.place else f"{path}: {error}")
    if not found:
        raise UsageError(f"there is no finding {wanted!r}", hint=_known_findings(known, errors))
    return replace(found[0], others=len(found) - 1)


def _meant_rule(wanted: str, rulebook: Rulebook) -> str:
    """The id of a rule for its short name; anything else stays."""
    rules = [*(rule.id for rule in rulebook.rules), *ADDED_RULES]
    if not wanted or _ID.fullmatch(wanted) or not any(wanted in rule for rule in rules):
        return wanted
    return find_rule_id(wanted, rules)


def _is_selected(wanted: str, finding: Finding) -> bool:
    if wanted == finding.rule:
        return True
    ids = finding.id, group_id(finding)
    return len(wanted) >= _SHORTEST and any(each.startswith(wanted) for each in ids)


def _known_findings(known: dict[str, str], errors: list[str]) -> str:
    if errors:
        return f"not judged: {errors[0]}"
    if not known:
        return "nothing was found in these recordings"
    findings = [f"{each} ({rule})" for each, rule in list(known.items())[:_SHOWN]]
    more = f" and {len(known) - _SHOWN} more" if len(known) > _SHOWN else ""
    return f"there are {', '.join(findings)}{more}"


def _judged_findings(
    path: Path, choices: CheckChoices, rulebook: Rulebook
) -> Iterator[SelectedFinding]:
    recording = open_recording(path, dialect=choices.dialect)
    for stream in check_recording(recording, rulebook, choices):
        # A smaller recording may lack the signs that a profile was identified by: it is named.
        profile = choices.profile or profile_at_hand(stream.profile, stream.dialect).name
        fixed = replace(choices, profile=profile)
        for finding in stream.findings:
            yield SelectedFinding(recording, stream, finding, fixed)


def _recording_files(paths: Sequence[Path], wanted: str) -> Iterator[Path]:
    read_files: set[Path] = set()
    for path in paths:
        named = _named_by_report(path, wanted) if path.suffix == ".json" else None
        for file in recording_files([path]) if named is None else named:
            if file not in read_files:
                read_files.add(file)
                yield file


def _named_by_report(path: Path, wanted: str) -> list[Path] | None:
    """The files in which a json report has the finding; None for a file that is not a report."""
    try:
        streams = read_streams(path)
    except SpecError:
        return None
    named = (
        Path(stream.file)
        for stream in streams
        if stream.file
        and any(
            wanted == f.rule or f.id.startswith(wanted) or f.group.startswith(wanted)
            for f in stream.findings
        )
    )
    return list(dict.fromkeys(named))
