"""Messages of the Agent Client Protocol, one by one."""

from __future__ import annotations

from typing import Any, Final

from tests.authoring.pieces import Line, deltas

SESSION: Final = "session-1"


def message(**fields: Any) -> Line:
    return Line({"jsonrpc": "2.0", **fields})


def update(kind: str, session: str = SESSION, **fields: Any) -> Line:
    """News of a session."""
    params = {"sessionId": session, "update": {"sessionUpdate": kind, **fields}}
    return message(method="session/update", params=params)


def chunks(kind: str, text: str, message_id: str = "", session: str = SESSION) -> list[Line]:
    """A thought or a message, piece by piece."""
    named = {"messageId": message_id} if message_id else {}
    contents = [{"type": "text", "text": piece} for piece in deltas(text)]
    return [update(f"agent_{kind}_chunk", session, content=block, **named) for block in contents]


def request(method: str, number: int, **params: Any) -> Line:
    """A request."""
    return message(id=number, method=method, params=params)


def answered(number: int, **result: Any) -> Line:
    """A response."""
    return message(id=number, result=result)


def prompt(text: str, number: int = 2, session: str = SESSION) -> Line:
    """What the user asks."""
    content = [{"type": "text", "text": text}]
    return request("session/prompt", number, sessionId=session, prompt=content)


def cancel() -> Line:
    """What the user takes back."""
    return message(method="session/cancel", params={"sessionId": SESSION})


def stopped(reason: str = "end_turn") -> Line:
    """The end of the turn."""
    return answered(2, stopReason=reason)


def failed(text: str) -> Line:
    """The end of a turn that failed."""
    return message(id=2, error={"code": -32603, "message": text})
