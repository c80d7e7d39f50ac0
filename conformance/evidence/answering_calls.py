"""Calls by which a model gives its answer.

Agents that want the answer in their own form offer a tool for it (`final_answer`, an output
tool), demand a call of it, and show one of its arguments as the text.
"""

from __future__ import annotations

from conformance.core.json_values import all_texts, decode_json
from conformance.evidence.hop_sides import ApplicationHops
from conformance.evidence.side_content import SidePart


def argument_texts(arguments: str) -> tuple[str, ...]:
    """The texts among the arguments of a call; none where they are no JSON."""
    return tuple(all_texts(decode_json(arguments)))


def answering_call(hops: ApplicationHops) -> SidePart | None:
    """The call of a model without any text whose argument is all of the text that is shown."""
    if hops.made.of("text"):
        return None
    shown = "".join(each.text for each in hops.sent.of("text")).strip()
    if not shown:
        return None
    calls = reversed(hops.made.of("tool"))
    return next((c for c in calls if shown in map(str.strip, argument_texts(c.call[1]))), None)
