"""Shows a recorded WebSocket: each message with its sender and its answer.

    +ms    message  event
    0.0         #1    1.0 > {"type":"response.create","model":"m","input":"Hi"}
    412.0       #2    1.1 < {"type":"response.created","sequence_number":0, ...}

`>` is sent by the client, `<` by the server. `1.1` is event 1 of exchange 1, as findings name them;
its request is event 0. A message outside all answers has no number. A binary message that is not
text is shown with escapes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Final

from conformance.cassette.connections import carried_exchanges
from conformance.cassette.header import Cassette
from conformance.cassette.inspect import clip_line, head_lines, inspect, visible
from conformance.core.clock import chunk_times
from conformance.core.events import Exchange, SocketMessage

Places = Mapping[int, str]
"""The number of a message, from 0 -> exchange and event."""
_MARKS: Final = {"client": ">", "server": "<"}


def message_places(kept: Cassette) -> Mapping[int, Places]:
    """Where the messages of each kept exchange stand among the answers, by its number."""
    found: dict[int, dict[int, str]] = defaultdict(dict)
    for carried in carried_exchanges(kept):
        places, number = found[carried.kept.number], carried.exchange.number
        if carried.request_message is not None:
            places[carried.request_message] = f"{number}.0"
        for event, at in enumerate(carried.messages or (), 1):
            places[at] = f"{places[at]},{number}.{event}" if at in places else f"{number}.{event}"
    return found


def inspect_connection(exchange: Exchange, places: Places, *, full: bool = False) -> Iterator[str]:
    """The WebSocket as lines of text; any other exchange as `inspect` shows it."""
    if not exchange.is_connection:
        yield from inspect(exchange, full=full)
        return
    yield from head_lines(exchange)
    times = chunk_times(exchange.chunks)
    for at, (message, (data, ms)) in enumerate(zip(exchange.chunks, times, strict=True)):
        assert isinstance(message, SocketMessage)
        text = visible(data)
        gutter = (
            f"{'' if ms is None else f'{ms:.1f}':>10} {f'#{at + 1}':>7} {places.get(at, ''):>6}"
        )
        yield f"{gutter} {_MARKS[message.side]} {text if full else clip_line(text)}"
    code = exchange.close_code
    yield f"* end: {exchange.end}" if code is None else f"* end: {exchange.end}, close {code}"
