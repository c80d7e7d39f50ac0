"""The html page as text; `test_html_in_browser` looks at it in a browser."""

from __future__ import annotations

import base64
import hashlib
import html.parser
import re
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from msgspec.structs import replace

from conformance.cassette import Cassette, CassetteClock, Header, read, write
from conformance.core import shipped
from conformance.judging.result import JudgedCall, Report
from conformance.recordings.check import check_paths
from conformance.report.html import render
from conformance.rules.verdicts import Level, Verdict
from tests.evidence.links import edits
from tests.evidence.links.talks import TALKERS, history_of, talk, with_history
from tests.report.hostile import hostile_recording
from tests.report.made import finding, stream
from tests.report.test_report_json import REPORTS

DEMO = shipped.cassettes() / "mutants/demo/summary.cassette.jsonl"
VOID = frozenset({"meta", "input"})
TAGS = frozenset(
    """html head meta title style body header main section footer h1 h2 h3 p b span a ul ol li pre
    code table thead tbody tr th td details summary div label input figure figcaption svg g rect
    text line path article script button search select option output""".split()  # noqa: SIM905  # fifty quotes are no easier to read
)


class Outline(html.parser.HTMLParser):
    """Checks that elements close in order, and notes ids, links and texts."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: Counter[str] = Counter()
        self.links: set[str] = set()
        self.tags: Counter[str] = Counter()
        self.handlers: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        facts = dict(attrs)
        self.ids[facts.get("id") or ""] += 1
        self.links.add(facts.get("href") or "")
        self.handlers += [name for name in facts if name.startswith("on") or name == "style"]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def outline(page: str) -> Outline:
    found = Outline()
    found.feed(page)
    found.close()
    assert found.open == []
    assert set(found.tags) <= TAGS
    assert found.handlers == []
    assert {name: n for name, n in found.ids.items() if name and n > 1} == {}
    assert {link.removeprefix("#") for link in found.links} <= set(found.ids)
    return found


def test_a_page_is_well_formed_and_its_links_lead_somewhere() -> None:
    found = outline(render(check_paths([DEMO])))
    assert len(found.links) > 20
    assert found.tags["script"] == found.tags["style"] == found.tags["svg"] == 1


def test_the_policy_names_exactly_the_style_and_script_of_the_page() -> None:
    page = render(Report())
    (policy,) = re.findall(r'Security-Policy" content="([^"]*)"', page)
    assert "default-src 'none'" in policy
    for tag in ("style", "script"):
        (text,) = re.findall(f"<{tag}>(.*?)</{tag}>", page, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy
    assert "http:" not in page.replace("http://www.w3.org", "")


def test_a_finding_is_marked_and_its_frame_is_there() -> None:
    page = render(check_paths([DEMO]))
    assert 'class="finding must" href="#s1f23"' in page
    assert '<li id="s1f23" tabindex="-1" class="bad">' in page
    assert '<a class="at" href="#s1x1">' in page


def test_a_hostile_stream_adds_no_element(tmp_path: Path) -> None:
    page = render(check_paths([hostile_recording(tmp_path)]))
    assert outline(page).tags["script"] == 1
    body = page[page.index("<body>") :]
    assert all(c == "\n" or c.isprintable() for c in body)
    assert "sk-1234567890abcdef12" not in page


@settings(max_examples=40)
@given(report=REPORTS)
def test_any_report_is_a_well_formed_page(report: Report) -> None:
    outline(render(report))


def test_a_recording_that_is_gone_costs_only_the_picture() -> None:
    page = render(Report((stream(finding(), file="gone.cassette.jsonl"),)))
    assert "No picture: gone.cassette.jsonl: cannot be read" in page
    assert "part-lifecycle" in page


def test_a_stream_that_stands_in_no_file_has_no_picture() -> None:
    page = render(Report((stream(file=""),)))
    assert "No picture: the stream was not recorded in a file" in page


def test_a_client_view_has_no_picture_of_the_wire() -> None:
    page = render(Report((stream(finding(), view="client"),)))
    assert "<svg" not in page
    assert "No picture" not in page


def test_the_page_is_bounded_and_says_what_is_left_out() -> None:
    long = finding(message="x" * 10_000, says="y" * 10_000)
    verdicts = {f"suite/{n % 9}/rule-{n}": Verdict.PASS for n in range(60)}
    streams = [stream(*[long] * 100, file=f"{n}.sse", verdicts=verdicts) for n in range(20)]
    streams += [stream(exchange=n, verdicts=verdicts) for n in range(1200)]
    page = render(Report(tuple(streams)))
    assert "220 more streams left out." in page
    assert "920 more streams left out, those with the gravest findings are here." in page
    assert "40 more findings left out." in page
    assert len(page) < 8_000_000


def test_pictures_are_bounded() -> None:
    streams = tuple(
        stream(file=str(DEMO), dialect="openai.responses", profile="strict") for _ in range(70)
    )
    page = render(Report(streams))
    assert page.count("<svg") == 60
    assert page.count("No picture: the page would grow too large.") == 10


def test_signs_distinguish_verdicts_without_colour() -> None:
    verdicts = {f"a/{verdict.lower()}/x": verdict for verdict in Verdict}
    page = render(Report((stream(verdicts=verdicts),)))
    signs = re.findall(r'<button popovertarget="[^"]*" aria-label="[^"]*">(.)<', page)
    assert len(set(signs)) == len(Verdict)


@pytest.mark.parametrize("level", Level)
def test_marks_say_the_level(level: Level) -> None:
    one = stream(
        finding(level=level, event=3), file=str(DEMO), dialect="openai.responses", profile="strict"
    )
    assert f'<a class="finding {level.lower()}"' in render(Report((one,)))


def test_a_group_is_reported_once_with_links_to_all_its_places() -> None:
    also = finding(rule="wire/order", level=Level.SHOULD, message="came 3 times")
    page = render(Report(tuple(stream(finding(), also, exchange=n) for n in range(1, 105))))
    outline(page)
    section = page[page.index("<h2>Findings") : page.index("<h2>Verdicts")]
    assert section.count("<article") == 1
    assert "in 104 of 104 streams" in section
    assert "<li>also <span" in section
    assert "<summary>103 more places</summary>" in section
    assert (section.count('<a href="#s'), section.count("<li>3 more</li>")) == (101, 1)
    assert page.count('<details class="stream" ') == 104
    assert page.count(" open>") == 1


HOPS = shipped.cassettes() / "mutants/hop/order.cassette.jsonl"


def test_the_provider_stands_beneath_its_application_and_by_its_findings() -> None:
    page = render(check_paths([HOPS]))
    outline(page)
    (section,) = re.findall(r'<details class="stream" id="s1".*?</details>', page, re.DOTALL)
    assert 'aria-label="upstream: exchange 2, anthropic.messages, 22 events"' in section
    beneath = section.partition("upstream: exchange 2")[2].partition("</svg>")[0]
    assert [kind for kind in ("thinking", "text", "tools") if f'"bar {kind}"' in beneath] == [
        *("thinking", "text")
    ]
    assert "<title>event 4</title>" in beneath
    sent, reported = section.partition('<div class="hops">')[2].split("<div>")[1:3]
    assert ">app</p>" in sent
    assert ">upstream</p>" in reported
    assert "text-delta" in sent
    assert "content_block_delta" in reported


@pytest.mark.parametrize(
    "edit", [edits.lost(edits.SEALS[0]), edits.cut(edits.SEALS[0])], ids=["lost", "cut"]
)
def test_broken_signature_shows_answer_next_to_request(edit: edits.Edit, tmp_path: Path) -> None:
    talker = TALKERS["messages"]
    exchanges = talk(talker)
    history = edit(history_of(exchanges[1], talker.history))
    exchanges[1] = with_history(exchanges[1], talker.history, history)
    header = Header(dialect=talker.dialect, profile=talker.profile)
    write(tmp_path / "t.cassette.jsonl", Cassette(header, tuple(exchanges)))
    page = render(check_paths([tmp_path / "t.cassette.jsonl"]))
    outline(page)
    (section,) = re.findall(r'<details class="stream" id="s2".*?</details>', page, re.DOTALL)
    assert "continues the answer of exchange 1 in messages.1 (evidence: call call0" in section
    article = section.partition("<code>history/messages/signed-unchanged</code>")[2]
    sent, reported = article.partition('<div class="hops">')[2].split("<div>")[1:3]
    assert ">sent</p>" in sent
    assert "messages.1" in sent
    assert edits.SEALS[0] not in sent
    assert ">answer</p>" in reported
    assert "t.cassette.jsonl:" in reported
    assert "(exchange 1, turn 1, event 1" in reported
    assert "msg_1" in reported


def test_answers_of_a_provider_follow_one_another_on_one_scale() -> None:
    loop = shipped.cassettes() / "vercel.ui/ai-sdk/hops-tool-loop.cassette.jsonl"
    page = render(check_paths([loop]))
    (section,) = re.findall(r'<details class="stream" id="s1".*?</details>', page, re.DOTALL)
    ends: list[float] = []
    for part in section.split('<text class="beneath"')[1:]:
        bars = re.findall(
            r'class="bar \w+" x="([\d.]+)".*?width="([\d.]+)"', part.split("</svg>")[0]
        )
        starts = [float(x) for x, _ in bars]
        assert not ends or min(starts) >= max(ends)
        ends = [float(x) + float(width) for x, width in bars if float(width) > 2]
        assert max(ends) < 1000
    assert section.count('class="beneath"') == 2


def test_a_provider_is_drawn_when_it_came_where_a_clock_shows(tmp_path: Path) -> None:
    whole = read(HOPS)
    # Asked 400 ms after the application, which begins its own answer 1000 ms after it was asked.
    clocks = {1: CassetteClock(1000.0, begun=0.0), 2: CassetteClock(100.0, begun=400.0)}
    write(tmp_path / "a.cassette.jsonl", replace(whole, clocks=clocks))
    page = render(check_paths([tmp_path]))
    assert "by the same clock" in page
    first = re.search(r'class="beneath".*?class="bar \w+" x="([\d.]+)"', page, re.DOTALL)
    zero = re.search(r'class="bar \w+" x="([\d.]+)"', page)
    assert first
    assert zero
    assert float(first[1]) < float(zero[1])
    assert ">-500 ms</text>" in page


def test_what_a_provider_sent_elsewhere_is_drawn_where_a_finding_names_it(tmp_path: Path) -> None:
    whole = read(HOPS)
    for name, exchange in zip(("app", "model"), whole.exchanges, strict=True):
        alone = replace(exchange, number=1, hop="")
        write(tmp_path / f"{name}.cassette.jsonl", Cassette(Header(), (alone,)))
    app, model = (tmp_path / f"{name}.cassette.jsonl" for name in ("app", "model"))
    page = render(check_paths([app], dialect=whole.header.dialect, upstream=[model]))
    outline(page)
    assert "upstream: exchange 1, anthropic.messages" in page


def test_what_a_client_says_it_saw_stands_beneath_the_wire() -> None:
    seen = shipped.cassettes() / "anthropic.messages/client/signed-thinking.cassette.jsonl"
    page = render(check_paths([seen]))
    outline(page)
    assert page.count('aria-label="client, 30 events"') == 1
    assert "what the client says it saw" in page


def test_the_page_names_its_target_and_what_a_run_does_not_keep() -> None:
    call = JudgedCall("2026-11-29T10:00:00Z", 12.34, target="http://127.0.0.1:8000", kept=False)
    page = render(Report((stream(file="openai.chat/think"),), call=call))
    assert "http://127.0.0.1:8000, 2026-11-29 10:00 UTC, in 12.3 s" in page
    assert "No picture: recordings are kept only with --save DIR" in page
