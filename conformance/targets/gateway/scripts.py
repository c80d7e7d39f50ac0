"""Who answers behind a gateway: a script, call by call, or a recording."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

from conformance.core.events import Exchange
from conformance.dialects import SUPPORTED
from conformance.judging.trace import is_body
from conformance.targets.gateway import chat, messages, responses
from conformance.targets.gateway.said import MODEL, Answered, body, stream

_STATUS: Final = {"refused": 400, "unavailable": 500}
_KIND: Final = "text/event-stream"


class _Form(Protocol):
    """One API: an error, a stream and a body of a script."""

    error: Callable[[str], Mapping[str, Any]]
    streamed: Callable[[str, int, Mapping[str, Any]], Iterator[bytes]]
    whole: Callable[[str, int, Mapping[str, Any]], Mapping[str, Any]]


_FORMS: Final[Mapping[str, Any]] = {
    "openai.chat": chat,
    "openai.responses": responses,
    "anthropic.messages": messages,
}


class Speaker(Protocol):
    """What stands behind a gateway while one request is under way."""

    def answer(self, dialect: str, call: int, number: int, asked: Mapping[str, Any]) -> Answered:
        """The answer to call number `call` of the request (from 0), number `number` of the run."""


@dataclass(frozen=True, slots=True)
class Scripts:
    """Words of `scenarios.UPSTREAM`, one for each call of a request; the last one goes on."""

    words: Sequence[str] = ("answer",)

    def answer(self, dialect: str, call: int, number: int, asked: Mapping[str, Any]) -> Answered:
        return scripted(self.words[min(call, len(self.words) - 1)], dialect, number, asked)


@dataclass(frozen=True, slots=True)
class Recorded:
    """A recorded exchange with its dialect, given to the first call as it was recorded.

    Later calls (a summary) are answered by a script. A call in another API, or for a whole body
    where a stream was recorded, has no answer here: it is told as a misfit.
    """

    exchange: Exchange

    def answer(self, dialect: str, call: int, number: int, asked: Mapping[str, Any]) -> Answered:
        if call:
            return scripted("answer", dialect, number, asked)
        misfit = self._misfit(dialect, asked)
        if misfit:
            error = {"message": misfit, "type": "invalid_request_error", "code": None}
            payload = body(501, {"type": "error", "error": error})
            return Answered(501, payload.kind, payload.pieces, misfit=misfit)
        response = self.exchange.response
        status = response.status if response else None
        return Answered(
            status=status or 200,
            kind=(response.header("content-type") if response else None) or self._kind,
            pieces=tuple(chunk.data for chunk in self.exchange.chunks),
            breaks=self.exchange.end != "eof",
        )

    @property
    def streams(self) -> bool:
        """Whether a stream was recorded."""
        head = self.exchange.chunks[0].data if self.exchange.chunks else b""
        return not is_body(self.exchange.response, head)

    @property
    def _kind(self) -> str:
        return _KIND if self.streams else "application/json"

    def _misfit(self, dialect: str, asked: Mapping[str, Any]) -> str:
        recorded = self.exchange.dialect
        if dialect != recorded:
            return f"the gateway asked upstream in {dialect}, {recorded} was recorded"
        status = self.exchange.response.status if self.exchange.response else None
        if (status or 200) < 300 and bool(asked.get("stream")) is not self.streams:
            forms = ("a whole body", "a stream")
            had, wanted = forms if not self.streams else reversed(forms)
            return f"the gateway asked upstream for {wanted}, {had} was recorded"
        return ""


def scripted(script: str, dialect: str, number: int, asked: Mapping[str, Any]) -> Answered:
    """The answer to call `number` by one word."""
    form: _Form = _FORMS[dialect]
    if script in _STATUS:
        return body(_STATUS[script], form.error(script))
    if asked.get("stream"):
        return stream(tuple(form.streamed(script, number, asked)), breaks=script == "cut")
    if script == "error":
        return body(500, form.error(script))
    return body(200, form.whole(script, number, asked), breaks=script == "cut")


def models(path: str) -> Answered | None:
    """The list of models, for gateways that look before they ask; None at another path."""
    listings = (each.models for each in SUPPORTED.values() if each.models)
    found = next((each for each in listings if path.rstrip("/").endswith(each.path)), None)
    return body(200, found.body(MODEL)) if found else None
