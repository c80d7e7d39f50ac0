"""A template takes exactly what the SSE parser and the JSON decoder would read, or nothing."""

from __future__ import annotations

from random import Random
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.core.events import Frame
from conformance.core.json_values import NOT_JSON, decode_json, repeated_key
from conformance.core.sse import Parser
from conformance.dialects import get
from conformance.dialects.base import Reading
from conformance.judging.fast.template import Template, frames_end, template
from conformance.rules.paths import getter
from tests.fuzz.dialogues import DIALECTS, Piece, stream
from tests.fuzz.perturbations import HOSTILE, NUMBERS, PERTURBATIONS, raw

TEXTS: Final = [" so", " the", "\u8c46", '"', "\\", "\n\n", ":", '" : "', '\\"', ": \\"] * 4


def run(dialect: str, *, padded: bool) -> list[Piece]:
    """Deltas of text that belong to one run."""
    seeds = (Random(seed) for seed in range(99))
    drawn = (
        [p for p in stream(dialect, [], TEXTS, s) if '"signature' not in p.text] for s in seeds
    )
    pieces = next(d for d in drawn if padded == any("obfuscation" in p.text for p in d))
    found = [piece for piece in pieces if piece.is_delta]
    assert len(found) == len(TEXTS)
    return found


def template_of(dialect: str, piece: Piece) -> Template:
    payload = decode_json(piece.text)
    columns = get(dialect).columns(payload, Reading())
    assert columns is not None
    found = template(piece.name or None, piece.text, payload, columns.paths)
    assert found is not None
    return found


def read(data: bytes) -> list[Frame]:
    """The frames that the parser makes of these bytes; unfinished ones among them."""
    parser = Parser()
    return [*parser.feed(data), *parser.close()]


def values(frame: Frame, path: str) -> Any:
    return getter(path)(decode_json(frame.data))


def agrees(made: Template, first: Piece, data: bytes) -> int:
    """Holds what a template takes off `data` against the parser; how many frames it took."""
    taken = made.take(data, 0)
    if taken is None:
        return 0
    frames = read(data[: taken.size])
    assert [f.kind for f in frames] == ["event"] * len(taken.rows), "other frames"
    assert {(f.event, f.named) for f in frames} == {(first.name or "message", bool(first.name))}
    assert {type(decode_json(f.data)) for f in frames} == {dict}, "no JSON"
    assert not any(repeated_key(f.data, decode_json(f.data)) for f in frames), "a key twice"
    for path, column in zip(made.columns, taken.values, strict=True):
        assert [values(f, path) for f in frames] == column
        assert all(type(values(f, path)) is type(v) for f, v in zip(frames, column, strict=True))
    assert [made.data(row).decode() for row in taken.rows] == [f.data for f in frames]
    rest = [{**decode_json(f.data)} for f in frames]
    assert all(_but(made, payload) == _but(made, first.payload) for payload in rest)
    return len(frames)


def _but(made: Template, payload: Any) -> Any:
    """A payload less its columns."""
    for path in made.columns:
        *above, name = path.split(".")
        owner = getter(".".join(above))(payload) if above else payload
        owner.pop(name)
    return payload


CASES: Final = [
    *((dialect, False) for dialect in DIALECTS),
    *((dialect, True) for dialect in DIALECTS[:2]),
]


@pytest.mark.parametrize(("dialect", "padded"), CASES)
def test_a_run_is_taken_whole(dialect: str, padded: bool) -> None:
    pieces = run(dialect, padded=padded)
    data = b"".join(piece.encode() for piece in pieces)
    made = template_of(dialect, pieces[0])
    assert agrees(made, pieces[0], data) == len(pieces)
    taken = made.take(data, 0)
    assert taken is not None
    assert taken.size == len(data)


@pytest.mark.parametrize(("dialect", "padded"), CASES)
def test_of_a_run_cut_anywhere_whole_frames_are_taken(dialect: str, padded: bool) -> None:
    pieces = run(dialect, padded=padded)[:3]
    data = b"".join(piece.encode() for piece in pieces)
    made = template_of(dialect, pieces[0])
    ends = [len(b"".join(p.encode() for p in pieces[:n])) for n in range(1, 4)]
    for at in range(len(data) + 1):
        assert agrees(made, pieces[0], data[:at]) == sum(end <= at for end in ends)


