"""What the client sends: tools, sampling, and thinking in the history."""

from __future__ import annotations

import json
from typing import Any

import pytest

from reference_impl.client import Reader
from reference_impl.client.apis import request
from reference_impl.client.ask import Ask, Options, UnknownOption
from reference_impl.client.extraction import turns_of
from reference_impl.client.likeness import sends
from reference_impl.client.turn import Answer, Called, Thought, Turn, Words, result_turn, text_turn
from reference_impl.client.wire import EVERY_API, Api
from tests.reference.test_client_effort import SAID

CALL = Called("call_1", "calculator", '{"expression":"2 + 2"}')
RESULT = result_turn("call_1", "4")
SEALED = Thought(raw="2 plus 2.", id="rs_1", signature="SIG", encrypted="ENC")
PARTS = Thought(parts=("One.", "Two."), id="rs_2", encrypted="ENC2")
TOOL_TURN = Turn("assistant", (SEALED, CALL))


def history(api: Api, *turns: Turn, **more: Any) -> list[dict[str, Any]]:
    json = request(api, Ask("m", (text_turn("user", "Hi"), *turns), **more)).json
    return list(json["input" if "input" in json else "messages"][1:])


def test_chat_thinking_goes_back_next_to_its_calls() -> None:
    assert history("chat", TOOL_TURN, RESULT) == [
        {
            "role": "assistant",
            "content": "",
            "reasoning_content": "2 plus 2.",
            "tool_calls": [
                {
                    "id": "call_1",
                    "type": "function",
                    "function": {"name": "calculator", "arguments": '{"expression":"2 + 2"}'},
                }
            ],
        },
        {"role": "tool", "tool_call_id": "call_1", "content": "4"},
    ]


def test_chat_calls_without_thinking_say_that_there_was_none() -> None:
    assert history("chat", Turn("assistant", (CALL,)))[0]["reasoning_content"] == ""
    assert "reasoning_content" not in history("chat", text_turn("assistant", "4."))[0]


def test_chat_opaque_fields_go_back_as_they_came() -> None:
    echo = {"reasoning_details": [{"type": "reasoning.encrypted", "data": "X", "index": 0}]}
    turn = Turn("assistant", (Words("4."),), echo=echo)
    assert history("chat", turn)[0]["reasoning_details"] == echo["reasoning_details"]
    assert "reasoning_details" not in history("chat", turn, history="never")[0]


def echoed(*deltas: dict[str, Any]) -> dict[str, Any]:
    """The thinking fields of the message that goes back after a stream of these deltas."""
    chunks = [{"choices": [{"index": 0, "delta": delta}]} for delta in deltas]
    reader = Reader("chat")
    events = [e for c in chunks for e in reader.feed(f"data: {json.dumps(c)}\n\n".encode())]
    turn = Answer().take([*events, *reader.close("eof")]).turn(reader.echo)
    return {name: value for name, value in history("chat", turn)[0].items() if "reason" in name}


def test_details_of_a_stream_go_back_merged() -> None:
    details = [
        {"type": "reasoning.text", "text": "2 plus ", "index": 0, "format": "f"},
        {"type": "reasoning.text", "text": "2.", "index": 0},
        {"type": "reasoning.text", "signature": "SIG", "index": 0, "format": None},
        {"type": "reasoning.encrypted", "data": "ENC", "index": 1, "id": "e"},
    ]
    assert echoed(*({"reasoning_details": [each]} for each in details), {"content": "4."}) == {
        "reasoning_content": "2 plus 2.",
        "reasoning_details": [
            {
                "type": "reasoning.text",
                "text": "2 plus 2.",
                "signature": "SIG",
                "index": 0,
                "format": "f",
            },
            {"type": "reasoning.encrypted", "data": "ENC", "index": 1, "id": "e"},
        ],
    }


