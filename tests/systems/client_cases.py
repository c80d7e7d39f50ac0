"""Published tests of clients, restated as cases that a preset is driven through.

A case goes through the harness protocol, in this process, and says what must come back:

    stream    deltas or payloads in, events out
    request   a model, options and a history in, what the request holds out
    extract   a whole message in, events out
    restore   a stored turn in, events out
    store     a whole message in, what is stored out

Rule 1: of events those are compared that the preset has and that a case may be about; of a request
and a stored turn what the case names.
Rule 2: a case of several presets says what all of them do; what one does not have is left out.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from reference_impl.client.defects import HONEST
from reference_impl.client.harness import Harness
from reference_impl.client.likeness import LIKENESSES, Likeness
from tests.reference.client_server import Script, playing
from tests.tables import read_table

FOLDER: Final = Path(__file__).parent
SYSTEMS: Final = ("opal", "openhands")
KINDS: Final = ("stream", "request", "extract", "restore", "store")
# Compared wherever a case has events; others only where it names them.
COMPARED: Final = frozenset(
    {
        *("thinking.start", "thinking.delta", "thinking.opaque", "text.delta"),
        *("tool.end", "finish", "error"),
    }
)
# The field of an event that a case may write alone.
SHORT: Final = {
    "thinking.delta": "text",
    "text.delta": "text",
    "tool.delta": "arguments",
    "tool.end": "arguments",
    "tool.start": "name",
    "finish": "reason",
    "error": "message",
    "message.start": "role",
}
FIRST, LAST = "0", "1"  # commands are told apart by these
NOWHERE: Final = "http://127.0.0.1:1/v1"
DONE: Final = b"data: [DONE]\n\n"
USER: Final = {"role": "user", "content": "What is 2 + 2?"}
MISSING: Final = "(missing)"
Plain = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Case:
    """One behaviour; `but` are other choices than the preset has, `why` is for those of our own."""

    id: str
    kind: str
    says: str
    presets: tuple[str, ...]
    dialect: str = "openai.chat"
    but: Plain = field(default_factory=dict)
    why: str = ""
    # What goes in: chat deltas, which [DONE] follows, payloads of any API, or bytes.
    deltas: Sequence[Plain] = ()
    sends: Sequence[Any] = ()
    raw: str = ""
    # Of requests; `after` is a stream of chat deltas or payloads that the history goes on from.
    model: str = "m"
    options: Plain = field(default_factory=dict)
    messages: Sequence[Plain] = (USER,)
    after: Sequence[Plain] = ()
    adds: Sequence[Plain] = ()
    message: Plain = field(default_factory=dict)
    stored: Plain = field(default_factory=dict)
    # What comes out.
    tells: Sequence[Any] = ()
    never: Sequence[str] = ()
    ends: str = ""
    holds: Any = None
    lacks: Sequence[str] = ()
    refused: bool = False


def cases(system: str) -> tuple[Case, ...]:
    """All cases of a system. A key that a case does not have is a TypeError."""
    given = read_table(FOLDER / "cases" / f"{system}.yaml")
    return tuple(Case(**{**each, "presets": tuple(each["presets"])}) for each in given)


def rows(system: str) -> tuple[Plain, ...]:
    """The published tests of a system: `test`, and `case` or `reason`, maybe `contradicts`."""
    return tuple(read_table(FOLDER / "published" / f"{system}.yaml")["rows"])


def named(row: Plain) -> tuple[str, ...]:
    """The ids of the cases that restate a test."""
    case = row.get("case", [])
    return tuple(case) if isinstance(case, list) else (case,)


def outcome(case: Case, preset: str) -> tuple[Any, Any]:
    """What was to come, and what came."""
    like = replace(LIKENESSES[preset], **case.but)
    lines = reported(case, like)
    last = lines[-1]
    if case.refused or not last.keys() & {"end", "request", "stored", "events"}:
        return {"refused": case.refused}, {"refused": "skipped" in last}
    if case.kind in ("request", "store"):
        got = last["request"]["json"] if case.kind == "request" else last["stored"]
        return (case.holds, []), (_picked(got, case.holds), _present(got, case.lacks))
    events = last.get("events", [line["event"] for line in lines if "event" in line])
    end = last.get("end", {}).get("how", "") if case.ends else ""
    return (_expected(case, like), case.ends), (_projected(case, like, events), end)


def reported(case: Case, like: Likeness) -> list[dict[str, Any]]:
    """The lines that the harness writes for the last command of a case."""
    output = io.StringIO()
    with ExitStack() as stack:
        commands = []
        for command, chunks in _commands(case):
            base = stack.enter_context(playing(Script(chunks))).base_url if chunks else NOWHERE
            commands.append({**command, "base_url": base})
        Harness(output, HONEST, like).serve(map(json.dumps, commands))
    lines = [json.loads(line) for line in output.getvalue().splitlines()]
    return [line for line in lines if line["seq"] == LAST]


def _commands(case: Case) -> Iterator[tuple[dict[str, Any], list[bytes]]]:
    """The commands of a case, and what the server sends to each."""
    asked = {
        "dialect": case.dialect,
        "model": case.model,
        "messages": list(case.messages),
        "options": dict(case.options),
        "deadline_ms": 10_000,
    }
    goes_on = {"after": FIRST, "adds": list(case.adds)} if case.after else {}
    if case.after:
        is_chat = case.dialect == "openai.chat"
        chunks = [*_deltas(case.after), DONE] if is_chat else list(map(_frame, case.after))
        yield {"cmd": "stream", "seq": FIRST, **asked}, chunks
    if case.kind == "stream":
        yield {"cmd": "stream", "seq": LAST, **asked}, _chunks(case)
    elif case.kind == "request":
        yield {"cmd": "next_request", "seq": LAST, **asked, **goes_on}, []
    else:
        given = {"dialect": case.dialect, "message": case.message, "stored": case.stored}
        yield {"cmd": case.kind, "seq": LAST, **given}, []


def _chunks(case: Case) -> list[bytes]:
    if case.raw:
        return [case.raw.encode()]
    return list(map(_frame, case.sends)) or [*_deltas(case.deltas), DONE]


def _deltas(given: Iterable[Plain]) -> Iterator[bytes]:
    """Chunks of chat; a finish reason stands beside its delta."""
    for each in given:
        delta = {name: value for name, value in each.items() if name != "finish_reason"}
        choice = {"index": 0, "delta": delta, "finish_reason": each.get("finish_reason")}
        yield _frame({"choices": [choice]})


def _frame(payload: Any) -> bytes:
    data = payload if isinstance(payload, str) else json.dumps(payload)
    return f"data: {data}\n\n".encode()


def _present(value: Any, paths: Iterable[str]) -> list[str]:
    """Those of the paths at which something stands."""
    return [path for path in paths if _at(value, path) != MISSING]


def _at(value: Any, path: str) -> Any:
    for key in path.split("."):
        if isinstance(value, list) and key.isdigit() and int(key) < len(value):
            value = value[int(key)]
        else:
            value = value.get(key, MISSING) if isinstance(value, Mapping) else MISSING
    return value


def _picked(value: Any, like: Any) -> Any:
    """As much of a value as a pattern names, in the pattern's shape."""
    if isinstance(like, Mapping) and isinstance(value, Mapping):
        return {name: _picked(value.get(name, MISSING), each) for name, each in like.items()}
    if isinstance(like, list) and isinstance(value, list):
        return [_picked(*pair) for pair in zip(value, [*like, *value[len(like) :]], strict=False)]
    return value


def _expected(case: Case, like: Likeness) -> list[Plain]:
    """The events that are to be told, without those that the preset does not have."""
    events = [_pattern(each) for each in case.tells]
    return [each for each in events if each["type"] in like.events]


def _pattern(given: Any) -> dict[str, Any]:
    """`type`, `{type: text}` or `{type: {field: value}}`, written out."""
    if isinstance(given, str):
        return {"type": given}
    ((kind, fields),) = given.items()
    return {"type": kind, **(fields if isinstance(fields, Mapping) else {SHORT[kind]: fields})}


def _projected(case: Case, like: Likeness, events: Sequence[Plain]) -> list[Plain]:
    """The events that were told, of each as much as the case names at its place."""
    patterns = _expected(case, like)
    kinds = COMPARED.union(case.never, (each["type"] for each in patterns))
    seen = [event for event in events if event["type"] in kinds]
    padded = [*patterns, *({"type": ""} for _ in seen[len(patterns) :])]
    return [
        {name: event.get(name, MISSING) for name in pattern}
        if pattern["type"] == event["type"]
        else event
        for event, pattern in zip(seen, padded, strict=False)
    ]
