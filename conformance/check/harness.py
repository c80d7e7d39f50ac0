"""Rules that only a harness run can judge: `harness/...`, beside those of the suites.

`answers`       the adapter answers every case; where it does not, the verdict is ERROR
`declared`      an op or dialect that was declared is not refused throughout
`ending`        a complete answer is told as completed, any other as failed or cut
`next-request`  what was asked for stands in the request
`one-request`   a case is asked for once
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from conformance.check.dressing import Memory, dress
from conformance.check.result import Finding
from conformance.errors import Place
from conformance.rules.model import Never, Rule
from conformance.rules.monitors.base import Violation
from conformance.rules.verdicts import Level

Report = Sequence[Mapping[str, Any]]


def _rule(name: str, says: str, source: Mapping[str, str], hint: str, level: Level) -> Rule:
    return Rule(
        f"harness/{name}",
        level,
        says,
        (source,),
        "0.1.0",
        Never(()),
        {},
        Place(__file__),
        hint=hint,
    )


ANSWERS: Final = _rule(
    "answers",
    "The adapter answers every case before its deadline.",
    {"advice": "an adapter that hangs, crashes or floods says nothing of the client"},
    "Run the command by hand and type the case into it; see docs/clients.md.",
    Level.MUST,
)
DECLARED: Final = _rule(
    "declared",
    "What the adapter declares it does not refuse.",
    {"advice": "an op that is refused in every case would look like one that passes"},
    "Leave the op or dialect out of the introduction.",
    Level.MUST,
)
ENDING: Final = _rule(
    "ending",
    "A stream that broke off is never told as complete, nor a whole one as broken.",
    {"breaks": "half an answer is stored, shown or executed as if it were the whole"},
    "The end of the body is no success: wait for the dialect's own terminal event.",
    Level.MUST,
)
NEXT_REQUEST: Final = _rule(
    "next-request",
    "What the user chose stands in the request.",
    {"breaks": "a level or an opt-in that is not sent is silently without effect"},
    "Effort, summary and the opt-in go out in the form that the dialect has for them.",
    Level.MUST,
)
ONE_REQUEST: Final = _rule(
    "one-request",
    "A case is asked for once.",
    {"advice": "an answer that has begun and is asked for again is paid for twice"},
    "Switch retries off in the adapter, or do not repeat what has begun to stream.",
    Level.SHOULD,
)
RULES: Final = (ANSWERS, DECLARED, ENDING, NEXT_REQUEST, ONE_REQUEST)


def finding(rule: Rule, where: str, expected: str, got: str, report: Report = ()) -> Finding:
    """A finding at the end of what a client reported."""
    memory = Memory()
    for number, event in enumerate(report, 1):
        memory.tell(number, str(event.get("type")), _shown(event))
    last = len(report) + 1
    memory.tell(last, "end of the report", "")
    message = f"expected {expected}, got {got}"
    violation = Violation(last, {}, (expected,), got.partition(":")[0], "", message)
    return dress(rule, violation, memory, where)


def _shown(event: Mapping[str, Any]) -> str:
    return ", ".join(f"{key}={value!r}" for key, value in event.items() if key != "type")
