"""Scenario files: what they mean, what the loader refuses and where, and what ships."""

from __future__ import annotations

import json
import re
from fnmatch import fnmatch
from pathlib import Path

import pytest

from conformance.core import shipped
from conformance.core.errors import SpecError, UsageError
from conformance.dialects import ENDPOINTS
from conformance.judging.suites import shipped_suites
from conformance.rules import document
from conformance.scenarios import CAPABILITIES, ENDS, Scenario, compose, load_scenarios
from conformance.scenarios import load as loading
from conformance.scenarios.linting import lint_scenarios
from conformance.scenarios.load import read_scenario
from conformance.scenarios.model import UPSTREAM
from tests.schemas import published_schema, schema_of

SHIPPED = sorted((shipped.specs() / "scenarios").glob("*.yaml"))
KNOWN = {
    "model": "m",
    "turns": [{"role": "user", "content": "again"}],
    "response": "resp_1",
    "limit": 64,
}

PLAIN = """\
scenario: own
title: A request
let: {ask: [{role: user, content: Hello}]}
steps:
  - role: plain
    openai.chat: {model: $model, messages: $ask, stream: true, max_tokens: 9}
"""


def read(text: str) -> Scenario:
    return read_scenario(document.parse(text, "own.yaml"))


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_shipped_scenarios_are_valid(path: Path) -> None:
    errors = published_schema("scenario.schema.json").iter_errors(document.load(path).plain())
    assert [f"{error.instance_path}: {error.message}" for error in errors] == []


@pytest.mark.parametrize("scenario", load_scenarios(), ids=lambda each: each.name)
def test_shipped_scenarios_are_named_for_their_file_and_can_be_sent(scenario: Scenario) -> None:
    assert Path(scenario.file).stem == scenario.name
    for step in scenario.steps:
        for template in step.bodies.values():
            assert "$" not in json.dumps(compose(template, {**scenario.values, **KNOWN}))


def test_every_glob_of_a_scenario_fits_a_rule() -> None:
    rules = [rule.id for suite in shipped_suites() for rule in suite.rules]
    globs = {glob for scenario in load_scenarios() for glob in scenario.exercises}
    assert {glob for glob in globs if not any(fnmatch(rule, glob) for rule in rules)} == set()


def test_the_schema_knows_the_words_that_the_loader_knows() -> None:
    loaded = schema_of("scenario.schema.json")
    defs = loaded["$defs"]
    assert set(loaded["properties"]) == loading.SCENARIO_KEYS
    assert set(defs["step"]["properties"]) == loading.STEP_KEYS - ENDPOINTS.keys()
    (dialect,) = defs["step"]["patternProperties"]
    assert all(re.search(dialect, name) for name in ENDPOINTS)
    assert set(defs["carry"]["properties"]) == loading.CARRY_KEYS
    assert tuple(defs["capability"]["enum"]) == CAPABILITIES
    assert tuple(defs["ending"]["enum"]) == ENDS
    assert tuple(defs["upstream"]["enum"]) == UPSTREAM


def test_a_step_is_laid_over_another_one() -> None:
    text = PLAIN + "  - {role: body, like: plain, openai.chat: {stream: false, max_tokens: null}}\n"
    scenario = read(text)
    body = compose(scenario.steps[1].bodies["openai.chat"], {**scenario.values, **KNOWN})
    assert body == {
        "model": "m",
        "messages": [{"role": "user", "content": "Hello"}],
        "stream": False,
    }


def test_headers_are_inherited_and_lower_case() -> None:
    text = PLAIN.replace("- role: plain", "- role: plain\n    headers: {X-One: a}")
    text += "  - {role: other, like: plain, headers: {X-Two: b}}\n"
    assert read(text).steps[1].headers == {"x-one": "a", "x-two": "b"}


def test_a_list_takes_the_place_of_its_name_in_a_list() -> None:
    values = {"turns": [1, 2], "one": 3}
    assert compose({"a": ["$turns", "$one"]}, values) == {"a": [1, 2, 3]}
    assert compose({"a": "$turns"}, values) == {"a": [1, 2]}


def test_a_value_does_not_name_itself() -> None:
    with pytest.raises(UsageError, match=r"\$a"):
        compose({"a": "$a"}, {"a": ["$a"]})


