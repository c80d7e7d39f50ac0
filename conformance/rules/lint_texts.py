"""What a rule says and on whose authority: text style, evidence for its level, version."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, Literal

from conformance.core.errors import SpecError
from conformance.rules.authority import ENOUGH, carries_must
from conformance.rules.load import SOURCE_KEYS
from conformance.rules.model import Rule
from conformance.rules.node import Node
from conformance.rules.verdicts import Level

Fault = tuple[Literal["error", "warning"], SpecError]

MOST_SAYS: Final = 70  # characters; a finding's first line stays one line
_FORBIDDEN: Final = (
    (re.compile(r"\bshould\b", re.IGNORECASE), "says what is, not what should be"),
    (re.compile(r"\btests? that\b", re.IGNORECASE), "says what is, without 'test that'"),
)
_PLACEHOLDER: Final = re.compile(r"\b(TBD|TODO|FIXME|XXX)\b")
_TWO_CLAIMS: Final = re.compile(r";|\.\s+[A-Z]")


def text_faults(rule: Rule, node: Node, version: str) -> Iterator[Fault]:
    """Style of `says`, placeholders in any text, and a version that is not out yet."""
    says = node.required("says")
    if len(rule.says) > MOST_SAYS:
        yield "error", says.error(f"says has {len(rule.says)} characters, at most {MOST_SAYS}")
    if not rule.says.endswith("."):
        yield "error", says.error("says ends with a full stop")
    for pattern, message in _FORBIDDEN:
        if pattern.search(rule.says):
            yield "error", says.error(message)
    if _TWO_CLAIMS.search(rule.says.rstrip(".")):
        yield "warning", says.error("says makes two claims", hint="one rule, one reason to fail")
    yield from _placeholder_faults(node)
    if _version_numbers(rule.since) > _version_numbers(version):
        message = f"since {rule.since} is newer than this version, {version}"
        yield "error", node.required("since").error(message)


def _placeholder_faults(node: Node) -> Iterator[Fault]:
    texts = [node.get(key) for key in ("says", "hint", "fix")]
    sources = node.get("source")
    several = sources.sequence() if sources and sources.kind == "sequence" else (sources,)
    entries = [each for each in several if each is not None]
    for text in (*texts, *(value for each in entries for value in each.mapping().values())):
        if text is not None and _PLACEHOLDER.search(text.string()):
            yield "error", text.error("a placeholder is still to be filled in")


def authority_faults(rule: Rule, node: Node) -> Iterator[Fault]:
    """A rule without a source; a MUST without a quote, enough recordings, or what breaks."""
    if not rule.source:
        hint = f"one of {', '.join(sorted(SOURCE_KEYS))}"
        yield "error", node.error("a rule that ships names its source", hint=hint)
        return
    pending = any(_PLACEHOLDER.search(text) for each in rule.source for text in each.values())
    if rule.level is not Level.MUST or pending or carries_must(rule):
        return
    hint = f"quote a specification, name what breaks, or observe {ENOUGH} recordings"
    yield "error", node.required("level").error("a MUST needs more authority", hint=hint)


def _version_numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version)[:3])
