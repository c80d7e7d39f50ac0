"""Dialect `mistral.conversations`: the events of a conversation, and whole answers.

Rule 1: an event is its type; an `output_index` that is left out is 0. Every part of a content is
        `conversation.part`, too, with its type as `kind` and the types within its thinking as
        `within`; a part without a type is what its key says, as Mistral's client has it. A body is
        `conversation.response`, then each of its entries by its own type, with its place. Before
        an event of another entry than the one before stands `conversation.entry`. Where the
        request appends to a conversation, what names one has `as_asked`.
Rule 2: every `conversation.response.started` is a message, and begins the next answer where
        something came before. `conversation.response.done` is the end; an error is an end, too.
Rule 3: nothing announces a text or a thought: it ends where another one, a call, or another entry
        begins. A delta that says nothing begins and ends nothing.
Rule 4: a function is called by the client, and a call is known by its id. A tool is executed by the
        server: its call is hosted. Calls may overlap, and end by their own event, or
        with the answer.
Rule 5: `conversation.sent` has the thinking of a message in the request.
Rule 6: references, files and the like say nothing, and neither does an agent that hands over.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from conformance.core.events import Event, Frame, Request
from conformance.dialects import outcome
from conformance.dialects.content_blocks import ContentBlocks, Place
from conformance.dialects.endpoint import Endpoint
from conformance.dialects.history_calls import OF_CONVERSATIONS
from conformance.dialects.json_edge import (
    arguments_text,
    event_data,
    mapping,
    objects,
    string,
    whole,
)
from conformance.dialects.mistral_conversations.vocabulary import (
    APPENDS,
    BODY,
    ENTRIES,
    ENTRY,
    OVERFLOW,
    PART,
    SENT,
    STREAMED,
    UNKNOWN,
)
from conformance.dialects.typed import TypedReader

_APPENDS: Final = Endpoint("", APPENDS)
_MESSAGE: Final = "message.output"
_CALLS: Final = frozenset({"function.call", "tool.execution"})


class EntryBlocks(ContentBlocks):
    """What the entries of one answer say."""

    overflow = OVERFLOW

    __slots__ = ("_saying",)

    def __init__(self, sink: Any) -> None:
        super().__init__(sink)
        self._saying: Place = None  # the text or thought under way

    def add_content(self, entry: int, content: Any) -> None:
        """A content is a text, a part, or in a body a list of both."""
        for part in content if isinstance(content, list) else (content,):
            if isinstance(part, str):
                self._say_text(entry, part)
            elif (kind := kind_of(mapping(part))) == "thinking":
                self._say_thought(entry, mapping(part))
            elif kind == "text":
                self._say_text(entry, string(mapping(part).get("text")))

    def call(self, slot: Any, arguments: str) -> None:
        if arguments:
            super().call(slot, arguments)

    def call_tool(self, entry: int, fields: Mapping[str, Any], *, is_hosted: bool) -> Place:
        """A call, or more of it; gives its place."""
        self._turn_to(None)
        call_id = string(fields.get("id" if is_hosted else "tool_call_id"))
        place = (entry, call_id, is_hosted)
        if (slot := self.slot_at(place)) is not None:
            if slot.tool is None:
                self._name_tool(slot, call_id, string(fields.get("name")), is_hosted=is_hosted)
            self.call(slot, arguments_text(fields.get("arguments")))
        return place

    def end_tool(self, entry: int, fields: Mapping[str, Any]) -> None:
        """The server has executed a tool; an unannounced one is a call, too."""
        place = (entry, string(fields.get("id")), True)
        if place not in self._at:
            self.call_tool(entry, fields, is_hosted=True)
        self.stop_at(place)

    def end_saying(self) -> None:
        self._turn_to(None)

    def _say_text(self, entry: int, text: str) -> None:
        if text and (slot := self._turn_to((entry, "text"))) is not None:
            self.write(slot, text)

    def _say_thought(self, entry: int, part: Mapping[str, Any]) -> None:
        thought = "".join(string(each.get("text")) for each in objects(part.get("thinking")))
        signature = string(part.get("signature"))
        if (thought or signature) and (slot := self._turn_to((entry, "thinking"))) is not None:
            self.think(slot, thought)
            if signature:
                self.sign(slot, signature)

    def _turn_to(self, place: Place) -> Any:
        """What is said from now on: another text or thought ends, calls go on (rule 3)."""
        slot = self._at.get(self._saying) if place != self._saying else None
        if slot is not None and slot.is_open:
            self._end_slot(slot)
        self._saying = place
        return None if place is None else self.slot_at(place)


class ConversationReader(TypedReader[EntryBlocks]):
    unknown = UNKNOWN
    history = "inputs"
    call_pairing = OF_CONVERSATIONS

    _entry: int | None = None  # the one that the last event was of
    _asked = ""  # the conversation to which the request appends

    def request(self, request: Request) -> list[Event]:
        self._asked = string(_APPENDS.stated(request.path.partition("#")[0]).get("thread"))
        events = super().request(request)
        sent = [each.data for each in events if each.data.get("kind") == _MESSAGE]
        return [*events, *(Event(SENT, _sent_thinking(each), 0, "wire") for each in sent)]

    def _new_content(self) -> EntryBlocks:
        self._entry = None
        return EntryBlocks(self._sink)

    def _read_event(self, _frame: Frame, payload: Any) -> None:
        fields = mapping(payload)
        kind = string(fields.get("type"))
        if kind not in STREAMED:
            self._sink.wire(self.unknown, event_data(payload))
            return
        if kind == "conversation.response.started":
            self._announce("", has_spoken=self._has_begun)
        self._wire(kind, fields, whole(fields.get("output_index")) or 0)
        self._begin_once()
        if self._content.is_over:
            return
        if kind == "conversation.response.error":
            self._content.close()
            self._sink.say_error(outcome.error(payload))
        elif kind == "conversation.response.done":
            self._content.close()
            self._count(fields)
            self._say_done()
        else:
            self._read_entry(kind, fields, whole(fields.get("output_index")) or 0)

    def _read_entry(self, kind: str, fields: Mapping[str, Any], entry: int) -> None:
        what, _, step = kind.rpartition(".")
        if what == _MESSAGE:
            self._content.add_content(entry, fields.get("content"))
        elif what == "tool.execution" and step == "done":
            self._content.end_tool(entry, fields)
        elif what in _CALLS:
            self._content.call_tool(entry, fields, is_hosted=what == "tool.execution")
        else:
            self._content.end_saying()

    def _read_body(self, payload: Any) -> None:
        fields = mapping(payload)
        self._is_whole = True
        if fields.get("object") != BODY and not isinstance(fields.get("outputs"), list):
            self._sink.wire(self.unknown, event_data(payload))
            if is_refusal(fields):
                self._sink.say_error(outcome.error(fields.get("error") or fields))
            return
        self._wire(BODY, fields, 0)
        self._begin_once()
        for entry, each in enumerate(objects(fields.get("outputs"))):
            kind = string(each.get("type"))
            self._wire(kind if kind in ENTRIES else self.unknown, each, entry)
            if kind == "tool.execution":
                self._content.end_tool(entry, each)
            elif kind in ENTRIES:
                self._read_entry(f"{kind}.whole", each, entry)
        self._content.close()
        self._count(fields)

    def _wire(self, kind: str, fields: Mapping[str, Any], entry: int) -> None:
        """Rule 1."""
        if entry != self._entry and not kind.startswith("conversation."):
            self._entry = entry
            self._sink.wire(ENTRY, {"output_index": entry, "id": fields.get("id")})
        if self._asked and (named := string(fields.get("conversation_id"))):
            fields = {**fields, "as_asked": named == self._asked}
        is_set = "output_index" in fields or kind.startswith("conversation.")
        self._sink.wire(kind, event_data(fields) if is_set else {**fields, "output_index": entry})
        content = fields.get("content") if kind.startswith(_MESSAGE) else None
        for part in content if isinstance(content, list) else (content,):
            if isinstance(part, dict):
                within = " ".join(string(p.get("type")) for p in objects(part.get("thinking")))
                data = event_data(part, kind=kind_of(part), within=within, output_index=entry)
                self._sink.wire(PART, data)

    def _count(self, fields: Mapping[str, Any]) -> None:
        if (counts := outcome.usage(fields.get("usage"))) is not None:
            self._sink.emit("usage", counts)


def _sent_thinking(entry: Mapping[str, Any]) -> dict[str, Any]:
    """What a message in the request has as thinking, with the place of that."""
    parts = (
        part for each in objects(entry.get("content")) for part in objects(each.get("thinking"))
    )
    thinking = "".join(string(each.get("text")) for each in parts)
    return {"position": entry["position"], "thinking": thinking or None}


def kind_of(part: Mapping[str, Any]) -> Any:
    return part.get("type", next((key for key in ("thinking", "text") if key in part), None))


def is_refusal(fields: Mapping[str, Any]) -> bool:
    """Whether a body says why there is no answer."""
    return bool(fields.get("error")) or fields.get("object") == "error"


def recognises(_frame: Frame, payload: Any) -> bool:
    """An event of a conversation, or a whole answer."""
    fields = mapping(payload)
    is_body = fields.get("object") == BODY or (
        "conversation_id" in fields and isinstance(fields.get("outputs"), list)
    )
    return is_body or string(fields.get("type")) in STREAMED
