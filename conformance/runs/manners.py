"""How a target wants to be asked: the name of the limit, and whether answers can be made steady.

Not every server takes `temperature` or `seed` (reasoning models of OpenAI refuse them), and the
limit of a chat has two names. The first request finds out, by being refused or not.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final


@dataclass(frozen=True, slots=True)
class RequestStyle:
    """What is added to a request body, and what is called otherwise."""

    added: Mapping[str, Any] = field(default_factory=dict)
    renamed: Mapping[str, str] = field(default_factory=dict)

    def dress(self, body: Any) -> Any:
        """The body in this manner; what a scenario says itself stays."""
        if not isinstance(body, Mapping) or not body:
            return body
        named = {self.renamed.get(key, key): value for key, value in body.items()}
        return {**named, **{key: v for key, v in self.added.items() if key not in named}}


_NEW_LIMIT: Final = {"max_tokens": "max_completion_tokens"}
_STEADY: Final = {"temperature": 0, "seed": 0}
PLAIN: Final = RequestStyle()
REQUEST_STYLES: Final[Mapping[str, tuple[RequestStyle, ...]]] = {
    "openai.chat": (
        RequestStyle(_STEADY),
        RequestStyle(_STEADY, _NEW_LIMIT),
        RequestStyle({}, _NEW_LIMIT),
        PLAIN,
    ),
    "openai.responses": (RequestStyle({"temperature": 0}), PLAIN),
    "anthropic.messages": (RequestStyle({"temperature": 0}), PLAIN),
}
"""By dialect, in the order in which they are tried."""
