"""Everything that can be asked of the server so that a fault shows, and what it answers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

from msgspec.structs import replace
from starlette.types import ASGIApp

from conformance.cassette import Cassette, Header, open_recording
from conformance.cassette import write as write_cassette
from conformance.core.events import Exchange, Request, Response
from conformance.dialects import get
from conformance.judging.result import Report
from conformance.recordings.check import check_recording
from conformance.recordings.choices import CheckChoices
from conformance.rules.verdicts import Verdict
from reference_impl.server.defects import Api
from reference_impl.server.settings import Settings
from tests.reference.driving import Answer, Headers, ask
from tests.reference.turns import (
    chat_turns,
    cohere_turns,
    converse_turns,
    gemini_turns,
    interactions_turns,
    messages_turns,
    mistral_turns,
    ollama_turns,
    responses_turns,
)
from tests.rulebooks import rulebook

PATHS: Final[Mapping[Api, str]] = {
    "chat": "/v1/chat/completions",
    "responses": "/v1/responses",
    "messages": "/v1/messages",
    "ollama": "/api/chat",
    "cohere": "/v2/chat",
    "interactions": "/v1beta/interactions",
    "mistral": "/v1/chat/completions",
    "ollama-generate": "/api/generate",
}
# Where the path says which model is asked, and whether for a stream.
ENDPOINTS: Final[Mapping[Api, str]] = {"gemini": "gemini.generate", "bedrock": "bedrock.converse"}
DIALECTS: Final[Mapping[Api, str]] = {
    **ENDPOINTS,
    "chat": "openai.chat",
    "responses": "openai.responses",
    "messages": "anthropic.messages",
    "ollama": "ollama.chat",
    "cohere": "cohere.v2",
    "interactions": "gemini.interactions",
    "mistral": "mistral.chat",
    "ollama-generate": "ollama.generate",
}
SETTINGS: Final[Mapping[Api, Settings]] = {"mistral": Settings(chat_reasoning="parts")}
"""How the server has to be set up, where one path serves two APIs."""
JSON: Final = (("content-type", "application/json"),)
OPT_IN: Final = (("x-include-thinking", "true"),)
SCHEMA: Final[Mapping[str, Any]] = {
    "type": "object",
    "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
    "required": ["a", "b"],
}


DRAW: Final = "Draw 3 cats."
COUNT: Final = "Count to 15."
CALCULATE: Final = "Use the calculator: what is 2 + 3?"
RESULT: Final = "5"
CUT: Final = 24  # tokens: not enough to count to 15


@dataclass(frozen=True, slots=True)
class Scene:
    """One request: `role` is what rules that compare call it, `after` the role it carries on."""

    role: str
    fields: Mapping[str, Any]
    headers: Headers = ()
    after: str = ""


@dataclass(frozen=True, slots=True)
class Played:
    """A request and its answer."""

    scene: Scene
    answer: Answer


def chat_scenes() -> Iterator[Scene]:
    usage: dict[str, Any] = {"stream_options": {"include_usage": True}}
    draw = {"messages": [_user(DRAW)], "stream": True, **usage}
    yield Scene("plain", draw)
    yield Scene("opted-in", draw, OPT_IN)
    yield Scene("stream", draw, OPT_IN)
    yield Scene("body", {"messages": [_user(DRAW)]}, OPT_IN)
    yield Scene("off", {**draw, "reasoning_effort": "none"})
    yield Scene("cut", {**draw, "messages": [_user(COUNT)], "max_tokens": CUT}, OPT_IN)
    turn = {**draw, "messages": [_user(CALCULATE)], "tools": [_nested(TOOL)]}
    yield Scene("tool-turn", turn, OPT_IN)
    yield Scene("follow-up", turn, OPT_IN, after="tool-turn")


def responses_scenes() -> Iterator[Scene]:
    draw = {"input": DRAW, "stream": True, "reasoning": {"effort": "high"}}
    summarised = {**draw, "reasoning": {"effort": "high", "summary": "detailed"}}
    yield Scene("stream", summarised)
    yield Scene("body", {**summarised, "stream": False})
    yield Scene("no-summary", draw)
    yield Scene("summary", summarised)
    yield Scene("off", {**draw, "reasoning": {"effort": "none"}})
    yield Scene("cut", {**draw, "input": COUNT, "max_output_tokens": CUT})
    tool = {"type": "function", **TOOL}
    turn = {**draw, "input": [_user(CALCULATE)], "tools": [tool], "include": [ENCRYPTED]}
    yield Scene("tool-turn", turn)
    yield Scene("follow-up", turn, after="tool-turn")


def messages_scenes() -> Iterator[Scene]:
    thinking = {"type": "enabled", "budget_tokens": 1024}
    draw = {"messages": [_user(DRAW)], "stream": True, "max_tokens": 2048, "thinking": thinking}
    yield Scene("stream", draw)
    yield Scene("body", {**draw, "stream": False})
    yield Scene("off", {**draw, "thinking": {"type": "disabled"}})
    cut = {"messages": [_user(COUNT)], "max_tokens": CUT, "thinking": {"type": "adaptive"}}
    yield Scene("cut", {**draw, **cut})
    tool = {"name": TOOL["name"], "description": TOOL["description"], "input_schema": SCHEMA}
    turn = {**draw, "messages": [_user(CALCULATE)], "tools": [tool]}
    yield Scene("tool-turn", turn)
    yield Scene("follow-up", turn, after="tool-turn")


def ollama_scenes() -> Iterator[Scene]:
    draw = {"messages": [_user(DRAW)], "think": True}
    yield Scene("stream", draw)
    yield Scene("body", {**draw, "stream": False})
    yield Scene("off", {**draw, "think": False})
    cut = {"messages": [_user(COUNT)], "options": {"num_predict": CUT}}
    yield Scene("cut", {**draw, **cut})
    turn = {**draw, "messages": [_user(CALCULATE)], "tools": [_nested(TOOL)]}
    yield Scene("tool-turn", turn)
    yield Scene("follow-up", turn, after="tool-turn")


def cohere_scenes() -> Iterator[Scene]:
    enabled = {"type": "enabled"}
    draw = {"messages": [_user(DRAW)], "thinking": enabled, "stream": True}
    yield Scene("stream", draw)
    yield Scene("body", {**draw, "stream": False})
    yield Scene("off", {**draw, "thinking": {"type": "disabled"}})
    yield Scene("budget", {**draw, "thinking": {**enabled, "token_budget": 64}})
    yield Scene("cut", {**draw, "messages": [_user(COUNT)], "max_tokens": CUT})
    turn = {**draw, "messages": [_user(CALCULATE)], "tools": [_nested(TOOL)]}
    yield Scene("tool-turn", turn)
    yield Scene("follow-up", turn, after="tool-turn")


def interactions_scenes() -> Iterator[Scene]:
    shown = {"thinking_summaries": "auto"}
    draw = {"input": _user_input(DRAW), "generation_config": shown, "stream": True}
    yield Scene("stream", draw)
    yield Scene("body", {**draw, "stream": False})
    yield Scene("hidden", {**draw, "generation_config": {"thinking_summaries": "none"}})
    yield Scene("low", {**draw, "generation_config": {**shown, "thinking_level": "low"}})
    cut = {"input": _user_input(COUNT), "generation_config": {**shown, "max_output_tokens": CUT}}
    yield Scene("cut", {**draw, **cut})
    turn = {**draw, "input": _user_input(CALCULATE), "tools": [{"type": "function", **TOOL}]}
    yield Scene("tool-turn", turn)
    yield Scene("follow-up", turn, after="tool-turn")
    yield Scene("tool-turn-body", {**turn, "stream": False})


def mistral_scenes() -> Iterator[Scene]:
    draw = {"messages": [_user(DRAW)], "stream": True}
    yield Scene("stream", draw)
    yield Scene("body", {**draw, "stream": False})
    yield Scene("off", {**draw, "reasoning_effort": "none"})
    yield Scene("off-body", {**draw, "reasoning_effort": "none", "stream": False})
    yield Scene("cut", {**draw, "messages": [_user(COUNT)], "max_tokens": CUT})
    turn = {**draw, "messages": [_user(CALCULATE)], "tools": [_nested(TOOL)]}
    yield Scene("tool-turn", turn)
    yield Scene("follow-up", turn, after="tool-turn")
    yield Scene("tool-turn-body", {**turn, "stream": False})


def generate_scenes() -> Iterator[Scene]:
    draw = {"prompt": DRAW, "think": True}
    yield Scene("stream", draw)
    yield Scene("by-default", {"prompt": DRAW})
    yield Scene("body", {**draw, "stream": False})
    yield Scene("off", {**draw, "think": False})
    yield Scene("cut", {**draw, "prompt": COUNT, "options": {"num_predict": CUT}})


def gemini_scenes() -> Iterator[Scene]:
    shown = {"includeThoughts": True}
    draw = {"contents": _asked(DRAW), "generationConfig": {"thinkingConfig": shown}}
    yield Scene("stream", {**draw, "stream": True})
    yield Scene("body", draw)
    off = {"generationConfig": {"thinkingConfig": {"thinkingBudget": 0}}, "stream": True}
    yield Scene("off", {**draw, **off})
    hidden = {"generationConfig": {"thinkingConfig": {"includeThoughts": False}}, "stream": True}
    yield Scene("hidden", {**draw, **hidden})
    limited = {"generationConfig": {"maxOutputTokens": CUT, "thinkingConfig": shown}}
    yield Scene("cut", {**draw, **limited, "contents": _asked(COUNT), "stream": True})
    turn = {**draw, "contents": _asked(CALCULATE), "tools": [{"functionDeclarations": [TOOL]}]}
    yield Scene("tool-turn", {**turn, "stream": True})
    yield Scene("follow-up", {**turn, "stream": True}, after="tool-turn")
    yield Scene("tool-turn-body", turn)


def bedrock_scenes() -> Iterator[Scene]:
    thinking = {"thinking": {"type": "enabled", "budget_tokens": 1024}}
    limit = {"maxTokens": 2048}
    asked = {"messages": _blocks(DRAW), "inferenceConfig": limit}
    draw = {**asked, "additionalModelRequestFields": thinking}
    yield Scene("stream", {**draw, "stream": True})
    yield Scene("body", draw)
    off = {"additionalModelRequestFields": {"thinking": {"type": "disabled"}}}
    yield Scene("off", {**asked, **off, "stream": True})
    adaptive = {"additionalModelRequestFields": {"thinking": {"type": "adaptive"}}}
    cut = {"messages": _blocks(COUNT), "inferenceConfig": {"maxTokens": CUT}}
    yield Scene("cut", {**cut, **adaptive, "stream": True})
    spec = {
        "name": TOOL["name"],
        "description": TOOL["description"],
        "inputSchema": {"json": SCHEMA},
    }
    turn = {**draw, "messages": _blocks(CALCULATE), "toolConfig": {"tools": [{"toolSpec": spec}]}}
    yield Scene("tool-turn", {**turn, "stream": True})
    yield Scene("follow-up", {**turn, "stream": True}, after="tool-turn")
    yield Scene("tool-turn-body", turn)


ENCRYPTED: Final = "reasoning.encrypted_content"
TOOL: Final = {"name": "calculator", "description": "Adds two numbers.", "parameters": SCHEMA}
SCENES: Final[Mapping[Api, Callable[[], Iterator[Scene]]]] = {
    "chat": chat_scenes,
    "responses": responses_scenes,
    "messages": messages_scenes,
    "ollama": ollama_scenes,
    "cohere": cohere_scenes,
    "interactions": interactions_scenes,
    "mistral": mistral_scenes,
    "ollama-generate": generate_scenes,
    "gemini": gemini_scenes,
    "bedrock": bedrock_scenes,
}


def _user(text: str) -> dict[str, str]:
    return {"role": "user", "content": text}


def _user_input(text: str) -> list[Any]:
    return [{"type": "user_input", "content": [{"type": "text", "text": text}]}]


def _asked(text: str) -> list[Any]:
    return [{"role": "user", "parts": [{"text": text}]}]


def _blocks(text: str) -> list[Any]:
    return [{"role": "user", "content": [{"text": text}]}]


def _nested(tool: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "function", "function": dict(tool)}


TURNS: Final[Mapping[Api, Callable[[Mapping[str, Any], bytes, str], Mapping[str, Any]]]] = {
    "chat": chat_turns,
    "responses": responses_turns,
    "messages": messages_turns,
    "ollama": ollama_turns,
    "cohere": cohere_turns,
    "interactions": interactions_turns,
    "mistral": mistral_turns,
    "gemini": gemini_turns,
    "bedrock": converse_turns,
}


Asker = Callable[[str, Mapping[str, Any], Headers], Awaitable[Answer]]


async def play(app: ASGIApp, api: Api, scenes: Iterable[Scene], model: str) -> list[Played]:
    """Asks all of it in process, one after the other."""
    return await play_to(partial(ask, app), api, scenes, model)


async def play_to(asker: Asker, api: Api, scenes: Iterable[Scene], model: str) -> list[Played]:
    """Asks all of it, one after the other."""
    played: dict[str, Played] = {}
    for scene in scenes:
        fields: Mapping[str, Any] = {"model": model, **scene.fields}
        if scene.after:
            fields = carried_on(api, fields, played[scene.after].answer)
        path, body = address(api, fields)
        answer = await asker(path, body, scene.headers)
        played[scene.role] = Played(Scene(scene.role, fields, scene.headers, scene.after), answer)
    return list(played.values())


def address(api: Api, fields: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    """Where a request goes, and its body without what the path says."""
    if api not in ENDPOINTS:
        return PATHS[api], fields
    endpoint = get(ENDPOINTS[api]).endpoint
    assert endpoint is not None
    path, body = endpoint.address(fields)
    return f"{endpoint.base}{path}", body


def carried_on(api: Api, fields: Mapping[str, Any], answer: Answer) -> Mapping[str, Any]:
    """The request that follows a turn with a tool call."""
    return TURNS[api](fields, answer.data, RESULT)


def recorded(api: Api, played: Iterable[Played], path: Path, *, profile: str = "reference") -> Path:
    """Writes everything into one cassette."""
    write_cassette(path, cassette(api, played, Header(profile=profile)), seal=True)
    return path


def cassette(
    api: Api, played: Iterable[Played], header: Header, scenario: str = "full"
) -> Cassette:
    """Everything in one cassette of that header."""
    held = list(played)
    roles = [each.scene.role for each in held]
    exchanges = (
        Exchange(
            number=number,
            request=_request(api, each.scene),
            response=Response(each.answer.status, "1.1", each.answer.headers),
            chunks=each.answer.chunks,
            end=each.answer.end,
            scenario=scenario,
            role=each.scene.role,
            after=roles.index(each.scene.after) + 1 if each.scene.after else None,
        )
        for number, each in enumerate(held, 1)
    )
    return Cassette(replace(header, dialect=DIALECTS[api]), tuple(exchanges))


def _request(api: Api, scene: Scene) -> Request:
    path, body = address(api, scene.fields)
    return Request("POST", path, (*JSON, *scene.headers), body)


def judged(path: Path) -> Report:
    return Report(tuple(check_recording(open_recording(path), rulebook(), CheckChoices())))


def failing(report: Report) -> set[str]:
    return {rule for rule, verdict in report.verdicts.items() if verdict is Verdict.FAIL}
