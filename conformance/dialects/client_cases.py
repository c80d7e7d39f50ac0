"""What tests a client of a dialect besides recordings: choices, whole messages, stored turns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from msgspec import Struct

from conformance.core.json_values import value_at

WholeMessage = Callable[[Mapping[str, Any]], Mapping[str, Any] | None]

# Gateways take each other's forms, so a client may write any of them.
# Where a level is stated that a server may refuse, and whatever else may hold one.
EFFORT_LEVELS: Final = ("reasoning_effort", "reasoning.effort", "output_config.effort")
EFFORT_PATHS: Final = (*EFFORT_LEVELS, "thinking")


class ScatteredThinking(Struct, frozen=True):
    """A message whose thinking is in several places, and all of it; `name` says where."""

    name: str
    message: Mapping[str, Any]
    thinking: str


class StoredTurns(Struct, frozen=True):
    """Turns as they may be on disk: `forms` of one turn, and `turns` to be stored.

    `text_key` and `thinking_key` are where a turn has its texts; `stored_text_key` is where a
    form has its text, besides `thinking_key`. `body` is the whole answer with a form.
    """

    forms: tuple[Mapping[str, Any], ...]
    turns: tuple[Mapping[str, Any], ...]
    text_key: str
    thinking_key: str
    stored_text_key: str
    body: Callable[[Mapping[str, Any]], Mapping[str, Any]]


class ClientCases(Struct, frozen=True):
    """What is known of a dialect's clients.

    `whole_message` is what a client keeps of a whole body, None where that is no answer.
    `effort_paths` may hold a level of effort in a request. `own_models` is how the names of the
    vendor's own models begin. `ends_calls`: an event says where a call is complete, so its place
    among texts is reported. `finishes_early`: a reason to finish may come before the end.
    """

    whole_message: WholeMessage
    effort_paths: tuple[str, ...] = EFFORT_PATHS
    own_models: str = ""
    ends_calls: bool = True
    finishes_early: bool = False
    scattered: tuple[ScatteredThinking, ...] = ()
    stored: StoredTurns | None = None


def message_at(*path: str | int) -> WholeMessage:
    """A body holds its message as the object at a path."""

    def whole_message(body: Mapping[str, Any]) -> Mapping[str, Any] | None:
        message = value_at(body, *path)
        return message if isinstance(message, dict) else None

    return whole_message


def listing(key: str) -> WholeMessage:
    """A body is its own message where it has a list under this key."""
    return lambda body: body if isinstance(body.get(key), list) else None
