"""The page about the rule language: its examples are run, its tables are complete."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, Final

import pytest

from conformance import dialects
from conformance.rules.document import parse
from conformance.rules.forms import FORMS
from conformance.rules.load import RULE_KEYS, SOURCE_KEYS, SUITE_KEYS, read_suite
from conformance.rules.verdicts import Level, Verdict

PAGE: Final = Path(__file__).parents[2] / "docs" / "rule-language.md"
TEXT: Final = PAGE.read_text(encoding="utf-8")
BLOCK: Final = re.compile(r"^```yaml ?(\w*)(?: title=.*?)?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
BLOCKS: Final = [
    (f"line {TEXT.count(chr(10), 0, found.start()) + 2}", found[1], found[2])
    for found in BLOCK.finditer(TEXT)
]
EXAMPLES: Final = [pytest.param(text, id=name) for name, kind, text in BLOCKS if not kind]


def rows_of(events: list[Any]) -> list[tuple[Any, ...]]:
    """`type` or `{type: data}`, each a frame of its own; `ms` in the data is its time."""
    rows: list[tuple[Any, ...]] = []
    for number, event in enumerate(events, 1):
        ((kind, data),) = event.items() if isinstance(event, dict) else ((event, {}),)
        rows.append((number, "semantic", kind, data, data.get("ms")))
    return rows


@pytest.mark.parametrize("text", EXAMPLES)
def test_example_keeps_and_breaks_as_it_says(text: str, run_rules: Any) -> None:
    rule = parse(text, PAGE.name).plain()
    keeps, breaks = rule.pop("keeps"), rule.pop("breaks")
    events = rule.pop("events", {})
    stated = {"clock": "timing" in rule}

    kept, broken = (
        run_rules({"rule": rule}, rows_of(stream), stated, events, neutral=True)[0]
        for stream in (keeps, breaks)
    )
    assert (kept.verdict, broken.verdict) == (Verdict.PASS, Verdict.FAIL)


def common(rule: dict[str, Any]) -> str:
    """A suite of one rule, around an example that is no rule by itself."""
    filled = {"level": "MUST", "says": "So.", "source": {"advice": "here"}, "since": "0.1.0"}
    rules = [{"id": "one", **filled, **rule}]
    return json.dumps({"suite": "page", "dialect": "anthropic.messages", "rules": rules})


def test_whole_suite_and_partial_examples_load() -> None:
    kinds = {kind: text for _, kind, text in BLOCKS if kind}
    suite = read_suite(parse(kinds["suite"], PAGE.name), lambda d: dialects.get(d).vocabulary)
    assert [rule.id for rule in suite.rules] == ["own/answers/role-once"]
    partial = {
        **parse(kinds["compare"], PAGE.name).plain(),
        **parse(kinds["applies"], PAGE.name).plain(),
    }
    rule = read_suite(
        parse(common(partial), PAGE.name), lambda d: dialects.get(d).vocabulary
    ).rules[0]
    assert rule.applies.request
    assert rule.applies.response


def test_every_form_has_an_example() -> None:
    used = {
        form
        for _, _, text in BLOCKS
        for form in FORMS
        if re.search(rf"^{form}:", text, re.MULTILINE)
    }
    assert used == set(FORMS)


def test_every_word_of_the_language_is_on_the_page() -> None:
    words = {*SUITE_KEYS, *RULE_KEYS, *SOURCE_KEYS, *Level, *Verdict}
    assert [word for word in sorted(words) if not re.search(rf"\b{re.escape(word)}\b", TEXT)] == []


def test_sentences_stand_on_lines_of_their_own() -> None:
    prose = BLOCK.sub("", TEXT).splitlines()
    plain = [re.sub(r"`[^`]*`", "x", line) for line in prose if not line.startswith("|")]
    assert [line for line in plain if re.search(r"[.!?] +[A-Z]", line)] == []
