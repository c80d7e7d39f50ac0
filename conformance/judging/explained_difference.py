"""Whether a fault of one answer explains all that differs between its text and another one.

Rule 1: markers, texts so far and letters that were decoded wrongly are taken out of the broken
        text. If the rest is the other text, the fault is why; else something else differs, too.
Rule 2: thinking, or a text, that one of both answers lacks altogether is all that differs of it.
Rule 3: a text that repeats thinking begins or ends with the other one, which is not empty.
Rule 4: of any other fault nothing is taken out: it may be why.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from conformance.judging.result import Finding
from conformance.rules.forms.gathered_side import GatheredSide

_MARKER: Final = re.compile(r"<[^<>]{0,40}>|\[/?THINK\]")
_ENCODINGS: Final = ("latin-1", "cp1252")

_Explains = Callable[[Sequence[Finding], GatheredSide, str], bool]


def explains(
    rule: str, found: Sequence[Finding], broken: GatheredSide, other: GatheredSide
) -> bool:
    """Whether findings of `rule` in the broken answer are why it differs from the other one."""
    known = _OF_RULE.get(rule.rpartition("/")[2])
    return known is None or known(found, broken, other.value().strip())


def without_markers(text: str) -> str:
    """The text, and nothing of what looks like a marker of thinking."""
    return "".join(_MARKER.split(text))


def _without_markers(found: Sequence[Finding], broken: GatheredSide, other: str) -> bool:
    return any(each.strip() == other for each in _unmarked(found, broken.value()))


def _unmarked(found: Sequence[Finding], text: str) -> Iterator[str]:
    """The text without markers, without what is between them, and what is around them."""
    for pieces in (*(text.split(each.got) for each in found if each.got), _MARKER.split(text)):
        yield from ("".join(pieces), pieces[0] + pieces[-1])
        yield from filter(None, (pieces[0], pieces[-1]))


def _is_last_delta(found: Sequence[Finding], broken: GatheredSide, other: str) -> bool:
    del found
    return bool(broken.parts) and str(broken.parts[-1]).strip() == other


def _is_decoded(found: Sequence[Finding], broken: GatheredSide, other: str) -> bool:
    del found
    raw = (broken.value().encode(each, "ignore") for each in _ENCODINGS)
    return any(each.decode("utf-8", "ignore").strip() == other for each in raw)


def _is_lacking(found: Sequence[Finding], broken: GatheredSide, other: str) -> bool:
    del found
    return not (other and broken.value().strip())


def _is_at_an_end(found: Sequence[Finding], broken: GatheredSide, other: str) -> bool:
    del found
    text = str(broken.value()).strip()
    return bool(other) and (text.startswith(other) or text.endswith(other))


_OF_RULE: Final[Mapping[str, _Explains]] = {
    "no-markers": _without_markers,
    "no-thinking-body": _is_at_an_end,
    "increments": _is_last_delta,
    "text-increments": _is_last_delta,
    "decoded-once": _is_decoded,
    **dict.fromkeys(
        ("thinking", "said", "answer-present", "message-fields", "body-fields"), _is_lacking
    ),
}
