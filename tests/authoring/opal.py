"""Events of Opal's agent, one by one; `run` adds its start and its end."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from typing import Any, Final

from tests.authoring.pieces import Fields, Line, deltas

SESSION: Final = "session-1"
USAGE: Final[Fields] = {"prompt_tokens": 40, "completion_tokens": 30, "total_tokens": 70}


def event(kind: str, **fields: Any) -> Line:
    params = {"session_id": SESSION, "type": kind, **fields}
    return Line({"jsonrpc": "2.0", "method": "agent/event", "params": params})


def thinking(text: str) -> list[Line]:
    """A thought, from its announcement on."""
    events = [event("thinking_delta", delta=piece) for piece in deltas(text)]
    return [event("thinking_start"), *events]


def message(text: str) -> list[Line]:
    """What the user reads, and the end of the turn."""
    events = [event("message_delta", delta=piece) for piece in deltas(text)]
    return [event("message_start"), *events, event("turn_end", message=text)]


def tool(call_id: str, name: str, args: Fields, output: str) -> list[Line]:
    """A tool that runs, from its start to its end."""
    named = {"tool": name, "call_id": call_id}
    return [
        event("tool_start", **named, args=args, meta=name),
        event("tool_output", **named, chunk=output),
        event("tool_end", **named, result={"ok": True, "output": output}),
    ]


def run(parts: Iterable[list[Line]], over: Line | None = None) -> list[Line]:
    """A whole run; without an end of its own it ends well."""
    ended = over or event("agent_end", usage=USAGE)
    return [event("agent_start"), *chain.from_iterable(parts), ended]
