"""Speed of the whole check: `python tests/benchmarks/bench_check.py [rounds [section]]`.

Tiny fragments, many rules against few, a stream full of findings against a clean one.
What short and long streams take is in `bench_real`.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import conformance
from conformance.core.events import Chunk, Exchange
from conformance.dialects import get
from conformance.judging.fast.running import check_wire
from conformance.judging.rulebook import Rulebook
from conformance.judging.suites import dialect_vocabulary
from conformance.judging.view import JudgeSetting
from conformance.recordings.choices import CheckChoices, choose_profile
from conformance.rules.document import parse
from conformance.rules.load import read_suite
from tests.benchmarks import corpora, peers
from tests.benchmarks.corpora import CORPORA, Chunks
from tests.benchmarks.rounds import each, report, rounds, show, taken

OURS: Final = "conformance"
FRAGMENT: Final = 16
SHORT: Final = 10_000  # events where something slow is measured


def checked(chunks: Chunks, dialect: str, profile: str) -> None:
    """The check that everybody calls; the stream must raise nothing."""
    found = conformance.check_chunks(chunks, dialect=dialect, profile=profile)
    if found.findings:
        raise RuntimeError(f"{dialect}: {found.findings[0].rule}: {found.findings[0].message}")


def fragments(count: int) -> None:
    """Sixteen bytes at a time."""
    for dialect, (make, profile) in CORPORA.items():
        chunks = corpora.cut(b"".join(make(SHORT)), FRAGMENT, FRAGMENT)
        times = taken(
            {
                OURS: lambda c=chunks, d=dialect, p=profile: checked(c, d, p),  # type: ignore[misc]
                "httpx-sse": lambda c=chunks: peers.httpx_sse(c),  # type: ignore[misc]
            },
            count,
            time.process_time,
        )
        report(f"{dialect}, {FRAGMENT}-byte fragments", times, OURS, "httpx-sse", "<= 2")


STEM: Final = "response.reasoning_summary"
RULE: Final = {"level": "MUST", "says": "So it is.", "since": "0.1.0", "source": {"advice": "a"}}
EVENTS: Final = {
    "added": f"{STEM}_part.added",
    "delta": f"{STEM}_text.delta",
    "text.done": f"{STEM}_text.done",
    "done": f"{STEM}_part.done",
    "item": "response.output_item.done",
}
SLICE: Final = ["output_index", "summary_index"]


def distinct(number: int) -> Mapping[str, Any]:
    """A rule that hears every delta; its words, bounds and slices are its own."""
    word = f"never{number}"
    kinds: list[Mapping[str, Any]] = [
        {"slice": SLICE, "grammar": f"added delta* text.done{{1,{number + 1}}} done"},
        {"slice": SLICE, "grammar": f"added delta+ (text.done | done){{1,{number + 2}}}"},
        {"slice": SLICE, "never": "delta", "after": ["done", "item"][: 1 + number % 2]},
        {"slice": ["item_id"], "values": {"of": "delta", "path": "item_id", "are": "constant"}},
        {"values": {"of": "delta", "path": "sequence_number", "are": "rising"}},
        {"slice": SLICE, "fold": {"over": "delta", "take": "delta", "lacks": [word]}},
        {
            "slice": SLICE,
            "response": {"when": "delta", "then": ["text.done", "item"][: 1 + number % 2]},
        },
        {"slice": SLICE, "fold": {"over": "delta", "with": "count", "at_least": number % 50}},
        {"each": {"of": "delta", "schema": {"required": ["item_id"], "minProperties": number % 5}}},
        {"never": "item", "until": ["delta", "added"][: 1 + number % 2]},
    ]
    return kinds[number % len(kinds)]


def setting(rules: list[Mapping[str, Any]]) -> JudgeSetting:
    document = {
        "suite": "bench",
        "dialect": "openai.responses",
        "events": EVENTS,
        "rules": [{"id": f"r{n}", **RULE, **rule} for n, rule in enumerate(rules)],
    }
    book = Rulebook([read_suite(parse(json.dumps(document), "bench.yaml"), dialect_vocabulary)])
    spoken = get("openai.responses")
    profile, named = choose_profile(spoken, CheckChoices(profile="openai"), None)
    return JudgeSetting(spoken, profile, book.bound(profile), named=named)


def judged(setting: JudgeSetting, chunks: Chunks, findings: int) -> None:
    found = check_wire(setting, Exchange(), map(Chunk, chunks), "eof").result.findings
    if len(found) != findings:
        raise RuntimeError(f"{len(found)} findings instead of {findings}")


def rules(count: int) -> None:
    """160 distinct rules against 10."""
    chunks = corpora.net(corpora.responses())
    few, many = (setting([distinct(n) for n in range(size)]) for size in (10, 160))
    judged(few, chunks, 0)
    times = taken(
        {"10 rules": lambda: judged(few, chunks, 0), "160 rules": lambda: judged(many, chunks, 0)},
        count,
        time.process_time,
    )
    each("rules", times, corpora.EVENTS)
    report("openai.responses", times, "160 rules", "10 rules", "<= 1.2")


def findings(count: int) -> None:
    """A thousand findings, one per slice, against the same rule that finds nothing."""
    chunks = corpora.net(corpora.responses(parts=1000))
    found, clean = (
        setting([{"slice": SLICE, "fold": {"over": "delta", "with": "count", "at_least": size}}])
        for size in (10**6, 1)
    )
    times = taken(
        {
            "clean": lambda: judged(clean, chunks, 0),
            "1,000 findings": lambda: judged(found, chunks, 1000),
        },
        count,
        time.process_time,
    )
    report("openai.responses, found at the end", times, "1,000 findings", "clean", "<= 3")
    marked = setting(
        [{"slice": SLICE, "fold": {"over": "delta", "take": "delta", "lacks": [" is"]}}]
    )
    unmarked = setting(
        [{"slice": SLICE, "fold": {"over": "delta", "take": "delta", "lacks": ["#"]}}]
    )
    times = taken(
        {
            "clean": lambda: judged(unmarked, chunks, 0),
            "1,000 findings": lambda: judged(marked, chunks, 1000),
        },
        count,
        time.process_time,
    )
    report("openai.responses, found within runs", times, "1,000 findings", "clean", "<= 3")


SECTIONS: Final = {"fragments": fragments, "rules": rules, "findings": findings}


def main() -> None:
    count = rounds()
    show("rounds", str(count))
    for name in sys.argv[2:] or SECTIONS:
        SECTIONS[name](count)


if __name__ == "__main__":
    main()
