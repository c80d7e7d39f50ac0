"""The engine: token ids of a model become thinking, text and tool calls, many streams at once."""

from __future__ import annotations

from .api import Engine, Model
from .events import (
    EngineError,
    EngineEvent,
    Finish,
    Limits,
    Prompt,
    PromptError,
    PromptTooLong,
    ReasoningDelta,
    Start,
    Stream,
    TextDelta,
    ToolCall,
    Usage,
)
from .markers import Markers

__all__ = [
    "Engine",
    "EngineError",
    "EngineEvent",
    "Finish",
    "Limits",
    "Markers",
    "Model",
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
