"""A saved run, judged again from its recordings alone, and put into one summary.

Rule 1: nothing but the recordings counts: the target, the dates, and the verdict of each rule.
Rule 2: a run is judged as it was, by all that its recordings say of it; what holds by their word
alone, and would be broken or open without it, is in `silenced` with whose word it is.
Rule 3: of a client what it reported is judged, not the recordings that it was given.
"""

from __future__ import annotations

import gzip
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from msgspec.structs import replace

from conformance import __version__
from conformance.board.summary import (
    MOST_GROUPS,
    MOST_RECORDINGS,
    SUFFIX,
    FirstPlace,
    GroupSummary,
    JudgedBy,
    RecordingDigest,
    RunSummary,
    RunTarget,
    checked_summary,
    expect_link,
    summary_bytes,
)
from conformance.cassette import Header, discover, read
from conformance.core.errors import Place, UsageError
from conformance.evidence.application import APP
from conformance.evidence.expectations import stated_run
from conformance.judging.client_view import IMPLEMENTATION
from conformance.judging.groups import FindingGroup, every_group, finding_groups
from conformance.judging.result import JudgedCall, Report
from conformance.judging.suites import load_suites
from conformance.recordings.check import check_paths
from conformance.report.files import write_whole
from conformance.report.json import VERSION
from conformance.report.printable import visible
from conformance.report.redacted import redact_report
from conformance.report.versions import call_object
from conformance.rules.verdicts import Verdict

_PLAIN: Final = ".cassette.jsonl"
_KINDS: Final[Mapping[str, str]] = {"server": "server", "gateway": "gateway", APP: "application"}
_MESSAGE: Final = 400
_SAVED: Final = "conformance run --target NAME-VERSION --save DIR writes a saved run"
_BROKEN: Final = frozenset({Verdict.FAIL, Verdict.ERROR})


def add_run(board: Path, run: Path, link: str = "") -> Path:
    """Puts the summary of a saved run into the folder of a board, and gives its path.

    Without a link the recordings are put next to it, packed. Raises UsageError for what is no
    saved run, or is there already.
    """
    expect_link(link)
    summary = checked_summary(summarise(run, run_files(run), link))
    about = summary.run
    stem = "-".join(filter(None, (about.kind, about.name, about.version, about.date)))
    path = board / f"{stem}{SUFFIX}"
    kept = board / stem
    if path.exists() or kept.exists():
        raise UsageError("this run is on the board already", place=Place(str(path)))
    board.mkdir(parents=True, exist_ok=True)
    if not link:
        for each in summary.recordings:
            _pack(run / each.file, kept / each.file)
        summary = checked_summary(summarise(kept, run_files(kept)))
    write_whole(path, summary_bytes(summary))
    return path


def run_files(folder: Path) -> tuple[str, ...]:
    """The recordings of a saved run, by their paths in its folder."""
    if not folder.is_dir():
        raise UsageError("is no folder of a saved run", place=Place(str(folder)), hint=_SAVED)
    found = tuple(path.relative_to(folder).as_posix() for path in discover(folder))
    if not 0 < len(found) <= MOST_RECORDINGS:
        message = f"expected 1 to {MOST_RECORDINGS} recordings, found {len(found)}"
        raise UsageError(message, place=Place(str(folder)), hint=_SAVED)
    return found


def summarise(folder: Path, files: Sequence[str], link: str = "") -> RunSummary:
    """The summary of these recordings in a folder. Raises UsageError for what is no saved run."""
    paths = [folder / file for file in files]
    about = _run_target([(path, read(path).header) for path in paths])
    view = "client" if about.kind == "client" else "wire"
    report = _of_view(check_paths(paths, trust=[folder]), view)
    if report.errors:
        raise UsageError(report.errors[0])
    by_evidence = _of_view(check_paths(paths), view)
    groups = tuple(_group_summaries(redact_report(report), folder))
    return RunSummary(
        report=VERSION,
        run=about,
        rules=_judged_by(report),
        recordings=tuple(RecordingDigest(f, file_digest(folder / f)) for f in files),
        streams=len(report.streams),
        families=_family_counts(report),
        failed=tuple(rule for rule, verdict in report.verdicts.items() if verdict in _BROKEN),
        groups=groups[:MOST_GROUPS],
        silenced=_by_their_word(report, by_evidence),
        link=link,
    )


