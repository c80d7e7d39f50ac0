from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("torch")

from tokenizers import Tokenizer

from reference_impl.server.engine.decoding import MOST_HELD, BlockDecoder
from tests.reference.engine_models import byte_level, ids_of, sentence_pieces

pytestmark = pytest.mark.slow

BYTES = byte_level()
PIECES = sentence_pieces()
THINK = PIECES.token_to_id("<think>")


def byte_ids(data: bytes) -> list[int]:
    return ids_of(BYTES, data)


def piece_ids(*tokens: str) -> list[int]:
    vocabulary = PIECES.get_vocab()
    return [vocabulary[token] for token in tokens]


def decode(tokenizer: Tokenizer, ids: list[int], before: int | None = None) -> list[str]:
    decoder = BlockDecoder(tokenizer, before, THINK)
    return [*(decoder.push(token) for token in ids), decoder.flush()]


TORN = st.sampled_from([b"\xe4\xb8", b"\xf0\x9f\x90", b"\xc3", b"\xff", b"\x80", b"\xed\xa0"])


@given(st.binary(max_size=60) | st.lists(TORN, max_size=20).map(b"".join))
def test_any_bytes_decode_as_a_whole(data: bytes) -> None:
    assert "".join(decode(BYTES, byte_ids(data))) == data.decode(errors="replace")


@given(st.text(st.characters(codec="utf-8"), max_size=20))
def test_characters_come_whole(text: str) -> None:
    pieces = decode(BYTES, byte_ids(text.encode()))
    assert "".join(pieces) == text
    if "\ufffd" not in text:
        assert "\ufffd" not in "".join(pieces)
        assert pieces[-1] == ""


@given(st.lists(st.sampled_from(["▁one", "▁two", "three", "<0xE4>", "<0xB8>", "<0x83>", "<0xFF>"])))
def test_invalid_bytes_of_a_piece_tokenizer_end_with_themselves(tokens: list[str]) -> None:
    ids = piece_ids(*tokens)
    text = "".join(decode(PIECES, ids, THINK))
    for word, spelt in (("▁one", " one"), ("▁two", " two"), ("three", "three")):
        assert text.count(spelt) == tokens.count(word)


def test_long_invalid_run_is_given_out_and_no_more_is_held() -> None:
    decoder = BlockDecoder(BYTES)
    text = ""
    for token in byte_ids(b"\xff" * 1000):
        text += decoder.push(token)
        assert decoder.held <= MOST_HELD
    assert text + decoder.flush() == "\ufffd" * 1000


def test_character_after_a_long_invalid_run_is_whole() -> None:
    for length in range(24):
        data = b"\xff" * length + "🐱".encode()
        assert "".join(decode(BYTES, byte_ids(data))) == data.decode(errors="replace")


def test_space_after_a_marker_is_kept() -> None:
    assert decode(PIECES, piece_ids("▁one", "▁two"), THINK) == [" one", " two", ""]


def test_space_at_the_beginning_of_an_answer_is_no_text() -> None:
    assert decode(PIECES, piece_ids("▁one", "▁two")) == ["one", " two", ""]


def test_decoder_goes_on_after_a_run_that_the_library_refuses() -> None:
    ids = piece_ids("<0xE4>", "<0xB8>", "<0x83>", "<0xFF>", "▁one", "▁one")
    assert "".join(decode(PIECES, ids)) == "七\ufffd one one"


def test_unknown_id_has_no_text() -> None:
    assert decode(BYTES, [99_999, *byte_ids(b"a")]) == ["", "a", ""]


def test_flush_tells_of_a_torn_end() -> None:
    assert decode(BYTES, byte_ids("a🐱".encode()[:-1])) == ["a", "", "", "", "\ufffd"]
