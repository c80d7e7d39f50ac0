"""A cassette file written anew line by line, without its secrets.

What no version of today knows stays where it is: lines of unknown kinds and unknown keys are looked
through as any JSON is. A line in which nothing is replaced stays byte for byte, and a torn file
stays torn.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import starmap
from pathlib import Path
from typing import Any, Final

from msgspec import Struct, field
from msgspec.structs import replace

from conformance.cassette.header import Cassette, Header, Redaction
from conformance.cassette.records import Record, header_fields, is_whole, parse_record, payload
from conformance.cassette.redaction.redact import Redactor
from conformance.cassette.segments import segments
from conformance.cassette.source import RawLine, read_lines
from conformance.cassette.target_file import TargetFile, encode_line
from conformance.cassette.write import request_fields, response_fields
from conformance.core.events import Exchange

_COUNTS: Final = "redactions"
_CUT: Final = b"{"  # what is left of a line that was cut: half a line cannot be searched


def rewrite(
    source: Path, target: Path, found: Cassette, clean: Cassette, redactor: Redactor
) -> None:
    """Writes `source` as `target`, which may be one file, with what `clean` has of it.

    `found` is what was read from `source`, `clean` what `redactor` left of that. Raises
    CassetteError.
    """
    totals = _total_counts(clean.header.redactions) - _total_counts(found.trailer)
    header = replace(clean.header, redactions=tuple(starmap(Redaction, sorted(totals.items()))))
    lines = _CleanLines(
        *(str(source), redactor, header, {each.number: each for each in clean.exchanges}),
        _total_counts(redactor.counts()),
    )
    with TargetFile(target) as written:
        for line in read_lines(source):
            written.put(lines.clean_line(line))
        written.put(lines.rest())


def _total_counts(redactions: Iterable[Redaction]) -> Counter[str]:
    totals: Counter[str] = Counter()
    for each in redactions:
        totals[each.rule] += each.count
    return totals


class _BodyPlace(Struct):
    """How far the data lines of one exchange were read."""

    exchange: Exchange
    body: bytes
    at: int = 0
    ended: bool = False


class _CleanLines(Struct):
    """Gives each line of a cassette as it may be kept."""

    file: str
    redactor: Redactor
    header: Header
    exchanges: Mapping[int, Exchange]
    counted: Counter[str]
    is_cut: bool = False
    places: dict[int, _BodyPlace] = field(default_factory=dict)
    current: int = 0

    def clean_line(self, line: RawLine) -> bytes:
        """The line with its end; nothing of one that was cut."""
        if not line.data.strip():
            self.is_cut = self.is_cut or not (line.ended or line.data)
            return line.data + b"\n" * line.ended
        if not line.ended and not is_whole(line.data):
            self.is_cut = True
            return b""
        pairs = _JsonObject()
        fields = json.loads(line.data, object_pairs_hook=pairs.take)
        kept = json.loads(json.dumps(self._kept_fields(fields, line)))
        is_same = kept == fields and not pairs.has_twins
        if is_same and self.redactor.body(line.data) == line.data:
            return line.data + b"\n" * line.ended
        return encode_line(kept, self.file)

    def rest(self) -> bytes:
        """What was replaced besides known secrets, ends that say what was touched, and the cut."""
        body_counts = _total_counts(self.redactor.counts()) - self.counted
        counts = [{"rule": rule, "count": body_counts[rule]} for rule in sorted(body_counts)]
        ends = [
            {"end": "open", "touched": each.exchange.touched, "exchange": number}
            for number, each in self.places.items()
            if not each.ended and each.exchange.touched
        ]
        records = [*ends, *([{_COUNTS: counts}] if counts else ())]
        lines = b"".join(encode_line(each, self.file) for each in records)
        return lines + _CUT * (self.is_cut or bool(ends))

    def _kept_fields(self, fields: dict[str, Any], line: RawLine) -> dict[str, Any]:
        if line.number == 1:
            known_fields = header_fields(self.header)
            stated = {
                name: known_fields[name]
                for name in known_fields
                if name in fields or name == _COUNTS
            }
            return self._merged_fields(fields, stated)
        record = parse_record(self.file, line)
        kind = next(iter(record.kinds()), "")
        if kind == "request":
            return self._merged_fields(fields, self._redacted_request(record))
        if kind in ("", _COUNTS):
            return self._merged_fields(fields, {})
        place = self.places[record.exchange or self.current]
        if kind in ("response", "end", "seen"):
            return self._merged_fields(fields, _record_fields(kind, record, place))
        raw = payload(self.file, line, record)
        clean = place.body[place.at : place.at + len(raw)]
        place.at += len(raw)
        # The encoding may be another one: what is left of a line is distinguished by its name.
        encoding, value = (kind, fields[kind]) if clean == raw else _encoded_piece(kind, clean)
        renamed = {encoding if name == kind else name: each for name, each in fields.items()}
        return self._merged_fields(renamed, {encoding: value})

    def _redacted_request(self, record: Record) -> dict[str, Any]:
        self.current = record.exchange or max(self.places, default=0) + 1
        exchange = self.exchanges[self.current]
        self.places[self.current] = _BodyPlace(exchange, exchange.body)
        known: dict[str, Any] = {"request": request_fields(exchange.request)}
        if exchange.user_choices is not None:
            named = "asked" if record.user_choices is None else "user_choices"
            known[named] = exchange.user_choices
        return known

    def _merged_fields(self, fields: Mapping[str, Any], known: Mapping[str, Any]) -> dict[str, Any]:
        """What is known, in the place where it was, among all else, searched."""
        merged: dict[str, Any] = {}
        for name, value in fields.items():
            if name not in known:
                merged |= self.redactor.value({name: value})
            elif name in ("request", "response") and isinstance(value, dict):
                merged[name] = self._merged_fields(value, known[name] or {})
            else:
                merged[name] = known[name]
        return {**merged, **{name: known[name] for name in known if name not in merged}}


class _JsonObject(Struct):
    """Takes the objects of one line; with `has_twins`, one has a name twice, and hides a value."""

    has_twins: bool = False

    def take(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        self.has_twins = self.has_twins or len(found) < len(pairs)
        return found


def _record_fields(kind: str, record: Record, place: _BodyPlace) -> dict[str, Any]:
    exchange = place.exchange
    if kind == "response":
        return {kind: response_fields(exchange.response)}
    if kind == "seen":
        return {kind: exchange.seen}
    place.ended = True
    touched = {"touched": exchange.touched} if exchange.touched else {}
    seal = {} if record.sha256 is None else {"sha256": hashlib.sha256(place.body).hexdigest()}
    return {kind: record.end, **touched, **seal}


def _encoded_piece(kind: str, clean: bytes) -> tuple[str, Any]:
    """A piece of a redacted body, encoded as it was before where that can be."""
    if kind == "message":
        return next(segments(clean, "binary"))
    try:
        return ("text", clean.decode()) if kind == "text" else ("hex", clean.hex())
    except UnicodeDecodeError:
        return "hex", clean.hex()
