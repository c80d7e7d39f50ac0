from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from conformance.core import shipped
from conformance.core.events import Vocabulary
from conformance.linting import lint_paths
from conformance.rules import document
from conformance.rules.lint import Known, Problem, lint_suite, lint_together
from conformance.rules.load import read_suite

VOCABULARY = Vocabulary("d", frozenset({"item.added", "item.done", "item.delta", "error"}))
KNOBS: Mapping[str, Mapping[str, tuple[Any, ...]]] = {
    "d": {"carrier": ("events", "item"), "overlap": (False, True), "mask": ()},
    "e": {"mask": ()},
}
KNOWN = Known(lambda _name: VOCABULARY, KNOBS, "0.2.0")

RULE = {
    "id": "a",
    "level": "MUST",
    "says": "It is so.",
    "source": "{breaks: a client}",
    "since": "0.1.0",
    "slice": "[choice]",
}


def text(head: str = "", dialect: str = "dialect: d\n", **changes: str) -> str:
    """A suite of one rule; every value is YAML."""
    is_absence = "never" in changes and not changes.keys() & {"after", "until"}
    subject = {"subject": "finish"} if is_absence else {}
    keys = {key: value for key, value in {**RULE, **subject, **changes}.items() if value}
    lines = "".join(f"    {key}: {value}\n" for key, value in keys.items())
    return f"suite: own/x\n{dialect}{head}rules:\n  -\n{lines}"


def linted(source: str) -> list[Problem]:
    root = document.parse(source, "own.yaml")
    return lint_suite(read_suite(root, KNOWN.vocabularies), root, KNOWN)


SOUND: list[dict[str, str]] = [
    {"never": "thinking.delta", "after": "finish"},
    {"never": "item.delta", "slice": "", "grammar": ""},
    {"slice": "", "grammar": '"item.added item.delta* item.done"'},
    {"never": "thinking.start", "after": "thinking.start", "applies": "{view: client}"},
    {"never": "item.done", "slice": "", "applies": "{profile: {carrier: [events, item]}}"},
    {"never": "item.done", "slice": "", "applies": "{profile: {carrier: {not: item}}}"},
    {"never": "item.done", "slice": "", "applies": "{profile: {promises.x: true}}"},
    {"never": "item.done", "slice": "", "hint": "See knob overlap."},
    {
        "slice": "",
        "fold": (
            "{over: item.done, take: item, with: list, minus: $mask,"
            " equals: {in: item.added, path: x}}"
        ),
    },
    {"values": "{of: tool.start, path: index, are: contiguous, start: 0}"},
    {"head": "events:\n  shut: {type: thinking.end, explicit: false}\n", "never": "shut"},
    {"never": "done", "source": '{spec: https://x, quote: "It MUST."}'},
    {"never": "done", "source": "{observed: 30 of 30 streams}"},
    {"never": "done", "source": '{observed: "154 of 155 streams; xAI leaves it out"}'},
    {"never": "done", "source": '{observed: "1,000 recorded streams, no exception"}'},
    {"never": "done", "source": "{observed: 2 of 2 streams}", "level": "SHOULD"},
    {"dialect": "", "fold": "{over: text.delta, take: text, lacks: $mask}"},
]

