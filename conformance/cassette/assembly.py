"""Records to exchanges: who may follow whom, which line belongs to which exchange.

Rule 1: a line without `exchange` belongs to the exchange of the latest request; a request without
a number gets the next one.
Rule 2: within an exchange the order is request, response, data, end, seen. An end may come
without a response (the connection broke before the head), data may not.
Rule 3: a data line with `ms` begins a chunk (null: no clock was kept), one without continues
the chunk before; the first one always begins a chunk. One with `from` begins a message, which is
binary where its first line is `hex`; an exchange holds messages or chunks, never both.
Rule 4: exchanges come out in the order of their requests.
"""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import accumulate, pairwise

import msgspec
from msgspec import UNSET, Struct, field
from msgspec.structs import replace

from conformance.cassette.header import CassetteClock, Header, Redaction
from conformance.cassette.records import Plain, Record, fault, payload
from conformance.cassette.source import RawLine
from conformance.core.events import Chunk, Ending, Exchange, Request, Response, Side, SocketMessage


class Draft(Struct, eq=False):
    """One exchange while its lines come in.

    `offsets` and `lines` say where its data lines stand, `head_line` is the line of its response,
    or else of its request.
    """

    number: int
    request: Record
    head_line: int
    response: Response | None = None
    responded: bool = False
    end: Ending | None = None
    sealed: bool = False
    touched: tuple[str, ...] = ()
    close_code: int | None = None
    seen: tuple[dict[str, object], ...] | None = None
    clock: CassetteClock = field(default_factory=CassetteClock)
    size: int = 0
    offsets: array[int] = field(default_factory=partial(array, "q"))
    lines: array[int] = field(default_factory=partial(array, "q"))
    chunks: list[Chunk] = field(default_factory=list)
    _parts: list[bytes] | None = None
    _ms: float | None = None
    _message: tuple[Side, bool] | None = None  # who sent it, and whether it is binary

    def begin(self, ms: float | None, message: tuple[Side, bool] | None = None) -> None:
        self._close_chunk()
        self._parts, self._ms, self._message = [], ms, message

    @property
    def holds_messages(self) -> bool:
        return self._message is not None

    @property
    def has_chunk(self) -> bool:
        return self._parts is not None

    def add(self, data: bytes) -> None:
        """The chunk goes on."""
        assert self._parts is not None
        self._parts.append(data)
        self.size += len(data)

    def place(self, first: int, sizes: Sequence[int]) -> None:
        """Data lines of these sizes stand from line `first` on."""
        self.offsets.extend(accumulate(sizes[:-1], initial=self.size))
        self.lines.extend(range(first, first + len(sizes)))

    def extend(self, lines: Sequence[Plain], data: list[bytes]) -> None:
        """Plain lines with their bytes, the first of which begins a chunk or continues one."""
        begins = [at for at, line in enumerate(lines) if line.ms is not UNSET]
        first = begins[0] if begins else len(data)
        if first:
            self._parts = [*(self._parts or ()), *data[:first]]
        if begins:
            self._close_chunk()
            bodies = (
                data[at] if after == at + 1 else b"".join(data[at:after])
                for at, after in pairwise(begins)
            )
            times = [line.ms for line in lines if line.ms is not UNSET]
            self.chunks += map(Chunk, bodies, times)
            self._parts, self._ms = data[begins[-1] :], times[-1]
        self.size += sum(map(len, data))

    def close(self, end: Ending, ms: float | None) -> None:
        self._close_chunk()
        self.end = end
        self.clock = replace(self.clock, end=ms)

    def digest(self) -> str:
        """SHA-256 of the body, as hexadecimal digits."""
        hashed = hashlib.sha256()
        for chunk in self.chunks:
            hashed.update(chunk.data)
        return hashed.hexdigest()

    def exchange(self, header: Header) -> Exchange:
        """The value; an exchange without `end` is `open`."""
        self._close_chunk()
        record = self.request
        return Exchange(
            number=self.number,
            request=record.request if isinstance(record.request, Request) else None,
            response=self.response,
            chunks=tuple(self.chunks),
            end=self.end or "open",
            dialect=record.dialect or header.dialect,
            scenario=record.scenario,
            role=record.role,
            hop=record.hop,
            after=record.after,
            seen=self.seen,
            user_choices=record.user_choices,
            touched=self.touched,
            close_code=self.close_code,
        )

    def _close_chunk(self) -> None:
        if self._parts is not None:
            parts = self._parts
            data = parts[0] if len(parts) == 1 else b"".join(parts)
            made = self._message
            self.chunks.append(
                Chunk(data, self._ms) if made is None else SocketMessage(data, self._ms, *made)
            )
            self._parts = self._ms = None


