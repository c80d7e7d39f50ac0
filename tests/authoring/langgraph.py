"""Events of LangGraph's server, one by one: a graph whose nodes stream their messages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count
from typing import Final

from tests.authoring.edits import Step
from tests.authoring.pieces import Fields, Message, at, deltas

RUN: Final = "01a20000-0000-7000-8000-synthetic0001"
RUN_2: Final = "01a20000-0000-7000-8000-synthetic0002"
CALL: Final = "call_synthetic_1"
Block = Fields


class Graph:
    """The events of one run; what nodes give is kept as its state."""

    def __init__(
        self, asked: str, run: str = RUN, api: str = "anthropic", before: Graph | None = None
    ) -> None:
        self.run = run
        self.api = api
        self.thread = ""  # the thread that it is in, if any
        self._ids: Iterator[int] = before._ids if before else count(1)
        state = before.state if before else []
        self.state: list[Fields] = [*state, human(asked, f"human-{len(state) + 1}")]

    def begin(self) -> Iterator[Message]:
        """The id of the run, and the state that it begins with."""
        yield Message({"run_id": self.run, "attempt": 1}, "metadata")
        yield self.values()

    def values(self, namespace: str = "") -> Message:
        return Message({"messages": list(self.state)}, _named("values", namespace))

    def streamed(
        self, pieces: Sequence[Fields], whole: Fields, namespace: str = "", node: str = "model"
    ) -> Iterator[Message]:
        """Chunks of a message, what its node gives, and the state."""
        name = f"lc_run--synthetic-{next(self._ids)}"
        for piece in pieces:
            yield self.message({**chunk(name, self.api), **piece}, namespace, node)
        message = {**answer(name, self.api), **whole}
        yield from self.given(message, namespace, node)

    def given(self, message: Fields, namespace: str = "", node: str = "model") -> Iterator[Message]:
        """What a node gives, and the state behind it."""
        self.state.append(message)
        yield Message({node: {"messages": [message]}}, _named("updates", namespace))
        yield self.values(namespace)

    def message(self, fields: Fields, namespace: str = "", node: str = "model") -> Message:
        """A message, or a chunk of one, as it is streamed."""
        at = f"{node}:synthetic"
        within = f"{namespace}|{at}" if namespace else at
        meta = {"run_id": self.run, "graph_id": "agent", "langgraph_step": 1}
        meta |= {"langgraph_node": node, "langgraph_checkpoint_ns": within}
        meta |= {"thread_id": self.thread} if self.thread else {}
        return Message([fields, meta], _named("messages", namespace))

    def result(self, text: str, call: str = CALL) -> Iterator[Message]:
        """What a tool gave."""
        message: Fields = {"content": text, "additional_kwargs": {}, "response_metadata": {}}
        message |= {"type": "tool", "name": "read_board", "id": "result-1", "tool_call_id": call}
        message |= {"artifact": None, "status": "success"}
        yield self.message(message, node="tools")
        yield from self.given(message, node="tools")


def human(text: str, name: str) -> Fields:
    about: Fields = {"additional_kwargs": {}, "response_metadata": {}}
    return {"content": text, **about, "type": "human", "name": None, "id": name}


def chunk(name: str, api: str) -> Fields:
    about = {"additional_kwargs": {}, "response_metadata": {"model_provider": api}}
    kept: Fields = {"tool_calls": [], "invalid_tool_calls": [], "usage_metadata": None}
    kept |= {"tool_call_chunks": [], "chunk_position": None}
    return {"content": [], **about, "type": "AIMessageChunk", "name": None, "id": name, **kept}


def answer(name: str, api: str) -> Fields:
    about = {"additional_kwargs": {}, "response_metadata": {"model_provider": api}}
    kept: Fields = {"tool_calls": [], "invalid_tool_calls": [], "usage_metadata": None}
    return {"content": [], **about, "type": "ai", "name": "agent", "id": name, **kept}


def usage(prompt: int, output: int, thoughts: int = 0) -> Fields:
    counted: Fields = {"input_tokens": prompt, "output_tokens": output}
    counted |= {"total_tokens": prompt + output, "input_token_details": {}}
    return {**counted, "output_token_details": {"reasoning": thoughts}} if thoughts else counted


def blocks(*parts: Block) -> list[Fields]:
    """A chunk for each few words of the blocks; what is no text comes as it is."""
    made: list[Fields] = []
    for index, part in enumerate(parts):
        kind = part["type"]
        place = {"type": kind, "index": index}
        made += [{"content": [{**place, kind: words}]} for words in deltas(part.get(kind, ""), 3)]
        if kind not in part:
            made.append({"content": [{**part, **place}]})
        if "signature" in part:
            signed = {"type": kind, "index": index, kind: "", "signature": part["signature"]}
            made.append({"content": [signed]})
    return made


def indexed(*parts: Block) -> list[Block]:
    """The blocks of a whole message."""
    return [{**part, "index": index} for index, part in enumerate(parts)]


def calling(arguments: str, index: int, name: str = "read_board", call: str = CALL) -> list[Fields]:
    """The chunks of a call."""
    half = len(arguments) // 2
    first = {"name": name, "args": "", "id": call, "index": index, "type": "tool_call_chunk"}
    rest = [
        {**first, "name": None, "id": None, "args": a} for a in (arguments[:half], arguments[half:])
    ]
    return [{"tool_call_chunks": [each]} for each in (first, *rest)]


def ended(reason: str | None, counts: Fields | None = None, api: str = "anthropic") -> Fields:
    """The last chunk."""
    key = "stop_reason" if api == "anthropic" else "finish_reason"
    about: Fields = {"model_provider": api, **({key: reason} if reason else {})}
    return {"response_metadata": about, "usage_metadata": counts, "chunk_position": "last"}


def failed(code: str, message: str) -> Message:
    return Message({"error": code, "message": message}, "error")


def _named(name: str, namespace: str) -> str:
    return f"{name}|{namespace}" if namespace else name


def streamed_by_both() -> Step:
    """The graph around a graph streams the chunks that the inner one streams."""
    return lambda pieces: [
        copy
        for piece in pieces
        for copy in (
            [piece, Message(piece.payload, "messages")]
            if isinstance(piece, Message) and at(piece.payload, "0.type") == "AIMessageChunk"
            else [piece]
        )
    ]
