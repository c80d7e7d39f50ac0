"""The Gemini API: chunks of a stream, or one whole answer, which look the same.

Rule 1: thoughts and text form runs; a part without text opens and ends nothing.
Rule 2: a call comes whole. Code that the server runs is a hosted call.
Rule 3: a signature is reported before what its part says. It belongs to no block.
Rule 4: nothing on the wire says that all is over: an answer is done where it ends by itself and
every candidate has its reason, or the prompt was refused.

In requests, a signature goes back on the part on which it came, and no part is joined.
A thought that is nothing but a signature belongs to the piece behind it; the last one in a turn
stood on an empty text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from . import effort
from .ask import Ask
from .event import Report
from .frame import Frame
from .payload import added, compact, count_of, object_of, objects_of, present, text_of
from .speech import Call, Speech
from .turn import Called, HistoryForm, Piece, Results, Thought, Turn, Words, turns_to_model
from .wire import AnswerReader, Reading

CODE: Final = "code_execution"
MOST_CANDIDATES: Final = 64
_PROMPT: Final = ("promptTokenCount", "toolUsePromptTokenCount")
_ANSWER: Final = ("candidatesTokenCount", "thoughtsTokenCount")


class GeminiReader(AnswerReader):
    def __init__(self, reading: Reading) -> None:
        super().__init__(reading)
        self._candidates: dict[int, _Candidate] = {}
        self._is_refused = False  # the prompt was
        self._has_failed = False

    def _read_event(self, _: Frame, event: dict[str, Any]) -> None:
        self._read_chunk(event)

    def _read_body(self, payload: dict[str, Any]) -> None:
        if not {"candidates", "promptFeedback", "error"} & payload.keys():
            self._report.error("neither an answer nor an error")
        self._read_chunk(payload)

    def _close_open(self) -> None:
        for candidate in self._candidates.values():
            candidate.close()

    def _has_ended(self) -> bool:
        spoke = self._candidates.values()
        is_over = all(each.is_finished for each in spoke) if spoke else self._is_refused
        return is_over and not self._has_failed

    def _read_chunk(self, chunk: Mapping[str, Any]) -> None:
        candidates = [self._candidate(given) for given in objects_of(chunk.get("candidates"))]
        for candidate, reason in candidates:
            candidate.finish(reason)
        if _stated_reason(object_of(chunk.get("promptFeedback")).get("blockReason")):
            self._is_refused = True
            self._report.finish("content_filter")
        self._report_usage(object_of(chunk.get("usageMetadata")))
        if chunk.get("error"):
            self._has_failed = True
            self._close_open()
            self._report.error(chunk["error"])

    def _report_usage(self, usage: Mapping[str, Any]) -> None:
        """Counts are those so far; thinking is counted beside the answer."""
        self._report.tokens(
            input=added(usage, _PROMPT) if _PROMPT[0] in usage else None,
            output=added(usage, _ANSWER),
            reasoning=usage.get("thoughtsTokenCount"),
            total=usage.get("totalTokenCount"),
        )

    def _candidate(self, given: Mapping[str, Any]) -> tuple[_Candidate, str]:
        """Read the parts of a candidate; with its reason."""
        number = min(count_of(given.get("index")) or 0, MOST_CANDIDATES)
        if number not in self._candidates:
            self._candidates[number] = _Candidate(self._report, number)
        candidate, content = self._candidates[number], object_of(given.get("content"))
        if content.get("role") or content.get("parts"):
            candidate.speech.begin()
        for part in objects_of(content.get("parts")):
            candidate.read(part)
        return candidate, _stated_reason(given.get("finishReason"))


def _stated_reason(reason: Any) -> str:
    """A reason by its name; empty for the default value of the enum, which states nothing."""
    name = text_of(reason)
    return "" if name.endswith("_UNSPECIFIED") else name


class _Candidate:
    def __init__(self, report: Report, number: int) -> None:
        self._report = report
        self._number = number
        self.speech = Speech(report, number)
        self._calls = 0
        self.is_finished = False

    def read(self, part: Mapping[str, Any]) -> None:
        # Gateways may have it as requests may be written.
        signature = text_of(part.get("thoughtSignature")) or text_of(part.get("thought_signature"))
        self.speech.seal("signature", signature, None)
        text = text_of(part.get("text"))
        if part.get("functionCall") is not None:
            self._read_call(object_of(part["functionCall"]))
        elif part.get("executableCode") is not None:
            call = Call(self._report, self._calls, choice=self._number, hosted=True)
            self._carry_out(call, "", CODE, part["executableCode"])
        elif part.get("text") is None:
            self.close()
        elif part.get("thought") is True:
            self.speech.think(text)
        else:
            self.speech.say(text)

    def finish(self, reason: str) -> None:
        if reason:
            self.close()
            self.is_finished = True
            self._report.finish(reason, self._number)

    def close(self) -> None:
        self.speech.pause()

    def _read_call(self, given: Mapping[str, Any]) -> None:
        call = Call(self._report, self._calls, choice=self._number)
        self._calls += 1
        self._carry_out(
            call, text_of(given.get("id")), text_of(given.get("name")), given.get("args")
        )

    def _carry_out(self, call: Call, call_id: str, name: str, arguments: Any) -> None:
        self.close()
        self.speech.begin()
        call.start(call_id, name)
        call.add("" if arguments is None else text_of(arguments) or compact(arguments))
        call.end()


_SAMPLING: Final = {"top_p": "topP", "stop": "stopSequences"}
_SPELLED: Final = {
    "thought_signature": "thoughtSignature",
    "function_call": "functionCall",
    "function_response": "functionResponse",
}


def gemini_request(ask: Ask) -> dict[str, Any]:
    limit = present(maxOutputTokens=ask.max_tokens)
    config = {**ask.sampled(_SAMPLING), **effort.gemini(ask), **limit}
    declared = [dict(each["function"]) for each in ask.tools]
    system = [{"text": ask.instructions}] if ask.instructions else []
    return {
        "contents": list(_contents_of(ask)),
        **present(
            generationConfig=config,
            systemInstruction=present(parts=system),
            tools=[{"functionDeclarations": declared}] if declared else [],
        ),
    }


def _contents_of(ask: Ask) -> Iterator[dict[str, Any]]:
    """All results of one turn are in one content, and so do all calls of an answer."""
    results = Results()
    for is_tool, turns in ask.rounds():
        if is_tool:
            parts = [_result_of(results.called(turn), turn.text) for turn in turns]
            yield {"role": "user", "parts": parts}
        for turn in () if is_tool else turns:
            results.expect(turn)
            pieces = turn.pieces if ask.sends_thinking("gemini") else turn.spoken
            parts = list(_parts_of(pieces)) if turn.role == "assistant" else [{"text": turn.text}]
            if parts:
                yield {"role": "model" if turn.role == "assistant" else "user", "parts": parts}


def _result_of(call: Called, text: str) -> dict[str, Any]:
    named = present(id=call.known_id)
    return {"functionResponse": {**named, "name": call.name, "response": {"result": text}}}


def _parts_of(pieces: Sequence[Piece]) -> Iterator[dict[str, Any]]:
    signed: dict[str, str] = {}
    for piece in pieces:
        if isinstance(piece, Thought) and piece.signature:
            if signed:
                yield {"text": "", **signed}
            signed = {"thoughtSignature": piece.signature}
        if part := _part_of_piece(piece):
            yield {**part, **signed}
            signed = {}
    if signed:
        yield {"text": "", **signed}


def _part_of_piece(piece: Piece) -> dict[str, Any]:
    """The part that a piece was; none for a signature alone."""
    if isinstance(piece, Thought):
        return {"text": piece.text, "thought": True} if piece.text else {}
    if isinstance(piece, Words):
        return {"text": piece.text}
    if piece.name == CODE and not piece.known_id:
        return {"executableCode": piece.values}
    named = present(id=piece.known_id)
    return {"functionCall": {**named, "name": piece.name, "args": piece.values}}


def _answer_of(entries: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    parts = [_in_camel(part) for entry in entries for part in objects_of(entry.get("parts"))]
    return {"candidates": [{"content": {"role": "model", "parts": parts}}]}


def _turns_of(entry: Mapping[str, Any]) -> list[Turn] | None:
    if "parts" not in entry:
        return None
    parts = [_in_camel(part) for part in objects_of(entry.get("parts"))]
    results = [object_of(part["functionResponse"]) for part in parts if "functionResponse" in part]
    answered = (
        (text_of(each.get("id") or each.get("name")), _result_text(each)) for each in results
    )
    return turns_to_model(answered, "".join(text_of(part.get("text")) for part in parts))


def _result_text(result: Mapping[str, Any]) -> str:
    response = object_of(result.get("response"))
    return text_of(response.get("result") or response.get("output")) or compact(response)


def _in_camel(part: Mapping[str, Any]) -> dict[str, Any]:
    """Requests may be written with underscores, answers never are."""
    return {_SPELLED.get(key, key): value for key, value in part.items()}


GEMINI_HISTORY: Final = HistoryForm(
    lambda entry: entry.get("role") == "model", _answer_of, _turns_of
)