QUESTION = """\
scenario: own
title: A question
steps:
  - role: asked
    question: Hello
    openai.chat: {seed: 7}
  - {role: plain, like: asked, thinking: false, question: Bye, streams: false}
"""


def test_a_question_is_put_to_every_api_in_its_own_form() -> None:
    asked, plain = read(QUESTION).steps
    assert set(asked.bodies) == set(plain.bodies) == set(ENDPOINTS)
    assert asked.bodies["lmstudio.chat"] == {
        "model": "$model",
        "input": "Hello",
        "reasoning": "on",
        "max_output_tokens": "$limit",
        "stream": True,
    }
    assert asked.bodies["openai.chat"]["seed"] == 7
    assert (plain.bodies["ollama.generate"]["prompt"], plain.bodies["ollama.chat"]["think"]) == (
        "Bye",
        False,
    )
    assert {body["stream"] for body in plain.bodies.values()} == {False}
    assert "stream_options" not in plain.bodies["openai.chat"]


@pytest.mark.parametrize("line", ["streams: false", "tools: [{name: f, parameters: {}}]"])
def test_only_a_question_is_asked_as_a_stream_and_with_tools(line: str) -> None:
    with pytest.raises(SpecError, match=r"own\.yaml:7:.*there is none"):
        read(PLAIN + f"    {line}\n")


def test_a_question_with_tools_is_put_where_an_api_has_a_place_for_them() -> None:
    tool = "{name: f, says: Adds., parameters: {type: object}}"
    (asked, later) = read(
        QUESTION.split("  - {role: plain", maxsplit=1)[0]
        + f"    tools: [{tool}]\n"
        + "  - {role: later, like: asked, after: {role: asked, result: [a, b]}}\n"
    ).steps
    prompted = {"ollama.generate", "sglang.generate", "huggingface.tgi"}
    assert ENDPOINTS.keys() - asked.bodies.keys() == {*prompted, "lmstudio.chat"}
    function = {"name": "f", "description": "Adds.", "parameters": {"type": "object"}}
    assert asked.bodies["openai.chat"]["tools"] == [{"type": "function", "function": function}]
    assert later.carry is not None
    assert later.carry.results == ("a", "b")
    assert {
        name: body for name, body in later.bodies.items() if "$turns" not in body.values()
    } == {}
    assert later.bodies["openai.chat"] == {**asked.bodies["openai.chat"], "messages": "$turns"}


def test_a_step_that_carries_on_names_the_history_itself_or_is_given_it() -> None:
    (_, named, given) = read(
        QUESTION.split("  - {role: plain", maxsplit=1)[0]
        + "  - {role: named, like: asked, after: asked, openai.chat: {messages: $turns, user: u}}\n"
        + "  - {role: given, like: asked, after: {role: asked, ask: Again?}}\n"
    ).steps
    assert named.bodies["openai.chat"]["messages"] == given.bodies["openai.chat"]["messages"]
    completion = given.bodies["ollama.generate"]
    assert (completion["context"], completion["prompt"]) == ("$turns", "Again?")
    kept = given.bodies["lmstudio.chat"]
    assert (kept["input"], kept["previous_response_id"]) == ("$turns", "$response")


# What these ask for has no form of its own yet: levels, tools, a history, or what is no request.
NAMING = {
    *("company", "default-thinking", "effort", "hidden", "history", "length", "needs-effort"),
    *("no-think", "opt-in", "refused-values", "stored-turn", "stop", "summary", "tools"),
    *("two-tools", "tool-choice", "unicode", "unknown-effort", "wrong-request", "models"),
    *("gateway-asked", "gateway-hidden", "gateway-length", "gateway-summary"),
    *("gateway-sealed", "gateway-tools", "format", "gateway-format"),
}


def test_no_other_scenario_names_an_api() -> None:
    """A new API would have to be written into every one of these files."""
    named = re.compile(rf"^ +({'|'.join(map(re.escape, ENDPOINTS))}):", re.MULTILINE)
    holding = {path.stem for path in SHIPPED if named.search(path.read_text(encoding="utf-8"))}
    assert {name for name in holding if not name.startswith("app-")} == NAMING