# What is written, how grave it is, and what is told.
FAULTS: list[tuple[dict[str, str], str, str]] = [
    ({"says": "x" * 70 + "."}, "error", "says has 71 characters, at most 70"),
    ({"says": "It is so"}, "error", "says ends with a full stop"),
    ({"never": "item.done", "subject": ""}, "warning", "passes for every stream"),
    (
        {
            "never": "thinking.start",
            "subject": "item.done",
            "slice": "",
            "applies": "{view: client}",
        },
        "error",
        "a client reports semantic events only",
    ),
    ({"says": "It Should be so."}, "error", "says what is, not what should be"),
    ({"says": "We test that it is so."}, "error", "without 'test that'"),
    ({"says": "It is so; it is not."}, "warning", "says makes two claims"),
    ({"says": "It is so. It stays so."}, "warning", "says makes two claims"),
    ({"source": "{observed: TBD}"}, "error", "placeholder"),
    ({"source": ""}, "error", "a rule that ships names its source (one of advice, breaks"),
    ({"hint": "TODO"}, "error", "placeholder"),
    ({"source": "{advice: a hunch}"}, "error", "a MUST needs more authority (quote"),
    ({"source": "{spec: https://x}"}, "error", "a MUST needs more authority"),
    ({"source": "{observed: 29 of 29 streams}"}, "error", "a MUST needs more authority"),
    ({"source": "{observed: 154 of 155 streams}"}, "error", "a MUST needs more authority"),
    ({"since": "0.10.0"}, "error", "since 0.10.0 is newer than this version, 0.2.0"),
    ({"never": "thinking.start", "after": "text.start"}, "error", "the rule checks us"),
    ({"never": "", "response": "{then: thinking.end}"}, "error", "the rule checks us"),
    (
        {"never": "", "values": "{of: thinking.end, path: block, are: rising}"},
        "error",
        "the rule checks us",
    ),
    ({"never": "", "each": "{of: text.end, schema: {}}"}, "error", "the rule checks us"),
    (
        {"never": "item.done", "applies": "{view: client}", "slice": ""},
        "error",
        "'item.done' never comes",
    ),
    ({"never": "item.done", "until": "text.delta"}, "warning", "orders wire against semantic"),
    ({"never": "thinking.delta", "slice": "[chioce]"}, "error", "no slice ever opens"),
    (
        {"never": "", "values": "{of: usage, path: outptu, are: constant}", "slice": ""},
        "error",
        "usage has no field 'outptu' (did you mean 'output'?)",
    ),
    (
        {"head": "events:\n  error: item.done\n", "never": "error", "slice": ""},
        "error",
        "event 'error' has the name of a wire type",
    ),
    (
        {"head": "events:\n  done: item.done\n", "never": "done", "slice": ""},
        "error",
        "event 'done' has the name of a semantic type",
    ),
    ({"head": "events:\n  extra: item.done\n"}, "warning", "no rule uses event 'extra'"),
    (
        {
            "head": "events:\n  one: {type: item.done, x: 1}\n  two: {type: item.done, x: 1}\n",
            "never": "one",
            "until": "two",
            "slice": "",
        },
        "error",
        "events 'one' and 'two' are the same",
    ),
    (
        {"head": "events:\n  z: item.done\n", "never": "z", "until": "item.done", "slice": ""},
        "error",
        "events 'item.done' and 'z' are the same",
    ),
    (
        {
            "head": "events:\n  spoken: {type: item.delta, delta: {pattern: x}}\n",
            "never": "spoken",
            "slice": "",
        },
        "warning",
        "event 'spoken' has a pattern on delta: it costs every delta",
    ),
    ({"never": "", "grammar": '"text.delta*"'}, "error", "accepts everything"),
    ({"never": "", "grammar": '"text.delta{0}"'}, "error", "the grammar has no words"),
    ({"never": "", "grammar": '"finish text.delta{0}"'}, "error", "contains 'text.delta'"),
    ({"never": "", "grammar": "thinking.delta finish"}, "error", "a grammar needs quotes"),
    (
        {"never": "", "grammar": '"text.delta{2,3} finish"'},
        "warning",
        "a counted repetition of 'text.delta' costs every delta",
    ),
    (
        {"never": "", "grammar": '"' + "finish? " * 100 + '"'},  # walked, it took 17 s
        "warning",
        "too large to analyse",
    ),
    (
        {"never": "", "grammar": '"' + "text.delta finish " * 500 + '"'},
        "warning",
        "too large to analyse",
    ),
    (
        {"never": "item.done", "slice": "", "applies": "{profile: {carier: item}}"},
        "error",
        "no knob 'carier' in this dialect's profiles (did you mean 'carrier'?)",
    ),
    (
        {"never": "item.done", "slice": "", "applies": "{profile: {carrier: [item, itme]}}"},
        "error",
        "knob 'carrier' is never 'itme'",
    ),
    (
        {"never": "item.done", "slice": "", "applies": "{profile: {overlap: 0}}"},
        "error",
        "knob 'overlap' is never 0",
    ),
    ({"hint": "See knob overlp."}, "error", "no knob 'overlp'"),
    (
        {"never": "", "fold": "{over: text.delta, take: text, lacks: $maks}"},
        "error",
        "no knob 'maks'",
    ),
    (
        # A neutral rule judges dialect e too, which has no such knob.
        {"dialect": "", "never": "", "fold": "{over: text.delta, take: text, lacks: $carrier}"},
        "error",
        "no knob 'carrier'",
    ),
]


@pytest.mark.parametrize("changes", SOUND, ids=str)
def test_a_sound_rule_has_no_problem(changes: dict[str, str]) -> None:
    assert linted(text(**changes)) == []


@pytest.mark.parametrize(
    ("changes", "severity", "message"), FAULTS, ids=lambda each: str(each)[:60]
)
def test_a_fault_is_reported_once(changes: dict[str, str], severity: str, message: str) -> None:
    [problem] = linted(text(**{"never": "thinking.delta", **changes}))
    assert (problem.severity, message in problem.message) == (severity, True), problem


def test_a_problem_stands_where_it_is_mended() -> None:
    [problem] = linted(text(never="finish", since="9.0.0"))
    assert str(problem.place) == "own.yaml:9:12"


def pair(first: str, second: str) -> list[Problem]:
    roots = [document.parse(first, "a.yaml"), document.parse(second, "b.yaml")]
    return lint_together([(read_suite(root, KNOWN.vocabularies), root) for root in roots])


def test_two_rules_that_say_the_same_are_reported_at_the_second() -> None:
    one = text(never="finish")
    [problem] = pair(one, one.replace("own/x", "own/y").replace("It is", "IT is"))
    assert str(problem.place) == "b.yaml:7:11"
    assert problem.message == "rule own/x/a says the same, in a.yaml:7:11"


def test_two_suites_of_one_name_are_reported_once() -> None:
    one = text(never="finish")
    [problem] = pair(one, one)
    assert problem.message == "suite 'own/x' is already in a.yaml:1:8"


@pytest.mark.slow
def test_shipped_files_have_no_error() -> None:
    errors = [p for p in lint_paths([shipped.specs()]) if p.severity == "error"]
    assert [f"{problem.place}: {problem.message}" for problem in errors] == []


@pytest.mark.parametrize("source", ["", "{advice: a hunch}", "{observed: 2 of 2 streams}"])
def test_a_private_rule_needs_no_public_authority(source: str) -> None:
    root = document.parse(text(source=source, never="finish"), "own.yaml")
    private = Known(KNOWN.vocabularies, KNOBS, KNOWN.version, lambda _file: False)
    assert lint_suite(read_suite(root, KNOWN.vocabularies), root, private) == []


def test_a_file_of_rules_outside_the_package_is_private(tmp_path: Path) -> None:
    file = tmp_path / "own.yaml"
    file.write_text(text(dialect="", source="", never="finish"), encoding="utf-8")
    assert lint_paths([file]) == []
