"""What the server was started with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

from reference_impl.server.engine import Generates

ChatReasoning = Literal["strip", "wrap", "reasoning_content", "reasoning"]
SummaryStyle = Literal["auto", "concise", "detailed"]
SummaryCarrier = Literal["events", "item_done", "none"]
SummaryFailure = Literal["failed", "empty"]
MessagesThinking = Literal["shown", "redacted"]
MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Settings:
    """Choices of the command line; `max_body` is in bytes.

    The opt-in to see thinking in Chat Completions is the header `include_header`, or, where it is
    not empty, the field `include_field` of the request. `model_name` is what the model is called,
    empty for the name that the engine gives it.
    """

    model_name: str = ""
    api_key: str = ""
    chat_reasoning: ChatReasoning = "strip"
    include_header: str = "x-include-thinking"
    include_field: str = ""
    summary_carrier: SummaryCarrier = "events"
    summary_failure: SummaryFailure = "failed"
    messages_thinking: MessagesThinking = "shown"
    max_body: int = 4 * MIB


class Model(Generates, Protocol):
    """An engine that can say which model it runs."""

    @property
    def model_id(self) -> str: ...

    @property
    def context(self) -> int: ...
