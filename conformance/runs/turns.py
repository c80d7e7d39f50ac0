"""The next turn of a conversation: the history, the answer as it came, and what follows.

Answers go back as they were received, whatever holds them: a field next to the text, typed blocks
or items. A server's payload is a stranger's: what has not the shape of its API is left out.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from conformance.dialects import get, required
from conformance.dialects.requests import Continuation
from conformance.judging.transcript import Transcript
from conformance.scenarios import Carry

MOST_CHARACTERS: Final = 4 * 1024 * 1024  # of a history that is sent back

_NOT_RUN: Final = "This tool was not run."
"""What goes back for a call that the scenario does not answer: APIs refuse one without a result."""


def next_turns(
    dialect: str, answer: Transcript, sent: Mapping[str, Any], carry: Carry
) -> list[Any] | None:
    """The history after an answer to the request body `sent`; None if nothing was answered.

    `answer` has the wire events. None too where tools were to be answered and none was called, and
    where it grew too long.
    """
    form = required(get(dialect).request, dialect, "request bodies")
    if not (answer.text or answer.tools or answer.thought):
        return None
    if carry.results and not answer.own_tools:
        return None
    after = Continuation(
        request=sent,
        events=answer.events,
        thinking="".join(answer.thinking),
        text="".join(answer.text),
        tools=answer.tools,
        keeps_thinking=carry.reasoning == "kept",
        results=carry.results or ((_NOT_RUN,) if answer.own_tools else ()),
        question=carry.ask,
    )
    return _make_sendable(form.next_turns(after))


def response_id(dialect: str, answer: Transcript) -> str:
    """The id by which the answer can be named in a later request; empty if it has none.

    `answer` has the wire events.
    """
    form = required(get(dialect).request, dialect, "request bodies")
    return next(filter(None, map(form.answer_id, answer.events)), "")


def _make_sendable(history: list[Any]) -> list[Any] | None:
    """The history in characters that UTF-8 has: halves of pairs joined, or replaced."""
    text = json.dumps(history, ensure_ascii=False)
    if len(text) > MOST_CHARACTERS:
        return None
    whole = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    sendable: list[Any] = json.loads(whole)
    return sendable
