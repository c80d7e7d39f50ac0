"""What a request body of a dialect looks like: its keys, and the styles that servers want."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final


@dataclass(frozen=True, slots=True)
class RequestStyle:
    """What is added to a request body, and what is called otherwise.

    Not every server takes `temperature` or `seed` (reasoning models of OpenAI refuse them), and
    the limit of an answer may have two names. The first request finds out, by being refused or not.
    """

    added: Mapping[str, Any] = field(default_factory=dict)
    renamed: Mapping[str, str] = field(default_factory=dict)

    def apply(self, body: Any) -> Any:
        """The body in this style; what a scenario says itself stays."""
        if not isinstance(body, Mapping) or not body:
            return body
        named = {self.renamed.get(key, key): value for key, value in body.items()}
        return {**named, **{key: v for key, v in self.added.items() if key not in named}}


PLAIN: Final = RequestStyle()


def asks_for_stream(body: Any) -> bool:
    """Whether a request wants a stream, where `stream` says so and nothing is a body."""
    return isinstance(body, Mapping) and body.get("stream") is True


@dataclass(frozen=True, slots=True)
class RequestForm:
    """The keys of a request body.

    `history` holds what was said before, `instructions` what a system prompt says beside it.
    `limits` are dotted paths that may hold the limit of output tokens. `styles` are tried in
    order. `streams` says whether a body asks for a stream. `previous` holds the id of an earlier
    answer that the request carries on; `answer_id` finds such an id in the first bytes of an
    answer's body.
    """

    history: str
    limits: tuple[str, ...]
    styles: tuple[RequestStyle, ...] = (PLAIN,)
    instructions: str = ""
    streams: Callable[[Any], bool] = asks_for_stream
    previous: str = ""
    answer_id: bytes = b""

    def limit(self, body: Any) -> int | None:
        """The limit of output tokens that a body states."""
        stated = (_at(body, path) for path in self.limits)
        found = next((each for each in stated if each is not None), None)
        return found if isinstance(found, int) else None


def _at(value: Any, path: str) -> Any:
    for step in path.split("."):
        value = value.get(step) if isinstance(value, Mapping) else None
    return value
