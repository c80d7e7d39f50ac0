"""What else is wrong with a gateway's answer because it is not the one that came from upstream.

Rule 1: words that moved from thinking to text, or the other way, are one finding: that of the text,
        or of the markers around them there. Thinking that comes twice is one, too.
Rule 2: an answer that is another request's, or has that before its own, is one finding: the text's.
Rule 3: of calls and counts that the gateway altered, what is wrong with them by themselves follows.
        So does thinking in the text, where the text is not the upstream's.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from conformance.dialects.script import is_scripted
from conformance.judging.ledger import Ledger
from conformance.judging.run_rules import (
    HOP_OPAQUE,
    HOP_ORDER,
    HOP_SUMMARY,
    HOP_TEXT,
    HOP_THINKING,
    HOP_TOOLS,
    HOP_USAGE,
)
from conformance.judging.transcript import Transcript
from conformance.rules.verdicts import Verdict

_NAME: Final = "hops"
_SAID_ONCE: Final = "thinking/stream/said-once"
_MARKERS: Final = "stripping/visible-text/no-markers"
_MOST_MARKS: Final = 24  # characters around what moved
_OF_THINKING: Final = (HOP_THINKING.id, HOP_OPAQUE.id, HOP_ORDER.id, HOP_SUMMARY.id)
_FOLLOWING: Final = {
    HOP_USAGE.id: (
        *("answer-counted", "prompt-counted", "thinking-counted", "thinking-count-true"),
        *("whole-thinking-counted", "body-thinking-counted"),
    ),
    HOP_TOOLS.id: (
        *("arguments-fit", "arguments-there", "tool-offered", "arguments-json", "input-json"),
        *("whole-arguments-json", "are-object", "arguments-are-object"),
    ),
    HOP_TEXT.id: ("no-thinking", "no-short-thinking", "no-thinking-body"),
}
_OF_ORDER: Final = (
    *("before-text", "reasoning-before-message", "whole-thinking-first"),
    *("thinking-before-text", "body-thinking-before-text"),
)
_NUMBER: Final = re.compile("[0-9]+")


def withdraw_altered(
    ledger: Ledger, first: Transcript, here: Transcript, others: Iterable[str]
) -> None:
    """Withdraws what follows from one of the rules `scenario/hop-*`, once all are judged.

    `others` are the visible texts of the answers to other requests; they are read where they count.
    """
    _withdraw_moved(ledger, first, here)
    _withdraw_of_another(ledger, first, here, others)
    for cause, names in _FOLLOWING.items():
        if ledger.verdicts.get(cause) is Verdict.FAIL:
            _withdraw(ledger, cause, _named(ledger, names))


def _withdraw_moved(ledger: Ledger, first: Transcript, here: Transcript) -> None:
    """Rule 1."""
    thought, text = _packed(first.raw or first.thinking), _packed(first.text)
    now_thought, now_text = _packed(here.raw or here.thinking), _packed(here.text)
    failing = ledger.rules_with(Verdict.FAIL)
    if _SAID_ONCE in failing and thought and thought in now_thought:
        _withdraw(ledger, _SAID_ONCE, (HOP_THINKING.id, HOP_SUMMARY.id))
    if HOP_TEXT.id not in failing:
        return
    lost, added = _apart(thought, now_thought), _apart(now_text, text)
    if lost and lost in added:
        is_marked = _MARKERS in failing and len(added) - len(lost) <= _MOST_MARKS
        rules = (*_OF_THINKING, HOP_TEXT.id) if is_marked else _OF_THINKING
        _withdraw(ledger, _MARKERS if is_marked else HOP_TEXT.id, rules)
    lost, added = _apart(text, now_text), _apart(now_thought, thought)
    if lost and lost in added:
        _withdraw(ledger, HOP_TEXT.id, _OF_THINKING)


def _withdraw_of_another(
    ledger: Ledger, first: Transcript, here: Transcript, others: Iterable[str]
) -> None:
    """Rule 2. An answer of the script differs from another one in its number."""
    if ledger.verdicts.get(HOP_TEXT.id) is not Verdict.FAIL:
        return
    own, came = _packed(first.text), _packed(here.text)
    scripted = _NUMBER.sub("", own) if is_scripted("".join(first.text)) else ""
    is_another = bool(scripted) and _NUMBER.sub("", came) == scripted
    is_joined = bool(scripted) and came.endswith(own) and _NUMBER.sub("", came) == scripted * 2
    if not (is_another or is_joined):
        known = [each for each in map(_packed, others) if each]
        is_another, is_joined = came in known, came in [each + own for each in known]
    if is_another or is_joined:
        _withdraw(ledger, HOP_TEXT.id, (*_OF_THINKING, HOP_USAGE.id))
    if is_joined:
        _withdraw(ledger, HOP_TEXT.id, _named(ledger, _OF_ORDER))


def _withdraw(ledger: Ledger, cause: str, rules: Iterable[str]) -> None:
    failing = set(ledger.rules_with(Verdict.FAIL)).intersection(rules)
    ledger.withdraw(failing, f"what breaks {cause} may be why", _NAME)


def _named(ledger: Ledger, names: Iterable[str]) -> Iterator[str]:
    known = frozenset(names)
    failing = ledger.rules_with(Verdict.FAIL)
    return (rule for rule in failing if rule.rpartition("/")[2] in known)


def _packed(texts: Iterable[str]) -> str:
    return "".join("".join(texts).split())


def _apart(text: str, other: str) -> str:
    """What a text has between the beginning and the end that it shares with the other one."""
    most = min(len(text), len(other))
    begun = next((n for n in range(most) if text[n] != other[n]), most)
    left = most - begun
    ended = next((n for n in range(left) if text[-1 - n] != other[-1 - n]), left)
    return text[begun : len(text) - ended]
