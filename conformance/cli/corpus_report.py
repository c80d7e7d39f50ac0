"""What `corpus report` writes, and when it fails a job."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final

from conformance.cli.options import require_format
from conformance.core.errors import UsageError
from conformance.corpus.grouping import CauseGroup, CorpusReport
from conformance.corpus.report_text import render_json, render_text
from conformance.judging.suites import shipped_suites
from conformance.report.files import split_output, write_whole
from conformance.rules.verdicts import Level

REPORT_FORMATS: Final = ("text", "json", "html")
GroupCondition = Callable[[CauseGroup], bool]


def render_report(
    report: CorpusReport, name: str, source: str | None, *, verbose: bool, colour: bool = False
) -> str:
    """The report in one of its formats."""
    if name == "json":
        return render_json(report)
    if name == "text":
        return render_text(report, verbose=verbose, colour=colour)
    from conformance.corpus.report_html import render_html  # noqa: PLC0415  # 30 ms

    return render_html(report, source)


def chosen_outputs(format_: str, outputs: Sequence[str]) -> list[tuple[str, Path]]:
    """Each `FORMAT=FILE`. Raises UsageError for a format that is not written."""
    wanted = [split_output(each) for each in outputs]
    for name in (format_, *(name for name, _ in wanted)):
        require_format(name, *REPORT_FORMATS)
    return wanted


def write_reports(
    report: CorpusReport, wanted: Sequence[tuple[str, Path]], source: str | None
) -> None:
    """Writes each file, once all are rendered."""
    texts = [render_report(report, name, source, verbose=True) for name, _ in wanted]
    for (_, file), text in zip(wanted, texts, strict=True):
        write_whole(file, text.encode("utf-8", "backslashreplace"))


def since_time(text: str | None) -> datetime | None:
    """A day or a time. Raises UsageError for any other text."""
    if text is None:
        return None
    try:
        time = datetime.fromisoformat(text)
    except ValueError as err:
        raise UsageError(f"--since takes a date like 2026-11-16, got {text!r}") from err
    return time.astimezone(UTC) if time.tzinfo else time.replace(tzinfo=UTC)


def parse_condition(text: str) -> GroupCondition:
    """The value of `--fail-on`: a level, which includes the severer ones, or a glob of rules.

    Raises UsageError for any other value.
    """
    levels = [level.value for level in Level]
    if text.upper() in levels:
        grave = set(levels[: levels.index(text.upper()) + 1])
        return lambda group: group.level in grave
    known = (rule.id for suite in shipped_suites() for rule in suite.rules)
    if "/" not in text and not any(fnmatchcase(rule, text) for rule in known):
        raise UsageError(
            f"--fail-on takes {', '.join(levels).lower()} or rules, got {text!r}",
            hint="a glob like wire/*",
        )
    return lambda group: any(
        fnmatchcase(rule, text) for rule in (group.rule, *(each.rule for each in group.following))
    )
