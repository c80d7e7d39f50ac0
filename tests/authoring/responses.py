"""Events of the Responses API, item by item; `stream` numbers them and adds the frame around."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from tests.authoring.pieces import Fields, Message, at, deltas, opaque, padding

CREATED_AT: Final = 1_795_176_000
SUMMARY: Final = "response.reasoning_summary_"

Usage = tuple[int, int, int]
"""Input, output and (among these) reasoning tokens."""
DUSK: Final = (
    "Street lamps are lit at dusk.",
    "So the hour that is asked for is in the evening, whatever the season.",
)
DUSK_TEXT: Final = "They are lit in the evening."
TEA: Final = "The water has to be cooler than boiling for green tea, about eighty degrees."
LIMIT: Final = {"reason": "max_output_tokens"}


@dataclass(frozen=True, slots=True)
class Item:
    """Where an item stands and what it is called."""

    index: int
    id: str

    def part(self, **place: int) -> Fields:
        return {"item_id": self.id, "output_index": self.index, **place}

    def added(self, **fields: Any) -> Fields:
        item = {"id": self.id, **fields}
        return {"type": "response.output_item.added", "output_index": self.index, "item": item}

    def done(self, **fields: Any) -> Fields:
        item = {"id": self.id, **fields}
        return {"type": "response.output_item.done", "output_index": self.index, "item": item}


def summarised(
    item: Item, parts: Sequence[str], *, encrypted: bool = False, padded: bool = False
) -> list[Fields]:
    """A reasoning item that shows a summary; without parts it shows nothing."""
    secret = {"encrypted_content": opaque(f"{item.id} begins", 48)} if encrypted else {}
    events = [item.added(type="reasoning", **secret, summary=[])]
    for number, text in enumerate(parts):
        events += _summary_part(item.part(summary_index=number), text, padded=padded)
    secret = {"encrypted_content": opaque(f"{item.id} ends", 96)} if encrypted else {}
    stated = [{"type": "summary_text", "text": text} for text in parts]
    return [*events, item.done(type="reasoning", **secret, summary=stated)]


def _summary_part(place: Fields, text: str, *, padded: bool) -> list[Fields]:
    def part(stated: str) -> Fields:
        return {"part": {"type": "summary_text", "text": stated}}

    changes = [
        {"delta": d, **({"obfuscation": padding(d)} if padded else {})} for d in deltas(text)
    ]
    return [
        {"type": f"{SUMMARY}part.added", **place, **part("")},
        *({"type": f"{SUMMARY}text.delta", **place, **each} for each in changes),
        {"type": f"{SUMMARY}text.done", **place, "text": text},
        {"type": f"{SUMMARY}part.done", **place, **part(text)},
    ]


def raw_thinking(item: Item, text: str) -> list[Fields]:
    """A reasoning item that shows the thinking itself, in one content part."""
    part = {"type": "reasoning_text", "text": text}
    return [
        item.added(type="reasoning", status="in_progress", content=[], summary=[]),
        *content(item, "reasoning_text", part, deltas(text)),
        item.done(type="reasoning", status="completed", content=[part], summary=[]),
    ]


def message(item: Item, text: str, said: Sequence[str] = ()) -> list[Fields]:
    """A message of one text part; `said` are its deltas, a few words each by default."""
    part = {"type": "output_text", "text": text, "annotations": []}
    return [
        item.added(type="message", status="in_progress", role="assistant", content=[]),
        *content(item, "output_text", part, said or deltas(text)),
        item.done(type="message", status="completed", role="assistant", content=[part]),
    ]


def thinking_again(phase: str) -> list[Fields]:
    """A whole stream that thinks on after a first message, which is of the phase."""
    spoken = message(Item(1, "msg_02"), "Let me look that up.")
    for event in spoken:
        if "item" in event:
            event["item"]["phase"] = phase
    items = [
        *summarised(Item(0, "rs_01"), ["A search is needed."]),
        *spoken,
        *summarised(Item(2, "rs_03"), ["It was found."]),
        *message(Item(3, "msg_04"), "It rains."),
    ]
    return Answer("resp_00", "think-1", {}).completed(items, (20, 40, 22))


def refusal(item: Item, text: str) -> list[Fields]:
    """A message that declines."""
    part = {"type": "refusal", "refusal": text}
    return [
        item.added(type="message", status="in_progress", role="assistant", content=[]),
        *content(item, "refusal", part, deltas(text)),
        item.done(type="message", status="completed", role="assistant", content=[part]),
    ]


def content(item: Item, kind: str, part: Fields, said: Iterable[str]) -> list[Fields]:
    """A content part from `content_part.added` to `content_part.done`."""
    field = "refusal" if kind == "refusal" else "text"
    place = item.part(content_index=0)
    return [
        {"type": "response.content_part.added", **place, "part": {**part, field: ""}},
        *({"type": f"response.{kind}.delta", **place, "delta": delta} for delta in said),
        {"type": f"response.{kind}.done", **place, field: part[field]},
        {"type": "response.content_part.done", **place, "part": part},
    ]


def call(item: Item, name: str, arguments: str, said: Sequence[str] = ()) -> list[Fields]:
    """A function call; without deltas the arguments come whole."""
    known = {"type": "function_call", "call_id": f"call_{item.id}", "name": name}
    place = item.part()
    event = "response.function_call_arguments"
    return [
        item.added(**known, status="in_progress", arguments=""),
        *({"type": f"{event}.delta", **place, "delta": delta} for delta in said),
        {"type": f"{event}.done", **place, "arguments": arguments},
        item.done(**known, status="completed", arguments=arguments),
    ]


def custom_call(item: Item, name: str, text: str) -> list[Fields]:
    """A call of a tool that takes free text."""
    known = {"type": "custom_tool_call", "call_id": f"call_{item.id}", "name": name}
    place = item.part()
    event = "response.custom_tool_call_input"
    return [
        item.added(**known, status="in_progress", input=""),
        *({"type": f"{event}.delta", **place, "delta": delta} for delta in deltas(text)),
        {"type": f"{event}.done", **place, "input": text},
        item.done(**known, status="completed", input=text),
    ]


@dataclass(frozen=True, slots=True)
class Answer:
    """The response object as it stands in created, in_progress and the closing event."""

    id: str
    model: str
    asked: Fields

    def object(self, status: str, output: Sequence[Any] = (), **more: Any) -> Fields:
        return {
            "id": self.id,
            "object": "response",
            "created_at": CREATED_AT,
            "status": status,
            "error": None,
            "incomplete_details": None,
            "model": self.model,
            "output": list(output),
            "reasoning": self.asked.get("reasoning"),
            "store": self.asked.get("store", True),
            "usage": None,
            **{key: self.asked[key] for key in ("previous_response_id",) if key in self.asked},
            **more,
        }

    def opening(self) -> list[Fields]:
        response = self.object("in_progress")
        kinds = ("response.created", "response.in_progress")
        return [{"type": kind, "response": response} for kind in kinds]

    def closing(
        self,
        status: Literal["completed", "incomplete", "failed"],
        output: Sequence[Any],
        **more: Any,
    ) -> Fields:
        return {"type": f"response.{status}", "response": self.object(status, output, **more)}

    def completed(self, items: Sequence[Fields], usage: Usage) -> list[Fields]:
        """A whole stream: the opening, the events of the items, and `response.completed`."""
        end = self.closing("completed", closed(items), usage=counted(usage))
        return [*self.opening(), *items, end]


def closed(events: Iterable[Fields]) -> list[Any]:
    """The items that the events closed, in order of index."""
    done = [event for event in events if event["type"] == "response.output_item.done"]
    return [event["item"] for event in sorted(done, key=lambda event: int(event["output_index"]))]


def counted(usage: Usage) -> Fields:
    given, written, thought = usage
    return {
        "input_tokens": given,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": written,
        "output_tokens_details": {"reasoning_tokens": thought},
        "total_tokens": given + written,
    }


def stream(events: Iterable[Fields], *, named: bool = True, start: int = 0) -> tuple[Message, ...]:
    """Numbered messages; `named` ones have an event line."""
    numbered = ({**event, "sequence_number": n} for n, event in enumerate(events, start))
    return tuple(Message(event, str(at(event, "type")) if named else "") for event in numbered)


THINKING: Final = Item(0, "rs_01")
TEXT: Final = Item(1, "msg_02")


def answer(asked: Fields) -> Answer:
    return Answer("resp_00", "think-1", asked)


def opened(asked: Fields, items: list[Fields], usage: tuple[int, int, int]) -> tuple[Message, ...]:
    return stream(answer(asked).completed(items, usage))


def searches() -> list[Fields]:
    """Two server-side searches that are open at once."""
    places = [Item(1, "ctc_02"), Item(2, "ctc_03")]
    known = {"type": "x_search_call", "name": "x_keyword_search"}
    return [
        *(place.added(**known, status="in_progress") for place in places),
        *(place.done(**known, status="completed") for place in places),
    ]


def rotated(events: list[Fields]) -> list[Fields]:
    """Events with ids that no other event has."""
    return [_renamed(event, f"rot-{number}") for number, event in enumerate(events)]


def _renamed(event: Fields, name: str) -> Fields:
    changed = dict(event)
    if "item_id" in event:
        changed["item_id"] = f"{name}-item"
    for holder in ("item", "response"):
        if holder in event:
            changed[holder] = {**event[holder], "id": f"{name}-{holder}"}
    if output := event.get("response", {}).get("output"):
        renamed = [{**item, "id": f"{name}-{n}"} for n, item in enumerate(output)]
        changed["response"]["output"] = renamed
    return changed


def queued(events: list[Fields]) -> list[Fields]:
    """The events of a response that waits before it begins."""
    first = {**events[0]["response"], "status": "queued"}
    return [{"type": "response.queued", "response": first}, *events[1:]]


def interrupted(asked: Fields, items: list[Fields]) -> Any:
    """The last item is cut at the limit, and so is its part, if parts of it have a state."""
    answer = Answer("resp_00", "think-1", asked)
    items[-1]["item"]["status"] = "incomplete"
    if items[-2]["type"].endswith("summary_part.done"):
        items[-2]["status"] = "incomplete"
    end = answer.closing(
        "incomplete", closed(items), usage=counted((14, 24, 20)), incomplete_details=LIMIT
    )
    return stream([*answer.opening(), *items, end])
