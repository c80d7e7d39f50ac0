"""What the answers of one recording counted, remembered so that none is read again for it."""

from __future__ import annotations

from typing import NamedTuple

from conformance.core.events import Exchange
from conformance.core.framing import framing_of
from conformance.core.json_values import value_at
from conformance.dialects.requests import OPT_IN_FIELD, opts_in
from conformance.judging.transcript import WHOLE_ENDS, Transcript


class StepCount(NamedTuple):
    """Tokens of input, output and thinking that an answer counted, 0 where it does not say."""

    role: str
    read: int
    written: int
    thought: int = 0


class StepCounts:
    """Counts of the answers so far."""

    def __init__(self) -> None:
        self._known: dict[int, StepCount] = {}
        self._streamed: dict[str, StepCount] = {}  # the first stream of each API with usage
        self._thinking: dict[str, StepCount] = {}  # the first of them that counts thinking
        # The first answer of each API whose thinking shows and is counted, by whether it opted in.
        self._shown: dict[tuple[str, bool], StepCount] = {}

    def add(self, dialect: str, answer: Transcript) -> None:
        """Remembers an answer that ended by itself."""
        if answer.ending not in WHOLE_ENDS:
            return
        exchange = answer.exchange
        names = ("input", "output", "reasoning")
        count = StepCount(exchange.role, *(count_of(answer, name) for name in names))
        self._known[exchange.number] = count
        if count.written and not exchange.hop and framing_of(exchange) != "body":
            self._streamed.setdefault(dialect, count)
            if count.thought:
                self._thinking.setdefault(dialect, count)
        if count.thought and "".join(answer.thinking).strip():
            self._shown.setdefault((dialect, _opted_in(exchange)), count)

    def carried_by(self, exchange: Exchange) -> StepCount | None:
        """The answer that a request continues."""
        return None if exchange.after is None else self._known.get(exchange.after)

    def streamed(self, dialect: str) -> StepCount | None:
        """A stream of this API that states its usage."""
        return self._streamed.get(dialect)

    def thinking(self, dialect: str) -> StepCount | None:
        """A stream of this API that counts its thinking."""
        return self._thinking.get(dialect)

    def shown(self, dialect: str, exchange: Exchange) -> StepCount | None:
        """An answer whose thinking shows, and is counted, to a request that opted in alike."""
        return self._shown.get((dialect, _opted_in(exchange)))


def _opted_in(exchange: Exchange) -> bool:
    """Whether a request asks to see thinking, by a header or by a field that some servers read."""
    request = exchange.request
    if request is None:
        return False
    return opts_in(request) or value_at(request.json, *OPT_IN_FIELD) is True


def count_of(answer: Transcript, name: str) -> int:
    """A count of the usage, 0 where it is not stated."""
    count = answer.usage.get(name)
    return count if type(count) is int else 0
