"""The Interactions API of Gemini: the events of its steps, or one whole interaction.

Rule 1: what is shown of a thought is a summary; its signature belongs to it.
Rule 2: steps of users and results of tools, which an interaction may repeat, say nothing.
Rule 3: `interaction.completed` is the end; its status says why, and may say that it failed.

In requests every step goes back as it came, thoughts with their signatures.
Nothing is left to the server's store. What the server called by itself stays out, for its results
are not kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from . import effort
from .ask import Ask
from .content_blocks import BlockReader, ContentBlock
from .frame import Frame
from .payload import (
    added,
    arguments_text,
    compact,
    count_of,
    object_of,
    objects_of,
    present,
    text_of,
)
from .turn import Called, HistoryForm, Piece, Results, Thought, Turn, Words, result_turn, text_turn

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
    channel = "summary"

    def _read_event(self, frame: Frame, event: dict[str, Any]) -> None:
        kind = text_of(event.get("event_type"))
        interaction = object_of(event.get("interaction"))
        if kind == "interaction.created":
            self._start_message({}, interaction.get("id"))
        elif kind == "interaction.completed":
            self._speech.begin()
            self._close_open()
            self._report_finish(interaction)
            self._done(explicit=True)
        elif kind in ("step.start", "step.delta", "step.stop"):
            self._speech.begin()
            self._read_step(kind, event)
        elif event and kind != "interaction.status_update" and _names_error(frame, event):
            self._close_open()
            self._report.error(event.get("error") or event)

    def _read_body(self, payload: dict[str, Any]) -> None:
        if not (payload.get("object") == "interaction" or isinstance(payload.get("steps"), list)):
            self._report.error(payload.get("error") or "neither an interaction nor an error")
            self._done(explicit=False)
            return
        self._start_message({}, payload.get("id"))
        for given in objects_of(payload.get("steps")):
            block = self._blocks.whole()
            _begin_block(block, given)
            block.stop()
        self._report_finish(payload)
        if payload.get("status") not in _RUNNING:
            self._done(explicit=False)

    def _read_step(self, kind: str, event: Fields) -> None:
        index = count_of(event.get("index"))
        if kind == "step.start":
            _begin_block(self._blocks.begin(index), object_of(event.get("step")))
        elif kind == "step.stop":
            self._blocks.stop(index)
        else:
            _report_delta(self._blocks.block(index), object_of(event.get("delta")))

    def _report_finish(self, interaction: Fields) -> None:
        """Report why, and what it cost: thoughts and tools are counted beside the rest."""
        status = text_of(interaction.get("status"))
        if status not in (*_FAILURES, *_RUNNING):
            self._report.finish(_STATES.get(status, status))
        self._report_usage(object_of(interaction.get("usage")))
        if status in _FAILURES:
            messages = [
                text_of(each.get("message")) for each in objects_of(interaction.get("errors"))
            ]
            self._report.error({"code": status, "message": next(iter(messages), "")})

    def _report_usage(self, usage: Fields) -> None:
        given = added(usage, _INPUT) if count_of(usage.get(_INPUT[0])) is not None else None
        self._report.tokens(
            input=given,
            output=added(usage, _OUTPUT),
            reasoning=usage.get("total_thought_tokens"),
            total=usage.get("total_tokens"),
        )


def _begin_block(block: ContentBlock, step: Fields) -> None:
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


def _report_delta(block: ContentBlock, delta: Fields) -> None:
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


_SAMPLING: Final = {"stop": "stop_sequences"}
_HOSTED: Final = frozenset(name.removesuffix("_call") for name in HOSTED_CALLS)
_ANSWERED: Final = HOSTED_CALLS | {"thought", "model_output", CALL}


def interactions_request(ask: Ask) -> dict[str, Any]:
    config = {**ask.sampled(_SAMPLING), **effort.interactions(ask)}
    return {
        "model": ask.model,
        "input": list(_steps_of_ask(ask)),
        "stream": True,
        **present(
            generation_config={**config, **present(max_output_tokens=ask.max_tokens)},
            system_instruction=ask.instructions,
            tools=ask.flat_tools,
        ),
    }


def _steps_of_ask(ask: Ask) -> Iterator[dict[str, Any]]:
    results = Results()
    for turn in ask.turns:
        if turn.role == "tool":
            call = results.called(turn)
            named = {"call_id": call.id or turn.call_id, "name": call.name}
            yield {"type": "function_result", **named, "result": turn.text}
        elif turn.role == "user":
            yield {"type": "user_input", "content": _text_content(turn.text)}
        elif turn.role == "assistant":
            results.expect(turn)
            pieces = turn.pieces if ask.sends_thinking("interactions") else turn.spoken
            yield from filter(None, map(_step_of_piece, pieces))


def _step_of_piece(piece: Piece) -> dict[str, Any]:
    """The step that a piece was; none for what cannot go back."""
    if isinstance(piece, Words):
        return {"type": "model_output", "content": _text_content(piece.text)}
    if isinstance(piece, Called):
        if piece.name in _HOSTED:
            return {}
        return {"type": CALL, "id": piece.id, "name": piece.name, "arguments": piece.values}
    return _thought_step(piece) if piece.signature else {}


def _thought_step(thought: Thought) -> dict[str, Any]:
    summary = [part for text in thought.parts or (thought.raw,) for part in _text_content(text)]
    fields = {"summary": summary} if summary else {}
    return {"type": "thought", "signature": thought.signature, **fields}


def _text_content(text: str) -> list[dict[str, str]]:
    return [{"type": "text", "text": text}] if text else []


def _is_answer(entry: Mapping[str, Any]) -> bool:
    return entry.get("type") in _ANSWERED or isinstance(entry.get("steps"), list)


def _answer_of(entries: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """An interaction of these steps; one that is whole is its own message."""
    return {"steps": [step for entry in entries for step in entry.get("steps", (entry,))]}


def _turns_of(entry: Mapping[str, Any]) -> list[Turn] | None:
    if entry.get("type") == "function_result":
        result = entry.get("result")
        return [result_turn(text_of(entry.get("call_id")), text_of(result) or compact(result))]
    if entry.get("type") != "user_input":
        return None
    parts = objects_of(entry.get("content"))
    text = text_of(entry.get("content")) or "".join(text_of(part.get("text")) for part in parts)
    return [text_turn("user", text)]


INTERACTIONS_HISTORY: Final = HistoryForm(_is_answer, _answer_of, _turns_of)
