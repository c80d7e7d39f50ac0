"""The sample application as an agent that speaks ACP on its standard streams.

It does everything right, except the faults that are named on its command line. These are none:
`titles` asks its model for a title, too; `coding` has the tools of such an agent, and no
calculator; `news` reports on a session that the client left when another one has begun.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, Literal

import httpx

from tests.fakes.application import METADATA, Application, Fault, Part

AgentFault = Literal[
    "answered-twice",
    "cancel-unanswered",
    "cancelled-as-done",
    "diagnostic",
    "forgotten-signature",
    "late-update",
    "log-line",
    "lost-thoughts",
    "no-session",
    "own-stop-reason",
    "stopped-words",
    "success-after-cut",
    "thoughts-as-message",
]
DIAGNOSTIC: Final = "Defaulting to fallback metadata; this can degrade performance."
STOPPED: Final = "Interrupted by the user."
_CHUNKS: Final = {"reasoning-delta": "agent_thought_chunk", "text-delta": "agent_message_chunk"}
_FILE: Final = {"path": {"type": "string"}}
CODING: Final[tuple[Part, ...]] = tuple(
    {"name": name, "input_schema": {"type": "object", "properties": _FILE, "required": ["path"]}}
    for name in ("delete_file", "read_file", "write_file")
)
_REASONS: Final = {"length": "max_tokens"}
_STATUS: Final = {"tool-input-available": "in_progress", "tool-output-available": "completed"}


@dataclass
class AcpSession:
    """What was said in it, as messages of a user interface."""

    messages: list[Part] = field(default_factory=list)
    turn: asyncio.Task[None] | None = None


@dataclass
class AcpAgent:
    """The agent's side of the protocol."""

    application: Application
    faults: frozenset[str]
    sessions: dict[str, AcpSession] = field(default_factory=dict)

    def write(self, message: Part) -> None:
        _write_line(json.dumps({"jsonrpc": "2.0", **message}))

    async def take(self, message: Part) -> None:
        method, params = message.get("method"), message.get("params", {})
        if method == "initialize":
            self.write({"id": message["id"], "result": {"protocolVersion": 1}})
        elif method == "session/new":
            name = f"session-{len(self.sessions) + 1}"
            self.sessions[name] = AcpSession()
            self.write({"id": message["id"], "result": {"sessionId": name}})
            if "news" in self.faults and len(self.sessions) > 1:
                left = {"sessionId": f"session-{len(self.sessions) - 1}"}
                self.update(left, "available_commands_update", availableCommands=[])
        elif method == "session/prompt":
            session = self.sessions.get(params["sessionId"])
            if session is None:
                self.write({"id": message["id"], "error": {"code": -32602, "message": "unknown"}})
                return
            session.turn = asyncio.create_task(self.answer(session, message["id"], params))
        elif method == "session/cancel":
            turn = self.sessions[params["sessionId"]].turn
            assert turn is not None
            turn.cancel()

    async def name_session(self, question: str) -> None:
        """Asks the model for a title, which is no part of the turn."""
        words = f"Write a title for: {question}"
        asked = {"model": "think-1", "max_tokens": 99, "stream": True}
        body = {**asked, "messages": [{"role": "user", "content": words}]}
        async with httpx.AsyncClient(verify=False) as client:
            await client.post(f"{self.application.upstream}/v1/messages", json=body)

    async def answer(self, session: AcpSession, number: int, params: Part) -> None:
        asked = {"role": "user", "parts": params["prompt"]}
        shown: list[Part] = []
        error, reason = "", "end_turn"
        if "diagnostic" in self.faults:
            self.update(params, "agent_message_chunk", {"type": "text", "text": DIAGNOSTIC})
        if "titles" in self.faults:
            await self.name_session(params["prompt"][0]["text"])
        try:
            async for part in self.application.answer({"messages": [*session.messages, asked]}):
                if isinstance(part, dict):
                    error = part.get("errorText", error)
                    reason = _REASONS.get(part.get("finishReason", ""), reason)
                    _collect(shown, part)
                    self.tell(params, part)
            session.messages += [asked, {"role": "assistant", "parts": self.remembered(shown)}]
        except asyncio.CancelledError:
            if "cancel-unanswered" in self.faults:
                return
            reason = self.cancelled(params)
        if error and "success-after-cut" not in self.faults:
            self.write({"id": number, "error": {"code": -32603, "message": error}})
            return
        reason = "stop" if "own-stop-reason" in self.faults else reason
        for _ in range(2 if "answered-twice" in self.faults else 1):
            self.write({"id": number, "result": {"stopReason": reason}})
        if "late-update" in self.faults:
            self.update(params, "plan", entries=[])

    def cancelled(self, params: Part) -> str:
        if "stopped-words" in self.faults:
            self.update(params, "agent_message_chunk", {"type": "text", "text": STOPPED})
        return "end_turn" if "cancelled-as-done" in self.faults else "cancelled"

    def tell(self, params: Part, part: Part) -> None:
        kind = part["type"]
        if (chunk := _CHUNKS.get(kind)) and part["delta"]:
            if kind == "reasoning-delta" and "lost-thoughts" in self.faults:
                return
            if "thoughts-as-message" in self.faults:
                chunk = "agent_message_chunk"
            if "log-line" in self.faults:
                _write_line("[agent] a chunk")
            self.update(params, chunk, {"type": "text", "text": part["delta"]})
        elif kind == "tool-input-start":
            call = {"toolCallId": part["toolCallId"], "title": "Works something out"}
            self.update(params, "tool_call", status="pending", **call)
        elif kind in _STATUS:
            news = {"toolCallId": part["toolCallId"], "status": _STATUS[kind]}
            given = {"rawInput": part["input"]} if "input" in part else {}
            self.update(params, "tool_call_update", **news, **given)

    def update(self, params: Part, kind: str, content: Part | None = None, **more: object) -> None:
        body = {"sessionUpdate": kind, **({"content": content} if content else {}), **more}
        session = {} if "no-session" in self.faults else {"sessionId": params["sessionId"]}
        self.write({"method": "session/update", "params": {**session, "update": body}})

    def remembered(self, shown: list[Part]) -> list[Part]:
        if "forgotten-signature" not in self.faults:
            return shown
        return [part for part in shown if part["type"] != "reasoning"]


