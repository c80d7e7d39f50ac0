"""The answers on a WebSocket while they pass, each as an exchange of its own.

Rule 1: an answer begins with the message that asks for it, or with its own first one.
Rule 2: it has ended where its own end came, or with its connection. What comes behind its end is
not shown: `check` judges it in a recording.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Iterator
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from conformance.cassette.connections import as_line
from conformance.core.events import UPGRADED, Ending
from conformance.core.json_values import decode_json
from conformance.dialects.connection import SocketAnswer, SocketAnswers, SocketForm
from conformance.targets.recording.messages import (
    BodyCame,
    ExchangeEnded,
    HeadCame,
    PartCame,
    RequestCame,
)
from conformance.watching.feed import ExchangeMessage
from conformance.wire.requests import HttpRequest

MOST_OPEN: Final = 64  # answers of one connection that wait or are under way


class _ShownAnswer(Struct, eq=False):
    """An answer that is under way, and the number of its exchange."""

    number: int
    answer: SocketAnswer


class SocketTraffic:
    """One WebSocket. `new_number` gives the numbers of its exchanges.

    `late` counts the messages that came behind the end of their answer.
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
        """What the message is to the exchanges of the connection."""
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
        return RequestCame(shown.number, came, self._upgrade.target, request)

    def _end(self, shown: _ShownAnswer, came: float, how: Ending) -> ExchangeEnded:
        self._open.remove(shown)
        self._ended.append(shown.answer)
        return ExchangeEnded(shown.number, came, how, "")
