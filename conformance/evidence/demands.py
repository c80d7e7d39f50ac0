"""Judges an answer by what its own request demands, and by the request that it continues.

Rule 1: what was requested as a whole body is no stream.
Rule 2: where an answer was to be cut, it has used three quarters of its limit at least: servers
        count what ends an answer in different ways. What is counted apart counts, too.
Rule 3: a request that continues another one has more input, whatever becomes of its thinking.
        Counts that are not stated, or 0, show nothing.
Rule 4: a refusal has a message where the API's own clients look for it. That of a gateway may be
        its upstream's.
Rule 5: some servers look for stop sequences in thinking, too: then no text comes.
Rule 6: HTTP 400 of a provider is the client's fault, HTTP 500 is not; other statuses may mean the
        gateway itself. A stream may begin before its upstream refuses: HTTP 200 is right then, and
        the code of its error says whose fault it is. A code that says neither is not judged.
What a gateway counts is its upstream's: rules 2 and 3 are for servers, and so is the form of an
answer, which `kept_wishes` judges.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from conformance.core.events import Exchange
from conformance.core.framing import framing_of
from conformance.dialects import ENDPOINTS
from conformance.dialects.base import Dialect
from conformance.evidence.expectations import ExpectedStep, judge_expectations
from conformance.evidence.kept_wishes import judged_thinking, judged_usage, judged_wishes, wish_of
from conformance.evidence.step_counts import StepCount, StepCounts, count_of
from conformance.judging.demand_rules import (
    BODY_AS_ASKED,
    FAULT_KEPT,
    HISTORY_COUNTED,
    LIMIT_USED,
    REFUSAL_SAYS_WHY,
)
from conformance.judging.ledger import Ledger
from conformance.judging.run_rules import ANSWER_SAID
from conformance.judging.transcript import WHOLE_ENDS, Transcript, finding_at_end, is_refusal
from conformance.rules.model import Rule
from conformance.rules.verdicts import Verdict

_NAME: Final = "expectations"
_LEAST_USED: Final = 0.75
_BLAMING: Final = frozenset({400, 422})  # statuses that blame the request
_BLAMING_CODES: Final = frozenset(
    (
        *("bad_request", "failed_precondition", "invalid_argument", "invalid_prompt"),
        *("invalid_request", "invalid_request_error", "validationexception"),
    )
)
_FAILING_CODES: Final = frozenset(
    (
        *("api_error", "internal", "internal_error", "internal_server_error"),
        *("internalserverexception", "overloaded_error", "server_error"),
        *("serviceunavailableexception", "unavailable"),
    )
)
_JUDGED_HOPS: Final = frozenset({"", "downstream"})  # servers and gateways

Found = tuple[Rule, str]
"""A rule that has something to judge, and what breaks it; empty where nothing does."""


def judge_step(
    ledger: Ledger,
    answer: Transcript,
    expected: ExpectedStep,
    dialect: Dialect,
    counts: StepCounts,
    *,
    calls: Sequence[Exchange] = (),
) -> None:
    """Writes what the scenario expects of an answer, and what its request demands.

    `counts` are those of the answers before it, and get its own; `calls` is what a gateway had
    from its upstream for this answer.
    """
    exchange = answer.exchange
    judge_expectations(ledger, exchange, expected, answer)
    if dialect.name not in ENDPOINTS or exchange.hop not in _JUDGED_HOPS:
        return
    counts.add(dialect.name, answer)
    if expected.untestable:
        return
    judged = list(_all_found(dialect, expected, answer, counts.carried_by(exchange)))
    if not exchange.hop and answer.ending in WHOLE_ENDS:
        judged += judged_usage(answer, counts.streamed(dialect.name), counts.thinking(dialect.name))
        body = _body(dialect, exchange)
        judged += judged_thinking(dialect, body, answer, counts.shown(dialect.name, exchange))
    if exchange.hop and answer.ending in ("refused", "failed"):
        judged += _fault(answer, calls)
    excuse_stopped(ledger, dialect, exchange)
    for rule, message in judged:
        found = (finding_at_end(rule, answer, message),) if message else ()
        ledger.add(rule.id, Verdict.FAIL if found else Verdict.PASS, findings=found, by=_NAME)


def excuse_stopped(ledger: Ledger, dialect: Dialect, exchange: Exchange) -> None:
    """Rule 5, in a run or not."""
    request = dialect.stated(exchange.request)
    is_empty = ledger.verdicts.get(ANSWER_SAID) is Verdict.FAIL
    if is_empty and request and wish_of(dialect, request.json).stops:
        why = "a stop sequence may have ended the thinking"
        ledger.withdraw([ANSWER_SAID], why, _NAME, Verdict.UNTESTABLE)


def _all_found(
    dialect: Dialect, expected: ExpectedStep, answer: Transcript, carried: StepCount | None
) -> Iterator[Found]:
    exchange = answer.exchange
    body = _body(dialect, exchange)
    if not exchange.hop and answer.ending in ("refused", "failed"):
        yield from _refusal(exchange, expected, answer)
    if answer.ending not in WHOLE_ENDS or not body:
        return
    is_socket = exchange.response is not None and exchange.response.is_upgrade
    if dialect.request and not dialect.request.streams(body) and not is_socket:
        is_stream = framing_of(exchange) != "body"
        yield BODY_AS_ASKED, "expected a whole body, got a stream" if is_stream else ""
    if not exchange.hop:
        yield from judged_wishes(dialect, body, answer)
        yield from _limit(dialect, body, expected, answer)
        yield from _history(answer, carried)


def _body(dialect: Dialect, exchange: Exchange) -> Mapping[str, Any]:
    request = dialect.stated(exchange.request)
    return request.json if request and isinstance(request.json, Mapping) else {}


def _fault(answer: Transcript, calls: Sequence[Exchange]) -> Iterator[Found]:
    """Rule 6."""
    last = [each.response.status for each in calls if each.response][-1:]
    response = answer.exchange.response
    status = response.status if response else None
    if last not in ([400], [500]) or status is None:
        return
    if status >= 400:
        says, got = _blamed_side(status), f"HTTP {status}"
    else:
        code = answer.errors[-1].get("code") if answer.errors else None
        says, got = _blamed_side(code), f"an error {code!r} in a stream"
    if says:
        turned = says != ("request" if last == [400] else "server")
        message = f"expected an error that fits HTTP {last[0]} of the provider, got {got}"
        yield FAULT_KEPT, message if turned else ""


def _blamed_side(code: Any) -> str:
    """Whose fault a status or the code of an error says it is; empty where it says neither."""
    word = str(code).lower()
    number = int(word) if word.isascii() and word.isdecimal() else 0
    if number in _BLAMING or word in _BLAMING_CODES:
        return "request"
    return "server" if 500 <= number < 600 or word in _FAILING_CODES else ""


def _limit(
    dialect: Dialect, body: Any, expected: ExpectedStep, answer: Transcript
) -> Iterator[Found]:
    limit = dialect.request.least_limit(body) if dialect.request else None
    if limit is None or answer.ending != "length" or "length" not in expected.ends:
        return
    used = count_of(answer, "output") + count_of(answer, "reasoning")
    if used:
        few = used < limit * _LEAST_USED
        yield LIMIT_USED, f"expected {limit} tokens, the usage counts {used}" if few else ""


def _history(answer: Transcript, before: StepCount | None) -> Iterator[Found]:
    has = count_of(answer, "input")
    if before is None or not (before.read and has):
        return
    message = f"expected more input than the {before.read} tokens of {before.role}, got {has}"
    yield HISTORY_COUNTED, message if has <= before.read else ""


def _refusal(exchange: Exchange, expected: ExpectedStep, answer: Transcript) -> Iterator[Found]:
    """A refusal that a scenario expects; any other is a separate finding."""
    response = exchange.response
    is_within = answer.done and not is_refusal(exchange)  # an error inside an answer
    if response is None or answer.ending not in expected.ends or is_within:
        return
    has_message = any(each.get("message") for each in answer.errors)
    kind = response.header("content-type") or "no content type"
    got = f"HTTP {response.status}, {kind}, {len(exchange.body)} bytes"
    yield REFUSAL_SAYS_WHY, "" if has_message else f"expected an error with a message, got {got}"
