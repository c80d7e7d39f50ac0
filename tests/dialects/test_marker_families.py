"""The registry of markers: every one is found in text and thinking, and none where it is named."""

from __future__ import annotations

import json

import pytest

from conformance import dialects
from conformance.core.errors import SpecError
from conformance.dialects.marker_families import marker_families, marker_knobs, read_families
from conformance.judging.checker import Checker
from conformance.rules import document
from conformance.rules.patterns import regex

CHECKER = Checker("openai.chat")
TEXT_RULES = {
    "text_markers": "stripping/visible-text/no-markers",
    "call_markers": "stripping/visible-text/no-call-markers",
    "opening_words": "stripping/visible-text/no-opening-word",
}
UNMARKED = "thinking/stream/unmarked"
IN_TEXT = [
    pytest.param(rule, marker, id=f"{knob}-{marker!r}")
    for knob, rule in TEXT_RULES.items()
    for marker in marker_knobs()[knob]
]
ROW = "{family: a, models: b, source: c, seen: d, calls: [x]}"
ANSWER = {"role": "assistant", "content": "<think>"}


def failing_rules(field: str, *texts: str, prompt: object = "Go.") -> set[str]:
    """Rules that fail on these deltas, of those about markers."""
    deltas = [{"role": "assistant"}, *({field: text} for text in texts)]
    chunks = [
        f"data: {json.dumps({'choices': [{'index': 0, 'delta': delta}]})}\n\n".encode()
        for delta in deltas
    ]
    messages = prompt if isinstance(prompt, list) else [{"role": "user", "content": prompt}]
    found = CHECKER.check(chunks, request={"model": "m", "messages": messages, "stream": True})
    rules = (*TEXT_RULES.values(), "thinking/stream/no-call-markup", UNMARKED)
    return {finding.rule for finding in found.findings} & set(rules)


@pytest.mark.parametrize(("rule", "marker"), IN_TEXT)
def test_a_marker_is_found_in_text_however_it_is_cut(rule: str, marker: str) -> None:
    half = len(marker) // 2
    before = "" if rule.endswith("opening-word") else "It is so. "
    assert rule in failing_rules("content", before, marker[:half], f"{marker[half:]} And on.")


@pytest.mark.parametrize(
    "marker", [*marker_knobs()["text_markers"], *marker_knobs()["call_markers"]]
)
def test_a_marker_may_be_spoken_of(marker: str) -> None:
    assert failing_rules("content", "It is written `", marker, "` there.") == set()
    assert failing_rules("content", marker, prompt=f"What does {marker} mean?") == set()


@pytest.mark.parametrize("call", marker_knobs()["swallowed_calls"])
def test_a_call_is_found_in_thinking(call: str) -> None:
    assert failing_rules("reasoning_content", "I look.", call, "x") == {
        "thinking/stream/no-call-markup"
    }
    assert failing_rules("reasoning_content", f"I write `{call}` now.") == set()


@pytest.mark.parametrize(
    ("thought", "is_found"),
    [
        ("<thinking>I look.", True),
        ("I look.\n</thinking>\n", True),
        ("I look.<|im_end|>", True),
        ("I look for <thinking> tags.", False),
        ("A turn ends with <|im_end|>\nand another begins.", False),
        ("It is assistantcommentary", False),
    ],
)
def test_tags_count_at_the_edges_of_thinking(thought: str, is_found: bool) -> None:
    assert failing_rules("reasoning_content", thought) == ({UNMARKED} if is_found else set())


@pytest.mark.parametrize(
    ("prompt", "found"),
    [
        ("Reason in <thinking> tags.", set()),
        ("Reason in <thinking>...</thinking>.", set()),
        ("Reason in <thoughts> tags.", {UNMARKED}),
    ],
)
def test_tags_that_were_asked_for_may_be_in_the_thinking(prompt: str, found: set[str]) -> None:
    thought = ("<thinking>I ", "look.\n</think", "ing>")
    assert failing_rules("reasoning_content", *thought, prompt=prompt) == found
    assert failing_rules("reasoning_content", "I look.\n</think>", prompt=prompt) == {UNMARKED}


def test_one_tag_that_was_asked_for_hides_no_other() -> None:
    thought = "<thinking>I look.</thinking></think>"
    assert failing_rules("reasoning_content", thought, prompt="Use <thinking>.") == {UNMARKED}


def test_thinking_may_name_a_tag_and_text_a_word() -> None:
    assert failing_rules("reasoning_content", "I wrap it in <tool_call> tags, then.") == set()
    assert failing_rules("content", "A thought\nof <thought> and <reasoning>.") == set()


def test_what_the_model_said_before_excuses_nothing() -> None:
    talk = [{"role": "user", "content": "Go."}, ANSWER, {"role": "user", "content": "On."}]
    assert failing_rules("content", "<think>", prompt=talk) == {TEXT_RULES["text_markers"]}
    asked = [{"role": "system", "content": "Write <think> first."}, *talk]
    assert failing_rules("content", "<think>", prompt=asked) == set()


def test_rows_name_dialects_and_lists_repeat_nothing() -> None:
    assert {raw for each in marker_families() for raw in each.raw} <= set(dialects.SUPPORTED)
    for name in ("text_markers", "call_markers", "name_markers", "opening_words"):
        assert len(set(marker_knobs()[name])) == len(marker_knobs()[name])
    assert regex(marker_knobs()["marked_line"])("so\n</think>")


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("[{family: a, models: b, source: c, seen: d}]", "a family has at least one of"),
        ("[{family: a, models: b, source: c, seen: d, calls: []}]", "none of them blank"),
        ("[{family: a, models: b, source: c, seen: d, calls: [' ']}]", "none of them blank"),
        ("[{family: a, models: b, seen: d, calls: [x]}]", "source"),
        ("[{family: a, words: [x]}]", "unknown key 'words'"),
        (f"[{ROW}, {ROW}]", "family 'a' is listed twice"),
    ],
)
def test_a_broken_registry_is_refused(rows: str, message: str) -> None:
    with pytest.raises(SpecError, match=message):
        read_families(document.parse(f"markers: {rows}", "markers.yaml"))
