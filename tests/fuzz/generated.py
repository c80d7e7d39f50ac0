"""Streams with things gone wrong in them, drawn from a seed."""

from __future__ import annotations

from random import Random
from typing import Final

from tests.fuzz.dialogues import DIALECTS, Piece, stream, texts
from tests.fuzz.perturbations import PERTURBATIONS

BATCH: Final = 64  # frames that a run takes before the rules see them, under `small_batches`
LENGTHS: Final = (0, 1, 2, 3, 5, 8, 12, 20, 40)


def perturbed(pieces: list[Piece], names: list[str], source: Random) -> bytes:
    """The stream's bytes with one perturbation per name, at deltas drawn from the source."""
    places = [at for at, piece in enumerate(pieces) if piece.is_delta]
    chosen = dict(zip(source.sample(places, min(len(names), len(places))), names, strict=False))
    return b"".join(
        PERTURBATIONS[chosen[at]](piece, source) if at in chosen else piece.encode()
        for at, piece in enumerate(pieces)
    )


def lengths(source: Random, *, long: float) -> tuple[int, int]:
    """Deltas of thinking and of text; sometimes around the border of a batch."""
    if source.random() < long:
        return source.choice(LENGTHS[:4]), BATCH + source.randint(-3, 12)
    return source.choice(LENGTHS), source.choice(LENGTHS)


def generated(source: Random, *, dialect: str = "", long: float = 0.02) -> tuple[str, bytes]:
    """A dialect and a stream that speaks it, more or less."""
    dialect = dialect or source.choice(DIALECTS)
    thinking, text = lengths(source, long=long)
    pieces = stream(
        dialect,
        texts(thinking, source, marker=bool(thinking) and source.random() < 0.2),
        texts(text, source, marker=bool(text) and source.random() < 0.2),
        source,
    )
    names = source.choices(tuple(PERTURBATIONS), k=source.choice((0, 0, 1, 1, 2, 3)))
    data = perturbed(pieces, names, source)
    if source.random() < 0.1:
        data = data[: source.randint(0, len(data))]
    return dialect, data
