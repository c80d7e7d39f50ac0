"""Messages of a WebSocket on their way into a cassette: written as soon as nothing can change them.

A secret may be spelled out over the messages of one answer. So messages wait until every answer
that was requested or begun has ended, and are redacted together then; what waits is bounded.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from conformance.cassette import Redactor
from conformance.cassette.redaction.messages import redact_messages
from conformance.core.events import Exchange, SocketMessage
from conformance.core.json_values import decode_json
from conformance.dialects import SOCKET_FORMS
from conformance.dialects.connection import SocketAnswers

_MOST_HELD: Final = 16 * 1024 * 1024  # bytes of messages that wait for the end of their answer


class MessageRedactor:
    """Takes messages in their order. Without a redactor nothing waits.

    `changed` are the messages that it changed, as they came, by their place in the body;
    `close_code` is that of the first close.
    """

    def __init__(self, redactor: Redactor | None, dialect: str | None) -> None:
        self._redactor = redactor
        self._dialect = dialect
        self._form = SOCKET_FORMS.get(dialect or "")
        self._waiting: list[SocketMessage] = []
        self._held = self._given = 0
        self._answers: SocketAnswers | None = None
        self.close_code: int | None = None
        self.changed: list[tuple[int, bytes]] = []

    def add(self, message: SocketMessage) -> None:
        if self._form is not None and self._redactor is not None:
            if self._answers is None:
                self._answers = SocketAnswers(self._form)
            payload = decode_json(message.data.decode("utf-8", "replace"))
            self._answers.add(len(self._waiting), message.side, payload)
        self._waiting.append(message)
        self._held += len(message.data)

    def take(self, *, everything: bool = False) -> Sequence[SocketMessage]:
        """Return the messages that may be written now, without secrets."""
        waits = self._answers is not None and not self._answers.is_quiet
        if not self._waiting or (waits and not everything and self._held <= _MOST_HELD):
            return ()
        came, self._waiting = self._waiting, []
        self._held, self._answers = 0, None
        if self._redactor is None:
            return came
        clean = redact_messages(self._redactor, Exchange(chunks=tuple(came), dialect=self._dialect))
        for one, other in zip(came, clean, strict=True):
            if one.data != other.data:
                self.changed.append((self._given, one.data))
            self._given += len(one.data)
        return clean

    def give_up(self) -> None:
        """Drop the messages that wait."""
        self._waiting, self._held, self._answers = [], 0, None
