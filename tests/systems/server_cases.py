"""Published tests of servers, restated as cases that a preset is asked in this process.

A case gives what the model would say (a script per generation) and a request, and says what comes
back: the frames of a stream, in order and none left out (`told`), the last of them (`ends`), or a
body; and what the model was asked (`prompts`, `thinks`).

Rule 1: of a frame, a body and a prompt those fields are compared that the case names.
Rule 2: a chunk of Chat Completions is written as its delta, with `finish` and `usage` where it has
them; a frame of Responses as its type, or as a map with `type`, without `response.` before it.
Rule 3: a case of several presets says what all of them do.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from starlette.types import ASGIApp

from reference_impl.server.app import application
from reference_impl.server.defects import Api
from reference_impl.server.engine import (
    EngineError,
    Finish,
    Markers,
    ReasoningDelta,
    Start,
    TextDelta,
    ToolCall,
    Usage,
)
from reference_impl.server.engine.markers import find_markers
from reference_impl.server.service import Service
from reference_impl.server.settings import LIKENESSES
from tests.reference.driving import Answer, ask_blocking
from tests.reference.scenes import PATHS
from tests.reference.scripted_engine import ScriptedEngine, Step
from tests.tables import read_table

FOLDER: Final = Path(__file__).parent / "cases"
SYSTEMS: Final = {"neuron": "helexa", "ogx": "ogx"}
"""Cases -> the table of the published tests that they restate."""

RESPONSE: Final = "$response"
DONE: Final = "[DONE]"
PROMPT_TOKENS: Final = 7
Plain = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Case:
    """One behaviour; `but` are other choices than the preset has, `why` is for those of our own.

    `tokens` are added tokens of a tokenizer, of which `pair` is the one around thinking; such a
    case asks nothing. `$response` in a request is the id of the response to the `earlier` one.
    """

    id: str
    says: str
    presets: tuple[str, ...]
    api: Api = "responses"
    but: Plain = field(default_factory=dict)
    why: str = ""
    # What goes in.
    engine: Sequence[Sequence[Plain]] = ()
    markers: Sequence[str] | None = ("<think>", "</think>")
    headers: Plain = field(default_factory=dict)
    ask: Plain = field(default_factory=dict)
    earlier: Plain | None = None
    tokens: Sequence[str] = ()
    # What comes out.
    status: int = 200
    told: Sequence[Any] | None = None
    among: str = ""
    ends: Any = None
    body: Any = None
    lacks: Sequence[str] = ()
    prompts: Sequence[Any] | None = None
    thinks: Sequence[bool] | None = None
    pair: Sequence[str] | None = None


def cases(system: str) -> tuple[Case, ...]:
    """All cases of a system. A key that a case does not have is a TypeError."""
    given = read_table(FOLDER / f"{system}.yaml")
    return tuple(Case(**{**each, "presets": tuple(each["presets"])}) for each in given)


def differences(case: Case, preset: str) -> list[str]:
    """What came otherwise than the case says, a line each."""
    if case.tokens:
        found = find_markers(dict(enumerate(case.tokens)))
        return list(_unlike(case.pair, [found.open, found.close] if found else None, "pair"))
    engine = ScriptedEngine(map(_script, case.engine), markers=_markers(case))
    app = application(Service(engine, replace(LIKENESSES[preset], **case.but)))
    before = None if case.earlier is None else _answer_to(app, case, case.earlier)
    answer = _answer_to(app, case, _filled(case.ask, before))
    lines = [*_of_answer(case, answer), *_of_engine(case, engine)]
    return lines or [f"{text!r} shows" for text in case.lacks if text in answer.data.decode()]


def _of_answer(case: Case, answer: Answer) -> Iterator[str]:
    yield from _unlike(case.status, answer.status, "status")
    if case.told is not None:
        wanted = [_spelt(each) for each in case.told]
        yield from _unlike(wanted, [f for f in frames(answer) if _named(f, case.among)], "frames")
    if case.ends is not None:
        yield from _unlike(_spelt(case.ends), frames(answer)[-1], "last frame")
    if case.body is not None:
        yield from _unlike(case.body, answer.json, "body")


def _of_engine(case: Case, engine: ScriptedEngine) -> Iterator[str]:
    yield from _unlike(len(case.engine), len(engine.calls), "generations")
    if case.prompts is not None:
        asked = [list(each.messages) for each in engine.asked]
        yield from _unlike(case.prompts, asked, "prompts")
    if case.thinks is not None:
        yield from _unlike(case.thinks, [each.thinking for each in engine.asked], "thinks")


def _answer_to(app: ASGIApp, case: Case, fields: Plain) -> Answer:
    question = {"messages": [{"role": "user", "content": "2 + 2?"}]}
    default = question if case.api == "chat" else {"input": "2 + 2?"}
    stream = {} if case.body is not None else {"stream": True}
    headers = tuple((name, str(value)) for name, value in case.headers.items())
    return ask_blocking(
        app, PATHS[case.api], {"model": "scripted", **default, **stream, **fields}, headers
    )


def _filled(fields: Plain, before: Answer | None) -> Plain:
    if before is None:
        return fields
    name = before.json if _is_body(before) else frames(before)[0]["response"]
    return {k: name["id"] if v == RESPONSE else v for k, v in fields.items()}


def _is_body(answer: Answer) -> bool:
    return answer.data.startswith(b"{")


def frames(answer: Answer) -> list[Any]:
    """The payloads of a stream; chunks as their delta, `[DONE]` as it stands."""
    lines = [line for line in answer.data.decode().split("\n") if line.startswith("data: ")]
    return [_frame(line.removeprefix("data: ")) for line in lines]


def _frame(data: str) -> Any:
    if data == DONE:
        return data
    payload = json.loads(data)
    if "choices" not in payload:
        kind = str(payload.get("type", ""))
        return {**payload, "type": kind.removeprefix("response.")} if kind else payload
    usage = {"usage": payload["usage"]} if payload.get("usage") else {}
    if not payload["choices"]:
        return usage
    (choice,) = payload["choices"]
    finish = {"finish": choice["finish_reason"]} if choice["finish_reason"] else {}
    return {**choice["delta"], **finish, **usage}


def _spelt(frame: Any) -> Any:
    return {"type": frame} if isinstance(frame, str) and frame != DONE else frame


def _named(frame: Any, among: str) -> bool:
    return not among or (isinstance(frame, dict) and str(frame.get("type", "")).startswith(among))


def _unlike(wanted: Any, came: Any, place: str) -> Iterator[str]:
    """Where what came does not hold what was wanted; a map may hold more, a list may not."""
    if isinstance(wanted, Mapping) and isinstance(came, Mapping):
        for key, value in wanted.items():
            if key in came:
                yield from _unlike(value, came[key], f"{place}.{key}")
            else:
                yield f"{place}.{key}: missing"
    elif _is_list(wanted) and _is_list(came) and len(wanted) == len(came):
        for number, (one, other) in enumerate(zip(wanted, came, strict=True)):
            yield from _unlike(one, other, f"{place}.{number}")
    elif wanted != came:
        yield f"{place}: wanted {wanted!r}, came {came!r}"


def _is_list(value: Any) -> bool:
    return isinstance(value, list | tuple)


def _markers(case: Case) -> Markers | None:
    return Markers(case.markers[0], case.markers[1], 1, 2) if case.markers else None


def _script(steps: Sequence[Plain]) -> tuple[Step, ...]:
    return (Start(PROMPT_TOKENS), *map(_step, steps))


def _step(step: Plain) -> Step:
    match dict(step):
        case {"think": str(text)}:
            return ReasoningDelta(text, 1)
        case {"text": str(text)}:
            return TextDelta(text)
        case {"call": str(name), "arguments": str(arguments)}:
            return ToolCall(name, arguments, 0)
        case {"finish": ("stop" | "length" | "tool_calls") as reason, **rest}:
            counts: Plain = rest.get("usage", {})
            known = {name: counts.get(name, 0) for name in ("prompt", "completion", "reasoning")}
            return Finish(reason, Usage(**known))
        case {"fails": str(message)}:
            return EngineError(message)
    raise ValueError(f"no step: {step!r}")
