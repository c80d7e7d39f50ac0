"""The html report in a real Chromium: only its own script, by keyboard, in both schemes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from conformance.cli import main
from conformance.core import shipped
from conformance.judging.result import Report
from conformance.recordings.check import check_paths
from conformance.report import render
from tests.report.browser import Browser, browser, executable
from tests.report.hostile import hostile_recording

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(executable() is None, reason="no chromium is installed"),
]

FOCUS = "document.activeElement"
CONTRAST = """
(() => {
  const light = (colour) => {
    const [r, g, b] = colour.match(/[0-9.]+/g).map((each) => each / 255)
      .map((c) => c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = (element) => {
    const colour = getComputedStyle(element).backgroundColor;
    return colour.startsWith("rgba(0, 0, 0, 0") ? ground(element.parentElement) : colour;
  };
  const found = {};
  for (const name of ["body", "a", ".when", ".v-fail", ".v-pass", ".v-vacuous", "pre",
                      ".v-not-applicable", "figcaption", ".frames .at"]) {
    const element = document.querySelector(name);
    if (!element) continue;
    const pair = [light(getComputedStyle(element).color), light(ground(element))];
    found[name] = (Math.max(...pair) + 0.05) / (Math.min(...pair) + 0.05);
  }
  return found;
})()
"""


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with browser(tmp_path_factory.mktemp("chromium")) as started:
        yield started


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = shipped.cassettes()
    paths = [
        root / f"{each}/demo/summary.cassette.jsonl" for each in ("mutants", "openai.responses")
    ]
    return written(tmp_path_factory.mktemp("page"), check_paths(paths))


def written(folder: Path, report: Report) -> Path:
    file = folder / "report.html"
    file.write_text(render(report, "html"), encoding="utf-8")
    return file


def complaints(chromium: Browser) -> list[str]:
    methods = ("Log.entryAdded", "Runtime.exceptionThrown", "Runtime.consoleAPICalled")
    return [str(event) for event in chromium.events if event.get("method") in methods]


def requests(chromium: Browser) -> list[str]:
    sent = [e for e in chromium.events if e.get("method") == "Network.requestWillBeSent"]
    return [event["params"]["request"]["url"] for event in sent]


def test_the_page_asks_for_nothing_and_breaks_no_policy(chromium: Browser, page: Path) -> None:
    chromium.open(page)
    assert chromium.evaluate("document.querySelectorAll('svg a').length") > 20
    # The script ran: it leaves one stop of the Tab key in a picture.
    assert chromium.evaluate("document.querySelectorAll('#s1 svg a[tabindex=\"0\"]').length") == 1
    assert requests(chromium) == [page.as_uri()]
    assert complaints(chromium) == []


def test_marks_and_frames_are_reached_by_keyboard(chromium: Browser, page: Path) -> None:
    chromium.open(page)
    for _ in range(80):
        chromium.press("Tab")
        if chromium.evaluate(f"!!{FOCUS}.closest('svg')"):
            break
    assert chromium.evaluate(f"{FOCUS}.classList.contains('finding')")
    first = chromium.evaluate(f"{FOCUS}.getAttribute('href')")
    chromium.press("Enter")
    assert chromium.evaluate(f"'#' + {FOCUS}.id") == first
    assert chromium.evaluate(f"{FOCUS}.classList.contains('shown')")
    chromium.press("Escape")
    assert chromium.evaluate(f"{FOCUS}.getAttribute('href')") == first
    chromium.press("Home")
    assert chromium.evaluate(f"{FOCUS}.getAttribute('href')") == "#s1f0"
    chromium.press("ArrowRight")
    assert chromium.evaluate(f"{FOCUS}.getAttribute('href')") == "#s1f1"
    chromium.press("End")
    last = chromium.evaluate(f"{FOCUS}.getAttribute('href')")
    chromium.press("ArrowRight")
    assert chromium.evaluate(f"{FOCUS}.getAttribute('href')") == last
    chromium.press("ArrowLeft")
    assert chromium.evaluate(f"{FOCUS}.getAttribute('href')") != last


def test_a_click_on_a_mark_shows_its_frame_in_the_list(chromium: Browser, page: Path) -> None:
    chromium.open(page)
    place = chromium.evaluate("""(() => {
      document.getElementById('ms1f15').scrollIntoView({block: 'center'});
      const mark = document.getElementById('ms1f15').getBoundingClientRect();
      return [mark.x + mark.width / 2, mark.y + mark.height / 2];
    })()""")
    about = {"x": place[0], "y": place[1], "button": "left", "clickCount": 1}
    chromium.call("Input.dispatchMouseEvent", type="mousePressed", **about)
    chromium.call("Input.dispatchMouseEvent", type="mouseReleased", **about)
    assert chromium.evaluate(f"{FOCUS}.id") == "s1f15"
    visible = chromium.evaluate("""(() => {
      const frame = document.activeElement.getBoundingClientRect();
      const list = document.activeElement.closest('.frames').getBoundingClientRect();
      return frame.top >= list.top - 1 && frame.top < list.bottom;
    })()""")
    assert visible


def test_a_cell_opens_and_closes_by_keyboard(chromium: Browser, page: Path) -> None:
    opened = "document.querySelector('td.v-fail .over').matches(':popover-open')"
    chromium.open(page)
    chromium.evaluate("document.querySelector('td.v-fail button').focus()")
    chromium.press("Enter")
    assert chromium.evaluate(opened)
    assert "no-markers" in chromium.evaluate("document.querySelector('td.v-fail .over').innerText")
    chromium.press("Escape")
    assert not chromium.evaluate(opened)
    assert chromium.evaluate(f"{FOCUS}.tagName") == "BUTTON"


def test_a_link_to_a_stream_opens_it(chromium: Browser, page: Path) -> None:
    chromium.open(page)
    assert not chromium.evaluate("document.getElementById('s2').open")
    chromium.evaluate("""new Promise((done) => {
      addEventListener('hashchange', () => done(true));
      document.querySelector('a[href="#s2"]').click();
    })""")
    assert chromium.evaluate("document.getElementById('s2').open")


def test_the_page_works_without_script(chromium: Browser, page: Path) -> None:
    chromium.open(page, script=False)
    assert chromium.evaluate("document.querySelectorAll('svg a[tabindex]').length") == 0
    chromium.evaluate("document.querySelector('#s1 svg a.finding').focus()")
    chromium.press("Enter")
    assert chromium.evaluate("document.querySelector(':target').id") == "s1f23"
    chromium.evaluate("document.querySelector('td.v-fail button').focus()")
    chromium.press("Enter")
    assert chromium.evaluate("document.querySelectorAll(':popover-open').length") == 1


@pytest.mark.parametrize("dark", [False, True])
def test_text_stands_out_in_both_schemes(dark: bool, chromium: Browser, page: Path) -> None:
    chromium.open(page, dark=dark)
    ground = chromium.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (ground == "rgb(255, 255, 255)") is not dark
    assert {k: v for k, v in chromium.evaluate(CONTRAST).items() if v < 4.5} == {}


def test_a_narrow_window_does_not_scroll_sideways(chromium: Browser, page: Path) -> None:
    chromium.open(page, width=420)
    assert chromium.evaluate("document.documentElement.scrollWidth") <= 420
    # A timeline is wider than that: its first finding is in sight, be it late.
    in_sight = """[...document.querySelectorAll("details[open] .picture")].map((picture) => {
      const mark = picture.querySelector("svg .finding")?.getBoundingClientRect();
      return mark && picture.scrollLeft > 0 && mark.left >= 0 && mark.right <= innerWidth;
    })"""
    assert chromium.evaluate(in_sight) == [True]


SHOWN = "[...document.querySelectorAll(%r)].filter((one) => one.checkVisibility()).length"
TYPE = """(() => {
  const field = document.querySelector('#filters [name="%s"]');
  field.value = %r;
  field.dispatchEvent(new Event('input', { bubbles: true }));
})()"""
WAIT = "new Promise((done) => setTimeout(() => done(true), 200))"


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = shipped.cassettes()
    paths = [root / "mutants/wire/chat", root / "openai.chat/client"]
    return written(tmp_path_factory.mktemp("many"), check_paths(paths))


def test_what_is_shown_is_filtered_and_stands_in_the_address(chromium: Browser, many: Path) -> None:
    rows, findings = ".matrix tbody tr", "article.one[id^=g]"
    chromium.open(many)
    every = chromium.evaluate(SHOWN % rows), chromium.evaluate(SHOWN % findings)
    chromium.evaluate(TYPE % ("rule", "done-on"))
    chromium.evaluate(TYPE % ("verdict", "FAIL"))
    assert chromium.evaluate(SHOWN % rows) == chromium.evaluate(SHOWN % findings) == 1
    assert chromium.evaluate(SHOWN % "details.stream") == 1
    assert chromium.evaluate(SHOWN % ".matrix thead th") == 2
    assert chromium.evaluate("location.hash") == "#filter?rule=done-on&verdict=FAIL"
    text = chromium.evaluate("document.querySelector('#filters output').textContent")
    assert text == f"1 of {every[0]} streams, 1 findings"
    chromium.open(many)
    chromium.evaluate(f"location.hash = '#filter?stream=client%2F'; {WAIT}")
    assert 0 < chromium.evaluate(SHOWN % rows) < every[0]
    assert chromium.evaluate(SHOWN % findings) == 0
    chromium.evaluate("document.querySelector('#filters button').click()")
    shown = chromium.evaluate(SHOWN % rows), chromium.evaluate(SHOWN % findings)
    assert (shown, chromium.evaluate("location.hash")) == (every, "")
    assert chromium.evaluate(f"{FOCUS}.name") == "q"
    chromium.evaluate(TYPE % ("q", "no such text anywhere"))
    assert chromium.evaluate(SHOWN % rows) == chromium.evaluate(SHOWN % findings) == 0
    assert complaints(chromium) == []


def test_link_of_a_finding_works_under_any_filter(chromium: Browser, many: Path) -> None:
    chromium.open(many)
    anchor = chromium.evaluate("document.querySelector('.deep').getAttribute('href')")
    chromium.evaluate(TYPE % ("q", "no such text anywhere"))
    chromium.evaluate(f"location.hash = {anchor!r}; {WAIT}")
    assert chromium.evaluate(f"document.querySelector({anchor!r}).checkVisibility()")


@pytest.mark.slow
def test_failing_columns_are_in_sight_on_a_narrow_screen(chromium: Browser, many: Path) -> None:
    chromium.open(many, width=375)
    assert chromium.evaluate("document.documentElement.scrollWidth") <= 375
    assert chromium.evaluate("""[...document.querySelectorAll('.matrix tr.bad')].every((row) => {
      const cell = row.querySelector('td.v-fail').getBoundingClientRect();
      const name = row.querySelector('th').getBoundingClientRect();
      return cell.right <= 375 && name.height < 220;
    })""")


def test_without_script_there_is_no_filter(chromium: Browser, many: Path) -> None:
    chromium.open(many, script=False)
    assert not chromium.evaluate("document.getElementById('filters').checkVisibility()")


def test_paper_shows_no_controls(chromium: Browser, many: Path) -> None:
    chromium.open(many)
    chromium.call("Emulation.setEmulatedMedia", media="print", features=[])
    assert chromium.evaluate(SHOWN % "#filters, #only, .deep") == 0
    assert chromium.evaluate(SHOWN % "article.one[id^=g]") > 0
    chromium.call("Emulation.setEmulatedMedia", media="", features=[])


@pytest.mark.parametrize("dark", [False, True])
def test_what_changed_stands_side_by_side(dark: bool, chromium: Browser, tmp_path: Path) -> None:
    root = shipped.cassettes()
    old = root / "openai.responses/demo/summary.cassette.jsonl"
    new = root / "mutants/summary/lifecycle/summary-streamed.cassette.jsonl"
    file = tmp_path / "diff.html"
    main(["diff", str(old), str(new), "-o", f"html={file}"])
    chromium.open(file, width=375, dark=dark)
    assert chromium.evaluate("document.documentElement.scrollWidth") <= 375
    assert chromium.evaluate("document.querySelectorAll('.changes tbody tr').length") > 3
    assert complaints(chromium) == []


def test_a_hostile_stream_runs_nothing(chromium: Browser, tmp_path: Path) -> None:
    report = check_paths([hostile_recording(tmp_path)])
    assert report.findings
    chromium.open(written(tmp_path, report))
    assert chromium.evaluate("typeof window.pwned") == "undefined"
    counts = (
        "['script', 'img', 'iframe', 'base', 'form'].map(n => document.querySelectorAll(n).length)"
    )
    assert chromium.evaluate(counts) == [1, 0, 0, 0, 0]
    assert complaints(chromium) == []
    assert len(requests(chromium)) == 1
