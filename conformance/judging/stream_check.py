"""Judges one stream while it passes through, without holding its bytes up.

Rule 1: no content of a stream makes `feed` or `close` raise. An error of ours ends the judging with
the verdict ERROR.
Rule 2: judging one stream takes no longer, in all, than its budget. The budget is checked before
every piece of `PIECE` bytes; past it the judging ends with UNTESTABLE, and the rest of the stream
costs nothing.
Rule 3: if the judging ended early, its findings stay, and every other rule has the reason why it
was not judged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from time import perf_counter
from typing import Final

from msgspec.structs import replace

from conformance.core.content_coding import LONGEST_SIGN
from conformance.core.events import Exchange
from conformance.judging.consequences import result_of_bytes
from conformance.judging.exchange_input import checked_ending, compression_left, with_clock
from conformance.judging.fast.running import RunningView
from conformance.judging.result import Finding, StreamResult
from conformance.judging.view import EventListener, JudgeSetting
from conformance.rules.verdicts import Verdict

PIECE: Final = 1 << 14  # bytes that are judged before the budget is looked at again
BUDGET_MS: Final = 5000.0


class StreamCheck:
    """A stream under way, as `Checker.stream` gives it; used by one thread at a time.

    `unjudged` gives the result of a stream of which nothing is known, `result` is given where
    nothing is to be judged at all. `listener` is given the events as they are judged.
    """

    def __init__(
        self,
        setting: JudgeSetting,
        exchange: Exchange,
        budget_ms: float,
        unjudged: Callable[[], StreamResult],
        result: StreamResult | None = None,
        *,
        listener: EventListener | None = None,
    ) -> None:
        self._setting = setting
        self._exchange = exchange
        self._budget_ms = budget_ms
        self._spent = 0.0  # seconds
        self._unjudged = unjudged
        self._view: RunningView | None = None
        self._elapsed: float | None = 0.0
        self._bytes = 0
        self._beginning = b""  # the first of them
        self._given = 0  # findings given to the caller
        self._result = result
        self._listener = listener

    @property
    def is_judging(self) -> bool:
        """Whether bytes are still judged: not in a stream that was not chosen, nor after a stop."""
        return self._result is None

    def feed(
        self, data: bytes | bytearray | memoryview, ms: float | None = None
    ) -> tuple[Finding, ...]:
        """Judges the next chunk; the findings that came with it.

        `ms` are milliseconds since the chunk before (since the response head, for the first);
        without them rules about time are UNTESTABLE. Similar deltas are judged several at a time,
        so a finding may come some chunks later. `close` decides: a finding is withdrawn if only the
        end of the answer shows that its rule does not apply.
        """
        if self._result is not None:
            return ()
        began = perf_counter()
        view = self._view
        try:
            view = self._view = view or self._new_view(with_clock(self._exchange, ms))
            self._judge(view, bytes(data), ms, began)
        except Exception as err:  # noqa: BLE001  # rule 1
            self._stop(Verdict.ERROR, _failure(err))
        self._spent += perf_counter() - began
        return self._new_findings(view)

    def catch_up(self) -> tuple[Finding, ...]:
        """Judges the deltas that wait for more similar ones; gives the findings in them.

        For callers that show findings while the stream is silent. It does not change the result.
        """
        view, began = self._view, perf_counter()
        if self._result is not None or view is None:
            return ()
        try:
            view.catch_up()
        except Exception as err:  # noqa: BLE001  # rule 1
            self._stop(Verdict.ERROR, _failure(err))
        self._spent += perf_counter() - began
        return self._new_findings(view)

    def _new_findings(self, view: RunningView | None) -> tuple[Finding, ...]:
        found = () if view is None else view.findings
        before, self._given = self._given, len(found)
        return tuple(found[before:]) if self._given > before else ()

    def _new_view(self, exchange: Exchange) -> RunningView:
        view = RunningView(self._setting, exchange)
        view.listener = self._listener
        return view

    def close(self, end: str = "eof") -> StreamResult:
        """Verdicts and findings; `end` says how the stream ended, in the words of a cassette.

        A second call gives the same result. Raises UsageError for an unknown word.
        """
        how = checked_ending(end)
        if self._result is None:
            try:
                view = self._view or self._new_view(self._exchange)
                self._result = result_of_bytes(view.finish(how))
            except Exception as err:  # noqa: BLE001  # rule 1
                self._stop(Verdict.ERROR, _failure(err))
        self._view = None
        assert self._result is not None
        return self._result

    def _judge(self, view: RunningView, data: bytes, ms: float | None, began: float) -> None:
        self._elapsed = None if self._elapsed is None or ms is None else self._elapsed + ms
        if self._bytes < LONGEST_SIGN:
            self._beginning += data[:LONGEST_SIGN]
            if why := compression_left(self._beginning):
                self._stop(Verdict.UNTESTABLE, why)
                return
        for piece in (data,) if len(data) <= PIECE else _pieces(data):
            if (self._spent + perf_counter() - began) * 1000 > self._budget_ms:
                spent = f"the budget of {self._budget_ms:g} ms was spent"
                self._stop(Verdict.UNTESTABLE, f"{spent} after {self._bytes} bytes")
                return
            view.feed(piece, self._elapsed)
            self._bytes += len(piece)

    def _stop(self, verdict: Verdict, why: str) -> None:
        found = () if self._view is None else self._view.findings
        self._result = stopped_result(self._unjudged(), found, verdict, why)
        self._view = None


def stopped_result(
    unjudged: StreamResult, found: Sequence[Finding], verdict: Verdict, why: str
) -> StreamResult:
    """The result of a stream that was not judged to its end; `unjudged` is that of nothing at all.

    Rules that can apply to no stream of the profile stay NOT-APPLICABLE.
    """
    failed = {finding.rule for finding in found}
    none = Verdict.NOT_APPLICABLE
    verdicts = {rule: v if v is none else verdict for rule, v in unjudged.verdicts.items()}
    open_rules = {rule for rule, v in verdicts.items() if v is not none}
    reasons = {**unjudged.reasons, **dict.fromkeys(open_rules, why)}
    return replace(
        unjudged,
        verdicts=verdicts | dict.fromkeys(failed, Verdict.FAIL),
        reasons={rule: reason for rule, reason in reasons.items() if rule not in failed},
        findings=tuple(sorted(found, key=lambda finding: (finding.event, finding.rule))),
        notes=(*unjudged.notes, why),
    )


def _pieces(data: bytes) -> Iterator[bytes]:
    return (data[at : at + PIECE] for at in range(0, len(data), PIECE))


def _failure(err: Exception) -> str:
    return f"the judge failed: {type(err).__name__}: {err}"
