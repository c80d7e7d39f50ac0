"""Two hops of one exchange: the upstream's answer, and what the gateway made of it.

The first upstream call is the answer; a later one (a summary) is counted, and may appear as the
summary. The suites of the gateway's dialect judge ids and types of its answer, as in any stream.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from typing import Any, Final

from msgspec import Struct

from conformance.core.errors import UsageError
from conformance.core.events import Exchange, Request
from conformance.core.framing import framing_of
from conformance.dialects import SUPPORTED, get
from conformance.dialects.base import Dialect, Reading
from conformance.dialects.script import is_scripted
from conformance.evidence.expectations import ExpectedStep
from conformance.evidence.hop_consequences import withdraw_altered
from conformance.judging.ledger import Ledger
from conformance.judging.run_rules import (
    ADDED_RULES,
    ENDING,
    HOP_CALLS,
    HOP_OPAQUE,
    HOP_ORDER,
    HOP_SUMMARY,
    HOP_TEXT,
    HOP_THINKING,
    HOP_TOOLS,
    HOP_USAGE,
    THINKING,
)
from conformance.judging.transcript import WHOLE_ENDS, Transcript, finding_at_end, read_transcript
from conformance.profiles.lookup import find
from conformance.profiles.profile import reading
from conformance.profiles.variants import variant_for
from conformance.rules.about import About, Change
from conformance.rules.forms.differences import first_difference, view
from conformance.rules.model import Rule
from conformance.rules.paths import MISSING
from conformance.rules.verdicts import Verdict

_NAME: Final = "hops"
_SEAL: Final = re.compile(
    r"^wire/[\w-]+/(?:signature-(?:filled|present|started|readable)"
    r"|body-(?:thinking-signed|reasoning-signed|signature))$"
)
CACHED: Final = "answered without asking the upstream, by words of an earlier call"
_NOBODY: Final = "nothing was asked upstream"
_BROKEN: Final = "the answer upstream broke off"
_OF_FINISH: Final = ("/finished-calls-there", "/tool-stop-has-tool", "/body-stop-agrees")
_DEFAULT: Final = next(iter(SUPPORTED))
_THINKING: Final = frozenset({HOP_THINKING.id, HOP_SUMMARY.id, HOP_OPAQUE.id})


class GatewayHops(Struct, frozen=True):
    """Both sides of one request: the upstream answers call by call, and the gateway's answer.

    `one_api`: both sides of the answer speak one dialect; `streamed`: both stream.
    """

    upstream: tuple[Transcript, ...]
    here: Transcript
    one_api: bool
    streamed: bool

    @property
    def first(self) -> Transcript:
        return self.upstream[0]


HopPair = Callable[[GatewayHops], tuple[Any, Any]]


def compare_hops(
    ledger: Ledger,
    exchange: Exchange,
    answer: Transcript,
    among: Iterable[Exchange],
    expected: ExpectedStep,
) -> None:
    """Judges a gateway's answer by the upstream answers that it was made from.

    `among` are the exchanges of the recording.
    """
    asked = [each for each in among if each.hop == "upstream"]
    upstream = [each for each in asked if each.role == exchange.role]
    if not upstream and is_scripted("".join(answer.text)):
        _leave_cached(ledger, expected)
        return
    calls = _calls_due(expected, upstream)
    if calls is not None and not upstream and answer.ending not in WHOLE_ENDS:
        ledger.add(HOP_CALLS.id, Verdict.UNTESTABLE, _NOBODY, by=_NAME)  # it refused by itself
    elif calls is not None:
        _judge_pair(ledger, HOP_CALLS, answer, (calls, len(upstream)))
    open_reason = expected.untestable if upstream else _NOBODY
    if open_reason:
        _leave_open(ledger, Verdict.UNTESTABLE, open_reason)
        return
    answers = tuple(_read_upstream(each, expected.upstream) for each in upstream)
    if answers[0].ending not in WHOLE_ENDS:
        _leave_broken(ledger, answer)
        return
    hops = GatewayHops(
        answers,
        answer,
        one_api=upstream[0].dialect == exchange.dialect,
        streamed=_is_streamed(upstream[0]) and _is_streamed(exchange),
    )
    _judge_hops(ledger, hops, hides="thinking" in expected.without)
    others = (each for each in asked if each.role != exchange.role)
    read = (_read_upstream(each, expected.upstream) for each in others)
    withdraw_altered(ledger, hops.first, answer, ("".join(each.text) for each in read))


def _judge_hops(ledger: Ledger, hops: GatewayHops, *, hides: bool) -> None:
    answer = hops.here
    for rule, pair in _PAIRS if answer.ending in WHOLE_ENDS else _BEGUN:
        if not (hides and rule.id in _THINKING):
            _judge_hop(ledger, rule, answer, pair(hops))


def _leave_broken(ledger: Ledger, answer: Transcript) -> None:
    if answer.ending == "cut":
        # A break that was passed on is not the gateway's fault, nor what is missing after it.
        broken = {found.rule for found in ledger.findings} - ADDED_RULES.keys()
        ledger.withdraw(broken, _BROKEN, _NAME)
    _leave_open(ledger, Verdict.NOT_APPLICABLE, _BROKEN)


def _judge_hop(ledger: Ledger, rule: Rule, answer: Transcript, pair: tuple[Any, Any]) -> None:
    wanted, got = pair
    if rule is HOP_OPAQUE and (why := _broken_seals(ledger, wanted, got)):
        ledger.add(rule.id, Verdict.NOT_APPLICABLE, why, by=_NAME)
    elif wanted or got:
        _judge_pair(ledger, rule, answer, pair)
    if rule is HOP_TOOLS and wanted and not got:  # the finish speaks of calls that were lost
        _withdraw_finish(ledger)


def _withdraw_finish(ledger: Ledger) -> None:
    failing = ledger.rules_with(Verdict.FAIL)
    of_finish = [each for each in failing if each.endswith(_OF_FINISH)]
    ledger.withdraw(of_finish, f"what breaks {HOP_TOOLS.id} may be why", _NAME)


def _broken_seals(ledger: Ledger, wanted: Sequence[Any], got: Sequence[Any]) -> str:
    """The rule of the API that each seal which is missing breaks, as a reason."""
    broken = [each.rule for each in ledger.findings if _SEAL.search(each.rule)]
    is_why = 0 < len(wanted) - len(got) <= len(broken)
    return f"what breaks {broken[0]} may be why" if is_why else ""


def _leave_cached(ledger: Ledger, expected: ExpectedStep) -> None:
    """Says nothing of an answer of an earlier call that came again: a cache may do so."""
    if expected.calls is not None:
        ledger.add(HOP_CALLS.id, Verdict.UNTESTABLE, CACHED, by=_NAME)
    _leave_open(ledger, Verdict.UNTESTABLE, CACHED)
    failed = {ENDING.id, THINKING.id}.intersection(ledger.rules_with(Verdict.FAIL))
    ledger.withdraw(failed, CACHED, _NAME, Verdict.UNTESTABLE)


def _leave_open(ledger: Ledger, verdict: Verdict, why: str) -> None:
    for rule, _ in _PAIRS:
        ledger.add(rule.id, verdict, why, by=_NAME)


def _read_upstream(exchange: Exchange, profile: str) -> Transcript:
    dialect = get(exchange.dialect or _DEFAULT)
    return read_transcript(exchange, dialect, upstream_reading(dialect, profile, exchange.request))


def upstream_reading(dialect: Dialect, profile: str, request: Request | None) -> Reading:
    """How to read our own upstream answer: by its recording's profile, or the requested variant."""
    if not profile:
        return Reading()
    try:
        found = find(profile, dialect.name)
        variant = variant_for(found.variants, dialect.stated(request))
        return reading(find(variant.profile, dialect.name) if variant else found)
    except UsageError:  # the request is of another API than the recording
        return Reading()