def file_digest(path: Path) -> str:
    """The SHA-256 of a file as it lies there."""
    with path.open("rb") as file:
        digest = sha256()
        while piece := file.read(1 << 20):
            digest.update(piece)
    return digest.hexdigest()


def _run_target(headers: Sequence[tuple[Path, Header]]) -> RunTarget:
    """The target, and the last day on which it was recorded."""
    found = [(path, _target_of(path, header)) for path, header in headers]
    first_path, first = found[0]
    for path, other in found:
        if replace(other, date=first.date) != first:
            message = f"is a run of {_named(other)}, {first_path.name} one of {_named(first)}"
            raise UsageError(message, place=Place(str(path)))
    return replace(first, date=max(each.date for _, each in found))


def _named(target: RunTarget) -> str:
    return " ".join(filter(None, (target.kind, target.name, target.version)))


def _target_of(path: Path, header: Header) -> RunTarget:
    about: Any = header.extra.get(IMPLEMENTATION)
    run = stated_run(header) or {}
    if isinstance(about, Mapping):
        kind, when = "client", header.extra.get("seen_at")
    else:
        kind, when = _KINDS.get(str(run.get("target")), ""), header.recorded_at
        about = header.target
    name, version = str(about.get("name") or ""), str(about.get("version") or "")
    day = str(when or "")[:10]
    if not kind or not name or not day:
        lacks = "its target's name" if kind and not name else "what was run, and when"
        raise UsageError(f"does not say {lacks}", place=Place(str(path)), hint=_SAVED)
    return RunTarget(kind=kind, name=name, version=version, date=day)  # type: ignore[arg-type]  # the reader checks it


def _of_view(report: Report, view: str) -> Report:
    """Rule 3."""
    kept = tuple(each for each in report.streams if each.view == view)
    return replace(report, streams=kept)


def _judged_by(report: Report) -> JudgedBy:
    """One digest over all files of rules and profiles that judged: short enough to compare."""
    suites = {suite.id: suite.file for suite in load_suites(())}
    call = JudgedCall(started="", seconds=0.0, suites=suites)
    fields = call_object(replace(report, call=call)) or {}
    digest = sha256()
    for each in (*fields["rules"]["suites"], *fields["profiles"]):
        digest.update(f"{each.get('id', each.get('name'))} {each['sha256']}\n".encode())
    profiles = (f"{each['name']} ({each['dialect']})" for each in fields["profiles"])
    return JudgedBy(__version__, digest.hexdigest(), tuple(visible(each) for each in profiles))


def _family_counts(report: Report) -> dict[str, dict[Verdict, int]]:
    counts: dict[str, Counter[Verdict]] = {}
    for rule, verdict in report.verdicts.items():
        counts.setdefault(rule.partition("/")[0], Counter())[verdict] += 1
    return {family: dict(sorted(found.items())) for family, found in sorted(counts.items())}


def _group_summaries(report: Report, folder: Path) -> Iterator[GroupSummary]:
    for group in every_group(finding_groups(report)):
        yield GroupSummary(
            id=group.id,
            rule=group.first.rule,
            level=group.first.level,
            message=visible(group.first.message, _MESSAGE),
            streams=group.streams,
            judged=group.judged,
            first=_first_place(group, folder),
        )


def _first_place(group: FindingGroup, folder: Path) -> FirstPlace:
    file = Path(group.stream.file).relative_to(folder).as_posix()
    return FirstPlace(file, group.stream.exchange, group.first.line or 0, group.first.id)


def _by_their_word(report: Report, by_evidence: Report) -> dict[str, str]:
    """Rule 2."""
    found = {rule: why for why, rules in by_evidence.silenced.items() for rule in rules}
    verdicts = report.verdicts
    for rule, verdict in by_evidence.verdicts.items():
        if verdict in _BROKEN and verdicts.get(rule) not in _BROKEN:
            found.setdefault(rule, "what its run says")
    return {rule: visible(found[rule], _MESSAGE) for rule in sorted(found) if rule in verdicts}


def _pack(source: Path, kept: Path) -> None:
    data = source.read_bytes()
    packed = source.name.endswith(_PLAIN)
    target = kept.with_name(f"{kept.name}.gz") if packed else kept
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(gzip.compress(data, mtime=0) if packed else data)
