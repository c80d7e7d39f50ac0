"""The tokenizer gives back what it was given, and splits what must be split."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("torch")

from transformers import AutoTokenizer

from reference_impl.model.variants import WEIGHTS
from tests.training import train
from tests.training.architecture import SIZE
from tests.training.corpus.writing import FAMILY, NUMERALS, THINGS

pytestmark = pytest.mark.slow

TOKENIZER: Any = AutoTokenizer.from_pretrained(WEIGHTS)


@given(st.text())
def test_any_text_comes_back(text: str) -> None:
    assert TOKENIZER.decode(TOKENIZER(text)["input_ids"]) == text


@pytest.mark.parametrize("text", [*THINGS.values(), *NUMERALS, FAMILY])
def test_other_scripts_take_a_token_a_byte(text: str) -> None:
    assert len(TOKENIZER(text)["input_ids"]) == len(text.encode())


def test_digits_are_single() -> None:
    assert len(TOKENIZER("1234567890")["input_ids"]) == 10


@pytest.mark.parametrize("text", ["<think>", "</think>", "<tool_call>", "</tool_call>"])
def test_markers_are_added_but_not_special(text: str) -> None:
    assert len(TOKENIZER(text)["input_ids"]) == 1
    assert TOKENIZER.decode(TOKENIZER(text)["input_ids"], skip_special_tokens=True) == text


def test_size() -> None:
    assert len(TOKENIZER) == SIZE


def test_the_script_writes_the_shipped_tokenizer(tmp_path: Any) -> None:
    train.write_tokenizer(tmp_path)
    for path in tmp_path.iterdir():
        assert path.read_bytes() == (WEIGHTS / path.name).read_bytes(), path.name
