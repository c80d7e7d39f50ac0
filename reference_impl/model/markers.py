"""How the variants of the model begin and end their thinking.

The two tokens have the same ids in every variant; only what they are called differs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class VariantMarkers:
    """The texts of the two tokens. A special token is left out when text is decoded for people."""

    opener: str
    closer: str
    is_special: bool = False
    opened_by_prompt: bool = False


VARIANTS: Final = {
    "think": VariantMarkers("<think>", "</think>"),
    "bracket": VariantMarkers("[THINK]", "[/THINK]", is_special=True),
    # No token says where thinking ends: what the model works out is part of its text.
    "plain": VariantMarkers("Working: ", "\nAnswer: "),
    "prompt-opened": VariantMarkers("<think>", "</think>", opened_by_prompt=True),
}