def test_an_opaque_field_goes_back_as_it_came() -> None:
    deltas = ({"reasoning_text": "hm"}, {"content": "4.", "reasoning_opaque": "OPAQUE"})
    expected = {"reasoning_content": "hm", "reasoning_opaque": "OPAQUE"}
    assert echoed(*deltas) == expected
    # Another choice is another answer.
    other = {"choices": [{"index": 1, "delta": {"reasoning_opaque": "OTHER"}}]}
    reader = Reader("chat")
    reader.feed(f"data: {json.dumps(other)}\n\n".encode())
    assert reader.echo == {}


def test_a_reasoning_item_stands_in_front_of_its_own_turn() -> None:
    items = history("responses", TOOL_TURN, RESULT, Turn("assistant", (PARTS, Words("4."))))
    assert items == [
        {
            "type": "reasoning",
            "id": "rs_1",
            "summary": [],
            "content": [{"type": "reasoning_text", "text": "2 plus 2."}],
            "encrypted_content": "ENC",
        },
        {
            "type": "function_call",
            "call_id": "call_1",
            "name": "calculator",
            "arguments": '{"expression":"2 + 2"}',
        },
        {"type": "function_call_output", "call_id": "call_1", "output": "4"},
        {
            "type": "reasoning",
            "id": "rs_2",
            "summary": [
                {"type": "summary_text", "text": "One."},
                {"type": "summary_text", "text": "Two."},
            ],
            "encrypted_content": "ENC2",
        },
        {
            "type": "message",
            "role": "assistant",
            "content": [{"type": "output_text", "text": "4."}],
        },
    ]


def test_reasoning_that_led_to_nothing_stays_here() -> None:
    assert history("responses", Turn("assistant", (Words("4."), SEALED)))[-1]["type"] == "message"
    assert history("responses", Turn("assistant", (SEALED,))) == []


def test_no_id_is_sent_twice() -> None:
    items = history("responses", TOOL_TURN, RESULT, TOOL_TURN, RESULT)
    ids = [item["id"] for item in items if item["type"] == "reasoning"]
    assert len(set(ids)) == len(ids) == 2


def test_signed_blocks_go_back_unmodified_and_unsigned_ones_do_not() -> None:
    turn = Turn(
        "assistant", (SEALED, Thought(redacted="RED"), Thought(raw="unsigned"), Words("Hm."), CALL)
    )
    messages = history("messages", turn, RESULT, result_turn("call_2", "5"))
    assert messages[0]["content"] == [
        {"type": "thinking", "thinking": "2 plus 2.", "signature": "SIG"},
        {"type": "redacted_thinking", "data": "RED"},
        {"type": "text", "text": "Hm."},
        {
            "type": "tool_use",
            "id": "call_1",
            "name": "calculator",
            "input": {"expression": "2 + 2"},
        },
    ]
    assert [block["tool_use_id"] for block in messages[1]["content"]] == ["call_1", "call_2"]


CALLED = {"expression": "2 + 2"}


def test_converse_nests_what_is_signed_and_leaves_the_rest_out() -> None:
    turn = Turn(
        "assistant",
        (SEALED, Thought(redacted="RED"), Thought(raw="unsigned"), Words(" "), Words("Hm."), CALL),
    )
    asked = history("bedrock", turn, RESULT, text_turn("user", "And 3 + 3?"))
    reasoning = {"reasoningText": {"text": "2 plus 2.", "signature": "SIG"}}
    assert asked == [
        {
            "role": "assistant",
            "content": [
                {"reasoningContent": reasoning},
                {"reasoningContent": {"redactedContent": "RED"}},
                {"text": "Hm."},
                {"toolUse": {"toolUseId": "call_1", "name": "calculator", "input": CALLED}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"toolResult": {"toolUseId": "call_1", "content": [{"text": "4"}]}},
                {"text": "And 3 + 3?"},
            ],
        },
    ]


