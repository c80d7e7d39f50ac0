"""How coding agents log their sessions: which lines are an agent's own, and the answers in them.

Rule 1: lines of Claude Code with the same message id are one answer, with any lines between them;
its own messages (`<synthetic>`) do not count as the model's. Who resumes a session may find its
lines again, with their ids or as those of another session (claude-code#56196): each counts once.
Rule 2: items of Codex are one answer until something is added to the conversation, or its tokens
are recorded (0.171.0). A summary that the model writes of the history meanwhile belongs to it.
Rule 3: a line of Qwen Code that an assistant wrote is an answer, as the API has it.
Rule 4: a log of Copilot holds the events that its CLI writes, without those that are marked as
ephemeral. They are one answer until the user asks again; what he says within a turn belongs to it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from msgspec import Struct

_ENDS_OF_CODEX: Final = frozenset({"compacted", "token_usage_record"})
_OF_CODEX: Final = _ENDS_OF_CODEX | {"session_meta", "turn_context", "response_item", "event_msg"}
_OUTPUT: Final = frozenset(
    {
        *("reasoning", "function_call", "custom_tool_call", "local_shell_call"),
        *("web_search_call", "image_generation_call", "tool_search_call"),
        *("compaction", "context_compaction"),
    }
)
_OF_QWEN: Final = frozenset({"user", "assistant", "tool_result", "system"})

Line = Mapping[str, Any]


class LogAnswer:
    """An answer while its lines are read; `fields` are those of its last line."""

    def __init__(self, line: int) -> None:
        self.line = line
        self.fields: dict[str, Any] = {}
        self.items: list[Any] = []
        self.lines: list[int] = []

    def add(self, line: int, item: Any) -> None:
        self.lines.append(line)
        self.items.append(item)


Reader = Callable[[Iterator[tuple[int, Line]]], list[LogAnswer] | None]
"""None where the lines are no log after all."""


class LogForm(Struct, frozen=True):
    """How one agent logs: which lines are its own, its version, and the answers in them.

    `list_key` is where the items of an answer are in its body; empty where they are lines, each in
    the line of the log that `lines` of the answer name.
    """

    agent: str
    list_key: str
    says: str
    is_line: Callable[[Line], bool]
    version: Callable[[Line], Any]
    read: Reader


def _is_of_claude(line: Line) -> bool:
    return _is_of_session(line) and not _is_of_qwen(line)


def _is_of_session(line: Line) -> bool:
    return "parentUuid" in line and isinstance(line.get("sessionId"), str)


def _answers_of_claude(lines: Iterator[tuple[int, Line]]) -> list[LogAnswer]:
    """Rule 1."""
    found: dict[str, LogAnswer] = {}
    sessions: dict[str, Any] = {}  # the one in which each answer came
    met: set[str] = set()
    for number, line in lines:
        message = line.get("message")
        if line.get("type") != "assistant" or not isinstance(message, dict):
            continue
        name, content = message.get("id"), message.get("content")
        is_own = message.get("model") == "<synthetic>" or line.get("isApiErrorMessage") is True
        if is_own or not isinstance(name, str) or not isinstance(content, list):
            continue
        uuid, session = str(line.get("uuid", number)), line.get("sessionId")
        if uuid in met or sessions.setdefault(name, session) != session:
            continue
        met.add(uuid)
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
        elif line["type"] in _ENDS_OF_CODEX:
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


def _is_of_qwen(line: Line) -> bool:
    """A message is one of Gemini's API there: it has parts, no content."""
    if not _is_of_session(line) or line.get("type") not in _OF_QWEN:
        return False
    message = line.get("message")
    return isinstance(message, dict) and isinstance(message.get("parts"), list)


def _answers_of_qwen(lines: Iterator[tuple[int, Line]]) -> list[LogAnswer]:
    """Rule 3."""
    found: list[LogAnswer] = []
    for number, line in lines:
        if line.get("type") == "assistant" and _is_of_qwen(line) and line["message"]["parts"]:
            answer = LogAnswer(number)
            named = {"modelVersion": line.get("model"), "usageMetadata": line.get("usageMetadata")}
            answer.fields = {key: each for key, each in named.items() if each is not None}
            answer.items.append({"content": line["message"], "index": 0})
            found.append(answer)
    return found


def _is_of_copilot(line: Line) -> bool:
    data = line.get("data")
    return (
        line.get("type") == "session.start"
        and isinstance(data, dict)
        and isinstance(data.get("sessionId"), str)
    )


def _answers_of_copilot(lines: Iterator[tuple[int, Line]]) -> list[LogAnswer] | None:
    """Rule 4; None where a line is marked as ephemeral: that was written to standard output."""
    found = [LogAnswer(1)]
    is_in_turn = is_asked = False
    for number, line in lines:
        kind = line.get("type")
        if line.get("ephemeral") is True or kind == "result":
            return None
        is_in_turn = is_in_turn and kind != "session.resume"
        is_question = kind == "user.message" and not is_in_turn
        if is_question and is_asked:
            found.append(LogAnswer(number))
        is_asked = is_asked or is_question
        is_in_turn = kind == "assistant.turn_start" or (is_in_turn and kind != "assistant.turn_end")
        found[-1].add(number, line)
    return [each for each in found if any(map(_is_said, each.items))]


def _is_said(line: Line) -> bool:
    return line.get("type") in ("assistant.turn_start", "assistant.message")


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
    LogForm(
        "qwen-code",
        "candidates",
        "a session log of Qwen Code (`~/.qwen/projects`): the answers in it",
        _is_of_qwen,
        lambda line: line.get("version"),
        _answers_of_qwen,
    ),
    LogForm(
        "copilot",
        "",
        "a session log of Copilot CLI (`~/.copilot/session-state`): its events, without deltas",
        _is_of_copilot,
        lambda line: line["data"].get("copilotVersion") if _is_of_copilot(line) else None,
        _answers_of_copilot,
    ),
)
