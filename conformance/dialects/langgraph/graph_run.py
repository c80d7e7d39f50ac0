"""The texts of one run of a graph so far, message by message.

Rule 1: a message is known by its id. Models of OpenAI announce it under another one: an empty chunk
        of an id that its response has, too, is of the message that begins next in that node.
Rule 2: what is before the last message of a person is history. The first state of a run, or of
        a graph in it, is what was there before: all messages of models in it are history. Later
        states say what no chunk said.
Rule 3: a run has settled where no message is open.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from conformance.dialects.blocks import Blocks
from conformance.dialects.json_edge import mapping, objects, string
from conformance.dialects.langgraph.content import (
    OF_MODEL,
    joined,
    outline_of,
    outlines_of,
    pieces_of,
)
from conformance.dialects.langgraph.message import StreamedMessage, stated_calls, usage_of
from conformance.dialects.langgraph.vocabulary import OVERFLOW
from conformance.dialects.sink import Sink

_MOST: Final = 4096
_DEPTH: Final = 6
_LEAST_DOUBLED: Final = 16
_TEXTS: Final = ("thinking", "text")
Fields = Mapping[str, Any]


class GraphRun:
    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._blocks = Blocks(0, sink)
        self._messages: dict[str, StreamedMessage] = {}
        self._announced: dict[str, str] = {}  # node -> the id that its next message has, too
        self._renamed: dict[str, str] = {}  # ids of messages -> those of their chunks
        self._history: set[str] = set()
        self._states: set[str] = set()  # namespaces whose first state is known
        self._compared: set[tuple[str, str]] = set()
        self.calls: set[str] = set()
        self._call_count = 0
        self.last: StreamedMessage | None = None
        self.has_state = False
        self.is_over = False

    @property
    def reason(self) -> str:
        return self.last.reason if self.last else ""

    @property
    def is_settled(self) -> bool:
        """Rule 3."""
        spoken = [each for each in self._messages.values() if each.says_something]
        return bool(spoken or self.has_state) and all(each.is_settled for each in spoken)

    def close(self) -> None:
        """Ends what is open."""
        for each in self._messages.values():
            each.close()

    def held(self) -> Iterator[dict[str, Any]]:
        """The messages of models that the run made, as the next one finds them."""
        for name, each in self._messages.items():
            yield outline_of(name, each.pieces)

    def begins_with(self, values: Fields, namespace: str) -> Iterator[dict[str, Any]]:
        """The messages of models that a run found, of its first state."""
        is_first = not namespace and not self._states
        yield from outlines_of(objects(values.get("messages"))[:_MOST] if is_first else ())

    def add(self, message: Fields, namespace: str, node: str) -> dict[str, Any]:
        """A chunk; gives what is known of its message."""
        name = string(message.get("id"))
        about = string(mapping(message.get("response_metadata")).get("id"))
        if about == name and name and name not in self._messages and not pieces_of(message):
            self._announced[node] = name
            return {"announces": True}
        is_new = name not in self._messages
        kept = self._message(name)
        if kept is None:
            return {}
        if is_new:
            kept.namespace = namespace
            if first := self._announced.pop(node, ""):
                self._renamed[first] = name
        if kept.namespace != namespace:
            return {"other_namespace": True}  # its own namespace has it
        known: dict[str, Any] = {"after_last": True} if kept.is_last else {}
        was_last = kept.is_last
        kept.add(message)
        self._see_calls(message)
        if kept.is_last and not was_last:
            known |= {"last": True, "reason": kept.reason, "spoke": kept.says_something}
        return known

    def state(self, message: Fields, source: str) -> dict[str, Any] | None:
        """A whole message; gives what it restates of the chunks, None where it is history."""
        stated_name = string(message.get("id"))
        name = self._renamed.get(stated_name, stated_name)
        if name in self._history:
            return None
        self._see_calls(message)
        kept = self._messages.get(name) if name else self._unnamed(message)
        if kept is not None and kept.says_something:
            return self._compared_with(kept, message, name, source, is_renamed=name != stated_name)
        kept = kept or self._message(name)
        if kept is not None:
            kept.state(message)
        return {}

    def doubling(self, message: Fields) -> dict[str, Any]:
        """Whether a whole message says what was said before: under its id, or another one."""
        name = string(message.get("id"))
        known = self._messages.get(self._renamed.get(name, name))
        if known is not None and known.says_something:
            return {"again": True}
        text = joined(pieces_of(message), "text")
        is_long = len(text) >= _LEAST_DOUBLED
        texts = (each.text_of("text") for each in self._messages.values())
        return {"doubles": True} if is_long and any(text == each for each in texts) else {}

    def grow(self, message: Fields) -> dict[str, Any]:
        streamed = self._message(string(message.get("id")))
        if streamed is None:
            return {}
        pieces = pieces_of(message)
        shrunk = [
            k for k in ("thinking", "text") if not joined(pieces, k).startswith(streamed.text_of(k))
        ]
        streamed.state(message, is_whole=False)
        self._see_calls(message)
        return {"shrunk": True} if shrunk else {}

    def see_values(self, values: Any, namespace: str) -> Iterator[Fields]:
        """The messages of models in a state, but of the first one: these are history (rule 2)."""
        self.has_state = True
        is_first = namespace not in self._states
        self._states.add(namespace)
        for message in messages_in(values):
            name = string(message.get("id"))
            name = self._renamed.get(name, name)
            if is_first and name not in self._messages and len(self._history) < _MOST:
                self._history.add(name)
                self._see_calls(message)
            yield message

    def see_update(self, update: Any) -> Iterator[Fields]:
        """The messages of models that a node gave."""
        self.has_state = True
        yield from messages_in(update)

    def _message(self, name: str) -> StreamedMessage | None:
        """The message of that id, be it new; None once there were too many, which is reported."""
        if self.is_over:
            return None
        key = name or f"unnamed {len(self._messages)}"
        if key not in self._messages:
            if len(self._messages) >= _MOST:
                self._sink.wire(OVERFLOW, {})
                self.is_over = True
                return None
            self._call_count += self.last.call_count if self.last else 0
            self._messages[key] = StreamedMessage(self._sink, self._blocks, self._call_count)
        self.last = self._messages[key]
        return self.last

    def _unnamed(self, message: Fields) -> StreamedMessage | None:
        """A message that said just this, where the statement has no id."""
        pieces = pieces_of(message)
        texts = (joined(pieces, "thinking"), joined(pieces, "text"))
        known = (
            (each.text_of("thinking"), each.text_of("text")) for each in self._messages.values()
        )
        same = dict(zip(known, self._messages.values(), strict=True))
        return same.get(texts)

    def _compared_with(
        self, held: StreamedMessage, message: Fields, name: str, source: str, *, is_renamed: bool
    ) -> dict[str, Any]:
        held.is_stated, held.stated_pieces = True, pieces_of(message)
        held.close()
        if (name, source) in self._compared:
            return {}
        self._compared.add((name, source))
        pieces = pieces_of(message)
        states: dict[str, Any] = {kind: joined(pieces, kind) for kind in _TEXTS}
        streamed: dict[str, Any] = {kind: held.text_of(kind) for kind in _TEXTS}
        states["sealed"] = [each.text for each in pieces if each.kind == "opaque"]
        streamed["sealed"] = held.sealed()
        if (called := stated_calls(message)) is not None:
            states["calls"], streamed["calls"] = called, held.calls()
        if (counted := dict(usage_of(message))) and held.usage:
            states["usage"], streamed["usage"] = counted, held.usage
        return {"states": states, "streamed": streamed, "renamed": is_renamed}

    def _see_calls(self, message: Fields) -> None:
        for key in ("tool_calls", "tool_call_chunks", "invalid_tool_calls"):
            for call in objects(message.get(key)):
                if (name := string(call.get("id"))) and len(self.calls) < _MOST:
                    self.calls.add(name)


def messages_in(value: Any, depth: int = _DEPTH) -> Iterator[dict[str, Any]]:
    """Messages of models anywhere in a state: those after the last one of a person."""
    if isinstance(value, dict):
        if string(value.get("type")) in OF_MODEL and "content" in value:
            yield value
        elif depth:
            for each in value.values():
                yield from messages_in(each, depth - 1)
    elif isinstance(value, list) and depth:
        questions = [at for at, each in enumerate(value, 1) if mapping(each).get("type") == "human"]
        for each in value[questions[-1] if questions else 0 :]:
            yield from messages_in(each, depth - 1)
