"""Examples inside rules: what keeps a rule, what breaks it, and what is wrong with an example."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any, Final

import pytest

from conformance.core import shipped
from conformance.core.errors import SpecError
from conformance.judging.suites import dialect_vocabulary, shipped_suites
from conformance.recordings.rule_tests import MOST_BYTES, ExampleJudge, JudgedExample
from conformance.rules.document import parse
from conformance.rules.load import read_suite
from conformance.rules.model import Suite
from conformance.rules.verdicts import Verdict

ROLE: Final = {"choices": [{"index": 0, "delta": {"role": "assistant", "content": "Hi"}}]}
TEXT: Final = {"choices": [{"index": 0, "delta": {"content": "Hi"}}]}
LINE: Final = f"data: {json.dumps(ROLE)}"
ONCE: Final = {"slice": ["index"], "never": "role", "after": "role"}
EVENTS: Final = {"role": {"type": "chat.choice", "delta.role": {"type": "string"}}}
BROKEN: Final = "mutants/wire/chat/role-once.cassette.jsonl"


def suite_of(
    rule: dict[str, Any], folder: Path = Path(), *, dialect: Any = "openai.chat", **others: Any
) -> Suite:
    """A suite of this rule, and of others by their ids."""
    head = {"level": "MUST", "says": "So.", "since": "0.1.0"}
    rules = [{"id": name, **head, **each} for name, each in {"one": rule, **others}.items()]
    events = EVENTS if dialect == "openai.chat" else None
    whole = {"suite": "own", "dialect": dialect, "events": events, "rules": rules}
    own = {key: value for key, value in whole.items() if value is not None}
    return read_suite(parse(json.dumps(own), str(folder / "own.yaml")), dialect_vocabulary)


def judged(rule: dict[str, Any], folder: Path = Path(), **more: Any) -> JudgedExample:
    """What comes of the first example of the rule; as `suite_of`."""
    suite = suite_of(rule, folder, **more)
    (first, *_) = suite.rules[0].examples
    return ExampleJudge(suite).judge(suite.rules[0], first)


KEPT: Final[list[Any]] = [
    f"{LINE}\n",
    LINE,
    f"{LINE}\n\ndata: {json.dumps(TEXT)}\n\ndata: [DONE]\n\n",
    [ROLE, TEXT, "[DONE]"],
    {"text": LINE},
    {"frames": [ROLE], "profile": "vllm"},
]


@pytest.mark.parametrize("example", KEPT)
def test_a_stream_that_keeps_a_rule_holds(example: Any) -> None:
    found = judged({**ONCE, "keeps": [example]})
    assert (found.verdict, found.holds) == (Verdict.PASS, True)


@pytest.mark.parametrize("example", [[ROLE, ROLE], f"{LINE}\n\n{LINE}\n\n"])
def test_a_stream_that_breaks_a_rule_holds(example: Any) -> None:
    found = judged({**ONCE, "breaks": [example]})
    assert (found.verdict, found.holds) == (Verdict.FAIL, True)
    assert found.finding is not None
    assert found.finding.event == 2


def test_a_stream_that_a_rule_never_looks_at_keeps_nothing() -> None:
    found = judged({**ONCE, "keeps": [[TEXT]]})
    assert (found.verdict, found.holds) == (Verdict.VACUOUS, False)
    assert found.reason.startswith("never fired")


@pytest.mark.parametrize(("key", "frames"), [("keeps", [ROLE, ROLE]), ("breaks", [ROLE])])
def test_an_example_under_the_wrong_key_does_not_hold(key: str, frames: list[Any]) -> None:
    assert not judged({**ONCE, key: [frames]}).holds


def test_what_only_another_rule_finds_breaks_nothing() -> None:
    found = judged({**ONCE, "breaks": [[ROLE]]}, other={"never": "role"})
    assert (found.holds, found.others) == (False, ("own/other",))


def test_a_request_may_come_with_the_stream() -> None:
    rule = {**ONCE, "applies": {"request": {"model": "m"}}}
    for model, verdict in (("m", Verdict.PASS), ("n", Verdict.NOT_APPLICABLE)):
        found = judged({**rule, "keeps": [{"frames": [ROLE], "request": {"model": model}}]})
        assert found.verdict is verdict


def test_payloads_prove_nothing_of_framing() -> None:
    """Their lines are ours."""
    rule = {"never": "sse.comment", "subject": "sse.frame"}
    assert judged({**rule, "keeps": [[ROLE]]}).verdict is Verdict.UNTESTABLE
    assert judged({**rule, "keeps": [LINE]}).verdict is Verdict.PASS


def test_a_neutral_rule_recognises_its_stream_or_is_given_the_dialect() -> None:
    rule = {"never": "refusal.delta", "subject": "text.delta"}
    known = {"object": "chat.completion.chunk", "id": "a", "created": 1, "model": "m", **TEXT}
    unknown = {"choices": TEXT["choices"]}
    assert judged({**rule, "keeps": [[known]]}, dialect=None).holds
    named = {"frames": [unknown], "dialect": "openai.chat"}
    assert judged({**rule, "keeps": [named]}, dialect=None).holds


def test_a_dialect_of_lines_needs_no_event_stream() -> None:
    frames = [{"model": "m", "message": {"role": "assistant", "content": "Hi"}, "done": False}]
    rule = {"never": "refusal.delta", "subject": "text.delta", "keeps": [frames]}
    assert judged(rule, dialect="ollama.chat").holds


def test_a_recording_is_judged_next_to_the_rules(tmp_path: Path) -> None:
    (tmp_path / "a.sse").write_text(f"{LINE}\n\n{LINE}\n\n", encoding="utf-8")
    assert judged({**ONCE, "breaks": ["a.sse"]}, tmp_path).holds
    (tmp_path / "b.sse.gz").write_bytes(gzip.compress(f"{LINE}\n\n".encode()))
    assert judged({**ONCE, "keeps": ["b.sse.gz"]}, tmp_path).holds


def test_a_recording_excuses_itself_from_nothing(tmp_path: Path) -> None:
    source = shipped.cassettes() / BROKEN
    head, *lines = source.read_text(encoding="utf-8").splitlines()
    head = json.dumps({**json.loads(head), "profile": "strict", "expect": {"own/one": "PASS"}})
    (tmp_path / "a.cassette.jsonl").write_text("\n".join((head, *lines, "")), encoding="utf-8")
    assert judged({**ONCE, "breaks": ["a.cassette.jsonl"]}, tmp_path).holds


def refused(example: Any, folder: Path, **more: Any) -> str:
    with pytest.raises(SpecError) as caught:
        judged({**ONCE, "keeps": [example]}, folder, **more)
    return str(caught.value).removeprefix(f"{folder}/own.yaml:1:")


@pytest.mark.parametrize(
    ("example", "text"),
    [
        ("none.sse", "cannot read 'none.sse': No such file"),
        ("../out.sse", "'../out.sse' leads out of the folder of this file"),
        ("/etc/hostname", "'/etc/hostname' leads out of the folder of this file"),
        ("link.sse", "'link.sse' leads out of the folder of this file"),
        ("folder", "'folder' is no file"),
        ("large.sse", f"'large.sse' is larger than {MOST_BYTES} bytes"),
        ("empty.sse", ""),
        ({"file": "a.sse", "profile": "../lax.yaml"}, "'../lax.yaml' leads out of the folder"),
        ({"frames": [ROLE], "profile": "lax"}, "no profile 'lax' for openai.chat"),
        ({"frames": [ROLE], "dialect": "openai.chatt"}, "no dialect is called 'openai.chatt'"),
    ],
)
def test_wrong_example_is_one_line_with_its_place(example: Any, text: str, tmp_path: Path) -> None:
    own = tmp_path / "own"
    (own / "folder").mkdir(parents=True)
    (tmp_path / "out.sse").write_text(LINE, encoding="utf-8")
    (own / "a.sse").write_text(LINE, encoding="utf-8")
    (own / "link.sse").symlink_to(tmp_path / "out.sse")
    (own / "large.sse").write_bytes(b" " * (MOST_BYTES + 1))
    (own / "empty.sse").write_bytes(b"")
    line = refused(example, own)
    place, _, message = line.partition(": ")
    assert place.isdigit()
    assert message.startswith(text)
    assert "\n" not in line


def test_files_are_bounded_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("conformance.recordings.rule_tests.MOST_IN_ALL", len(LINE))
    (tmp_path / "a.sse").write_text(f"{LINE}\n\n", encoding="utf-8")
    suite = suite_of({**ONCE, "keeps": ["a.sse", [ROLE], "a.sse"]}, tmp_path)
    outcomes = [outcome for _, outcome in ExampleJudge(suite).outcomes(suite.rules)]
    assert [isinstance(each, SpecError) for each in outcomes] == [False, False, True]


def test_examples_are_bounded_together() -> None:
    rule: Any = {**ONCE, "keeps": [[ROLE]] * 50}
    with pytest.raises(SpecError, match="more than 1000 examples in one file"):
        suite_of(rule, Path(), **dict.fromkeys(map("rule-{}".format, range(20)), rule))


def test_a_stream_of_no_dialect_asks_for_one(tmp_path: Path) -> None:
    neutral = {"never": "refusal.delta", "keeps": [[{"a": 1}]]}
    with pytest.raises(SpecError, match=r"no known dialect .*\(name it under `dialect`\)"):
        judged(neutral, tmp_path, dialect=None)


def test_a_rule_that_does_not_judge_the_stream_says_so(tmp_path: Path) -> None:
    example = {"frames": [{"type": "message_stop"}], "dialect": "anthropic.messages"}
    assert "the rule never judges anthropic.messages" in refused(example, tmp_path)


def test_examples_of_shipped_rules_hold() -> None:
    shown = [suite for suite in shipped_suites() if any(rule.examples for rule in suite.rules)]
    found = [outcome for each in shown for _, outcome in ExampleJudge(each).outcomes(each.rules)]
    assert found
    wrong = [each for each in found if not (isinstance(each, JudgedExample) and each.holds)]
    assert [str(each) for each in wrong] == []
