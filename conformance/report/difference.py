"""What changed between two recordings, as text and a page for people, as JSON for programs.

`schemas/diff.schema.json` describes the JSON; keys may be added within version 1.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from msgspec.structs import asdict, replace

from conformance.core.errors import UsageError
from conformance.core.excerpts import redacted
from conformance.diff import ExchangeComparison, RecordingDifference, WireChange
from conformance.report.changed_words import changed_words
from conformance.report.escaping import code_span, escape_markdown
from conformance.report.printable import Paint, visible
from conformance.report.wording import count

VERSION: Final = "1.0"
_SHOWN: Final = 12  # changes of one exchange that are reported without `verbose`
_VALUE: Final = 160


def without_secrets(difference: RecordingDifference) -> RecordingDifference:
    """What changed between two recordings, without the secrets that it quotes."""
    return RecordingDifference(
        tuple(_clean_comparison(each) for each in difference.compared),
        tuple(map(redacted, difference.errors)),
    )


def _clean_comparison(comparison: ExchangeComparison) -> ExchangeComparison:
    changes = (
        replace(
            each, what=redacted(each.what), before=redacted(each.before), now=redacted(each.now)
        )
        for each in comparison.changes
    )
    notes = tuple(map(redacted, comparison.notes))
    return ExchangeComparison(redacted(comparison.name), tuple(changes), notes)


def difference_text(
    difference: RecordingDifference, *, verbose: bool = False, colour: bool = False
) -> str:
    """The changes by exchange, then one summary line."""
    paint = Paint(colour)
    lines: list[str] = []
    for each in difference.compared:
        lines += _exchange_lines(each, paint, verbose=verbose)
    lines += [f"{paint('ERROR', 'error:')} {visible(error)}" for error in difference.errors]
    return "\n".join([*lines, paint("title", difference_summary(difference))]) + "\n"


def difference_json(difference: RecordingDifference, **_: bool) -> str:
    """One JSON object, indented, ASCII only; always whole."""
    exchanges = [
        {**asdict(each), "changes": [asdict(change) for change in each.changes]}
        for each in difference.compared
    ]
    fields = {"diff": VERSION, "exchanges": exchanges, "errors": difference.errors}
    return json.dumps({**fields, "changed": len(difference.changed)}, indent=2) + "\n"


def difference_markdown(
    difference: RecordingDifference, *, verbose: bool = False, **_: bool
) -> str:
    """A table per exchange, for a comment on a pull request."""
    lines = ["# Conformance diff", "", f"**{escape_markdown(difference_summary(difference))}**"]
    for each in difference.changed:
        shown = each.changes if verbose else each.changes[:_SHOWN]
        lines += ["", f"## {escape_markdown(each.name)}", ""]
        lines += ["| what | before | now |", "|---|---|---|"]
        lines += (
            f"| {c.kind} {code_span(c.what)} | {code_span(c.before)} | {code_span(c.now)} |"
            for c in shown
        )
        if len(shown) < len(each.changes):
            lines += ["", f"{len(each.changes) - len(shown)} more."]
        lines += (f"\n{escape_markdown(note)}" for note in each.notes)
    lines += (f"\n{escape_markdown(error)}" for error in difference.errors)
    return "\n".join(lines) + "\n"


def difference_html(difference: RecordingDifference, **_: bool) -> str:
    """A page with before and after in two columns."""
    from conformance.report.html.difference import difference_page  # noqa: PLC0415  # it is heavy

    return difference_page(difference, difference_summary(difference))


RENDERERS: Final[Mapping[str, Callable[..., str]]] = {
    "text": difference_text,
    "json": difference_json,
    "markdown": difference_markdown,
    "html": difference_html,
}


def difference_renderer(name: str) -> Callable[..., str]:
    """The renderer of a format. Raises UsageError for an unknown name."""
    if name not in RENDERERS:
        raise UsageError(f"format must be one of {', '.join(RENDERERS)}, got {name!r}")
    return RENDERERS[name]


def difference_summary(difference: RecordingDifference) -> str:
    """One line: how many exchanges were compared, how many changed, and in what."""
    if not difference.compared:
        return "nothing was compared"
    kinds = Counter(change.kind for each in difference.compared for change in each.changes)
    head = f"{count(len(difference.compared), 'exchange')} compared"
    if not kinds:
        return f"{head}: no change"
    counts = ", ".join(_change_count(number, kind) for kind, number in kinds.items())
    return f"{head}, {len(difference.changed)} changed: {counts}"


def _change_count(number: int, kind: str) -> str:
    return f"{number} in order" if kind == "order" else count(number, kind)


def _exchange_lines(each: ExchangeComparison, paint: Paint, *, verbose: bool) -> Iterator[str]:
    if not each.changes and not verbose:
        return
    yield paint("title", visible(each.name))
    yield from (f"  note: {visible(note)}" for note in each.notes)
    shown = each.changes if verbose else each.changes[:_SHOWN]
    yield from (f"  {_change_line(change, paint)}" for change in shown)
    if len(shown) < len(each.changes):
        yield f"  {len(each.changes) - len(shown)} more changes (-v shows all)"
    yield ""


def _painted_values(change: WireChange, paint: Paint) -> tuple[str, str]:
    """Both values; of texts the words that only one of them has are coloured."""
    before, now = visible(change.before, _VALUE), visible(change.now, _VALUE)
    if change.kind != "text" or not (before and now):
        return before, now
    one, other = (
        "".join(paint(meaning, each.text) if each.is_changed else each.text for each in words)
        for meaning, words in zip(("FAIL", "PASS"), changed_words(before, now), strict=True)
    )
    return one, other


def _change_line(change: WireChange, paint: Paint) -> str:
    what = visible(change.what, _VALUE)
    before, now = _painted_values(change, paint)
    kind = f"{change.kind:<8}"
    if not change.before:
        return f"{paint('PASS', '+')} {kind} {what}: {now}"
    if not change.now:
        return f"{paint('FAIL', '-')} {kind} {what}: {before}"
    return f"{paint('VACUOUS', '~')} {kind} {what}: {before} -> {now}"
