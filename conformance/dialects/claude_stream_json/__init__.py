"""The stream of Claude Code, `--output-format stream-json`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from conformance.dialects.agent import AgentForm, Message, agent_request, user_text, user_turn
from conformance.dialects.base import Dialect, facets
from conformance.dialects.claude_stream_json.reader import StreamJsonReader
from conformance.dialects.claude_stream_json.wire_keys import RUN, line_id
from conformance.dialects.json_edge import string

_TURN: Final = "messages"
_SESSION: Final = "session_id"
_OPTIONS: Final = ("--output-format", "stream-json", "--include-partial-messages")


def _words(body: Message, model: str, folder: str) -> Sequence[str]:
    return (*_common_words(body, model), "--verbose", "--add-dir", folder)


def _qwen_words(body: Message, model: str, _folder: str) -> Sequence[str]:
    """Without a provider it asks on a terminal which one to take."""
    return (*_common_words(body, model), "--auth-type", "openai")


def _common_words(body: Message, model: str) -> Sequence[str]:
    session = string(body.get(_SESSION))
    carried = ("--resume", session) if session else ()
    return ("-p", user_text(body, _TURN), *_OPTIONS, "--model", model, *carried)


DIALECT: Final = Dialect(
    **facets(__name__, "wire_keys"),
    reader=StreamJsonReader,
    columns=RUN.columns(line_id, {"content_block_delta": "event"}),
    framing="lines",
    request=agent_request(_TURN, _SESSION, user_turn),
    is_application=True,
    agent=AgentForm(_words, words_of={"qwen": _qwen_words}),
    unit="turn",
    takes_back=frozenset({"message_start"}),
)
