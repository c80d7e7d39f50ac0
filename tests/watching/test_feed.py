"""Messages go from one thread to another, and do not pile up."""

from __future__ import annotations

from conformance.core.events import Response
from conformance.targets.recording.messages import BodyCame, ExchangeEnded, RequestCame
from conformance.watching.feed import NoticeText, TrafficFeed
from conformance.wire.requests import HttpRequest

REQUEST = HttpRequest("POST", "/", (), b"{}")


def test_where_too_much_waits_the_rest_of_an_exchange_is_left_out() -> None:
    feed = TrafficFeed(most=100)
    log = feed.new_log()
    log.record_request(REQUEST, "/", 1.0)
    log.record_head(Response(200), 1.0, chunked=False)
    for _ in range(3):
        log.record_body(b"x" * 40, 1.0)
    log.record_body(b"x", 1.0)
    log.record_end("eof", 2.0)
    feed.new_log().record_request(HttpRequest("POST", "/", (), b"x" * 60), "/", 1.0)
    taken = []
    while (message := feed.take(0)) is not None:
        taken.append(message)
    assert isinstance(taken[0], RequestCame)
    assert [len(each.data) for each in taken if isinstance(each, BodyCame)] == [40, 40]
    (end,) = [each for each in taken if isinstance(each, ExchangeEnded)]
    assert end.lost == "too much waits to be recorded"
    assert isinstance(taken[-1], NoticeText)
    assert feed.has_room(100)
