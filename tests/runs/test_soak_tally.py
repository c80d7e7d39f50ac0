"""What a soak keeps: bounded, and the same as if everything had been kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import ceil

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.judging.groups import finding_groups
from conformance.judging.result import Finding, Report, StreamResult
from conformance.judging.soak_figures import SoakFailure
from conformance.rules.verdicts import Level, Verdict
from conformance.runs.soak_tally import FailureCount, LatencyHistogram, ResultMerger

RULES = ("a", "b")
OUTCOMES = st.dictionaries(
    st.sampled_from(RULES), st.sampled_from([*Verdict, "other words"]), max_size=2
)


def finding(rule: str, message: str) -> Finding:
    return Finding(
        rule=rule,
        level=Level.MUST,
        verdict=Verdict.FAIL,
        event=1,
        line=None,
        byte=None,
        slice={},
        expected=(),
        got="",
        after="",
        message=message,
        says="",
        hint="",
        context=(),
        source=(),
        id=f"{rule} {message}",
    )


def stream(number: int, outcomes: dict[str, Verdict | str]) -> StreamResult:
    verdicts = {r: Verdict.FAIL if v == "other words" else Verdict(v) for r, v in outcomes.items()}
    failed = {r: str(outcomes[r]) for r, v in verdicts.items() if v is Verdict.FAIL}
    findings = tuple(finding(rule, f"it says {word}") for rule, word in failed.items())
    return StreamResult(
        f"{number}", 1, "openai.chat", "strict", True, verdicts, findings, "s", f"r{number % 2}"
    )


def group_counts(report: Report) -> set[tuple[str, int, int]]:
    return {(group.id, group.streams, group.judged) for group in finding_groups(report)}


@given(st.lists(OUTCOMES, max_size=12))
def test_merged_results_say_what_all_results_say(outcomes: Sequence[dict[str, Verdict]]) -> None:
    streams = [stream(number, dict(each)) for number, each in enumerate(outcomes)]
    merger = ResultMerger()
    for each in streams:
        merger.add(each)
    whole, merged = Report(tuple(streams)), Report(tuple(merger.results("openai.chat")))
    assert merged.verdicts == whole.verdicts
    flat = group_counts(whole)
    assert group_counts(merged) == flat
    assert sum(each.merged.streams if each.merged else 1 for each in merged.streams) == len(streams)


def test_what_is_kept_hangs_on_kinds_and_not_on_numbers() -> None:
    merger = ResultMerger()
    kept = [merger.add(stream(0, {"a": Verdict.FAIL, "b": Verdict.PASS})) for _ in range(1000)]
    assert Counter(kept) == {True: 1, False: 999}
    first, rest = merger.results("openai.chat")
    assert first.merged is None
    assert rest.merged is not None
    assert rest.merged.streams == rest.merged.judged["a"] == 999
    assert list(rest.merged.having.values()) == [999]


def test_kinds_are_bounded_too() -> None:
    merger = ResultMerger()
    words = ["x" * number for number in range(1, 300)]
    kept = [
        merger.add(
            StreamResult(
                "f", 1, "d", "p", True, {"a": Verdict.FAIL}, (finding("a", word),), "s", "r"
            )
        )
        for word in words
    ]
    assert sum(kept) == 200
    (*_, rest) = merger.results("d")
    assert rest.verdicts == {"a": Verdict.FAIL}
    count = FailureCount()
    for number in range(3000):
        count.add(f"kind {number}")
    assert len(count.failures()) == 1001
    assert count.failures()[0] == SoakFailure("other", 2000)


@given(st.lists(st.floats(0.01, 1e6), min_size=1, max_size=60))
def test_quantiles_are_within_half_a_percent(values: Sequence[float]) -> None:
    histogram = LatencyHistogram()
    for each in values:
        histogram.add(each)
    latency = histogram.latency()
    assert latency is not None
    ordered = sorted(values)
    for share, got in ((0.5, latency.p50), (0.99, latency.p99)):
        exact = ordered[ceil(share * len(ordered)) - 1]
        assert got == pytest.approx(exact, rel=0.0051, abs=0.0006)
    assert latency.answers == len(values)


def test_no_latency_without_values() -> None:
    assert LatencyHistogram().latency() is None
