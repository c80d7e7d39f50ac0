"""Recorded exchanges taken apart into streams of pieces, with the layout of their dialect."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from conformance.core.events import STREAMED, Exchange, Frame
from conformance.core.framing import Framer, Framing, framing_of
from conformance.core.json_values import NOT_JSON, decode_json
from conformance.core.trace import frame_payload
from conformance.dialects import get
from conformance.editing.operator import Mutation
from conformance.editing.piece import Piece
from conformance.editing.stream import Stream

_BLOCKS: Final = ("no-data", "unfinished", "too-long")


@cache
def mutation_of(dialect: str) -> Mutation:
    """What a dialect gives to mutation: few who load a dialect edit its streams."""
    found: Mutation = _mutation_module(dialect).MUTATION
    return found


def _mutation_module(dialect: str) -> ModuleType:
    folder = re.sub("[.-]", "_", get(dialect).name)
    return import_module(f"conformance.dialects.{folder}.mutation")


def legal_file(dialect: str) -> Path:
    """The file, next to the operators of a dialect, that says which mutants may live."""
    return Path(str(_mutation_module(dialect).__file__)).with_name("legal.yaml")


def take_apart(exchange: Exchange, dialect: str, *, framed: bool = True) -> Stream:
    """The pieces of a recorded exchange; `framed` as of `Stream`."""
    body = exchange.body
    framing = framing_of(exchange, get(dialect).expected_framing(exchange.request))
    layout = mutation_of(dialect).layout
    if framing == "body":
        pieces = [Piece(body, "body", payload=decode_json(body.decode("utf-8", "replace")))]
    else:
        pieces = list(_body_pieces(body, framing, layout.type_of))
    return Stream.of(exchange, dialect, layout, pieces, framed=framed)


def _body_pieces(body: bytes, framing: Framing, type_of: Callable[[Any], str]) -> Iterator[Piece]:
    framer = Framer(framing=framing)
    frames = [*framer.feed(body), *framer.close()]
    starts = dict(_piece_starts(frames))
    places = sorted(starts)
    if body and (not places or places[0] > 0):
        yield Piece(body[: places[0]] if places else body)
    for start, stop in pairwise([*places, len(body)]):
        frame = starts[start]
        payload = frame_payload(frame) if frame.kind in STREAMED else NOT_JSON
        name = frame.event if frame.named else ""
        yield Piece(body[start:stop], frame.kind, name, payload, type_of)


def _piece_starts(frames: Sequence[Frame]) -> Iterator[tuple[int, Frame]]:
    """Where pieces begin: a line that was reported inside a block begins none."""
    block = sys.maxsize
    for frame in reversed(frames):
        if frame.kind in STREAMED or frame.event in _BLOCKS:
            block = frame.offset
            yield frame.offset, frame
        elif frame.offset < block:
            yield frame.offset, frame
