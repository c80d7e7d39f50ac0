"""The response object, which opens and closes a stream and is the body without one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from .engine import Usage
from .responses_request import ResponsesRequest


@dataclass(frozen=True, slots=True)
class Resource:
    """What does not change while a response is made.

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
        """What was asked for, with what holds where nothing was."""
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
