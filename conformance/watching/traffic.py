"""All exchanges that are shown: those under way, and the last ones that are over.

Rule 1: an answer begins with the message that asks for it, or with its own first one.
Rule 2: it has ended where its own end came, or with its connection. What comes after its end is
not shown: `check` judges it in a recording.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, Protocol

from msgspec import Struct
from msgspec.structs import replace

from conformance.cassette.connections import as_line
from conformance.core.events import UPGRADED, Ending
from conformance.core.json_values import decode_json
from conformance.dialects.connection import SocketAnswer, SocketAnswers, SocketForm
from conformance.judging.result import Finding
from conformance.targets.recording.messages import (
    BodyCame,
    ExchangeEnded,
    HeadCame,
    PartCame,
    RequestCame,
)
from conformance.watching.conversations import TrafficConversations
from conformance.watching.exchange import WatchedExchange
from conformance.watching.feed import ExchangeMessage
from conformance.watching.judging import TrafficJudge
from conformance.wire.requests import HttpRequest

MOST_EXCHANGES: Final = 200  # that are over
MOST_BYTES: Final = 64 * 1024 * 1024  # of all bodies together
_MOST_TURNS: Final = 20  # of a conversation that one page shows


class TrafficListener(Protocol):
    """Gets what happens, when it happens."""

    def began(self, exchange: WatchedExchange) -> None: ...
    def found(self, exchange: WatchedExchange, findings: Sequence[Finding]) -> None: ...
    def ended(self, exchange: WatchedExchange) -> None: ...


class Traffic:
    """Takes messages in the order in which they came; used by one thread.

    `exchanges` stand by their numbers, the oldest first. `total` and `faulty` count all that there
    ever were, and those with findings. `new_number` gives a number to each answer on a WebSocket.
    """

    def __init__(
        self,
        judge: TrafficJudge,
        listener: TrafficListener,
        new_number: Callable[[], int],
    ) -> None:
        self.exchanges: dict[int, WatchedExchange] = {}
        self.total = self.faulty = 0
        self.conversations = TrafficConversations(judge)
        self._judge = judge
        self._listener = listener
        self._new_number = new_number
        self._sockets: dict[int, SocketTraffic] = {}

    @property
    def running(self) -> int:
        return sum(not each.is_over for each in self.exchanges.values())

    def turns_before(self, exchange: WatchedExchange) -> list[WatchedExchange]:
        """The exchanges on which one goes on, as far as they are kept, the oldest first."""
        found: list[WatchedExchange] = []
        place = exchange.place
        while place is not None and place.after is not None and len(found) < _MOST_TURNS:
            before = self.exchanges.get(place.after)
            if before is None or not (before.is_kept and before.is_over):
                break
            found.append(before)
            place = before.place
        return found[::-1]

    def take(self, message: ExchangeMessage) -> None:
        for each in self._of_answers(message):
            self._take_alone(each)
        self._take_alone(message)
        self._drop_oldest()

    def _of_answers(self, message: ExchangeMessage) -> Iterable[ExchangeMessage]:
        """What it is to the answers of a WebSocket, where it is of one."""
        known = self.exchanges.get(message.number)
        if known is not None and isinstance(message, HeadCame) and message.response.is_upgrade:
            self._begin_socket(known, message)
        socket = self._sockets.get(message.number)
        if socket is not None and isinstance(message, PartCame):
            return socket.take(message)
        if socket is not None and isinstance(message, ExchangeEnded):
            return self._end_socket(socket, message)
        return ()

    def _begin_socket(self, known: WatchedExchange, head: HeadCame) -> None:
        form = self._judge.socket_form(known.recorded())
        if form is None:
            known.note = "not judged: a WebSocket of no known API"
            return
        known.note = "a WebSocket: each of its answers has its own line"
        self._sockets[known.number] = SocketTraffic(
            form, known.request_came, head, self._new_number
        )

    def _end_socket(self, socket: SocketTraffic, ended: ExchangeEnded) -> Iterable[ExchangeMessage]:
        del self._sockets[ended.number]
        known = self.exchanges.get(ended.number)
        if socket.late and known is not None:
            late = f"messages after the end of their answer, not judged: {socket.late}"
            known.note = f"{late}; `record` keeps them for `check`"
        return socket.end(ended)

    def _take_alone(self, message: ExchangeMessage) -> None:
        if isinstance(message, RequestCame):
            exchange = WatchedExchange(message, self._judge, self.conversations)
            self.exchanges[message.number] = exchange
            self.total += 1
            found = exchange.take_history()
            self._listener.began(exchange)
            self._report_findings(exchange, found)
        elif (known := self.exchanges.get(message.number)) is not None:
            self._report_findings(known, known.take(message))
            if known.is_over:
                self.faulty += bool(known.findings)
                self._listener.ended(known)

    def catch_up(self) -> None:
        """Judges what waits in streams that are under way."""
        for each in list(self.exchanges.values()):
            if not each.is_over:
                self._report_findings(each, each.catch_up())

    def _report_findings(self, exchange: WatchedExchange, found: Sequence[Finding]) -> None:
        if found:
            self._listener.found(exchange, found)

    def _drop_oldest(self) -> None:
        over = [number for number, each in self.exchanges.items() if each.is_over]
        size = sum(each.kept_bytes for each in self.exchanges.values())
        while over and (len(over) > MOST_EXCHANGES or size > MOST_BYTES):
            size -= self.exchanges.pop(over.pop(0)).kept_bytes
        if size > MOST_BYTES:
            longest = max(self.exchanges.values(), key=lambda each: each.kept_bytes)
            longest.stop_keeping("too much is under way: no timeline")


MOST_OPEN: Final = 64  # answers of one connection that wait or are under way


class _ShownAnswer(Struct, eq=False):
    """An answer that is under way, and the number of its exchange."""

    number: int
    answer: SocketAnswer


class SocketTraffic:
    """One WebSocket. `new_number` gives the numbers of its exchanges.

    `late` counts the messages that came after the end of their answer.
    """

    def __init__(
        self,
        form: SocketForm,
        upgrade: RequestCame,
        head: HeadCame,
        new_number: Callable[[], int],
    ) -> None:
        self.late = 0
        self._form = form
        self._upgrade = upgrade
        self._head = replace(head, response=replace(head.response, status=UPGRADED), chunked=False)
        self._new_number = new_number
        self._answers = SocketAnswers(form)
        self._count = self._known = 0
        self._open: list[_ShownAnswer] = []
        self._ended = deque[SocketAnswer](maxlen=MOST_OPEN)
        self._failure = b""

    def take(self, message: PartCame) -> Iterator[ExchangeMessage]:
        if not message.part.is_message:
            return
        line = as_line(message.part.data)
        payload = decode_json(message.part.data.decode("utf-8", "replace"))
        self._answers.add(self._count, message.side, payload)
        self._count += 1
        yield from self._begin_new(message.came)
        for answer in self._ended:
            self.late += len(answer.messages)
            answer.messages.clear()
        for shown in [*self._open]:
            if shown.answer.messages:
                shown.answer.messages.clear()
                yield BodyCame(shown.number, message.came, line)
            elif shown.answer.failure == self._count - 1:
                self._failure = line
            if not shown.answer.is_open:
                yield self._end(shown, message.came, "eof")

    def end(self, ended: ExchangeEnded) -> Iterator[ExchangeMessage]:
        """The connection is over, and with it all that is under way."""
        for shown in [*self._open]:
            answer = shown.answer
            if answer.failure is not None:
                yield BodyCame(shown.number, ended.came, self._failure)
            answer.end_with_connection()
            yield self._end(shown, ended.came, ended.how if answer.is_open else "eof")

    def _begin_new(self, came: float) -> Iterator[ExchangeMessage]:
        begun = self._answers.begun
        for answer in begun[self._known :]:
            if len(self._open) >= MOST_OPEN:
                continue
            shown = _ShownAnswer(self._new_number(), answer)
            self._open.append(shown)
            yield self._request(shown, came)
            yield replace(self._head, number=shown.number, came=came)
        self._known = len(begun)

    def _request(self, shown: _ShownAnswer, came: float) -> RequestCame:
        request_body = shown.answer.body
        body = b"" if request_body is None else json.dumps(request_body).encode()
        upgrade = self._upgrade.request
        request = HttpRequest(upgrade.method, upgrade.target, upgrade.headers, body)
        head = self._head.response
        return RequestCame(shown.number, came, self._upgrade.target, request, head)

    def _end(self, shown: _ShownAnswer, came: float, how: Ending) -> ExchangeEnded:
        self._open.remove(shown)
        self._ended.append(shown.answer)
        return ExchangeEnded(shown.number, came, how, "")
