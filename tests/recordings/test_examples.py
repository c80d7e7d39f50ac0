from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from conformance.core import shipped
from conformance.core.errors import HarnessError
from conformance.judging.suites import shipped_suites
from conformance.recordings.examples import rule_example
from tests.each import each

RULE = "wire/chat/done-present"
GOOD = ["one", "two", "three"]


def chunk(text: str | None, **more: Any) -> str:
    choices = [] if text is None else [{"index": 0, "delta": {"content": text}}]
    payload = {"id": "c", "created": 1, "model": "m", "choices": choices, **more}
    return f"data: {json.dumps({'object': 'chat.completion.chunk', **payload})}\n\n"


def cassette(
    path: Path, body: str, request: object = None, kind: str = "text/event-stream", **header: Any
) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    head = {"cassette": "1.0", "dialect": "openai.chat", "profile": "strict", **header}
    lines = [
        head,
        {"request": request},
        {"response": {"status": 200, "headers": [["content-type", kind]]}},
        {"ms": 1, "text": body},
        {"end": "eof"},
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(shipped, "cassettes", lambda: tmp_path)
    return tmp_path


def broken(root: Path, body: str, rule: str = RULE, **header: Any) -> None:
    expect = {rule: "FAIL"}
    cassette(root / "mutants" / f"{rule}.cassette.jsonl", body, expect=expect, **header)


BODY = "".join(map(chunk, GOOD))


def test_the_excerpts_end_where_the_rule_is_broken(root: Path) -> None:
    cassette(root / "openai.chat/x/good.cassette.jsonl", BODY + "data: [DONE]\n\n")
    broken(root, BODY, base="openai.chat/x/good")
    found = rule_example(RULE)
    assert found is not None
    assert found.failing[-1] == "(end of stream: eof)"
    assert found.passing[-2:] == ("data: [DONE]", "(end of stream: eof)")
    assert found.finding is not None
    assert (found.finding.rule, found.finding.got) == (RULE, "end of stream")


def test_the_stream_that_the_mutant_was_made_from_is_preferred(root: Path) -> None:
    cassette(root / "openai.chat/a/other.cassette.jsonl", chunk("other") + "data: [DONE]\n\n")
    cassette(root / "openai.chat/z/base.cassette.jsonl", chunk("base") + "data: [DONE]\n\n")
    broken(root, chunk("base"), base="openai.chat/z/base.cassette.jsonl")
    found = rule_example(RULE)
    assert found is not None
    assert "base" in found.passing[0]


@pytest.mark.parametrize("base", [None, "openai.chat/gone", "../outside", 7])
def test_without_a_base_any_stream_that_passes_will_do(base: object, root: Path) -> None:
    cassette(root.parent / "outside.cassette.jsonl", chunk("outside") + "data: [DONE]\n\n")
    cassette(root / "openai.chat/a/broken.cassette.jsonl", chunk("broken"))
    cassette(root / "openai.chat/b/good.cassette.jsonl", chunk("good") + "data: [DONE]\n\n")
    broken(root, chunk("x"), base=base)
    found = rule_example(RULE)
    assert found is not None
    assert "good" in found.passing[0]


def test_other_numbers_in_every_line_do_not_matter(root: Path) -> None:
    def body(first: int) -> str:
        return "".join(chunk(text, seed=n) for n, text in enumerate("abcdefgh", first))

    cassette(root / "openai.chat/a/good.cassette.jsonl", f"{body(1)}data: [DONE]\n\n")
    broken(root, body(500), base="openai.chat/a/good")
    found = rule_example(RULE)
    assert found is not None
    assert '"content": "h"' in found.failing[-2]
    assert '"content": "h"' in found.passing[-3]


def test_a_long_line_shows_what_differs(root: Path) -> None:
    rule = "stripping/visible-text/no-markers"
    pad = "y" * 400
    cassette(root / "openai.chat/a/good.cassette.jsonl", chunk(f"{pad}<thing>", pad=pad))
    broken(root, chunk(f"{pad}<think>", pad=pad), rule, base="openai.chat/a/good")
    found = rule_example(rule)
    assert found is not None
    assert "<think>" in found.failing[-1]
    assert "<thing>" in found.passing[-1]
    assert max(map(len, (*found.failing, *found.passing))) <= 142


def test_lines_are_cut_to_the_width_that_is_requested() -> None:
    example = rule_example("stripping/visible-text/no-markers", 50)
    assert example is not None
    lines = (*example.passing, *example.failing)
    assert max(map(len, lines)) == 52  # and two marks of what was cut
    assert "nk>" in example.failing[-1]


def test_a_rule_about_the_head_shows_the_head(root: Path) -> None:
    rule = "wire/sse/content-type"
    asked = {"path": "/v1/chat/completions", "json": {"stream": True}}
    for kind, name in (
        ("text/event-stream", "openai.chat/a/good"),
        ("text/plain", f"mutants/{rule}"),
    ):
        path = root / f"{name}.cassette.jsonl"
        cassette(path, chunk("a"), base="openai.chat/a/good", request=asked, kind=kind)
    found = rule_example(rule)
    assert found is not None
    assert found.failing[0] == "POST /v1/chat/completions"
    assert found.failing[-1] == "content-type: text/plain"
    assert found.passing[-1] == "content-type: text/event-stream"


@pytest.mark.parametrize("text", ["", "{", '{"cassette":"2.0"}\n'])
def test_a_broken_example_is_no_example(text: str, root: Path) -> None:
    path = root / "mutants" / f"{RULE}.cassette.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text(text)
    assert rule_example(RULE) is None


def test_an_example_that_breaks_nothing_is_none(root: Path) -> None:
    broken(root, BODY + "data: [DONE]\n\n")
    assert rule_example(RULE) is None


def test_a_rule_without_a_file_has_no_example(root: Path) -> None:
    assert root.is_dir()
    assert rule_example(RULE) is None


def test_no_folder_is_no_example(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> Path:
        raise HarnessError("missing")

    monkeypatch.setattr(shipped, "cassettes", missing)
    assert rule_example(RULE) is None


MUTANTS = shipped.cassettes() / "mutants"
PAGES = Path(__file__).parents[2] / "docs" / "rules"
SHOWN = sorted(
    rule.id
    for suite in shipped_suites()
    for rule in suite.rules
    if (MUTANTS / f"{rule.id}.cassette.jsonl").is_file()
)


@each(SHOWN)
def test_a_shipped_mutant_is_an_example(rule: str) -> None:
    """Its page shows it; `tests/report/test_pages.py` makes every page anew."""
    page = (PAGES / f"{rule}.md").read_text(encoding="utf-8")
    for part in ("\n## Passes\n", "\n## Fails\n", "\n> "):
        assert part in page


@each(SHOWN[::100])
def test_an_example_names_the_finding(rule: str) -> None:
    found = rule_example(rule)
    assert found is not None
    assert found.finding is not None
    assert found.finding.rule == rule
    assert found.failing
    assert found.passing
