"""Rules that no YAML file can state: they judge an exchange by what a run said of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from conformance.core.errors import Place
from conformance.core.events import Exchange
from conformance.evidence.answer import Answer
from conformance.judging.findings import dress
from conformance.judging.result import Finding, StreamResult
from conformance.rules.model import Never, Rule
from conformance.rules.monitors.base import Violation
from conformance.rules.verdicts import Level, Verdict


@dataclass(frozen=True, slots=True)
class Expected:
    """What a run states of one step of a scenario, and of its target (`without`)."""

    ends: tuple[str, ...] = ()
    thinking: bool | None = None
    untestable: str = ""
    fault: str = ""
    limit: int | None = None  # tokens that the answer could have
    calls: int | None = None  # of a gateway to what stands behind it
    upstream: str = ""  # profile of the recording that answered there
    excused: tuple[str, ...] = ()  # rules that this recording breaks itself
    without: tuple[str, ...] = ()


def scenario_rule(id_: str, says: str, hint: str, level: Level = Level.MUST) -> Rule:
    """A rule `scenario/...`; its authority is the scenario that a run took."""
    source = ({"advice": "a scenario states what each of its steps must come to"},)
    place = Place("stated by a run")
    return Rule(f"scenario/{id_}", level, says, source, "0.1.0", Never(()), {}, place, hint=hint)


ENDING: Final = scenario_rule(
    "ending",
    "The answer ends as the scenario expects.",
    "--without CAPABILITY leaves out what the target is not made for.",
)
THINKING: Final = scenario_rule(
    "thinking",
    "Thinking shows where the scenario asks for it, and only there.",
    "A server that hides all thinking is run with --without thinking.",
)
HOP_TEXT: Final = scenario_rule(
    "hop-text",
    "A gateway passes visible text on as it is.",
    "White space at the edges, and characters of several bytes, are lost like this.",
)
HOP_THINKING: Final = scenario_rule(
    "hop-thinking",
    "A gateway passes thinking on as it is.",
    "A gateway that hides thinking is run with --without thinking.",
    Level.SHOULD,
)
HOP_SUMMARY: Final = scenario_rule(
    "hop-summary",
    "A summary that a gateway shows was said upstream.",
    "It is the text of the call for it, or the thinking or summary of the answer.",
    Level.SHOULD,
)
HOP_OPAQUE: Final = scenario_rule(
    "hop-opaque",
    "A gateway loses no signature and no encrypted thinking where both sides speak one API.",
    "Without them thinking cannot be sent back; the seal may be the gateway's own.",
    Level.SHOULD,
)
HOP_TOOLS: Final = scenario_rule(
    "hop-tools",
    "A gateway passes tool calls on with name and arguments, and tells them apart.",
    "Ids may be the gateway's own, one for each call.",
)
HOP_ORDER: Final = scenario_rule(
    "hop-order",
    "A gateway streams thinking, text and tool calls in the order in which they came.",
    "Whoever buffers one of them and not the others turns them round.",
    Level.SHOULD,
)
HOP_USAGE: Final = scenario_rule(
    "hop-usage",
    "The usage of a gateway is the sum of what it used upstream.",
    "Every call counts, also the one for a summary.",
    Level.SHOULD,
)
HOP_CALLS: Final = scenario_rule(
    "hop-calls",
    "A gateway asks upstream as often as the request needs.",
    "A summary costs one call more; no summary costs none.",
)
OWN_TEXT: Final = scenario_rule(
    "own-text",
    "A stream holds nothing of a stream beside it.",
    "Buffers or slots that are shared between requests look like this.",
)
RULES: Final = (
    ENDING,
    THINKING,
    HOP_TEXT,
    HOP_THINKING,
    HOP_SUMMARY,
    HOP_OPAQUE,
    HOP_TOOLS,
    HOP_ORDER,
    HOP_USAGE,
    HOP_CALLS,
    OWN_TEXT,
)


def otherwise(
    rule: Rule, exchange: Exchange, answer: Answer, expected: tuple[str, ...], got: str
) -> Finding:
    """A finding at the end of an answer: another word than was expected."""
    message = f"expected {' or '.join(expected)}, got {got}"
    # The id keeps to the word: what a server says of an error changes from run to run.
    violation = Violation(answer.last, {}, expected, got.partition(":")[0], "", message)
    return finding(rule, exchange, answer, violation)


def differing(rule: Rule, exchange: Exchange, answer: Answer, message: str) -> Finding:
    """A finding at the end of an answer; its id knows nothing of the values."""
    return finding(rule, exchange, answer, Violation(answer.last, {}, (), "", "", message))


def finding(rule: Rule, exchange: Exchange, answer: Answer, violation: Violation) -> Finding:
    """The finding for what was violated in an exchange."""
    where = f"{exchange.scenario}/{exchange.role}/{exchange.number}/wire"
    return dress(rule, violation, answer.memory, where)


def told_also(
    result: StreamResult,
    verdicts: Mapping[str, Verdict],
    findings: Iterable[Finding],
    reason: str = "",
) -> StreamResult:
    """The result with verdicts and findings added."""
    reasons = dict.fromkeys(verdicts, reason) if reason else {}
    every = (*result.findings, *findings)
    return replace(
        result,
        verdicts={**result.verdicts, **verdicts},
        reasons={**result.reasons, **reasons},
        findings=tuple(sorted(every, key=lambda each: (each.event, each.rule))),
    )
