"""The verdict matrix: a row per stream, a column per suite, and the rules of every cell."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from conformance.judging.result import StreamResult
from conformance.report.escaping import escape_html
from conformance.report.wording import count, stream_title
from conformance.rules.verdicts import COMBINING, Verdict, combine

_ROWS: Final = 1000  # streams in the table
_LISTED: Final = 250  # of them with lists of their rules
# A sign in addition to the colour: not everybody sees colours.
_SIGNS: Final[Mapping[Verdict, str]] = {
    Verdict.ERROR: "!",
    Verdict.FAIL: "✗",
    Verdict.INCONCLUSIVE: "?",
    Verdict.PASS: "✓",
    Verdict.UNTESTABLE: "-",
    Verdict.VACUOUS: "○",
    Verdict.NOT_APPLICABLE: "·",
}

_BAD: Final = frozenset({Verdict.FAIL, Verdict.ERROR})

Numbered = tuple[int, StreamResult]
Suites = Mapping[str, Mapping[Verdict, list[str]]]


def verdict_matrix(streams: list[Numbered]) -> Iterator[str]:
    """The table as lines of HTML; `streams` come with the numbers that their sections have.

    Columns with failures come first, so that a narrow window shows them.
    """
    rows = [(number, stream, _by_suite(stream)) for number, stream in streams[:_ROWS]]
    rules: dict[str, set[str]] = {}
    failing: set[str] = set()
    for _, _, cells in rows:
        for suite, verdicts in cells.items():
            rules.setdefault(suite, set()).update(*verdicts.values())
            failing.update([suite] if not _BAD.isdisjoint(verdicts) else ())
    suites = sorted(rules, key=lambda suite: (suite not in failing, suite))
    yield '<div class="wide" tabindex="0" role="region" aria-label="Verdicts by stream and suite">'
    yield '<table class="matrix"><thead><tr><th scope="col">stream</th>'
    yield from (_column_head(suite, rules[suite]) for suite in suites)
    yield "</tr></thead><tbody>"
    for place, (number, stream, cells) in enumerate(rows):
        yield from _stream_row(number, stream, suites, cells, listed=place < _LISTED)
    yield "</tbody></table></div>"
    yield f'<p class="key">{" ".join(map(verdict_sign, COMBINING))}</p>'
    if len(streams) > _ROWS:
        yield f'<p class="left-out">{count(len(streams) - _ROWS, "more stream")} left out.</p>'


def _column_head(suite: str, rules: Iterable[str]) -> str:
    """The name of a suite, and for the filter the names of its rules."""
    names = " ".join(sorted(rules))
    return (
        f'<th scope="col" data-rules="{escape_html(names)}"><span>{escape_html(suite)}</span></th>'
    )


def _by_suite(stream: StreamResult) -> dict[str, dict[Verdict, list[str]]]:
    cells: dict[str, dict[Verdict, list[str]]] = {}
    for rule, verdict in stream.verdicts.items():
        suite, _, name = rule.rpartition("/")
        cells.setdefault(suite or "rules", {}).setdefault(verdict, []).append(name)
    return cells


def _stream_row(
    number: int, stream: StreamResult, suites: Iterable[str], cells: Suites, *, listed: bool
) -> Iterator[str]:
    state = "bad" if stream.findings else "good"
    name = escape_html(stream_title(stream), 160)
    yield f'<tr class="{state}"><th scope="row"><a href="#s{number}">{name}</a></th>'
    for place, suite in enumerate(suites):
        anchor = f"s{number}c{place}" if listed else ""
        yield _suite_cell(suite, cells.get(suite, {}), anchor)
    yield "</tr>"


def _suite_cell(suite: str, verdicts: Mapping[Verdict, list[str]], anchor: str) -> str:
    """A verdict for a suite; with an `anchor` it opens the list of its rules."""
    if not verdicts:
        return "<td></td>"
    shown = combine(verdicts)
    kind = verdict_class(shown)
    sign = f'{_SIGNS[shown]}<span class="n">{len(verdicts[shown])}</span>'
    label = f"{escape_html(suite)}: {len(verdicts[shown])} {shown}"
    if not anchor:
        return f'<td class="{kind}" title="{label}">{sign}</td>'
    button = f'<button popovertarget="{anchor}" aria-label="{label}">{sign}</button>'
    rules = "".join(_rule_lists(verdicts))
    over = f'<div popover id="{anchor}" class="over"><b>{escape_html(suite)}</b>{rules}</div>'
    return f'<td class="{kind}">{button}{over}</td>'


def _rule_lists(verdicts: Mapping[Verdict, list[str]]) -> Iterator[str]:
    for verdict in COMBINING:
        if verdict in verdicts:
            names = ", ".join(escape_html(name) for name in verdicts[verdict])
            yield f"<p>{verdict_sign(verdict)} {names}</p>"


def verdict_sign(verdict: Verdict, number: int | None = None) -> str:
    """A verdict with its sign, in its colour, and how many rules ended so."""
    sign = _SIGNS[verdict] if number is None else f"{_SIGNS[verdict]} {number}"
    return f'<span class="v {verdict_class(verdict)}">{sign} {verdict}</span>'


def verdict_class(verdict: Verdict) -> str:
    """The class of a verdict's colour."""
    return f"v-{verdict.value.lower()}"
