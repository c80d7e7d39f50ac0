"""Judged streams and entries for the tests of baselines."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from conformance.baseline.applying import apply_baseline
from conformance.baseline.entries import Baseline, BaselineEntry
from conformance.core.errors import Place
from conformance.judging.result import Finding, Report, StreamResult
from conformance.rules.verdicts import Level, Verdict
from tests.plain_results import plain_finding

RULE = "a/b/c"
OTHER = "a/b/d"
TODAY = date(2026, 11, 20)


def finding(rule: str = RULE, id_: str = "f1", level: Level = Level.MUST) -> Finding:
    return plain_finding(rule=rule, id=id_, level=level)


def stream(
    *findings: Finding,
    verdicts: Mapping[str, Verdict] | None = None,
    file: str = "ogx/text.sse",
    **changes: Any,
) -> StreamResult:
    judged = {RULE: Verdict.PASS, **{each.rule: Verdict.FAIL for each in findings}}
    base = StreamResult(
        file=file,
        exchange=1,
        dialect="openai.chat",
        profile="strict",
        named=True,
        verdicts={**judged, **(verdicts or {})},
        findings=findings,
        target="ogx-1.5.0",
    )
    return replace(base, **changes)


def entry(exchange: str = "text", **changes: Any) -> BaselineEntry:
    base = BaselineEntry(RULE, "ogx-1.5.0", exchange, "It is known.", Place("known.yaml", 2, 5))
    return replace(base, **changes)


def applied(streams: Iterable[StreamResult], *entries: BaselineEntry) -> Report:
    report = Report(tuple(streams))
    return apply_baseline(report, Baseline("known.yaml", tuple(entries)), today=TODAY)


def write(folder: Path, text: str) -> Path:
    path = folder / "known.yaml"
    path.write_text(text, encoding="utf-8")
    return path


SIDES: dict[str, Any] = {"scenario": "think", "role": "plain"}


def sides(
    *, upstream: Finding | None = None, downstream: Finding | None = None
) -> list[StreamResult]:
    """Both hops of one request of a gateway."""
    far = stream(*filter(None, [downstream]), **SIDES, hop="downstream")
    return [far, stream(*filter(None, [upstream]), **SIDES, hop="upstream", exchange=2)]