def test_cohere_gets_thinking_as_a_block_and_a_plan_in_its_field() -> None:
    called = {"name": "calculator", "arguments": '{"expression":"2 + 2"}'}
    calls = [{"id": "call_1", "type": "function", "function": called}]
    thought, result = history("cohere", TOOL_TURN, RESULT)
    content = [{"type": "thinking", "thinking": "2 plus 2."}]
    assert thought == {"role": "assistant", "content": content, "tool_calls": calls}
    assert result == {"role": "tool", "tool_call_id": "call_1", "content": "4"}
    planned = Turn("assistant", (Thought(raw="I add."), CALL), echo={"tool_plan": "I add."})
    plan = {"role": "assistant", "tool_plan": "I add.", "tool_calls": calls}
    assert history("cohere", planned)[0] == plan
    assert "tool_plan" not in history("cohere", planned, history="never")[0]


def test_steps_go_back_with_their_signatures_and_without_what_the_server_called() -> None:
    hosted = Called("c1", "code_execution", "{}")
    turn = Turn(
        "assistant", (Thought(parts=("One.",), signature="S"), hosted, Thought(signature="T"), CALL)
    )
    named = {"call_id": "call_1", "name": "calculator"}
    assert history("interactions", turn, RESULT) == [
        {"type": "thought", "signature": "S", "summary": [{"type": "text", "text": "One."}]},
        {"type": "thought", "signature": "T"},
        {"type": "function_call", "id": "call_1", "name": "calculator", "arguments": CALLED},
        {"type": "function_result", **named, "result": "4"},
    ]


FORMS: list[tuple[Api, list[dict[str, Any]]]] = [
    (
        "bedrock",
        [
            {"role": "user", "content": [{"text": "Hi"}]},
            {
                "role": "assistant",
                "content": [
                    {"reasoningContent": {"reasoningText": {"text": "a", "signature": "S"}}},
                    {"text": "Hm."},
                    {"toolUse": {"toolUseId": "c", "name": "f", "input": {"a": 1}}},
                ],
            },
            {
                "role": "user",
                "content": [{"toolResult": {"toolUseId": "c", "content": [{"text": "4"}]}}],
            },
        ],
    ),
    (
        "interactions",
        [
            {"type": "user_input", "content": [{"type": "text", "text": "Hi"}]},
            {"type": "thought", "signature": "S", "summary": [{"type": "text", "text": "a"}]},
            {"type": "model_output", "content": [{"type": "text", "text": "Hm."}]},
            {"type": "function_call", "id": "c", "name": "f", "arguments": {"a": 1}},
            {"type": "function_result", "call_id": "c", "name": "f", "result": "4"},
        ],
    ),
    (
        "cohere",
        [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Hi"},
            {
                "role": "assistant",
                "content": [{"type": "thinking", "thinking": "a"}, {"type": "text", "text": "Hm."}],
                "tool_calls": [
                    {
                        "id": "c",
                        "type": "function",
                        "function": {"name": "f", "arguments": '{"a":1}'},
                    }
                ],
            },
            {"role": "tool", "tool_call_id": "c", "content": "4"},
        ],
    ),
]


@pytest.mark.parametrize(("api", "entries"), FORMS)
def test_entries_of_an_api_go_back_as_they_came(api: Api, entries: list[dict[str, Any]]) -> None:
    json = request(api, Ask("m", turns_of(entries, api), history="send-back")).json
    assert json["input" if api == "interactions" else "messages"] == entries


@pytest.mark.parametrize("api", EVERY_API)
def test_never_sends_nothing_that_was_thought(api: Api) -> None:
    echo = {"reasoning_opaque": "OPAQUE"}
    turns = (Turn("assistant", (SEALED, PARTS, Words("4."), CALL), echo=echo), RESULT)
    sent = str(request(api, Ask("m", (text_turn("user", "Hi"), *turns), history="never")).json)
    hidden = ("2 plus 2.", "SIG", "ENC", "One.", "OPAQUE", "reasoning", "thinking")
    assert [word for word in hidden if word in sent] == []
    # A completion goes on from a context, and holds nothing of what was said before.
    assert ("4." in sent) is (api != "ollama-generate")


