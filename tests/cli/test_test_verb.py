"""`conformance test`: a line per example, and an exit code."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from conformance.cli import main

HEAD: Final = """suite: own/answers
dialect: openai.chat
events:
  with.role: {type: chat.choice, delta.role: {type: string}}
rules:
"""
ONCE: Final = """  - id: role-once
    level: MUST
    says: The role is sent once.
    since: 0.1.0
    slice: [index]
    never: with.role
    after: with.role
"""
KEEPS: Final = """    keeps:
      - |
        data: {"choices":[{"index":0,"delta":{"role":"assistant","content":"Hi"}}]}

        data: [DONE]
"""
BREAKS: Final = """    breaks:
      - - choices: [{index: 0, delta: {role: assistant}}]
        - choices: [{index: 0, delta: {role: assistant}}]
"""
NEVER: Final = """  - id: no-role
    level: MAY
    says: No role comes.
    since: 0.1.0
    never: with.role
"""


def tried(tmp_path: Path, rules: str, *more: str) -> int:
    (tmp_path / "own.yaml").write_text(HEAD + rules, encoding="utf-8")
    return main(["test", str(tmp_path / "own.yaml"), *more])


def test_each_held_example_is_a_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert tried(tmp_path, ONCE + KEEPS + BREAKS + NEVER) == 0
    out, err = capsys.readouterr()
    file = tmp_path / "own.yaml"
    also = "(also found by own/answers/no-role)"
    assert out.splitlines() == [
        f"{file}:14:9: own/answers/role-once keeps 1: ok {also}",
        f"{file}:19:9: own/answers/role-once breaks 1: ok {also}",
        "2 examples, 0 failed, 1 rule without an example",
    ]
    assert err == ""


def test_findings_are_shown_on_request(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert tried(tmp_path, ONCE + BREAKS, "-v") == 0
    assert (
        '  event 2: chat.choice with delta.role "assistant" came after' in capsys.readouterr().out
    )


WRONG: Final = [
    ("keeps: [[{choices: [{index: 0, delta: {}}]}]]", "FAILED: VACUOUS, so the stream does not"),
    ("breaks: [[{choices: [{index: 0, delta: {role: a}}]}]]", "FAILED: the stream keeps the rule"),
    (BREAKS.replace("breaks", "keeps").strip(), "FAILED: the rule is broken: event 2: chat.choice"),
]


@pytest.mark.parametrize(("example", "message"), WRONG)
def test_an_example_that_does_not_hold_exits_1(
    example: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert tried(tmp_path, f"{ONCE}    {example}\n") == 1
    out = capsys.readouterr().out
    assert message in out
    assert out.endswith("1 example, 1 failed\n")


def test_mistake_in_an_example_exits_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert tried(tmp_path, f"{ONCE}    keeps: [none.sse]\n{BREAKS}") == 2
    out, err = capsys.readouterr()
    assert "breaks 1: ok" in out
    assert err == (
        f"error: {tmp_path / 'own.yaml'}:13:13: cannot read 'none.sse': No such file or directory\n"
    )


def test_rules_may_lack_examples(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert tried(tmp_path, ONCE) == 5
    assert "no rule has an example" in capsys.readouterr().err


def test_rules_are_chosen_by_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert tried(tmp_path, ONCE + KEEPS + NEVER, "--rule", "no-role") == 5
    assert tried(tmp_path, ONCE + KEEPS + NEVER, "--rule", "role-once") == 0
    assert tried(tmp_path, ONCE + KEEPS, "--rule", "role-onc") == 2
    assert "no rule matches 'role-onc' (did you mean" in capsys.readouterr().err


def test_explain_shows_the_examples(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "own.yaml").write_text(HEAD + ONCE + KEEPS + BREAKS, encoding="utf-8")
    assert main(["explain", "role-once", "--suite", str(tmp_path / "own.yaml")]) == 0
    out = capsys.readouterr().out
    assert "\nkeeps\n  data: {" in out
    assert '\nbreaks\n  {"choices":[{"index":0' in out
    assert "\nwhy\n" not in out


def test_no_key_in_an_example_leaves(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Also where a line is cut in the midst of it."""
    key = "sk" + "-proj-Ab1cAb1cAb1cAb1c"
    for filled in ("", "x" * 1150, "x" * 130):
        breaks = BREAKS.replace("role: assistant", f"role: '{filled} {key}'")
        assert tried(tmp_path, ONCE + breaks, "-v") == 0
        assert main(["explain", "role-once", "--suite", str(tmp_path / "own.yaml")]) == 0
        captured = capsys.readouterr()
        assert key[:12] not in captured.out + captured.err
