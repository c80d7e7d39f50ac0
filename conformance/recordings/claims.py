"""What a recording says of itself, and which rules that silenced.

Rule 1: which rules may fail (`excused`), and that an answer cannot be judged (`untestable`), is not
taken from an untrusted recording.
Rule 2: its profile, fidelity, hops and statuses, what its run knew, what its client declares and
which rules redaction touched are taken, and so is a profile that a stream chose by its own fields.
But it is judged once more without all that, and what would have come of a rule then is in the
ledger as silenced.
Rule 3: that redaction touched a rule is taken of one that is broken only where what it read is a
stand-in (`evidence.replaced_texts`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from msgspec.structs import replace

from conformance.cassette import Recording
from conformance.core.events import Exchange, Response
from conformance.evidence.expectations import RUN, stated_run
from conformance.evidence.hop_opaque import SHOWN_ELSEWHERE
from conformance.judging.client_view import IMPLEMENTATION
from conformance.judging.hop_rules import OPAQUE
from conformance.judging.ledger import Ledger
from conformance.judging.lineage import level_rank
from conformance.judging.result import StreamResult
from conformance.judging.transcript import is_refusal
from conformance.recordings.reread import OPEN_VERDICTS
from conformance.rules.applies import REBUILT
from conformance.rules.verdicts import Verdict

STRICT: Final = "strict"
_EXCUSES: Final = frozenset({"excused", "broken", "untestable"})
_CLAIMED: Final = frozenset({RUN, IMPLEMENTATION})
_REDACTION: Final = "redaction"
_STATUS: Final = "http status"
_ANSWERED: Final = 200
# Who writes to a ledger by what a recording says of itself, and what that is.
_CLAIM_OF: Final = {
    "own answers": "hop",
    "hops": "hop",
    "own requests": RUN,
    "expectations": RUN,
    "randomness": RUN,
    "undeclared": IMPLEMENTATION,
    _REDACTION: _REDACTION,
    _STATUS: "status",
}


def without_excuses(recording: Recording) -> Recording:
    """The recording, and nothing of what its run says may fail or cannot be judged."""
    run = stated_run(recording.header) or {}
    steps = run.get("steps")
    if not isinstance(steps, Mapping):
        return recording
    stated = {**run, "steps": {role: _unexcused_step(step) for role, step in steps.items()}}
    header = replace(recording.header, extra={**recording.header.extra, RUN: stated})
    return replace(recording, cassette=replace(recording.cassette, header=header))


def _unexcused_step(step: Any) -> Any:
    if not isinstance(step, Mapping):
        return step
    return {key: value for key, value in step.items() if key not in _EXCUSES}


def makes_claims(recording: Recording) -> bool:
    """Whether a recording says something of itself, its profile apart, that may silence a rule."""
    states_one = not _CLAIMED.isdisjoint(recording.header.extra) or _states_rebuilt(recording)
    return states_one or any(
        each.hop or each.touched or is_refusal(each) for each in recording.exchanges
    )


def without_claims(recording: Recording, dialects: Mapping[int, str] | None = None) -> Recording:
    """The recording as evidence alone, to be judged by the strict profile.

    `dialects` are those in which its exchanges were read, by number.
    """
    header = recording.header
    evidence = replace(
        header,
        profile=STRICT,
        fidelity="bytes" if _states_rebuilt(recording) else header.fidelity,
        extra={key: value for key, value in header.extra.items() if key not in _CLAIMED},
    )
    exchanges = tuple(
        replace(
            each,
            hop="",
            touched=(),
            response=_answered_response(each),
            dialect=(dialects or {}).get(each.number, each.dialect),
        )
        for each in recording.exchanges
    )
    return replace(
        recording, cassette=replace(recording.cassette, header=evidence, exchanges=exchanges)
    )


def _answered_response(exchange: Exchange) -> Response | None:
    if exchange.response is None or not is_refusal(exchange):
        return exchange.response
    return replace(exchange.response, status=_ANSWERED)


def _states_rebuilt(recording: Recording) -> bool:
    """Whether the file says that its framing was rebuilt; what we import we rebuilt ourselves."""
    return recording.kind == "cassette" and recording.header.fidelity == "events"


def with_silenced(
    recording: Recording,
    results: Sequence[StreamResult],
    by_evidence: Iterable[StreamResult],
    *,
    by_signs: bool = False,
) -> list[StreamResult]:
    """The results, their ledgers saying what silenced which rules.

    `by_evidence` are the results of the same exchanges without claims. `by_signs`: the profile is
    one that the streams show, whatever the recording names.
    """
    names_profile = recording.header.profile is not None and not by_signs
    evident = {(each.exchange, each.view): each for each in by_evidence}
    levels, bare = _levels(results), _levels(evident.values())
    milder = {rule for rule, level in bare.items() if levels.get(rule, level) > level}
    given: list[StreamResult] = []
    for result in results:
        alone = evident.get((result.exchange, result.view))
        ledger = Ledger(result)
        silenced = dict(_unseen_rules(recording, result))
        silenced |= dict(_silenced_rules(result, alone, milder)) if alone else {}
        for rule, was in sorted(silenced.items()):
            why = _what_silenced(result, rule, names_profile=names_profile)
            ledger.silence(rule, was, why, by="claims")
        given.append(ledger.result() if silenced else result)
    return given


def _levels(results: Iterable[StreamResult]) -> dict[str, int]:
    """The gravest level of each rule's findings, 0 for the gravest of all."""
    found: dict[str, int] = {}
    for finding in (each for result in results for each in result.findings):
        rank = level_rank(finding)
        found[finding.rule] = min(rank, found.get(finding.rule, rank))
    return found


