"""What LangGraph's server sends where all rules are kept."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import zip_longest
from typing import Any, Final

from tests.authoring.draft import JSON_BODY, Draft, stream_draft
from tests.authoring.langgraph import (
    CALL,
    RUN_2,
    Graph,
    answer,
    blocks,
    calling,
    ended,
    failed,
    human,
    indexed,
    usage,
)
from tests.authoring.pieces import Fields, Message, compact, deltas, opaque

DIALECT: Final = "langgraph"
ASKED: Final = "Is the ferry on time in fog?"
THOUGHT: Final = "Fog means half speed, and half speed means that the ferry is late."
TEXT: Final = "No. It comes about twenty minutes late."
MORE: Final = "And when the fog is gone?"
MORE_TEXT: Final = "Then it comes on the hour, as the board says."
LOOK: Final = "The board says what the harbour knows."
SIGNED: Final = opaque("the thought")
ARGUMENTS: Final = '{"line": "fog"}'
FOUND: Final = "ferry: delayed"
MODES: Final = ("messages-tuple", "values", "updates")

drafted = partial(stream_draft, dialect=DIALECT, path="/runs/stream")


def drafts() -> Iterator[Draft]:
    yield drafted(
        "langgraph/thinking-then-text", request_body(), _thinking(), sizes=(900, 31, 4000)
    )
    yield drafted("langgraph/no-thinking", request_body(), _plain())
    yield drafted("langgraph/tool-round", request_body(), _tools(), sizes=(777, 1200))
    yield drafted("langgraph/chat", request_body(), _chat())
    yield drafted("langgraph/responses", request_body(), _responses(), profile="openai-responses")
    yield drafted("langgraph/blocks-v1", request_body(), _version_one())
    yield drafted("langgraph/subgraph", request_body(stream_subgraphs=True), _subgraph())
    yield drafted("langgraph/side-by-side", request_body(), _beside())
    yield drafted("langgraph/partial", request_body(modes=("messages",)), _partial())
    yield drafted("langgraph/states", request_body(modes=("values", "updates")), _states())
    yield drafted("langgraph/length", request_body(), _thinking("max_tokens"))
    yield drafted("langgraph/error-in-text", request_body(), _failing())
    yield drafted("langgraph/error-alone", request_body(), _refused())
    yield _waited()
    yield _talk("langgraph/thread", "01a20000-0000-7000-8000-synthetic0009")
    yield _talk("langgraph/sent-back")


def request_body(modes: tuple[str, ...] = MODES, **more: Any) -> Fields:
    state = {"messages": [{"type": "human", "content": ASKED}]}
    return {"assistant_id": "agent", "input": state, "stream_mode": list(modes), **more}


def thought(text: str = THOUGHT, signature: str = SIGNED) -> Fields:
    return {"type": "thinking", "thinking": text, "signature": signature}


def text(words: str = TEXT) -> Fields:
    return {"type": "text", "text": words}


def _whole(parts: tuple[Fields, ...], last: Fields, **more: Any) -> Fields:
    kept = {key: last[key] for key in ("response_metadata", "usage_metadata")}
    return {"content": indexed(*parts), **kept, **more}


def _answer(graph: Graph, *parts: Fields, reason: str = "end_turn", **place: str) -> list[Message]:
    last = ended(reason, usage(31, 22))
    return list(graph.streamed([{}, *blocks(*parts), last], _whole(parts, last), **place))


def _thinking(reason: str = "end_turn") -> list[Message]:
    graph = Graph(ASKED)
    return [*graph.begin(), *_answer(graph, thought(), text(), reason=reason)]


def _plain() -> list[Message]:
    graph = Graph(ASKED)
    return [*graph.begin(), *_answer(graph, text())]


def _tools(graph: Graph | None = None) -> list[Message]:
    graph = graph or Graph(ASKED)
    parts = (thought(LOOK),)
    last = ended("tool_use", usage(40, 15))
    called = {"name": "read_board", "args": {"line": "fog"}, "id": CALL, "type": "tool_call"}
    whole = _whole(parts, last, tool_calls=[called])
    first = graph.streamed([*blocks(*parts), *calling(ARGUMENTS, 1), last], whole)
    return [
        *graph.begin(),
        *first,
        *graph.result(FOUND),
        *_answer(graph, thought("So it is late."), text()),
    ]


def _talk(topic: str, thread: str = "") -> Draft:
    """Two turns: in a thread, or with all messages in the second request."""
    first, path = Graph(ASKED), f"/threads/{thread}/runs/stream" if thread else "/runs/stream"
    first.thread = thread
    answered = _tools(first)
    second = Graph(MORE, RUN_2, before=first)
    second.thread = thread
    known = [] if thread else first.state
    asked = {"messages": [*known, {"type": "human", "content": MORE}]}
    sent = [*second.begin(), *_answer(second, thought("Fog lifts by noon."), text(MORE_TEXT))]
    body = {**request_body(), "input": asked}
    then = replace(drafted(topic, body, sent, path=path), after=1)
    return drafted(topic, request_body(), answered, path=path, then=(then,))


def _chat() -> list[Message]:
    """A model of Chat Completions that thinks: beside the content."""
    graph = Graph(ASKED, api="deepseek")
    thoughts = [{"additional_kwargs": {"reasoning_content": each}} for each in deltas(THOUGHT, 3)]
    texts = [{"content": each} for each in deltas(TEXT, 3)]
    reason: Fields = {"response_metadata": {"finish_reason": "stop", "model_provider": "deepseek"}}
    counts = usage(31, 30, 17)
    ends: list[Fields] = [reason, {"usage_metadata": counts}, {"chunk_position": "last"}]
    sent: list[Fields] = [*thoughts, *texts, *ends]
    pieces = [{"content": "", **each} for each in sent]
    kept: Fields = {"additional_kwargs": {"reasoning_content": THOUGHT}, "usage_metadata": counts}
    return [*graph.begin(), *graph.streamed(pieces, {"content": TEXT, **reason, **kept})]


def _responses() -> list[Message]:
    """A model of Responses: its parts of a summary, sealed thinking, and an id that changes."""
    graph = Graph(ASKED, api="openai")
    summary = ["Fog means half speed. ", "So the ferry is late."]
    item: Fields = {"type": "reasoning", "index": 0}
    sent = [
        {"content": [{**item, "summary": [{"index": n, "type": "summary_text", "text": words}]}]}
        for n, part in enumerate(summary)
        for words in deltas(part, 2)
    ]
    sealed = {**item, "id": "rs_1", "summary": [], "encrypted_content": opaque("the item")}
    texts = [{"content": [{"type": "text", "text": w, "index": 1}]} for w in deltas(TEXT, 3)]
    about = {"id": "resp_1", "status": "completed", "model_provider": "openai"}
    last = {**ended(None, usage(31, 30, 12)), "response_metadata": about}
    parts = [{"index": n, "type": "summary_text", "text": part} for n, part in enumerate(summary)]
    content = [{**sealed, "summary": parts}, {"type": "text", "text": TEXT, "index": 1}]
    whole: Fields = {"content": content, "id": "resp_1", "response_metadata": about}
    whole["usage_metadata"] = last["usage_metadata"]
    opening: Fields = {
        "id": "resp_1",
        "response_metadata": {"id": "resp_1", "model_provider": "openai"},
    }
    pieces: list[Fields] = [opening, *sent, {"content": [sealed]}, *texts, last]
    return [*graph.begin(), *graph.streamed(pieces, whole)]


def _version_one() -> list[Message]:
    """Messages of version v1: blocks of one form for all models."""
    graph = Graph(ASKED)
    redacted = {"type": "redacted_thinking", "data": opaque("redacted")}
    parts: tuple[Fields, ...] = (
        {"type": "non_standard", "value": redacted},
        {"type": "reasoning", "reasoning": THOUGHT, "extras": {"signature": SIGNED}},
        text(),
    )
    pieces = blocks(*parts)
    signed = {"type": "reasoning", "index": 1, "reasoning": "", "extras": {"signature": SIGNED}}
    at = next(n for n, each in enumerate(pieces) if each["content"][0]["type"] == "text")
    last = ended("end_turn", usage(31, 22))
    pieces = [*pieces[:at], {"content": [signed]}, *pieces[at:], last]
    return [*graph.begin(), *graph.streamed(pieces, _whole(parts, last))]


def _subgraph() -> list[Message]:
    """A graph in the graph: what it says comes in its namespace, and is state of both."""
    graph, within = Graph(ASKED), "worker:synthetic"
    answer = _answer(graph, thought(), text(), namespace=within)
    given = Message({"worker": {"messages": list(graph.state)}}, "updates")
    first = [*Graph(ASKED).begin(), Graph(ASKED).values(within)]
    return [*first, *answer, given, graph.values()]


def _beside() -> list[Message]:
    """Two nodes at once."""
    graph = Graph(ASKED)
    begun = list(graph.begin())
    tide = _answer(graph, thought("The tide turns at one."), text("Low at one."), node="tide")
    fog = _answer(graph, thought(), text(), node="fog")
    pairs = zip_longest(tide[:-2], fog[:-2])
    chunks = [each for pair in pairs for each in pair if each is not None]
    return [*begun, *chunks, tide[-2], fog[-2], graph.values()]


def _partial() -> list[Message]:
    """The older mode `messages`: all of the message, again and again."""
    graph = Graph(ASKED)
    first, _ = graph.begin()
    so_far: list[Fields] = []
    sent = [first]
    message = answer("lc_run--synthetic-1", "anthropic")
    meta = {message["id"]: {"metadata": {"langgraph_node": "model"}}}
    sent.append(Message(meta, "messages/metadata"))
    for kind, words in (("thinking", THOUGHT), ("text", TEXT)):
        for end in range(3, len(words.split()) + 3, 3):
            part = {"type": kind, kind: " ".join(words.split()[:end]), "index": len(so_far)}
            sent.append(Message([{**message, "content": [*so_far, part]}], "messages/partial"))
        so_far.append({"type": kind, kind: words, "index": len(so_far)})
    last = ended("end_turn", usage(31, 22))
    whole = {**message, "content": so_far}
    whole |= {key: last[key] for key in ("response_metadata", "usage_metadata")}
    return [*sent, Message([whole], "messages/partial")]


def _states() -> list[Message]:
    """Nothing is streamed of the message: the state alone says it."""
    graph = Graph(ASKED)
    graph.state[:0] = [human("Hello.", "human-0"), {**answer("a-0", "x"), "content": "Good day."}]
    return [*list(graph.begin()), *_answer(graph, thought(), text())[-2:]]


def _failing() -> list[Message]:
    graph = Graph(ASKED)
    begun = [*graph.begin(), *_answer(graph, thought(), text())[:-5]]
    return [*begun, failed("APIStatusError", "The model is away.")]


def _refused() -> list[Message]:
    return [*Graph(ASKED).begin(), failed("BadRequestError", "There is no such model.")]


def _waited() -> Draft:
    """The last state, to who waits for the run."""
    graph = Graph(ASKED)
    _answer(graph, thought(), text())
    facts = {"path": "/runs/wait", "content_type": JSON_BODY}
    body = {key: value for key, value in request_body().items() if key != "stream_mode"}
    pieces = (compact({"messages": graph.state}).encode(),)
    return stream_draft("langgraph/waited", body, pieces, dialect=DIALECT, **facts)
