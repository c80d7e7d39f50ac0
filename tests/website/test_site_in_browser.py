"""The built site in a real Chromium: tables that filter and sort, and the judge."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.report.browser import Browser, browser, executable
from tests.website.screenshots import served

BUILT = os.environ.get("SITE", "")
pytestmark = [
    pytest.mark.docs,
    pytest.mark.browser,
    pytest.mark.skipif(not BUILT, reason="$SITE names no built site; `make site` does"),
    pytest.mark.skipif(executable() is None, reason="no Chromium here"),
]
TYPE = """((words) => {
  const field = document.querySelector('.filters');
  field.value = words;
  field.dispatchEvent(new Event('input'));
  return document.querySelector('.filtered').textContent;
})"""
JUDGE = """(async () => {
  const send = document.querySelector('.judge [type=submit]');
  for (const example of document.querySelectorAll('.judge-example')) {
    const into = document.querySelector('.judge').elements[example.dataset.into];
    if (!WANTED.includes(into.name)) continue;
    example.click();
    for (let i = 0; i < 100 && !into.value; i += 1) await new Promise((go) => setTimeout(go, 50));
  }
  send.click();
  for (let i = 0; i < 500 && send.disabled; i += 1) await new Promise((go) => setTimeout(go, 100));
  return document.querySelector('.judge-text').textContent;
})()"""


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    with served(Path(BUILT)) as address:
        yield address


@pytest.fixture
def shown(tmp_path: Path) -> Iterator[Browser]:
    with browser(tmp_path) as started:
        yield started


def asked_hosts(shown: Browser) -> set[str]:
    requests = [e for e in shown.events if e.get("method") == "Network.requestWillBeSent"]
    urls: list[Any] = [event["params"]["request"]["url"] for event in requests]
    return {url.split("/")[2] for url in urls if not url.startswith("data:")}


def test_one_field_filters_all_rules_and_hides_what_is_empty(site: str, shown: Browser) -> None:
    shown.open(f"{site}rules/")
    assert shown.evaluate(f"{TYPE}('responses sealed-unchanged')").startswith("1 of ")
    heads = "[...document.querySelectorAll('h2')].filter((each) => !each.hidden).length"
    assert shown.evaluate(heads) == 1


def test_a_matrix_sorts_by_number_both_ways(site: str, shown: Browser) -> None:
    shown.open(f"{site}client-matrix/")
    firsts = []
    for _ in range(2):
        shown.evaluate("document.querySelectorAll('.sorts')[2].click()")
        firsts.append(shown.evaluate("document.querySelector('tbody tr').cells[2].textContent"))
    least, most = (int(each.split()[1]) for each in firsts)  # a colour stands before the number
    assert least < most


def test_without_javascript_there_are_tables_and_no_fields(site: str, shown: Browser) -> None:
    shown.open(f"{site}client-matrix/", script=False)
    page = shown.call("DOM.getDocument", depth=-1)["root"]["nodeId"]
    found = {
        name: len(shown.call("DOM.querySelectorAll", nodeId=page, selector=name)["nodeIds"])
        for name in ("tbody tr", ".filters")
    }
    assert found["tbody tr"] > 50
    assert found[".filters"] == 0


def test_a_stream_is_judged_here_and_sent_nowhere(site: str, shown: Browser) -> None:
    shown.open(f"{site}judge/")
    if not shown.evaluate("Boolean(document.querySelector('.judge'))"):
        pytest.skip("built without the judge: no npm here")
    answer = shown.evaluate(JUDGE.replace("WANTED", "['stream']"))
    assert "FAIL MUST stripping/visible-text/no-markers  pasted.sse:7" in answer
    answer = shown.evaluate(JUDGE.replace("WANTED", "['suite']"))
    assert "1 rule over 1 stream: 1 PASS" in answer
    assert asked_hosts(shown) == {site.split("/")[2]}
    methods = [
        event["params"]["request"]["method"]
        for event in shown.events
        if event.get("method") == "Network.requestWillBeSent"
    ]
    assert set(methods) == {"GET"}
