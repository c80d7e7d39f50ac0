"""What a live run knew beforehand, stated in its recordings, and judged with them.

A recording of a run says in its header, under `run`, which ending each step of the scenario
expects, whether thinking must show, and whether the target gives the same answer twice. So a
saved run, checked later, gives the same verdicts.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from conformance.cassette import Header
from conformance.cassette.content import described_content
from conformance.core.events import REQUEST_EVENTS, Exchange
from conformance.judging.ledger import Ledger
from conformance.judging.result import Finding
from conformance.judging.run_rules import ANSWER_SAID, ENDING, THINKING
from conformance.judging.transcript import WHOLE_ENDS, Transcript, finding_at_end
from conformance.rules.forms.compare import Compare
from conformance.rules.forms.response import Answer
from conformance.rules.model import Rule
from conformance.rules.verdicts import Level, Verdict

RUN: Final = "run"
"""Key of the header that states all this."""
KEEPS_HISTORY: Final = "keeps_history"
"""Key of `run`: the application itself keeps what its model said in earlier turns."""

_NAME: Final = "expectations"
NOT_LET_IN: Final = frozenset({401, 403, 407})
"""Statuses of who has no key, or a wrong one."""
_OF_REQUESTS: Final = REQUEST_EVENTS | {"http.request"}
_OF_ENDINGS: Final = frozenset({"http.end"})


class ExpectedStep(Struct, frozen=True):
    """What a run states of one step of a scenario, and of its target (`without`)."""

    ends: tuple[str, ...] = ()
    thinking: bool | None = None
    untestable: str = ""
    fault: str = ""
    limit: int | None = None  # tokens that the answer could have
    calls: int | None = None  # of a gateway to its upstream
    upstream: str = ""  # profile of the recording that answered there
    excused: tuple[str, ...] = ()  # rules that this recording breaks itself
    broken: tuple[str, ...] = ()  # those of them that bind
    without: tuple[str, ...] = ()


def stated_run(header: Header) -> Mapping[str, Any] | None:
    """The header's `run`, None where the recording is of no run."""
    run = header.extra.get(RUN)
    return run if isinstance(run, Mapping) else None


def is_played(header: Header, exchange: Exchange) -> bool:
    """Whether the toolkit itself gave this answer, as the upstream of a gateway."""
    return exchange.hop == "upstream" and stated_run(header) is not None


def played_profile(header: Header) -> str:
    """The profile of the recording that the toolkit gave as its answers; empty for a script's."""
    return str((stated_run(header) or {}).get("upstream") or "")


def expected_of(run: Mapping[str, Any], exchange: Exchange) -> ExpectedStep:
    """What the header states of the exchange; it may come from anywhere, so it is not trusted."""
    steps = run.get("steps")
    step = steps.get(exchange.role) if isinstance(steps, Mapping) else None
    if not isinstance(step, Mapping):
        return ExpectedStep()
    thinking = step.get("thinking")
    return ExpectedStep(
        ends=_string_list(step.get("ends")),
        thinking=thinking if isinstance(thinking, bool) else None,
        untestable=str(step.get("untestable") or ""),
        fault=str(step.get("fault") or ""),
        without=_string_list(run.get("without")),
        limit=limit if isinstance(limit := step.get("limit"), int) else None,
        calls=calls if isinstance(calls := step.get("calls"), int) else None,
        upstream=str(run.get("upstream") or ""),
        excused=_string_list(step.get("excused")),
        broken=_string_list(step.get("broken")),
    )


def concurrent_requests(header: Header, exchange: Exchange) -> int | None:
    """The most requests that were under way at the same time; None if the header lacks it."""
    run = stated_run(header) or {}
    jobs, steps = run.get("jobs"), run.get("steps")
    if not isinstance(jobs, int):
        return None
    step = steps.get(exchange.role) if isinstance(steps, Mapping) else None
    of_step = step.get("beside") if isinstance(step, Mapping) else None
    return jobs - 1 + (of_step if isinstance(of_step, int) else 0)


def _string_list(value: Any) -> tuple[str, ...]:
    return tuple(w for w in value if isinstance(w, str)) if isinstance(value, list) else ()


def compares_answers(rule: Rule) -> bool:
    """Whether a rule compares what the model chose in one exchange with another one."""
    form = rule.form
    if not isinstance(form, Compare) or judges_requests(rule):
        return False
    return form.left.role != form.right.role


def judges_requests(rule: Rule) -> bool:
    """Whether a rule looks at what a client sent."""
    return not _OF_REQUESTS.isdisjoint(_named_types(rule))


def judges_refusals(rule: Rule) -> bool:
    """Whether a rule has something to say where no stream came: of request, error and ending.

    What an answer has to hold is said of responses that succeed.
    """
    if isinstance(rule.form, Answer):
        return False
    types = _named_types(rule)
    has_error = any("error" in kind for kind in types)
    return has_error or types == _OF_ENDINGS or not _OF_REQUESTS.isdisjoint(types)


