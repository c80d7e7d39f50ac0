"""How a request, or an application, altered what a model had given: one cause alters in one way.

Read from the message of a finding, so that two causes in two streams stay two groups.
"""

from __future__ import annotations

import re
from typing import Final

from conformance.judging.result import Finding

_LONGEST: Final = 2000  # characters of a message that are looked at
_LOST: Final = re.compile(
    r"sends nothing of it back|back without it|, got it nowhere|: expected a value, got nothing$"
)
_OTHER: Final = re.compile(r" gave '(.*)', but .* sends back '(.*)' \(they differ at (.*)\)")
_PLACE: Final = re.compile(r"character (\d+)")


def alteration(finding: Finding) -> str:
    """`lost`, `cut` at its end, `longer` at its end, `begins otherwise`, `differs`; else empty."""
    message = finding.message[:_LONGEST]
    if _LOST.search(message):
        return "lost"
    found = _OTHER.search(message)
    if found is None:
        return ""
    gave, back, at = found.groups()
    if gave.startswith(back):
        return "cut"
    if back.startswith(gave):
        return "longer"
    place = _PLACE.search(at)
    return "begins otherwise" if place is not None and place[1] == "0" else "differs"
