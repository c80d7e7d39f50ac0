from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from conformance.judging.group_id import group_id, message_without_values
from tests.each import each_row
from tests.plain_results import plain_finding

SHAPES = [
    (
        'item.id of item.added: expected "rs_1", got "msg_2"',
        "item.id of item.added: expected …, got …",
    ),
    (
        "output_index of item.added: expected 1, got -1",
        "output_index of item.added: expected …, got …",
    ),
    ("finish_reason of chunk: expected a value, got nothing", None),
    (
        "payload of chunk: expected an object, got null",
        "payload of chunk: expected an object, got …",
    ),
    ("content.0.type of item: 'a' is wrong", "content.….type of item: … is wrong"),
    ("'</think>' in text (…'</think>\\n\\nThey are'…)", "… in text (…)"),
    (
        "differs at character 0: joined 'It\\'s 2', stated 'I' (U+0049)",
        "differs at character …: joined …, stated …",
    ),
    (
        'request with effort "low", text "of a train which leaves... may not occur',
        "request with effort …, text … may not occur",
    ),
    ('streamed [{"type": "text", "n": [1, 2]}], stated nothing', "streamed …, stated nothing"),
    ("a and b are not equal (in 5 of 60 replays: F6-no-space, F7)", "a and b are not equal"),
    ("'hat is 3' belongs to the answer to think-2/kept", "… belongs to the answer to …"),
    (
        "exchange 1 as the client saw it and exchange 1 are not equal",
        "… as the client saw it and … are not equal",
    ),
    (
        "exchange 1 as the client saw it and b are not equal at 0.text; all thinking is lost",
        "… as the client saw it and b are not equal; all thinking is lost",
    ),
    (
        (
            "a and b are not equal at 0: nothing (elements: 0) against "
            '{"type": "finish"} (elements: 3); all thinking is lost'
        ),
        (
            "a and b are not equal at …: nothing (elements: …) against … (elements: …); "
            "all thinking is lost"
        ),
    ),
    (
        "exchange 2 tool-turn as the client saw it and exchange 2 tool-turn are not equal",
        "… as the client saw it and … are not equal",
    ),
    (
        "exchange 1 of a b.c-7 gave 'a', but messages.1 sends back 'b' (they differ at 0)",
        "… gave …, but messages.… sends back … (they differ at …)",
    ),
    (
        "exchange 3 of turn-1.sse received 'a', but 'b' comes before messages.1 (at text)",
        "… received …, but … comes before messages.… (at text)",
    ),
    (
        "exchange 1 of x gave 'a'; parts of exchange 2 of y, 3 of z are in it, too",
        "… gave …; parts of … are in it, too",
    ),
    (
        'chunk with usage {"in": 12, "details": {..., choices [] may not occur',
        "chunk with usage …, choices [] may not occur",
    ),
    (
        'chunk with usage {"in": 12, "out": 3, "tot..., choices [] may not occur',
        "chunk with usage …, choices [] may not occur",
    ),
    ("the 2 output_text.done/text.done joined", "the … output_text.done/text.done joined"),
    ("the model's own answer is not the user's", None),
]


@each_row(SHAPES)
def test_values_are_left_out_and_names_stay(message: str, shape: str | None) -> None:
    assert message_without_values(plain_finding(message=message)) == (shape or message)


def test_the_event_before_is_no_difference() -> None:
    one, other = (
        plain_finding(after=after, message=f"expected a after {after}, got b")
        for after in ("text.delta (event 7)", "text.done (event 12)")
    )
    assert group_id(one) == group_id(other)
    assert message_without_values(one) == "expected a after …, got b"


ONE_GROUP = [
    # A stack trace as JSON inside JSON, clipped behind a backslash.
    (
        "a/b/c",
        [
            r'error with message "{\"message\":\"no such file\",\... may not occur',
            r'error with message "{\"message\":\"refused\... may not occur',
        ],
    ),
    ("wire/messages/error-last", ["message_delta came after x", "content_block_stop came after x"]),
    # Thinking that comes behind the text does so in short loops and in long ones.
    (
        "hop/order",
        [
            "expected thinking, text, got text, thinking",
            "expected thinking, tool, thinking, text, got thinking, tool, text, thinking",
        ],
    ),
]


@each_row(ONE_GROUP)
def test_one_fault_is_one_group(rule: str, messages: list[str]) -> None:
    assert len({group_id(plain_finding(rule=rule, message=each)) for each in messages}) == 1


def test_two_orders_that_part_in_two_ways_are_two_groups() -> None:
    orders = [
        "expected thinking, text, got text, thinking",
        "expected thinking, got thinking, text",
    ]
    found = [plain_finding(rule="hop/order", message=each) for each in orders]
    assert len({group_id(each) for each in found}) == 2


def test_what_makes_another_group() -> None:
    whole = plain_finding(message="expected a, got b", slice={"index": 0})
    same: list[dict[str, Any]] = [{"event": 9}, {"id": "77"}, {"slice": {"index": 3}}, {"got": "1"}]
    other: list[dict[str, Any]] = [
        {"rule": "a/b/d"},
        {"slice": {}},
        {"message": "expected a, got c"},
        {"level": "SHOULD"},
    ]
    assert {group_id(replace(whole, **change)) for change in same} == {group_id(whole)}
    assert group_id(whole) not in {group_id(replace(whole, **change)) for change in other}


def test_time_is_linear_in_a_hostile_message() -> None:
    for text in ('"' * 9999, "'a" * 9999, '"\\' * 9999, "[{…" * 9999, "1." * 9999):
        assert len(message_without_values(plain_finding(message=text))) <= 2000
