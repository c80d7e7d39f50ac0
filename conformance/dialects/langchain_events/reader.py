"""Dialect `langchain.events`: the event streaming of LangChain and LangGraph, version 3.

Rule 1: an event of a message is its name after `lc.`, with the fields of its data. The server
        sends it in an envelope (`method`, `params`, `seq`): its `namespace`, joined, and `seq` are
        in the event, too, and `message` is its number in the run. Of other methods `lifecycle` is
        `lc.lifecycle`, the rest is `lc.other`.
Rule 2: bare events (the stream of one model) are an answer for each message. In the envelope a run
        is the answer, with all its messages; the root's lifecycle says that it is over, and without
        it a run is done where the stream ends and no message is open.
Rule 3: events after a start name no message: they are of the one that is open in their namespace
        and node. Where several are, and the event has no id (`id`, `message_id`, `run_id`), it is
        `ambiguous`, and taken for one of the last; nothing else is then said to be amiss.
Rule 4: messages of others than the model (a tool's result) are `lc.other`.
Rule 5: the reason of the last message counts.
"""

from __future__ import annotations

from typing import Any, Final

from conformance.core.events import Ending, Event, Frame
from conformance.dialects.json_edge import elements, event_data, mapping, string, whole_counts
from conformance.dialects.langchain_events.content import Message, RunContent
from conformance.dialects.langchain_events.vocabulary import (
    ERROR,
    LIFECYCLE,
    OF_JAVASCRIPT,
    OTHER,
    OTHERS,
    PREFIX,
    STREAMED,
    UNKNOWN,
)
from conformance.dialects.langgraph.content import REASONS, reason_of
from conformance.dialects.typed import TypedReader

Fields = dict[str, Any]
Place = tuple[str, str]
"""A namespace and a node in it."""
_METHODS: Final = {"messages", "lifecycle", *OTHERS}
_OTHERS: Final = frozenset({"human", "user", "system", "tool"})
_OVER: Final = frozenset({"completed", "interrupted"})
_COUNTS: Final = {"input": "input_tokens", "output": "output_tokens", "total": "total_tokens"}


