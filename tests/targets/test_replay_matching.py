from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from conformance.cassette import Redactor, redact
from conformance.core.events import Chunk, Exchange, Request, Response
from conformance.targets.replay import ReplayOptions
from conformance.targets.replay.canonical import canonical_json, canonical_value, parse_paths
from conformance.targets.replay.matching import (
    ExchangeIndex,
    ReplaySession,
    asks_other_form,
    path_below_version,
)
from conformance.targets.replay.miss import ReplayMiss, explain_miss
from conformance.targets.replay.tape import load_recording
from conformance.wire.requests import HttpRequest
from tests.targets.replay_wire import ASKED, PATH, cassette, exchange

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.text(max_size=5)
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=15,
)


def shelf(*exchanges: Exchange, redacted: bool = False, **options: Any) -> ReplaySession:
    held = load_recording(cassette(*exchanges, redacted=redacted), "tape")
    return ReplaySession(ExchangeIndex(held, ReplayOptions(**options)))


STREAMS = "/v1beta/models/m:streamGenerateContent"


@pytest.mark.parametrize(
    ("body", "asked", "is_other"),
    [
        (b'[{"candidates": []}', STREAMS, False),
        (b'[{"candidates": []}', f"{STREAMS}?alt=sse", True),
        (b'data: {"candidates": []}\n\n', f"{STREAMS}?alt=sse", False),
        (b'data: {"candidates": []}\n\n', STREAMS, True),
        (b'{"candidates": []}', f"{STREAMS}?alt=sse", True),
        (b'{"candidates": []}', "/v1beta/models/m:generateContent", False),
    ],
)
def test_events_are_for_who_asks_for_events(body: bytes, asked: str, *, is_other: bool) -> None:
    kind = "text/event-stream" if body.startswith(b"data") else "application/json"
    head = Response(200, headers=(("content-type", kind),))
    recorded = Exchange(dialect="gemini.generate", response=head, chunks=(Chunk(body),))
    assert asks_other_form(recorded, asked, b"{}") is is_other


@pytest.mark.parametrize(
    ("method", "is_other"),
    [("message/stream", False), ("SendStreamingMessage", True), (None, True)],
)
def test_an_answer_is_for_who_asks_in_its_version(method: str | None, *, is_other: bool) -> None:
    """The client a2a-sdk 1.3.0 reads nothing of a stream of 0.3, and says so nowhere."""
    head = Response(200, headers=(("content-type", "text/event-stream"),))
    asked = Request("POST", "/", json={"jsonrpc": "2.0", "id": 1, "method": "message/stream"})
    recorded = Exchange(
        request=asked,
        dialect="google.a2a",
        response=head,
        chunks=(Chunk(b'data: {"result": {"kind": "task"}}\n\n'),),
    )
    body: dict[str, Any] = {"jsonrpc": "2.0", "method": method} if method else {"message": {}}
    path = "/" if method else "/message:stream"
    assert asks_other_form(recorded, path, json.dumps(body).encode()) is is_other


