"""Calls of Gemini whose arguments come in pieces, and reasons to finish on the way."""

from __future__ import annotations

import json
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.core.events import Event, Frame, Request
from conformance.dialects import get
from conformance.dialects.base import Reading
from conformance.dialects.gemini_generate.partial_args import PartialArgs
from conformance.dialects.gemini_generate.requests import TURNS
from conformance.dialects.gemini_generate.spelling import in_camel_case

_FRAME: Final = Frame("event", "message", "", "", 0)
NAMED: Final = {"modelVersion": "gemini-3-pro", "responseId": "r"}


def request_text(*payloads: Any, asked: Any = None) -> list[Event]:
    """Semantic events of a stream, and of its request where it is known."""
    reader = get("gemini.generate").reader(Reading())
    if asked is not None:
        reader.request(Request(json=asked))
    events = [e for n, each in enumerate(payloads, 1) for e in reader.read(_FRAME, each, n)]
    events += reader.end("eof", len(payloads) + 1)
    return [each for each in events if each.layer == "semantic"]


def part(
    name: str = "", pieces: Any = None, *, goes_on: bool = False, **more: Any
) -> dict[str, Any]:
    call = {"name": name, "partialArgs": pieces, "willContinue": goes_on or None, **more}
    return {"functionCall": {key: value for key, value in call.items() if value}}


def piece(path: str, **value: Any) -> dict[str, Any]:
    return {"jsonPath": path, **value}


TRIP: Final = [
    part("plan", goes_on=True),
    part("", [piece("$.to", stringValue="Ber")], goes_on=True),
    part("", [piece("$.to", stringValue="gen")], goes_on=True),
    part(),
]


@pytest.mark.parametrize(
    ("pieces", "joined"),
    [
        ([piece("$.a", stringValue="x"), piece("$.a", stringValue="y")], {"a": "xy"}),
        ([piece("$.a", numberValue=0)], {"a": 0}),
        ([piece("$.a", boolValue=False)], {"a": False}),
        ([piece("$.a", nullValue="NULL_VALUE")], {"a": None}),
        (
            [piece("$.a[0].b", stringValue="x"), piece("$.a[1].b", numberValue=2)],
            {"a": [{"b": "x"}, {"b": 2}]},
        ),
        ([piece("""$['a b']["c.d"]""", numberValue=1)], {"a b": {"c.d": 1}}),
        ([piece("$.a", stringValue="x"), piece("$.a", numberValue=1)], {"a": 1}),
        # What cannot be placed is left out.
        ([piece("$.a[999999]", numberValue=1)], {"a": []}),
        ([piece("$..a", numberValue=1), piece("a", numberValue=1), {"numberValue": 1}], None),
        ([piece("$.a", numberValue=1), piece("$.a.b", numberValue=2)], {"a": 1}),
        (["x", None], None),
        ("x", None),
    ],
)
def test_pieces_are_put_together(pieces: Any, joined: Any) -> None:
    partial = PartialArgs()
    partial.add(pieces)
    text = partial.joined(None)
    assert (json.loads(text) if text else None) == joined


@given(st.dictionaries(st.text(st.characters(codec="ascii"), min_size=1), st.text(), min_size=1))
def test_any_texts_come_back_as_they_were(arguments: dict[str, str]) -> None:
    partial = PartialArgs()
    for name, text in arguments.items():
        quoted = name.replace("\\", "\\\\").replace("'", "\\'")
        for letter in text or [""]:
            partial.add([piece(f"$['{quoted}']", stringValue=letter)])
    assert json.loads(partial.joined({})) == arguments


@pytest.mark.parametrize(
    "parts",
    [
        TRIP,
        [*TRIP[:3], {"text": "Done."}],
        TRIP[:3],
        [part("plan", [piece("$.to", stringValue="Bergen")])],
    ],
)
def test_a_call_in_pieces_is_one_call(parts: list[Any]) -> None:
    text = request_text(*(chunk(each) for each in parts), chunk(reason="STOP"))
    calls = [(e.type, e.data.get("arguments")) for e in text if e.type.startswith("tool.")]
    arguments = '{"to":"Bergen"}'
    assert calls == [("tool.start", None), ("tool.delta", arguments), ("tool.end", arguments)]


