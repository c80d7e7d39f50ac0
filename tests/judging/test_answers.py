"""Several answers in one exchange: each is judged by itself, and findings say in which they are."""

from __future__ import annotations

import json
import re
from functools import cache
from typing import Any, Final

import pytest

from conformance.core.events import Chunk
from conformance.judging.checker import Checker
from conformance.judging.result import StreamResult
from conformance.judging.rulebook import Rulebook
from conformance.rules.verdicts import Verdict
from tests.authoring import mutant_rows
from tests.authoring.catalogue import good
from tests.authoring.draft import Draft
from tests.authoring.pieces import encoded
from tests.fuzz.both import difference, fast, setting_for, slow

TURNS: Final = (
    ("acp/agent/two-turns", 2),
    ("acp/agent/three-turns", 3),
    ("acp/agent/two-turns-of-both-sides", 2),
    ("agui/agent/two-turns", 2),
    ("agui/agent/three-turns", 3),
    ("codex.exec/codex/two-turns", 2),
    ("codex.exec/codex/three-turns", 3),
    ("opencode.run/opencode/two-turns", 2),
    ("opencode.serve/opencode/two-turns", 2),
    ("codex.app-server/codex/two-turns", 2),
    ("codex.app-server/codex/three-turns", 3),
    ("claude.stream-json/claude-code/two-turns", 2),
    ("claude.stream-json/claude-code/three-turns", 3),
)
# What a dialect calls its answers by; another value makes another answer of it.
NAMED: Final = {
    "openai.chat": rb'"id":"(chatcmpl[^"]*)"',
    "anthropic.messages": rb'"message":{"id":"([^"]+)"',
    "openai.responses": rb'"response":{"id":"([^"]+)"',
    "cohere.v2": rb'"id":"([^"]+)"',
    "gemini.interactions": rb'"interaction":{"id":"([^"]+)"',
    "gemini.generate": rb'"responseId":"([^"]+)"',
}
KEPT: Final = (
    "openai.chat/deepseek/thinking-then-text",
    "anthropic.messages/anthropic/thinking-then-text",
    "openai.responses/openai/summary-then-call",
    "cohere.v2/cohere/max-tokens",
    "gemini.interactions/gemini/thought-then-text",
    "gemini.generate/gemini/length",
)


@cache
def drafts() -> dict[str, Draft]:
    return {draft.name: draft for draft in good()}


MUTANTS: Final = [each for each in mutant_rows.mutants() if each.name.startswith("turns/")]
FOLLOWERS = {"thinking/stream/before-finish"}


@cache
def checker(dialect: str, profile: str) -> Checker:
    return Checker(dialect, profile)


def judged(draft: Draft, *bodies: bytes) -> StreamResult:
    return checker(draft.dialect, draft.profile).check(bodies or [draft.body()])


def other(draft: Draft) -> bytes:
    """The same answer under another id."""
    found = re.search(NAMED[draft.dialect], draft.body())
    assert found
    return draft.body().replace(b'"%s"' % found[1], b'"%s-b"' % found[1])


@pytest.mark.parametrize(("name", "answers"), TURNS)
def test_legal_turns_raise_nothing(name: str, answers: int) -> None:
    result = judged(drafts()[name])
    assert (result.findings, result.answers) == ((), answers)


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_fault_is_found_in_its_turn(mutant: Any) -> None:
    result = judged(mutant.draft(drafts()))
    turn = 1 if "/first-" in mutant.name else 2
    wanted = {mutant.rule, *mutant.also}
    # `check` withdraws what follows from the fault; a checker, which sees one stream, does not.
    assert {found.rule for found in result.findings} - FOLLOWERS == wanted
    assert {(found.answers, bool(found.unit)) for found in result.findings} == {((turn,), True)}


@pytest.mark.parametrize("name", KEPT)
def test_answers_that_one_file_kept_are_judged_each(name: str) -> None:
    draft = drafts()[name]
    result = judged(draft, draft.body(), other(draft))
    assert (result.findings, result.answers) == ((), 2)
    assert result.notes == ("2 answers came one after the other: each is judged by itself",)


def test_where_the_request_is_known_all_is_one_answer() -> None:
    draft = drafts()[KEPT[0]]
    bodies = [draft.body(), other(draft)]
    result = checker(draft.dialect, draft.profile).check(bodies, request={"stream": True})
    assert result.answers == 1
    assert "wire/chat/same-id" in {found.rule for found in result.findings}


@pytest.mark.parametrize("name", [name for name, _ in TURNS] + [each.name for each in MUTANTS])
def test_all_ways_of_judging_agree(name: str) -> None:
    made = {each.name: each for each in MUTANTS}
    draft = made[name].draft(drafts()) if name in made else drafts()[name]
    setting = setting_for(draft.dialect, draft.profile, Rulebook.load())
    chunks = [Chunk(encoded(piece), 1.0) for piece in draft.pieces]
    assert difference(slow(setting, chunks), fast(setting, chunks)) == ""


def exec_turn(usage: dict[str, int], number: int) -> bytes:
    item = {"id": f"item_{number}", "type": "agent_message", "text": "Yes."}
    lines = [
        {"type": "turn.started"},
        {"type": "item.completed", "item": item},
        {"type": "turn.completed", "usage": usage},
    ]
    return "".join(json.dumps(line) + "\n" for line in lines).encode()


def test_one_cause_in_many_turns_is_one_finding() -> None:
    begun = b'{"type": "thread.started", "thread_id": "t"}\n'
    wrong = {"input_tokens": 1, "output_tokens": 1, "reasoning_output_tokens": 2}
    turns = [exec_turn(wrong, number) for number in range(300)]
    result = Checker("codex.exec", "strict").check([begun, *turns])
    [found] = [each for each in result.findings if each.rule.endswith("reasoning-within-output")]
    assert (result.answers, found.in_answers) == (300, 300)
    assert found.answers == tuple(range(1, 66))


def test_a_rule_has_the_worst_verdict_of_its_answers() -> None:
    unanswered = next(each for each in MUTANTS if each.name == "turns/acp/not-answered")
    result = judged(unanswered.draft(drafts()))
    assert result.verdicts["wire/acp/prompt-answered"] is Verdict.FAIL
    assert result.verdicts["thinking/stream/characters-whole"] is Verdict.PASS


def gemini_chunk(*parts: dict[str, Any], name: str = "r1") -> bytes:
    content = {"role": "model", "parts": list(parts)}
    candidate = {"index": 0, "content": content, "finishReason": "STOP"}
    chunk = {"candidates": [candidate], "responseId": name, "modelVersion": "gemini-2.5-pro"}
    return b"data: " + json.dumps(chunk).encode() + b"\n\n"


def test_a_reason_to_finish_after_code_ends_no_answer() -> None:
    code = {"executableCode": {"language": "PYTHON", "code": "1 + 1"}}
    run = {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "2"}}
    result = Checker("gemini.generate").check(
        [gemini_chunk(code), gemini_chunk(run, {"text": "Two."})]
    )
    assert result.answers == 1
    assert result.verdicts["thinking/stream/before-finish"] is Verdict.PASS
