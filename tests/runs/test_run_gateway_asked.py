"""What a gateway asks upstream, against what it was asked: each loss is found by its rule alone."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from conformance.judging.passed_request_rules import ASKED_RULES
from conformance.recordings.check import check_paths
from conformance.rules.verdicts import Verdict
from conformance.scenarios import load_scenarios
from reference_impl.client.wire import Api
from tests.fakes.gateway import Fields, Gateway, Rewrite
from tests.fakes.translating import Translator
from tests.plain_results import violated_steps
from tests.runs.test_run_gateway import APIS, ran

OF_SETTINGS = {"scenario/asked-choice", "scenario/asked-settings"}
OF_SEALS = {"scenario/asked-sealed", "scenario/asked-format"}
ASKED = {rule.id for rule in ASKED_RULES} - OF_SETTINGS - OF_SEALS
WAYS = [(here, behind) for here in APIS for behind in APIS]


def without(*names: str) -> Rewrite:
    return lambda body: {name: value for name, value in body.items() if name not in names}


def with_more(**fields: object) -> Rewrite:
    return lambda body: {**body, **fields}


def without_required(body: Fields) -> Fields:
    """Every parameter may be left out."""
    for tool in body.get("tools", ()):
        function = tool.get("function", tool)
        for name in ("parameters", "input_schema"):
            function.get(name, {}).pop("required", None)
    return body


def forgetting(body: Fields) -> Fields:
    """The first turn is cut away, as by a window that is too small."""
    name = "input" if "input" in body else "messages"
    return {**body, name: [*body[name][1:]] or [{"role": "user", "content": "Go on."}]}


def said_twice(body: Fields) -> Fields:
    """A turn of the model that is a text is sent twice."""
    turns = body["messages"]
    copies = [[t, t] if t["role"] == "assistant" and t.get("content") else [t] for t in turns]
    return {**body, "messages": [each for copy in copies for each in copy]}


def test_a_turn_that_goes_upstream_twice_is_found(tmp_path: Path) -> None:
    outcome = ran(Gateway(rewrites=said_twice), tmp_path, load_scenarios(["gateway-turns"]))
    assert violated_steps(outcome.report) == {("scenario/asked-answers", "gateway-turns/second")}


def with_other_words(before: str, after: str) -> Rewrite:
    """A text is another one, wherever it stands."""

    def rewrite(body: Fields) -> Fields:
        changed: Fields = json.loads(json.dumps(body).replace(before, after))
        return changed

    return rewrite


LOSSES: list[tuple[str, Rewrite]] = [
    ("effort", without("reasoning_effort")),
    ("effort", with_more(reasoning_effort="none")),
    ("tools", without("tools")),
    ("tools", without_required),
    ("limit", without("max_tokens")),
    ("limit", with_more(max_tokens=1_000_000)),
    ("history", forgetting),
    ("history", with_more(messages=[{"role": "user", "content": "Go on."}])),
    ("answers", with_other_words('2 + 3\\"', '9 + 9\\"')),
    ("answers", with_other_words('"content": "5"', '"content": "6"')),
    ("effort", with_more(reasoning_effort="high")),
    ("tool-texts", with_other_words("Works out an arithmetic expression.", "")),
    ("tool-texts", with_other_words('"type": "string"', '"type": "number"')),
]


@pytest.mark.parametrize(("rule", "rewrite"), LOSSES)
def test_loss_is_found_by_its_rule_alone(rule: str, rewrite: Rewrite, tmp_path: Path) -> None:
    outcome = ran(
        Gateway(rewrites=rewrite), tmp_path, load_scenarios(["gateway-tools"]), save=tmp_path
    )
    found = violated_steps(outcome.report)
    assert {each for each, _ in found} == {f"scenario/asked-{rule}"}
    assert violated_steps(check_paths([tmp_path], trust=[tmp_path])) == found


@pytest.mark.parametrize(
    ("rule", "rewrite", "sent", "other"),
    [
        ("effort", without("reasoning_effort"), '"max_tokens": 2048', "calculator"),
        ("tools", without("tools"), "{}", "max_tokens"),
        ("history", forgetting, '"content": "Go on."', "max_tokens"),
    ],
)
def test_a_finding_shows_what_went_upstream_of_what_its_rule_compares(
    rule: str, rewrite: Rewrite, sent: str, other: str, tmp_path: Path
) -> None:
    ran(Gateway(rewrites=rewrite), tmp_path, load_scenarios(["gateway-tools"]), save=tmp_path)
    found, *_ = check_paths([tmp_path], trust=[tmp_path], rules=[f"scenario/asked-{rule}"]).findings
    (line,) = found.context
    assert (found.event, line.type) == (0, "http.request")
    assert found.upstream is not None
    assert Path(found.upstream.file).is_file()
    assert sent in found.upstream.text
    assert other not in found.upstream.text + line.text


FORMATS: list[tuple[set[str], Rewrite]] = [
    (set(), dict),
    ({"scenario/asked-format"}, without("response_format")),
    ({"scenario/asked-format"}, with_more(response_format={"type": "text"})),
    (set(), with_more(response_format={"type": "json_object"})),
    ({"scenario/asked-format"}, with_other_words('"answer"', '"result"')),
]


@pytest.mark.parametrize(("found", "rewrite"), FORMATS)
def test_form_of_answer_goes_upstream(found: set[str], rewrite: Rewrite, tmp_path: Path) -> None:
    outcome = ran(Gateway(rewrites=rewrite), tmp_path, load_scenarios(["gateway-format"]))
    assert {rule for rule, _ in violated_steps(outcome.report)} == found


def of_history(change: Callable[[list[Fields]], list[Fields]]) -> Rewrite:
    return lambda body: {**body, "messages": change(body["messages"])}


def without_second_call(turns: list[Fields]) -> list[Fields]:
    return [
        {**turn, "tool_calls": turn["tool_calls"][:1]} if "tool_calls" in turn else turn
        for turn in turns
    ]


PARALLEL: list[tuple[str, Callable[[list[Fields]], list[Fields]]]] = [
    ("history", lambda turns: turns[:3]),
    ("answers", without_second_call),
]


@pytest.mark.parametrize(("rule", "change"), PARALLEL)
def test_what_is_lost_of_two_calls_is_found(
    rule: str, change: Callable[[list[Fields]], list[Fields]], tmp_path: Path
) -> None:
    scenarios = load_scenarios(["gateway-two-calls"])
    outcome = ran(Gateway(rewrites=of_history(change)), tmp_path, scenarios, save=tmp_path)
    found = violated_steps(outcome.report)
    assert {where for _, where in found} == {"gateway-two-calls/follow-up"}
    asked = {each for each, _ in found if each.startswith("scenario/asked-")}
    assert asked == {f"scenario/asked-{rule}"}
    assert violated_steps(check_paths([tmp_path], trust=[tmp_path])) == found


def test_an_answer_that_goes_upstream_in_other_words_is_found(tmp_path: Path) -> None:
    rewrite = with_other_words("no more", "much more")
    outcome = ran(Gateway(rewrites=rewrite), tmp_path, load_scenarios(["gateway-turns"]))
    assert {rule for rule, _ in violated_steps(outcome.report)} == {"scenario/asked-answers"}


def test_an_added_system_prompt_is_found_where_nothing_asks_for_one(tmp_path: Path) -> None:
    def rude(body: Fields) -> Fields:
        return {**body, "messages": [{"role": "system", "content": "Be rude."}, *body["messages"]]}

    outcome = ran(Gateway(rewrites=rude), tmp_path, load_scenarios(["gateway-turns"]))
    assert {rule for rule, _ in violated_steps(outcome.report)} == {"scenario/asked-system-prompt"}


def without_seals(body: Fields) -> Fields:
    items = [{**each, "encrypted_content": None} for each in body["input"]]
    return {**body, "input": items}


SEALED: list[tuple[set[str], Rewrite]] = [
    (set(), dict),
    ({"scenario/asked-sealed"}, without("include")),
    ({"scenario/asked-system-prompt"}, without("instructions")),
    ({"scenario/asked-system-prompt"}, with_more(instructions="Be rude.")),
    ({"history/responses/sealed-or-left-out"}, without_seals),
    ({"history/responses/sealed-unchanged"}, with_other_words("dGhvdWdod", "AAAAAAAAA")),
]


@pytest.mark.parametrize(("found", "rewrite"), SEALED)
def test_sealed_thinking_goes_back(found: set[str], rewrite: Rewrite, tmp_path: Path) -> None:
    scenarios = load_scenarios(["gateway-sealed"])
    gateway = Gateway(rewrites=rewrite)
    report = ran(gateway, tmp_path, scenarios, dialects=("openai.responses",)).report
    seen = {each for each, name in violated_steps(report) if name.startswith("gateway-")}
    assert seen == found


SETTINGS: list[tuple[str, Rewrite]] = [
    ("effort", with_other_words('"reasoning_effort": "none"', '"reasoning_effort": "high"')),
    ("choice", without("tool_choice")),
    ("settings", without("stop")),
    ("settings", without("temperature")),
]


@pytest.mark.parametrize(("rule", "rewrite"), SETTINGS)
def test_lost_setting_fails_its_rule_alone(rule: str, rewrite: Rewrite, tmp_path: Path) -> None:
    outcome = ran(Gateway(rewrites=rewrite), tmp_path, load_scenarios(["gateway-asked"]))
    assert {each for each, _ in violated_steps(outcome.report)} == {f"scenario/asked-{rule}"}


def test_settings_that_go_upstream_are_right(tmp_path: Path) -> None:
    report = ran(Gateway(), tmp_path, load_scenarios(["gateway-asked"])).report
    assert violated_steps(report) == set()
    assert {report.verdicts[each] for each in OF_SETTINGS} == {Verdict.PASS}


def test_a_stream_that_is_not_asked_upstream_shows_in_the_answer(tmp_path: Path) -> None:
    def as_body(body: Fields) -> Fields:
        return {**without("stream_options")(body), "stream": False}

    report = ran(Gateway(rewrites=as_body), tmp_path, load_scenarios(["gateway-tools"])).report
    assert {each for each, _ in violated_steps(report)} == {"wire/http/streamed-as-asked"}


OWN = {"type": "function", "function": {"name": "search", "parameters": {"type": "object"}}}
SYSTEM = [{"role": "system", "content": "Call tools where you can."}]
RIGHT: list[Rewrite] = [
    lambda body: {**without("reasoning_effort")(body), "reasoning": {"effort": "high"}},
    lambda body: {**without("reasoning_effort")(body), "thinking": {"type": "adaptive"}},
    lambda body: {**without("reasoning_effort")(body), "model": "scripted-thinking"},
    lambda body: {**without("max_tokens")(body), "max_completion_tokens": body["max_tokens"]},
    with_more(max_tokens=64),
    lambda body: {**body, "messages": [*SYSTEM[: len(body.get("tools", ()))], *body["messages"]]},
    lambda body: {**body, "tools": [*body.get("tools", ()), OWN]},
]


@pytest.mark.parametrize("rewrite", RIGHT)
def test_what_is_asked_in_other_words_is_right(rewrite: Rewrite, tmp_path: Path) -> None:
    outcome = ran(Gateway(rewrites=rewrite), tmp_path, load_scenarios(["gateway-tools"]))
    assert violated_steps(outcome.report) == set()
    assert {outcome.report.verdicts[each] for each in ASKED} == {Verdict.PASS}


@pytest.mark.one_in(3)
@pytest.mark.parametrize(("here", "upstream"), WAYS, ids=str)
def test_every_translation_is_compared(here: Api, upstream: Api, tmp_path: Path) -> None:
    scenarios = load_scenarios(["gateway-tools"])
    report = ran(Translator(upstream), tmp_path, scenarios, dialects=(APIS[here],)).report
    assert violated_steps(report) == set()
    assert {report.verdicts[each] for each in ASKED} == {Verdict.PASS}


EFFORTS = ("reasoning_effort", "reasoning", "thinking")
LIMITS = ("max_completion_tokens", "max_output_tokens", "max_tokens")
TRANSLATED: list[tuple[str, Rewrite]] = [
    ("effort", without(*EFFORTS)),
    ("tools", without("tools")),
    ("tools", without_required),
    ("limit", without(*LIMITS)),
    ("history", forgetting),
]


@pytest.mark.one_in(3)
@pytest.mark.parametrize(("here", "upstream"), [("responses", "chat"), ("messages", "responses")])
@pytest.mark.parametrize(("rule", "rewrite"), TRANSLATED)
def test_what_a_translation_loses_is_found(
    rule: str, rewrite: Rewrite, here: Api, upstream: Api, tmp_path: Path
) -> None:
    gateway = Translator(upstream, rewrites=rewrite)
    scenarios = load_scenarios(["gateway-tools"])
    report = ran(gateway, tmp_path, scenarios, dialects=(APIS[here],)).report
    assert {each for each, _ in violated_steps(report)} == {f"scenario/asked-{rule}"}