def test_a_name_begins_the_next_call() -> None:
    text = request_text(chunk(TRIP[0]), chunk(TRIP[1]), *map(chunk, TRIP))
    deltas = [e.data["arguments"] for e in text if e.type == "tool.delta"]
    assert deltas == ['{"to":"Ber"}', '{"to":"Bergen"}']


def test_a_call_in_pieces_goes_back_as_one_call() -> None:
    entry = TURNS.read({"role": "model", "parts": [*TRIP, part("sail", args={"at": 9})]})
    assert [(each.name, each.arguments) for each in entry.calls] == [
        ("plan", '{"to":"Bergen"}'),
        ("sail", '{"at":9}'),
    ]


def chunk(*parts: Any, reason: str = "", **more: Any) -> dict[str, Any]:
    stated = {"finishReason": reason} if reason else {}
    return {"candidates": [{"content": {"role": "model", "parts": list(parts)}, **stated}], **more}


SERVED: Final = {"tools": [{"mcpServers": [{"name": "ferries"}]}]}
RESULT: Final = {"functionResponse": {"name": "plan", "response": {}}}
ENDED: Final = ["finish", "done"]


@pytest.mark.parametrize(
    ("asked", "chunks", "ends"),
    [
        # A call that the server carries out: the answer goes on.
        (SERVED, [(part("plan"), "STOP"), (RESULT, ""), ({"text": "At 9."}, "STOP")], ENDED),
        (SERVED, [(part("plan"), "STOP")], ENDED),
        # Cut behind the result: the reason on the way ends nothing.
        (SERVED, [(part("plan"), "STOP"), (RESULT, "")], ["cut"]),
        # A call of the client's ends the answer.
        ({}, [(part("plan"), "STOP"), ({"text": "At 9."}, "STOP")], ["finish", *ENDED]),
    ],
)
def test_a_reason_on_the_way_ends_nothing(asked: Any, chunks: Any, ends: list[str]) -> None:
    payloads = [chunk(each, reason=reason, **NAMED) for each, reason in chunks]
    text = request_text(*payloads, asked=asked)
    assert [e.type for e in text if e.type in ("finish", "done", "cut")] == ends


def test_models_of_2024_give_a_reason_in_every_chunk() -> None:
    payloads = [chunk({"text": text}, reason="STOP") for text in ("At ", "9.")]
    answered = request_text(*payloads)
    assert [e.type for e in answered if e.type in ("text.delta", *ENDED)] == [
        *("text.delta", "text.delta"),
        *ENDED,
    ]


@pytest.mark.parametrize(
    ("written", "known"),
    [
        (
            {"generation_config": {"thinking_config": {"include_thoughts": True}}},
            {"generationConfig": {"thinkingConfig": {"includeThoughts": True}}},
        ),
        (
            {"contents": [{"parts": [{"function_call": {"args": {"sails_at": 9}}}]}]},
            {"contents": [{"parts": [{"functionCall": {"args": {"sails_at": 9}}}]}]},
        ),
        (
            {"parts": [{"function_response": {"response": {"sails_at": 9}}}]},
            {"parts": [{"functionResponse": {"response": {"sails_at": 9}}}]},
        ),
        (
            {"tools": [{"function_declarations": [{"parameters": {"max_items": 1}}]}]},
            {"tools": [{"functionDeclarations": [{"parameters": {"max_items": 1}}]}]},
        ),
        ({"response_json_schema": {"a_b": 1}}, {"responseJsonSchema": {"a_b": 1}}),
        ({"thinkingLevel": "low", "thinking_level": "high"}, {"thinkingLevel": "low"}),
        ({"_": 1, "__a": 2, "a_": 3}, {"_": 1, "__a": 2, "a_": 3}),
        ("a_b", "a_b"),
    ],
)
def test_keys_are_in_camel_case_but_for_those_of_users(written: Any, known: Any) -> None:
    assert in_camel_case(written) == known
    assert in_camel_case(known) == known


def test_a_deep_value_ends_the_search() -> None:
    deep: Any = {"a_b": 1}
    for _ in range(20_000):
        deep = {"x": deep}
    assert in_camel_case(deep).keys() == {"x"}


def test_a_request_is_known_by_one_spelling() -> None:
    path = "/v1beta/models/m:generateContent"
    stated = get("gemini.generate").stated(
        Request(path=path, json={"generation_config": {"seed": 1}})
    )
    assert stated is not None
    assert stated.json == {"model": "m", "stream": False, "generationConfig": {"seed": 1}}
