"""Dialect `langgraph`: what the server of LangGraph sends of a run (`/runs/stream`).

Rule 1: an event is known by its name; what stands after `|` is the namespace of a graph inside the
        graph. `messages` is `graph.message` with the fields of the message, its `meta` and
        `namespace`; `messages/partial` and `messages/complete` are `graph.partial`, one for each
        message. A message says whether its thread is `as_asked`. Where no line names the event,
        its payload shows which it is.
Rule 2: `values` and `updates` are followed by `graph.restated` for each message of a model in them
        that is not history: what it `states`, and what was `streamed` of it.
Rule 3: `metadata` of another run begins the next answer, where the one request is not known. The
        same run may come again: it was tried anew.
Rule 4: nothing has to say that all is over (`end` is of older servers). A run is done where it ends
        by itself and no message is open; the reason of its last message counts then. After an error
        it is cut.
Rule 5: `graph.sent` has what a message of a model in the request says, `graph.kept` what one in the
        first state of the run does, and `graph.held` what one says that the run made, at its end.
"""

from __future__ import annotations

from typing import Any, Final

from conformance.core.events import Ending, Event, Frame, Request
from conformance.dialects.endpoint import Endpoint
from conformance.dialects.history_calls import OF_LANGGRAPH
from conformance.dialects.json_edge import elements, event_data, mapping, string
from conformance.dialects.langgraph.content import (
    OF_MODEL,
    REASONS,
    SPEAKERS,
    is_of_model,
    outlines_of,
    pieces_of,
)
from conformance.dialects.langgraph.graph_run import GraphRun
from conformance.dialects.langgraph.message import is_chunk
from conformance.dialects.langgraph.vocabulary import (
    END,
    ERROR,
    HELD,
    IN_THREAD,
    KEPT,
    MESSAGE,
    METADATA,
    OTHER,
    OTHERS,
    PARTIAL,
    RESTATED,
    SENT,
    UNKNOWN,
    UPDATES,
    VALUES,
)
from conformance.dialects.typed import RunReader

Fields = dict[str, Any]


_IN_THREAD: Final = Endpoint("", IN_THREAD)


