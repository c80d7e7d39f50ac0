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
from conformance.targets.client.edge_cases import BYTEWISE, edge_cases
from conformance.targets.replay import BodySpot, Chunking, ReplayOptions, event_count
from conformance.targets.replay.script import answer_script

ReplayExtent = Literal["quick", "full"]
VariationKind = Literal["same", "edited", "cut", "reset"]
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
class ReplayVariation:
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
        made = answer_script(self.exchange, Clock(), self.options)
        chunks = tuple(Chunk(data, 0.0) for _, data in made.timed_chunks())
        end = "protocol-error" if self.kind in ("cut", "reset") else self.exchange.end
        return replace(self.exchange, chunks=chunks, end=end)


def replay_variations(
    exchange: Exchange, dialect: str, extent: ReplayExtent, *, edited: bool
) -> list[ReplayVariation]:
    """All ways for one exchange; `edited`: edits of the framing too, every one legal."""
    ways = [ReplayVariation("recorded", "same", exchange, _replay_options())]
    if extent == "quick" or exchange.end == "idle-timeout":  # each would wait for a deadline
        return ways
    ways += _chunking_variations(exchange)
    framing = framing_of(exchange) if _is_answer(exchange) else "body"
    if framing == "sse":
        ways += _framing_variations(exchange)
    if framing != "body":
        ways += _cut_variations(exchange)
    if edited and framing == "sse":
        ways += _edited_variations(exchange, dialect)
    return ways


def _replay_options(
    chunking: str = "recorded", cut: str | None = None, how: str = "fin"
) -> ReplayOptions:
    return ReplayOptions.parse(chunking=chunking, cut=cut, how=how, repeat=True)


def _is_answer(exchange: Exchange) -> bool:
    status = exchange.response.status if exchange.response else None
    return status in (None, 200) and any(chunk.data for chunk in exchange.chunks)


def _chunking_variations(exchange: Exchange) -> Iterator[ReplayVariation]:
    names = [
        "events",
        _bytewise_chunking(exchange),
        *(f"seed:{number}" for number in range(1, SEEDS + 1)),
    ]
    for name in names:
        yield ReplayVariation(
            name, "same", exchange, replace(_replay_options(), chunking=Chunking.parse(name))
        )


def _bytewise_chunking(exchange: Exchange) -> str:
    size = sum(len(chunk.data) for chunk in exchange.chunks)
    return BYTEWISE if size <= _LONG else "bytes:7"


def _framing_variations(exchange: Exchange) -> Iterator[ReplayVariation]:
    for name in ("comments", "crlf"):
        options = ReplayOptions.parse(comments=name == "comments", crlf=name == "crlf", repeat=True)
        yield ReplayVariation(name, "same", exchange, options)


def _cut_variations(exchange: Exchange) -> Iterator[ReplayVariation]:
    if exchange.end != "eof":
        return
    count = event_count(exchange)
    step = max(1, -(-count // MOST_CUTS))
    for place in range(0, count, step):
        options = replace(_replay_options(), cut=BodySpot("event", place))
        yield ReplayVariation(f"cut event:{place}", "cut", exchange, options)
    middle = f"byte:{_inside_a_line(b''.join(chunk.data for chunk in exchange.chunks))}"
    yield ReplayVariation(f"cut {middle}", "cut", exchange, _replay_options(cut=middle))
    yield ReplayVariation(
        f"reset {middle}", "reset", exchange, _replay_options(cut=middle, how="rst")
    )


def _inside_a_line(body: bytes) -> int:
    """A byte near the middle, away from line ends: whoever reads lines has none of the last."""
    middle = len(body) // 2
    places = range(middle, len(body) - 2)
    return next((at for at in places if not _LINE_ENDS & set(body[at - 2 : at + 2])), middle)


def _edited_variations(exchange: Exchange, dialect: str) -> Iterator[ReplayVariation]:
    stream = take_apart(exchange, dialect)
    for operator in _FRAMING:
        for mutant in make_mutants(operator, stream, most=1):
            yield ReplayVariation(operator.name, "same", mutant.exchange, _replay_options())
    for edge in edge_cases(stream):
        chunking = _bytewise_chunking(exchange) if edge.chunking == BYTEWISE else edge.chunking
        yield ReplayVariation(edge.name, "edited", edge.exchange, _replay_options(chunking))
