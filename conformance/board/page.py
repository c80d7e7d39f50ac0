"""The board as one page: a table for each kind of target, then what was found in each run.

Rule 1: every text of a summary passes `escaping.html`, an address of its own is http or https, and
all other links lead below the folder of the page.
Rule 2: where the recordings lie here, the cells are what they give; what the file says otherwise is
shown next to the name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final
from urllib.parse import quote

from conformance import __version__
from conformance.board.rows import BoardRow, State, newest_rows
from conformance.board.summary import KINDS, GroupSummary, RunSummary
from conformance.report.escaping import escape_html
from conformance.report.html.page import page_lines
from conformance.report.wording import count
from conformance.rules.verdicts import Verdict

_TITLES: Final[Mapping[str, str]] = {
    "server": "Servers",
    "gateway": "Gateways",
    "client": "Clients",
    "application": "Applications",
}
_STATES: Final[Mapping[State, tuple[str, str]]] = {
    "agrees": ("pass", "agrees"),
    "differs": ("fail", "does not agree"),
    "other rules": ("vacuous", "by other rules"),
    "not here": ("vacuous", "its own word"),
}
_NO_PAGES: Final[Mapping[str, str]] = {}
_FILES: Final = 100
_LINES: Final = 20


def board_page(rows: Sequence[BoardRow], rules: Mapping[str, str] = _NO_PAGES) -> str:
    """The whole page; `rules` are addresses of pages about rules, as far as there are any."""
    shown = newest_rows(rows)
    title = f"{count(len(shown), 'system')}, {count(len(rows), 'run')}"
    return "\n".join(page_lines(title, _body_lines(rows, shown, rules))) + "\n"


def _body_lines(
    rows: Sequence[BoardRow], shown: Sequence[BoardRow], rules: Mapping[str, str]
) -> Iterator[str]:
    yield "<header><h1>Board</h1>"
    yield "<p>Which systems keep which rules, by saved runs. A cell counts the rules of a family"
    yield "that had something to judge; it leads to what was found, and that to the recording.</p>"
    yield "<p>Where the recordings lie here, they were judged again for this page: the summary"
    yield "<b>agrees</b> with them, or does not, or is <b>by other rules</b> than today's."
    yield "Where they lie elsewhere, the row is <b>its own word</b>.</p>"
    yield "</header><main>"
    for kind in KINDS:
        of_kind = [row for row in shown if row.summary.run.kind == kind]
        yield f"<section><h2>{_TITLES[kind]}</h2>"
        yield from _table(of_kind) if of_kind else ('<p class="when">None yet.</p>',)
        yield "</section>"
    yield "<section><h2>Runs</h2>"
    for row in rows:
        yield from _run_article(row, rules)
    yield f"</section></main><footer>reasoning-conformance {escape_html(__version__)}</footer>"


def _table(rows: Sequence[BoardRow]) -> Iterator[str]:
    """Families come first, and of them those that fail: that is what a phone has room for."""
    known = {family for row in rows for family in _judged_families(row.summary)}
    broken = {f for f in known if any(_passed_and_failed(row.summary, f)[1] for row in rows)}
    families = [*sorted(broken), *sorted(known - broken)]
    trends = ["since the run before"] if any(row.before for row in rows) else []
    yield '<div class="wide"><table class="matrix"><thead><tr>'
    for head in ("system", *families, "run on", "judged again", *trends):
        yield f'<th scope="col"><span>{escape_html(head)}</span></th>'
    yield "</tr></thead><tbody>"
    for row in rows:
        about = row.summary.run
        name = escape_html(f"{about.name} {about.version}".rstrip())
        yield f'<tr><th scope="row"><a href="#{row.anchor}">{name}</a></th>'
        yield from (_cell(row, family) for family in families)
        yield f"<td>{escape_html(about.date)}</td><td>{_state(row)}</td>"
        yield from (f"<td>{escape_html(_trend(row))}</td>" for _ in trends)
        yield "</tr>"
    yield "</tbody></table></div>"


def _judged_families(summary: RunSummary) -> set[str]:
    return {family for family in summary.families if sum(_passed_and_failed(summary, family))}


def _passed_and_failed(summary: RunSummary, family: str) -> tuple[int, int]:
    found = summary.families.get(family, {})
    failed = found.get(Verdict.FAIL, 0) + found.get(Verdict.ERROR, 0)
    return found.get(Verdict.PASS, 0), failed


def _cell(row: BoardRow, family: str) -> str:
    passed, failed = _passed_and_failed(row.summary, family)
    if not failed:
        return f'<td class="v-pass">{passed}</td>' if passed else "<td></td>"
    words = f"{failed} of {passed + failed} fail"
    return f'<td class="v-fail"><a href="#{row.anchor}">{words}</a></td>'


def _state(row: BoardRow) -> str:
    kind, words = _STATES[row.state]
    return f'<span class="v v-{kind}">{escape_html(words)}</span>'


def _trend(row: BoardRow) -> str:
    """What changed since the run before; rules that changed are not the target's doing."""
    if row.before is None:
        return ""
    now, then = set(row.summary.failed), set(row.before.failed)
    words = [f"{len(now - then)} more fail"] if now - then else []
    words += [f"{len(then - now)} fixed"] if then - now else []
    words = words or ["no rule changed"]
    if row.before.rules.sha256 != row.summary.rules.sha256:
        words.append("other rules then")
    about = row.before.run
    return f"{', '.join(words)} ({f'{about.version}, ' if about.version else ''}{about.date})"


