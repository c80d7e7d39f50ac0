"""How Claude Code is asked on its command line: a process a turn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from conformance.dialects.agent import AgentForm, Message, agent_request, asked_text, user_turn
from conformance.dialects.json_edge import string

_TURN: Final = "messages"
_SESSION: Final = "session_id"
_OPTIONS: Final = ("--output-format", "stream-json", "--verbose", "--include-partial-messages")


def _words(body: Message, model: str, folder: str) -> Sequence[str]:
    session = string(body.get(_SESSION))
    carried = ("--resume", session) if session else ()
    chosen = ("--add-dir", folder, "--model", model)
    return ("-p", asked_text(body, _TURN), *_OPTIONS, *chosen, *carried)


AGENT: Final = AgentForm(_words)
REQUEST: Final = agent_request(_TURN, _SESSION, user_turn)
