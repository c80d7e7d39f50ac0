"""What was said upstream of the recorded applications, as the index of the captures names it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from msgspec.structs import replace

from conformance.cassette import Recording, open_recording
from conformance.core.events import Chunk, Ending, Exchange, Request
from conformance.recordings.both_hops import pair_recordings

_NAMED: Final = re.compile(r"(\S+\.(?:sse|jsonl))(?: \((cut|ended|hangs) after (\d+) events.*\))?")
_ENDS: Final[Mapping[str, Ending]] = {"cut": "reset", "ended": "eof", "hangs": "client-closed"}


def recorded_pairs(captures: Path, protocols: set[str]) -> Iterator[tuple[str, Recording]]:
    """Name and both hops of every stream whose provider was recorded, too."""
    for entry in json.loads((captures / "INDEX.json").read_text(encoding="utf-8")):
        named = [_NAMED.fullmatch(each) for each in entry.get("upstream") or ()]
        if entry.get("protocol") in protocols and named and all(named):
            yield entry["file"], _pair(captures, entry, [each for each in named if each])


def _pair(captures: Path, entry: Mapping[str, Any], named: list[re.Match[str]]) -> Recording:
    shown = open_recording(captures / entry["file"])
    if entry.get("read_error"):
        shown = _with_exchange(shown, replace(shown.exchanges[0], end="reset"))
    behind = [_upstream(captures, each) for each in named]
    if later := entry.get("second_upstream_request"):
        asked = json.loads((captures / later).read_text(encoding="utf-8"))
        request = Request("POST", json=asked.get("body", asked))
        behind[1] = _with_exchange(behind[1], replace(behind[1].exchanges[0], request=request))
    return pair_recordings(shown, behind)


def _upstream(captures: Path, named: re.Match[str]) -> Recording:
    recording = open_recording(captures / named[1])
    exchange = recording.exchanges[0]
    if named[2]:
        events = exchange.body.replace(b"\r\n", b"\n").split(b"\n\n")[: int(named[3])]
        body = b"".join(event + b"\n\n" for event in events)
        exchange = replace(exchange, chunks=(Chunk(body),), end=_ENDS[named[2]])
    return _with_exchange(recording, exchange)


def _with_exchange(recording: Recording, exchange: Exchange) -> Recording:
    return replace(recording, cassette=replace(recording.cassette, exchanges=(exchange,)))
