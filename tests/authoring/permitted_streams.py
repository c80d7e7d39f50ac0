"""Streams that look odd and are not: what a checker must let pass, and a client must bear.

No rule can fail on these, so no mutant stands beside them; each is named `permits-...`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from tests.authoring import chat, responses
from tests.authoring.chat import Server, answer
from tests.authoring.draft import Draft
from tests.authoring.pieces import DONE, Fields, Message, Piece, comment, deltas
from tests.authoring.responses import Answer, Item, call, message, raw_thinking, stream, summarised

TIDE: Final = "When is high tide?"
TIDE_THOUGHT: Final = "High tide comes twice a day, and later every day, so I need a table."
TIDE_SUMMARY: Final = "**Reading a table**\n\nHigh tide moves, so a table is needed."
TIDE_TEXT: Final = "At six in the evening, by the table."
LOOKING: Final = ("First I look at the table.", "Then I look at the wind.")
TABLE, WIND = "get_tides", "get_wind"


def drafts() -> Iterator[Draft]:
    yield from _nothing_shown()
    yield from _empty_deltas()
    yield from _text_between_tools()
    yield from _comments()
    yield from _unknown()
    yield _interleaved_choices()


def _chat(name: str, pieces: list[Piece], **more: Any) -> Draft:
    messages = [{"role": "user", "content": TIDE}]
    asked = {"model": "think-1", "messages": messages, "stream": True, **more}
    return chat.drafted(f"permits/permits-{name}", asked, pieces)


def _asked(**more: Any) -> Fields:
    reasoning = {"effort": "high", "summary": "auto"}
    return {"model": "think-1", "input": TIDE, "reasoning": reasoning, "stream": True, **more}


def _responses(name: str, items: list[Fields], *, thought: int = 20, **more: Any) -> Draft:
    asked = _asked(**more)
    pieces = stream(Answer("resp_00", "think-1", asked).completed(items, (7, 40, thought)))
    return _draft(name, asked, pieces)


def _draft(name: str, asked: Fields, pieces: tuple[Piece, ...]) -> Draft:
    return responses.drafted(f"permits/permits-{name}", asked, pieces)


def _nothing_shown() -> Iterator[Draft]:
    """The model thought, and nobody sees what."""
    silent = summarised(Item(0, "rs_01"), [])
    yield _responses("reasoning-without-text", [*silent, *message(Item(1, "msg_02"), TIDE_TEXT)])

    said = message(Item(0, "msg_01"), TIDE_TEXT)
    yield _responses("thinking-not-shown", said, thought=31)

    server = Server()
    text = server.each("content", deltas(TIDE_TEXT))
    pieces = [server.opening(), *text, server.said(finish="stop"), server.usage((7, 40, 31)), DONE]
    yield _chat("thinking-not-shown", [*pieces], reasoning_effort="high")


def _empty_deltas() -> Iterator[Draft]:
    server = Server()
    pieces = [
        server.opening(reasoning_content=""),
        *server.each("reasoning_content", _with_gaps(TIDE_THOUGHT), content=""),
        *server.each("content", _with_gaps(TIDE_TEXT), reasoning_content=""),
        server.said(content="", finish="stop"),
        DONE,
    ]
    yield _chat("empty-deltas", [*pieces])

    items = [
        *_emptied(raw_thinking(Item(0, "rs_01"), TIDE_THOUGHT)),
        *_emptied(message(Item(1, "msg_02"), TIDE_TEXT)),
    ]
    yield _responses("empty-deltas", items)


def _with_gaps(text: str) -> list[str]:
    """Deltas with an empty one at the beginning, in the middle and at the end."""
    said = deltas(text)
    return ["", *said[:2], "", *said[2:], ""]


def _emptied(events: list[Fields]) -> list[Fields]:
    """Before every other delta comes an empty one."""
    spots = [n for n, event in enumerate(events) if event["type"].endswith(".delta")]
    emptied = list(events)
    for spot in reversed(spots[::2]):
        emptied.insert(spot, {**events[spot], "delta": ""})
    return emptied


def _text_between_tools() -> Iterator[Draft]:
    server = Server()
    pieces = [
        server.opening(),
        *server.each("content", deltas(LOOKING[0])),
        *server.tool(0, TABLE, ['{"port":', '"Hven"}']),
        *server.each("content", deltas(LOOKING[1])),
        *server.tool(1, WIND, ['{"at":"Hven"}']),
        server.said(finish="tool_calls"),
        DONE,
    ]
    yield _chat("text-between-tools", [*pieces])

    items = [
        *summarised(Item(0, "rs_01"), [TIDE_SUMMARY]),
        *message(Item(1, "msg_02"), LOOKING[0]),
        *call(Item(2, "fc_03"), TABLE, '{"port":"Hven"}', ['{"port":', '"Hven"}']),
        *message(Item(3, "msg_04"), LOOKING[1]),
        *call(Item(4, "fc_05"), WIND, '{"at":"Hven"}', ['{"at":"Hven"}']),
    ]
    yield _responses("text-between-tools", items)


def _comments() -> Iterator[Draft]:
    """Keep-alive comments before, between and inside events."""
    pieces = answer(Server(), "reasoning_content", TIDE_THOUGHT, TIDE_TEXT)
    yield _chat("comments", [comment("waiting"), *_commented(pieces)])

    asked = _asked()
    items = [*summarised(Item(0, "rs_01"), [TIDE_SUMMARY]), *message(Item(1, "msg_02"), TIDE_TEXT)]
    told = stream(Answer("resp_00", "think-1", asked).completed(items, (7, 40, 20)))
    yield _draft("comments", asked, (comment("waiting"), *_commented(told)))


def _commented(pieces: tuple[Message, ...] | list[Message]) -> Iterator[Piece]:
    for number, piece in enumerate(pieces):
        if number % 5 == 3:
            yield comment("keep-alive")
        yield _inside(piece) if number % 4 == 2 else piece


def _inside(piece: Message) -> bytes:
    """The event with a comment before its last line end."""
    return piece.encode().removesuffix(b"\n") + b": still here\n\n"


def _unknown() -> Iterator[Draft]:
    """Events and keys of a vendor, as the specifications let servers add them."""
    server = Server(extra={"x_vendor": {"queue": 3}, "service_tier": "default"})
    pieces = answer(server, "reasoning_content", TIDE_THOUGHT, TIDE_TEXT, usage=(7, 40, 20))
    progress = Message({"x_vendor": {"progress": 0.5}}, "x_vendor.progress")
    yield _chat("unknown-events-and-keys", [*pieces[:4], progress, *pieces[4:]])

    asked = _asked()
    items = [
        *summarised(Item(0, "rs_01"), [TIDE_SUMMARY]),
        {"type": "vendor:table_read", "table": "tides", "rows": 12},
        *(_marked(event) for event in message(Item(1, "msg_02"), TIDE_TEXT)),
    ]
    pieces_ = stream(Answer("resp_00", "think-1", asked).completed(items, (7, 40, 20)))
    yield _draft("unknown-events-and-keys", asked, pieces_)


def _marked(event: Fields) -> Fields:
    return {**event, "x_vendor": {"shard": 4}}


def _interleaved_choices() -> Draft:
    """Three answers that think and speak in turns."""
    server = Server()
    said: Mapping[int, list[Fields]] = {
        index: [
            *({"reasoning_content": text} for text in deltas(thought)),
            *({"content": text} for text in deltas(text)),
        ]
        for index, (thought, text) in enumerate(
            [(TIDE_THOUGHT, TIDE_TEXT), ("A table knows.", "Ask the harbour."), ("", "At six.")]
        )
    }
    turns = [
        server.said(index=index, **said[index][turn])
        for turn in range(max(map(len, said.values())))
        for index in said
        if turn < len(said[index])
    ]
    pieces = [
        *(server.said(index=index, role="assistant", content="") for index in said),
        *turns,
        *(server.said(index=index, finish="stop") for index in said),
        DONE,
    ]
    return _chat("interleaved-choices", [*pieces], n=3)
