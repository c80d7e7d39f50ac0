"""The view of a WebSocket: both sides, and of which answer each message is."""

from __future__ import annotations

from pathlib import Path

from conformance.cassette import open_recording
from conformance.cassette.inspect import inspect_connection, message_places
from tests.cassette.saved_files import stored
from tests.cassette.sockets import LIMIT, answer, asked, cassette_text


def test_every_message_is_shown_with_its_place(tmp_path: Path) -> None:
    talk = [asked("a"), *answer("r", "a")[:2], ("client", {"type": "response.steer"})]
    text = cassette_text([*talk, ("server", {"type": "codex.rate_limits"}), ("server", LIMIT)])
    kept = open_recording(stored(tmp_path, "ws.cassette.jsonl", text)).kept
    assert kept is not None
    (connection,) = kept.exchanges
    shown = list(inspect_connection(connection, message_places(kept)[1]))
    rows = [line for line in shown if "#" in line[:20]]
    head = [line for line in shown if line not in rows]
    assert head[:2] == ["> GET /v1/responses", "< 101 HTTP/1.1"]
    assert head[-1] == "* end: eof"
    assert [" ".join(row[:27].split()) for row in rows] == [
        *("1.5 #1 1.0 >", "3.0 #2 1.1 <", "4.5 #3 1.2 <", "6.0 #4 >", "7.5 #5 <", "9.0 #6 1.3 <")
    ]


def test_the_code_of_a_close_is_shown(tmp_path: Path) -> None:
    text = cassette_text([asked()]).replace('"end": "eof"', '"end": "eof", "close_code": 1001')
    kept = open_recording(stored(tmp_path, "ws.cassette.jsonl", text)).kept
    assert kept is not None
    assert list(inspect_connection(kept.exchanges[0], {}))[-1] == "* end: eof, close 1001"
