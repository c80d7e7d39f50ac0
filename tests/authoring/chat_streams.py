"""Streams of Chat Completions that keep the rules, in the shapes of real servers."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, Final

from tests.authoring.chat import CREATED_AT, Server, answer, counted
from tests.authoring.draft import JSON_BODY, Draft, stream_draft
from tests.authoring.pieces import (
    DONE,
    Fields,
    Message,
    Piece,
    characters,
    comment,
    compact,
    deltas,
    opaque,
    put,
)

DIALECT: Final = "openai.chat"
DUSK: Final = "Street lamps are lit at dusk, so the hour that is asked for is in the evening."
DUSK_TEXT: Final = "They are lit in the evening, a little after sunset."
SHORT_THOUGHT: Final = "Dusk is the word."
TOOLS_THOUGHT: Final = "Two towns are named, so I ask the weather service twice."
LOOK: Final = "I will look up the weather in Oslo with the tool that was given."

drafted = partial(stream_draft, dialect=DIALECT, path="/v1/chat/completions")


def _asked(prompt: str = "When are street lamps lit?", **more: Any) -> Fields:
    messages = [{"role": "user", "content": prompt}]
    return {"model": "think-1", "messages": messages, "stream": True, **more}


def drafts() -> Iterator[Draft]:
    yield from _plain_fields()
    yield from _tools()
    yield from _gateways()
    yield from _clouds()
    yield from _inside_text()
    yield from _edges()
    yield from _ends()


def _plain_fields() -> Iterator[Draft]:
    server = Server(extra={"system_fingerprint": "fp_00"})
    pieces = answer(server, "reasoning_content", DUSK, DUSK_TEXT, usage=(9, 31, 19))
    yield drafted("deepseek/thinking-then-text", _asked(), pieces, profile="deepseek")

    pieces = answer(server, "reasoning_content", SHORT_THOUGHT, "At nightfall.", usage=(9, 9, 5))
    yield drafted("deepseek/short-thinking", _asked(), pieces, profile="deepseek")

    pieces = answer(Server(), "reasoning_content", DUSK, DUSK_TEXT)
    yield drafted("llamacpp/no-usage", _asked(), pieces, profile="llamacpp")

    server = Server(repeats_role=True, extra={"system_fingerprint": "fp_local"})
    pieces = [
        *server.each("reasoning", deltas(DUSK), content=""),
        *server.each("content", deltas(DUSK_TEXT)),
        server.said(content="", finish="stop"),
        server.usage((9, 31, 0), details=False),
        DONE,
    ]
    yield drafted("ollama/reasoning-field", _asked(), pieces, profile="ollama")

    asked = _asked(stream_options={"include_usage": True})
    pieces = [
        Server().opening(),
        *Server().each("content", deltas(DUSK_TEXT)),
        Server().said(finish="stop"),
        Server().usage((9, 12, 0)),
        DONE,
    ]
    yield drafted("openai/usage-asked", asked, pieces, profile="openai")

    asked = _asked(max_completion_tokens=64)
    pieces = answer(Server(), "reasoning_content", DUSK, DUSK_TEXT, usage=(9, 31, 19))
    yield drafted("openai/limit-named", asked, pieces)


def _tools() -> Iterator[Draft]:
    prompt = "Is it warmer in Oslo or in Bergen?"
    server = Server(extra={"system_fingerprint": "fp_00"})
    finish = server.said(content="", finish="tool_calls")
    pieces = [
        server.opening(content=None, reasoning_content=""),
        *server.each("reasoning_content", deltas(TOOLS_THOUGHT), content=None),
        *server.tool(0, "get_weather", ['{"ci', 'ty": "Os', 'lo"}']),
        *server.tool(1, "get_weather", ['{"city"', ': "Bergen"}']),
        Message({**finish.payload, "usage": counted((30, 44, 13))}),
        DONE,
    ]
    asked = _asked(prompt, tools=[_tool()])
    yield drafted("deepseek/parallel-tools", asked, pieces, profile="deepseek")

    finish = server.said(finish="tool_calls")
    whole = put(server.tool(0, "get_weather", [])[0].payload, _ARGUMENTS, '{"city":"Oslo"}')
    pieces = [
        server.opening(),
        *server.each("reasoning", deltas(LOOK), channel="analysis"),
        Message(whole),
        Message({**finish.payload, "x_groq": {"id": "req_00"}, "usage": counted((30, 28, 16))}),
        DONE,
    ]
    parsed = {**asked, "reasoning_format": "parsed"}
    yield drafted("groq/reasoning-then-tool", parsed, pieces, profile="groq")

    server = Server(bare=True)
    finish = server.said(finish="tool_calls")
    head = server.said(role="assistant", reasoning_content="First")
    pieces = [
        head,
        *server.each("reasoning_content", deltas(f", {LOOK}")),
        Message(whole),
        _later(finish, 1),
        _later(server.chunk([], usage=_apart((30, 12, 16))), 1),
        DONE,
    ]
    yield drafted("xai/thinking-then-tool", asked, pieces, profile="xai")


_ARGUMENTS: Final = "choices.0.delta.tool_calls.0.function.arguments"


def _tool() -> Fields:
    parameters = {"type": "object", "properties": {"city": {"type": "string"}}}
    return {"type": "function", "function": {"name": "get_weather", "parameters": parameters}}


def _later(message: Message, seconds: int) -> Message:
    return Message({**message.payload, "created": CREATED_AT + seconds})


def _apart(usage: tuple[int, int, int]) -> Fields:
    """Usage whose completion tokens leave the reasoning tokens out; the total adds them."""
    return {**counted(usage), "total_tokens": sum(usage)}


def _gateways() -> Iterator[Draft]:
    server = Server(repeats_role=True, extra={"provider": "Example"})
    signature = opaque("signature")
    waiting = comment("GATEWAY PROCESSING")
    pieces: list[Piece] = [
        waiting,
        waiting,
        *(server.said(content="", reasoning=d, reasoning_details=_detail(d)) for d in deltas(DUSK)),
        waiting,
        server.said(content="", reasoning=None, reasoning_details=_signed(signature)),
        *server.each("content", deltas(DUSK_TEXT), reasoning=None),
        server.said(content="", finish="stop"),
        Message({**server.said(content="", finish="stop").payload, "usage": counted((43, 36, 19))}),
        DONE,
    ]
    yield drafted("openrouter/signed-details", _asked(), pieces, profile="openrouter")

    yield drafted("copilot/opaque-at-the-end", _asked(), _copilot(), profile="copilot")

    server = Server()
    pieces = [
        server.opening(),
        *(server.said(content="", **_blocks(text, "")) for text in deltas(DUSK)),
        server.said(content="", **_blocks("", signature)),
        *server.each("content", deltas(DUSK_TEXT)),
        server.said(finish="stop"),
        server.usage((9, 31, 19)),
        DONE,
    ]
    yield drafted("litellm/signed-blocks", _asked(), pieces, profile="litellm")


def _blocks(text: str, signature: str) -> Fields:
    """Thinking, and the block of this delta with what signs it."""
    block = {"type": "thinking", "thinking": text, "signature": signature}
    return {"reasoning_content": text, "thinking_blocks": [block]}


def _copilot() -> list[Message]:
    """Few large chunks, each with usage; the opaque data comes with the last text."""
    server = Server(repeats_role=True, bare=True)
    finish = server.said(content=" a little after sunset.", finish="stop").payload
    chunks = [
        *server.each("reasoning_text", [DUSK[:40], DUSK[40:]], content=None),
        server.said(content="They are lit in the evening,"),
        Message(put(finish, "choices.0.delta.reasoning_opaque", opaque("copilot", 32))),
    ]
    parts = [_without_object(chunk, second) for second, chunk in enumerate(chunks)]
    return [*parts[:-1], Message({**parts[-1].payload, "usage": _flat((58, 12, 19))}), DONE]


def _detail(text: str) -> list[Fields]:
    return [{"type": "reasoning.text", "text": text, "format": "example-v1", "index": 0}]


def _signed(signature: str) -> list[Fields]:
    detail = {"type": "reasoning.text", "signature": signature}
    return [{**detail, "format": "example-v1", "index": 0}]


def _flat(usage: tuple[int, int, int]) -> Fields:
    """Usage with the reasoning tokens beside the others, and not among them."""
    given, written, thought = usage
    counts = {"prompt_tokens": given, "completion_tokens": written, "reasoning_tokens": thought}
    return {**counts, "total_tokens": sum(usage)}


def _without_object(piece: Message, second: int) -> Message:
    fields = {key: value for key, value in piece.payload.items() if key != "object"}
    return Message({**fields, "created": CREATED_AT + second, "usage": _flat((0, 0, 0))})


def _clouds() -> Iterator[Draft]:
    server = Server()
    filtered = {"id": "", "object": "", "created": 0, "model": "", "choices": []}
    harmless = {"violence": {"filtered": False, "severity": "safe"}}
    results = [{"prompt_index": 0, "content_filter_results": harmless}]
    pieces = [
        Message({**filtered, "prompt_filter_results": results}),
        *answer(server, "reasoning_content", DUSK, DUSK_TEXT)[:-1],
        server.chunk([], usage={**counted((9, 31, 0), details=False), "reasoning_tokens": 0}),
        DONE,
    ]
    yield drafted("azure/content-filter-first", _asked(), pieces, profile="azure")

    finish = server.said(content="", finish="stop")
    thoughts = [{"type": "thinking", "thinking": _text(part)} for part in deltas(DUSK)]
    pieces = [
        server.opening(),
        *(server.said(content=[part]) for part in thoughts),
        *server.each("content", deltas(DUSK_TEXT)),
        Message({**finish.payload, "usage": counted((10, 42, 0), details=False)}),
        DONE,
    ]
    yield drafted("mistral/thinking-parts", _asked(), pieces, profile="mistral")


def _text(text: str) -> list[Fields]:
    return [{"type": "text", "text": text}]


def _inside_text() -> Iterator[Draft]:
    server = Server(repeats_role=True)
    # The markers are cut in two.
    tagged = ["<thi", "nk>\n", *deltas(DUSK), "\n</th", "ink>\n\n", *deltas(DUSK_TEXT)]
    pieces = [*server.each("content", tagged), server.said(content="", finish="stop"), DONE]
    yield drafted("together/inline-think", _asked(), pieces, profile="together")

    tagged = ["<think>", *deltas(DUSK[:47]), "</think>"]
    pieces = [*server.each("content", tagged), server.said(content="", finish="length"), DONE]
    asked = _asked(max_tokens=12)
    yield drafted("together/length-in-think", asked, pieces, profile="together")


def _edges() -> Iterator[Draft]:
    message = {"role": "assistant", "content": DUSK_TEXT, "reasoning_content": DUSK}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    whole = Server().chunk([choice], usage=counted((9, 31, 19))).payload
    body = compact({**whole, "object": "chat.completion"}).encode()
    asked = {**_asked(), "stream": False}
    yield drafted("deepseek/body", asked, [body], content_type=JSON_BODY, profile="deepseek")

    server = Server()
    thought = characters("光は長い距離を進むと青が散ってしまう🌍ので、赤だけが目に届く。")
    pieces = [
        server.opening(),
        *server.each("reasoning_content", thought),
        *server.each("content", characters("青が散って、赤が残るからです。🌅👩\u200d🌾")),
        server.said(finish="stop"),
        DONE,
    ]
    asked = _asked("夕焼けはなぜ赤いのですか。🌇")
    yield drafted(
        "llamacpp/split-characters", asked, pieces, profile="llamacpp", sizes=(173, 1, 2, 96, 5)
    )

    yield drafted("openai/two-choices", _asked(n=2), _two_choices())

    # Line ends of another platform, a retry field, an event without data, a late comment.
    lines = [_crlf(piece) for piece in answer(server, "reasoning", DUSK, DUSK_TEXT)]
    extras = [b"retry: 3000\r\n\r\n", b": ping\r\n\r\n", b"event: ping\r\n\r\n"]
    yield drafted("vllm/line-ends", _asked(), [*extras, *lines, comment("bye")], profile="vllm")


def _crlf(piece: Message) -> bytes:
    return piece.encode().replace(b"\n", b"\r\n")


def _two_choices() -> list[Message]:
    """Two answers side by side."""
    server = Server()
    texts = [deltas("In the evening."), deltas("At dusk, every day.")]
    turns = [
        server.said(index=index, content=text[turn])
        for turn in range(2)
        for index, text in enumerate(texts)
    ]
    return [
        *(server.said(index=index, role="assistant", content="") for index in (0, 1)),
        *turns,
        *(server.said(index=index, finish="stop") for index in (0, 1)),
        DONE,
    ]


def _ends() -> Iterator[Draft]:
    server = Server()
    pieces: list[Piece] = [
        server.opening(),
        *server.each("reasoning_content", deltas(DUSK[:47])),
        server.said(finish="length"),
        server.usage((9, 12, 12)),
        DONE,
    ]
    asked = _asked(max_tokens=12)
    yield drafted("deepseek/length-in-thinking", asked, pieces, profile="deepseek")

    fault = {"message": "The tool call did not fit its schema.", "type": "invalid_request_error"}
    body = {"error": {**fault, "code": "tool_use_failed", "status_code": 400}}
    thought = server.each("reasoning", deltas(DUSK[:47]))
    pieces = [server.opening(), *thought[:4], Message(body, "error")]
    asked = _asked(reasoning_format="parsed")
    yield drafted("groq/error-in-the-middle", asked, pieces, profile="groq")
