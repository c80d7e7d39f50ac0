"""A summary held against its recordings: one line for each thing that does not agree.

Rule 1: which file is judged is the summary's word only as far as it stays in the folder, links
followed; a file that the summary does not list is a line, too.
Rule 2: the verdict is found anew, from the recordings as they are, by the rules that are here.
Another version of tool or rules is a separate line: what differs below it may be its doing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from conformance.board.saved_run import file_digest, run_files, summarise
from conformance.board.summary import (
    SUFFIX,
    RunSummary,
    checked_summary,
    read_summary,
    summary_bytes,
)
from conformance.core.errors import Place, UsageError
from conformance.report.files import write_whole
from conformance.report.printable import visible

_SHOWN: Final = 12  # characters of a digest
_ORDER: Final = ("PASS", "FAIL", "INCONCLUSIVE", "UNTESTABLE", "VACUOUS", "NOT-APPLICABLE", "ERROR")


def recordings_folder(path: Path) -> Path:
    """The folder for the recordings of a summary where none is named."""
    return path.with_name(path.name.removesuffix(SUFFIX).removesuffix(".json"))


def disagreements(summary: RunSummary, folder: Path) -> list[str]:
    """One line each. Raises UsageError where the recordings are not there, or are no run."""
    return held_against(summary, folder)[0]


def held_against(summary: RunSummary, folder: Path) -> tuple[list[str], RunSummary | None]:
    """What does not agree, and what the listed recordings give; None where none of them is there.

    Raises UsageError where there are no recordings, or they are no run.
    """
    there = set(run_files(folder))
    listed = {each.file: each.sha256 for each in summary.recordings}
    lines = list(_file_lines(folder, there, listed))
    kept = sorted(there & listed.keys())
    if not kept:
        return lines, None
    found = checked_summary(summarise(folder, kept, summary.link))
    return lines + list(_judged_lines(summary, found)), found


def judge_again(path: Path) -> bool:
    """Writes the summary anew by the rules of today; whether anything changed.

    Where the recordings lie elsewhere nothing does. Raises UsageError where they are not those
    that were judged.
    """
    summary, folder = read_summary(path), recordings_folder(path)
    if not folder.is_dir():
        return False
    files = run_files(folder)
    listed = {each.file: each.sha256 for each in summary.recordings}
    for line in _file_lines(folder, set(files), listed):
        raise UsageError(line, place=Place(str(path)))
    found = checked_summary(summarise(folder, files, summary.link))
    if found != summary:
        write_whole(path, summary_bytes(found))
    return found != summary


def _file_lines(folder: Path, there: set[str], listed: Mapping[str, str]) -> Iterator[str]:
    top = folder.resolve()
    for file in sorted(there):
        if not (folder / file).resolve().is_relative_to(top):  # rule 1
            raise UsageError("leads out of the folder of the run", place=Place(str(folder / file)))
    for file in sorted(listed.keys() - there):
        yield f"recording {file}: it is missing"
    for file in sorted(there - listed.keys()):
        yield f"recording {visible(file)}: the summary does not list it"
    for file in sorted(there & listed.keys()):
        found = file_digest(folder / file)
        if found != listed[file]:
            yield f"recording {file}: {_expected(listed[file][:_SHOWN], found[:_SHOWN], 'sha256 ')}"


def _judged_lines(kept: RunSummary, found: RunSummary) -> Iterator[str]:
    if kept.rules.tool != found.rules.tool:
        yield f"tool: it was judged by version {kept.rules.tool}, this is {found.rules.tool}"
    if kept.rules.sha256 != found.rules.sha256:
        both = _expected(kept.rules.sha256[:_SHOWN], found.rules.sha256[:_SHOWN], "sha256 ")
        yield f"rules: {both}"
    for name in ("kind", "name", "version", "date"):
        yield from _value_line(f"run {name}", getattr(kept.run, name), getattr(found.run, name))
    kept_profiles, found_profiles = kept.rules.profiles, found.rules.profiles
    yield from _value_line("profiles", ", ".join(kept_profiles), ", ".join(found_profiles))
    yield from _value_line("streams", kept.streams, found.streams)
    for family in sorted(kept.families.keys() | found.families.keys()):
        one, two = kept.families.get(family, {}), found.families.get(family, {})
        yield from _value_line(f"verdicts {family}", _counts(one), _counts(two))
    yield from _set_lines("rule that fails", kept.failed, found.failed)
    groups = [[f"{each.rule} {each.id}" for each in part.groups] for part in (kept, found)]
    yield from _set_lines("finding", *groups)
    yield from _set_lines("rule silenced by claims", [*kept.silenced], [*found.silenced])


def _value_line(name: str, kept: Any, found: Any) -> Iterator[str]:
    if kept != found:
        yield f"{name}: {_expected(str(kept), str(found))}"


def _set_lines(name: str, kept: Sequence[str], found: Sequence[str]) -> Iterator[str]:
    for each in sorted(set(found) - set(kept)):
        yield f"{name}: {visible(each)} is not in the summary"
    for each in sorted(set(kept) - set(found)):
        yield f"{name}: {visible(each)} is not in the recordings"


def _expected(kept: str, found: str, unit: str = "") -> str:
    one, two = visible(kept) or "none", visible(found) or "none"
    return f"the summary says {unit}{one}, the recordings {two}"


def _counts(verdicts: Mapping[Any, int]) -> str:
    return ", ".join(f"{verdicts[each]} {each}" for each in _ORDER if verdicts.get(each))