@pytest.mark.parametrize("name", PERTURBATIONS)
@pytest.mark.parametrize(("dialect", "padded"), CASES)
def test_what_went_wrong_is_not_taken(dialect: str, padded: bool, name: str) -> None:
    pieces = run(dialect, padded=padded)
    made = template_of(dialect, pieces[0])
    for seed in range(20):
        for at in (0, 5, len(pieces) - 1):
            bad = PERTURBATIONS[name](pieces[at], Random(seed))
            before, after = pieces[:at], pieces[at + 1 :]
            data = b"".join([*(p.encode() for p in before), bad, *(p.encode() for p in after)])
            agrees(made, pieces[0], data)


@pytest.mark.parametrize("hole", HOSTILE)
@pytest.mark.parametrize(("dialect", "padded"), CASES)
def test_a_hole_holds_one_string_and_no_more(dialect: str, padded: bool, hole: str) -> None:
    pieces = run(dialect, padded=padded)
    made = template_of(dialect, pieces[0])
    bad = raw(pieces[3], hole)
    for around in (b"", pieces[4].encode(), b"event: x\n\n"):
        agrees(made, pieces[0], bad + around)
        agrees(made, pieces[0], pieces[2].encode() + bad + around)


def test_two_broken_frames_do_not_mend_each_other() -> None:
    pieces = run("openai.chat", padded=True)
    made = template_of("openai.chat", pieces[0])
    piece = '},"logprobs":null,"finish_reason":null}],"obfuscation":'
    head, hole, tail = pieces[3].encode().partition(piece.encode())
    assert hole
    three = head + hole + b'"x"' + hole + tail
    one = head + b"}\n\n"
    for data in (three + one, one + three):
        agrees(made, pieces[0], data)
        agrees(made, pieces[0], data + pieces[4].encode())


def test_a_frame_of_several_data_lines_has_no_template_without_them() -> None:
    pieces = run("anthropic.messages", padded=False)
    text = pieces[0].text.replace('{"type"', '{\n"type"', 1)
    made = template(pieces[0].name, text, decode_json(text), ["delta.text"])
    if made is not None:
        stray = pieces[0].encode().replace(b'{"type"', b'{\n"type"', 1)
        assert made.take(stray * 2, 0) is None


TOKENS: Final = (
    *('"', "\\", ",", ":", "{", "}", "[", "]", "\n", "\r", "\t", " ", "a", "1", "\u2028"),
    *("data: ", "\n\n", "}\n\n", '"delta"', '"text"', '"obfuscation"', "\\u0000", "\\ud83d"),
    *(*HOSTILE, *NUMBERS),
)
fragments = st.lists(st.sampled_from(TOKENS), max_size=8).map("".join)


@pytest.mark.parametrize(("dialect", "padded"), CASES)
@settings(deadline=None, derandomize=True, max_examples=150)
@given(holes=st.lists(fragments | st.text(max_size=3).map(lambda t: f'"{t}"'), max_size=4))
def test_holes_of_any_bytes(dialect: str, padded: bool, holes: list[str]) -> None:
    pieces = run(dialect, padded=padded)
    made = template_of(dialect, pieces[0])
    bad = [raw(piece, hole) for piece, hole in zip(pieces[1:], holes, strict=False)]
    agrees(made, pieces[0], b"".join(bad))
    agrees(made, pieces[0], pieces[0].encode() + b"".join(bad) + pieces[9].encode())


@pytest.mark.parametrize(("dialect", "padded"), CASES)
@settings(deadline=None, derandomize=True, max_examples=150)
@given(edits=st.lists(st.tuples(st.integers(0, 2000), st.integers(0, 3), fragments), max_size=3))
def test_edits_anywhere(dialect: str, padded: bool, edits: list[tuple[int, int, str]]) -> None:
    pieces = run(dialect, padded=padded)
    made = template_of(dialect, pieces[0])
    data = bytearray(b"".join(piece.encode() for piece in pieces[:6]))
    for place, length, new in edits:
        at = place % len(data)
        data[at : at + length] = new.encode("utf-8", "surrogatepass")
    agrees(made, pieces[0], bytes(data))


