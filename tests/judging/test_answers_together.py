"""Two streams in one file are judged as each of them alone, answer by answer."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from conformance.judging.result import StreamResult
from tests.authoring.catalogue import mutants
from tests.authoring.draft import Draft
from tests.each import each_in_blocks
from tests.judging.test_answers import NAMED, checker, drafts

# By dialect a stream that keeps every rule and ends well.
GOOD: Final = {
    "openai.chat": "openai.chat/deepseek/thinking-then-text",
    "anthropic.messages": "anthropic.messages/anthropic/thinking-then-text",
    "openai.responses": "openai.responses/openai/padding-off",
    "cohere.v2": "cohere.v2/cohere/max-tokens",
    "gemini.interactions": "gemini.interactions/gemini/thought-then-text",
    "agui": "agui/agent/thinking-then-text",
    "acp": "acp/agent/thought-then-message",
    "codex.exec": "codex.exec/codex/reasoning-then-message",
    "opencode.run": "opencode.run/opencode/reasoning-then-text",
    "claude.stream-json": "claude.stream-json/claude-code/thinking-then-text",
}
# Without its beginning nothing says that another answer begins, nor without its last line's end.
_BEGINNINGS: Final = (
    *("answer-present", "start-first", "created-first", "init-first", "run-first", "thread-first"),
    *("last-line-whole", "last-event-complete", "start-once", "turn-first", "role-first"),
    *("acp/message-typed", "acp/update-typed", "acp/version-is-a-number", "line-is-json"),
    *("opencode-run/begun", "opencode-run/step-first"),
)
# An event stream keeps its last id, and a run that failed is the last one of its connection.
_LASTING: Final = {"wire/responses/no-event-id", "wire/agui/nothing-after-error"}
# A snapshot of a later run holds what earlier runs said, and an update of no kind begins no answer.
_KNOWN_BEFORE: Final = ("agui/snapshot-adds-nothing", "agui/snapshot-keeps-ids", "acp/carries")

# Ids that a connection has once, whatever answer they are in.
_ONCE: Final = {"claude.stream-json": rb'"uuid":"[^"]+', "opencode.run": rb'"id":"[^"]+'}


def _renamed(draft: Draft) -> bytes:
    """The stream under another id, where the dialect has any."""
    body = draft.body()
    if pieces := _ONCE.get(draft.dialect):
        body = re.sub(pieces, rb"\g<0>-b", body)
    pattern = rb'"runId":"([^"]+)"' if draft.dialect == "agui" else NAMED.get(draft.dialect)
    found = re.search(pattern, body) if pattern else None
    return body.replace(b'"%s"' % found[1], b'"%s-b"' % found[1]) if found else body


def _found(result: StreamResult, answer: int) -> set[tuple[str, int]]:
    return {(each.rule, answer) for each in result.findings}


def _faulty() -> Sequence[Draft]:
    return [
        draft
        for draft in mutants()
        if draft.dialect in GOOD
        and draft.profile == drafts()[GOOD[draft.dialect]].profile
        and not (draft.then or draft.asked.get("stream") is False or draft.end != "eof")
        and draft.content_type != "application/json"
        and not draft.name.startswith("mutants/turns/")
        and not draft.name.endswith((*_BEGINNINGS, *_KNOWN_BEFORE))
    ]


@each_in_blocks(16, _faulty)
def test_a_fault_in_the_second_of_two_streams_is_found_there(draft: Draft) -> None:
    first = drafts()[GOOD[draft.dialect]]
    judge = checker(draft.dialect, draft.profile).check
    alone, both = judge([draft.body()]), judge([first.body(), _renamed(draft)])
    if alone.answers > 1:  # it holds a second answer by itself
        return
    assert both.answers == 2
    broken = {(each.rule, number) for each in both.findings for number in each.answers}
    assert broken == _found(alone, 2)


@each_in_blocks(16, _faulty)
def test_a_fault_in_the_first_of_two_streams_is_found_there(draft: Draft) -> None:
    second = drafts()[GOOD[draft.dialect]]
    judge = checker(draft.dialect, draft.profile).check
    alone, both = judge([draft.body()]), judge([draft.body(), _renamed(second)])
    if alone.answers > 1 or both.answers == 1:
        return
    broken = {(each.rule, number) for each in both.findings for number in each.answers}
    assert broken >= _found(alone, 1)
    assert {rule for rule, number in broken if number == 2} <= _LASTING
