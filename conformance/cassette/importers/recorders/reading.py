"""Reads the files of any recorder by its row, and makes an importer of each row."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from itertools import islice
from typing import Any, Final

from conformance.cassette.header import Header
from conformance.cassette.importers import (
    MAX_IMPORT,
    ForeignFile,
    ImportedRecording,
    Importer,
    NothingJudgedError,
)
from conformance.cassette.importers.recorders.coding import EXACT
from conformance.cassette.importers.recorders.entry import Entry
from conformance.cassette.importers.recorders.exchange import (
    ReadEntry,
    payload_values,
    read_entry,
)
from conformance.cassette.importers.recorders.forms import entries_of, is_yaml
from conformance.cassette.importers.recorders.row import Recorder
from conformance.cassette.importers.traffic import CapturedExchange, FaultyEntry, judged_traffic
from conformance.core.errors import CassetteError
from conformance.core.events import Fidelity
from conformance.core.json_values import value_at
from conformance.core.lines import BOM

_FIRST: Final = 64  # entries that are looked at to know a file
_LONGEST_TIME: Final = 64
_TRUST: Final[tuple[Fidelity, ...]] = ("events", "text", "bytes")


def importer_of(row: Recorder) -> Importer:
    return Importer(
        row.name,
        row.suffixes,
        partial(_recognises_file, row),
        partial(_read_file, row),
        row.expects,
        says=row.says,
        trusted=_trust_text(row),
        keeps=_kept_facts(row),
    )


def _trust_text(row: Recorder) -> str:
    """How far the bytes of such files may be trusted, for lists."""
    codings = {*row.body.values(), *row.chunks.values(), *row.codings_by.values()}
    if row.payloads:
        return "`events`: the framing is rebuilt"
    if row.form == "httprr":
        return "`bytes`"
    return "`text`; `bytes` in base64 or hex" if codings & EXACT else "`text`"


def _kept_facts(row: Recorder) -> str:
    """The facts that files have besides the body, for lists."""
    kept = {
        "request": bool(row.url or row.asked),
        "head": bool(row.status),
        "chunks": bool(row.chunks),
        "their times": bool(row.times),
        "time of the head": bool(row.waited),
        "messages of WebSockets": bool(row.messages),
    }
    return ", ".join(name for name, is_kept in kept.items() if is_kept) or "nothing"


def _recognises_file(row: Recorder, file: ForeignFile) -> bool:
    """Whether the file is one of this recorder, maybe a broken one.

    Raises NothingJudgedError for one that holds no answer that is judged.
    """
    if is_yaml(file) and not _is_marked(row, file):
        return False  # who searches a folder does not parse every YAML in it
    try:
        if _read_file(row, file) is not None:
            return True
        # Marked, but without an entry: with entries of another shape it is of another tool.
        return bool(row.expects) and is_yaml(file) and next(entries_of(file, row), None) is None
    except NothingJudgedError:
        raise
    except CassetteError:
        return _is_marked(row, file)


def _may_fit(row: Recorder, file: ForeignFile) -> bool:
    """Whether the first bytes are of the form; any YAML may be."""
    if is_yaml(file):
        return row.form in ("values", "documents")
    head = file.head.removeprefix(BOM).lstrip()
    if row.form == "values":
        return head.startswith((b"{", b"["))
    if row.form == "lines":
        return head.startswith(b"{") and (not row.marks or _is_marked(row, file))
    return _is_marked(row, file)


def _is_marked(row: Recorder, file: ForeignFile) -> bool:
    first, *rest = (each.encode() for each in row.marks) if row.marks else (b"(?!)",)
    return bool(re.search(first, file.head)) and all(re.search(each, file.data) for each in rest)


def _read_file(row: Recorder, file: ForeignFile) -> ImportedRecording | None:
    """The exchanges of APIs that are judged. Raises CassetteError; None for another kind."""
    if not _may_fit(row, file):
        return None
    if row.form == "values" and not is_yaml(file) and not _has_json(row, file):
        return None
    every = entries_of(file, row)
    entries = list(islice(every, _FIRST))
    if not any(each.fault or _has_needs(row, each) for each in entries):
        return None
    entries.extend(every)
    read: list[ReadEntry] = []
    captured = list(_read_entries(row, file, entries, read))
    header = _file_header(row, file, read)
    made = dict.fromkeys(note for each in read for note in each.notes)
    notes = (row.note, *made) if row.note else tuple(made)
    return judged_traffic(file, captured, header, hint=row.hint, notes=notes)


def _has_json(row: Recorder, file: ForeignFile) -> bool:
    """Raises CassetteError for a broken file that begins as those of this recorder."""
    try:
        return isinstance(file.json, dict | list)
    except CassetteError:
        if _is_marked(row, file):
            raise
        return False


def _has_needs(row: Recorder, entry: Entry) -> bool:
    if not isinstance(entry.value, dict):
        return False
    if any(entry.at(path) is None for path in row.needs):
        return False
    return bool(row.body or row.chunks) or any(
        payload_values(entry, *each) for each in row.payloads.items()
    )


def _read_entries(
    row: Recorder, file: ForeignFile, entries: list[Entry], read: list[ReadEntry]
) -> Iterator[CapturedExchange | FaultyEntry]:
    """What each entry holds, or why it cannot be read; what could be is put into `read`."""
    left = MAX_IMPORT
    for number, entry in enumerate(entries, 1):
        if entry.fault:
            yield FaultyEntry(f"entry {number} cannot be read: {entry.fault}", entry.line)
            continue
        if not _has_answer(row, entry):
            yield FaultyEntry(f"entry {number} has no response", entry.line)
            continue
        try:
            found = read_entry(file, row, entry, left)
        except (ValueError, RecursionError) as err:
            yield FaultyEntry(f"entry {number} cannot be read: {err}", entry.line)
            continue
        left = max(0, left - len(found.captured.exchange.body))
        read.append(found)
        yield found.captured


def _has_answer(row: Recorder, entry: Entry) -> bool:
    """Whether anything of the answer is there: what its body and its head have in common."""
    if not isinstance(entry.value, dict):
        return False
    heads = {path.partition(".")[0].replace("[]", "") for path in (*row.body, *row.payloads)}
    return any(value_at(entry.value, each) is not None for each in heads)


def _file_header(row: Recorder, file: ForeignFile, read: list[ReadEntry]) -> Header:
    trusted = [each.fidelity for each in read if each.captured.has_body]
    fidelity = min(trusted, key=_TRUST.index) if trusted else "text"
    whole = Entry(_top_value(row, file))
    described = whole.at(row.described) if row.described else None
    return Header(
        origin="imported",
        fidelity=fidelity,
        dialect=file.dialect,
        recorder=_recorder_facts(row, whole),
        recorded_at=_as_time(whole.at(row.recorded_at)) if row.recorded_at else None,
        extra={"description": described} if isinstance(described, str) else {},
    )


def _top_value(row: Recorder, file: ForeignFile) -> Any:
    if row.form != "values":
        return None
    return file.tree if is_yaml(file) else file.json


def _recorder_facts(row: Recorder, whole: Entry) -> dict[str, Any]:
    if not row.made_by:
        return {"name": row.name}
    made = whole.at(row.made_by)
    if isinstance(made, str):
        return {"name": made[:_LONGEST_TIME]}
    known = {key: value_at(made, key) for key in ("name", "version")}
    return {key: value for key, value in known.items() if isinstance(value, str) and value}


def _as_time(value: Any) -> str | None:
    return value if isinstance(value, str) and 0 < len(value) <= _LONGEST_TIME else None
