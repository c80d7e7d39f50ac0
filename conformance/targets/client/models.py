"""Names of models for cases that hang on the model: of those that a profile's pattern tells apart.

A pattern cannot be asked for a name that it matches, so well-known names are tried.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from conformance.profiles.profile import Profile
from conformance.rules.patterns import regex

ANY: Final = "m"
_KNOWN: Final = (
    *(ANY, "gpt-5", "gpt-4o", "claude-sonnet-4-5", "claude-opus-4-6", "claude-3-5-haiku"),
    *("o3", "o4-mini", "gemini-2.5-pro", "deepseek-reasoner", "deepseek/deepseek-reasoner"),
    *("deepseek-r1", "kimi-k2-thinking", "kimi-k3", "minimax-m2", "openrouter/minimax-m2"),
    *("glm-4.6", "qwen3", "gpt-oss-20b"),
)


def matching(profile: Profile, knob: str) -> Iterator[str]:
    """Known names that the pattern of a knob matches; none where the dialect has no such knob."""
    yield from _told_apart(profile, knob, matches=True)


def differing(profile: Profile, knob: str) -> Iterator[str]:
    """Known names that it does not match."""
    yield from _told_apart(profile, knob, matches=False)


def _told_apart(profile: Profile, knob: str, *, matches: bool) -> Iterator[str]:
    if knob not in profile.knobs:
        return
    fits = regex(profile.knobs[knob])
    yield from (name for name in _KNOWN if fits(name) is matches)
