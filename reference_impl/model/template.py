"""The chat template with the markers of a variant in front."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

from .markers import VariantMarkers

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
