"""Streams that real systems send, that look wrong and are allowed; one for each allowance.

Beside each stands a mutant in `mutants_allowances`, which shows that the rule still bites.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

from tests.authoring import agui, chat, converse, gemini, messages, ollama, responses
from tests.authoring import converse as aws
from tests.authoring import messages as anthropic
from tests.authoring.agui import earlier_thought, event, run, snapshot, span, text, thought
from tests.authoring.chat import Server, counted
from tests.authoring.draft import Draft
from tests.authoring.gemini import answer as gemini_answer
from tests.authoring.gemini import array, events, said
from tests.authoring.gemini import thought as gemini_thought
from tests.authoring.ollama import answer as ollama_answer
from tests.authoring.ollama import spoken
from tests.authoring.ollama import thought as ollama_thought
from tests.authoring.pieces import DONE, Fields, Message, cut, deltas
from tests.authoring.responses import Answer, Item, message, stream, summarised

QUESTION: Final = "Which way does the wind turn before rain?"
THOUGHT: Final = "Backing winds come before a low."
TEXT: Final = "Mostly to the left, against the sun."
NUMBERS: Final = "?%24alt=json%3Benum-encoding%3Dint"
MARCH_2025: Final = 1_742_000_000


def drafts() -> Iterator[Draft]:
    yield _white_space_first()
    yield _white_space_between_thoughts()
    yield _numbers_for_enums()
    yield _default_values_of_enums()
    yield _cited()
    yield _announced_as_complete()
    yield _not_numbered_yet()
    yield _level_that_cannot_be_off()
    yield _call_without_arguments()
    yield _snapshot_of_the_earlier_protocol()
    yield _not_named_chunks()
    yield _without_done()
    yield _raw_by_default()
    yield _said_again()
    yield _answered_with_the_finish()
    yield _called_by_code()
    yield _call_cut_at_the_limit()


def _asked(**more: Any) -> Fields:
    return {"messages": [{"role": "user", "content": QUESTION}], "stream": True, **more}


def _contents() -> Fields:
    turns = [{"role": "user", "parts": [{"text": QUESTION}]}]
    return {"contents": turns, "generationConfig": {"thinkingConfig": {"includeThoughts": True}}}


def _white_space_first() -> Draft:
    """A line end stands before the thinking, as GLM models have it."""
    server = Server()
    pieces = [
        server.opening(content="\n"),
        *server.each("reasoning_content", deltas(THOUGHT)),
        *server.each("content", deltas(TEXT)),
        server.said(finish="stop"),
        DONE,
    ]
    asked = _asked(model="think-1")
    return chat.drafted("allowed/white-space-before-thinking", asked, pieces)


def _white_space_between_thoughts() -> Draft:
    parts = [gemini_thought("**Wind**\n"), {"text": "\n"}, gemini_thought(THOUGHT), *said(TEXT)]
    asked = _contents()
    chunks = events(gemini_answer(parts, 14, 27))
    return gemini.drafted("allowed/line-end-between-thoughts", asked, chunks)


def _numbers_for_enums() -> Draft:
    """Enums as numbers, as the clients that Google generates ask for them."""
    asked = _contents()
    chunks = gemini_answer([gemini_thought(THOUGHT), *said(TEXT)], 14, 27)
    chunks[-1]["candidates"][0]["finishReason"] = 1
    path = f"{gemini.ARRAY}{NUMBERS}"
    facts = {"path": path, "content_type": "application/json; charset=UTF-8"}
    return gemini.drafted("allowed/enums-as-numbers", asked, array(chunks), **facts)


def _default_values_of_enums() -> Draft:
    """Default values of enums spelled out, which the API says are unused: they state nothing."""
    asked = _contents()
    chunks = gemini_answer([gemini_thought(THOUGHT), *said(TEXT)], 14, 27)
    for each in chunks[:-1]:
        each["candidates"][0]["finishReason"] = "FINISH_REASON_UNSPECIFIED"
    chunks[-1]["promptFeedback"] = {"blockReason": "BLOCK_REASON_UNSPECIFIED"}
    return gemini.drafted("allowed/default-values-of-enums", asked, events(chunks))


def _cited() -> Draft:
    """What is cited stands in the block of the text that it is for."""
    place = {"documentChar": {"documentIndex": 0, "start": 0, "end": 24}}
    cited = {"location": place, "title": "winds", "sourceContent": [{"text": "Winds back."}]}
    first, second = TEXT[:18], TEXT[18:]
    blocks = [
        *aws.thought(0, THOUGHT, "wind"),
        aws.delta(1, citation=cited),
        aws.delta(1, text=first),
        aws.delta(1, citation=cited),
        aws.delta(1, text=second),
        aws.stopped(1),
    ]
    asked: Fields = {"messages": [{"role": "user", "content": [{"text": QUESTION}]}]}
    asked["additionalModelRequestFields"] = converse.ENABLED
    return converse.drafted("claude/citations", asked, aws.answer(blocks, (44, 27)))


def _wind() -> tuple[Fields, tuple[Message, ...]]:
    asked = {"model": "think-1", "input": QUESTION, "stream": True}
    asked["reasoning"] = {"effort": "high", "summary": "auto"}
    items = [*summarised(Item(0, "rs_01"), [THOUGHT]), *message(Item(1, "msg_02"), TEXT)]
    return asked, stream(Answer("resp_00", "think-1", asked).completed(items, (7, 40, 20)))


def _announced_as_complete() -> Draft:
    """A message that was written before it is streamed, as models do that answer in one piece."""
    asked, pieces = _wind()
    done = [_as_complete(piece) for piece in pieces]
    return responses.drafted("allowed/announced-as-complete", asked, done)


def _as_complete(piece: Message) -> Message:
    item = piece.payload.get("item", {})
    announced = piece.payload["type"] == "response.output_item.added"
    if not announced or item["type"] != "message":
        return piece
    return replace(piece, payload={**piece.payload, "item": {**item, "status": "completed"}})


def _not_numbered_yet() -> Draft:
    """Events of March 2025, which had no numbers."""
    asked, pieces = _wind()
    earlier = [replace(piece, payload=_as_of_march(piece.payload)) for piece in pieces]
    return responses.drafted("allowed/no-numbers-in-march-2025", asked, earlier)


def _as_of_march(payload: Fields) -> Fields:
    unnumbered = cut(payload, "sequence_number")
    if "response" in unnumbered:
        unnumbered["response"] = {**unnumbered["response"], "created_at": MARCH_2025}
    return unnumbered


def _level_that_cannot_be_off() -> Draft:
    """gpt-oss thinks at every level; false is none that Ollama takes for it."""
    asked = _asked(model="gpt-oss:20b", think=False)
    lines = ollama_answer([*ollama_thought(THOUGHT), *spoken(TEXT)], (14, 27))
    return ollama.drafted("allowed/thinking-of-gpt-oss", asked, lines)


def _call_without_arguments() -> Draft:
    asked = agui.run_input(QUESTION)
    called = [
        event("TOOL_CALL_START", toolCallId="call_0", toolCallName="get_wind"),
        event("TOOL_CALL_ARGS", toolCallId="call_0", delta=""),
        event("TOOL_CALL_END", toolCallId="call_0"),
        event("TOOL_CALL_RESULT", toolCallId="call_0", messageId="of-call_0", content="west"),
    ]
    parts = [span("r1", thought("r1", THOUGHT)), called, text("t1", TEXT)]
    return agui.drafted("allowed/call-without-arguments", asked, run(parts))


def _snapshot_of_the_earlier_protocol() -> Draft:
    """Before 0.1.11 no message had the role reasoning."""
    asked = agui.run_input(QUESTION)
    held = snapshot(
        {"id": "user-1", "role": "user", "content": QUESTION},
        {"id": "t1", "role": "assistant", "content": TEXT},
    )
    parts = [earlier_thought(THOUGHT), text("t1", TEXT), [held]]
    name = "allowed/snapshot-of-the-earlier-protocol"
    return agui.drafted(name, asked, run(parts, version=""))


def _thought_and_said(server: Server, thinking: str = "reasoning_content") -> list[Message]:
    return [
        server.opening(content=None),
        *server.each(thinking, deltas(THOUGHT)),
        *server.each("content", deltas(TEXT)),
    ]


def billed_behind_the_end() -> Draft:
    """OpenCode says behind `[DONE]` what the answer cost."""
    server = Server()
    bill = Message({"choices": [], "cost": "0"})
    pieces = [*_thought_and_said(server), server.said(finish="stop"), DONE, bill]
    asked = _asked(model="think-1")
    return chat.drafted("opencode-go/bill", asked, pieces, profile="opencode-go")


def _not_named_chunks() -> Draft:
    """Z.ai's chunks do not say what they are, and begin with a line end."""
    server = Server(model="glm-4.6", repeats_role=True, bare=True)
    finish = server.said(finish="stop", content="").payload
    events = [server.said(content="\n"), *_thought_and_said(server)[1:]]
    pieces = [*events, Message({**finish, "usage": counted((9, 31, 0), details=False)})]
    unnamed = [replace(piece, payload=cut(piece.payload, "object")) for piece in pieces]
    asked = _asked(model="glm-4.6")
    return chat.drafted("zai/chunks-without-object", asked, [*unnamed, DONE], profile="zai")


