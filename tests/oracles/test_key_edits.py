"""Edits of keys, what a client shows of them, and which of them are permitted."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from conformance.core.events import Chunk, Exchange
from conformance.mutate.stream import take_apart
from tests.oracles.key_edits import KeyEdit, key_edits, type_of
from tests.oracles.shown import Event, Shown, shown_by
from tests.oracles.silent_edits import Tried, lost_unseen, permitted

LINES = (
    b'data: {"choices":[{"index":0,"delta":{"content":"Hm."},"finish_reason":null}]}\n\n'
    b'data: {"choices":[{"index":0,"delta":{"content":"Ah."},"finish_reason":"stop"}]}\n\n'
)
NO_TEXT = Shown(())
TEXT = Shown((("text.delta of choice 0", "Hm."),))


def edited() -> dict[str, bytes]:
    stream = take_apart(Exchange(chunks=(Chunk(LINES),)), "openai.chat")
    return {str(kind).strip(): changed.body for kind, changed in key_edits(stream)}


def test_each_kind_of_key_is_edited_once_in_every_way() -> None:
    assert [kind for kind in edited() if "content" in kind] == [
        "choices.*.delta.content (text) dropped",
        "choices.*.delta.content (text) misspelt",
        "choices.*.delta.content (text) null",
        "choices.*.delta.content (text) number",
    ]


def test_one_key_of_one_event_is_edited() -> None:
    found = edited()["choices.*.delta.content (text) misspelt"]
    assert found == LINES.replace(b'"content":"Hm."', b'"conent":"Hm."')


def test_null_and_a_text_under_one_key_are_two_kinds() -> None:
    kinds = [kind for kind in edited() if "finish_reason" in kind and "dropped" in kind]
    assert kinds == [
        "choices.*.finish_reason (null) dropped",
        "choices.*.finish_reason (text) dropped",
    ]


@pytest.mark.parametrize(
    ("value", "named"),
    [
        (None, "null"),
        (True, "boolean"),
        (0, "number"),
        (0.5, "number"),
        ("", "empty text"),
        ("a", "text"),
        ([], "list"),
        ({}, "object"),
    ],
)
def test_values_are_distinguished(value: object, named: str) -> None:
    assert type_of(value) == named


def test_what_was_shown_before_a_client_raises_counts() -> None:
    def reads(body: bytes) -> Iterator[Event]:
        yield {"type": "text.delta", "text": body.decode()}
        yield {"type": "text.delta", "text": "."}
        raise ValueError("no")

    assert shown_by(reads, b"Hm") == Shown(TEXT.said, "ValueError: no")


def test_a_loss_that_a_rule_finds_or_that_is_permitted_is_no_fault() -> None:
    legal = KeyEdit("", "choices.*.delta.content", "text", "dropped")
    fault = KeyEdit("", "choices", "list", "object")
    found = frozenset({"wire/chat/delta-types"})
    lost = [
        Tried("a", legal, TEXT, NO_TEXT, frozenset()),
        Tried("a", fault, TEXT, NO_TEXT, found),
        Tried("a", fault, TEXT, TEXT, frozenset()),
    ]
    assert lost_unseen("openai.chat", lost) == []
    assert lost_unseen("openai.chat", [Tried("a", fault, TEXT, NO_TEXT, frozenset())]) == [
        "a:  choices (list) object -> ()"
    ]


def test_what_is_permitted_names_edits_and_says_why() -> None:
    known = {"dropped", "misspelt", "null", "number", "text", "object"}
    assert all(row.because and row.edits and known >= set(row.edits) for row in permitted())
