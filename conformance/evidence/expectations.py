"""What a live run knew beforehand, stated in its recordings, and judged with them.

A recording of a run says in its header, under `run`, which ending each step of the scenario
expects, whether thinking must show, and whether the target gives the same answer twice. So a
saved run, checked later, gives the same verdicts.

Rule 1: another ending than the stated one is a finding, and so is thinking that is missing.
Rule 2: where the target is random, texts of two answers are UNTESTABLE against each other.
Rule 3: HTTP 3xx to 5xx, of a run or not, is no stream: only its error and its end are judged.
Rule 4: requests that the toolkit wrote itself are not judged: they say nothing of the target.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from conformance.cassette import Header, Recording
from conformance.core.events import Exchange
from conformance.evidence.answer import Answer, ended, read_answer
from conformance.evidence.comparisons import Comparison
from conformance.evidence.hops import with_hops
from conformance.evidence.run_rules import ENDING, RULES, THINKING, Expected, otherwise, told_also
from conformance.judging.result import Finding, StreamResult
from conformance.judging.view import Judged, Setting
from conformance.profiles.profile import Profile, reading
from conformance.rules.model import Compare, Rule
from conformance.rules.verdicts import Level, Verdict

RUN: Final = "run"
"""Key of the header that states all this."""

_ASKED: Final = frozenset({"request", "request.item", "http.request"})
_END: Final = "http.end"
_ANSWERED: Final = frozenset({"complete", "length", "tools", "filtered"})
_OURS: Final = "the scenario wrote the request"
_RANDOM: Final = "the target is not deterministic"


def stated(header: Header) -> Mapping[str, Any] | None:
    """The header's `run`, None where the recording is of no run."""
    run = header.extra.get(RUN)
    return run if isinstance(run, Mapping) else None


def is_played(header: Header, exchange: Exchange) -> bool:
    """Whether the toolkit answered here itself, behind a gateway."""
    run = stated(header)
    return run is not None and exchange.hop == "upstream"


def with_expectations(
    judged: Judged, setting: Setting, exchange: Exchange, recording: Recording
) -> Judged:
    """The result with what the run expected of this exchange judged too."""
    run = stated(recording.header)
    if run is None:
        return replace(judged, result=_of_refusal(judged.result, setting, exchange))
    result = judged.result
    expected = _expected(run, exchange)
    result = _silenced(result, _passed_on(result, expected), "the recording breaks it, too")
    if is_played(recording.header, exchange):
        # The toolkit answered here: only what the gateway asked says anything of the gateway.
        return replace(judged, result=_kept(result, _rules(setting)))
    if run.get("target") in ("server", "gateway"):
        result = _without(result, _rules(setting), _OURS)
        if exchange.request is not None and exchange.request.method == "GET":
            unasked = [r for r, v in result.verdicts.items() if v is Verdict.UNTESTABLE]
            result = _silenced(result, unasked, "the request has no body")
    result = _of_refusal(result, setting, exchange)
    if expected.ends:
        answer = read_answer(exchange, setting.dialect, reading(setting.profile))
        result = _judged(result, exchange, expected, answer)
        if exchange.hop == "downstream":
            place = ("upstream", exchange.role)
            behind = [each for each in recording.exchanges if (each.hop, each.role) == place]
            result = with_hops(result, exchange, answer, behind, expected)
    return replace(judged, result=_overridden(result, setting.profile))


def with_randomness(
    compared: Sequence[Comparison], rules: Iterable[Rule], header: Header
) -> list[Comparison]:
    """Comparisons that chance decides withdrawn, where the run found the target random."""
    run = stated(header)
    if run is None:
        return list(compared)
    by_id = {rule.id: rule for rule in rules}
    return [_weighed(each, by_id[each.rule], run) for each in compared]


def compares_answers(rule: Rule) -> bool:
    """Whether a rule compares what the model chose in one exchange with another one."""
    form = rule.form
    if not isinstance(form, Compare) or judges_requests(rule):
        return False
    return form.left.role != form.right.role


def judges_requests(rule: Rule) -> bool:
    """Whether a rule looks at what was asked."""
    return any(not _ASKED.isdisjoint(alias.types) for alias in rule.aliases.values())


def _judges_errors(rule: Rule) -> bool:
    """Whether a rule looks at errors: all that an answer of HTTP 4xx and 5xx can hold."""
    return any("error" in kind for alias in rule.aliases.values() for kind in alias.types)


def _judges_endings(rule: Rule) -> bool:
    """Whether a rule looks at how the transfer ended, and at nothing else."""
    return {kind for alias in rule.aliases.values() for kind in alias.types} == {_END}


def _of_refusal(result: StreamResult, setting: Setting, exchange: Exchange) -> StreamResult:
    """The result; of an answer of HTTP 3xx to 5xx with what was asked, its error and its end."""
    status = exchange.response.status if exchange.response else None
    if status is None or status < 300:
        return result
    kept = (_judges_errors, judges_requests, _judges_endings)
    others = {rule.id for rule in _rules(setting) if not any(looks(rule) for looks in kept)}
    why = f"it was answered with HTTP {status}"
    return _silenced(result, others & result.verdicts.keys(), why)


