"""How the variants of the model begin and end their thinking.

The two tokens have the same ids in every variant; only what they are called differs.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
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


TEMPLATE_FILE: Final = "chat_template.jinja"


def template(markers: VariantMarkers) -> str:
    """Give the Jinja text: three lines that name the markers, then what all variants share."""
    values = {
        "opener": json.dumps(markers.opener),
        "closer": json.dumps(markers.closer),
        "opens": json.dumps(markers.opened_by_prompt),
    }
    lines = [f"{{%- set {name} = {value} %}}\n" for name, value in values.items()]
    return "".join(lines) + Path(__file__).with_name(TEMPLATE_FILE).read_text(encoding="utf-8")
