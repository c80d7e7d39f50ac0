"""Group ids of findings: equal for one fault, whatever the stream, the run and the values."""

from __future__ import annotations

import hashlib
import re
from typing import Final

from conformance.judging.hop_rules import ORDER as HOP_ORDER
from conformance.judging.result import Finding
from conformance.judging.run_rules import ENDING

_LONGEST: Final = 2000  # characters of a message that are looked at
_REPLAYS: Final = re.compile(r" \(in \d+ of \d+ replays?: [^)]*\)")
_CODE_POINT: Final = re.compile(r" \(U\+[0-9A-F]{4,6}\)")
# Texts as Python and JSON quote them, whole or clipped.
_TEXT: Final = re.compile(
    r"""
    "(?:[^"\\]|\\.)*" (?=[\s,.:;)\]}…]|$)
    | (?<!\w)'(?:[^'\\]|\\.)*' (?=[\s,.:;)\]}…]|$)
    | "(?:[^"\\]|\\.)*?\\?\.\.\.
    """,
    re.VERBOSE,
)
_VALUE: Final = re.compile(r"-?\b\d+(?:\.\d+)?\b|\b(?:true|false|null)\b|\.\.\.")
# `exchange 1 of turn-1.sse`, `exchange 1 tool-turn`, and `think/stream` of a run.
_EXCHANGE: Final = re.compile(
    r"""
    \bexchange\ \d+\ of\ .{1,255}?(?=\ (?:gave|received|are\ in\ it)\b)
    | \bexchange\ \d+(?:\ (?!(?:as|and|are|is)\b)[\w-]+)?
    | (?<![\w./])[a-z0-9-]+/[a-z0-9-]+(?![\w./])
    """,
    re.VERBOSE,
)
# Where a client first went another way says nothing more once its thinking is named as lost; one
# that reported nothing at all failed in another way.
_FATE: Final = re.compile(
    r" are not equal at (?!0:\ nothing\ \(elements:\ 0\)).*;\ "
    r"(?=all thinking is lost\b|the thinking is reported as text\b)",
    re.DOTALL,
)
# One refusal is one fault, whatever the steps expected that met it.
_REFUSED: Final = re.compile(r"^expected [a-z]+(?: or [a-z]+)*(?=, got (?:refused|failed): )")
# Of two orders the first place counts at which they part: longer answers have it later.
_ORDER: Final = re.compile(r"^expected ([\w, ]+), got ([\w, ]+)$")
# If nothing may come after an event, what comes first is whatever there was left.
_LAST: Final = re.compile(r"^\S+(?= came after )")
_NOTHING_BEHIND: Final = (
    "/error-last",
    *("/silent-after-run", "/silent-after-response", "/silent-after-cancelled"),
)
_VALUES: Final = re.compile(r"[\[{]*…(?:[\s,:\[\]{}…]*…[\]}]*)?")


def group_id(finding: Finding) -> str:
    """Equal for findings of one group, whatever the streams and the run."""
    shape = message_without_values(finding)
    text = "\x1f".join([finding.rule, finding.level, finding.verdict, shape, *finding.slice])
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=6).hexdigest()


def message_without_values(finding: Finding) -> str:
    """The message with `…` for texts, numbers, exchanges, and the event that came before."""
    text = _FATE.sub(" are not equal; ", _REPLAYS.sub("", finding.message[:_LONGEST]))
    if finding.rule == ENDING.id:
        text = _REFUSED.sub("expected …", text)
    if finding.rule == HOP_ORDER.id:
        text = _ORDER.sub(_where_orders_part, text)
    if finding.rule.endswith(_NOTHING_BEHIND):
        text = _LAST.sub("…", text)
    if finding.after:
        text = text.replace(finding.after, "…")
    for pattern in (_TEXT, _EXCHANGE, _VALUE):
        text = pattern.sub("…", _CODE_POINT.sub("", text))
    return _VALUES.sub("…", text)


def _where_orders_part(found: re.Match[str]) -> str:
    expected, got = (f"{each}, nothing".split(", ") for each in found.groups())
    parted = (pair for pair in zip(expected, got, strict=False) if pair[0] != pair[1])
    one, other = next(parted, ("…", "…"))
    return f"expected {one}, got {other}"
