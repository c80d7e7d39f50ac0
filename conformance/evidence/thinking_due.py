"""The provider's thinking as an application may show it.

Rule 1: where thinking comes twice, itself and as a summary, either will do; all of it is the rule.
Rule 2: where the application's protocol distinguishes no parts, there may be white space around
        them.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from conformance.evidence.side_content import SideContent, SidePart


def thinking_due(made: SideContent, sent: SideContent, *, is_parted: bool) -> Sequence[SidePart]:
    """The parts of thinking that `sent` should hold; `is_parted`: it separates them."""
    parts, got = made.of("thinking"), "".join(each.text for each in sent.of("thinking"))
    for channel in ("raw", "summary"):
        either = [each for each in parts if each.channel == channel]
        either = either if is_parted else _spaced(got, either)
        if either and "".join(each.text for each in either) == got:
            return either
    return parts if is_parted else _spaced(got, parts)


def _spaced(got: str, parts: Sequence[SidePart]) -> list[SidePart]:
    """The parts with the white space that `got` has around them, and they have not."""
    at, spaced = 0, []
    for part in parts:
        more = _space_at(got, at).removesuffix(_space_at(part.text, 0))
        spaced.append(replace(part, pieces=[(part.first, more), *part.pieces]))
        at += len(more) + len(part.text)
    if spaced:
        spaced[-1].pieces.append((parts[-1].pieces[-1][0], _space_at(got, at)))
    return spaced


def _space_at(text: str, at: int) -> str:
    """The white space that begins there."""
    rest = text[at:]
    return rest[: len(rest) - len(rest.lstrip())]