class LangGraphReader(RunReader[GraphRun]):
    content_type = GraphRun
    reasons = REASONS
    unknown = UNKNOWN
    history = "input.messages"
    _thread = ""  # the one that the request names
    call_pairing = OF_LANGGRAPH

    def request(self, request: Request) -> list[Event]:
        events = super().request(request)
        self._thread = string(_IN_THREAD.stated(request.path.partition("#")[0]).get("thread"))
        sent = [each.data for each in events if each.type == "request.item"]
        places = (each["position"] for each in sent if is_of_model(each))
        said = zip(outlines_of(sent), places, strict=True)
        return [*events, *(Event(SENT, {**m, "position": at}, 0, "wire") for m, at in said)]

    def end(self, how: Ending, number: int) -> list[Event]:
        self._sink.begin(number)
        for each in self._content.held():
            self._sink.wire(HELD, each)
        return [*self._sink.events(), *super().end(how, number)]

    def _read_event(self, frame: Frame, payload: Any) -> None:
        name, _, namespace = event_name(frame, payload).partition("|")
        if name == "messages" and len(elements(payload)) == 2:
            self._take_message(mapping(payload[0]), mapping(payload[1]), namespace)
        elif name in ("messages/partial", "messages/complete"):
            for message in elements(payload):
                self._take_partial(mapping(message), is_whole=name.endswith("complete"))
        elif name in ("values", "updates"):
            self._take_state(name, payload, namespace)
        elif name == "metadata":
            self._take_metadata(mapping(payload))
        elif name == "error":
            self._take_error(payload)
        elif name == "end":
            self._sink.wire(END, event_data(payload))
        elif name in OTHERS:
            self._sink.wire(OTHER, event_data(payload, name=name))
        else:
            self._sink.wire(UNKNOWN, event_data(payload, name=name))

    def _read_body(self, payload: Any) -> None:
        """The last state of a run that was waited for."""
        self._is_whole = True
        if "__error__" in mapping(payload):
            self._take_error(mapping(payload["__error__"]))
            return
        list(self._content.see_values({}, ""))
        self._take_state("values", payload, "", waited=True)

    def _take_metadata(self, fields: Fields) -> None:
        self._follow_run(string(fields.get("run_id")))
        self._sink.wire(METADATA, fields)

    def _take_message(self, message: Fields, meta: Fields, namespace: str) -> None:
        about: Fields = {"meta": meta, "namespace": namespace}
        if self._thread and (thread := string(meta.get("thread_id"))):
            about["as_asked"] = thread == self._thread
        if string(message.get("type")) not in OF_MODEL:
            if "tool_call_id" in message:
                about["call_known"] = string(message["tool_call_id"]) in self._content.calls
            self._sink.wire(MESSAGE, {**message, **about})
            return
        if pieces_of(message) or message.get("tool_calls"):
            self._begin_once()
        if is_chunk(message):
            about["chunked"] = True
            node = string(meta.get("langgraph_checkpoint_ns")) or namespace
            about |= self._content.add(message, namespace, node)
        else:
            about |= self._content.doubling(message)
            self._content.state(message, "messages")
        self._sink.wire(MESSAGE, {**message, **about})

    def _take_partial(self, message: Fields, *, is_whole: bool) -> None:
        about: Fields = {}
        if string(message.get("type")) in OF_MODEL:
            self._begin_once()
            about = self._content.grow(message)
            if is_whole:
                self._content.state(message, "messages")
        self._sink.wire(PARTIAL, {**message, **about})

    def _take_state(self, name: str, payload: Any, namespace: str, **about: bool) -> None:
        kind = VALUES if name == "values" else UPDATES
        self._sink.wire(kind, event_data(payload, namespace=namespace, **about))
        content = self._content
        if name == "values":
            for each in content.begins_with(mapping(payload), namespace):
                self._sink.wire(KEPT, each)
            found = list(content.see_values(payload, namespace))
        else:
            found = list(content.see_update(payload))
        for message in found:
            compared = content.state(message, name)
            if compared is not None:
                self._begin_once()
                self._sink.wire(RESTATED, {**message, **compared})

    def _take_error(self, payload: Any) -> None:
        fields = mapping(payload)
        self._sink.wire(ERROR, event_data(payload))
        self._content.close()
        code, message = string(fields.get("error")), string(fields.get("message"))
        self._sink.say_error({"choice": 0, "code": code, "message": message or string(payload)})


def event_name(frame: Frame, payload: Any) -> str:
    """The name of an event: as a line says it, else as its payload shows."""
    if frame.event not in ("", "message"):
        return frame.event
    if _is_tuple(payload):
        return "messages"
    if isinstance(payload, list) and payload and all(map(_is_message, payload)):
        return "messages/partial"
    fields = mapping(payload)
    if _METADATA.issubset(fields):
        return "metadata"
    if isinstance(fields.get("error"), str):
        return "error"
    return "values" if _has_messages(payload) else ""


def recognises(frame: Frame, payload: Any) -> bool:
    """The metadata of a run, messages of LangChain, or a state with some of them."""
    name = frame.event.partition("|")[0]
    if name == "metadata" and string(mapping(payload).get("run_id")):
        return True
    if name in ("messages", "", "message") and _is_tuple(payload):
        return True
    if name == "messages/partial":
        return any(map(_is_message, elements(payload)))
    return name in ("values", "updates") and _has_messages(payload)


_METADATA: Final = {"run_id", "attempt"}
_MARKS: Final = frozenset({"langgraph_node", "langgraph_step", "langgraph_checkpoint_ns"})


def _is_tuple(payload: Any) -> bool:
    if not (isinstance(payload, list) and len(payload) == 2 and _is_message(payload[0])):
        return False
    return not _MARKS.isdisjoint(mapping(payload[1]))


def _is_message(value: Any) -> bool:
    fields = mapping(value)
    return string(fields.get("type")) in SPEAKERS and "content" in fields


def _has_messages(payload: Any, depth: int = 2) -> bool:
    """Whether a state holds messages as LangChain writes them."""
    if isinstance(payload, list):
        return any(_is_message(each) and "response_metadata" in each for each in payload)
    values = mapping(payload).values() if depth else ()
    return any(_has_messages(each, depth - 1) for each in values if isinstance(each, (dict, list)))
