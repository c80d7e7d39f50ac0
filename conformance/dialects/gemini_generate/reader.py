"""Dialect `gemini.generate`: generateContent of the Gemini API, as a stream or whole.

Rule 1: a payload with candidates, token counts or a judgement of the prompt is `gemini.chunk`, in
        one piece `gemini.body`; each is followed by `gemini.candidate` per candidate and, after
        each of these, `gemini.part` per part, with the model's name. Token counts are
        `gemini.usage`, with their `sum` and what was counted `before`. An error is `gemini.error`.
        What a body lists is read element by element.
Rule 2: parts are read in their order; `finish`, `usage` and `error` come after them.
Rule 3: token counts of a stream are totals so far, so every chunk that has some gives `usage`.
        Thinking is counted apart from the answer; `output` is both.
Rule 4: nothing on the wire says that all is over. An answer is done where it ends by itself and
        every candidate has said why it finished, or the prompt was refused; else it is cut.
Rule 5: a request gives `request.part` per part of its history. A part is of the `current` turn
        where no words of the user come after it.
Rule 6: a chunk of another response begins the next answer once every candidate has finished or
        an error came, where the one request is not known. A reason to finish on the way ends none:
        after code, after a call that the server carries out (`mcpServers`), and in every chunk
        of the models of 2024, whose chunks name neither model nor response.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from conformance.core.events import Ending, Event, Frame, Request, Vocabulary
from conformance.core.json_values import NOT_JSON
from conformance.core.reading import Reading
from conformance.dialects import outcome
from conformance.dialects.gemini_generate.candidate import Candidate, is_blocked, reason_of
from conformance.dialects.gemini_parts import (
    CALL,
    COUNTED,
    kind_of,
    part_data,
    stays_open,
    token_counts,
)
from conformance.dialects.history import OF_HISTORY, request_events
from conformance.dialects.history_calls import OF_GEMINI
from conformance.dialects.json_edge import (
    NO_FIELDS,
    elements,
    event_data,
    mapping,
    objects,
    string,
    whole,
)
from conformance.dialects.sink import Sink

NAME: Final = "gemini.generate"
VOCABULARY: Final = Vocabulary(
    NAME,
    OF_HISTORY
    | {"request.part", "gemini.chunk", "gemini.body", "gemini.candidate", "gemini.part"}
    | {"gemini.usage", "gemini.error", "gemini.unknown"},
)
_NO_ANSWERS: Final = ("embedding", "embeddings", "invocationId")
_CACHE: Final = "cachedContents/"
"""How the name of a kept context begins, which counts its tokens, too."""
_MARKS: Final = ("candidates", "usageMetadata", "promptFeedback")
_OF_CANDIDATE: Final = frozenset(
    {
        *("content", "index", "finishReason", "finishMessage", "safetyRatings", "tokenCount"),
        *("citationMetadata", "groundingMetadata", "groundingAttributions", "avgLogprobs"),
        *("logprobsResult", "urlContextMetadata"),
    }
)
"""Keys of a candidate, of which any shows one."""
_CODE: Final = frozenset({"executableCode", "codeExecutionResult"})
_MOST_CANDIDATES: Final = 64


class GeminiReader:
    def __init__(self, reading: Reading) -> None:
        del reading  # no profile reads it otherwise
        self._sink = Sink()
        self._has_request = False
        self._carries_out_calls = False
        self._renew()

    def _renew(self) -> None:
        self._name: str = ""  # the id of the response
        self._candidates: dict[int, Candidate] = {}
        self._held: dict[int, str] = {}  # reasons on the way: more may come
        self._counted: dict[str, Any] = {}  # by the last chunk that counted
        self._is_refused = False  # the prompt was
        self._has_failed = False

    def request(self, request: Request) -> list[Event]:
        self._has_request = True
        tools = objects(mapping(request.json).get("tools"))
        self._carries_out_calls = any("mcpServers" in tool for tool in tools)
        return [*request_events(request, "contents", OF_GEMINI), *_request_parts(request)]

    def read(self, frame: Frame, payload: Any, number: int) -> list[Event]:
        self._sink.begin(number)
        is_body = frame.kind == "body"
        if payload is NOT_JSON:
            self._sink.wire("gemini.unknown", {"text": frame.data})
        elif is_body and isinstance(payload, list):
            for element in payload:
                self._value(element, is_body=True)
        else:
            self._value(payload, is_body=is_body)
        return self._sink.events()

    def end(self, how: Ending, number: int) -> list[Event]:
        self._sink.begin(number)
        self._say_end(how)
        return self._sink.events()

    def _say_end(self, how: Ending) -> None:
        for number, reason in self._held.items():
            self._candidates[number].finish(reason)
        self._held = {}
        for candidate in self._candidates.values():
            candidate.close()
        if how == "eof" and self._is_over and not self._has_failed:
            self._sink.emit("done", {"choice": 0, "explicit": False})
        else:
            self._sink.emit("cut", {"choice": 0, "how": how})

    @property
    def _is_over(self) -> bool:
        """Whether every candidate has finished, or the prompt was refused."""
        spoke = self._candidates.values()
        held = self._held
        ended = (each.is_finished or number in held for number, each in self._candidates.items())
        return all(ended) if spoke else self._is_refused

    def _see_name(self, name: str) -> None:
        """Rule 6."""
        if self._name and (self._is_over or self._has_failed):
            self._say_end("eof")
            self._sink.next_answer()
            self._renew()
        self._name = name

    def echo(self, _answer: int) -> Mapping[str, Any] | None:
        return None

    def _value(self, payload: Any, *, is_body: bool) -> None:
        fields = mapping(payload)
        error = fields.get("error")
        if any(key in fields for key in _MARKS):
            name = string(fields.get("responseId"))
            if name not in ("", self._name) and not (is_body or self._has_request):
                self._see_name(name)
            self._sink.wire("gemini.body" if is_body else "gemini.chunk", fields)
            self._answer(fields, is_body=is_body)
        elif not error:
            self._sink.wire("gemini.unknown", event_data(payload))
        if error:
            self._has_failed = True
            self._sink.wire("gemini.error", fields)
            for candidate in self._candidates.values():
                candidate.close()
            self._sink.say_error(outcome.error(error))

    def _answer(self, fields: dict[str, Any], *, is_body: bool) -> None:
        model = string(fields.get("modelVersion"))
        is_early = not (is_body or model or self._name or fields.get("responseId"))
        met: set[int] = set()
        found = [
            self._read_candidate(each, model, met, is_early=is_early)
            for each in elements(fields.get("candidates"))
        ]
        for candidate, reason in filter(None, found):
            candidate.finish(reason)
        if is_blocked(fields.get("promptFeedback")):
            self._is_refused = True
            self._sink.emit("finish", {"choice": 0, "reason": "content_filter"})
        if usage := mapping(fields.get("usageMetadata")):
            self._count(usage)

    def _count(self, usage: dict[str, Any]) -> None:
        total = sum(filter(None, (whole(usage.get(key)) for key in COUNTED)))
        self._sink.wire("gemini.usage", {**usage, "sum": total, "before": self._counted})
        self._counted = usage
        self._sink.say_usage(token_counts(usage, COUNTED, "totalTokenCount"))

    def _read_candidate(
        self, element: Any, model: str, met: set[int], *, is_early: bool
    ) -> tuple[Candidate, str] | None:
        """Reads the parts of a candidate; with its reason where it finishes.

        `met` are the numbers of those before it in the payload.
        """
        fields = mapping(element)
        number = whole(fields.get("index")) or 0  # the first one is often not numbered
        again = {"again": True} if number in met else NO_FIELDS
        met.add(number)
        self._sink.wire("gemini.candidate", {**event_data(element), "candidate": number, **again})
        if number >= _MOST_CANDIDATES:
            return None
        candidate = self._candidates.get(number) or Candidate(number, self._sink)
        self._candidates[number] = candidate
        content = mapping(fields.get("content"))
        if content.get("role") or content.get("parts"):
            candidate.start()
        if parts := elements(content.get("parts")):
            self._held.pop(number, None)
            self._read_parts(candidate, parts, {"candidate": number, "model": model})
        reason = reason_of(fields.get("finishReason"))
        if reason and self._is_on_the_way(parts, is_early=is_early):
            self._held[number] = reason
            return None
        return (candidate, reason) if reason else None

    def _read_parts(self, candidate: Candidate, parts: list[Any], place: dict[str, Any]) -> None:
        for part in parts:
            is_open = candidate.has_open_call
            data = part_data(part, candidate.calls, is_open=is_open, **place)
            self._sink.wire("gemini.part", data)
            candidate.read(mapping(part))

    def _is_on_the_way(self, parts: list[Any], *, is_early: bool) -> bool:
        """Whether more may come after a reason to finish (rule 6)."""
        last = mapping(parts[-1]) if parts else NO_FIELDS
        if not _CODE.isdisjoint(last):
            return True
        return self._carries_out_calls if CALL in last else is_early


def _request_parts(request: Request) -> Iterator[Event]:
    """Every part of the history; `position` is that of its content."""
    contents = objects(mapping(request.json).get("contents"))
    questions = [n for n, content in enumerate(contents) if _speaks_for_user(content)]
    last = questions[-1] if questions else -1
    for position, content in enumerate(contents):
        calls, is_open = 0, False
        turn = "current" if position > last else "earlier"
        place = {"position": position, "role": string(content.get("role")), "turn": turn}
        for part in elements(content.get("parts")):
            data = part_data(part, calls, is_open=is_open, **place)
            if data["kind"] == CALL:
                calls += "continued" not in data
                is_open = stays_open(mapping(data[CALL]))
            else:
                is_open = False
            yield Event("request.part", data, 0, "wire")


def _speaks_for_user(content: dict[str, Any]) -> bool:
    """Whether the user says something new; results of functions carry a turn on."""
    kinds = {kind_of(part) for part in objects(content.get("parts"))}
    return content.get("role") != "model" and bool(kinds - {"functionResponse"})


def recognises(_frame: Frame, payload: Any) -> bool:
    """An answer, or a list of them; an error alone names no dialect.

    Embeddings and caches are no answers, and events of agents count tokens in the same way.
    """
    fields = mapping(payload[0] if isinstance(payload, list) and payload else payload)
    if not fields.keys().isdisjoint(_NO_ANSWERS):
        return False
    if _CACHE in string(fields.get("name")):  # Vertex AI names the project in front
        return False
    if any(isinstance(fields.get(key), dict) for key in _MARKS[1:]):
        return True
    # Other programs number candidates, too, for what is no answer.
    listed = objects(fields.get("candidates"))
    is_other = bool(listed) and all(each and _OF_CANDIDATE.isdisjoint(each) for each in listed)
    return isinstance(fields.get("candidates"), list) and not is_other