class EventsReader(TypedReader[RunContent]):
    content_type = RunContent
    unknown = UNKNOWN
    history = "input"
    is_of_api = False
    is_of_lines = True

    def _renew(self) -> None:
        super()._renew()
        self._open: dict[Place, list[Message]] = {}
        self._count = 0
        self._reason = ""

    def _read_event(self, _frame: Frame, payload: Any) -> None:
        fields = mapping(payload)
        method, params = string(fields.get("method")), mapping(fields.get("params"))
        if fields.get("type") == "event" and method:
            about: Fields = {key: fields[key] for key in ("seq", "event_id") if key in fields}
            about["namespace"] = "|".join(map(string, elements(params.get("namespace"))))
            data = mapping(params.get("data"))
            if method == "messages":
                self._take(data, about, string(params.get("node")))
            elif method == "lifecycle":
                self._take_lifecycle(data, about)
            else:
                kind = OTHER if method in OTHERS else UNKNOWN
                self._sink.wire(kind, {"method": method, **about})
        elif "event" in fields:
            self._take(fields, {}, "")
        elif fields.get("type") == "error":
            self._fail(fields, {}, [])
        else:
            self._sink.wire(UNKNOWN, event_data(payload))

    def _take(self, data: Fields, about: Fields, node: str) -> None:
        kind, place = string(data.get("event")), (string(about.get("namespace")), node)
        if kind in OF_JAVASCRIPT:
            self._sink.wire(OTHER, {**data, **about})
        elif kind not in STREAMED:
            self._sink.wire(UNKNOWN, event_data(data, **about))
        elif kind == "message-start":
            self._start_message(place, data, about)
        elif kind == "error":
            self._fail(data, about, self._open.pop(place, []))
        else:
            message, more = self._message(place, data)
            if not message.is_of_model:
                if kind == "message-finish":
                    self._open[place].remove(message)
                self._sink.wire(OTHER, {**data, **about})
                return
            if kind == "message-finish":
                amiss = self._finish_message(message, place, data, is_answer=not about)
            else:
                amiss = _ACTS[kind](self._content, message, data)
            more |= {} if message.is_mixed else amiss
            self._sink.wire(PREFIX + kind, {**data, **about, **more})

    def _start_message(self, place: Place, data: Fields, about: Fields) -> None:
        name = string(data.get("id"))
        self._announce("" if about else name, has_spoken=not about and self._has_begun)
        message = self._begin_message(place, data)
        if message.is_of_model:
            self._sink.wire("lc.message-start", {**data, **about, "message": message.number})
        else:
            self._sink.wire(OTHER, {**data, **about})

    def _begin_message(self, place: Place, data: Fields) -> Message:
        role, name = string(data.get("role")), string(data.get("id"))
        message = Message(
            self._count,
            tuple(filter(None, (name, string(data.get("run_id"))))),
            role not in _OTHERS,
            string(mapping(data.get("metadata")).get("provider")),
        )
        self._count += 1
        self._open.setdefault(place, []).append(message)
        if message.is_of_model and not self._has_begun:  # a run may have more messages
            self._begin("", name)
        return message

    def _message(self, place: Place, data: Fields) -> tuple[Message, Fields]:
        """Whose an event is, and what is amiss with that (rule 3)."""
        found = self._open.get(place, [])
        if not found:
            message = self._begin_message(place, {})
            return message, {"unstarted": True, "message": message.number}
        given = {string(data.get(key)) for key in ("id", "message_id", "run_id")} - {""}
        named = [each for each in found if given.intersection(each.names)]
        message = named[0] if named else found[-1]
        more: Fields = {"message": message.number}
        if len(found) > 1 and not named:
            more["ambiguous"] = True
            for each in found:
                each.is_mixed = True
        return message, more

    def _finish_message(
        self, message: Message, place: Place, data: Fields, *, is_answer: bool
    ) -> Fields:
        """The end of a message; gives what is amiss with it."""
        self._open[place].remove(message)
        more = {"unfinished": bool(message.open_blocks())}
        self._content.close_message(message)
        about = {"response_metadata": mapping(data.get("metadata"))}
        reason = reason_of(about) or string(data.get("reason"))
        self._reason = reason or self._reason
        usage = mapping(data.get("usage"))
        details = whole_counts(usage.get("output_token_details"), {"reasoning": "reasoning"})
        self._sink.say_usage({**whole_counts(usage, _COUNTS), **details})
        if is_answer:
            self._end_answer(explicit=True)
        return {**more, "reason": reason}

    def _take_lifecycle(self, data: Fields, about: Fields) -> None:
        status, is_root = string(data.get("event")), not about["namespace"]
        if is_root and status == "running":
            self._announce("")
        self._sink.wire(LIFECYCLE, {**data, **about, "open": any(self._open.values())})
        if is_root and status in _OVER and not self._sink.has_failed:
            self._content.close()
            self._open.clear()
            self._end_answer(explicit=True)
        elif is_root and status == "failed":
            self._content.close()
            self._open.clear()
            message = string(data.get("error"))
            self._sink.say_error({"choice": 0, "code": "", "message": message})

    def _fail(self, data: Fields, about: Fields, failed: list[Message]) -> None:
        self._sink.wire(ERROR, {**data, **about})
        for each in failed:
            self._content.close_message(each)
        code = string(data.get("code")) or string(data.get("error"))
        message = string(data.get("message"))
        self._sink.say_error({"choice": 0, "code": code, "message": message})

    def _end_answer(self, *, explicit: bool) -> None:
        if self._reason:
            self._sink.finish(REASONS.get(self._reason, self._reason))
        self._is_done = True
        self._sink.emit("done", {"choice": 0, "explicit": explicit})

    def end(self, how: Ending, number: int) -> list[Event]:
        is_whole = self._has_begun and not any(self._open.values())
        if how == "eof" and is_whole and not (self._is_done or self._sink.has_failed):
            self._sink.begin(number)
            self._end_answer(explicit=False)
            return self._sink.events()
        return super().end(how, number)


_ACTS: Final = {
    "content-block-start": RunContent.start,
    "content-block-delta": RunContent.delta,
    "content-block-finish": RunContent.finish,
}


def recognises(_frame: Frame, payload: Any) -> bool:
    """An event of a message, bare or in the envelope of the server."""
    fields = mapping(payload)
    if fields.get("type") == "event" and fields.get("method") in _METHODS:
        return "namespace" in mapping(fields.get("params"))
    return string(fields.get("event")) in STREAMED - {"error"}
