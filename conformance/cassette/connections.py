"""A recorded WebSocket as the exchanges that it carried.

A cassette keeps a WebSocket as one exchange, whose chunks are the messages of both sides. Code that
judges, shows or edits answers splits it: each answer becomes a separate exchange, whose request
has the head of the upgrade and the body of the message that asked.

Rule 1: a message of the server is a line of JSON of its answer. A line end inside a message becomes
a space: in JSON it can only be white space.
Rule 2: a complete answer has ended well, whatever happened to the connection; any other has ended
as the connection did.
Rule 3: exchanges are renumbered in order if there is a WebSocket among them.
Rule 4: a WebSocket of an unknown dialect is one exchange with the server's messages.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any, Final, NamedTuple

from msgspec.structs import replace

from conformance.cassette.header import Cassette, CassetteClock
from conformance.cassette.positions import Layout
from conformance.cassette.source import read_blocks
from conformance.core.events import (
    UPGRADED,
    Chunk,
    Exchange,
    Request,
    Response,
    Side,
    SocketMessage,
)
from conformance.core.json_values import decode_json
from conformance.dialects import SOCKET_FORMS
from conformance.dialects.connection import SocketAnswer, SocketForm, sorted_answers
from conformance.dialects.recognition import shown_by_messages

_MESSAGE: Final = b'"from":'
_LINE_ENDS: Final = bytes.maketrans(b"\r\n", b"  ")


class CarriedExchange(NamedTuple):
    """An exchange of a split recording: the recorded one, and the messages that it has of it.

    `messages` is None if it is the recorded one itself, `request_message` is that of the request.
    """

    exchange: Exchange
    clock: CassetteClock | None
    kept: Exchange
    messages: tuple[int, ...] | None
    request_message: int | None = None


def split_connections(cassette: Cassette) -> Cassette:
    """The cassette with an exchange for each answer; the same one where it has no WebSocket."""
    if not any(each.is_connection for each in cassette.exchanges):
        return cassette
    carried = carried_exchanges(cassette)
    clocks = {each.exchange.number: each.clock for each in carried if each.clock is not None}
    return replace(cassette, exchanges=tuple(each.exchange for each in carried), clocks=clocks)


def carried_exchanges(cassette: Cassette) -> list[CarriedExchange]:
    """Every answer of a recording, numbered, with the recorded exchange that holds it."""
    found: list[CarriedExchange] = []
    firsts: dict[int, int] = {}
    for kept in cassette.exchanges:
        clock = cassette.clocks.get(kept.number)
        firsts[kept.number] = len(found) + 1
        if kept.is_connection:
            found += _answers_of(kept, clock or CassetteClock())
        else:
            found.append(CarriedExchange(kept, clock, kept, None))
    return [
        each._replace(
            exchange=replace(each.exchange, number=number, after=firsts.get(each.kept.after or 0))
        )
        for number, each in enumerate(found, 1)
    ]


def carried_layouts(
    carried: Iterable[CarriedExchange], kept_layout: Callable[[int], Layout]
) -> list[Layout]:
    """The places of each answer's messages, from the layouts of recorded exchanges by number."""
    found: list[Layout] = []
    starts: dict[int, list[int]] = {}
    for each in carried:
        number = each.kept.number
        layout = kept_layout(number)
        if each.messages is not None:
            if number not in starts:
                sizes = (len(chunk.data) for chunk in each.kept.chunks)
                starts[number] = list(accumulate(sizes, initial=0))
            layout = _answer_layout(layout, starts[number], each)
        found.append(layout)
    return found


def _answer_layout(kept: Layout, starts: Sequence[int], carried: CarriedExchange) -> Layout:
    messages = carried.messages or ()
    lines = tuple(kept.line(starts[at]) for at in messages)
    sizes = (len(chunk.data) for chunk in carried.exchange.chunks[:-1])
    offsets = tuple(accumulate(sizes, initial=0)) if lines else ()
    line = None if carried.request_message is None else kept.line(starts[carried.request_message])
    return Layout(line or (lines[0] if lines else kept.head), offsets, lines)


def has_messages(path: Path) -> bool:
    """Whether a cassette holds a message of a WebSocket. Raises CassetteError."""
    return any(_MESSAGE in line for block in read_blocks(path) for line in block.data)