def _write_line(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def _collect(shown: list[Part], part: Part) -> None:
    """Adds a part of the stream to those of the message."""
    kind, _, what = part["type"].partition("-")
    if kind in ("reasoning", "text"):
        if what == "start":
            shown.append({"type": kind, "text": ""})
        shown[-1]["text"] += part.get("delta", "")
        shown[-1] |= {METADATA: part[METADATA]} if METADATA in part else {}
    elif part["type"] == "tool-input-available":
        call = {"toolCallId": part["toolCallId"], "input": part["input"]}
        shown.append({"type": f"tool-{part['toolName']}", **call})
    elif part["type"] == "tool-output-available":
        shown[_call_at(shown, part["toolCallId"])]["output"] = part["output"]


def _call_at(shown: list[Part], call_id: str) -> int:
    return next(at for at, each in enumerate(shown) if each.get("toolCallId") == call_id)


def _lines() -> Iterator[bytes]:
    yield from sys.stdin.buffer


async def main(faults: frozenset[str]) -> None:
    inner: frozenset[Fault] = frozenset(
        {"success-after-cut"} if "success-after-cut" in faults else ()
    )
    application = Application(os.environ["ANTHROPIC_BASE_URL"], inner)
    if "coding" in faults:
        application.tools = CODING
    agent = AcpAgent(application, faults)
    lines = _lines()
    while line := await asyncio.to_thread(next, lines, b""):
        await agent.take(json.loads(line))


if __name__ == "__main__":
    asyncio.run(main(frozenset(sys.argv[1:])))
