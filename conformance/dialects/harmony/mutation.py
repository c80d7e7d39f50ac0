"""Mutation of `harmony`: token text has no keys, so its own operators edit it, marker by marker."""

from __future__ import annotations

from typing import Final

from conformance.dialects.harmony.markers import ENDS
from conformance.editing.layout import StreamLayout
from conformance.editing.operator import Mutation, OperatorTable, Sites
from conformance.editing.operator_rows import operator_rows
from conformance.editing.piece import Piece
from conformance.editing.stream import Stream

OPERATORS: Final = OperatorTable()
_CONSTRAIN: Final = "<|constrain|>"
_STOPS: Final = ("<|return|>", "<|call|>")
_ENDS: Final = tuple(f"<|{name}|>" for name in sorted(ENDS))


def _markers(stream: Stream) -> list[int]:
    return [n for n, piece in enumerate(stream.pieces) if _is_marker(piece)]


def _is_marker(piece: Piece) -> bool:
    return piece.kind == "text" and piece.raw.startswith(b"<|") and piece.raw.endswith(b"|>")


def _needed_markers(stream: Stream) -> list[int]:
    return [n for n in _markers(stream) if stream.pieces[n].payload != _CONSTRAIN]


def _pieces_of(*texts: str) -> Sites:
    """Places of these markers or texts."""

    def sites(stream: Stream) -> list[int]:
        found = enumerate(stream.pieces)
        return [n for n, piece in found if piece.kind == "text" and piece.payload in texts]

    return sites


def _further_ends(stream: Stream) -> list[int]:
    """Ends of messages after which another one comes."""
    return [n for n in _pieces_of(*_ENDS)(stream) if n + 1 < len(stream.pieces)]


def _text(text: str) -> Piece:
    return Piece(text.encode(), "text", payload=text)


_constraints: Final = _pieces_of(_CONSTRAIN)


@OPERATORS.edit("B23-other-channel", _pieces_of("analysis", "commentary", "final"))
def _garble_channel(stream: Stream, site: int) -> Stream:
    """A channel is no word that is known."""
    return stream.swap(site, _text(f"{stream.pieces[site].payload}?"))


@OPERATORS.edit("B24-text-between", _further_ends)
def _speak_between(stream: Stream, site: int) -> Stream:
    """A text stands between two messages."""
    return stream.insert(site + 1, _text("Well.\n"))


@OPERATORS.edit("X20-goes-on", _pieces_of(*_STOPS))
def _go_on(stream: Stream, site: int) -> Stream:
    """The model goes on after its stop marker."""
    answer = "<|start|>assistant<|channel|>final<|message|>Well.<|return|>"
    return stream.insert(site + 1, _text(answer))


MUTATION: Final = Mutation(
    StreamLayout(
        elements={"harmony.choice": ("choices", 0)},
        refuses=frozenset({"ping"}),  # openai-python takes it for a chunk without choices
    ),
    (*OPERATORS, *operator_rows(__file__, globals())),
)