def message_groups(connection: Exchange) -> list[list[int]]:
    """The numbers of each answer's messages, without those that belong to none or to several."""
    answers = _sorted_messages(connection)[1]
    owners = Counter(at for answer in answers for at in answer.messages)
    return [[at for at in each.messages if owners[at] == 1] for each in answers]


def server_parts(exchange: Exchange) -> Iterator[CarriedExchange]:
    """The server's messages, for a WebSocket answer by answer; those of no answer come last."""
    if not exchange.is_connection:
        yield CarriedExchange(exchange, None, exchange, None)
        return
    messages = _messages_of(exchange)
    owned = message_groups(exchange)
    of_none = {at for at, each in enumerate(messages) if each.side == "server"}.difference(*owned)
    for group in (*owned, sorted(of_none)):
        chunks = tuple(Chunk(as_line(messages[at].data)) for at in group)
        part = replace(exchange, chunks=chunks, response=_upgrade_head(exchange.response))
        yield CarriedExchange(part, None, exchange, tuple(group))


def as_line(message: bytes) -> bytes:
    return message.translate(_LINE_ENDS) + b"\n"


def _answers_of(kept: Exchange, clock: CassetteClock) -> Iterator[CarriedExchange]:
    messages = _messages_of(kept)
    name, answers = _sorted_messages(kept)
    times = _message_times(messages)
    for answer in answers:
        begun = None if answer.request_at is None else times[answer.request_at]
        yield CarriedExchange(
            replace(
                kept,
                request=_answer_request(kept.request, answer),
                response=_upgrade_head(kept.response),
                chunks=tuple(_message_chunks(messages, times, answer.messages, begun)),
                end=kept.end if answer.is_open else "eof",
                dialect=kept.dialect or name,
            ),
            _answer_clock(clock, begun),
            kept,
            tuple(answer.messages),
            answer.request_at,
        )


def _messages_of(connection: Exchange) -> list[SocketMessage]:
    return [each for each in connection.chunks if isinstance(each, SocketMessage)]


def _sorted_messages(connection: Exchange) -> tuple[str | None, list[SocketAnswer]]:
    """The dialect, where it is known, and the answers."""
    messages = _messages_of(connection)
    payloads = [decode_json(each.data.decode("utf-8", "replace")) for each in messages]
    sides: list[Side] = [each.side for each in messages]
    name, form = _form_of(connection.dialect, payloads)
    if form is not None:
        return name, sorted_answers(form, zip(sides, payloads, strict=True))
    return name, [SocketAnswer(messages=[at for at, s in enumerate(sides) if s == "server"])]


def _form_of(dialect: str | None, payloads: Iterable[Any]) -> tuple[str | None, SocketForm | None]:
    if dialect is not None:
        return dialect, SOCKET_FORMS.get(dialect)
    name = shown_by_messages(payloads)
    return name, SOCKET_FORMS.get(name or "")


def _upgrade_head(response: Response | None) -> Response:
    """The head in front of messages: that of HTTP/2 has another status, and many keep none."""
    return replace(response or Response(), status=UPGRADED)


def _answer_request(upgrade: Request | None, answer: SocketAnswer) -> Request | None:
    if answer.body is None:
        return None
    return replace(upgrade or Request("GET"), json=answer.body)


def _message_times(messages: Sequence[SocketMessage]) -> list[float | None]:
    """When each message came, since the head; None from the first one without a clock."""
    found: list[float | None] = []
    now: float | None = 0.0
    for each in messages:
        now = None if now is None or each.ms is None else now + each.ms
        found.append(now)
    return found


def _message_chunks(
    messages: Sequence[SocketMessage],
    times: Sequence[float | None],
    numbers: Sequence[int],
    begun: float | None,
) -> Iterator[Chunk]:
    before = begun if begun is not None else next((times[at] for at in numbers), None)
    for at in numbers:
        now = times[at]
        ms = None if now is None or before is None else round(max(0.0, now - before), 3)
        yield Chunk(as_line(messages[at].data), ms)
        before = now


def _answer_clock(connection: CassetteClock, begun: float | None) -> CassetteClock:
    """The request is the head, too: nothing is answered before the first message."""
    if begun is None:
        return CassetteClock()
    base = None if connection.begun is None else connection.begun + (connection.head or 0.0)
    return CassetteClock(head=0.0, begun=None if base is None else round(base + begun, 3))
