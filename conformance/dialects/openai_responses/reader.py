"""Dialect `openai.responses`: the Responses API, streamed or whole.

Rule 1: an event is a wire event of its payload's `type`; a body is `response`, then
        `response.item` per output element with its `output_index` and its own type as `kind`.
Rule 2: `done` comes from completed, incomplete, failed and the codex backend's `response.done`;
        a `[DONE]` line is a wire event and no more. Usage is the terminal event's.
Rule 3: an `error` event and a failed response are one error each, also if they say the same.
Rule 4: output that only the terminal event holds is said there, as a body's would be, with its
        `response.item` events.
Rule 5: beyond `MOST_ITEMS` items (or `MOST_PARTS` parts of one) a wire event
        `openai.responses.overflow` ends the semantic events.
Rule 6: a request with `generate: false` prepares the next one: its response generates nothing, so
        nothing finishes.
Rule 7: every response is an answer: one that is announced after a terminal event, or under
        another id, begins the next. Where the one request is known it is a message of its own, and
        blocks count on.
Rule 8: what `/responses/compact` gives back is no response: nothing is said of its items.
Rule 9: an event that leaves out its indices says in `place` which ones are meant (`places`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from conformance.core.events import Event, Frame, Request
from conformance.dialects import outcome
from conformance.dialects.base import Reading
from conformance.dialects.blocks import Blocks
from conformance.dialects.history_calls import OF_RESPONSES
from conformance.dialects.json_edge import elements, event_data, mapping, string
from conformance.dialects.openai_responses.output import Output
from conformance.dialects.openai_responses.vocabulary import (
    ANNOUNCEMENTS,
    COMPACTED,
    CREATE,
    CREATED,
    DELTAS,
    DONES,
    PART_DONES,
    TERMINALS,
)
from conformance.dialects.typed import TypedReader
from conformance.dialects.unsupported import is_realtime

_REASONS: Final = {
    **dict.fromkeys(("max_output_tokens", "max_tokens", "length"), "length"),
    "content_filter": "content_filter",
}
_UNFINISHED: Final = frozenset({"queued", "in_progress"})
_ITEM_MEANINGS: Final[Mapping[str, Callable[[Output, dict[str, Any]], None]]] = {
    "response.output_item.added": Output.added,
    "response.output_item.done": Output.item_done,
    "response.reasoning_summary_part.added": Output.part_added,
}
_STATUS_OF: Final = {"response.incomplete": "incomplete", "response.failed": "failed"}


class ResponsesReader(TypedReader[Output]):
    unknown = "response.unknown"
    history = "input"
    call_pairing = OF_RESPONSES

    def __init__(self, reading: Reading) -> None:
        self._echo: dict[str, Any] | None = None
        self._generates = True
        super().__init__(reading)

    def _new_content(self) -> Output:
        return Output(self._sink, self._blocks)

    def _renew(self) -> None:
        self._echo_before = self._echo
        self._echo = None
        self._blocks = Blocks(0, self._sink)
        super()._renew()

    def request(self, request: Request) -> list[Event]:
        self._generates = mapping(request.json).get("generate") is not False
        return super().request(request)

    def echo(self, answer: int) -> Mapping[str, Any] | None:
        return self._echo if answer == self._sink.answer else self._echo_before

    def _read_event(self, frame: Frame, payload: Any) -> None:
        fields = mapping(payload)
        kind = string(fields.get("type"))
        if kind in ANNOUNCEMENTS:
            self._announce_response(kind, string(mapping(fields.get("response")).get("id")))
        if kind:
            self._sink.wire(kind, event_data(payload), self._content.places.place(kind, fields))
        else:
            self._sink.wire(self.unknown, event_data(payload, untyped=True))
        output = self._content
        if output.is_over:
            return
        if kind in DELTAS:
            output.delta(DELTAS[kind], fields)
        elif kind:
            self._read_meaning(kind, fields)
        elif frame.event == "error" or fields.get("error"):
            self._say_error(event_data(payload))

    def _read_meaning(self, kind: str, fields: dict[str, Any]) -> None:
        if kind in DONES:
            self._content.text_done(DONES[kind][0], fields, DONES[kind][1])
        elif kind in PART_DONES:
            self._content.part_done(fields)
        elif kind in TERMINALS:
            self._read_terminal(kind, fields)
        elif kind in ANNOUNCEMENTS:
            self._keep_echo(mapping(fields.get("response")))
        elif kind == "error":
            self._say_error(fields)
        elif kind in _ITEM_MEANINGS:
            _ITEM_MEANINGS[kind](self._content, fields)

    def _announce_response(self, kind: str, name: str) -> None:
        """A repeated start of the response under way, or of the one that is done, begins none."""
        if kind == CREATED or (self._is_done and name not in ("", self._announced)):
            self._announce(name, has_spoken=self._content.runs.has_begun)
        if self._is_done:
            self._is_done = False
            self._content = self._new_content()

    def _keep_echo(self, response: dict[str, Any]) -> None:
        """Keep the echo of the request, and the id for the message to come."""
        if response:
            self._echo = response
            self._content.runs.response_id = string(response.get("id"))

    def _read_body(self, payload: Any) -> None:
        fields = mapping(payload)
        output = fields.get("output")
        if fields.get("object") == COMPACTED:
            self._sink.wire(COMPACTED, event_data(payload))
            self._is_whole = True
            return
        if fields.get("object") != "response" and not isinstance(output, list):
            has_error = bool(fields.get("error"))
            self._sink.wire("error" if has_error else self.unknown, event_data(payload))
            self._is_whole = True
            if has_error:
                self._say_error(fields)
            return
        self._sink.wire("response", fields)
        self._say_items(output)
        self._keep_echo(fields)
        status = string(fields.get("status"))
        self._whole_output(fields)
        self._is_whole = status not in _UNFINISHED
        if status and self._is_whole:
            self._say_outcome(fields, status)

    def _say_items(self, output: Any) -> None:
        for index, item in enumerate(elements(output)):
            kind = string(mapping(item).get("type"))
            self._sink.wire("response.item", event_data(item, output_index=index, kind=kind))

    def _read_terminal(self, kind: str, fields: dict[str, Any]) -> None:
        response = mapping(fields.get("response"))
        if self._echo is None:
            self._keep_echo(response)
        self._content.close()
        if not self._content.runs.has_begun:
            self._say_items(response.get("output"))
            self._whole_output(response)
        status = _STATUS_OF.get(kind) or string(response.get("status")) or "completed"
        self._say_outcome(response or fields, status)

    def _whole_output(self, response: dict[str, Any]) -> None:
        for index, item in enumerate(elements(response.get("output"))):
            if not self._content.is_over:
                self._content.whole_item(index, item)
        self._content.close()

    def _say_outcome(self, response: dict[str, Any], status: str) -> None:
        """Finish, usage, error and done of a response that is over."""
        if status == "incomplete":
            reason = string(mapping(response.get("incomplete_details")).get("reason"))
            self._say_finish(_REASONS.get(reason or status, status))
        elif status not in ("failed", "cancelled"):
            self._say_finish("tool_calls" if self._content.awaits_tools else "stop")
        if (counts := outcome.usage(response.get("usage"))) is not None:
            self._sink.emit("usage", counts)
        if status == "failed":
            self._sink.say_error(outcome.error(response.get("error")))
        self._say_done()

    def _say_finish(self, reason: str) -> None:
        if self._generates:
            self._sink.end_choice(reason)

    def _say_error(self, fields: dict[str, Any]) -> None:
        """Nested as recorded from OpenAI, or flat as its OpenAPI document has it.

        Over a WebSocket the status that HTTP would have stands next to what is nested.
        """
        nested = fields.get("error")
        if isinstance(nested, dict) and "status" in fields:
            nested = {"status": fields["status"], **nested}
        flat = {name: value for name, value in fields.items() if name != "type"}
        self._sink.say_error(outcome.error(nested or flat))


def recognises(_frame: Frame, payload: Any) -> bool:
    """A `response.*` event or a response; an `error` event alone names no dialect.

    What asks for one is no event, and is spelled alike in the Realtime API.
    """
    fields = mapping(payload)
    kind = string(fields.get("type"))
    if kind == CREATE or is_realtime(fields):
        return False
    return kind.startswith("response.") or fields.get("object") == "response"
