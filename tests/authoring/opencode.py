"""Lines of `opencode run --format json`, one by one; `run` numbers their parts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from tests.authoring.pieces import Fields, Line

SESSION: Final = "ses_synthetic0001"
BEGUN: Final = 1767600000000  # milliseconds; every line is one hundred later


def thought(text: str) -> Fields:
    return {"type": "reasoning", "text": text}


def text_part(text: str) -> Fields:
    return {"type": "text", "text": text}


def tool(call: str, name: str, asked: Fields, output: str) -> Fields:
    """A call that was carried out."""
    done = {"status": "completed", "input": asked, "output": output, "title": "", "metadata": {}}
    return {"type": "tool", "tool": name, "callID": call, "state": done}


def failed_tool(call: str, name: str, asked: Fields, why: str) -> Fields:
    state = {"status": "error", "input": asked, "error": why}
    return {"type": "tool", "tool": name, "callID": call, "state": state}


def step(parts: Iterable[Fields], reason: str = "stop", reasoning: int = 0) -> list[Fields]:
    """A step that is finished."""
    cache = {"read": 0, "write": 0}
    tokens = {"total": 60 + reasoning, "input": 40, "output": 20, "reasoning": reasoning}
    end = {"reason": reason, "tokens": {**tokens, "cache": cache}, "cost": 0}
    return [*begun(parts), {"type": "step-finish", **end}]


def begun(parts: Iterable[Fields]) -> list[Fields]:
    """A step without its end."""
    return [{"type": "step-start"}, *parts]


def failure(name: str, message: str, **data: Any) -> Fields:
    return {"type": "error", "error": {"name": name, "data": {"message": message, **data}}}


def run(lines: Iterable[Fields], *, first: int = 0, session: str = SESSION) -> list[Line]:
    """The lines of a run, and behind the `first` ones of the session: those before them."""
    made, message = [], first
    for number, fields in enumerate(lines, first):
        at = BEGUN + 100 * number
        message = number if fields["type"] == "step-start" else message
        whole: Fields = {"type": fields["type"], "timestamp": at, "sessionID": session}
        if fields["type"] in ("error", "done"):
            made.append(Line({**whole, **fields}))
            continue
        whole["type"] = fields["type"].replace("-", "_").replace("tool", "tool_use")
        named = {"id": f"prt_{number}", "messageID": f"msg_{message}", "sessionID": session}
        made.append(Line({**whole, "part": {**named, **_timed(fields, at)}}))
    return made


def _timed(fields: Fields, at: int) -> Fields:
    time = {"time": {"start": at - 90, "end": at - 10}}
    if fields["type"] == "tool":
        return {**fields, "state": {**fields["state"], **time}}
    return {**fields, **time} if fields["type"] in ("text", "reasoning") else fields
