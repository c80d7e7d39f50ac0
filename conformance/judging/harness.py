"""Rules that only a harness run can judge: `harness/...`, in addition to the suites.

`answers`       the adapter answers every case; otherwise the verdict is ERROR
`declared`      the adapter does not refuse a declared op or dialect in every case
`ending`        a complete answer is reported as completed, any other as failed or cut
`extracts-in-order`  thinking in several places of a message, where its profile promises the order
`next-request`  the request has what the case wants
`one-request`   a client sends one request per case
`restores`      a client restores what it stored
`stored-flat`, `stored-lean`  the form of what it stored, where its profile promises `stores-flat`
`talk-kept`     the next request has the turns before, as they were
`reconnect`     a client that declares it asks for the rest of an answer that broke off
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from conformance.core.errors import Place
from conformance.judging.findings import RecentFrames, make_finding
from conformance.judging.result import Finding
from conformance.rules.forms.base import Violation
from conformance.rules.forms.never import Never
from conformance.rules.model import Rule
from conformance.rules.verdicts import Level

HarnessReport = Sequence[Mapping[str, Any]]


def _harness_rule(
    name: str, says: str, source: Mapping[str, str], hint: str, level: Level = Level.MUST
) -> Rule:
    place = Place("added by a run")
    return Rule(f"harness/{name}", level, says, (source,), "0.1.0", Never(()), {}, place, hint=hint)


ANSWERS: Final = _harness_rule(
    "answers",
    "The adapter answers every case before its deadline.",
    {"advice": "an adapter that hangs, crashes or floods shows nothing about the client"},
    "Run the command by hand and paste the case into it; see docs/clients.md.",
)
DECLARED: Final = _harness_rule(
    "declared",
    "The adapter does not refuse an op or dialect that it declares.",
    {"advice": "an op that is refused in every case would look like one that passes"},
    "Leave the op or dialect out of the introduction.",
)
ENDING: Final = _harness_rule(
    "ending",
    "A stream that broke off is never reported as complete, nor a whole one as broken.",
    {"breaks": "half an answer is stored, shown or executed as if it were complete"},
    "A broken body is no success: wait for the terminal event. A whole one must not fail.",
)
IN_ORDER: Final = _harness_rule(
    "extracts-in-order",
    "Thinking from several places of a message is reported in order, joined by newlines.",
    {
        "advice": "OpenHands reasoning_content document: reasoning_content, reasoning, thinking, "
        "then blocks of the content; never rendered twice"
    },
    "Read every field in turn, then the blocks; leave out what repeats an earlier text.",
    Level.SHOULD,
)
NEXT_REQUEST: Final = _harness_rule(
    "next-request",
    "The request holds what the user chose.",
    {"breaks": "a level or an opt-in that is not sent has no effect, and nobody sees why"},
    "Send effort, summary and the opt-in in the dialect's own fields.",
)
ONE_REQUEST: Final = _harness_rule(
    "one-request",
    "A client sends one request per case.",
    {"advice": "a request that is repeated after its answer began is paid for twice"},
    "Switch retries off in the adapter, or do not repeat a request whose answer began.",
    Level.SHOULD,
)
RECONNECT: Final = _harness_rule(
    "reconnect",
    "A client that reconnects asks for the rest of an answer from the last id on.",
    {
        "spec": "https://html.spec.whatwg.org/multipage/server-sent-events.html#sse-processing-model",
        "quote": "Set (`Last-Event-ID`, lastEventIDValue) in request's header list.",
    },
    "Repeat the request with Last-Event-ID after the `retry` time; 204 ends it.",
)
RESTORES: Final = _harness_rule(
    "restores",
    "A client restores what it stored.",
    {"advice": "a session that is resumed from disk must hold what the user saw"},
    "Compare what you write with what you read; keep thinking in a separate field.",
)
STORED_FLAT: Final = _harness_rule(
    "stored-flat",
    "A turn is stored with its text in `thought` and its thinking in `reasoning_content`.",
    {"advice": "OpenHands reasoning_content document: the thought is flattened on the wire"},
    "Both keys hold strings, at the top or in `args`.",
    Level.SHOULD,
)
STORED_LEAN: Final = _harness_rule(
    "stored-lean",
    "A turn without thinking is stored without `reasoning_content`.",
    {"advice": "OpenHands reasoning_content document: omitted if empty"},
    "Leave the key out where it would be empty or null.",
    Level.SHOULD,
)
TALK_KEPT: Final = _harness_rule(
    "talk-kept",
    "The next request holds the turns before: the user's words, the answer and its calls.",
    {"breaks": "a model that reads a changed history answers another question"},
    "Send every turn back once, with thinking in a separate field.",
    Level.SHOULD,
)
RULES: Final = (
    *(ANSWERS, DECLARED, ENDING, IN_ORDER, NEXT_REQUEST),
    *(ONE_REQUEST, RECONNECT, RESTORES, STORED_FLAT, STORED_LEAN, TALK_KEPT),
)


def client_finding(
    rule: Rule, where: str, expected: str, got: str, report: HarnessReport = ()
) -> Finding:
    """A finding at the end of what a client reported."""
    memory = RecentFrames()
    for number, event in enumerate(report, 1):
        fields = {key: value for key, value in event.items() if key != "type"}
        shown = json.dumps(fields, ensure_ascii=False, default=repr)
        memory.remember(number, str(event.get("type")), shown)
    last = len(report) + 1
    memory.remember(last, "end of the report", "")
    message = f"expected {expected}, got {got}"
    violation = Violation(last, {}, (expected,), got.partition(":")[0], "", message)
    return make_finding(rule, violation, memory, where)
