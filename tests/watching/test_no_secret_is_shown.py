"""What a client sent as a secret, and what a server says of it: no view of traffic shows it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from conformance.core.events import Exchange, Request
from conformance.watching.judging import TrafficJudge
from conformance.watching.line_view import LineView
from conformance.watching.screen_view import ScreenView
from tests.cassette.redaction.test_known_secrets import KEY, SPELLINGS
from tests.cassette.redaction.test_planted_key import PLACES, delta, leaks, stream
from tests.watching.relayed import new_traffic, relayed

JUDGE = TrafficJudge(rules=["*"])


def shown(exchange: Exchange) -> Iterator[str]:
    """As lines, and as a screen that is drawn anew for each message."""
    lines: list[str] = []
    screen = ScreenView("http://h.invalid", "http://u.invalid", lambda *_: "")
    for view in (LineView(lines.append, lines.append), screen):
        traffic = new_traffic(JUDGE, view)
        for message in relayed(exchange):
            traffic.take(message)
            traffic.catch_up()
            yield from (line.plain for line in screen.lines(traffic, 400, 60))
    yield from lines


# A value that is also the name of the model is no secret.
@pytest.mark.parametrize("place", [name for name in PLACES if name != "request body"])
def test_a_planted_key_is_not_shown(place: str) -> None:
    lines = {
        f"{name}: {line}"
        for at, (name, spelled) in enumerate(SPELLINGS.items())
        if at % 4 == len(place) % 4
        for line in shown(PLACES[place](spelled))
    }
    assert lines
    assert [line for line in lines if leaks(line)] == []


def test_findings_of_a_stream_under_way_quote_stand_ins() -> None:
    lines = set(shown(stream(delta(f'"content":"no key {KEY}"'))))
    assert any("role-first" in line and "no key n0-" in line for line in lines)


def test_a_key_that_nobody_sent_is_known_by_its_shape() -> None:
    key = "sk-" + "proj-A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6"
    assert not any(key in line for line in shown(stream(delta(f'"content":"no key {key}"'))))


def test_more_secrets_than_can_be_known_hide_every_text() -> None:
    many = tuple((f"x-key-{number}", f"s3cret-{number:06}-abc") for number in range(1100))
    exchange = stream(
        delta('"content":"no key s3cret-001099-abc"'),
        request=Request("POST", "/v1/chat/completions", many, {"stream": True, "model": "m"}),
    )
    lines = set(shown(exchange))
    assert any("role-first" in line for line in lines)
    assert not any("s3cret" in line for line in lines)
