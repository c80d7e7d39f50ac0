"""The groups of findings on the page: what, how often, what follows, and links to every place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from conformance.judging.groups import FindingGroup, FindingPlace
from conformance.report.escaping import escape_html
from conformance.report.html.matrix import Numbered, verdict_class
from conformance.report.wording import (
    count,
    finding_place,
    finding_sentence,
    following_sentence,
    group_spread,
    stream_title,
)

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
    stream = place.stream
    where = escape_html(finding_place(stream.file or stream_title(stream), place.finding))
    anchor = anchors.get(id(stream))
    return f'<a href="#{anchor}">{where}</a>' if anchor else where
