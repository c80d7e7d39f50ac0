"""Whose model is played: which fields the provider package reads that asks for it.

Packages read thinking where their provider puts it, so a played model that puts it elsewhere looks
like one that an application loses. Who asks is known by the path, the request's own keys, its
headers, or the name of the model, in this order; without any sign thinking is in
`reasoning_content`, which most packages read.

OpenAI shows no thinking in Chat Completions, so a model named as one of its own is not played with
any. That name counts only where the target chose it: a gateway is asked for the model that the user
of the toolkit named, and what it does with thinking is the question.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from msgspec import Struct

from conformance.core.errors import UsageError

_CHAT: Final = "openai.chat"
_AGENT: Final = "user-agent"
OPENAI_MODEL: Final = re.compile(r"(?:openai/)?(?:gpt-\d|o\d|codex|chatgpt)")
"""A model of OpenAI itself; gpt-oss is served by others, who show its thinking."""


class Persona(Struct, frozen=True):
    """A provider, and what it calls thinking in Chat Completions.

    `dialect` is another one that it speaks at that path, empty for Chat Completions. `thinking`
    are the keys that hold it, none where it is counted and not shown. The rest is what
    distinguishes who asks: pieces of the path, keys of the body, names of headers, words of the
    user agent, and the beginning of the model's name.
    """

    name: str
    dialect: str = ""
    thinking: tuple[str, ...] = ("reasoning_content",)
    paths: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    headers: tuple[str, ...] = ()
    agents: tuple[str, ...] = ()
    models: tuple[str, ...] = ()

    @property
    def hides(self) -> bool:
        """Whether it shows no thinking in Chat Completions."""
        return not self.thinking

    def hides_in(self, dialect: str) -> bool:
        """Whether its answers in that dialect show no thinking; other APIs have their own ways."""
        return self.hides and dialect == _CHAT

    def is_named(self, model: str) -> bool:
        """Whether the name of a model is a sign of it."""
        if self.name == "openai":
            return OPENAI_MODEL.match(model) is not None
        return model.startswith(self.models)


PLAIN: Final = Persona("plain")
PERSONAS: Final = (
    Persona(
        "openrouter",
        thinking=("reasoning", "reasoning_details"),
        paths=("/api/v1/",),
        keys=("reasoning", "include_reasoning", "usage"),
        headers=("http-referer", "x-title"),
        agents=("openrouter",),
    ),
    Persona(
        "groq",
        thinking=("reasoning",),
        paths=("/openai/v1/",),
        keys=("reasoning_format",),
        agents=("groq",),
    ),
    Persona("cerebras", thinking=("reasoning",), agents=("cerebras",)),
    Persona(
        "mistral",
        dialect="mistral.chat",
        keys=("prompt_mode", "random_seed", "safe_prompt"),
        agents=("mistral",),
        models=("mistral", "magistral", "ministral"),
    ),
    Persona("deepseek", agents=("deepseek",), models=("deepseek",)),
    Persona("moonshot", agents=("moonshot",), models=("kimi", "moonshot")),
    Persona("zai", agents=("zai", "zhipu"), models=("glm",)),
    Persona("openai", thinking=()),
    PLAIN,
)
NAMES: Final = tuple(each.name for each in PERSONAS)


def named_persona(name: str) -> Persona:
    """The persona of that name. Raises UsageError."""
    found = next((each for each in PERSONAS if each.name == name), None)
    if found is None:
        raise UsageError(f"no persona is called {name!r}", hint=f"one of {', '.join(NAMES)}")
    return found


def persona_of(
    path: str,
    headers: Sequence[tuple[str, str]],
    body: Mapping[str, Any],
    *,
    chose_model: bool = True,
) -> Persona:
    """The provider that the client expects, by the first sign of all.

    `chose_model`: the target named the model, not the user of the toolkit.
    """
    names = {name.lower() for name, _ in headers}
    agent = next((value.lower() for name, value in headers if name.lower() == _AGENT), "")
    model = str(body.get("model") or "").lower()

    def signs(who: Persona) -> list[bool]:
        return [
            any(piece in path for piece in who.paths),
            any(body.get(key) is not None for key in who.keys),
            not names.isdisjoint(who.headers),
            any(word in agent for word in who.agents),
            who.is_named(model) and (chose_model or not who.hides),
        ]

    shown = [(found.index(True), who) for who in PERSONAS if any(found := signs(who))]
    return min(shown, key=lambda each: each[0])[1] if shown else PLAIN
