"""The ways in which one recorded answer is replayed to a client.

Rule 1: what a client should see is read from the bytes that this way really sends.
Rule 2: ways that change nothing (chunks, comments, line ends) are told apart from cuts and edits,
        since a client must report the same of all of them.
Rule 3: a cut comes after every event in turn. Once the finish has come a client may take the
        answer as complete, so the last places prove nothing of the ending.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final, Literal

from conformance.cassette import Clock
from conformance.core.events import Chunk, Exchange
from conformance.core.framing import framing_of
from conformance.mutate import OPERATORS, make_mutants, take_apart
from conformance.targets.client.edges import BYTEWISE, edges
from conformance.targets.replay import BodySpot, Chunking, ReplayOptions, event_count
from conformance.targets.replay.script import script

Extent = Literal["quick", "full"]
Kind = Literal["same", "edited", "cut", "reset"]
SEEDS: Final = 20
MOST_CUTS: Final = 256  # of a long stream so many places are tried, evenly
_LINE_ENDS: Final = frozenset(b"\r\n")
_LONG: Final = 64 * 1024  # a longer body comes in pieces of 7 bytes
_FRAMING: Final = tuple(
    each
    for each in OPERATORS
    if each.family == "F" and each.must == "pass" and each.name[:2] != "F8"
)


@dataclass(frozen=True, slots=True)
class Variation:
    """One way: its name, what is served, and how.

    `kind` is `same` where a client must report what it reports of the recording itself, `cut`
    where the stream breaks off, `reset` where it does so and bytes may be lost on the way.
    """

    name: str
    kind: Kind
    exchange: Exchange
    options: ReplayOptions

    def sent(self) -> Exchange:
        """The exchange as it really goes out: these bytes, and how they end."""
        made = script(self.exchange, Clock(), self.options)
        chunks = tuple(Chunk(data, 0.0) for _, data in made.pieces())
        end = "protocol-error" if self.kind in ("cut", "reset") else self.exchange.end
        return replace(self.exchange, chunks=chunks, end=end)


def variations(
    exchange: Exchange, dialect: str, extent: Extent, *, edited: bool
) -> list[Variation]:
    """All ways for one exchange; `edited`: edits of the framing too, every one legal."""
    ways = [Variation("recorded", "same", exchange, _options())]
    if extent == "quick" or exchange.end == "idle-timeout":  # each would wait for a deadline
        return ways
    ways += _chunked(exchange)
    framing = framing_of(exchange) if _is_answer(exchange) else "body"
    if framing == "sse":
        ways += _dressed(exchange)
    if framing != "body":
        ways += _cuts(exchange)
    if edited and framing == "sse":
        ways += _edited(exchange, dialect)
    return ways


def _options(chunking: str = "recorded", cut: str | None = None, how: str = "fin") -> ReplayOptions:
    return ReplayOptions.parse(chunking=chunking, cut=cut, how=how, repeat=True)


def _is_answer(exchange: Exchange) -> bool:
    status = exchange.response.status if exchange.response else None
    return status in (None, 200) and any(chunk.data for chunk in exchange.chunks)


def _chunked(exchange: Exchange) -> Iterator[Variation]:
    names = ["events", _bytewise(exchange), *(f"seed:{number}" for number in range(1, SEEDS + 1))]
    for name in names:
        yield Variation(name, "same", exchange, replace(_options(), chunking=Chunking.parse(name)))


def _bytewise(exchange: Exchange) -> str:
    size = sum(len(chunk.data) for chunk in exchange.chunks)
    return BYTEWISE if size <= _LONG else "bytes:7"


def _dressed(exchange: Exchange) -> Iterator[Variation]:
    for name in ("comments", "crlf"):
        options = ReplayOptions.parse(comments=name == "comments", crlf=name == "crlf", repeat=True)
        yield Variation(name, "same", exchange, options)


def _cuts(exchange: Exchange) -> Iterator[Variation]:
    if exchange.end != "eof":
        return
    count = event_count(exchange)
    step = max(1, -(-count // MOST_CUTS))
    for place in range(0, count, step):
        options = replace(_options(), cut=BodySpot("event", place))
        yield Variation(f"cut event:{place}", "cut", exchange, options)
    middle = f"byte:{_inside_a_line(b''.join(chunk.data for chunk in exchange.chunks))}"
    yield Variation(f"cut {middle}", "cut", exchange, _options(cut=middle))
    yield Variation(f"reset {middle}", "reset", exchange, _options(cut=middle, how="rst"))


def _inside_a_line(body: bytes) -> int:
    """A byte near the middle, away from line ends: whoever reads lines has none of the last."""
    middle = len(body) // 2
    places = range(middle, len(body) - 2)
    return next((at for at in places if not _LINE_ENDS & set(body[at - 2 : at + 2])), middle)


def _edited(exchange: Exchange, dialect: str) -> Iterator[Variation]:
    stream = take_apart(exchange, dialect)
    for operator in _FRAMING:
        for mutant in make_mutants(operator, stream, most=1):
            yield Variation(operator.name, "same", mutant.exchange, _options())
    for edge in edges(stream):
        chunking = _bytewise(exchange) if edge.chunking == BYTEWISE else edge.chunking
        yield Variation(edge.name, "edited", edge.exchange, _options(chunking))