def _calls_due(expected: ExpectedStep, upstream: Sequence[Exchange]) -> int | None:
    """How often the gateway may ask; a summary that it asks for upstream costs no further call.

    It must ask once: nothing demands that it writes a summary by a separate call.
    """
    if expected.calls is None or not upstream:
        return expected.calls
    body = upstream[0].request.json if upstream[0].request else None
    form = get(upstream[0].dialect or _DEFAULT).request
    if form is not None and form.wants_summary(body):
        return 1
    return min(expected.calls, len(upstream))


def _is_streamed(exchange: Exchange) -> bool:
    return framing_of(exchange) != "body"


def _visible_texts(hops: GatewayHops) -> tuple[str, str]:
    return "".join(hops.first.text), "".join(hops.here.text)


def _thinking_texts(hops: GatewayHops) -> tuple[str, str]:
    """Thinking of both sides; in an API without a channel for summaries one text is both."""
    wanted, got = "".join(hops.first.raw), "".join(hops.here.raw)
    if wanted and not got and not _upstream_summaries(hops):
        return wanted, "".join(hops.here.summary)
    if not hops.first.summary or hops.here.summary:
        return wanted, got
    summary, came = "".join(hops.first.summary), _without_space(got)
    either = [_without_space(each) for each in (wanted, summary, wanted + summary) if each]
    return came if came in either else either[0], came


def _summary_texts(hops: GatewayHops) -> tuple[str, str]:
    """A summary; of several things that it may be, the one that it is."""
    got = _without_space("".join(hops.here.summary))
    texts = [_without_space(each) for each in (*_upstream_summaries(hops), "".join(hops.first.raw))]
    due = texts[0] if hops.one_api and hops.first.summary else ""
    if not got:
        return due, got
    return got if got in texts else texts[0], got