def _named_types(rule: Rule) -> set[str]:
    return {kind for alias in rule.aliases.values() for kind in alias.types}


def judge_expectations(
    ledger: Ledger, exchange: Exchange, expected: ExpectedStep, answer: Transcript
) -> None:
    """Another ending than the stated one is a finding, and so is thinking that is missing."""
    if expected.untestable:
        for rule in (ENDING, THINKING):
            ledger.add(rule.id, Verdict.UNTESTABLE, expected.untestable, by=_NAME)
        return
    came = answer.ending
    if came in expected.ends:
        ledger.add(ENDING.id, Verdict.PASS, by=_NAME)
        if ledger.verdicts.get(ANSWER_SAID) is Verdict.FAIL:
            ledger.remark(ANSWER_SAID, "an answer was to come", _NAME, Level.MUST)
        if came not in WHOLE_ENDS:
            unfinished = ledger.rules_with(Verdict.INCONCLUSIVE)
            ledger.withdraw(unfinished, "there was to be no answer", _NAME)
    elif why := _limit_explains(came, answer, expected):
        ledger.add(ENDING.id, Verdict.UNTESTABLE, why, by=_NAME)
        return
    else:
        found = _other_ending(exchange, expected, answer, came)
        ledger.add(ENDING.id, Verdict.FAIL, findings=(found,), by=_NAME)
        if expected.ends == ("refused",) and came in WHOLE_ENDS:
            why = "a server may take what others refuse"
            ledger.remark(ENDING.id, why, _NAME, Level.SHOULD)
    if expected.thinking is None or came not in WHOLE_ENDS:
        return
    if answer.thought is expected.thinking:
        ledger.add(THINKING.id, Verdict.PASS, by=_NAME)
        return
    wanted, got = ("thinking", "none") if expected.thinking else ("no thinking", "some")
    message = f"expected {wanted}, got {got}"
    found = finding_at_end(THINKING, answer, message, expected=(wanted,), got=got)
    ledger.add(THINKING.id, Verdict.FAIL, findings=(found,), by=_NAME)


def _other_ending(
    exchange: Exchange, expected: ExpectedStep, answer: Transcript, came: str
) -> Finding:
    causes = ", ".join(filter(None, _known_causes(exchange, answer, expected)))
    got = f"{came}: {causes}" if causes else came
    message = f"expected {' or '.join(expected.ends)}, got {got}"
    # The id keeps to the word: what a server says of an error changes from run to run.
    found = finding_at_end(ENDING, answer, message, expected=expected.ends, got=came)
    return replace(found, hint=_ending_hint(exchange, came))


def _ending_hint(exchange: Exchange, came: str) -> str:
    """What the user who runs the scenario can do; empty if only the server can fix it."""
    response = exchange.response
    status = (response.status if response else None) or 0
    if 300 <= status < 400:
        return "The target's URL must be the one that it redirects to."
    if status in NOT_LET_IN:
        return "--api-key-env NAME sends the key that is in that variable."
    if response and status < 400 and "text/html" in (response.header("content-type") or ""):
        return "The target's URL must be the base of its API, often with /v1 at its end."
    if exchange.end in ("idle-timeout", "client-closed"):
        return "--timeout, --idle-timeout and --max-bytes bound an answer."
    return ENDING.hint if came in ("refused", "failed") else ""


def _limit_explains(came: str, answer: Transcript, expected: ExpectedStep) -> str:
    """Why the ending shows nothing, where the limit of the answer's length explains it."""
    limit = expected.limit
    if limit is None:
        return ""
    counts = [answer.usage.get(name) for name in ("output", "reasoning")]
    known = [count for count in counts if isinstance(count, int)]
    if came == "length" and (not known or sum(known) >= limit):
        return f"the answer needs more than the run's own limit of {limit} tokens"
    if came == "complete" and "length" in expected.ends and (not known or known[0] < limit):
        return f"nothing shows that the answer was cut at {limit} tokens"
    return ""


def _known_causes(exchange: Exchange, answer: Transcript, expected: ExpectedStep) -> list[str]:
    """Known causes: errors of the transport, the status, the server's own message."""
    parts = [expected.fault]
    response = exchange.response
    if response is None:
        parts.append("no response head")
    elif response.status not in (None, 200):  # standard streams have none
        parts.append(f"HTTP {response.status}")
        if 300 <= (response.status or 0) < 400:
            parts.append("a redirect that is not followed")
    parts += [str(error.get("message") or error.get("code") or "") for error in answer.errors[:1]]
    if response is not None and not (answer.done or answer.errors or answer.listed):
        parts.append(described_content(exchange.body) or "")
        parts.append(f"content type {response.header('content-type') or 'none'}")
    return parts
