"""A baseline as YAML: sorted, one entry for all exchanges that share a rule and a reason."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Final

from conformance.baseline.entries import Baseline, BaselineEntry

_WIDTH: Final = 100
_PLAIN: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_./-]*")
_WORDS: Final = frozenset({"true", "false", "null", "inf", "infinity", "nan"})
# What a document may not hold as it stands; JSON escapes the rest already.
_FOREIGN: Final = re.compile(
    "[^\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]"
)


def spell_baseline(baseline: Baseline, *, heading: str = "") -> str:
    """The text of the file. `heading` are comment lines at its top."""
    lines = [heading.rstrip("\n")] if heading else []
    if baseline.target:
        lines.append(f"target: {spell_scalar(baseline.target)}")
    lines.append("entries:" if baseline.entries else "entries: []")
    for same in _group_entries(baseline.entries):
        lines += _spell_item(same, baseline.target)
    return "\n".join(lines) + "\n"


def heading_of(text: str) -> str:
    """The comment lines that a file begins with."""
    lines = text.splitlines()
    last = next((n for n, line in enumerate(lines) if not line.startswith("#")), len(lines))
    return "\n".join(lines[:last])


def _group_entries(entries: Sequence[BaselineEntry]) -> list[list[BaselineEntry]]:
    groups: dict[tuple[object, ...], list[BaselineEntry]] = {}
    for entry in entries:
        shared = (entry.rule, entry.target, entry.finding, entry.reason, entry.until, entry.flaky)
        groups.setdefault(shared, []).append(entry)
    return list(groups.values())


def _spell_item(same: Sequence[BaselineEntry], target: str) -> Iterator[str]:
    first = same[0]
    yield f"  - rule: {spell_scalar(first.rule)}"
    if first.target != target:
        yield f"    target: {spell_scalar(first.target)}"
    yield from _spell_exchanges([spell_scalar(entry.exchange) for entry in same])
    if first.finding:
        yield f"    finding: {spell_scalar(first.finding)}"
    yield f"    reason: {spell_scalar(first.reason)}"
    if first.until:
        yield f"    until: {first.until.isoformat()}"
    if first.flaky:
        yield f"    flaky: {first.flaky}"


def _spell_exchanges(names: Sequence[str]) -> Iterator[str]:
    if len(names) == 1:
        yield f"    exchange: {names[0]}"
        return
    line = f"    exchange: [{', '.join(names)}]"
    if len(line) <= _WIDTH:
        yield line
        return
    yield "    exchange:"
    yield from (f"      - {name}" for name in names)


def spell_scalar(text: str) -> str:
    if _PLAIN.fullmatch(text) and text.lower() not in _WORDS:
        return text
    quoted = json.dumps(text, ensure_ascii=False)
    return _FOREIGN.sub(lambda match: f"\\u{ord(match[0]):04x}", quoted)
