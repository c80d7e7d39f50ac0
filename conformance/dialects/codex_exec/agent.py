"""How Codex is asked on its command line: a process a turn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from conformance.dialects.agent import AgentForm, Message, agent_request, user_text
from conformance.dialects.json_edge import string

_TURN: Final = "input"
_THREAD: Final = "thread_id"
_OPTIONS: Final = ("--json", "--skip-git-repo-check")


def _words(body: Message, _model: str, folder: str) -> Sequence[str]:
    text = user_text(body, _TURN)
    if thread := string(body.get(_THREAD)):
        return ("exec", "resume", *_OPTIONS, thread, text)
    return ("exec", *_OPTIONS, "--sandbox", "read-only", "--cd", folder, text)


AGENT: Final = AgentForm(_words)
REQUEST: Final = agent_request(_TURN, _THREAD)
