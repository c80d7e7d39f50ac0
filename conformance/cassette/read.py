"""Cassette files in, exchanges out: exact bytes, chunk by chunk.

A file that stops before an `end`, or inside a line, is *torn*: it is readable up to there, and
what had no end is `open`. Everything else that is wrong raises CassetteError with its line.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import closing
from itertools import chain
from pathlib import Path
from typing import Final

from conformance.cassette.assembly import Assembly, Draft
from conformance.cassette.header import Cassette, Header, Redaction
from conformance.cassette.records import (
    decode_plain,
    is_whole,
    parse_header,
    parse_record,
    plain_extent,
)
from conformance.cassette.source import MAX_BYTES, LineBlock, RawLine, read_blocks
from conformance.core.errors import CassetteError, Place
from conformance.core.events import Exchange

# `seen` may come long after an end. Up to this many bytes of body, ended exchanges wait for it.
_HOLD: Final = 64 * 1024 * 1024


def read(path: Path | str, *, max_bytes: int = MAX_BYTES) -> Cassette:
    """The whole cassette. Raises CassetteError."""
    reader = CassetteReader(path, max_bytes=max_bytes)
    drafts = list(reader.drafts())
    return Cassette(
        header=reader.header,
        exchanges=tuple(draft.exchange(reader.header) for draft in drafts),
        clocks={draft.number: draft.clock for draft in drafts},
        torn=reader.torn,
        sealed=bool(drafts) and all(draft.sealed for draft in drafts),
        trailer=reader.trailer,
        notes=tuple(reader.notes),
    )


def exchanges(path: Path | str, *, max_bytes: int = MAX_BYTES) -> Iterator[Exchange]:
    """One exchange after the other, in the order of their requests, in bounded memory.

    Raises CassetteError, at the latest when the broken line is reached. In a file with more than
    64 MiB of body, a `seen` that comes after the next exchange's request is refused.
    """
    reader = CassetteReader(path, max_bytes=max_bytes)
    with closing(reader.drafts(hold=_HOLD)) as drafts:
        for draft in drafts:
            yield draft.exchange(reader.header)


class CassetteReader:
    """Reads one file once. `torn` and `notes` are known when `drafts` is through."""

    def __init__(
        self, path: Path | str, *, max_bytes: int = MAX_BYTES, locating: bool = False
    ) -> None:
        self.torn = False
        self.notes: list[str] = []
        self._file = str(path)
        where = path if isinstance(path, Path) else Path(path)  # making one anew takes its time
        self._blocks = read_blocks(where, max_bytes=max_bytes)
        self._first = next(self._blocks, LineBlock(1, [b""], ended=False))
        self.header = self._read_header(self._first.one(0))
        self._assembly = Assembly(self._file, self.header, locating=locating)

    @property
    def trailer(self) -> tuple[Redaction, ...]:
        return tuple(self._assembly.redactions)

    def drafts(self, *, hold: int | None = None) -> Generator[Draft, None, None]:
        """Every exchange; the ended ones early once more than `hold` bytes are held."""
        with closing(self._blocks):
            for block, begin in chain([(self._first, 1)], ((block, 0) for block in self._blocks)):
                for _ in self._take_lines(block, begin):
                    if hold is not None and self._assembly.held > hold:
                        yield from self._assembly.release()
        for draft in self._assembly.release(everything=True):
            self.torn = self.torn or draft.end is None
            yield draft
        self._add_notes()

    def _read_header(self, first: RawLine) -> Header:
        if not first.data.strip():
            message = "expected a cassette header, got an empty file or line"
            raise CassetteError(message, place=Place(self._file, 1))
        return parse_header(self._file, first)

    def _take_lines(self, block: LineBlock, at: int) -> Iterator[None]:
        """Takes the lines from index `at` on, step by step: plain ones all at once."""
        lines = block.data
        whole = len(lines) if block.ended else len(lines) - 1
        while at < len(lines):
            upto = min(plain_extent(lines, at), whole)
            plain = decode_plain(lines[at:upto]) if upto > at else None
            if plain is None or not self._assembly.extend(block.first + at, plain):
                upto = max(upto, at + 1)
                for each in range(at, upto):
                    self._take_line(block.one(each))
                    yield
            at = upto
            yield

    def _take_line(self, line: RawLine) -> None:
        if not line.data.strip():
            self.torn = self.torn or not (line.ended or line.data)
            return
        try:
            record = parse_record(self._file, line)
        except CassetteError:
            if line.ended or is_whole(line.data):
                raise
            self.torn = True  # the recorder stopped inside this line
            return
        self._assembly.add(line, record)

    def _add_notes(self) -> None:
        skipped = self._assembly.skipped
        if skipped:
            self.notes.append(f"{skipped} lines of kinds unknown to this version were skipped")
        if self.torn:
            self.notes.append("the recording is torn: it stops before its end")