def ask(
    on: ReplaySession,
    body: Any = ASKED,
    path: str = PATH,
    method: str = "POST",
    headers: tuple[tuple[str, str], ...] = (),
) -> int | str:
    """The number of the exchange that answers, or why none does."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    asked = HttpRequest(method, path, headers, data, http11=True, keeps_alive=True)
    wanted = on.index.request_key(asked, path)
    match = on.next_match(wanted)
    return match.entry.exchange.number if match else explain_miss(wanted, on.index).why


@pytest.mark.parametrize("body", [b'{"a": NaN}', b"a=1&b=2", b"\xff\x00", b'{"a": "\\ud83d"}'])
def test_a_body_that_is_no_json_is_answered_by_itself_alone(body: bytes) -> None:
    plain = exchange()
    assert plain.request is not None
    raw = replace(plain, request=replace(plain.request, json=None).with_raw(body))
    for asked in (b"x", b"", ASKED):
        assert isinstance(ask(shelf(raw), asked), str)
    assert ask(shelf(raw), body) == raw.number


@given(JSON, st.randoms(use_true_random=False))
def test_spelling_does_not_matter(value: Any, random: Any) -> None:
    def shuffled(each: Any) -> Any:
        if isinstance(each, dict):
            items = list(each.items())
            random.shuffle(items)
            return {key: shuffled(inner) for key, inner in items}
        if isinstance(each, list):
            return [shuffled(inner) for inner in each]
        is_whole = isinstance(each, int) and not isinstance(each, bool) and abs(each) < 2**53
        return float(each) if is_whole and random.random() < 0.5 else each

    other = json.dumps(shuffled(value), indent=1, ensure_ascii=random.random() < 0.5)
    assert canonical_json(other.encode()) == canonical_value(value)


@given(JSON, JSON)
def test_different_values_have_different_forms(one: Any, other: Any) -> None:
    def strict(value: Any) -> Any:
        """The value, with what Python calls equal and JSON does not told apart."""
        if isinstance(value, dict):
            return {key: strict(inner) for key, inner in value.items()}
        if isinstance(value, list):
            return [strict(inner) for inner in value]
        return (type(value).__name__ if isinstance(value, bool) else "", value)

    assert (canonical_value(one) == canonical_value(other)) == (strict(one) == strict(other))


NOT_JSON = [b"", b"{", b'{"a":1}x', b"\xff", b"[" * 100_000, b"NaN", b'"\\ud83e"']


@pytest.mark.parametrize("body", NOT_JSON, ids=lambda body: repr(body[:8]))
def test_what_is_no_json_has_no_form(body: bytes) -> None:
    assert canonical_json(body) is None


IGNORED = [
    ("user", {"user": "a", "b": 1}, {"b": 1}),
    ("a.b", {"a": {"b": 1, "c": 2}}, {"a": {"c": 2}}),
    ("a.*.id", {"a": [{"id": 1, "x": 1}, {"id": 2}]}, {"a": [{"x": 1}, {}]}),
    ("a.1.id", {"a": [{"id": 1}, {"id": 2}]}, {"a": [{"id": 1}, {}]}),
    ("a.*", {"a": {"b": 1}}, {"a": {}}),
    ("*.id", {"a": {"id": 1}, "b": {"id": 2}}, {"a": {}, "b": {}}),
    ("a.b.c", {"a": 1}, {"a": 1}),
    ("a", [1], [1]),
]


@pytest.mark.parametrize(("path", "value", "left"), IGNORED)
def test_an_ignored_field_is_left_out(path: str, value: Any, left: Any) -> None:
    assert canonical_value(value, parse_paths([path])) == canonical_value(left)


ENDPOINTS = [
    ("/v1/responses", "/responses"),
    ("/api/v1/chat/completions", "/chat/completions"),
    ("/v1beta2/messages", "/messages"),
    ("/responses", "/responses"),
    ("/v1/v1/responses", "/v1/responses"),
    ("/v1", "/v1"),
    ("/very/long", "/very/long"),
]


@pytest.mark.parametrize(("path", "place"), ENDPOINTS)
def test_a_path_counts_from_after_its_version(path: str, place: str) -> None:
    assert path_below_version(path) == place


SAME = [
    ("the same", {}, ASKED, PATH, ()),
    ("another prefix", {}, ASKED, "/chat/completions", ()),
    ("a volatile field", {}, {**ASKED, "user": "me", "metadata": {"a": 1}}, PATH, ()),
    ("a number's form", {"json": {"t": 1}}, b'{"t": 1e0}', PATH, ()),
    ("no body recorded", {"json": None}, {"any": 1}, PATH, ()),
    ("no body recorded, none JSON", {"json": None}, b"not JSON", PATH, ()),
    ("query in another order", {"path": f"{PATH}?a=1&b=2"}, ASKED, f"{PATH}?b=2&a=1", ()),
    ("a redacted query", {"path": f"{PATH}?key=[redacted]"}, ASKED, f"{PATH}?key=secret", ()),
    ("an encoded query", {"path": f"{PATH}?a=x%20y"}, ASKED, f"{PATH}?a=x+y", ()),
    ("a header of no account", {"sent": (("accept", "a"),)}, ASKED, PATH, (("accept", "b"),)),
    (
        "a telling header",
        {"sent": (("X-Include-Thinking", "true"),)},
        ASKED,
        PATH,
        (("x-include-thinking", "True"),),
    ),
    ("a redacted one", {"sent": (("x-include-thinking", "[redacted]"),)}, ASKED, PATH, ()),
]


@pytest.mark.parametrize(("name", "recorded", "body", "path", "headers"), SAME)
def test_an_equal_request_is_answered(
    name: str, recorded: dict[str, Any], body: Any, path: str, headers: tuple[tuple[str, str], ...]
) -> None:
    assert ask(shelf(exchange(**recorded)), body, path, headers=headers) == 1, name


OTHER = [
    ("a field more", {}, {**ASKED, "n": 2}, PATH, (), "n was not recorded, sent 2"),
    ("a field less", {}, {"model": "m"}, PATH, (), "messages was not sent, recorded [{"),
    ("null is no missing field", {}, {**ASKED, "n": None}, PATH, (), "n was not recorded, sent"),
    ("true is not 1", {"json": {"t": 1}}, {"t": True}, PATH, (), "t is true, recorded 1"),
    (
        "a word of a message",
        {},
        {**ASKED, "messages": [{"role": "user", "content": "How?"}]},
        PATH,
        (),
        'messages.0.content is "How?", recorded "Why?"',
    ),
    ("a message more", {"json": {"m": [1]}}, {"m": [1, 2]}, PATH, (), "m.1 was not recorded"),
    (
        "another path",
        {},
        ASKED,
        "/v1/responses",
        (),
        "the path is /v1/responses, recorded /v1/chat",
    ),
    ("a doubled prefix", {}, ASKED, f"/v1{PATH}", (), f"the path is /v1{PATH}, recorded {PATH}"),
    ("a query", {}, ASKED, f"{PATH}?a=1", (), "the query is ?a=[redacted], recorded ?"),
    ("no JSON", {}, b"{", PATH, (), "its body is not JSON"),
    ("no body", {}, b"", PATH, (), "the body is null, recorded {"),
    (
        "a telling header",
        {"sent": (("accept", "*/*"),)},
        ASKED,
        PATH,
        (("x-include-thinking", "true"),),
        "the header x-include-thinking is another one",
    ),
]


@pytest.mark.parametrize(("name", "recorded", "body", "path", "headers", "message"), OTHER)
def test_another_request_is_refused_and_distinguished(
    name: str,
    recorded: dict[str, Any],
    body: Any,
    path: str,
    headers: tuple[tuple[str, str], ...],
    message: str,
) -> None:
    why = str(ask(shelf(exchange(**recorded)), body, path, headers=headers))
    assert message in why, name
    assert "no recorded exchange answers POST" in why
    assert "\n" not in why


def test_equal_requests_get_their_answers_in_order_and_once() -> None:
    turns = shelf(exchange(number=1), exchange(number=2, json={"b": 1}), exchange(number=3))
    assert [ask(turns), ask(turns)] == [1, 3]
    assert "was recorded 2 times, and has been answered as often" in str(ask(turns))
    assert [entry.exchange.number for entry in turns.unused_entries()] == [2]


def test_repeat_gives_the_last_answer_again() -> None:
    turns = shelf(exchange(number=1), exchange(number=2), repeat=True)
    assert [ask(turns) for _ in range(4)] == [1, 2, 2, 2]


def test_the_same_path_wins_over_an_equal_one() -> None:
    both = shelf(exchange(number=1, path="/chat/completions"), exchange(number=2))
    assert ask(both) == 2
    assert "answered as often" in str(ask(both))
    assert ask(both, path="/chat/completions") == 1


def test_exact_paths_tell_prefixes_apart() -> None:
    strict = shelf(exchange(), exact_paths=True)
    assert "the path is /chat/completions, recorded /v1" in str(
        ask(strict, path="/chat/completions")
    )


def test_a_header_decides_between_equal_bodies() -> None:
    asking = (("x-include-thinking", "true"),)
    both = shelf(exchange(number=1, sent=(("accept", "*/*"),)), exchange(number=2, sent=asking))
    assert ask(both, headers=asking) == 2
    assert ask(both) == 1


def test_a_recorded_body_wins_over_one_that_was_not() -> None:
    both = shelf(exchange(number=1, json=None), exchange(number=2))
    assert [ask(both), ask(both, {"x": 1})] == [2, 1]


def test_without_recorded_requests_any_post_is_answered_in_order() -> None:
    bare = [Exchange(number=number) for number in (1, 2)]
    both = shelf(*bare)
    assert [ask(both), ask(both, b"x", "/anything")] == [1, 2]
    assert "none holds a request" in str(ask(shelf(*bare), method="GET"))


def test_a_bare_recording_answers_only_what_its_dialect_asks() -> None:
    bare = shelf(Exchange(number=1, dialect="openai.responses"))
    assert isinstance(ask(bare, path="/v1/messages"), str)
    assert ask(bare, path="/v1/responses") == 1


def test_the_other_side_of_a_gateway_is_not_served() -> None:
    hops = (exchange(number=1, hop="upstream"), exchange(number=2, hop="downstream"))
    assert ask(shelf(*hops)) == 2
    assert ask(shelf(*hops, hop="upstream")) == 1


SECRETS = [
    {"model": "m", "tools": [{"type": "mcp", "authorization": "tok-123456789"}]},
    {"model": "m", "api_key": "sk-abcdefghij0123456789"},
    {"model": "m", "input": "my key is sk-abcdefghij0123456789abcd, keep it"},
]


@pytest.mark.parametrize("body", SECRETS)
def test_a_redacted_request_matches_the_real_one(body: dict[str, Any]) -> None:
    clean = redact(cassette(exchange(json=body)), Redactor())
    recorded = clean.exchanges[0].request
    assert recorded is not None
    assert recorded.json != body
    assert ask(shelf(*clean.exchanges, redacted=True), body) == 1
    assert isinstance(ask(shelf(*clean.exchanges), body), str)


def test_opaque_data_must_come_back_as_it_was_recorded() -> None:
    def body(data: str) -> dict[str, Any]:
        return {"input": [{"type": "reasoning", "encrypted_content": data}]}

    kept = shelf(exchange(json=body("b3BhcXVl")), redacted=True)
    assert "encrypted_content" in str(ask(kept, body("YWx0ZXJlZA")))
    assert ask(kept, body("b3BhcXVl")) == 1


def test_a_miss_names_the_nearest_and_keeps_secrets() -> None:
    near = {**ASKED, "temperature": 1}
    found = shelf(exchange(number=1, json={"model": "z"}), exchange(number=2, json=near))
    key = "sk-abcdefghij0123456789"
    asked = HttpRequest("POST", PATH, (), json.dumps({**near, "key": key}).encode(), True, True)
    miss = explain_miss(found.index.request_key(asked, PATH), found.index)
    assert str(miss.nearest) == "tape exchange 2"
    body = miss.json_body().decode()
    assert key not in body
    assert json.loads(body)["error"]["type"] == "replay_miss"
    assert [each["path"] for each in json.loads(body)["differences"]] == ["key"]


def test_long_texts_are_shown_where_they_differ() -> None:
    long = "x" * 500
    why = str(ask(shelf(exchange(json={"a": f"{long}END"})), {"a": f"{long}end{long}"}))
    assert '"…xxxxxxxxxxxxxxxend' in why
    assert "END" in why
    assert len(why) < 500


def test_a_hostile_body_is_explained_in_bounds() -> None:
    deep = b'{"a":' * 900 + b"1" + b"}" * 900
    wide = {"messages": [{"content": str(number)} for number in range(60_000)]}
    recorded = shelf(exchange(json={"messages": [{"content": "x"}] * 60_000}))
    assert isinstance(ask(recorded, deep), str)
    assert len(str(ask(recorded, wide))) < 2_000


def test_a_miss_without_anything_near_says_so() -> None:
    empty = ExchangeIndex((), ReplayOptions())
    asked = HttpRequest("GET", "/", (), b"", http11=True, keeps_alive=True)
    assert explain_miss(empty.request_key(asked, "/"), empty) == ReplayMiss(
        "no recorded exchange answers GET /: none holds a request"
    )
