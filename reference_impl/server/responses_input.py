"""The input items of a Responses request become turns of a conversation.

Rule 1: reasoning, a message and function calls that follow each other are one turn of the model;
        reasoning begins it, so that it stands directly before what it led to.
Rule 2: reasoning that was sealed here is opened and read; what was altered is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from .fields import RefusalPart, typed, unsupported
from .refusal import Refusal
from .sealing import BrokenSeal, Seal
from .turns import Turn, assistant, function_call, joined_text, result_turn, text_turn


class InputText(msgspec.Struct, tag="input_text"):
    text: str


class OutputText(msgspec.Struct, tag="output_text"):
    text: str


class GivenThought(msgspec.Struct, tag="reasoning_text"):
    text: str


class SummaryText(msgspec.Struct, tag="summary_text"):
    text: str


class GivenMessage(msgspec.Struct):
    role: Literal["user", "assistant", "system", "developer"]
    content: str | list[InputText | OutputText | RefusalPart]


class GivenReasoning(msgspec.Struct):
    summary: list[SummaryText]
    id: str | None = None
    content: list[GivenThought] | None = None
    encrypted_content: str | None = None


class FunctionCall(msgspec.Struct):
    call_id: str
    name: Annotated[str, Meta(min_length=1)]
    arguments: str


class FunctionOutput(msgspec.Struct):
    call_id: str
    output: str | list[InputText]


_KINDS: Mapping[str, type[GivenMessage | GivenReasoning | FunctionCall | FunctionOutput]] = {
    "message": GivenMessage,
    "reasoning": GivenReasoning,
    "function_call": FunctionCall,
    "function_call_output": FunctionOutput,
}


def turns(
    value: str | list[dict[str, Any]],
    seal: Seal,
    before: tuple[Turn, ...] = (),
    *,
    reads_reasoning: bool = True,
) -> tuple[Turn, ...]:
    """The conversation so far and what the input adds to it. Raises Refusal.

    Reasoning that is not read is skipped, whatever it holds.
    """
    if isinstance(value, str):
        return (*before, text_turn("user", value))
    reader = _Reader(seal, before)
    for number, fields in enumerate(value):
        if fields.get("type") == "reasoning" and not reads_reasoning:
            continue
        reader.read(fields, f"input[{number}]")
    return reader.ended()


class _Reader:
    """Reads items in order; `_text`, `_thought` and `_calls` are the model's turn at hand."""

    def __init__(self, seal: Seal, before: tuple[Turn, ...]) -> None:
        self._seal = seal
        self._turns = list(before)
        self._reasoning = ""  # the place of reasoning that nothing has followed yet
        self._thought = ""
        self._text: str | None = None
        self._calls: list[dict[str, Any]] = []
        self._call_ids = {call["id"] for turn in before for call in turn.get("tool_calls", ())}
        self._item_ids: set[str] = set()

    def read(self, fields: dict[str, Any], place: str) -> None:
        kind = fields.get("type", "message")
        structure = _KINDS.get(kind) if isinstance(kind, str) else None
        if structure is None:
            raise unsupported(f"an item of type {kind!r}", f"{place}.type")
        match typed(fields, structure, place):
            case GivenReasoning() as item:
                self._reason(item, place)
            case GivenMessage(role="assistant") as item:
                self._speak(joined_text(item.content))
            case GivenMessage() as item:
                role = "user" if item.role == "user" else "system"
                self._other(text_turn(role, joined_text(item.content)))
            case FunctionCall() as item:
                self._reasoning = ""
                self._calls.append(function_call(item.call_id, item.name, item.arguments))
                self._call_ids.add(item.call_id)
            case FunctionOutput() as item:
                self._answer(item, place)

    def ended(self) -> tuple[Turn, ...]:
        self._flush()
        return tuple(self._turns)

    def _reason(self, item: GivenReasoning, place: str) -> None:
        if item.id is not None and item.id in self._item_ids:
            raise Refusal(f"duplicate item found with id {item.id}", param=f"{place}.id")
        self._item_ids |= {item.id} if item.id is not None else set()
        if self._text is not None or self._calls:
            self._flush()
        self._thought += self._opened(item, place)
        self._reasoning = place

    def _opened(self, item: GivenReasoning, place: str) -> str:
        if item.encrypted_content is None:
            return joined_text(item.content)
        try:
            return self._seal.open(item.encrypted_content)
        except BrokenSeal as err:
            raise Refusal(
                f"the encrypted content of {item.id} could not be verified: {err}",
                param=f"{place}.encrypted_content",
                code="invalid_encrypted_content",
            ) from err

    def _speak(self, text: str) -> None:
        if self._text is not None or self._calls:
            self._flush()
        self._reasoning = ""
        self._text = text

    def _answer(self, item: FunctionOutput, place: str) -> None:
        if item.call_id not in self._call_ids:
            raise Refusal(
                f"no tool call found for function call output with call_id {item.call_id}",
                param=f"{place}.call_id",
            )
        self._other(result_turn(item.call_id, joined_text(item.output)))

    def _other(self, turn: Turn) -> None:
        self._flush()
        self._turns.append(turn)

    def _flush(self) -> None:
        """The model's turn is complete."""
        if self._reasoning:
            raise Refusal(
                f"{self._reasoning} of type 'reasoning' was provided without its required "
                "following item",
                param=self._reasoning,
            )
        if self._text is not None or self._calls:
            self._turns.append(assistant(self._text or "", self._thought, tuple(self._calls)))
        self._thought, self._text = "", None
        self._calls.clear()
