"""What a Chat Completions stream was seen to do, as values of the dialect's knobs.

A knob that the stream did not show is left out. Bounded: of every field only what distinguishes its
value is kept, and at most `MOST_CHOICES` choices are distinguished.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from msgspec import Struct

from conformance.core.events import Event
from conformance.dialects.json_edge import mapping, objects, string, whole
from conformance.dialects.marked_texts import Marked


def tokens(usage: Mapping[str, Any], *, thought: bool) -> Iterator[tuple[str, Any]]:
    """Values of `reasoning_tokens` and `tokens`, as far as a usage object states them."""
    details = mapping(usage.get("completion_tokens_details"))
    inside = whole(details.get("reasoning_tokens"))
    counted = inside or whole(usage.get("reasoning_tokens"))
    if usage and thought:
        yield "reasoning_tokens", _reasoning_tokens(usage, inside)
    if counted:
        yield "tokens", _reasoning_included(usage, counted)


def _reasoning_tokens(usage: Mapping[str, Any], inside: int | None) -> str:
    if inside:
        return "counted"
    if whole(usage.get("reasoning_tokens")):
        return "top_level"
    stated = "completion_tokens_details" in usage or "reasoning_tokens" in usage
    return "zero" if stated else "absent"


def _reasoning_included(usage: Mapping[str, Any], reasoning: int) -> str | None:
    prompt, output, total = (
        whole(usage.get(name)) for name in ("prompt_tokens", "completion_tokens", "total_tokens")
    )
    if prompt is None or output is None:
        return None
    if reasoning > output or total == prompt + output + reasoning:
        return "exclusive"
    return "inclusive"


MOST_CHOICES: Final = 64
_FLAGS: Final = frozenset({"thinking.delta", "[DONE]", "error"})  # that they came is enough
_OBJECT: Final = "chat.completion.chunk"


class _Choice(Struct):
    """Counts of one choice, and what was last said in it."""

    deltas: int = 0
    roles: int = 0
    late_role: bool = False  # a delta came before the first role
    finishes: int = 0
    content: str = "absent"  # what `content` is in the delta being read
    thought_at: int = -1  # number of the frame with the last thinking
    thought: str = ""
    has_text: bool = False


class ChatKnobs:
    """Observed values of the knobs of `openai.chat`."""

    def __init__(self) -> None:
        self._chunks = 0
        self._first_id = ""
        self._other_ids = 0
        self._last_is_other = False
        self._created: set[Any] = set()
        self._is_named_object = True
        self._opens_empty = False
        self._finish_keys: set[str] = set()
        self._choices: dict[int, _Choice] = {}
        self._usages: list[str] = []  # where usage stood; the last, and the one before it
        self._usage_chunks = 0
        self._usage: Mapping[str, Any] = {}
        self._flags: set[str] = set()
        self._contents: set[str] = set()
        self._boundary: set[str] = set()
        self._marked = Marked()

    def see(self, event: Event) -> None:
        if event.type in _FLAGS:
            self._flags.add(event.type)
        take = _TAKE.get(event.type)
        if take is not None:
            take(self, event)

    def values(self, *, framed: bool) -> dict[str, Any]:
        if not self._chunks:
            return {}
        found = {
            **self._framing_values(framed=framed),
            **dict(self._chunk_values()),
            **self._content_values(),
        }
        return {name: value for name, value in found.items() if value is not None}

    # --- what comes

    def chunk(self, event: Event) -> None:
        data = event.data
        choices = objects(data.get("choices"))
        self._see_identity(data, is_empty=not choices)
        finished = any(choice.finishes for choice in self._choices.values())
        for choice in choices:
            self._see_choice(choice)
        usage = mapping(data.get("usage"))
        if usage:
            self._usage = usage
            self._usage_chunks += 1
            self._usages = [*self._usages[-1:], _usage_place(choices, finished=finished)]

    def _see_identity(self, data: Mapping[str, Any], *, is_empty: bool) -> None:
        name = string(data.get("id"))
        self._opens_empty = self._opens_empty or (not self._chunks and is_empty and not name)
        self._chunks += 1
        self._is_named_object = self._is_named_object and data.get("object") == _OBJECT
        if name:
            self._first_id = self._first_id or name
            self._last_is_other = name != self._first_id
            self._other_ids += self._last_is_other
            if len(self._created) < 2:
                self._created.add(str(data.get("created")))

    def _see_choice(self, element: dict[str, Any]) -> None:
        choice = self._signs_of(whole(element.get("index")) or 0)
        delta = mapping(element.get("delta"))
        reason = element.get("finish_reason")
        choice.finishes += bool(string(reason))
        if "finish_reason" not in element:
            self._finish_keys.add("missing")
        else:
            self._finish_keys.add("null" if reason is None else "given")
        choice.content = _content_kind(delta)
        if string(delta.get("role")):
            choice.late_role = choice.late_role or (choice.deltas > 0 and not choice.roles)
            choice.roles += 1
        choice.deltas += bool(delta)

    def _signs_of(self, number: int) -> _Choice:
        if number not in self._choices and len(self._choices) >= MOST_CHOICES:
            return _Choice()
        return self._choices.setdefault(number, _Choice())

    def thinking(self, event: Event) -> None:
        choice = self._signs_of(event.data["choice"])
        choice.thought_at, choice.thought = event.number, event.data["text"]
        self._contents.add(choice.content)
        if choice.has_text:
            self._flags.add("interleaved")

    def text(self, event: Event) -> None:
        choice = self._signs_of(event.data["choice"])
        text = event.data["text"]
        self._marked.add(event.data["choice"], text)
        if choice.thought_at == event.number:
            self._flags.add("combined_chunk")
        if choice.thought and not choice.has_text:
            spaced = choice.thought[-1:].isspace() or text[:1].isspace()
            self._boundary.add("any" if spaced else "trimmed")
        choice.has_text = True

    def opaque(self, event: Event) -> None:
        late = self._signs_of(event.data["choice"]).has_text
        self._flags.add("late opaque" if late else "opaque")

    def ended(self, event: Event) -> None:
        if event.data.get("how") == "eof":
            self._flags.add("eof")

    # --- what it comes to

    def _framing_values(self, *, framed: bool) -> dict[str, Any]:
        whole_stream = "eof" in self._flags and "error" not in self._flags
        if not framed or not whole_stream:
            return {}
        if "[DONE]" in self._flags:
            return {"done": "required"}
        finished = any(choice.finishes for choice in self._choices.values())
        return {"done": "forbidden"} if finished else {}

    def _chunk_values(self) -> Iterator[tuple[str, Any]]:
        if self._chunks > 1 and self._first_id:
            yield "created", "constant" if len(self._created) == 1 else "varies"
            yield "id_stability", self._id_stability()
        yield "object_field", "required" if self._is_named_object else "absent"
        yield "empty_choices_first", self._opens_empty
        yield "usage_placement", self._usage_placement()
        if self._choices:
            yield "role", self._role_value()
            yield "finish_key", self._finish_key()
            yield "finish_count", self._finish_count()

    def _id_stability(self) -> str | None:
        if not self._other_ids:
            return "constant"
        return "last_differs" if self._other_ids == 1 and self._last_is_other else None

    def _usage_placement(self) -> str | None:
        if self._usage_chunks == self._chunks > 1:
            return "every_chunk"
        return self._usages[-1] if self._usage_chunks == 1 else None

    def _role_value(self) -> str:
        choices = self._choices.values()
        if not any(choice.roles for choice in choices):
            return "never"
        if any(choice.late_role or not choice.roles for choice in choices):
            return "any"
        return "once" if all(choice.roles == 1 for choice in choices) else "repeated"

    def _finish_key(self) -> str:
        if "missing" not in self._finish_keys:
            return "always"
        return "last" if "given" in self._finish_keys else "never"

    def _finish_count(self) -> str | None:
        counts = [choice.finishes for choice in self._choices.values()]
        if not all(counts):
            is_complete = self._flags >= {"eof", "[DONE]"} and "error" not in self._flags
            return "none" if is_complete else None
        return "one" if max(counts) == 1 else "many"

    def _content_values(self) -> dict[str, Any]:
        found: dict[str, Any] = dict(tokens(self._usage, thought="thinking.delta" in self._flags))
        if "thinking.delta" in self._flags:
            found["interleaved"] = "interleaved" in self._flags
            found["combined_chunk"] = "combined_chunk" in self._flags
            one = len(self._contents) == 1
            found["content_during_reasoning"] = next(iter(self._contents)) if one else "any"
        else:
            found |= self._marked.knobs()
        if self._boundary:
            found["boundary_whitespace"] = "any" if "any" in self._boundary else "trimmed"
        if {"opaque", "late opaque"} & self._flags:
            late = "late opaque" in self._flags
            found["opaque_position"] = "any" if late else "before_text"
        return found


def _usage_place(choices: list[dict[str, Any]], *, finished: bool) -> str:
    if not choices:
        return "separate"
    finishes = any(string(choice.get("finish_reason")) for choice in choices)
    return "finish_chunk" if finishes and not finished else "separate_with_choices"


def _content_kind(delta: dict[str, Any]) -> str:
    if "content" not in delta:
        return "absent"
    value = delta["content"]
    if value is None:
        return "null"
    return "any" if value else "empty"


_TAKE: Final[Mapping[str, Callable[[ChatKnobs, Event], None]]] = {
    "chat.chunk": ChatKnobs.chunk,
    "thinking.delta": ChatKnobs.thinking,
    "text.delta": ChatKnobs.text,
    "thinking.opaque": ChatKnobs.opaque,
    "http.end": ChatKnobs.ended,
}
