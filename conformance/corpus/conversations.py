"""Rows of one part that continue each other: held back, linked like files, then passed on.

Rule 1: a row is held if its request may name what it continues; all others pass at once.
Rule 2: rows of different sessions are never linked; rows without one are linked by content.
Rule 3: the number of held rows is bounded. A part with more is linked in stretches, with a note.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Final

import msgspec

from conformance.cassette import Recording
from conformance.core.excerpts import clipped
from conformance.corpus.judge import CorpusJudge, JudgedStream
from conformance.corpus.rows import CorpusStream
from conformance.recordings.linked_files import FileOutcome, LinkedRecording, link_recordings

MOST_BYTES: Final = 64 * 1024 * 1024  # of bodies and requests
MOST_ROWS: Final = 10_000
_MOST_NOTES: Final = 3
_MOST_REASON: Final = 400
_IN_STRETCHES: Final = (
    "rows with requests were linked in parts of {rows:,} rows or {size:,} bytes: "
    "a request is not compared with answers of an earlier part"
)


class RowConversations:
    """Takes the rows of one part as they are judged; `notes` list omissions."""

    def __init__(self, judge: CorpusJudge) -> None:
        self.notes: list[str] = []
        self._judge = judge
        self._held: list[JudgedStream] = []
        self._size = 0

    def take(self, judged: JudgedStream) -> Iterator[JudgedStream]:
        """The rows with which nothing more is done."""
        if not any(each.keys is not None for each in judged.results):
            yield judged
            return
        size = _held_bytes(judged.stream)
        if self._held and (self._size + size > MOST_BYTES or len(self._held) >= MOST_ROWS):
            yield from self._linked()
            self._note(_IN_STRETCHES.format(rows=MOST_ROWS, size=MOST_BYTES))
        self._held.append(judged)
        self._size += size

    def rest(self) -> Iterator[JudgedStream]:
        """The rows that are held when the part ends."""
        yield from self._linked()

    def _linked(self) -> list[JudgedStream]:
        held, self._held, self._size = self._held, [], 0
        sessions: defaultdict[str, list[int]] = defaultdict(list)
        for at, each in enumerate(held):
            sessions[each.stream.session].append(at)
        for places in sessions.values():
            linked = self._link([held[at] for at in places])
            for at, each in zip(places, linked, strict=True):
                held[at] = each
        return held

    def _link(self, rows: Sequence[JudgedStream]) -> list[JudgedStream]:
        """The rows of one session with what came of links between them."""
        names = _row_names([each.stream for each in rows])
        recordings = [
            LinkedRecording(
                name,
                partial(_return_recording, each.stream.recording),
                self._judge.choices_for(each.stream),
            )
            for name, each in zip(names, rows, strict=True)
        ]
        found: list[FileOutcome] = [list(each.results) for each in rows]
        try:
            notes = link_recordings(recordings, found, self._judge.rulebook)
        except Exception as err:  # noqa: BLE001  # no content of rows may stop judging each by itself
            reason = f"internal error: {type(err).__name__}: {err}"
            notes = (f"{len(rows)} rows are not linked: {clipped(reason, _MOST_REASON)}",)
        for note in notes:
            self._note(note)
        return [
            JudgedStream(each.stream, tuple(results)) if isinstance(results, list) else each
            for each, results in zip(rows, found, strict=True)
        ]

    def _note(self, note: str) -> None:
        if note not in self.notes and len(self.notes) < _MOST_NOTES:
            self.notes.append(note)


def _return_recording(recording: Recording) -> Recording:
    return recording


def _row_names(streams: Sequence[CorpusStream]) -> list[str]:
    """What each row is called in messages: its id, with the row where several have it."""
    counts = Counter(each.id for each in streams)
    return [each.id if counts[each.id] == 1 else f"{each.id}#{each.row}" for each in streams]


def _held_bytes(stream: CorpusStream) -> int:
    request = stream.recording.exchanges[0].request
    request_body = request.json if request is not None else None
    try:
        return stream.size + len(msgspec.json.encode(request_body))
    except (TypeError, ValueError, RecursionError):  # a value without JSON counts by its repr
        return stream.size + len(repr(request_body))
