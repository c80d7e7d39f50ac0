"""The reference client and the toolkit say the same of every stream, though they share no code."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.cassette import discover, open_recording
from conformance.core import shipped
from conformance.core.events import Chunk, Exchange, Response
from conformance.core.framing import framing_of
from conformance.judging.rulebook import Rulebook
from conformance.mutate import OPERATORS, make_mutants, open_base
from conformance.recordings.choices import choose_dialect
from reference_impl.client.apis import APIS as FORMS
from tests.each import each_in_blocks, each_row
from tests.fuzz.generated import generated
from tests.reference.client_sides import (
    APIS,
    Case,
    case,
    client_events,
    engine_events,
    merged,
    reported,
)
from tests.tables import read_table

ROOT = Path(__file__).parent.parent
TABLE: list[dict[str, Any]] = read_table(ROOT / "captures" / "table.yaml")
WITH_VECTORS = ("anthropic.messages", "openai.chat", "openai.responses")
VECTORS = {
    dialect: json.loads(
        (ROOT / "vectors" / "dialects" / f"{APIS[dialect]}.json").read_text("utf-8")
    )
    for dialect in WITH_VECTORS
}
# Where both may say what they like: a start without an index begins a block that has no number.
# A call that is announced without its item has its name and id from the end, or never.
# A text that is a list: one reads the words in it, the other does not.
OPEN = frozenset({"I10-no-block-index", "N11-no-item", "N15-text-is-a-list"})
# An answer that is whole and an error as well, or has a status that is none: which counts is up
# to who reads it.
CONTRADICTORY = frozenset(
    {
        "statuses-known.cassette.jsonl",
        "body-without-error.cassette.jsonl",
        "complete-without-details.cassette.jsonl",
        "success-without-error-in-body.cassette.jsonl",
        "success-without-error.cassette.jsonl",
    }
)
# What gives a binary message a wrong checksum: the toolkit passes over it, a client gives up.
WRONG_CHECKSUM = frozenset(
    {"F13-broken-character", "F15-shortened-payload", "F20-wrong-checksum", "F20-wrong-length"}
)
# A client of lines reads no events, one of binary messages no text, and the one of lines cannot
# tell a body from a line that was the first of many.
OTHERWISE_FRAMED = frozenset(
    {
        "body-done.cassette.jsonl",
        "framed-as-messages.cassette.jsonl",
        "framed-as-lines.cassette.jsonl",
    }
)
# A broken message ends the client's stream, as it ends botocore's; the toolkit reads on behind it.
BROKEN_MESSAGES = frozenset({"checksums.cassette.jsonl", "headers-readable.cassette.jsonl"})
# Small streams of each dialect and each way of thinking, for the edits that are tried on them.
BASES = (
    "bedrock.converse/claude/thinking-then-tools",
    "cohere.v2/cohere/thinking-then-tools",
    "gemini.interactions/gemini/thought-then-calls",
    "anthropic.messages/anthropic/interleaved-thinking",
    "anthropic.messages/anthropic/thinking-then-tools",
    "openai.chat/deepseek/parallel-tools",
    "openai.chat/mistral/thinking-parts",
    "openai.chat/together/inline-think",
    "openai.responses/deepseek/raw-thinking",
    "openai.responses/openai/summary-then-call",
)


def cases(path: Path, profile: str | None = None) -> Iterator[Case]:
    """The answers of a recording; what answers a GET is no answer of a model.

    Neither is an HTTP error: the client reports one, the toolkit leaves it to the scenario.
    """
    recording = open_recording(path)
    for exchange in recording.exchanges:
        stated = exchange.dialect or recording.header.dialect
        dialect = choose_dialect(exchange, stated).name
        is_answer = exchange.request is None or exchange.request.method == "POST"
        refused = exchange.response is not None and (exchange.response.status or 200) >= 400
        if dialect in APIS and is_answer and not refused:
            # Of an application's recording the profile is the application's.
            own = None if exchange.hop == "upstream" else recording.header.profile
            yield case(path.name, dialect, profile or own, exchange)


# The client asks for names of enums, neither for calls in pieces nor for tools that the server
# calls, and reads one answer of a stream.
NOT_ASKED = frozenset(
    {
        *("enums-as-numbers.cassette.jsonl", "enums-named.cassette.jsonl"),
        *("streamed-call.cassette.jsonl", "served-call.cassette.jsonl"),
        *("call-ended.cassette.jsonl", "partial-args-placed.cassette.jsonl"),
    }
)
# What lacks an id that both have to make do without: each takes another one, or none.
NAMELESS = frozenset(
    {"announced-with-call-id.cassette.jsonl", "response-fields-null.cassette.jsonl"}
)
SEVERAL = frozenset(
    {
        "anthropic_spliced_message_start.jsonl",
        "openai_responses_multistep_encrypted.jsonl",
        "a second response in the same stream is an answer of its own",
    }
)


def paths() -> list[Path]:
    folder = shipped.cassettes()
    found = [*discover(folder), *discover(folder / "mutants")]
    others = OTHERWISE_FRAMED | BROKEN_MESSAGES | NOT_ASKED | CONTRADICTORY | NAMELESS
    return [path for path in found if path.name not in others]


@cache
def shipped_cases() -> tuple[Case, ...]:
    return tuple(one for path in paths() for one in cases(path))


def assert_agreed(one: Case) -> None:
    assert merged(client_events(one)) == merged(engine_events(one))


@pytest.mark.one_in(5)
@each_in_blocks(24, paths)
def test_shipped_streams_are_read_the_same(path: Path) -> None:
    for one in cases(path):
        assert_agreed(one)


@pytest.mark.captures
@pytest.mark.parametrize("row", TABLE, ids=lambda row: str(row["file"]))
def test_real_recordings_are_read_the_same(row: dict[str, Any], captures: Path) -> None:
    if Path(row["file"]).name in SEVERAL:
        pytest.skip("the reference client reads one answer of a stream")
    for one in cases(captures / row["file"], row["profile"]):
        framing = framing_of(one.exchange)
        is_binary = FORMS[APIS[one.dialect]].framing == "binary"
        if framing != "body" and is_binary != (framing == "binary"):
            pytest.skip(f"the reference client reads no streams of {one.dialect} as {framing}")
        assert_agreed(one)


def vectors() -> Iterator[tuple[str, dict[str, Any]]]:
    for dialect, every in VECTORS.items():
        for vector in every:
            # Harmony, private fields and the last close marker are the toolkit's alone.
            reading = vector.get("reading", {})
            known = (
                not ({"fields", "last_close"} & set(reading)) and "harmony" not in vector["name"]
            )
            # A body that is no message is complete to the toolkit; a client has no answer.
            left_out = {"a body of something else", *SEVERAL}
            if known and not reading and vector["name"] not in left_out:
                yield dialect, vector


@each_row(vectors())
def test_vectors_of_the_dialects_hold(dialect: str, vector: dict[str, Any]) -> None:
    chunks = tuple(Chunk(_wire(frame)) for frame in vector["frames"])
    exchange = Exchange(chunks=chunks, end=vector.get("end", "eof"), response=Response(200))
    found = client_events(case(vector["name"], dialect, None, exchange))
    expected = [(kind, {"choice": 0, **reported(data)}) for _, kind, data in vector["semantic"]]
    assert merged(found) == merged(expected)


def _wire(frame: Any) -> bytes:
    if isinstance(frame, dict) and "body" in frame:
        return json.dumps(frame["body"]).encode()
    name, data = "", frame
    if isinstance(frame, dict) and "data" in frame and set(frame) <= {"data", "event"}:
        name, data = frame.get("event", ""), frame["data"]
    text = data if isinstance(data, str) else json.dumps(data)
    return (f"event: {name}\n" if name else "").encode() + f"data: {text}\n\n".encode()


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", BASES)
def test_broken_streams_are_read_the_same(name: str) -> None:
    folder = shipped.cassettes()
    one = open_base(folder / f"{name}.cassette.jsonl", folder)
    rules, tried, most = Rulebook.load(), 0, 0
    for stream in one.streams():
        most = sum(each.dialect in {"", stream.dialect} for each in OPERATORS)
        for operator in OPERATORS:
            for mutant in make_mutants(operator, stream, most=1):
                broken = Case(name, stream.dialect, one.profile(stream, rules), mutant.exchange)
                tried += 1
                if operator.name in WRONG_CHECKSUM and framing_of(mutant.exchange) == "binary":
                    error, cut = client_events(broken)[-2:]
                    assert (error[0], cut[1]["how"]) == ("error", "protocol-error")
                elif operator.name not in OPEN:
                    assert_agreed(broken)
    assert tried > most * 2 // 5


@pytest.mark.parametrize("seed", range(0, 240, 12))
def test_generated_streams_are_read_the_same(seed: int) -> None:
    for number in range(seed, seed + 12):
        dialect, data = generated(Random(number), long=0.0)
        exchange = Exchange(chunks=(Chunk(data),), response=Response(200))
        # Half a character is no JSON to the toolkit; a client joins it to the other half.
        if dialect in APIS and b"\\ud8" not in data:
            assert_agreed(case(str(number), dialect, None, exchange))


@settings(max_examples=60)
@given(st.data())
def test_any_chunking_gives_the_same_events(data: st.DataObject) -> None:
    one = data.draw(st.sampled_from(shipped_cases()))
    body = one.body
    cuts = data.draw(st.lists(st.integers(0, max(len(body) - 1, 0)), max_size=40))
    places = sorted({0, len(body), *cuts})
    chunks = [body[a:b] for a, b in pairwise(places)]
    assert merged(client_events(one, chunks)) == merged(client_events(one))


@pytest.mark.slow
@pytest.mark.parametrize("dialect", APIS)
def test_bytewise_reading_gives_the_same_events(dialect: str) -> None:
    of_dialect = [one for one in shipped_cases() if one.dialect == dialect]
    for one in of_dialect[::4]:
        bytewise = [one.body[at : at + 1] for at in range(len(one.body))]
        assert merged(client_events(one, bytewise)) == merged(client_events(one))


@pytest.mark.parametrize("dialect", APIS)
def test_every_cut_is_an_error_and_no_answer(dialect: str) -> None:
    """Wherever a stream breaks off, blocks are closed and a cut is told, unless it was done."""
    one = next(
        one for one in shipped_cases() if one.dialect == dialect and one.exchange.end == "eof"
    )
    for size in range(0, len(one.body), 7):
        events = client_events(one, [one.body[:size]])
        kinds = [kind for kind, _ in events]
        assert ("done" in kinds) != ("cut" in kinds)
        for opened, ended in (("thinking.start", "thinking.end"), ("text.start", "text.end")):
            assert kinds.count(opened) == kinds.count(ended)
