"""Connections with several answers that keep the rules: runs of AG-UI, turns of agents."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain, count
from typing import Any, Final

from tests.authoring import acp, agui, claude, codex, codex_server
from tests.authoring.draft import Draft, output_draft, stream_draft
from tests.authoring.messages import text, thinking
from tests.authoring.pieces import Fields, Line, Message, compact

TIDE: Final = "The moon pulls the water, and the earth turns below the bulge."
TIDE_TEXT: Final = "Because of the moon."
USAGE: Final = (12, 40, 24)
TWO: Final = "two-turns"
THREE: Final = "three-turns"
BOTH: Final = "two-turns-of-both-sides"


def drafts() -> Iterator[Draft]:
    for turns, topic in ((2, TWO), (3, THREE)):
        numbers = range(1, turns + 1)
        agent = chain.from_iterable(_acp_turn(n) for n in numbers)
        yield output_draft(f"agent/{topic}", agent, dialect="acp")
        runs = chain.from_iterable(_agui_run(n) for n in numbers)
        yield stream_draft(f"agent/{topic}", {}, runs, dialect="agui", path="")
        yield output_draft(f"codex/{topic}", _codex_lines(numbers), dialect="codex.exec")
        server = chain.from_iterable(_server_turn(n) for n in numbers)
        yield output_draft(f"codex/{topic}", server, dialect="codex.app-server")
        yield output_draft(
            f"claude-code/{topic}", _claude_lines(numbers), dialect="claude.stream-json"
        )
    yield output_draft(f"agent/{BOTH}", _acp_session(), dialect="acp")


def _acp_turn(number: int) -> Iterator[Line]:
    """What the agent says in a turn."""
    yield from acp.chunks("thought", TIDE)
    yield from acp.chunks("message", TIDE_TEXT)
    yield acp.answered(1 + number, stopReason="end_turn")


def _acp_session() -> Iterator[Line]:
    """What both sides say, from the handshake on."""
    yield acp.request("initialize", 0, protocolVersion=1, clientCapabilities={})
    yield acp.answered(0, protocolVersion=1, agentCapabilities={})
    yield acp.request("session/new", 1, cwd="/project", mcpServers=[])
    yield acp.answered(1, sessionId=acp.SESSION)
    for number in (1, 2):
        asked = acp.prompt("Why does the sea rise?")
        yield replace(asked, payload={**asked.payload, "id": 1 + number})
        yield from _acp_turn(number)


def _agui_run(number: int) -> Iterator[Message]:
    shown = [agui.span("r1", agui.thought("r1", TIDE)), agui.text("t1", TIDE_TEXT)]
    return _renamed(agui.run(shown), number, "run-1", "r1", "t1")


def _codex_lines(numbers: Iterable[int]) -> Iterator[Line]:
    items = count(1)
    for number in numbers:
        thought = codex.item(next(items), "reasoning", text=f"**Looking at tides**\n\n{TIDE}")
        events = codex.item(next(items), "agent_message", text=TIDE_TEXT)
        whole = codex.run([thought, events])
        yield from whole if number == 1 else whole[2:]


def _server_turn(number: int) -> Iterator[Line]:
    """A turn whose tokens are counted on."""
    events = [codex_server.summarised("thought-1", TIDE), codex_server.message("said-1", TIDE_TEXT)]
    for each in _renamed(codex_server.turn(events), number, "turn-1", "thought-1", "said-1"):
        usage = each.payload.get("params", {}).get("tokenUsage")
        if usage is not None:
            usage["total"] = {name: tokens * number for name, tokens in usage["total"].items()}
        yield each


def _claude_lines(numbers: Iterable[int]) -> Iterator[Line]:
    blocks = [thinking(0, TIDE), text(1, TIDE_TEXT)]
    for number in numbers:
        events = claude.events(f"msg_0{number}", blocks, USAGE)
        for each in claude.run(events, said=TIDE_TEXT, usage=USAGE):
            yield replace(
                each, payload={**each.payload, "uuid": f"{number}-{each.payload['uuid']}"}
            )


def _renamed(pieces: Iterable[Any], number: int, *names: str) -> Iterator[Any]:
    """The pieces with the number of the turn in each of these ids."""
    for piece in pieces:
        written = compact(piece.payload)
        for name in names:
            written = written.replace(f'"{name}"', f'"{name}-{number}"')
        payload: Fields = json.loads(written)
        yield replace(piece, payload=payload)
