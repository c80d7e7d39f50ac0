"""What is drawn fits the terminal, is printable, and shows what is chosen."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.report.printable import columns
from conformance.targets.recording.messages import ExchangeEnded, HeadCame
from conformance.watching.feed import KeyPressed
from conformance.watching.screen_view import ScreenView
from conformance.watching.timeline import open_timeline
from conformance.watching.traffic import Traffic
from tests.watching.relayed import SSE, answers_to, came, new_traffic
from tests.watching.test_traffic import JUDGE, Listener

HOSTILE = (
    rb"\u001b[2J\u001b]0;pwned\u0007\u202eabc\u009b31m\n\u0000 \ud83d\ude00 \u65e5\u672c </think>"
)


def view() -> ScreenView:
    return ScreenView(
        "http://127.0.0.1:1", "http://127.0.0.1:2", lambda each, _: f"page {each.number}"
    )


def traffic(number: int = 5) -> Traffic:
    """The first with a finding and hostile text, all but the last over."""
    made = new_traffic(JUDGE, Listener())
    for each in range(1, number + 1):
        made.take(answers_to(each, "/v1/chat/completions?key=secret", b'{"model":"m\\u001b[1m"}'))
        made.take(HeadCame(each, 1.5, SSE, chunked=False))
        made.take(came(each, b"reasoning_content", HOSTILE.replace(b"</think>", b"") * 5))
        made.take(came(each, b"content", HOSTILE if each == 1 else b"fine"))
        if each < number:
            made.take(ExchangeEnded(each, 3.0, "eof", ""))
    made.catch_up()
    return made


TRAFFIC = traffic()


@given(st.integers(2, 200), st.integers(0, 60), st.integers(0, 6))
def test_everything_fits_any_terminal(width: int, height: int, ups: int) -> None:
    shown = view()
    for _ in range(ups):
        shown.press(KeyPressed("up"), TRAFFIC)
    lines = [line.plain for line in shown.lines(TRAFFIC, width, height)]
    assert len(lines) <= height
    assert all(columns(line) <= width for line in lines)
    assert all(line.isprintable() for line in lines)
    if height > 1:
        assert lines[1].startswith(">") or any(line.startswith(">") for line in lines)


def test_the_chosen_exchange_is_shown_with_lanes_and_findings() -> None:
    shown = view()
    text = "\n".join(line.plain for line in shown.lines(TRAFFIC, 120, 30))
    assert "5 exchanges, 1 under way" in text
    assert ">#5" in text
    assert "no-markers" not in text
    for _ in range(4):
        shown.press(KeyPressed("up"), TRAFFIC)
    text = "\n".join(line.plain for line in shown.lines(TRAFFIC, 120, 30))
    assert ">#1" in text
    assert "FAIL MUST stripping/visible-text/no-markers" in text
    assert r"\x1b]0;pwned\x07" in text
    assert "secret" not in text
    shown.press(KeyPressed("enter"), TRAFFIC)
    assert shown.lines(TRAFFIC, 120, 30)[-1].plain == "page 1"
    shown.press(KeyPressed("escape"), TRAFFIC)
    assert ">#5" in "\n".join(line.plain for line in shown.lines(TRAFFIC, 120, 30))


def test_an_exchange_that_was_dropped_is_chosen_no_more() -> None:
    shown, passing = view(), traffic(3)
    shown.press(KeyPressed("up"), passing)
    passing.exchanges.pop(2)
    assert ">#3" in "\n".join(line.plain for line in shown.lines(passing, 80, 20))


def test_timeline_is_page_without_secrets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"):
        monkeypatch.delenv(name, raising=False)
    opened = open_timeline(TRAFFIC.exchanges[1], (), tmp_path)
    page = tmp_path / "exchange-1.html"
    assert opened == f"timeline of #1: {page} (no browser here)"
    text = page.read_text()
    assert "stripping/visible-text/no-markers" in text
    assert "<svg" in text
    assert "secret" not in text
    TRAFFIC.exchanges[1].stop_keeping("too long")
    assert open_timeline(TRAFFIC.exchanges[1], (), tmp_path).endswith("its bytes were not kept")