def _without_done() -> Draft:
    """Cerebras ends its streams without `[DONE]`, and only the last choice has a finish_reason."""
    server = Server(bare=True)
    pieces = [*_thought_and_said(server, "reasoning"), server.said(finish="stop")]
    asked = _asked(model="think-1")
    return chat.drafted("cerebras/without-done", asked, pieces, profile="cerebras")


def _raw_by_default() -> Draft:
    """Who asks Groq for no format gets the thinking in tags inside the text."""
    server = Server(extra={"x_groq": {"id": "req_00"}})
    pieces = [
        server.opening(),
        *server.each("content", ["<think>", "\n", *deltas(THOUGHT), "</think>", "\n\n"]),
        *server.each("content", deltas(TEXT)),
        server.said(finish="stop"),
        DONE,
    ]
    return chat.drafted("groq/raw-by-default", _asked(model="qwen-3"), pieces, profile="groq")


def _said_again() -> Draft:
    """A model says the same sentence in two messages, and goes on in the second."""
    parts = [span("r1", thought("r1", THOUGHT)), text("t1", TEXT), text("t2", f"{TEXT} Always.")]
    return agui.drafted("allowed/said-again", agui.run_input(QUESTION), run(parts))


def _answered_with_the_finish() -> Draft:
    """An answer of one word comes in the chunk that finishes."""
    server = Server()
    pieces = [
        server.opening(),
        *server.each("reasoning_content", deltas(THOUGHT)),
        server.said(content="Left.", finish="stop"),
        DONE,
    ]
    return chat.drafted("allowed/answer-with-the-finish", _asked(model="think-1"), pieces)


def _called_by_code() -> Draft:
    """Code that the model wrote calls a tool: the message is whole where it starts."""
    caller = {"type": "code_execution_20250825", "tool_id": "srvtoolu_0"}
    call = {"type": "tool_use", "id": "toolu_0", "name": "get_wind", "input": {}, "caller": caller}
    usage = anthropic.counted((0, 0, None))
    begun = anthropic.message(content=[call], stop_reason="tool_use", usage=usage)
    pieces = anthropic.stream(
        [{"type": "message_start", "message": begun}, {"type": "message_stop"}]
    )
    return messages.drafted("allowed/called-by-code", _asked(model="m"), tuple(pieces))


def _call_cut_at_the_limit() -> Draft:
    """The limit cuts the input of a call, whose block does not stop; the one before it does."""
    tool = {"name": "get_wind", "description": "", "input_schema": {"type": "object"}}
    asked = _asked(model="m", max_tokens=48, tools=[tool])
    call = anthropic.tool(1, "get_wind", ("", '{"place": "Sk'))
    pieces = anthropic.answer([anthropic.text(0, TEXT), call[:-1]], (31, 48, 0), "max_tokens")
    return messages.drafted("allowed/call-cut-at-the-limit", asked, pieces)