@pytest.mark.parametrize("number", NUMBERS)
def test_numbers_that_are_no_plain_digits(number: str) -> None:
    pieces = run("openai.responses", padded=True)
    made = template_of("openai.responses", pieces[0])
    old = f'"sequence_number":{pieces[3].payload["sequence_number"]}'
    bad = pieces[3].encode().replace(old.encode(), f'"sequence_number":{number}'.encode())
    agrees(made, pieces[0], pieces[2].encode() + bad + pieces[4].encode())


def test_what_is_no_delta_of_one_line_is_no_template() -> None:
    assert decode_json("[1") is NOT_JSON
    assert template(None, '{"a":1.5}', {"a": 1.5}, ["a"]) is None
    assert template(None, '{"a":null}', {"a": None}, ["a"]) is None
    assert template(None, '{"a":"b"}', {"a": "b"}, ["c"]) is None
    assert template(None, '{"a":"b"}', {"a": "b"}, []) is None


@pytest.mark.parametrize("text", ["a", ":", '\\"', "\\\\", '\\\\\\":'])
@pytest.mark.parametrize("again", ['"n":7,', '"type":"t",', '"n" : 7,', '"delta":"x",'])
def test_a_row_that_has_a_key_twice_is_not_taken(text: str, again: str) -> None:
    def frame(number: int, more: str = "") -> bytes:
        data = f'{{"n":{number},"type":"t",{more}"delta":"{text}"}}'
        return f"data: {data}\n\n".encode()

    first = Parser().feed(frame(0))[0]
    made = template(None, first.data, decode_json(first.data), ("n", "delta"))
    assert made is not None
    alike = frame(1) + frame(2)
    taken = made.take(alike, 0)
    assert taken is not None
    assert len(taken.rows) == 2
    assert made.take(alike + frame(3, again) + frame(4), 0) is None


@pytest.mark.parametrize(
    ("constant", "other"),
    [("[]", "[1]"), ("[]", "[ ]"), ("{}", "[]"), ("true", "1"), ("1.5", "1.50"), ("[1]", "[true]")],
)
def test_constants_of_any_type_are_held_against_the_first(constant: str, other: str) -> None:
    def frame(number: int, logprobs: str) -> bytes:
        return Piece(
            f'{{"type":"response.output_text.delta","sequence_number":{number},'
            f'"logprobs":{logprobs},"delta":"a{number}"}}',
            "response.output_text.delta",
        ).encode()

    first = Parser().feed(frame(0, constant))[0]
    made = template(first.event, first.data, decode_json(first.data), ("sequence_number", "delta"))
    assert made is not None
    taken = made.take(frame(1, constant) + frame(2, constant), 0)
    assert taken is not None
    assert taken.values == ([1, 2], ["a1", "a2"])
    assert made.take(frame(1, constant) + frame(2, other), 0) is None


@pytest.mark.parametrize(
    ("buffer", "at", "end"),
    [
        (b"data: a\n\ndata: b\n\n", 0, 9),
        (b"data: a\n\n\n\n\ndata: b", 0, 9),
        (b"data: a\n\n\n\n\ndata: b", 9, 12),
        (b"\n\n\n", 0, 3),
        (b"\ndata: a\n\n", 0, 10),
        (b"data: a\n", 0, 8),
    ],
)
def test_many_blank_lines_are_one_step(buffer: bytes, at: int, end: int) -> None:
    assert frames_end(buffer, at) == end


@pytest.mark.parametrize("key", ["outpu\\t_index", "a\\\\b", 'a\\"b', "\\u0001", "\\u00e9", ""])
def test_keys_that_have_to_be_escaped_end_nothing_but_the_run(key: str) -> None:
    def frame(number: int) -> bytes:
        return f'data: {{"delta":"a{number}","{key}":0,"n":{number}}}\n\n'.encode()

    first = Parser().feed(frame(0))[0]
    made = template(None, first.data, decode_json(first.data), ("n", "delta"))
    if made is not None:
        taken = made.take(frame(1) + frame(2), 0)
        assert taken is not None
        assert taken.values == (["a1", "a2"], [1, 2])
