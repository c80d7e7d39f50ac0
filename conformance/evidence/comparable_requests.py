"""The two requests of a gateway, and what is found between them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final, Literal

from msgspec import Struct

from conformance.core.events import Exchange
from conformance.core.excerpts import beginning
from conformance.core.json_values import value_at
from conformance.dialects import get
from conformance.dialects.base import Dialect
from conformance.dialects.requests import RequestForm
from conformance.dialects.wishes import AnswerWish
from conformance.judging.offered_tools import OfferedTools

NONE: Final = "nothing"
PLAIN_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
"""A name of a function that every API accepts."""
_SHOWN: Final = 80  # characters
_OTHER: Final = {"tools": "tools", "toolConfig": "tools"}

Part = Literal["talk", "tools", "settings"]
"""What a rule compares of a request."""


class ComparableRequest(Struct, frozen=True):
    """One of the two requests, as rules know it; `exchange` has its answer."""

    exchange: Exchange
    dialect: Dialect
    form: RequestForm
    body: Mapping[str, Any]

    @property
    def tools(self) -> OfferedTools | None:
        return OfferedTools.of(self.dialect, self.dialect.stated(self.exchange.request))

    def shown(self, part: Part) -> str:
        """The request with a part of its body: messages, tools, or everything else."""
        talk = {self.form.history, self.form.instructions, self.form.prompt}
        parts = {key: "talk" if key in talk else _OTHER.get(key, "settings") for key in self.body}
        body = {key: value for key, value in self.body.items() if parts[key] == part}
        request = self.exchange.request
        head = f"{request.method} {request.path} " if request else ""
        return head + json.dumps(body, ensure_ascii=False)


class Lost(Struct, frozen=True):
    """What the upstream request should have had, and what it had."""

    expected: str
    got: str


Found = Lost | bool
"""What is lost; True where nothing is, False where there was nothing to compare."""


def comparable_request(exchange: Exchange) -> ComparableRequest | None:
    """The request of an exchange; None where its dialect or its JSON is not known."""
    dialect = get(exchange.dialect) if exchange.dialect else None
    request = dialect.stated(exchange.request) if dialect else None
    body = request.json if request else None
    if dialect is None or dialect.request is None or not isinstance(body, Mapping):
        return None
    return ComparableRequest(exchange, dialect, dialect.request, body)


def wish_of(side: ComparableRequest) -> AnswerWish:
    return side.dialect.script.wishes.read(side.body) if side.dialect.script else AnswerWish()


def is_kept(side: ComparableRequest) -> bool:
    """Whether a request continues what the server keeps."""
    places = (side.form.previous, *(side.dialect.turns.thread if side.dialect.turns else ()))
    return any(place and value_at(side.body, *place.split(".")) for place in places)


def shortened(text: str) -> str:
    return beginning(text, _SHOWN, "...")


def counted(count: int, word: str) -> str:
    return f"{count} {word}" if count == 1 else f"{count} {word}s"