def _weighed(one: Comparison, rule: Rule, run: Mapping[str, Any]) -> Comparison:
    if run.get("target") == "server" and judges_requests(rule):
        return Comparison(one.rule, Verdict.NOT_APPLICABLE, _OURS, ())
    is_chance = run.get("deterministic") is False and compares_answers(rule)
    if is_chance and one.verdict in (Verdict.FAIL, Verdict.PASS):
        return Comparison(one.rule, Verdict.UNTESTABLE, _RANDOM, ())
    return one


def _rules(setting: Setting) -> Iterable[Rule]:
    return (
        plan.rule for each in (setting.bound.rules, setting.bound.scenario) for plan in each.plans
    )


def _without(result: StreamResult, rules: Iterable[Rule], why: str) -> StreamResult:
    out = {rule.id for rule in rules if judges_requests(rule)} & result.verdicts.keys()
    return _silenced(result, out, why)


def _kept(result: StreamResult, rules: Iterable[Rule]) -> StreamResult:
    out = {rule.id for rule in rules if not judges_requests(rule)} & result.verdicts.keys()
    return _silenced(result, out, "the toolkit played the server here")


def _overridden(result: StreamResult, profile: Profile) -> StreamResult:
    """The result with what the profile says of the rules that a run states."""
    for rule in RULES:
        override = profile.overrides.get(rule.id)
        if override is None or rule.id not in result.verdicts:
            continue
        if override.level == "off":
            result = _silenced(result, [rule.id], f"the profile says: {override.because}")
            continue
        level = Level(override.level)
        findings = (replace(f, level=level) if f.rule == rule.id else f for f in result.findings)
        result = replace(result, findings=tuple(findings))
    return result


def _silenced(result: StreamResult, out: Collection[str], why: str) -> StreamResult:
    return replace(
        result,
        verdicts={**result.verdicts, **dict.fromkeys(out, Verdict.NOT_APPLICABLE)},
        reasons={**result.reasons, **dict.fromkeys(out, why)},
        findings=tuple(f for f in result.findings if f.rule not in out),
    )


def _passed_on(result: StreamResult, expected: Expected) -> set[str]:
    """Rules that fail, and failed before a gateway passed the answer on."""
    return {f.rule for f in result.findings} & set(expected.excused)


def _expected(run: Mapping[str, Any], exchange: Exchange) -> Expected:
    """What is stated of the exchange; a header is a stranger's, so nothing of it is trusted."""
    steps = run.get("steps")
    step = steps.get(exchange.role) if isinstance(steps, Mapping) else None
    if not isinstance(step, Mapping):
        return Expected()
    thinking = step.get("thinking")
    return Expected(
        ends=_strings(step.get("ends")),
        thinking=thinking if isinstance(thinking, bool) else None,
        untestable=str(step.get("untestable") or ""),
        fault=str(step.get("fault") or ""),
        without=_strings(run.get("without")),
        limit=limit if isinstance(limit := step.get("limit"), int) else None,
        calls=calls if isinstance(calls := step.get("calls"), int) else None,
        upstream=str(run.get("upstream") or ""),
        excused=_strings(step.get("excused")),
    )


def _strings(value: Any) -> tuple[str, ...]:
    return tuple(w for w in value if isinstance(w, str)) if isinstance(value, list) else ()


def _judged(
    result: StreamResult, exchange: Exchange, expected: Expected, answer: Answer
) -> StreamResult:
    if expected.untestable:
        ids = [ENDING.id, THINKING.id]
        return told_also(result, dict.fromkeys(ids, Verdict.UNTESTABLE), (), expected.untestable)
    came = ended(exchange, answer)
    if came not in expected.ends and (why := _untold(came, answer, expected)):
        return told_also(result, {ENDING.id: Verdict.UNTESTABLE}, (), why)
    verdicts: dict[str, Verdict] = {}
    findings: list[Finding] = []
    verdicts[ENDING.id] = Verdict.PASS if came in expected.ends else Verdict.FAIL
    if came in expected.ends and came not in _ANSWERED:
        open_ = [r for r, v in result.verdicts.items() if v is Verdict.INCONCLUSIVE]
        result = _silenced(result, open_, "there was to be no answer")
    if came not in expected.ends:
        why = _why(exchange, answer, expected)
        findings.append(otherwise(ENDING, exchange, answer, expected.ends, f"{came}{why}"))
    if expected.thinking is not None and came in _ANSWERED:
        holds = answer.thought is expected.thinking
        verdicts[THINKING.id] = Verdict.PASS if holds else Verdict.FAIL
        if not holds:
            wanted, got = ("thinking", "none") if expected.thinking else ("no thinking", "some")
            findings.append(otherwise(THINKING, exchange, answer, (wanted,), got))
    return told_also(result, verdicts, findings, "")


def _untold(came: str, answer: Answer, expected: Expected) -> str:
    """Why the ending tells nothing, where the limit of the answer's length explains it."""
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


def _why(exchange: Exchange, answer: Answer, expected: Expected) -> str:
    """What is known of the reason: what the transport met, the status, the server's own words."""
    parts = [expected.fault]
    response = exchange.response
    if response is None:
        parts.append("no response head")
    elif response.status != 200:
        parts.append(f"HTTP {response.status}")
        if 300 <= (response.status or 0) < 400:
            parts.append("a redirect that is not followed")
    parts += [str(error.get("message") or error.get("code") or "") for error in answer.errors[:1]]
    if response is not None and not (answer.done or answer.errors or answer.listed):
        parts.append(f"content type {response.header('content-type') or 'none'}")
    told = ", ".join(part for part in parts if part)
    return f": {told}" if told else ""
