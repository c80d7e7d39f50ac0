"""The site: its pages and links, examples in lanes, and what `make site` has built."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest

from conformance.recordings.examples import example_streams
from website import build, pages
from website.lanes import lane_tables

MOST = 2_000_000  # bytes of one page
BUILT = os.environ.get("SITE", "")
needs_site = pytest.mark.skipif(not BUILT, reason="$SITE names no built site; `make site` does")


def navigation(entries: list[Any]) -> Iterator[str]:
    for entry in entries:
        values = entry.values() if isinstance(entry, dict) else (entry,)
        for each in values:
            yield from navigation(each) if isinstance(each, list) else (each,)


@pytest.fixture(scope="module")
def written() -> dict[str, str]:
    return pages.written_pages("")


def test_every_page_but_those_of_rules_is_in_the_navigation(written: dict[str, str]) -> None:
    pages = [*written, "new.md"]
    settings = tomllib.loads(build.site_settings(pages, ""))
    named = list(navigation(settings["project"]["nav"]))
    own = {path.name for path in (build.OWN / "pages").glob("*.md")}
    others = {page for page in pages if not page.startswith("rules/")}
    assert sorted(named) == sorted(others | own | {"rules/README.md"})


@pytest.mark.parametrize(
    ("address", "left"),
    [
        ("", "[a](security.md#b) the tests `[x](y)`"),
        (
            "https://git.example/o/n",
            "[a](security.md#b) [the tests](https://git.example/o/n/blob/main/tests/a) `[x](y)`",
        ),
    ],
)
def test_links_that_leave_the_site_need_an_address(address: str, left: str) -> None:
    text = "[a](security.md#b) [the tests](../tests/a) `[x](y)`"
    assert pages.site_text(text, "docs/live.md", "live.md", address) == left


def test_start_pages_are_the_sections_of_readme(written: dict[str, str]) -> None:
    page = written["start/server.md"]
    assert page.startswith("# You write a server\n")
    assert "[scenarios](../live.md)" in page
    assert "## You write a server" not in written["index.md"]
    assert "[the author of a server](start/server.md)" in written["index.md"]


def test_a_list_after_words_gets_the_blank_line_that_the_generator_wants() -> None:
    text = "Two:\n- a\n- b\n\n```text\nTwo:\n- a\n```\n"
    made = pages.site_text(text, "docs/a.md", "a.md", "")
    assert made == "Two:\n\n- a\n- b\n\n```text\nTwo:\n- a\n```\n"


def test_the_suite_to_try_is_the_first_of_the_page() -> None:
    page = (pages.ROOT / "docs/rule-language.md").read_text(encoding="utf-8")
    assert build.first_suite(page).startswith("suite: own/answers\n")


def lanes(rule: str) -> str:
    streams = example_streams(rule)
    assert streams
    return lane_tables(streams)


def test_the_finding_stands_in_its_row_of_the_failing_stream_alone() -> None:
    passing, failing = lanes("stripping/visible-text/no-markers").split("</figure>")[:2]
    assert 'class="at"' not in passing
    marked = re.findall(r'<tr class="at">(.*)</tr>', failing)
    assert len(marked) == 1
    assert '<td class="text"><span>' in marked[0]
    assert "&lt;/thi" in failing


def test_what_was_asked_stands_in_the_row_of_the_request() -> None:
    assert "reasoning_effort: &quot;low&quot;</span>" in lanes("effort/chat/off-is-silent")


def test_reports_of_clients_have_lanes_too() -> None:
    assert '<td class="summary">' in lanes("summary/client/parts-once")


def test_lanes_stand_before_the_excerpts() -> None:
    page = build.with_lanes("# a\n\n## Passes\n\n## Fails\n", "stripping/visible-text/no-markers")
    assert page.startswith("# a\n\n## In lanes\n\n<div")
    assert page.endswith("\n## Passes\n\n## Fails\n")


class Page(HTMLParser):
    """What a page asks for by itself, and where its links lead."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        if tag in ("script", "img", "iframe", "source") and attributes.get("src"):
            self.asked.append(str(attributes["src"]))
        if tag == "link" and attributes.get("rel") not in ("canonical", "next", "prev"):
            self.asked.append(str(attributes["href"]))


@needs_site
@pytest.mark.docs
def test_no_page_is_large_or_asks_another_host() -> None:
    found = sorted(Path(BUILT).rglob("*.html"))
    assert len(found) > 800
    for path in found:
        text = path.read_text(encoding="utf-8")
        assert len(text) < MOST, path
        page = Page()
        page.feed(text)
        assert [each for each in page.asked if urlsplit(each).netloc] == [], path


@needs_site
@pytest.mark.docs
def test_every_rule_with_an_example_has_lanes() -> None:
    rules = Path(BUILT) / "rules"
    bare = [
        path.parent.relative_to(rules).as_posix()
        for path in rules.glob("*/**/index.html")
        if 'id="fails"' in (text := path.read_text(encoding="utf-8")) and "lanes-pair" not in text
    ]
    assert bare == []


@needs_site
@pytest.mark.docs
def test_every_link_of_the_board_leads_somewhere() -> None:
    site = Path(BUILT)
    page = (site / build.BOARD).read_text(encoding="utf-8")
    linked = {unquote(each) for each in re.findall(r'href="([^"#][^"]*)"', page)}
    near = {each for each in linked if not urlsplit(each).scheme}
    assert len(near) > 100
    assert [each for each in sorted(near) if not (site / each).exists()] == []
