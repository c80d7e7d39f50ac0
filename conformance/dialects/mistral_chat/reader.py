"""Dialect `mistral.chat`: the chunks and bodies of Chat Completions, as Mistral's API has them.

Rule 1: chunks and bodies are read as `openai.chat` reads them: the wire is the same. Every part of
        a content that is a list is `chat.part`, too, with its own type as `kind`, and the types of
        the parts of a thought as `within`.
Rule 2: a request is its entries, then `request.part` per part of their content: `position` and
        `role` are those of the entry, `kind` is the part's own type, `thought` the text of a part
        of thinking.
Rule 3: an error is also a payload without choices that says `"object": "error"`, or has a `detail`,
        as what Mistral's API refuses and its client reads: a text, or a list with a `msg` each.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from conformance.core.events import Event, Frame, Request, Vocabulary
from conformance.dialects.json_edge import elements, event_data, mapping, objects, string
from conformance.dialects.openai_chat import fields as chat_fields
from conformance.dialects.openai_chat.reader import VOCABULARY as CHAT
from conformance.dialects.openai_chat.reader import ChatReader

NAME: Final = "mistral.chat"
VOCABULARY: Final = Vocabulary(NAME, CHAT.wire | {"chat.part", "request.part"})


class MistralReader(ChatReader):
    def request(self, request: Request) -> list[Event]:
        return [*super().request(request), *_request_parts(request.json)]

    def _read_payload(self, payload: Any, field: str, *, is_error: bool) -> None:
        fields = mapping(payload)
        is_own = "choices" not in fields and _is_own_error(fields)
        super()._read_payload(payload, field, is_error=is_error or is_own)

    def _stated_error(self, payload: Any) -> Any:
        fields = mapping(payload)
        if fields.get("error") or not _is_own_error(fields):
            return super()._stated_error(payload)
        message = fields.get("message") or fields.get("detail")
        message = mapping(message).get("detail") or message
        return {**fields, "message": message if isinstance(message, str) else _messages(message)}

    def _wire_inner(self, inner: dict[str, Any], choice: Any) -> None:
        for part in elements(inner.get("content")):
            kind = mapping(part).get("type")
            held = _types_within(part)
            self._sink.wire("chat.part", event_data(part, choice=choice, kind=kind, within=held))
        super()._wire_inner(inner, choice)


def _is_own_error(fields: dict[str, Any]) -> bool:
    """Rule 3."""
    return fields.get("object") == "error" or bool(fields.get("detail"))


def _messages(details: Any) -> str:
    return "; ".join(filter(None, (string(each.get("msg")) for each in objects(details))))


def _types_within(part: Any) -> str:
    """The types of the parts that a thought holds, one after the other."""
    held = objects(mapping(part).get("thinking"))
    return " ".join(string(each.get("type")) for each in held)


def _request_parts(body: Any) -> Iterator[Event]:
    """Rule 2."""
    for position, turn in enumerate(elements(mapping(body).get("messages"))):
        fields = mapping(turn)
        for part in elements(fields.get("content")):
            place = {"position": position, "role": string(fields.get("role"))}
            parts = chat_fields.content({"content": [part]}, {})
            thought = "".join(text for kind, text in parts if kind == "thinking")
            data = event_data(part, **place, kind=mapping(part).get("type"), thought=thought)
            yield Event("request.part", data, 0, "wire")


def recognises(_frame: Frame, payload: Any) -> bool:
    """A chunk or a completion with a part of thinking; one that is a text breaks a rule."""
    choices = objects(mapping(payload).get("choices"))
    messages = (mapping(choice.get(key)) for choice in choices for key in ("delta", "message"))
    parts = (part for each in messages for part in objects(each.get("content")))
    return any(
        part.get("type") == "thinking" and isinstance(part.get("thinking"), list | str)
        for part in parts
    )
