"""The ways in which one recorded answer is replayed to a client.

Rule 1: what a client should see is read from the bytes that this way really sends.
Rule 2: ways that change nothing (chunks, comments, line ends) are distinguished from cuts and
        edits, since a client must report the same of all of them.
Rule 3: a cut comes after every event in turn. Once the finish has come a client may take the
        answer as complete, so the last places prove nothing of the ending.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, Literal

from msgspec import Struct
from msgspec.structs import replace

from conformance.cassette import CassetteClock
from conformance.core.events import Chunk, Exchange
from conformance.core.framing import framing_of
from conformance.mutate import OPERATORS, make_mutants, take_apart
from conformance.targets.client.edge_cases import BYTEWISE, edge_cases
from conformance.targets.replay import ReplayOptions, event_count
from conformance.targets.replay.script import answer_script

ReplayExtent = Literal["quick", "full"]
VariationKind = Literal["same", "edited", "cut", "reset"]
RECORDED: Final = "recorded"
FOLLOWING: Final = ("next request", "extract")
"""The variations that a client gets once it has read an answer as it was recorded."""
SEEDS: Final = 20
MOST_CUTS: Final = 256  # of a long stream so many places are tried, evenly
_DECORATED: Final = ("comments", "crlf")
_LINE_ENDS: Final = frozenset(b"\r\n")
_LONG: Final = 64 * 1024  # a longer body comes in pieces of 7 bytes
_FRAMING: Final = tuple(
    each
    for each in OPERATORS
    if each.family == "F" and each.must == "pass" and each.name[:2] != "F8"
)


class ReplayVariation(Struct, frozen=True):
    """One way: its name, what is served, and how.

    `kind` is `same` where a client must report what it reports of the recording itself, `cut`
    where the stream breaks off, `reset` where it does so and bytes may be lost on the way.
    """

    name: str
    kind: VariationKind
    exchange: Exchange
    options: ReplayOptions

    def sent_exchange(self) -> Exchange:
        """The exchange as it really goes out: these bytes, and how they end."""
        made = answer_script(self.exchange, CassetteClock(), self.options)
        chunks = tuple(Chunk(data, 0.0) for _, data in made.timed_chunks())
        end = "protocol-error" if self.kind in ("cut", "reset") else self.exchange.end
        return replace(self.exchange, chunks=chunks, end=end)


def replay_variations(
    exchange: Exchange, dialect: str, extent: ReplayExtent, *, edited: bool, only: str = ""
) -> list[ReplayVariation]:
    """All ways for one exchange; `edited`: edits of the framing too, every one legal.

    With `only`, the way of that name, or none; what follows an answer follows `recorded`.
    """
    if only:
        wanted = RECORDED if only in FOLLOWING else only
        ways = replay_variations(exchange, dialect, "full", edited=True)
        return [each for each in ways if each.name == wanted]
    made = [_variation(RECORDED, "same", exchange)]
    if extent == "quick" or exchange.end == "idle-timeout":  # each would wait for a deadline
        return made
    names = ("events", _bytewise(exchange), *(f"seed:{n}" for n in range(1, SEEDS + 1)))
    made += [_variation(name, "same", exchange, chunking=name) for name in names]
    framing = framing_of(exchange) if _is_answer(exchange) else "body"
    if framing == "sse":
        made += [_variation(name, "same", exchange, **{name: True}) for name in _DECORATED]
    if framing != "body" and exchange.end == "eof":
        made += _cut_variations(exchange)
    if edited and framing == "sse":
        made += _edited_variations(exchange, dialect)
    return made


def _variation(
    name: str, kind: VariationKind, exchange: Exchange, **options: Any
) -> ReplayVariation:
    return ReplayVariation(name, kind, exchange, ReplayOptions.parse(**options, repeat=True))


def _is_answer(exchange: Exchange) -> bool:
    status = exchange.response.status if exchange.response else None
    return status in (None, 200) and any(chunk.data for chunk in exchange.chunks)


def _bytewise(exchange: Exchange) -> str:
    size = sum(len(chunk.data) for chunk in exchange.chunks)
    return BYTEWISE if size <= _LONG else "bytes:7"


def _cut_variations(exchange: Exchange) -> Iterator[ReplayVariation]:
    count = event_count(exchange)
    for place in range(0, count, max(1, -(-count // MOST_CUTS))):
        yield _variation(f"cut event:{place}", "cut", exchange, cut=f"event:{place}")
    middle = f"byte:{_inside_a_line(b''.join(chunk.data for chunk in exchange.chunks))}"
    yield _variation(f"cut {middle}", "cut", exchange, cut=middle)
    yield _variation(f"reset {middle}", "reset", exchange, cut=middle, how="rst")


def _inside_a_line(body: bytes) -> int:
    """A byte near the middle, away from line ends: whoever reads lines has none of the last."""
    middle = len(body) // 2
    places = range(middle, len(body) - 2)
    return next((at for at in places if not _LINE_ENDS & set(body[at - 2 : at + 2])), middle)


def _edited_variations(exchange: Exchange, dialect: str) -> Iterator[ReplayVariation]:
    stream = take_apart(exchange, dialect)
    for operator in _FRAMING:
        for mutant in make_mutants(operator, stream, most=1):
            yield _variation(operator.name, "same", mutant.exchange)
    for edge in edge_cases(stream):
        chunking = _bytewise(exchange) if edge.chunking == BYTEWISE else edge.chunking
        yield _variation(edge.name, "edited", edge.exchange, chunking=chunking)
