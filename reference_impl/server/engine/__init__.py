"""The engine: token ids of a model become thinking, text and tool calls, many streams at once."""

from __future__ import annotations

from reference_impl.server.engine.api import Engine, Generates, Limits, Prompt, Stream
from reference_impl.server.engine.errors import EngineError, PromptError, PromptTooLong
from reference_impl.server.engine.events import (
    EngineEvent,
    Finish,
    ReasoningDelta,
    Start,
    TextDelta,
    ToolCall,
    Usage,
)
from reference_impl.server.engine.markers import Markers

__all__ = [
    "Engine",
    "EngineError",
    "EngineEvent",
    "Finish",
    "Generates",
    "Limits",
    "Markers",
    "Prompt",
    "PromptError",
    "PromptTooLong",
    "ReasoningDelta",
    "Start",
    "Stream",
    "TextDelta",
    "ToolCall",
    "Usage",
]
