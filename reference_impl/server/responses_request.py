"""Responses: fields of requests, apart from the input items, and the response that repeats them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from .effort import LEVELS, effort
from .engine import Usage
from .fields import Count, Function, Share, Temperature, TypeChoice, offered, unsupported
from .plan import EngineRequest, engine_request
from .settings import SummaryStyle
from .turns import Turn, text_turn

ENCRYPTED: Final = "reasoning.encrypted_content"


class ReasoningWish(msgspec.Struct):
    """`generate_summary` is the older name of `summary`."""

    effort: str | None = None
    summary: SummaryStyle | None = None
    generate_summary: SummaryStyle | None = None


class ResponsesTool(Function, tag_field="type", tag="function"):
    strict: bool | None = None


class TextOptions(msgspec.Struct):
    format: TypeChoice | None = None


class ResponsesRequest(msgspec.Struct):
    """The fields that mean something here; others are accepted and have no effect."""

    model: str
    input: str | list[dict[str, Any]]
    instructions: str | None = None
    stream: bool | None = None
    store: bool | None = None
    previous_response_id: str | None = None
    include: list[str] | None = None
    reasoning: ReasoningWish | None = None
    max_output_tokens: Count | None = None
    temperature: Temperature | None = None
    top_p: Share | None = None
    tools: list[ResponsesTool] | None = None
    tool_choice: str | dict[str, Any] | None = None
    parallel_tool_calls: bool | None = None
    text: TextOptions | None = None
    metadata: dict[str, str] | None = None
    background: bool | None = None
    conversation: Any = None
    prompt: Any = None
    generate: bool | None = None

    @property
    def style(self) -> SummaryStyle | None:
        if self.reasoning is None:
            return None
        return self.reasoning.summary or self.reasoning.generate_summary

    @property
    def level(self) -> str | None:
        return self.reasoning.effort if self.reasoning is not None else None

    @property
    def wants_encrypted(self) -> bool:
        return ENCRYPTED in (self.include or ())


def check_supported(request: ResponsesRequest, *, remembers: bool = True) -> None:
    """Raises Refusal for what would have to be ignored."""
    if request.previous_response_id is not None and not remembers:
        raise unsupported("to carry on an earlier response", "previous_response_id")
    for extra in request.include or ():
        if extra != ENCRYPTED:
            raise unsupported(f"to include {extra!r}", "include")
    offered(request.tools, request.tool_choice, "tool_choice")
    layout = request.text.format if request.text is not None else None
    if layout is not None and layout.type != "text":
        raise unsupported(f"the format {layout.type!r}", "text.format.type")
    for name in ("background", "conversation", "prompt"):
        if getattr(request, name):
            raise unsupported(f"the field {name!r}", name)


def ask_of(
    request: ResponsesRequest, messages: tuple[Turn, ...], levels: Collection[str] = LEVELS
) -> EngineRequest:
    wanted = effort(request.level, "reasoning.effort", levels)
    if request.instructions:
        messages = (text_turn("system", request.instructions), *messages)
    tools = offered(request.tools, request.tool_choice, "tool_choice")
    return engine_request(messages, tools, wanted, request, request.max_output_tokens)


@dataclass(frozen=True, slots=True)
class Resource:
    """The fields of a response that do not change while it is made.

    `zero_details`: usage counts reasoning and cached tokens also where there are none.
    """

    id: str
    created_at: int
    model: str
    request: ResponsesRequest
    zero_details: bool = True

    def snapshot(
        self,
        status: str,
        output: Sequence[Mapping[str, Any]] = (),
        *,
        usage: Usage | None = None,
        error: Mapping[str, Any] | None = None,
        reason: str | None = None,
    ) -> dict[str, Any]:
        """The response as it stands; `reason` says why it is incomplete."""
        return {
            "id": self.id,
            "object": "response",
            "created_at": self.created_at,
            "status": status,
            "background": False,
            "error": error,
            "incomplete_details": None if reason is None else {"reason": reason},
            "output": list(output),
            "usage": None if usage is None else responses_usage(usage, zeros=self.zero_details),
            **self._echo(),
        }

    def _echo(self) -> dict[str, Any]:
        """Return the fields of the request, with their defaults."""
        request = self.request
        tools = [msgspec.to_builtins(tool) for tool in request.tools or ()]
        return {
            "model": self.model,
            "instructions": request.instructions,
            "max_output_tokens": request.max_output_tokens,
            "metadata": request.metadata or {},
            "parallel_tool_calls": request.parallel_tool_calls is not False,
            "previous_response_id": request.previous_response_id,
            "reasoning": {"effort": request.level, "summary": request.style},
            "store": request.store is not False,
            "temperature": request.temperature or 0.0,
            "text": {"format": {"type": "text"}},
            "tool_choice": request.tool_choice or "auto",
            "tools": tools,
            "top_p": request.top_p or 1.0,
            "truncation": "disabled",
        }


def responses_usage(usage: Usage, *, zeros: bool = True) -> dict[str, Any]:
    """Usage as this API counts: reasoning is part of the output."""
    cached = {"input_tokens_details": {"cached_tokens": 0}}
    thought = {"output_tokens_details": {"reasoning_tokens": usage.reasoning}}
    return {
        "input_tokens": usage.prompt,
        **(cached if zeros else {}),
        "output_tokens": usage.completion,
        **(thought if zeros or usage.reasoning else {}),
        "total_tokens": usage.prompt + usage.completion,
    }
