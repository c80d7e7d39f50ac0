"""What the server behind a target is played to say: by a script, call by call, or as recorded.

Every scripted answer is another one, so that two calls cannot be taken for each other. Its texts
are plain, so that one loss is one finding: what gateways lose in texts is played where a scenario
asks for it, one character at a time. An answer is what the request demands of it: JSON by its
schema, a call of the function that it names, no call, an end where it says so.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from conformance.core.events import Exchange, Response
from conformance.core.framing import framing_of
from conformance.core.reading import Reading
from conformance.core.schema_samples import sample_of
from conformance.dialects import SUPPORTED, get, required
from conformance.dialects.personas import PLAIN, Persona
from conformance.dialects.requested_effort import requested_effort
from conformance.dialects.script import (
    ARGUMENTS,
    CONTENT_TYPES,
    MORE_ARGUMENTS,
    TOOL,
    ScriptedAnswer,
    encode_stream,
)
from conformance.dialects.wishes import ANY_CALL, AnswerWish, OfferedFunction, offered_functions
from conformance.scenarios.model import CHARACTERS, JSON_TEXT, Step
from conformance.targets.harmless_calls import HarmlessCall, harmless_call

_DELTAS: Final = 2  # of thinking, before an answer breaks inside it
_JSON: Final = "application/json"
_STATUS: Final = {"refused": 400, "unavailable": 500}
_BROKEN: Final = frozenset({*_STATUS, "no-finish", "cut", "error"})
_INTERRUPTED: Final = frozenset({"length", "no-finish", "cut", "error"})
_CALLING: Final = frozenset({"answer", "tools", "two-calls", "hidden"})
_ERRORS: Final = {
    "refused": "the script refuses",
    "unavailable": "the script has no worker",
    "error": "the script breaks off",
}


class UpstreamAnswer(Struct, frozen=True):
    """A response: head, body chunk by chunk, and whether the connection is reset after it.

    `misfit` says why this is no answer to the gateway's request; else it is empty. `hangs`: after
    the last chunk nothing comes until the next request, or the other side hangs up. `breaks_off`:
    it is not all there. `is_short`: it ends at a limit, so that the next call may continue it.
    `aside`: the call is none of the turn that is under way; `kind` is what it is called. `dialect`
    is that of the call, empty where nothing is known of its path.
    """

    status: int
    content_type: str
    chunks: tuple[bytes, ...]
    is_cut: bool = False
    misfit: str = ""
    hangs: bool = False
    breaks_off: bool = False
    is_short: bool = False
    aside: bool = False
    kind: str = ""
    dialect: str = ""


class ScriptedUpstream(Struct, frozen=True):
    """Words of `scenarios.UPSTREAM`, one for each call of a request; the last one goes on.

    `says` is one of `scenarios.SAYINGS`, or empty. `folder` is where tools may read, if any may.
    `ids_from` is that of `ScriptedAnswer`.
    """

    words: Sequence[str] = ("answer",)
    says: str = ""
    folder: str = ""
    ids_from: int = 0

    def answer_call(
        self,
        dialect: str,
        call: int,
        number: int,
        body: Mapping[str, Any],
        persona: Persona = PLAIN,
    ) -> UpstreamAnswer:
        """The answer to call number `call` of the request (from 0), number `number` of the run."""
        word = self.words[min(call, len(self.words) - 1)]
        answer = scripted_answer(
            *(word, dialect, number, body, self.says),
            persona=persona,
            folder=self.folder,
            ids_from=self.ids_from,
        )
        return replace(answer, breaks_off=word in _BROKEN, is_short=word == "length")


class RecordedUpstream(Struct, frozen=True):
    """A recorded exchange with its dialect, given to the first call as it was recorded.

    Later calls (a summary) are answered by a script. A call in another API, or for a whole body
    where a stream was recorded, has no answer here: it is reported as a misfit.
    """

    exchange: Exchange

    def answer_call(
        self,
        dialect: str,
        call: int,
        number: int,
        body: Mapping[str, Any],
        persona: Persona = PLAIN,
    ) -> UpstreamAnswer:
        """As `ScriptedUpstream.answer_call`."""
        if call:
            return scripted_answer("answer", dialect, number, body, persona=persona)
        if misfit := self.misfit(dialect, body):
            return _misfit_answer(misfit)
        response = self.exchange.response or Response()
        return UpstreamAnswer(
            status=response.status or 200,
            content_type=response.header("content-type") or self._default_content_type,
            chunks=tuple(chunk.data for chunk in self.exchange.chunks),
            is_cut=self.exchange.end != "eof",
            breaks_off=self.exchange.end != "eof",
        )

    @property
    def streams(self) -> bool:
        return framing_of(self.exchange) != "body"

    @property
    def _default_content_type(self) -> str:
        recorded = SUPPORTED.get(self.exchange.dialect or "")
        return CONTENT_TYPES[recorded.framing if recorded else "sse"] if self.streams else _JSON

    def misfit(self, dialect: str, body: Mapping[str, Any]) -> str:
        """Why it is no answer to such a request; empty where it is one."""
        recorded = self.exchange.dialect
        if dialect != recorded:
            return f"upstream got a request in {dialect}, {recorded} was recorded"
        status = self.exchange.response.status if self.exchange.response else None
        if (status or 200) < 300 and _wants_stream(dialect, body) is not self.streams:
            forms = ("a whole body", "a stream")
            had, wanted = forms if not self.streams else reversed(forms)
            return f"upstream got a request for {wanted}, {had} was recorded"
        return ""


class RecordedCalls(Struct, frozen=True):
    """Recorded exchanges by dialect, one for each call of a request; the last one goes on.

    `breaks` is a word of `scenarios.BREAKS`: it happens to the last of them inside its thinking.
    """

    exchanges: Mapping[str, Sequence[Exchange]]
    breaks: str = ""

    def answer_call(
        self,
        dialect: str,
        call: int,
        number: int,
        body: Mapping[str, Any],
        persona: Persona = PLAIN,
    ) -> UpstreamAnswer:
        """As `ScriptedUpstream.answer_call`."""
        recorded = self.exchanges.get(dialect, ())
        if not recorded:
            return _misfit_answer(self.misfit(dialect, body))
        at = min(call, len(recorded) - 1)
        answer = RecordedUpstream(recorded[at]).answer_call(dialect, 0, number, body, persona)
        if not self.breaks or at < len(recorded) - 1 or answer.misfit:
            return answer
        begun = tuple(_until_thinking(recorded[at], dialect))
        how = {"is_cut": self.breaks == "cut", "hangs": self.breaks == "hangs"}
        return replace(answer, chunks=begun, breaks_off=True, **how)

    def misfit(self, dialect: str, body: Mapping[str, Any]) -> str:
        """Why an application that asks like this has no answer here; empty where it has."""
        recorded = self.exchanges.get(dialect, ())
        if not recorded:
            return f"it has no recorded answer in {dialect}, in which the application asks"
        return RecordedUpstream(recorded[0]).misfit(dialect, body)


def _until_thinking(exchange: Exchange, dialect: str) -> Iterator[bytes]:
    """The bytes of an answer up to its second delta of thinking."""
    deltas, size, body = 0, 0, exchange.body
    for traced in get(dialect).trace(exchange, Reading()):
        if deltas == _DELTAS and traced.frame is not None:
            body = body[: traced.frame.offset]
            break
        deltas += sum(event.type == "thinking.delta" for event in traced.events)
    for chunk in exchange.chunks:
        if piece := chunk.data[: len(body) - size]:
            yield piece
        size += len(chunk.data)
        if size >= len(body):
            return


def breaks_off(step: Step) -> bool:
    """Whether what is played after a step does not end as an answer does."""
    return bool(step.breaks or step.stops or _BROKEN.intersection(step.upstream))


UpstreamSource = ScriptedUpstream | RecordedUpstream | RecordedCalls


def scripted_answer(
    word: str,
    dialect: str,
    number: int,
    body: Mapping[str, Any],
    says: str = "",
    *,
    persona: Persona = PLAIN,
    folder: str = "",
    ids_from: int = 0,
) -> UpstreamAnswer:
    """The answer to call `number` by one word; its texts hold the characters of that name.

    `folder` is where a tool of an agent may read.
    """
    script = required(get(dialect).script, dialect, "scripted answers")
    if word in _STATUS:
        is_refusal = word == "refused"
        return json_answer(_STATUS[word], script.error(_ERRORS[word], is_refusal=is_refusal))
    wish = script.wishes.read(body)
    plain = _plain_answer(word, number, says)
    plain = replace(plain, persona=persona, ids_from=ids_from)
    if word in _CALLING and _is_turned_off(body):
        plain = replace(plain, thinking="", tokens=_UNTHINKING)
    if plain.calls and (call := played_call(dialect, body, folder)):
        plain = _calling(plain, call)
    answer = _as_wished(plain, wish, dialect, body)
    if _wants_stream(dialect, body):
        framing = get(dialect).framing
        chunks = tuple(encode_stream(script.stream(answer, body), framing))
        return UpstreamAnswer(200, CONTENT_TYPES[framing], chunks, is_cut=word == "cut")
    if word == "error":
        return json_answer(500, script.error(answer.error, is_refusal=False))
    return json_answer(200, script.body(answer, body), is_cut=word == "cut")


def played_call(dialect: str, body: Any, folder: str) -> HarmlessCall | None:
    """Return the call of an answer that calls a tool; None where nothing harmless is offered."""
    offered = _offered(dialect, body)
    if any(each.name == TOOL for each in offered):
        return HarmlessCall(TOOL, json.loads(ARGUMENTS), json.loads(MORE_ARGUMENTS))
    return harmless_call(offered, folder)


def _calling(answer: ScriptedAnswer, call: HarmlessCall) -> ScriptedAnswer:
    given = (call.arguments, call.more_arguments)
    first, second = (json.dumps(each, ensure_ascii=False) for each in given)
    return replace(answer, tool=call.tool, arguments=first, more_arguments=second)


def _offered(dialect: str, body: Any) -> list[OfferedFunction]:
    form = get(dialect).request
    fields = body if isinstance(body, dict) else {}
    return list(offered_functions(form.tools(fields))) if form else []


_SILENT: Final = frozenset({"hidden", "plain"})
_UNTHINKING: Final = (11, 12, 0)  # tokens of the prompt, of the answer, of thinking


def _is_turned_off(body: Mapping[str, Any]) -> bool:
    """Whether a request turns thinking off, by the switch of whichever server."""
    effort = requested_effort(body)
    return effort is not None and effort.stance == "off"


def _plain_answer(word: str, number: int, says: str) -> ScriptedAnswer:
    edge, midst = CHARACTERS.get(says, ("", " "))
    answer = ScriptedAnswer(
        word,
        number,
        # Who hides thinking counts it all the same.
        thinking=(
            "" if word in _SILENT else f"{edge}Two and two, thought {number}:{midst}is 4.{edge}"
        ),
        text=f"{edge}Answer {number}:{midst}**4**, no more.{edge}",
        summary=f"A sum, summary {number}:{midst}done.",
        error=_ERRORS["error"],
    )
    if says == JSON_TEXT:
        fields = {"answer": answer.text, "sum": 4, "steps": ["2", "2"]}
        answer = replace(answer, text=json.dumps(fields, indent=2))
    return replace(answer, tokens=_UNTHINKING) if word == "plain" else answer


def _as_wished(
    answer: ScriptedAnswer, wish: AnswerWish, dialect: str, body: Mapping[str, Any]
) -> ScriptedAnswer:
    """The answer as the request demands it, or the beginning of it."""
    answer = replace(answer, is_sealed=wish.is_sealed)
    if wish.has_no_calls and answer.calls:
        answer = replace(answer, word="answer")
    if wish.has_single_calls and len(answer.calls) > 1:
        answer = replace(answer, word="tools")
    if wish.schema is not None:
        value = sample_of(wish.schema, f"Answer {answer.number}")
        answer = replace(answer, text=json.dumps(value, ensure_ascii=False))
    stops = [at for stop in wish.stops if (at := answer.text.find(stop)) >= 0]
    if stops:
        answer = replace(answer, text=answer.text[: min(stops)])
    return _with_call(answer, wish.call, dialect, body) if wish.call else answer


def _with_call(
    answer: ScriptedAnswer, wanted: str, dialect: str, body: Mapping[str, Any]
) -> ScriptedAnswer:
    """The answer with the call that the request demands; `TOOL` is called as it always is."""
    offered = {each.name: each for each in _offered(dialect, body)}
    name = next(iter(offered), "") if wanted == ANY_CALL else wanted
    if name not in offered:
        return answer
    arguments = ARGUMENTS
    if name != TOOL:
        value = sample_of({"type": "object", **offered[name].parameters}, f"Answer {answer.number}")
        arguments = json.dumps(value, ensure_ascii=False)
    word = answer.word if answer.word in _INTERRUPTED else "tools"
    return replace(answer, word=word, must_call=True, tool=name, arguments=arguments)


def _wants_stream(dialect: str, body: Mapping[str, Any]) -> bool:
    return required(get(dialect).request, dialect, "request bodies").streams(body)


def _misfit_answer(misfit: str) -> UpstreamAnswer:
    error = {"message": misfit, "type": "invalid_request_error", "code": None}
    return json_answer(501, {"type": "error", "error": error}, misfit=misfit)


def json_answer(
    status: int, payload: Mapping[str, Any], *, is_cut: bool = False, misfit: str = ""
) -> UpstreamAnswer:
    data = json.dumps(payload, ensure_ascii=False).encode()
    return UpstreamAnswer(status, _JSON, (data,), is_cut, misfit)
