"""The lines of `codex exec --json`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from conformance.dialects.agent import AgentForm, Message, agent_request, user_text
from conformance.dialects.base import Dialect, facets
from conformance.dialects.codex_exec.reader import ExecReader
from conformance.dialects.json_edge import string
from conformance.dialects.wire_keys import AnswerBounds, WireKeys

_TURN: Final = "input"
_THREAD: Final = "thread_id"
_OPTIONS: Final = ("--json", "--skip-git-repo-check")


def _words(body: Message, _model: str, folder: str) -> Sequence[str]:
    text = user_text(body, _TURN)
    if thread := string(body.get(_THREAD)):
        return ("exec", "resume", *_OPTIONS, thread, text)
    return ("exec", *_OPTIONS, "--sandbox", "read-only", "--cd", folder, text)


DIALECT: Final = Dialect(
    **facets(__name__),
    reader=ExecReader,
    framing="lines",
    keys=WireKeys(
        texts=("text",),
        shown=("text",),
        words=("type", "status"),
        free=("arguments", "aggregated_output"),
    ),
    bounds=AnswerBounds(
        first=frozenset({"turn.started"}),
        once=frozenset({"turn.started"}),
        last=frozenset({"turn.completed", "turn.failed"}),
    ),
    request=agent_request(_TURN, _THREAD),
    is_application=True,
    agent=AgentForm(_words),
    carries_opaque=False,
    names_tools=False,
    tells_parts=False,
    unit="turn",
    tells_reasons=False,
)
