"""The next turn of a conversation: what was said, the answer as it came, and what follows.

Answers go back as they were received, whatever holds them: a field beside the text, typed blocks
or items. A server's payload is a stranger's: what has not the shape of its API is left out.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from conformance.core.events import Exchange
from conformance.dialects import get, required
from conformance.dialects.base import Reading
from conformance.dialects.requests import Continuation
from conformance.judging.transcript import read_transcript
from conformance.scenarios import Carry

MOST_CHARACTERS: Final = 4 * 1024 * 1024  # of a history that is sent back


def next_turns(
    dialect: str, exchange: Exchange, sent: Mapping[str, Any], carry: Carry, reading: Reading
) -> list[Any] | None:
    """The history after an exchange whose request body was `sent`; None if it has no answer.

    None too where tools were to be answered and none was called, and where it grew too long.
    """
    form = required(get(dialect).request, dialect, "request bodies")
    answer = read_transcript(exchange, get(dialect), reading, keep="wire")
    if not (answer.text or answer.tools or answer.thought):
        return None
    if carry.result and not answer.tools:
        return None
    after = Continuation(
        request=sent,
        events=answer.events,
        thinking="".join(answer.thinking),
        text="".join(answer.text),
        tools=answer.tools,
        keeps_thinking=carry.reasoning == "kept",
        result=carry.result,
        question=carry.ask,
    )
    return _make_sendable(form.next_turns(after))


def response_id(exchange: Exchange, dialect: str, reading: Reading) -> str:
    """The id by which the answer can be named in a later request; empty if it has none."""
    form = required(get(dialect).request, dialect, "request bodies")
    events = read_transcript(exchange, get(dialect), reading, keep="wire").events
    named = map(form.answer_id, events)
    return next(filter(None, named), "")


def _make_sendable(history: list[Any]) -> list[Any] | None:
    """The history in characters that UTF-8 has: halves of pairs joined, or replaced."""
    text = json.dumps(history, ensure_ascii=False)
    if len(text) > MOST_CHARACTERS:
        return None
    whole = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    sendable: list[Any] = json.loads(whole)
    return sendable