@pytest.mark.parametrize(
    ("model", "is_sent"),
    [
        ("deepseek-reasoner", True),
        ("deepseek/deepseek-v4-flash", True),
        ("deepseek-ai/DeepSeek-R1-0528", False),
        ("moonshotai/Kimi-K2-Thinking", True),
        ("kimi-k2", False),
        ("openrouter/minimax-m2", True),
        ("claude-opus-4-6", True),
        ("gpt-5.2", True),
        ("o3-mini", True),
        ("gpt-4o", False),
        ("nobody-knows", False),
    ],
)
def test_by_model_sends_as_the_model_is_known_to_want_it(model: str, is_sent: bool) -> None:
    assert sends("by-model", model) is is_sent
    assert sends("send-back", model)
    assert not sends("never", model)


def test_tools_are_offered_as_each_api_wants_them() -> None:
    function = {"name": "f", "description": "d", "parameters": {"type": "object"}}
    ask = Ask("m", (text_turn("user", "Hi"),), tools=({"type": "function", "function": function},))
    assert request("chat", ask).json["tools"] == [{"type": "function", "function": function}]
    assert request("responses", ask).json["tools"] == [{"type": "function", **function}]
    schema = {"name": "f", "description": "d", "input_schema": {"type": "object"}}
    assert request("messages", ask).json["tools"] == [schema]
    assert request("cohere", ask).json["tools"] == [{"type": "function", "function": function}]
    assert request("interactions", ask).json["tools"] == [{"type": "function", **function}]
    spec = {"name": "f", "description": "d", "inputSchema": {"json": {"type": "object"}}}
    assert request("bedrock", ask).json["toolConfig"]["tools"] == [{"toolSpec": spec}]


def test_sampling_stands_where_each_host_takes_it() -> None:
    given = {"temperature": 0, "top_p": 0.5, "seed": 7, "stop": "END"}
    ask = Ask("m", (text_turn("system", "Be brief."), text_turn("user", "Hi")), sampling=given)
    bedrock, steps, cohere = (request(api, ask).json for api in HOSTED)
    config = {"maxTokens": 4096, "temperature": 0, "topP": 0.5, "stopSequences": ["END"]}
    assert (bedrock["inferenceConfig"], bedrock["system"]) == (config, [{"text": "Be brief."}])
    assert bedrock["additionalModelRequestFields"] == {"seed": 7}
    stated = {"temperature": 0, "top_p": 0.5, "seed": 7, "stop_sequences": ["END"]}
    assert steps["generation_config"] == stated
    assert steps["system_instruction"] == "Be brief."
    assert {name: cohere[name] for name in cohere if name not in SAID} == {
        "temperature": 0,
        "p": 0.5,
        "seed": 7,
        "stop_sequences": ["END"],
    }


HOSTED: tuple[Api, ...] = ("bedrock", "interactions", "cohere")


def test_the_opt_in_is_a_header() -> None:
    ask = Ask("m", (text_turn("user", "Hi"),), include_thinking=True)
    assert request("chat", ask).headers["x-include-thinking"] == "true"
    assert "x-include-thinking" not in request("chat", Ask("m", ())).headers


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"effort": "utmost"}, "unknown effort 'utmost'"),
        ({"summary": 1}, "unknown summary 1"),
        ({"history": []}, "unknown history []"),
        ({"telepathy": True}, "unknown option 'telepathy'"),
        ({"include_thinking": "yes"}, "include_thinking is true or false, got 'yes'"),
    ],
)
def test_what_is_not_known_is_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(UnknownOption, match=message.replace("[", r"\[")):
        Options(given)


def test_markers_are_two_strings() -> None:
    with pytest.raises(UnknownOption, match="a marker pair is two strings"):
        Options({"markers": [["<think>"]]}).reading()
