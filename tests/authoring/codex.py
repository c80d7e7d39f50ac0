"""Lines of `codex exec --json`, one by one; `run` adds the thread and the turn."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from tests.authoring.pieces import Fields, Line

THREAD: Final = "thread-1"
USAGE: Final[Fields] = {
    "input_tokens": 40,
    "cached_input_tokens": 0,
    "output_tokens": 30,
    "reasoning_output_tokens": 18,
}


def item(number: int, kind: str, *, what: str = "completed", **fields: Any) -> Fields:
    return {"type": f"item.{what}", "item": {"id": f"item_{number}", "type": kind, **fields}}


def diagnostic() -> Fields:
    """A warning at the start, before the turn."""
    return item(0, "error", message="The model is not known; defaults are taken.")


def command(number: int, text: str, output: str) -> list[Fields]:
    """A command that is run, from its start to its end."""
    begun: Fields = {
        "command": text,
        "aggregated_output": "",
        "exit_code": None,
        "status": "in_progress",
    }
    ended: Fields = {"aggregated_output": output, "exit_code": 0, "status": "completed"}
    kind = "command_execution"
    return [item(number, kind, what="started", **begun), item(number, kind, **{**begun, **ended})]


def failed(message: str) -> list[Fields]:
    return [
        {"type": "error", "message": message},
        {"type": "turn.failed", "error": {"message": message}},
    ]


def run(items: Iterable[Fields], ending: Iterable[Fields] = ()) -> list[Line]:
    """A whole run; without an ending its turn is completed."""
    begun = [{"type": "thread.started", "thread_id": THREAD}, diagnostic()]
    over = list(ending) or [{"type": "turn.completed", "usage": USAGE}]
    return list(map(Line, [*begun, {"type": "turn.started"}, *items, *over]))
