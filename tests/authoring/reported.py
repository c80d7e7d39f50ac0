"""Streams that users reported: switches, arguments in one piece, raw thinking that goes back."""

from __future__ import annotations

from typing import Any, Final

from tests.authoring.pieces import Fields
from tests.authoring.responses import Item, call, raw_thinking

TIDE: Final = "When is low water?"
TIDE_THOUGHT: Final = "Only the table of tides can tell, so it is asked for the harbour."
ARGUMENTS: Final = '{"harbour":"Esbjerg"}'
NAME: Final = "get_tides"


def request_body(*history: Fields, **more: Any) -> Fields:
    question = {"role": "user", "content": TIDE}
    return {"model": "think-1", "input": [question, *history], "stream": True, **more}


def called(*said: str) -> list[Fields]:
    thinking = raw_thinking(Item(0, "rs_01"), TIDE_THOUGHT)
    return [*thinking, *call(Item(1, "fc_02"), NAME, ARGUMENTS, said)]
