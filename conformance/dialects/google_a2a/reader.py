"""Dialect `google.a2a`: what an agent of Agent2Agent streams of a task, in 0.2, 0.3 and 1.0.

Rule 1: a payload is `a2a.task`, `a2a.status`, `a2a.artifact`, `a2a.message` or `a2a.error`, with
        what it holds and with `version`, `state` in the words of 0.3, `settles` (`terminal` or
        `interrupted`), `task` and `context`. An artifact has `chunk`: first, more, again, or lost
        where it is appended to nothing.
        A whole answer is a task or a message, after `a2a.body`.
Rule 2: over JSON-RPC an event has `rpc`, what stands around the result, and `foreign_id` where its
        id is not that of the request. Where the request names a context, an event has
        `asked_context`: whether it names the same one; `asked_task` likewise.
Rule 3: each is followed by `a2a.part` per part, with what it is of, its kind and its mark as a
        thought. It `leaks` where it says without a mark what was said as a thought.
Rule 4: a task is over with a terminal state, a lone message, or an error. One that waits for its
        user is over where the stream ends. Any other end is a cut.
Rule 5: another task begins the next answer, where the one request is not known.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from conformance.core.events import Ending, Event, Frame, Request
from conformance.dialects import outcome
from conformance.dialects.google_a2a.content import TaskContent
from conformance.dialects.google_a2a.requests import joins_task, named_in
from conformance.dialects.google_a2a.vocabulary import (
    ARTIFACT,
    BODY,
    ERROR,
    INTERRUPTED,
    MESSAGE,
    PART,
    TASK,
    TERMINAL,
    UNDER_WAY,
    UNKNOWN,
    held,
    mark_of,
    part_kind,
    state_of,
)
from conformance.dialects.json_edge import elements, event_data, mapping, objects, string
from conformance.dialects.typed import TypedReader

Fields = dict[str, Any]
_NO_REQUEST: Final = object()


class TaskReader(TypedReader[TaskContent]):
    unknown = UNKNOWN
    history = "params.message.parts"
    _request_id: Any = _NO_REQUEST
    _request_context = _request_task = ""
    _joins = False  # a task that is under way: of its artifacts some came before
    _waits = False  # for what its user says next

    def _new_content(self) -> TaskContent:
        self._waits = False
        return TaskContent(self._sink)

    def request(self, request: Request) -> list[Event]:
        if "jsonrpc" in mapping(request.json):
            self._request_id = mapping(request.json).get("id")
        self._request_context = named_in(request.json, "contextId")
        self._request_task = named_in(request.json, "taskId")
        self._joins = joins_task(request)
        return super().request(request)

    def _read_body(self, payload: Any) -> None:
        self._is_whole = True
        if held(payload)[0] in (TASK, MESSAGE):
            self._sink.wire(BODY, event_data(payload))
        self._read_event(Frame("body", "", "", "", 0), payload)

    def _read_event(self, frame: Frame, payload: Any) -> None:
        del frame
        fields = mapping(payload)
        kind, thing, version = held(payload)
        around = self._around(fields)
        if "error" in fields:
            self._sink.wire(ERROR, {**fields, **around})
            self._end(outcome.error(fields["error"]))
        elif kind == UNKNOWN:
            self._sink.wire(UNKNOWN, event_data(payload))
        else:
            self._say_event(kind, thing, {"version": version, **around})

    def _around(self, fields: Fields) -> Fields:
        """Rule 2."""
        if "jsonrpc" not in fields and "result" not in fields:
            return {}
        rpc = {key: value for key, value in fields.items() if key not in ("result", "error")}
        is_foreign = self._request_id is not _NO_REQUEST and rpc.get("id") != self._request_id
        return {"rpc": rpc, "foreign_id": is_foreign}

    def _say_event(self, kind: str, thing: Fields, about: Fields) -> None:
        task = string(thing.get("id" if kind == TASK else "taskId"))
        if kind in (TASK, MESSAGE) and task != (self._announced or ""):
            self._announce(task)
        about |= {"task": task or None, "context": string(thing.get("contextId")) or None}
        if self._request_context and about["context"]:
            about["asked_context"] = about["context"] == self._request_context
        if self._request_task and about["task"]:
            about["asked_task"] = about["task"] == self._request_task
        state = state_of(thing) if "status" in thing else ""
        about |= {"state": state} if state else {}
        if state in TERMINAL or state in INTERRUPTED:
            about["settles"] = "terminal" if state in TERMINAL else "interrupted"
        artifact = mapping(thing.get("artifact"))
        is_appended = thing.get("append") is True
        if kind == ARTIFACT:
            named = string(artifact.get("artifactId"))
            chunk = self._content.chunk(named, is_appended=is_appended)
            chunk = "more" if chunk == "lost" and self._joins else chunk
            about |= {"chunk": chunk, "artifact_id": named or None}
        self._sink.wire(kind, {**thing, **about})
        self._begin_once()
        for where, parts in _holders(kind, thing, artifact):
            self._say_parts(parts, where, state, about["version"], is_appended=is_appended)
        self._see_end(kind, thing, state)

    def _say_parts(
        self, parts: Any, of: str, state: str, version: str, *, is_appended: bool
    ) -> None:
        found = []
        for part in elements(parts):
            kind = part_kind(mapping(part), version)
            mark = mark_of(mapping(part), "thought")
            data = event_data(part, kind=kind, of=of, **({} if mark is None else {"thought": mark}))
            if kind == "text" and mark is not True and of != "status":
                data["leaks"] = self._content.has_thought(data["text"])
            self._sink.wire(PART, data)
            found.append(data)
        if state != "failed":
            phase = "commentary" if of == "status" and state in UNDER_WAY else ""
            self._content.add_parts(found, of, is_appended=is_appended, phase=phase)

    def _see_end(self, kind: str, thing: Fields, state: str) -> None:
        """Rule 4."""
        self._waits = state in INTERRUPTED
        if kind == MESSAGE or state == "completed":
            self._end(None)
        elif state in TERMINAL:
            message = mapping(mapping(thing.get("status")).get("message"))
            texts = (string(each.get("text")) for each in objects(message.get("parts")))
            self._end({"choice": 0, "code": state, "message": "".join(texts)})

    def _end(self, error: Mapping[str, Any] | None) -> None:
        self._content.close()
        if self._is_done or self._sink.has_failed:
            return
        if error is not None:
            self._sink.say_error(dict(error))
        else:
            self._say_done()

    def end(self, how: Ending, number: int) -> list[Event]:
        if how == "eof" and self._waits and not (self._is_done or self._content.is_over):
            self._sink.begin(number)
            self._end(None)
            return self._sink.events()
        return super().end(how, number)


def _holders(kind: str, thing: Fields, artifact: Fields) -> list[tuple[str, Any]]:
    """Where an event has parts, and what these are of."""
    if kind == MESSAGE:
        return [("message", thing.get("parts"))]
    if kind == ARTIFACT:
        return [("artifact", artifact.get("parts"))]
    message = mapping(mapping(thing.get("status")).get("message"))
    listed = [("artifact", each.get("parts")) for each in objects(thing.get("artifacts"))]
    return [*listed, ("status", message.get("parts"))]


def recognises(frame: Frame, payload: Any) -> bool:
    """An event with the names that only Agent2Agent gives it; an error alone names no dialect."""
    del frame
    kind, thing, version = held(payload)
    names = ("messageId",) if kind == MESSAGE else ("taskId", "contextId")
    if kind == TASK:
        names = ("contextId",) if version == "0.3" else ("id",)
    is_named = any(isinstance(thing.get(name), str) for name in names)
    return is_named and (kind != TASK or version == "0.3" or "status" in thing)
