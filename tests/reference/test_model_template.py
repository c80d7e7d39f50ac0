"""The chat template renders what clients send, in every variant."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("torch")

from transformers import AutoTokenizer

from reference_impl.model.markers import TEMPLATE_FILE, VARIANTS, template
from reference_impl.model.variants import WEIGHTS

pytestmark = pytest.mark.slow

USER = {"role": "user", "content": "What is 2 + 2?"}
ASKED = "<|im_start|>user\nWhat is 2 + 2?<|im_end|>\n"
ADD = {"name": "add", "parameters": {"properties": {"a": {}, "b": {}}}}
CALL = {"name": "add", "arguments": {"a": 2, "b": 2}}
CALLED = '<tool_call>{"name": "add", "arguments": {"a": 2, "b": 2}}</tool_call>'
RAW = '<tool_call>{"name": "add", "arguments": {"a":2}}</tool_call>'

Case = tuple[list[dict[str, Any]], str]
TABLE: dict[str, Case] = {
    "user": ([USER], ASKED),
    "system": (
        [{"role": "system", "content": "Be brief."}, USER],
        "<|im_start|>system\nBe brief.<|im_end|>\n" + ASKED,
    ),
    "developer is system": (
        [{"role": "developer", "content": "Be brief."}, USER],
        "<|im_start|>system\nBe brief.<|im_end|>\n" + ASKED,
    ),
    "system later": (
        [USER, {"role": "developer", "content": "Be brief."}],
        ASKED + "<|im_start|>system\nBe brief.<|im_end|>\n",
    ),
    "parts": (
        [
            {
                "role": "user",
                "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}],
            }
        ],
        "<|im_start|>user\nab<|im_end|>\n",
    ),
    "a part without text": (
        [{"role": "user", "content": [{"type": "image_url", "image_url": {}}]}],
        "<|im_start|>user\n<|im_end|>\n",
    ),
    "null content": (
        [{"role": "assistant", "content": None, "tool_calls": [{"function": CALL}]}],
        f"<|im_start|>assistant\n{CALLED}<|im_end|>\n",
    ),
    "arguments as text": (
        [{"role": "assistant", "tool_calls": [{"function": {**CALL, "arguments": '{"a":2}'}}]}],
        f"<|im_start|>assistant\n{RAW}<|im_end|>\n",
    ),
    "call without function": (
        [{"role": "assistant", "tool_calls": [CALL, CALL]}],
        f"<|im_start|>assistant\n{CALLED}{CALLED}<|im_end|>\n",
    ),
    "reasoning_content": (
        [{"role": "assistant", "content": "4.", "reasoning_content": "So."}],
        "<|im_start|>assistant\n<think>So.</think>4.<|im_end|>\n",
    ),
    "reasoning": (
        [{"role": "assistant", "content": "4.", "reasoning": "So."}],
        "<|im_start|>assistant\n<think>So.</think>4.<|im_end|>\n",
    ),
    "reasoning of a user": ([{**USER, "reasoning_content": "So."}], ASKED),
    "null reasoning": (
        [{"role": "assistant", "content": "4.", "reasoning_content": None}],
        "<|im_start|>assistant\n4.<|im_end|>\n",
    ),
    "result": (
        [{"role": "tool", "tool_call_id": "c", "content": "4"}],
        "<|im_start|>tool\n4<|im_end|>\n",
    ),
}


@pytest.fixture(scope="module")
def tokenizer() -> Any:
    return AutoTokenizer.from_pretrained(WEIGHTS)


def render(tokenizer: Any, messages: list[dict[str, Any]], **options: Any) -> str:
    text = tokenizer.apply_chat_template(messages, tokenize=False, **options)
    assert isinstance(text, str)
    return text


@pytest.mark.parametrize("case", TABLE)
def test_messages(tokenizer: Any, case: str) -> None:
    messages, expected = TABLE[case]
    assert render(tokenizer, messages) == expected


@pytest.mark.parametrize(
    "tool",
    [ADD, {"type": "function", "function": ADD}, {"type": "function", **ADD}],
    ids=["bare", "chat", "responses"],
)
def test_tools_stand_in_the_system_message(tokenizer: Any, tool: dict[str, Any]) -> None:
    messages = [{"role": "system", "content": "Be brief."}, USER]
    expected = "<|im_start|>system\nBe brief.\nTools:\nadd(a, b)<|im_end|>\n" + ASKED
    assert render(tokenizer, messages, tools=[tool]) == expected


def test_tools_without_system_message_or_parameters(tokenizer: Any) -> None:
    expected = "<|im_start|>system\nTools:\nnow()\nadd(a, b)<|im_end|>\n" + ASKED
    assert render(tokenizer, [USER], tools=[{"name": "now"}, ADD]) == expected


@pytest.mark.parametrize(
    ("variant", "opened", "closed"),
    [
        ("think", "", "<think></think>"),
        ("bracket", "", "[THINK][/THINK]"),
        ("plain", "", "Working: \nAnswer: "),
        ("prompt-opened", "<think>", "<think></think>"),
    ],
)
def test_generation_prompt(tokenizer: Any, variant: str, opened: str, closed: str) -> None:
    options = {"chat_template": template(VARIANTS[variant]), "add_generation_prompt": True}
    start = f"{ASKED}<|im_start|>assistant\n"
    assert render(tokenizer, [USER], **options) == start + opened
    assert render(tokenizer, [USER], enable_thinking=True, **options) == start + opened
    assert render(tokenizer, [USER], enable_thinking=False, **options) == start + closed


def test_shipped_template_is_that_of_the_package() -> None:
    shipped = (WEIGHTS / TEMPLATE_FILE).read_text(encoding="utf-8")
    assert shipped == template(VARIANTS["think"])
