"""Calls of tools on both hops of an application: which ones, with which input.

Rule 1: the input that is written in pieces is the model's own, key by key.
Rule 2: the input that is stated whole, and runs, may have more than the model wrote (defaults of
        the tool's schema) and the same values in other types. What the model wrote is not altered.
Rule 3: where the interface has titles for calls and no names, inputs are compared where they have
        the keys that the model wrote: an agent may show what it made of a call.
Rule 4: the call whose argument is shown as the text need not be shown as a call.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from conformance.evidence.answering_calls import answering_call
from conformance.evidence.hop_sides import (
    ApplicationHops,
    Compared,
    HopDifference,
    difference_at,
    first_other,
)
from conformance.evidence.side_content import SidePart


def tools(hops: ApplicationHops) -> Compared:
    if hops.need_not_show("tool"):
        return False
    made, sent = hops.made.of("tool"), hops.sent.of("tool")
    if len(sent) < len(made) and (own := answering_call(hops)) is not None:
        made = [each for each in made if each is not own]
    if not hops.are_whole:
        sent = sent[:-1]  # the last call may lack some of its arguments
    named = _call if hops.shown.dialect.names_tools else (lambda _: "a call")
    got = [named(each) for each in sent]
    wanted = [named(each) for each in made]
    if _are_sent(made, wanted, got, in_part=not hops.are_whole):
        pairs = _paired_calls(list(zip(made, wanted, strict=True)), sent, got)
        return next(_altered_inputs(hops, pairs), bool(got))
    made = [each for each in made if not each.is_hosted or named(each) in got]
    wanted = [named(each) for each in made]
    at = first_other(wanted, got)
    had, has = (side[at] if at < len(side) else "none" for side in (wanted, got))
    return difference_at(hops, f"expected {had}, got {has} as call {at}", made[at:], sent[at:])


def _are_sent(
    made: Sequence[SidePart], wanted: Sequence[str], got: Sequence[str], *, in_part: bool
) -> bool:
    """Whether the calls sent are those of the model; hosted ones may be missing."""
    reached = {0}  # how many of the sent calls are accounted for
    for call, name in zip(made, wanted, strict=True):
        if in_part and len(got) in reached:
            break
        onward = {at + 1 for at in reached if at < len(got) and got[at] == name}
        reached = onward | reached if call.is_hosted else onward
    return len(got) in reached


def _paired_calls(
    made: Sequence[tuple[SidePart, str]], sent: Sequence[SidePart], got: Sequence[str]
) -> Iterator[tuple[SidePart, SidePart]]:
    """Each call that was sent, with the model's own."""
    calls = iter(made)
    for part, name in zip(sent, got, strict=True):
        if (own := next((call for call, wanted in calls if wanted == name), None)) is not None:
            yield own, part


def _altered_inputs(
    hops: ApplicationHops, pairs: Iterable[tuple[SidePart, SidePart]]
) -> Iterator[HopDifference]:
    """Rules 2 and 3."""
    for own, part in pairs:
        made, shown = value_of(own.call[1]), value_of(part.stated)
        is_shown = hops.shown.dialect.names_tools or _keys(made) == _keys(shown) != set()
        if made is None or shown is None or not is_shown:
            continue
        request = hops.calls[own.start.answer].exchange.request
        offered = "" if request is None or request.json is None else json.dumps(request.json)
        if alters(made, shown, offered):
            message = f"expected input {own.call[1]} of {own.call[0]}, got {part.stated}"
            yield HopDifference(message, own.end or own.start, part.end or part.start)


def value_of(arguments: str) -> Any:
    """Arguments as a value; None where they are no JSON."""
    try:
        return json.loads(arguments)
    except (ValueError, RecursionError):
        return None


def _keys(value: Any) -> set[str]:
    return set(value) if isinstance(value, dict) else set()


def alters(made: Any, shown: Any, offered: str) -> bool:
    """Whether what the model wrote is lost or has another value; `offered` is what it was offered.

    What no schema of a tool has may be left out.
    """
    if isinstance(made, dict) and isinstance(shown, dict):
        lost = [key for key, value in made.items() if key not in shown and value is not None]
        return any(not offered or json.dumps(key) in offered for key in lost) or any(
            alters(value, shown[key], offered) for key, value in made.items() if key in shown
        )
    if isinstance(made, list) and isinstance(shown, list):
        pairs = zip(made, shown, strict=False)
        return len(made) != len(shown) or any(alters(one, two, offered) for one, two in pairs)
    return made != shown and str(made).lower() != str(shown).lower()


def _call(part: SidePart) -> str:
    name, arguments = part.call
    try:
        return f"{name}({json.dumps(json.loads(arguments), sort_keys=True)})"
    except (ValueError, RecursionError):
        return f"{name}({arguments})"