def _run_article(row: BoardRow, rules: Mapping[str, str]) -> Iterator[str]:
    summary, about = row.summary, row.summary.run
    yield f'<article class="one may" id="{row.anchor}"><h3>{escape_html(about.kind)} '
    yield f"{escape_html(f'{about.name} {about.version}'.rstrip())} {_state(row)}</h3>"
    yield f'<p class="when">{escape_html(_facts(summary))}</p>'
    yield from (f'<p class="error">{escape_html(line)}</p>' for line in row.lines[:_LINES])
    if row.lines[_LINES:]:
        yield f'<p class="left-out">{len(row.lines) - _LINES} more lines left out.</p>'
    if not summary.groups:
        yield "<p>Nothing was found.</p>"
    for group in summary.groups:
        yield from _group_lines(row, group, rules)
    if summary.silenced:
        yield f"<details><summary>{count(len(summary.silenced), 'rule')} silenced by what the"
        yield "recordings claim</summary><ul>"
        for rule, why in summary.silenced.items():
            yield f"<li>{_rule_link(rule, rules)}: {escape_html(why)}</li>"
        yield "</ul></details>"
    yield from _recording_list(row)
    yield "</article>"


def _facts(summary: RunSummary) -> str:
    """When, how much, and by what: what may be quoted of the run."""
    profiles = ", ".join(summary.rules.profiles)
    rules = f"rules {summary.rules.sha256[:12]}"
    streams = count(summary.streams, "stream")
    by = f"reasoning-conformance {summary.rules.tool}, {rules}"
    return f"{summary.run.date}: {streams}, judged by {profiles}; {by}"


def _group_lines(row: BoardRow, group: GroupSummary, rules: Mapping[str, str]) -> Iterator[str]:
    kind = "fail" if group.level == "MUST" else "inconclusive"
    extent = f"in {group.streams} of {count(group.judged, 'stream')}"
    yield f'<p><span class="v v-{kind}">{escape_html(group.level)}</span> '
    yield f"{_rule_link(group.rule, rules)}: {escape_html(group.message, 600)} "
    place = f"{group.first.file}:{group.first.line}" if group.first.line else group.first.file
    yield f'<span class="when">{extent}, first in {_file_link(row, group.first.file, place)}'
    yield f"(finding {escape_html(group.first.finding)})</span></p>"


def _rule_link(rule: str, rules: Mapping[str, str]) -> str:
    shown = f"<code>{escape_html(rule)}</code>"
    page = rules.get(rule)
    return f'<a href="{escape_html(page)}">{shown}</a>' if page else shown


def _file_link(row: BoardRow, file: str, words: str) -> str:
    if not row.folder:
        return f"<code>{escape_html(words)}</code>"
    address = f"{quote(row.folder, safe='')}/{quote(file)}"
    return f'<a href="{escape_html(address)}">{escape_html(words)}</a> '


def _recording_list(row: BoardRow) -> Iterator[str]:
    summary = row.summary
    if summary.link:
        link = escape_html(summary.link, 500)
        yield f'<p>Recordings: <a href="{link}" rel="nofollow noopener">{link}</a></p>'
    yield f"<details><summary>{count(len(summary.recordings), 'recording')}</summary><ul>"
    for each in summary.recordings[:_FILES]:
        digest = f'<span class="when">sha256 {escape_html(each.sha256)}</span>'
        yield f"<li>{_file_link(row, each.file, each.file)} {digest}</li>"
    if summary.recordings[_FILES:]:
        yield f'<li class="left-out">{len(summary.recordings) - _FILES} more left out</li>'
    yield "</ul></details>"
