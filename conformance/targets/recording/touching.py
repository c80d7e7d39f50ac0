"""The places of a recorded exchange that redaction changed: known only once it is over."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from msgspec.structs import replace

from conformance.cassette import read
from conformance.core.errors import CassetteError
from conformance.core.events import Chunk, Ending, Exchange, Request
from conformance.recordings.redaction import EVERY_RULE, touched_rules


def rules_touched(
    file: Path, number: int, end: Ending, request: Request, changed: Sequence[tuple[int, bytes]]
) -> tuple[str, ...]:
    """Rules that judge what is in the file otherwise than what came.

    `request` is the request as it came, `changed` are chunks as they came, by their place in the
    body. Every rule where the file cannot be read again.
    """
    try:
        cassette = read(file)
    except CassetteError:
        return EVERY_RULE
    written = next(each for each in cassette.exchanges if each.number == number)
    kept = replace(written, end=end)
    came = replace(kept, request=request, chunks=tuple(_as_they_came(written, dict(changed))))
    alone = replace(cassette, exchanges=(kept,), clocks={}, trailer=())
    return touched_rules(replace(alone, exchanges=(came,)), alone).get(number, ())


def _as_they_came(written: Exchange, changed: dict[int, bytes]) -> Iterable[Chunk]:
    at = 0
    for chunk in written.chunks:
        data = changed.get(at, chunk.data) if chunk.data else b""
        yield replace(chunk, data=data)
        at += len(chunk.data)