def _unseen_rules(recording: Recording, result: StreamResult) -> Iterator[tuple[str, Verdict]]:
    """Rules of which the recording says that it lacks the evidence for them."""
    for each in result.changes:
        if each.by == _REDACTION and each.was not in (None, each.verdict, Verdict.NOT_APPLICABLE):
            yield each.rule, each.was
    if result.reasons.get(OPAQUE.id) == SHOWN_ELSEWHERE:
        yield OPAQUE.id, Verdict.FAIL
    if _states_rebuilt(recording):
        untestable = (rule for rule, why in result.reasons.items() if why == REBUILT)
        yield from ((rule, result.verdicts[rule]) for rule in untestable)


def _silenced_rules(
    result: StreamResult, alone: StreamResult, milder: set[str]
) -> Iterator[tuple[str, Verdict]]:
    """Rules that by evidence alone would fail, or be open, and do not, or fail more mildly.

    That a refusal is none of an answer's is no claim where its body says so, too.
    """
    is_refused = bool(result.error or alone.error or not result.framing)
    refused = {each.rule for each in result.changes if is_refused and each.by == _STATUS}
    for rule, was in alone.verdicts.items():
        if rule in refused:
            continue
        verdict = result.verdicts.get(rule, Verdict.NOT_APPLICABLE)
        is_kept = verdict is was or verdict in (Verdict.FAIL, Verdict.ERROR)
        if was in OPEN_VERDICTS and (not is_kept or (was is Verdict.FAIL and rule in milder)):
            yield rule, was


def _what_silenced(result: StreamResult, rule: str, *, names_profile: bool) -> str:
    """In words that go after `by`."""
    writers = [each.by for each in result.changes if each.rule == rule]
    claims = [_CLAIM_OF[by] for by in writers if by in _CLAIM_OF]
    if result.reasons.get(rule) == SHOWN_ELSEWHERE:
        claims.append(RUN)
    if result.reasons.get(rule) == REBUILT:
        claims.append("fidelity")
    if not claims and result.profile != STRICT:
        who = "the recording names" if names_profile else "its own signs name"
        return f"profile {result.profile} that {who}"
    return f"the recording's own {claims[-1] if claims else 'hop'}"
