"""The changes between two runs as a page: a table per exchange, with before and after."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from conformance import __version__
from conformance.diff import ExchangeComparison, RecordingDifference, WireChange
from conformance.report.changed_words import changed_words
from conformance.report.escaping import escape_html
from conformance.report.html.matrix import verdict_class
from conformance.report.html.page import page_lines
from conformance.report.wording import count
from conformance.rules.verdicts import Verdict

_EXCHANGES: Final = 500
_CHANGES: Final = 200  # of one exchange
_VALUE: Final = 600  # characters of one value
_VERDICTS: Final = frozenset(map(str, Verdict))


def difference_page(difference: RecordingDifference, summary: str) -> str:
    """The page; exchanges without a change are counted, not shown."""
    return "\n".join(page_lines(summary, _body_lines(difference, summary))) + "\n"


def _body_lines(difference: RecordingDifference, summary: str) -> Iterator[str]:
    yield f"<header><h1>What changed</h1><p>{escape_html(summary)}</p></header><main>"
    for error in difference.errors[:_CHANGES]:
        yield f'<p class="error"><b>error:</b> {escape_html(error)}</p>'
    changed = difference.changed
    for place, each in enumerate(changed[:_EXCHANGES], 1):
        yield from _exchange_section(place, each)
    if changed[_EXCHANGES:]:
        left = count(len(changed) - _EXCHANGES, "more exchange")
        yield f'<p class="left-out">{left} left out.</p>'
    alike = len(difference.compared) - len(changed)
    if changed and alike:
        yield f"<p>{count(alike, 'exchange')} without a change.</p>"
    yield "</main>"
    yield f"<footer>reasoning-conformance {escape_html(__version__)}</footer>"


def _exchange_section(place: int, each: ExchangeComparison) -> Iterator[str]:
    yield f'<details class="stream" id="e{place}" open><summary>'
    yield f"<h2>{escape_html(each.name, 300)}</h2>"
    yield f" <span>{count(len(each.changes), 'change')}</span></summary>"
    yield from (f'<p class="note">{escape_html(note)}</p>' for note in each.notes)
    yield '<div class="wide"><table class="changes"><thead><tr>'
    yield "".join(f'<th scope="col">{name}</th>' for name in ("what", "before", "after"))
    yield "</tr></thead><tbody>"
    yield from map(_change_row, each.changes[:_CHANGES])
    yield "</tbody></table></div>"
    if each.changes[_CHANGES:]:
        yield f'<p class="left-out">{len(each.changes) - _CHANGES} more left out.</p>'
    yield "</details>"


def _change_row(change: WireChange) -> str:
    kind = "gone" if not change.now else "new" if not change.before else "other"
    values = "".join(f"<td>{each}</td>" for each in _shown_values(change))
    # A verdict has its own colour: that it is the new one says nothing good of it.
    kind = change.kind if change.kind == "verdict" else kind
    what = f"{change.kind} <code>{escape_html(change.what, _VALUE)}</code>"
    return f'<tr class="{kind}"><th scope="row">{what}</th>{values}</tr>'


def _shown_values(change: WireChange) -> Iterator[str]:
    """Before and after; of texts the words that only one of them has are marked."""
    before, now = change.before[:_VALUE], change.now[:_VALUE]
    if change.kind != "text" or not (before and now):
        yield from (_shown_value(change, each) for each in (change.before, change.now))
        return
    for tag, words in zip(("del", "ins"), changed_words(before, now), strict=True):
        shown = (
            f"<{tag}>{escape_html(each.text)}</{tag}>"
            if each.is_changed
            else escape_html(each.text)
            for each in words
        )
        yield f"<code>{''.join(shown)}</code>"


def _shown_value(change: WireChange, value: str) -> str:
    if change.kind == "verdict" and value in _VERDICTS:
        return f'<span class="v {verdict_class(Verdict(value))}">{value}</span>'
    return f"<code>{escape_html(value, _VALUE)}</code>"
