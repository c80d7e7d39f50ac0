"""Logs that coding agents keep of their sessions: the answers of the model in them.

Claude Code writes a line for each content block as it comes (`~/.claude/projects`), Codex one for
each item (rollouts in `~/.codex/sessions`). A log lacks the heads, framing, times and ends of
answers, and the later requests to the model. So each answer becomes one body, which is judged by
its content.

Rule 1: lines of Claude Code with the same message id are one answer, with any lines between them;
its own messages (`<synthetic>`) do not count as the model's.
Rule 2: items of Codex are one answer until something is added to the conversation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import Any, Final

import msgspec
from msgspec import Struct

from conformance.cassette.header import Cassette, Header
from conformance.cassette.importers import (
    ForeignFile,
    ImportedRecording,
    Importer,
    NothingJudgedError,
)
from conformance.cassette.positions import Layout
from conformance.core.errors import Place
from conformance.core.events import Chunk, Exchange, Response
from conformance.core.json_values import decode_json
from conformance.core.lines import BOM

PROFILE: Final = "session-log"
_LOOKED_AT: Final = 64  # lines
_JSON: Final = (("content-type", "application/json"),)
_NOTE: Final = "a session log keeps no requests, heads, chunks or ends of answers"
_LONGEST: Final = 64  # characters of a time or a version

_OF_CODEX: Final = frozenset(
    {"session_meta", "turn_context", "response_item", "event_msg", "compacted"}
)
_OUTPUT: Final = frozenset(
    {
        *("reasoning", "function_call", "custom_tool_call", "local_shell_call"),
        *("web_search_call", "image_generation_call", "tool_search_call"),
    }
)

Line = Mapping[str, Any]


class LogAnswer:
    """An answer while its lines are read; `fields` are those of its last line."""

    def __init__(self, line: int) -> None:
        self.line = line
        self.fields: dict[str, Any] = {}
        self.items: list[Any] = []


Reader = Callable[[Iterator[tuple[int, Line]]], list[LogAnswer]]


class LogForm(Struct, frozen=True):
    """How one agent logs: which lines are its own, its version, and the answers in them.

    `list_key` is where the items of an answer are in its body.
    """

    agent: str
    list_key: str
    says: str
    is_line: Callable[[Line], bool]
    version: Callable[[Line], Any]
    read: Reader


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
    answers = [each for each in form.read(iter(lines)) if each.items]
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
    return ImportedRecording(
        cassette, tuple(Layout(each.line, (0,), (each.line,)) for each in answers)
    )


def _answer_exchange(
    form: LogForm, number: int, answer: LogAnswer, dialect: str | None
) -> Exchange:
    body = msgspec.json.encode({**answer.fields, form.list_key: answer.items})
    return Exchange(
        number=number,
        response=Response(None, "", _JSON),
        chunks=(Chunk(body),),
        end="eof",
        dialect=dialect,
    )


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


def _is_of_claude(line: Line) -> bool:
    return "parentUuid" in line and isinstance(line.get("sessionId"), str)


def _answers_of_claude(lines: Iterator[tuple[int, Line]]) -> list[LogAnswer]:
    """Rule 1."""
    found: dict[str, LogAnswer] = {}
    for number, line in lines:
        message = line.get("message")
        if line.get("type") != "assistant" or not isinstance(message, dict):
            continue
        name, content = message.get("id"), message.get("content")
        is_own = message.get("model") == "<synthetic>" or line.get("isApiErrorMessage") is True
        if is_own or not isinstance(name, str) or not isinstance(content, list):
            continue
        answer = found.setdefault(name, LogAnswer(number))
        answer.fields = {key: each for key, each in message.items() if key != "content"}
        answer.items += content
    return list(found.values())


def _is_of_codex(line: Line) -> bool:
    kind = line.get("type")
    return isinstance(kind, str) and kind in _OF_CODEX and isinstance(line.get("payload"), dict)


def _answers_of_codex(lines: Iterator[tuple[int, Line]]) -> list[LogAnswer]:
    """Rule 2."""
    found: list[LogAnswer] = []
    is_open, model = False, None
    for number, line in lines:
        if not _is_of_codex(line):
            continue
        item = line["payload"]
        if line["type"] == "turn_context":
            model = item.get("model")
        elif line["type"] == "compacted":
            is_open = False
        elif line["type"] == "response_item":
            was_open, is_open = is_open, _is_output(item)
            if is_open and not was_open:
                found.append(LogAnswer(number))
            if is_open:
                named = {"model": model} if isinstance(model, str) else {}
                found[-1].fields = {"object": "response", **named}
                found[-1].items.append(item)
    return found


def _is_output(item: Line) -> bool:
    kind = item.get("type")
    if kind == "message":
        return item.get("role") == "assistant"
    return isinstance(kind, str) and kind in _OUTPUT


FORMS: Final = (
    LogForm(
        "claude-code",
        "content",
        "a session log of Claude Code (`~/.claude/projects`): the answers in it",
        _is_of_claude,
        lambda line: line.get("version"),
        _answers_of_claude,
    ),
    LogForm(
        "codex",
        "output",
        "a rollout of Codex (`~/.codex/sessions`): the answers in it",
        _is_of_codex,
        lambda line: line["payload"].get("cli_version") if _is_of_codex(line) else None,
        _answers_of_codex,
    ),
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
