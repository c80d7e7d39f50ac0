"""Streams and bodies of Mistral's conversations that keep the rules, made of its events."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any, Final

from tests.authoring.draft import Draft, body_draft, stream_draft
from tests.authoring.pieces import Fields, Message, characters, deltas, opaque

DIALECT: Final = "mistral.conversations"
MODEL: Final = "think-1"
CONVERSATION: Final = "conv_synthetic0001"
TIDE: Final = "High water was at six, and the tide turns after some six hours and a quarter."
TIDE_TEXT: Final = "Low water is at a quarter past twelve."
FERRY: Final = "When does the ferry sail?"

drafted = partial(stream_draft, dialect=DIALECT, path="/v1/conversations")
_in_one_piece = partial(body_draft, dialect=DIALECT, path="/v1/conversations")


def drafts() -> Iterator[Draft]:
    said = [*thought(0, TIDE), *text(0, deltas(TIDE_TEXT))]
    yield drafted(
        "mistral/thinking-then-text", _asked("When is low water?"), answer(said, (15, 38))
    )

    # Parts of type text, a signed thought, and times in all events.
    more = {"signature": opaque("blossom"), "closed": True}
    told = [written(each) for each in characters("さくらの花は淡い桃色です。")]
    said = [*thought(0, "Cherry blossom."), _delta(0, thinking("", **more)), *text(0, told)]
    timed = [_timed(each, n) for n, each in enumerate(answer(said, (8, 19)))]
    yield drafted("mistral/all-parts", _asked("さくらは何色ですか。"), timed, sizes=(89, 7))

    asked = _asked("When is low water?", reasoning_effort="none")
    yield drafted("mistral/thinking-off", asked, answer(text(0, deltas(TIDE_TEXT)), (15, 9)))

    yield _function_round()
    yield _hosted_tool()
    yield _handoff()
    yield from _ends()
    yield from _bodies()


def _asked(said: Any, *, stream: bool = True, **more: Any) -> Fields:
    arguments = {"reasoning_effort": "high", **more}
    return {"model": MODEL, "inputs": said, "completion_args": arguments, "stream": stream}


def _function_round() -> Draft:
    """A call of a function, and the answer to its result."""
    schema = {"type": "object", "properties": {"line": {"type": "string"}}}
    tool = {"type": "function", "function": {"name": "timetable", "parameters": schema}}
    called = [function(1, piece) for piece in ('{"line":', '"island"}')]
    said = answer([*thought(0, "I have to look that up."), *called], (61, 24))
    first = drafted("mistral/function-round", {**_asked(FERRY), "tools": [tool]}, said)
    result = {"type": "function.result", "tool_call_id": "k2m9x4q11", "result": "at nine"}
    said = answer([*thought(0, "It says nine."), *text(0, ["It sails ", "at nine."])], (90, 14))
    asked = _asked([result])
    path = f"/v1/conversations/{CONVERSATION}"
    return replace(
        first, then=(replace(first, path=path, asked=asked, pieces=tuple(said), after=1),)
    )


def _hosted_tool() -> Draft:
    """The server searches, and the model goes on with what was found, and names its source."""
    source = {"type": "tool_reference", "tool": "web_search", "title": "Ferries"}
    said = [
        *thought(0, "I search for that."),
        *searched(1),
        *thought(2, "Found it, so I can say."),
        *text(2, ["It sails ", "at nine."]),
        _delta(2, source, content_index=1),
    ]
    return drafted("mistral/hosted-tool", _asked(FERRY), answer(said, (61, 47), connectors=500))


def _handoff() -> Draft:
    """An agent hands over to another one."""
    said = [
        *text(0, ["I hand ", "over."]),
        _event(
            "agent.handoff.started",
            **_entry(1, "hand"),
            previous_agent_id="ag_1",
            previous_agent_name="porter",
        ),
        _event(
            "agent.handoff.done",
            **_entry(1, "hand"),
            next_agent_id="ag_2",
            next_agent_name="pilot",
        ),
        *thought(2, TIDE),
        *text(2, deltas(TIDE_TEXT)),
    ]
    return drafted("mistral/handoff", _asked("When is low water?"), answer(said, (80, 44)))


def _ends() -> Iterator[Draft]:
    asked = _asked("When is low water?")
    whole = answer([*thought(0, TIDE), *text(0, ["Low water ", "is at"])], (15, 30))
    failed = _event("conversation.response.error", message="The model is overloaded.", code=503)
    yield drafted("mistral/error-in-text", asked, [*whole[:-1], failed])
    yield drafted("mistral/closed", asked, whole[:-1], end="client-closed")


def _bodies() -> Iterator[Draft]:
    asked = _asked("When is low water?", stream=False)
    message = listed("message.output", "msg", 0, role="assistant")
    said = {**message, "content": [thinking(TIDE, closed=True), written(TIDE_TEXT)]}
    yield _in_one_piece("mistral/body", asked, body([said], (15, 38)))

    searched_for = listed("tool.execution", "tool", 1, name="web_search", arguments="{}")
    named = {"tool_call_id": "k2m9x4q11", "name": "timetable", "arguments": '{"line":"island"}'}
    outputs = [
        {**message, "content": "I look that up."},
        searched_for,
        listed("function.call", "fc", 2, **named),
    ]
    yield _in_one_piece(
        "mistral/body-with-calls", _asked(FERRY, stream=False), body(outputs, (61, 40))
    )


def answer(
    said: Iterable[Message], usage: tuple[int, int], *, connectors: int = 0
) -> list[Message]:
    """A whole stream."""
    started = _event("conversation.response.started", conversation_id=CONVERSATION)
    return [started, *said, _event("conversation.response.done", usage=_counted(usage, connectors))]


def thought(entry: int, said: str) -> list[Message]:
    return [_delta(entry, thinking(piece)) for piece in deltas(said)]


def text(entry: int, said: Iterable[Any]) -> list[Message]:
    return [_delta(entry, each) for each in said]


def thinking(said: str, **more: Any) -> Fields:
    return {"type": "thinking", "thinking": [written(said)] if said else [], **more}


def written(said: str) -> Fields:
    return {"type": "text", "text": said}


def function(entry: int, arguments: str) -> Message:
    named = {"name": "timetable", "tool_call_id": "k2m9x4q11"}
    return _event("function.call.delta", **_entry(entry, "fc"), **named, arguments=arguments)


def searched(entry: int) -> list[Message]:
    named = {**_entry(entry, "tool"), "name": "web_search"}
    return [
        _event("tool.execution.started", **named, arguments=""),
        _event("tool.execution.delta", **named, arguments='{"query":'),
        _event("tool.execution.delta", **named, arguments='"ferry"}'),
        _event("tool.execution.done", **named, info={"results": 3}),
    ]


def body(outputs: list[Fields], usage: tuple[int, int]) -> Fields:
    frame = {"object": "conversation.response", "conversation_id": CONVERSATION}
    return {**frame, "outputs": outputs, "usage": _counted(usage)}


def listed(kind: str, prefix: str, entry: int, **more: Any) -> Fields:
    """An entry of a whole answer."""
    return {"object": "entry", "type": kind, "id": f"{prefix}_synthetic{entry}", **more}


def _delta(entry: int, content: Any, **more: Any) -> Message:
    said = {"content_index": 0, **more, "model": MODEL, "role": "assistant", "content": content}
    return _event("message.output.delta", **_entry(entry, "msg"), **said)


def _entry(entry: int, prefix: str) -> Fields:
    return {"output_index": entry, "id": f"{prefix}_synthetic{entry}"}


def _event(kind: str, **fields: Any) -> Message:
    return Message({"type": kind, **fields}, kind)


def _timed(message: Message, number: int) -> Message:
    stamp = f"2026-11-28T09:30:{number:02}Z"
    return replace(message, payload={**message.payload, "created_at": stamp})


def _counted(usage: tuple[int, int], connectors: int = 0) -> Fields:
    given, said = usage
    counts = {"prompt_tokens": given, "completion_tokens": said}
    return {
        **counts,
        "total_tokens": sum(usage) + connectors,
        "connector_tokens": connectors or None,
    }
