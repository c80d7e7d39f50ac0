"""The page as a whole: head with its policy, summary, findings, matrix, streams."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from importlib.resources import files
from typing import Final

from conformance import __version__
from conformance.judging.groups import FindingGroup, FindingPlace, every_group, finding_groups
from conformance.judging.result import JudgedCall, Report
from conformance.report.escaping import escape_html
from conformance.report.html.exchange import RecordedStreams, stream_section
from conformance.report.html.matrix import Numbered, verdict_class, verdict_matrix, verdict_sign
from conformance.report.html.timeline import PageBudget
from conformance.report.ranking import gravest_first
from conformance.report.wording import (
    count,
    finding_sentence,
    following_sentence,
    group_spread,
    place_in_group,
    report_warnings,
    soak_lines,
    stale_entries,
    summary_line,
)
from conformance.rules.verdicts import COMBINING

_STREAMS: Final = 300  # streams shown one by one
_LINES: Final = 200  # errors, warnings and notes of each kind
_AT_ONCE: Final = 3  # of them before one has to open the rest


def render(report: Report, **_: bool) -> str:
    """The whole page; recordings are opened again for the pictures."""
    return "".join(pieces(report))


def pieces(report: Report, **_: bool) -> Iterator[str]:
    return (f"{line}\n" for line in page_lines(summary_line(report), _body_lines(report)))


def page_lines(title: str, body: Iterable[str]) -> Iterator[str]:
    """A page of lines of HTML, with the style, the script and their policy."""
    style, script = _asset_text("page.css"), _asset_text("page.js")
    policy = (
        f"default-src 'none'; style-src '{_policy_hash(style)}'; "
        f"script-src '{_policy_hash(script)}'; base-uri 'none'; form-action 'none'"
    )
    yield '<!doctype html><html lang="en"><head><meta charset="utf-8">'
    yield f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield '<meta name="color-scheme" content="light dark">'
    yield '<meta name="referrer" content="no-referrer">'
    yield f"<title>Conformance: {escape_html(title)}</title>"
    yield f"<style>{style}</style></head><body>"
    yield from body
    yield f"<script>{script}</script></body></html>"


def _body_lines(report: Report) -> Iterator[str]:
    numbered = list(enumerate(gravest_first(report), 1))
    yield f"<header><h1>Conformance</h1><p>{escape_html(summary_line(report))}</p>"
    if report.call is not None:
        yield f'<p class="when">{escape_html(_call_line(report.call))}</p>'
    counts = report.summary()
    signs = "".join(f"{verdict_sign(each, counts[each])} " for each in COMBINING if counts[each])
    yield f'<p class="counts">{signs}</p></header>'
    yield from _filter_bar()
    yield "<main>"
    yield from _message_list("soak", soak_lines(report))
    yield from _message_list("error", report.errors)
    yield from _message_list(
        "warning",
        (*(f"stale: {line}" for line in stale_entries(report)), *report_warnings(report)),
    )
    groups = finding_groups(report)
    yield from group_sections(groups, numbered[:_STREAMS])
    yield from _message_list("note", report.notes)
    if numbered:
        yield '<section id="verdicts"><h2>Verdicts</h2>'
        yield '<p><label><input type="checkbox" id="only"> only streams with findings</label></p>'
        yield from verdict_matrix(numbered)
        yield "</section>"
    firsts = {id(group.stream) for group in every_group(groups)}
    yield from _stream_sections(report, numbered, firsts)
    yield f"</main><footer>reasoning-conformance {escape_html(__version__)}</footer>"


def _call_line(call: JudgedCall) -> str:
    judged = call.target or "recordings"
    minute = call.started[:16].replace("T", " ")
    return f"{judged}, {minute} UTC, in {call.seconds:.1f} s"


def _filter_bar() -> Iterator[str]:
    """What the script filters by; without it there is nothing to be seen of it."""
    fields = (("q", "search"), ("rule", "rule"), ("stream", "stream"))
    yield '<search id="filters" hidden>'
    for name, label in fields:
        yield f'<label>{label} <input type="search" name="{name}" autocomplete="off"></label>'
    options = "".join(f"<option>{verdict}</option>" for verdict in COMBINING)
    yield f'<label>verdict <select name="verdict"><option value="">any</option>{options}</select>'
    yield '</label> <button type="button">clear</button> <output></output></search>'


def _stream_sections(
    report: Report, numbered: list[Numbered], firsts: Collection[int]
) -> Iterator[str]:
    """The sections; those with the first finding of a group are open."""
    budget, recorded = PageBudget(), RecordedStreams()
    yield "<section><h2>Streams</h2>"
    for number, stream in numbered[:_STREAMS]:
        is_open = id(stream) in firsts
        yield from stream_section(report, number, stream, recorded, budget, is_open=is_open)
    if numbered[_STREAMS:]:
        left = count(len(numbered) - _STREAMS, "more stream")
        yield f'<p class="left-out">{left} left out, those with the gravest findings are here.</p>'
    yield "</section>"


def _message_list(kind: str, lines: tuple[str, ...]) -> Iterator[str]:
    messages = [
        f'<p class="{kind}"><b>{kind}:</b> {escape_html(line)}</p>' for line in lines[:_LINES]
    ]
    yield from messages[:_AT_ONCE]
    if messages[_AT_ONCE:]:
        yield f"<details><summary>{count(len(lines) - _AT_ONCE, f'more {kind}')}</summary>"
        yield from messages[_AT_ONCE:]
        if lines[_LINES:]:
            yield f'<p class="left-out">{len(lines) - _LINES} left out.</p>'
        yield "</details>"


def _asset_text(name: str) -> str:
    return (files("conformance.report.html") / name).read_text(encoding="utf-8")


def _policy_hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"


_GROUPS: Final = 200
_FOLLOWING: Final = 50  # groups named below the one that they follow
_PLACES: Final = 100  # further places of a group
_SENTENCE: Final = 240  # characters of what a group that follows found


def group_sections(groups: Sequence[FindingGroup], shown: list[Numbered]) -> Iterator[str]:
    """The section as lines of HTML; `shown` are the streams with a section to link to."""
    if not groups:
        return
    anchors = {id(stream): f"s{number}" for number, stream in shown}
    yield "<section><h2>Findings</h2>"
    for group in groups[:_GROUPS]:
        yield from _group_article(group, anchors)
    if groups[_GROUPS:]:
        left = count(len(groups) - _GROUPS, "more group")
        yield f'<p class="left-out">{left} of findings left out.</p>'
    yield "</section>"


def _group_article(group: FindingGroup, anchors: Mapping[int, str]) -> Iterator[str]:
    finding = group.first
    anchor = f"g{escape_html(group.id)}{'-expected' if group.excuse else ''}"
    yield f'<article class="one {finding.level.lower()}" id="{anchor}">'
    expected = f"expected: {escape_html(group.excuse.reason)}" if group.excuse else ""
    spread = escape_html(group_spread(group))
    extent = " · ".join(filter(None, (spread and f"in {spread}", expected)))
    link = f'<a class="deep" href="#{anchor}" aria-label="link to this finding">#</a>'
    yield f'<h3>{_group_name(group)} <span class="when">{extent}</span> {link}</h3>'
    found = escape_html(finding_sentence(finding), 4000)
    yield f"<p><b>{escape_html(finding.says)}</b></p><p>{found}</p>"
    yield f'<p class="when">{_place_link(group.places[0], anchors)}</p>'
    if group.following:
        yield "<ul>"
        for other in group.following[:_FOLLOWING]:
            when, what = following_sentence(group, other, _SENTENCE)
            yield f"<li>{when} {_group_name(other)}: {escape_html(what, 4000)}</li>"
        if group.following[_FOLLOWING:]:
            yield f"<li>{len(group.following) - _FOLLOWING} more</li>"
        yield "</ul>"
    if others := group.places[1:]:
        yield f"<details><summary>{count(len(others), 'more place')}</summary><ul>"
        yield from (f"<li>{_place_link(place, anchors)}</li>" for place in others[:_PLACES])
        yield from (f"<li>{len(others) - _PLACES} more</li>",) if others[_PLACES:] else ()
        yield "</ul></details>"
    yield "</article>"


def _group_name(group: FindingGroup) -> str:
    finding = group.first
    kind = f'<span class="v {verdict_class(finding.verdict)}">{finding.verdict} {finding.level}'
    return f"{kind}</span> <code>{escape_html(finding.rule)}</code>"


def _place_link(place: FindingPlace, anchors: Mapping[int, str]) -> str:
    where = escape_html(place_in_group(place))
    anchor = anchors.get(id(place.stream))
    return f'<a href="#{anchor}">{where}</a>' if anchor else where
