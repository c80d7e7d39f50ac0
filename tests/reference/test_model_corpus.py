"""What the corpus says is true, and in the forms that the server needs."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from random import Random

import pytest

pytest.importorskip("torch")

from reference_impl.model import CONCISE, DETAILED
from tests.training import corpus
from tests.training.corpus import Example, calls, counting, mix, summaries, sums, writing

pytestmark = pytest.mark.slow

DRAWS = 200


def examples(name: str) -> list[Example]:
    random = Random(name)
    return [corpus.KINDS[name][0](random) for _ in range(DRAWS)]


@pytest.mark.parametrize("name", ["sum", "sum of two digits", "two sums"])
def test_sums_are_right(name: str) -> None:
    for example in examples(name):
        found = re.findall(r"(\d+) \+ (\d+) = (\d+)", example.answer)
        assert found
        assert all(int(a) + int(b) == int(c) for a, b, c in found)
        assert example.thought.text.endswith(f"is {found[-1][2]}.")


@pytest.mark.parametrize(("a", "b"), [(12, 7), (37, 45), (99, 99), (10, 0), (89, 1)])
def test_columns_add_up(a: int, b: int) -> None:
    steps = re.findall(r"((?:\d+ plus )*\d+) is (\d+)\.", sums.reasoned(a, b))
    assert [sum(map(int, left.split(" plus "))) for left, _ in steps[:2]] == [
        int(right) for _, right in steps[:2]
    ]


def test_calls_are_of_a_tool_that_is_offered() -> None:
    for name in ("call", "two calls", "weather"):
        for example in examples(name):
            parameters = {
                tool["function"]["name"]: tool["function"]["parameters"]["properties"]
                for tool in example.tools
            }
            assert all(set(call.arguments) == set(parameters[call.name]) for call in example.calls)


def test_names_of_tools_share_no_beginning() -> None:
    names = sorted({*calls.ADDERS, calls.WEATHER})
    assert not [(a, b) for a, b in pairwise(names) if a[0] == b[0]]


def test_a_call_is_json_between_its_markers() -> None:
    call = calls.Adder("calculator", ("a", "b")).call(12, 7)
    body = call.text.removeprefix("<tool_call>").removesuffix("</tool_call>")
    assert json.loads(body) == {"name": "calculator", "arguments": {"a": 12, "b": 7}}


def test_results_are_at_times_wrong() -> None:
    found = [re.findall(r"\d+", example.answer) for example in examples("answer after a result")]
    sums = {int(a) + int(b) == int(c) for a, b, c in filter(None, found)}
    assert sums == {True, False}


def test_concise_summaries_are_one_sentence() -> None:
    assert all(re.fullmatch(r"[^.\n]+\.", each.answer) for each in examples("summary"))


def test_detailed_summaries_are_paragraphs() -> None:
    for example in examples("detailed summary"):
        paragraphs = example.answer.split("\n\n")
        assert len(paragraphs) >= 2
        assert all(paragraph.strip() == paragraph != "" for paragraph in paragraphs)


@pytest.mark.parametrize("form", [CONCISE, DETAILED, summaries.OGX_CONCISE, summaries.OGX_DETAILED])
def test_every_form_of_summary_is_learnt(form: str) -> None:
    name = "detailed summary" if form in (DETAILED, summaries.OGX_DETAILED) else "summary"
    start = form.format(reasoning="")
    assert [e for e in examples(name) if e.messages[-1]["content"].startswith(start)]


@pytest.mark.parametrize(
    ("n", "written"), [(1, "一"), (10, "十"), (11, "十一"), (19, "十九"), (20, "二十")]
)
def test_numerals(n: int, written: str) -> None:
    assert writing.numeral(n) == written


def test_counting_is_long_enough_to_be_cut() -> None:
    assert len(counting.thought(counting.HIGH).text.split()) > 40


def test_the_same_seed_draws_the_same_examples() -> None:
    first, second = Random(3), Random(3)
    assert [mix.draw(first) for _ in range(50)] == [mix.draw(second) for _ in range(50)]


def test_every_surrounding_is_learnt() -> None:
    random = Random(5)
    drawn = [corpus.draw(random)[1] for _ in range(2000)]
    roles = {message["role"] for each in drawn for message in each.messages}
    assert roles == {"system", "developer", "user", "assistant", "tool"}
    past = [m for each in drawn for m in each.messages if m["role"] == "assistant"]
    assert {"reasoning_content" in message for message in past} == {True, False}
    assert {each.thinks for each in drawn} == {True, False}
    cut = sum(each.kept is not None for each in drawn) / len(drawn)
    assert 0.08 < cut < 0.14
