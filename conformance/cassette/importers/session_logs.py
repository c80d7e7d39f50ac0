"""Logs that coding agents keep of their sessions: the answers of the model in them.

Claude Code writes a line for each content block as it comes (`~/.claude/projects`), Codex one for
each item (rollouts in `~/.codex/sessions`), Qwen Code one for each answer, Copilot one for each
event. A log lacks the heads, framing, times and ends of answers, and the later requests to the
model. So each answer becomes one body, which is judged by its content. `session_forms.py` says what
an answer is in the log of which agent.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate, islice
from typing import Final

import msgspec

from conformance.cassette.header import Cassette, Header
from conformance.cassette.importers import (
    ForeignFile,
    ImportedRecording,
    Importer,
    NothingJudgedError,
)
from conformance.cassette.importers.session_forms import FORMS, Line, LogAnswer, LogForm
from conformance.cassette.positions import Layout
from conformance.core.errors import Place
from conformance.core.events import Chunk, Exchange, Response
from conformance.core.json_values import decode_json
from conformance.core.lines import BOM

PROFILE: Final = "session-log"
_LOOKED_AT: Final = 64  # lines
_JSON: Final = (("content-type", "application/json"),)
_LINES: Final = (("content-type", "application/x-ndjson"),)
_NOTE: Final = "a session log keeps no requests, heads, chunks or ends of answers"
_LONGEST: Final = 64  # characters of a time or a version


def _numbered_lines(file: ForeignFile) -> Iterator[tuple[int, Line | None]]:
    """Non-empty lines; None for one that is not an object."""
    for number, line in enumerate(file.data.removeprefix(BOM).split(b"\n"), 1):
        if text := line.strip():
            value = decode_json(text.decode("utf-8", "replace"))
            yield number, value if isinstance(value, dict) else None


def _is_log(form: LogForm, file: ForeignFile) -> bool:
    if not file.head.removeprefix(BOM).lstrip().startswith(b"{"):
        return False
    found = islice(_numbered_lines(file), _LOOKED_AT)
    return any(line is not None and form.is_line(line) for _, line in found)


def _read_log(form: LogForm, file: ForeignFile) -> ImportedRecording | None:
    """The answers of a log. Raises NothingJudgedError where it has none."""
    if not _is_log(form, file):
        return None
    every = list(_numbered_lines(file))
    lines = [(number, line) for number, line in every if line is not None]
    read = form.read(iter(lines))
    if read is None:
        return None
    answers = [each for each in read if each.items]
    if not answers:
        place = Place(str(file.path))
        raise NothingJudgedError(f"a session log of {form.agent} without an answer", place=place)
    lost = len(every) - len(lines)
    notes = (f"lines that cannot be read were skipped: {lost}",) if lost else ()
    exchanges = tuple(
        _answer_exchange(form, number, answer, file.dialect)
        for number, answer in enumerate(answers, 1)
    )
    header = _log_header(form, file.dialect, [line for _, line in lines])
    cassette = Cassette(header, exchanges, notes=(_NOTE, *notes))
    return ImportedRecording(cassette, tuple(_answer_layout(form, each) for each in answers))


def _answer_exchange(
    form: LogForm, number: int, answer: LogAnswer, dialect: str | None
) -> Exchange:
    if form.list_key:
        head, body = _JSON, msgspec.json.encode({**answer.fields, form.list_key: answer.items})
    else:
        head, body = _LINES, b"".join(map(_as_line, answer.items))
    return Exchange(
        number=number,
        response=Response(None, "", head),
        chunks=(Chunk(body),),
        end="eof",
        dialect=dialect,
    )


def _as_line(item: Line) -> bytes:
    return msgspec.json.encode(item) + b"\n"


def _answer_layout(form: LogForm, answer: LogAnswer) -> Layout:
    if form.list_key:
        return Layout(answer.line, (0,), (answer.line,))
    sizes = (len(_as_line(each)) for each in answer.items[:-1])
    return Layout(answer.line, tuple(accumulate(sizes, initial=0)), tuple(answer.lines))


def _log_header(form: LogForm, dialect: str | None, lines: list[Line]) -> Header:
    times = (line.get("timestamp") for line in lines)
    versions = (form.version(line) for line in lines)
    version = next((each for each in versions if isinstance(each, str)), "")[:_LONGEST]
    return Header(
        origin="imported",
        fidelity="events",
        dialect=dialect,
        profile=PROFILE,
        recorder={"name": form.agent, **({"version": version} if version else {})},
        recorded_at=next((t for t in times if isinstance(t, str) and 0 < len(t) <= _LONGEST), None),
    )


def _importer_of(form: LogForm) -> Importer:
    return Importer(
        f"{form.agent}-log",
        (".jsonl", ""),
        lambda file: _read_log(form, file) is not None,
        lambda file: _read_log(form, file),
        says=form.says,
        trusted="`events`: each answer is put together",
        keeps="nothing",
    )


SESSION_LOGS: Final = tuple(map(_importer_of, FORMS))
"""One kind of file per agent."""