class Assembly:
    """Takes the lines after the header and gives out exchanges.

    `held` counts the bytes of body in memory, `skipped` the lines of unknown kinds. With
    `locating`, drafts know which line holds which offset.
    """

    def __init__(self, file: str, header: Header, *, locating: bool = False) -> None:
        self.redactions: list[Redaction] = []
        self.skipped = 0
        self.held = 0
        self._locating = locating
        self._file = file
        self._header = header
        self._drafts: dict[int, Draft] = {}
        self._gone: set[int] = set()
        self._current: Draft | None = None
        self._highest = 0
        self._latest: tuple[bytes, Request] | None = None  # as it is spelled
        self._takers = {
            "response": self._take_response,
            "end": self._take_end,
            "seen": self._take_client_report,
        }

    def add(self, line: RawLine, record: Record) -> None:
        """Takes one record. Raises CassetteError where it may not stand."""
        kinds = record.kinds()
        if not kinds:
            self.skipped += 1
            return
        if len(kinds) > 1:
            raise fault(self._file, line, f"one line holds both `{kinds[0]}` and `{kinds[1]}`")
        if kinds[0] == "cassette":
            raise fault(self._file, line, "a second header")
        if kinds[0] == "redactions":
            self.redactions += record.redactions or ()
        elif kinds[0] == "request":
            self._take_request(line, record)
        else:
            draft = self._owning_draft(line, record, kinds[0])
            self._takers.get(kinds[0], self._take_data)(line, record, draft)

    def extend(self, first: int, lines: Sequence[Plain]) -> bool:
        """Takes plain lines, the first of which has number `first`, if data may be here."""
        draft = self._current
        if draft is None or not draft.responded or draft.end is not None or draft.holds_messages:
            return False
        size, data = draft.size, [line.text.encode() for line in lines]
        if self._locating:
            draft.place(first, [len(each) for each in data])
        draft.extend(lines, data)
        self.held += draft.size - size
        return True

    def release(self, *, everything: bool = False) -> Iterator[Draft]:
        """Gives up drafts, oldest request first: the ended ones, or all."""
        for number, draft in list(self._drafts.items()):
            if everything or (draft.end is not None and draft is not self._current):
                del self._drafts[number]
                self._gone.add(number)
                self.held -= draft.size
                yield draft

    def _take_request(self, line: RawLine, record: Record) -> None:
        number = record.exchange or self._highest + 1
        if number in self._drafts or number in self._gone:
            raise fault(self._file, line, f"a second request of exchange {number}")
        self._highest = max(self._highest, number)
        clock = CassetteClock(begun=_record_time(record))
        shared = self._shared_request(record)
        self._current = self._drafts[number] = Draft(number, shared, line.number, clock=clock)

    def _shared_request(self, record: Record) -> Record:
        """The record; a request that is spelled as the one before is held once."""
        if not isinstance(record.request, Request):
            return record
        try:
            spelled = msgspec.json.encode(record.request)
        except (ValueError, OverflowError, RecursionError):  # a number of many digits
            return record
        if self._latest is not None and spelled == self._latest[0]:
            return replace(record, request=self._latest[1])
        self._latest = spelled, record.request
        return record

    def _owning_draft(self, line: RawLine, record: Record, kind: str) -> Draft:
        if record.exchange is None:
            draft = self._current
        elif record.exchange in self._gone:
            message = f"`{kind}` of exchange {record.exchange} comes too late in a file this large"
            raise fault(self._file, line, message)
        else:
            draft = self._drafts.get(record.exchange)
        if draft is None:
            raise fault(self._file, line, f"`{kind}` before the request of its exchange")
        if draft.end is not None and kind != "seen":
            what = "a second `end`" if kind == "end" else f"`{kind}` after the end"
            raise fault(self._file, line, f"{what} of exchange {draft.number}")
        return draft

    def _take_response(self, line: RawLine, record: Record, draft: Draft) -> None:
        if draft.responded:
            raise fault(self._file, line, f"a second response of exchange {draft.number}")
        draft.responded = True
        draft.response = record.response if isinstance(record.response, Response) else None
        draft.clock = replace(draft.clock, head=_record_time(record))
        draft.head_line = line.number

    def _take_data(self, line: RawLine, record: Record, draft: Draft) -> None:
        if not draft.responded:
            raise fault(self._file, line, f"data before the response of exchange {draft.number}")
        begins = record.ms is not UNSET or not draft.has_chunk
        if draft.has_chunk and begins and draft.holds_messages != (record.side is not None):
            which = "no `from`" if record.side is None else "`from`"
            raise fault(self._file, line, f"data with {which} among others of one exchange")
        if record.side is not None:
            draft.begin(_record_time(record), (record.side, record.hex is not UNSET))
        elif begins:
            draft.begin(_record_time(record))
        data = payload(self._file, line, record)
        if self._locating:
            draft.place(line.number, [len(data)])
        self.held += len(data)
        draft.add(data)

    def _take_end(self, line: RawLine, record: Record, draft: Draft) -> None:
        assert record.end is not UNSET
        draft.close(record.end, _record_time(record))
        draft.sealed = record.sha256 is not None
        draft.touched = record.touched
        draft.close_code = record.close_code
        for name, got in (("chunks", len(draft.chunks)), ("bytes", draft.size)):
            stated = getattr(record, name)
            if stated is not None and stated != got:
                message = f"the end states {stated} {name}, exchange {draft.number} has {got}"
                raise fault(self._file, line, message)
        if record.sha256 is not None and record.sha256 != draft.digest():
            message = "the end states another sha256 than the bytes of exchange"
            raise fault(self._file, line, f"{message} {draft.number} have")

    def _take_client_report(self, line: RawLine, record: Record, draft: Draft) -> None:
        if draft.seen is not None:
            raise fault(self._file, line, f"a second `seen` of exchange {draft.number}")
        draft.seen = record.seen or ()


def _record_time(record: Record) -> float | None:
    return None if record.ms is UNSET else record.ms