WRONG: list[tuple[str, str, str]] = [
    # what is replaced, by what, what is said
    ("title: A request\n", "", "key 'title' is missing"),
    ("scenario: own", "scenario: Own", "expected lower-case words"),
    ("- role: plain", "- rule: plain", "unknown key 'rule'"),
    ("model: $model", "model: $modle", "did you mean 'model'?"),
    ("model: $model", "model: $turns", "nothing is called '$turns'"),
    ("let: {ask", "let: {limit: 1, ask", "is reserved"),
    ("- role: plain", "- role: plain\n    ends: stop", "expected one of complete"),
    ("- role: plain", "- role: plain\n    like: first", "no earlier step has the role 'first'"),
    ("- role: plain", "- role: plain\n    after: first", "no earlier step has the role 'first'"),
    ("- role: plain", "- role: plain\n    thinking: 1", "expected true or false"),
    ("- role: plain", "- role: plain\n    needs: [wings]", "expected one of thinking"),
    ("- role: plain", "- role: plain\n    path: /../x", "expected a path"),
    ("- role: plain", "- role: plain\n    path: http://other", "expected a path"),
    ("- role: plain", '- role: plain\n    headers: {a: "b\\r\\nc: d"}', "printable ASCII"),
    ("- role: plain", '- role: plain\n    headers: {"a b": c}', "no name of a header"),
    ("openai.chat:", "openai.chta:", "unknown key 'openai.chta'"),
    ("openai.chat: {", "openai.chat: [{", ""),
]


@pytest.mark.parametrize(
    ("old", "new", "message"), WRONG, ids=[each[1] or each[2] for each in WRONG]
)
def test_mistakes_are_reported_with_their_place(old: str, new: str, message: str) -> None:
    assert old in PLAIN
    with pytest.raises(SpecError) as caught:
        read(PLAIN.replace(old, new))
    assert message in str(caught.value)
    assert str(caught.value).startswith("own.yaml:")


def test_a_role_stands_once() -> None:
    with pytest.raises(SpecError, match="'plain' appears twice"):
        read(PLAIN + "  - {role: plain, openai.chat: {}}\n")


def test_scenarios_are_found_by_name_file_and_folder(tmp_path: Path) -> None:
    (tmp_path / "own.yaml").write_text(PLAIN, encoding="utf-8")
    names = [each.name for each in load_scenarios(["think", str(tmp_path)])]
    assert names == ["think", "own"]
    assert load_scenarios([str(tmp_path / "own.yaml")])[0].name == "own"
    with pytest.raises(UsageError, match="did you mean 'think'"):
        load_scenarios(["thnik"])


def test_one_name_for_two_scenarios_is_refused(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.yaml").write_text(PLAIN, encoding="utf-8")
    with pytest.raises(SpecError, match="appears twice"):
        load_scenarios([str(tmp_path)])


def test_scenarios_are_linted(tmp_path: Path) -> None:
    (tmp_path / "good.yaml").write_text(PLAIN, encoding="utf-8")
    wrong = PLAIN.replace("$model", "$modle")
    (tmp_path / "wrong.yaml").write_text(wrong, encoding="utf-8")
    idle = PLAIN.replace("title:", "exercises: [no/such/*]\ntitle:")
    (tmp_path / "idle.yaml").write_text(idle, encoding="utf-8")
    excused = PLAIN.replace("role: plain", "role: plain\n    excused: [no/such/rule]")
    (tmp_path / "excused.yaml").write_text(excused, encoding="utf-8")
    (tmp_path / "broken.yaml").write_text("{", encoding="utf-8")
    problems = lint_scenarios([tmp_path])
    texts = [(Path(p.place.file).name, p.severity, p.message) for p in problems]
    assert texts == [
        ("excused.yaml", "error", "`excused` names 'no/such/rule', which is no rule"),
        ("idle.yaml", "warning", "no rule fits 'no/such/*'"),
        ("wrong.yaml", "error", "nothing is called '$modle' (did you mean 'model'?)"),
    ]


def test_shipped_scenarios_have_no_problem() -> None:
    assert lint_scenarios([shipped.specs()]) == []
