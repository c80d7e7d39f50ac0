"""Who answers behind a gateway: a script, call by call, or a recording.

Every scripted answer is another one, so that two calls cannot be taken for each other. Texts hold
what gateways lose: white space at the edges, characters of several bytes, a line separator.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

from conformance.core.events import Exchange
from conformance.core.framing import framing_of
from conformance.dialects import SUPPORTED, get, required
from conformance.dialects.script import CONTENT_TYPES, MODEL, ScriptedAnswer, encode_event

_JSON: Final = "application/json"
_STATUS: Final = {"refused": 400, "unavailable": 500}
_ERRORS: Final = {
    "refused": "the script refuses",
    "unavailable": "the script has no worker",
    "error": "the script breaks off",
}


@dataclass(frozen=True, slots=True)
class Answered:
    """A response: head, body piece by piece, and whether the connection breaks after it.

    `misfit` says why this is no answer to what the gateway asked; else it is empty.
    """

    status: int
    kind: str
    pieces: tuple[bytes, ...]
    breaks: bool = False
    misfit: str = ""


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
            return _json_answer(501, {"type": "error", "error": error}, misfit=misfit)
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
        return framing_of(self.exchange) != "body"

    @property
    def _kind(self) -> str:
        if not self.streams:
            return _JSON
        recorded = SUPPORTED.get(self.exchange.dialect or "")
        return CONTENT_TYPES[recorded.framing if recorded else "sse"]

    def _misfit(self, dialect: str, asked: Mapping[str, Any]) -> str:
        recorded = self.exchange.dialect
        if dialect != recorded:
            return f"the gateway asked upstream in {dialect}, {recorded} was recorded"
        status = self.exchange.response.status if self.exchange.response else None
        if (status or 200) < 300 and _wants_stream(dialect, asked) is not self.streams:
            forms = ("a whole body", "a stream")
            had, wanted = forms if not self.streams else reversed(forms)
            return f"the gateway asked upstream for {wanted}, {had} was recorded"
        return ""


def scripted(word: str, dialect: str, number: int, asked: Mapping[str, Any]) -> Answered:
    """The answer to call `number` by one word."""
    script = required(get(dialect).script, dialect, "scripted answers")
    if word in _STATUS:
        is_refusal = word == "refused"
        return _json_answer(_STATUS[word], script.error(_ERRORS[word], is_refusal=is_refusal))
    answer = ScriptedAnswer(
        word,
        number,
        # Who hides thinking counts it all the same.
        thinking="" if word == "hidden" else f" Two and two, thought {number}: 二加二 is\u20284.\n",
        text=f"\nAnswer {number}: **4** \N{WHITE HEAVY CHECK MARK} \N{EN DASH} no more. ",
        summary=f"A sum, summary {number} \N{EN DASH} done.",
        error=_ERRORS["error"],
    )
    if _wants_stream(dialect, asked):
        framing = get(dialect).framing
        pieces = tuple(encode_event(each, framing) for each in script.stream(answer, asked))
        return Answered(200, CONTENT_TYPES[framing], pieces, breaks=word == "cut")
    if word == "error":
        return _json_answer(500, script.error(answer.error, is_refusal=False))
    return _json_answer(200, script.body(answer, asked), breaks=word == "cut")


def _wants_stream(dialect: str, asked: Mapping[str, Any]) -> bool:
    return required(get(dialect).request, dialect, "request bodies").streams(asked)


def _json_answer(
    status: int, payload: Mapping[str, Any], *, breaks: bool = False, misfit: str = ""
) -> Answered:
    data = json.dumps(payload, ensure_ascii=False).encode()
    return Answered(status, _JSON, (data,), breaks, misfit)


def models(path: str) -> Answered | None:
    """The list of models, for gateways that look before they ask; None at another path."""
    listings = (each.models for each in SUPPORTED.values() if each.models)
    found = next((each for each in listings if path.rstrip("/").endswith(each.path)), None)
    return _json_answer(200, found.body(MODEL)) if found else None
