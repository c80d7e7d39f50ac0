"""Calls of an application to its model that are none of the turn: titles, topics, suggestions.

They are told by the words of the user: a call of a turn ends with what the user said, or goes on
where the call before it broke off.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from conformance.dialects import HISTORIES, PROMPTS


def asks_question(body: Any, question: str) -> bool:
    """Whether the last turn of the user in a request is that question, maybe beside other texts."""
    turns = _user_turns(body)
    return bool(turns) and question.strip() in turns[-1]


def holds_question(body: Any, question: str) -> bool:
    """Whether any turn of the user in a request is that question."""
    return any(question.strip() in turn for turn in _user_turns(body))


def _user_turns(body: Any) -> list[list[str]]:
    """The texts of each turn of the user that has any."""
    given = [body[key] for key in (*PROMPTS, *HISTORIES) if key in body] if _is_fields(body) else []
    turns = [list(_content_texts(each)) for history in given for each in _turns(history)]
    return [turn for turn in turns if turn]


def _turns(history: Any) -> Iterator[Any]:
    if isinstance(history, str):
        yield history
    for turn in history if isinstance(history, list) else ():
        if _is_fields(turn) and turn.get("role") == "user":
            yield turn.get("content", turn.get("parts"))


def _content_texts(content: Any) -> Iterator[str]:
    if isinstance(content, str):
        yield content.strip()
    for part in content if isinstance(content, list) else ():
        text = part.get("text") if _is_fields(part) else None
        if isinstance(text, str):
            yield text.strip()


def _is_fields(value: Any) -> bool:
    return isinstance(value, Mapping)
