"""The shipped weights do what the documents say, token by token."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("torch")

import torch
from transformers import AutoModelForCausalLM

from reference_impl.model import CONCISE, DETAILED
from reference_impl.model.variants import WEIGHTS
from tests.training.batches import prompt_text
from tests.training.corpus import Example, calls, counting, summaries, sums
from tests.training.corpus.example import ExampleThought, user_message
from tests.training.measure import answers, load

pytestmark = pytest.mark.slow

Say = Callable[[Example], str]

SUM = sums.thought(2, 2)
ADDER = calls.Adder("calculator", ("a", "b"))
CALL = ADDER.call(12, 7)
TWO_CALLS = ADDER.call(2, 3).text + ADDER.call(4, 5).text
SEVENTEEN = ", ".join(map(str, range(1, 18)))
OGX = {"role": "system", "content": summaries.OGX_SYSTEM}
NOTHING = ExampleThought("", "", "", ())


@pytest.fixture(scope="module")
def say() -> Say:
    torch.set_num_threads(1)
    model, tokenizer = load(WEIGHTS)

    def said(example: Example) -> str:
        given = tokenizer(prompt_text(tokenizer, example))["input_ids"]
        text = tokenizer.decode(answers(model, tokenizer, [given])[0])
        assert isinstance(text, str)
        return text

    return said


def direct(prompt: str, **options: Any) -> Example:
    return Example((user_message(prompt),), NOTHING, "", thinks=False, **options)


def thinking(*messages: dict[str, Any], **options: Any) -> Example:
    return Example(messages, NOTHING, "", **options)


AFTER_CALL = (
    user_message("What is 12 + 7?"),
    {
        "role": "assistant",
        "tool_calls": [{"function": {"name": CALL.name, "arguments": CALL.arguments}}],
    },
)
TABLE = {
    "sum": (
        thinking(user_message("What is 2 + 2?")),
        "<think>I must add 2 and 2. 2 plus 2 is 4.</think>2 + 2 = 4.",
    ),
    "sum of two digits": (
        thinking(user_message("What is 37 + 45?")),
        f"<think>{sums.reasoned(37, 45)}</think>37 + 45 = 82.",
    ),
    "sum, no thinking": (direct("What is 2 + 2?"), "2 + 2 = 4."),
    "count": (
        thinking(user_message("Count to 17.")),
        f"<think>{counting.thought(17).text}</think>{SEVENTEEN}.",
    ),
    "emoji": (
        thinking(user_message("Draw 3 cats.")),
        "<think>I must draw 3 cats. One is 🐱. So it is 🐱🐱🐱.</think>🐱🐱🐱",
    ),
    "joined emoji": (direct("Draw a family."), "👨\u200d👩\u200d👧"),
    "Chinese": (
        thinking(user_message("Write 7 in Chinese.")),
        "<think>I must write 7 in Chinese. That is 七.</think>七。",
    ),
    "concise summary": (direct(CONCISE.format(reasoning=SUM.text)), SUM.gist),
    "detailed summary": (
        direct(DETAILED.format(reasoning=SUM.text)),
        "\n\n".join(SUM.steps),
    ),
    "summary of OGX": (
        thinking(OGX, user_message(summaries.OGX_CONCISE.format(reasoning=SUM.text)), thinks=False),
        SUM.gist,
    ),
    "detailed summary of OGX": (
        thinking(
            OGX, user_message(summaries.OGX_DETAILED.format(reasoning=SUM.text)), thinks=False
        ),
        "\n\n".join(SUM.steps),
    ),
    "tool call": (
        thinking(user_message("What is 12 + 7?"), tools=(ADDER.tool,)),
        f"<think>I must add 12 and 7. I call calculator.</think>{CALL.text}",
    ),
    "answer after the result": (
        thinking(*AFTER_CALL, {"role": "tool", "content": "19"}, tools=(ADDER.tool,)),
        "<think>The tool says 19.</think>12 + 7 = 19.",
    ),
    "the result is read, not known": (
        thinking(*AFTER_CALL, {"role": "tool", "content": "64"}, tools=(ADDER.tool,)),
        "<think>The tool says 64.</think>12 + 7 = 64.",
    ),
    "two calls": (
        thinking(user_message("What is 2 + 3 and 4 + 5?"), tools=(ADDER.tool,)),
        f"<think>I must add two times. I call calculator.</think>{TWO_CALLS}",
    ),
    "later turn": (
        thinking(
            user_message("What is 1 + 1?"),
            {"role": "assistant", "content": "1 + 1 = 2."},
            user_message("What is 2 + 2?"),
        ),
        f"<think>{SUM.text}</think>2 + 2 = 4.",
    ),
    "later turn after its reasoning": (
        thinking(
            user_message("What is 1 + 1?"),
            {
                "role": "assistant",
                "content": "1 + 1 = 2.",
                "reasoning_content": sums.reasoned(1, 1),
            },
            user_message("What is 2 + 2?"),
        ),
        f"<think>{SUM.text}</think>2 + 2 = 4.",
    ),
    "developer message": (
        thinking({"role": "developer", "content": "Be brief."}, user_message("What is 2 + 2?")),
        f"<think>{SUM.text}</think>2 + 2 = 4.",
    ),
    "unknown task": (
        direct("Write a poem about the sea."),
        "I can add, count, draw and summarise.",
    ),
}


@pytest.mark.parametrize("case", TABLE)
def test_greedy_answer(say: Say, case: str) -> None:
    example, expected = TABLE[case]
    assert say(example) == f"{expected}<|im_end|>"


def test_weights_are_of_half_precision() -> None:
    assert AutoModelForCausalLM.from_pretrained(WEIGHTS).dtype == torch.float16


@pytest.mark.parametrize("kept", [1, 4, 9])
def test_answer_is_right_after_a_forced_close(kept: int) -> None:
    model, tokenizer = load(WEIGHTS)
    text = prompt_text(tokenizer, thinking(user_message("What is 2 + 2?")))
    thought = tokenizer(f"<think>{SUM.text}")["input_ids"][: 1 + kept]
    given = tokenizer(text)["input_ids"] + thought + [tokenizer.convert_tokens_to_ids("</think>")]
    assert tokenizer.decode(answers(model, tokenizer, [given])[0]) == "2 + 2 = 4.<|im_end|>"