def _upstream_summaries(hops: GatewayHops) -> list[str]:
    """Summaries sent upstream: with the answer, or by a separate call."""
    own = ["".join(hops.first.summary)] if hops.first.summary else []
    return own + ["".join(each.text) for each in hops.upstream[1:] if each.text]


def _beginnings_of(pair: HopPair) -> HopPair:
    """For an answer that failed here: the text shown must be a beginning of the upstream's."""

    def begun(hops: GatewayHops) -> tuple[Any, Any]:
        wanted, got = pair(hops)
        return wanted[: len(got)], got

    return begun


def _without_space(text: str) -> str:
    """A summary without white space: paragraphs are parts in one API and line feeds in another."""
    return "".join(text.split())


def _opaque_kinds(hops: GatewayHops) -> tuple[list[Any], list[Any]]:
    """Kinds of sealed data; who seals anew, with a key of his own, has lost nothing."""
    if not hops.one_api or not hops.first.opaque:
        return [], []
    wanted, got = (
        [each.get("kind") for each in answer.opaque] for answer in (hops.first, hops.here)
    )
    return wanted, got


def _content_orders(hops: GatewayHops) -> tuple[list[str], list[str]]:
    """Kinds of content in the order in which they came, of those that both sides have."""
    if not hops.streamed:
        return [], []
    wanted, got = _content_kinds(hops.first), _content_kinds(hops.here)
    both = set(wanted) & set(got)
    return _merge_repeats(wanted, both), _merge_repeats(got, both)


def _content_kinds(answer: Transcript) -> list[str]:
    raw = "thinking" in answer.order
    kinds = (each for each in answer.order if not (raw and each == "summary"))
    return ["thinking" if each == "summary" else each for each in kinds]


def _merge_repeats(kinds: Sequence[str], both: set[str]) -> list[str]:
    return [kind for kind, _ in groupby(each for each in kinds if each in both)]


def _tool_calls(hops: GatewayHops) -> tuple[list[Any], list[Any]]:
    return _numbered_calls(hops.first), _numbered_calls(hops.here)


def _numbered_calls(answer: Transcript) -> list[Any]:
    """Tool calls in the order of their places, however their ends came.

    Instead of its id each has the number of the first call with that id; not every API has ids.
    """
    places = [each.get("index") for each in answer.tools]
    calls = answer.tools
    if all(isinstance(each, int) for each in places):
        calls = sorted(calls, key=lambda each: (each.get("choice", 0), each["index"]))
    ids = [each.get("id") or at for at, each in enumerate(calls)]
    return [
        {
            "name": each.get("name"),
            "arguments": _decode_arguments(each.get("arguments")),
            "id of call": ids.index(ids[at]),
        }
        for at, each in enumerate(calls)
    ]


def _decode_arguments(arguments: Any) -> Any:
    try:
        return json.loads(arguments)
    except (TypeError, ValueError, RecursionError):
        return arguments


def _usage_totals(hops: GatewayHops) -> tuple[int | None, int | None]:
    totals = [_total_tokens(each) for each in hops.upstream]
    known = [each for each in totals if each is not None]
    got = _total_tokens(hops.here)
    return (None, None) if got is None or len(known) < len(totals) else (sum(known), got)


def _total_tokens(answer: Transcript) -> int | None:
    """Tokens in all; where no total is stated, those of input and output."""
    usage = answer.usage
    parts = [usage.get("input"), usage.get("output")]
    counts = [each for each in parts if isinstance(each, int)]
    total = usage.get("total")
    return total if isinstance(total, int) else sum(counts) if len(counts) == len(parts) else None


_PAIRS: Final[tuple[tuple[Rule, HopPair], ...]] = (
    (HOP_TEXT, _visible_texts),
    (HOP_TOOLS, _tool_calls),
    (HOP_THINKING, _thinking_texts),
    (HOP_SUMMARY, _summary_texts),
    (HOP_OPAQUE, _opaque_kinds),
    (HOP_ORDER, _content_orders),
    (HOP_USAGE, _usage_totals),
)
"""The upstream's texts and what arrived of them, by rule; without either a rule judges nothing."""
_BEGUN: Final = (
    (HOP_TEXT, _beginnings_of(_visible_texts)),
    (HOP_THINKING, _beginnings_of(_thinking_texts)),
)


def _judge_pair(ledger: Ledger, rule: Rule, answer: Transcript, pair: tuple[Any, Any]) -> None:
    wanted, got = pair
    if wanted == got:
        ledger.add(rule.id, Verdict.PASS, by=_NAME)
        return
    where, expected, came, change = first_difference(wanted, got)
    message = f"expected {expected}, got {came} at {where}"
    about = About(change=Change.LOST if came.startswith(view(MISSING)) else change)
    found = finding_at_end(rule, answer, message, about=about)
    ledger.add(rule.id, Verdict.FAIL, findings=(found,), by=_NAME)
