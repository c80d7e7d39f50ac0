"""Withdraws findings on waits and missing counts that the model's own answers explain.

Rule 1: if the model's deltas came all at once, a burst is not the target's fault.
Rule 2: a target may be silent for a while before it retries a model that broke off. A minute is
        the limit: clients that double their waits, or add ten seconds each time, retry sooner.
Rule 3: a target cannot report tokens that no answer of the model counted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final

from conformance.cassette import Recording
from conformance.core.events import Exchange
from conformance.evidence.application import APP, provider_answers
from conformance.evidence.hop_sides import UNHEARD, ReadAnswer
from conformance.judging.ledger import Ledger
from conformance.rules.forms.timing import Timing
from conformance.rules.forms.timing_bursts import LONGEST_WAIT
from conformance.rules.model import Rule
from conformance.rules.verdicts import Verdict

LONGEST_PAUSE: Final = 60_000.0
"""Milliseconds between two tries of one request."""
_ENDS_CLEANLY: Final = frozenset({"wire/lines/ends-cleanly", "wire/sse/ends-cleanly"})
_COUNTS: Final = {
    "thinking/stream/answer-counted": "output",
    "thinking/answer/prompt-counted": "input",
    "wire/messages/prompt-counted": "input",
}
_BROKE_OFF: Final = frozenset({"cut", "failed"})
_NAME: Final = "hops"


ReadExchange = Callable[[Exchange], ReadAnswer]


def withdraw_explained(
    ledger: Ledger,
    rules: Iterable[Rule],
    recording: Recording,
    exchange: Exchange,
    read: ReadExchange,
) -> None:
    """Withdraws such findings of an application or a gateway, by the answers sent to it."""
    has_place = bool(exchange.scenario or exchange.role)
    if not (exchange.hop == APP or (exchange.hop == "downstream" and has_place)):
        return
    failed = frozenset(ledger.rules_with(Verdict.FAIL))
    bursts = {r.id for r in rules if isinstance(r.form, Timing) and r.form.burst is not None}
    unended = _ENDS_CLEANLY if exchange.end == "idle-timeout" else frozenset[str]()
    excusable = failed & {*bursts, *unended, *_COUNTS}
    calls = provider_answers(recording, exchange) if excusable else []
    if not calls:
        return
    if failed & bursts and (why := _came_at_once(calls)):
        ledger.withdraw(failed & bursts, why, _NAME)
    for rule in failed & _COUNTS.keys():
        if not any(_counted(each, _COUNTS[rule], read) for each in calls):
            ledger.withdraw([rule], "its model counted no tokens", _NAME)
    clock = recording.cassette.clocks.get(exchange.number)
    silent = clock.end if clock else None
    is_short = silent is not None and silent < LONGEST_PAUSE
    if failed & unended and is_short and (why := _may_ask_again(calls, read)):
        ledger.withdraw(failed & unended, why, _NAME, Verdict.INCONCLUSIVE)


def _came_at_once(calls: Sequence[Exchange]) -> str:
    """Rule 1."""
    times = [chunk.ms for answer in calls for chunk in answer.chunks[1:]]
    took = sum(ms for ms in times if ms is not None)
    if None in times or took >= LONGEST_WAIT:
        return ""
    return f"the deltas of its model came at once, in {took:.0f} ms"


def _counted(answer: Exchange, name: str, read: ReadExchange) -> bool:
    return bool(read(answer).transcript.usage.get(name))


def _may_ask_again(calls: Sequence[Exchange], read: ReadExchange) -> str:
    """Rule 2; a target does not retry after a refusal, or after its user stopped the answer."""
    if calls[-1].end in UNHEARD or read(calls[-1]).transcript.ending not in _BROKE_OFF:
        return ""
    tries = f", {len(calls)} times" if len(calls) > 1 else ""
    return f"its model broke off{tries}, and it may have waited to ask again"
