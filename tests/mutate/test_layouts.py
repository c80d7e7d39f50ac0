"""A dialect that only says where its streams hold what: neutral operators find their places."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
import pytest

from conformance.core.events import Chunk, Exchange, Response
from conformance.core.json_values import text_at
from conformance.editing.layout import ChunkLayout, Delta, StreamLayout
from conformance.editing.operator import Operator, OperatorTable, make_mutants
from conformance.editing.piece import Piece
from conformance.editing.stream import Stream
from conformance.mutate import OPERATORS, find_operators, take_apart
from conformance.mutate.allowances import load_allowances

PAYLOADS: tuple[dict[str, Any], ...] = (
    {"message": {"role": "assistant", "thinking": "Let "}, "done": False},
    {"message": {"role": "assistant", "thinking": "me see."}, "done": False},
    {"message": {"role": "assistant", "content": "Four, I "}, "done": False},
    {"message": {"role": "assistant", "content": "think."}, "done": False},
    {"message": {"role": "assistant", "content": ""}, "done": True, "reason": "stop", "count": 7},
)
EXPECTED = (
    *("B2-pair-in-text", "B11-marker-in-thinking", "E1-error", "E3-ends-early", "E7-silence"),
    *("F1-crlf", "F8-byte-by-byte", "F13-broken-character", "F15-shortened-payload"),
    *("N4-unknown-key", "N6-empty-delta", "N7-split-delta", "N8-merged-deltas"),
    *("N9-text-is-number", "U3-finish-twice", "U4-no-finish", "U10-unknown-reason"),
    *("U8-after-the-end", "X1-no-role", "X5-text-after-finish", "X14-lost-chunk"),
)


def line_deltas(place: int, piece: Piece) -> Iterator[Delta]:
    for kind, key in (("thinking", "thinking"), ("text", "content")):
        text = text_at(piece.payload, "message", key)
        yield Delta(place, (("message", key),), kind, (kind,), text)  # type: ignore[arg-type]


def unfinished(payload: Any, message: Mapping[str, Any]) -> Any:
    del payload
    return {"message": message, "done": False}


LAYOUT = StreamLayout(
    deltas=line_deltas,
    error=lambda message, _code: {"error": message},
    chunk=ChunkLayout(
        holder=("message",),
        message=("message",),
        finish=("reason",),
        usage=("count",),
        text="content",
        thinking=("thinking",),
        unfinished=unfinished,
    ),
)


def line_stream() -> Stream:
    lines = [msgspec.json.encode(payload) + b"\n" for payload in PAYLOADS]
    pieces = [Piece(raw, "line", payload=p) for raw, p in zip(lines, PAYLOADS, strict=True)]
    return Stream.of(Exchange(chunks=(Chunk(b"".join(lines)),)), "lines", LAYOUT, pieces)


def mutant_bodies(name: str) -> list[bytes]:
    (operator,) = find_operators(name)
    mutants = make_mutants(operator, line_stream())
    return [mutant.exchange.body for mutant in mutants]


@pytest.mark.parametrize("name", EXPECTED)
def test_neutral_operator_acts_on_chunks_of_an_unknown_dialect(name: str) -> None:
    assert mutant_bodies(name)


@pytest.mark.parametrize("name", ["N7-split-delta", "U3-finish-twice", "X1-no-role", "E1-error"])
def test_edited_lines_are_lines_of_json(name: str) -> None:
    for body in mutant_bodies(name):
        assert body.endswith(b"\n")
        assert all(msgspec.json.decode(line) for line in body.splitlines())


@pytest.mark.parametrize("family", ["F4", "F5", "F14", "X2", "I1"])
def test_operators_on_events_leave_lines_alone(family: str) -> None:
    stream = line_stream()
    for operator in find_operators(f"{family}-*"):
        assert list(make_mutants(operator, stream)) == []


def test_without_a_layout_only_bytes_are_edited() -> None:
    stream = Stream.of(line_stream().exchange, "lines", StreamLayout(), line_stream().pieces)
    acting = {each.family for each in OPERATORS if any(True for _ in make_mutants(each, stream))}
    assert acting <= {"F", "N", "E"}
    assert "F" in acting


def test_operators_of_a_dialect_leave_others_alone() -> None:
    stream = line_stream()
    own = [each for each in OPERATORS if each.dialect]
    assert own
    assert not [each.name for each in own if list(make_mutants(each, stream))]


def test_lines_of_a_recording_stay_lines() -> None:
    chunks = (
        b'{"choices": [{"index": 0, "delta": {"content": "%s"}}]}\n' % t for t in (b"a b", b"c")
    )
    head = Response(200, headers=(("content-type", "application/x-ndjson"),))
    exchange = Exchange(response=head, chunks=tuple(Chunk(data) for data in chunks))
    stream = take_apart(exchange, "openai.chat")
    assert [piece.kind for piece in stream.pieces] == ["line", "line"]
    edited = stream.with_value(0, ("choices", 0, "delta", "content"), "d")
    assert edited.body.splitlines()[0] == b'{"choices":[{"index":0,"delta":{"content":"d"}}]}'
    assert edited.pieces[1] == stream.pieces[1]


def test_record_separators_stay() -> None:
    piece = Piece(b'\x1e{"a": 1}\n', "line", payload={"a": 1})
    assert piece.with_payload({"a": 2}).raw == b'\x1e{"a":2}\n'


def test_allowances_of_a_dialect_are_of_its_recordings() -> None:
    bases = {each.operator: each.base for each in load_allowances()}
    assert bases["I7-created-off"] == "openai.chat/*"
    assert bases["C25-no-done"] == "*/client/parallel-tools"


def test_every_operator_says_what_it_does() -> None:
    assert [each.name for each in OPERATORS if not each.says.endswith(".")] == []
    open_ended = [each for each in OPERATORS if each.must == "either"]
    assert open_ended
    assert all(each.reason for each in open_ended)


def test_docstring_of_an_edit_says_what_its_operator_does() -> None:
    table = OperatorTable()

    @table.edit("X0-none", lambda _stream: (), "either", "for this test")
    def keep_stream(stream: Stream, _site: int) -> Stream:
        """Nothing changes."""
        return stream

    expected = Operator(
        "X0-none", "Nothing changes.", table[0].sites, keep_stream, "either", "for this test"
    )
    assert table == [expected]


def test_order_of_operators_depends_on_their_names_only() -> None:
    first = [each.name for each in OPERATORS if each.family == "X"][:3]
    assert first == ["X1-no-role", "X1-no-start", "X1-role-late"]
