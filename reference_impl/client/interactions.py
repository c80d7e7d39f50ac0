"""The Interactions API of Gemini: the events of its steps, or one whole interaction.

Rule 1: what is shown of a thought is a summary; its signature belongs to it.
Rule 2: steps of users and results of tools, which an interaction may repeat, say nothing.
Rule 3: `interaction.completed` is the end; its status says why, and may say that it failed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from .content_blocks import BlockReader, ContentBlock, arguments_text
from .event import Event
from .frame import Frame
from .outcome import added, error, finish, tokens
from .payload import count_of, decode, object_of, objects_of, text_of

Fields = Mapping[str, Any]
CALL: Final = "function_call"
HOSTED_CALLS: Final = frozenset(
    {
        *("code_execution_call", "file_search_call", "google_maps_call", "google_search_call"),
        *("mcp_server_tool_call", "processing_call", "retrieval_call", "tool_search_call"),
        "url_context_call",
    }
)
_STATES: Final = {"completed": "stop", "incomplete": "length"}
_FAILURES: Final = ("failed", "cancelled")
_RUNNING: Final = ("in_progress", "queued")
_INPUT: Final = ("total_input_tokens", "total_tool_use_tokens")
_OUTPUT: Final = ("total_output_tokens", "total_thought_tokens")


class InteractionsReader(BlockReader):
    """Reads one answer."""

    channel = "summary"

    def read(self, frame: Frame) -> list[Event]:
        """The events of one wire event."""
        event = object_of(decode(frame.data))
        kind = text_of(event.get("event_type"))
        interaction = object_of(event.get("interaction"))
        if kind == "interaction.created":
            self._start({}, interaction.get("id"))
        elif kind == "interaction.completed":
            self._speech.begin()
            self._close()
            self._ended(interaction)
            self._done(explicit=True)
        elif kind in ("step.start", "step.delta", "step.stop"):
            self._speech.begin()
            self._step(kind, event)
        elif event and kind != "interaction.status_update" and _names_error(frame, event):
            self._close()
            error(self._report, event.get("error") or event)
        return self._report.take()

    def body(self, payload: dict[str, Any]) -> list[Event]:
        """The events of a whole interaction, or of an error in its place."""
        if not (payload.get("object") == "interaction" or isinstance(payload.get("steps"), list)):
            error(self._report, payload.get("error") or "neither an interaction nor an error")
            self._done(explicit=False)
            return self._report.take()
        self._start({}, payload.get("id"))
        for given in objects_of(payload.get("steps")):
            block = self._blocks.whole()
            _begin(block, given)
            block.stop()
        self._ended(payload)
        if payload.get("status") not in _RUNNING:
            self._done(explicit=False)
        return self._report.take()

    def _step(self, kind: str, event: Fields) -> None:
        index = count_of(event.get("index"))
        if kind == "step.start":
            _begin(self._blocks.begin(index), object_of(event.get("step")))
        elif kind == "step.stop":
            self._blocks.stop(index)
        else:
            _add(self._blocks.block(index), object_of(event.get("delta")))

    def _ended(self, interaction: Fields) -> None:
        """Tell why, and what it cost: thoughts and tools are counted beside the rest."""
        status = text_of(interaction.get("status"))
        if status not in (*_FAILURES, *_RUNNING):
            finish(self._report, _STATES.get(status, status))
        self._count(object_of(interaction.get("usage")))
        if status in _FAILURES:
            said = [text_of(each.get("message")) for each in objects_of(interaction.get("errors"))]
            error(self._report, {"code": status, "message": next(iter(said), "")})

    def _count(self, usage: Fields) -> None:
        given = added(usage, _INPUT) if count_of(usage.get(_INPUT[0])) is not None else None
        tokens(
            self._report,
            {
                "input": given,
                "output": added(usage, _OUTPUT),
                "reasoning": usage.get("total_thought_tokens"),
                "total": usage.get("total_tokens"),
            },
        )


def _begin(block: ContentBlock, step: Fields) -> None:
    """Begin what is announced, with what it holds already."""
    kind = text_of(step.get("type"))
    if kind == "thought":
        block.open()
        for part in objects_of(step.get("summary")):
            block.think(text_of(part.get("text")))
        block.seal("signature", text_of(step.get("signature")))
    elif kind == "model_output":
        for part in objects_of(step.get("content")):
            block.say(text_of(part.get("text")))
    elif kind == CALL:
        named = (text_of(step.get("id")), text_of(step.get("name")))
        block.call(*named, step.get("arguments"))
    elif kind in HOSTED_CALLS:
        name = text_of(step.get("name")) or kind.removesuffix("_call")
        block.call(text_of(step.get("id")), name, step.get("arguments"), hosted=True)


def _add(block: ContentBlock, delta: Fields) -> None:
    """Tell what a delta adds."""
    kind = text_of(delta.get("type"))
    if kind == "thought_summary":
        block.think(text_of(object_of(delta.get("content")).get("text")))
    elif kind == "thought_signature":
        block.seal("signature", text_of(delta.get("signature")))
    elif kind == "text":
        block.say(text_of(delta.get("text")))
    elif kind == "arguments_delta":
        block.argue(text_of(delta.get("arguments")))
    elif kind in HOSTED_CALLS:
        block.argue(arguments_text(delta.get("arguments")))


def _names_error(frame: Frame, event: Fields) -> bool:
    return frame.name == "error" or "error" in (*event, event.get("event_type"))
