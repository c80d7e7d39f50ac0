"""`conformance demo`: the tool at work on two shipped recordings, without a network or a key."""

from __future__ import annotations

from typing import Final

from conformance.cli.explain import rule_page
from conformance.cli.terminal import has_colour, put
from conformance.core.errors import HarnessError
from conformance.core.shipped import cassettes
from conformance.judging.result import Report
from conformance.recordings.check import check_paths
from conformance.report.files import render

GOOD: Final = "openai.responses/demo/summary.cassette.jsonl"
BROKEN: Final = "mutants/demo/summary.cassette.jsonl"


def demo_command() -> None:
    """Judge a shipped good stream and a broken one."""
    good, broken = _judge_shipped(GOOD), _judge_shipped(BROKEN)
    if good.findings or not broken.findings:
        raise HarnessError("the demo recordings are not judged as they should be")
    for title, report in (
        ("A reasoning stream that keeps the rules:", good),
        ("The same stream with one fault:", broken),
    ):
        put(f"{title}\n")
        put(render(report, "text", colour=has_colour()))
    first = min(broken.findings, key=lambda finding: finding.event)
    put(f"The rule that it broke (conformance explain {first.rule}):\n")
    put(rule_page(first.rule))
    put("Next: conformance check YOUR.cassette.jsonl, or a folder, or a raw .sse file.")


def _judge_shipped(name: str) -> Report:
    path = cassettes() / name
    if not path.is_file():
        raise HarnessError(f"the demo recording {name} was not shipped")
    return check_paths([path])
