"""A talk that the server keeps: each request names the response before, and says what is new."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

from tests.authoring.draft import Draft, stream_draft
from tests.authoring.pieces import Fields, compact
from tests.authoring.responses import Answer, Item, call, message, stream, summarised

_NAME: Final = "read_gauge"
_THOUGHT: Final = "Two bridges stand in the way, so I read the gauge of each."
_TEXT: Final = "The old bridge lets the barge pass at four, the new one at any hour."


def drafts() -> Iterator[Draft]:
    arguments = [compact({"bridge": each}) for each in ("old", "new")]
    called = [
        *summarised(Item(0, "rs_31"), [_THOUGHT]),
        *call(Item(1, "fc_32"), _NAME, arguments[0], [arguments[0]]),
        *call(Item(2, "fc_33"), _NAME, arguments[1], [arguments[1]]),
    ]
    results = [
        {"type": "function_call_output", "call_id": f"call_fc_{number}", "output": text}
        for number, text in ((32, "Ebb at four."), (33, "Twelve metres."))
    ]
    first = _turn(1, called, _user("When may the barge pass the two bridges?"))
    yield replace(
        first,
        then=(
            _turn(2, message(Item(0, "msg_34"), _TEXT), *results),
            _turn(3, message(Item(0, "msg_35"), "On Sunday, too."), _user("And on Sunday?")),
        ),
    )


def _user(text: str) -> Fields:
    return {"role": "user", "content": text}


def _turn(number: int, items: list[Fields], *answer: Any) -> Draft:
    asked: Fields = {
        "model": "think-1",
        "input": list(answer),
        "reasoning": {"effort": "medium", "summary": "auto"},
        "stream": True,
        "tools": [{"type": "function", "name": _NAME, "parameters": {"type": "object"}}],
    }
    if number > 1:
        asked["previous_response_id"] = f"resp_3{number - 1}"
    events = Answer(f"resp_3{number}", "think-1", asked).completed(items, (30, 30, 18))
    return stream_draft(
        "openai/named-talk", asked, stream(events), dialect="openai.responses", path="/v1/responses"
    )
