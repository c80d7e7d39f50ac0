"""Streams as rows: what a row becomes, and which rows are refused."""

from __future__ import annotations

import pytest

from tests.authoring.draft import Draft
from tests.authoring.stream_rows import read

HEAD = """
writers: [chat]
dialect: openai.chat
path: /v1/chat/completions
names: {SERVER: !Server {model: $MODEL}, MODEL: think-2, MANY: [1, 2]}
requests:
  ask: {model: $MODEL, messages: [{role: user, content: $}], stream: true}
streams:
"""


def stream(row: str) -> Draft:
    (draft,) = read(f"{HEAD}  - {{name: maker/stream, {row}}}")
    return draft


def test_what_the_row_and_the_file_say_is_in_the_draft() -> None:
    draft = stream("asked: {ask: Why?, stream: false}, answer: [$DONE], sizes: [1, 2]")
    assert (draft.name, draft.target) == ("openai.chat/maker/stream", {"name": "maker"})
    assert (draft.path, draft.sizes) == ("/v1/chat/completions", (1, 2))
    assert draft.asked == {
        "model": "think-2",
        "messages": [{"role": "user", "content": "Why?"}],
        "stream": False,
    }


@pytest.mark.parametrize(
    ("answer", "body"),
    [
        ("[$DONE]", b"data: [DONE]\n\n"),
        ("[!plain ': hi']", b": hi"),
        ("[!json [{a: [1]}]]", b'{"a":[1]}'),
        ("[!comment hi, !Message [{a: 1}, named]]", b': hi\n\nevent: named\ndata: {"a":1}\n\n'),
        ("[!json [!deltas a b c]]", b'["a b"," c"]'),
        ("[!json [[0, !deltas* a b c]]]", b'[0,"a b"," c"]'),
        ("[!json [[!slice* [[a, b, c], 1], !slice* [[a, b, c], 0, 1]]]]", b'["b","c","a"]'),
        (
            "[!each* {of: !deltas a b c, gives: !json [{said: $EACH}]}]",
            b'{"said":"a b"}{"said":" c"}',
        ),
        ("[!json [[0, $MANY*]]]", b"[0,1,2]"),
        ("[!json [$CREATED_AT]]", b"1795176000"),
        ("[!json [{id: !opaque {label: a, size: 4}}]]", b'{"id":"c3lu"}'),
    ],
)
def test_calls_of_an_answer(answer: str, body: bytes) -> None:
    assert stream(f"answer: {answer}").body() == body


def test_method_of_a_named_object() -> None:
    row = "answer: [!Server.delta {of: [$SERVER], finish: stop}]"
    assert b'"model":"think-2"' in stream(row).body()
    assert b'"finish_reason":"stop"' in stream(row).body()


def test_a_call_can_make_the_request() -> None:
    assert stream("asked: !counted [[1, 2, 1]], answer: []").asked["total_tokens"] == 3


def test_exchanges_after_the_first() -> None:
    draft = stream("answer: [], scenario: s, then: [{asked: {ask: And?}, answer: [$DONE]}]")
    (after,) = draft.then
    assert (after.scenario, after.path) == ("s", draft.path)
    assert after.asked["messages"][0]["content"] == "And?"


def test_an_answer_is_edited() -> None:
    row = "answer: [!each* {of: [1, 2], gives: !Message [{n: $EACH}]}], edited: {drop: has n}"
    assert stream(row).body() == b'data: {"n":2}\n\n'


def test_a_row_is_made_for_each_of_its_names() -> None:
    row = "{for: [{N: a}, {N: b}], name: !joined [$N, /stream], answer: [!json [$N]]}"
    made = [(each.name, each.body()) for each in read(f"{HEAD}  - {row}")]
    assert made == [("openai.chat/a/stream", b'"a"'), ("openai.chat/b/stream", b'"b"')]


@pytest.mark.parametrize("row", ["answer: [!unknown 1]", "answer: [$DONE], unknown: 1"])
def test_row_with_what_does_not_exist(row: str) -> None:
    with pytest.raises((KeyError, TypeError)):
        stream(row)
