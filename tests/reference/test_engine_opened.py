from __future__ import annotations

import pytest

pytest.importorskip("torch")

from reference_impl.server.engine.markers import Markers
from reference_impl.server.engine.prompting import Render, opens_thinking
from tests.reference.engine_models import THINK, byte_level

pytestmark = pytest.mark.slow

TOKENIZER = byte_level()
MARKERS = Markers(*THINK, *(TOKENIZER.get_vocab()[token] for token in THINK))


def encode(text: str) -> list[int]:
    return list(TOKENIZER.encode(text, add_special_tokens=False).ids)


def template(conversation: str, beginning: str) -> Render:
    return lambda begin: conversation + (beginning if begin else "")


@pytest.mark.parametrize(
    ("beginning", "opened"),
    [
        ("assistant\n<think>\n", True),
        ("assistant\n<think>", True),
        ("assistant\n<think>\n\n</think>\n\n", False),
        ("assistant\n<think></think><think>", True),
        ("assistant\n", False),
        ("", False),
        ("</think>", False),
    ],
)
@pytest.mark.parametrize("user", ["hi", "say <think>", "<think>a</think>", "</think>"])
def test_last_marker_of_the_beginning_counts(user: str, beginning: str, opened: bool) -> None:
    assert opens_thinking(encode, MARKERS, template(user, beginning)) is opened


def test_without_markers_nothing_opens() -> None:
    assert not opens_thinking(encode, None, template("hi", "<think>"))


def test_next_conversation_is_asked_where_the_first_does_not_show_the_beginning() -> None:
    def uneven(begin: bool) -> str:
        return "shortened <think>" if begin else "whole history"

    assert opens_thinking(encode, MARKERS, uneven, template("a", "<think>"))
    assert not opens_thinking(encode, MARKERS, uneven, uneven)
