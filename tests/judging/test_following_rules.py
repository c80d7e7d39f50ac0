"""The rows that say which rule follows from which."""

from __future__ import annotations

import re

import pytest

from conformance.cassette import open_recording
from conformance.core.shipped import cassettes
from conformance.judging.checker import Checker
from conformance.judging.consequences import follows, withdraw_followers
from conformance.judging.following_rules import FOLLOWING
from conformance.judging.rulebook import Rulebook
from conformance.rules.verdicts import Verdict
from tests.plain_results import failing


@pytest.mark.parametrize(
    ("leader", "follower"),
    [
        ("history/messages/signed-unchanged", "history/messages/turn-signed"),
        ("history/messages/signature-present", "history/messages/always-carried"),
        ("history/gemini/step-signed", "history/gemini/turn-signed"),
        ("history/responses/sealed-unchanged", "history/responses/turn-sealed"),
        ("thinking/stream/before-finish", "thinking/stream/not-split"),
        ("history/responses/sealed-or-left-out", "history/responses/summary-carried"),
        ("thinking/client/agrees-with-wire", "thinking/stream/before-call"),
        ("thinking/client/agrees-with-wire", "thinking/start/before-delta"),
        ("wire/gemini/counts-stated", "wire/gemini/thoughts-counted"),
        ("wire/opencode-serve/event-fields", "wire/opencode-serve/part-announced"),
        ("wire/opencode-serve/part-announced", "wire/opencode-serve/part-closed"),
        ("wire/opencode-serve/error-said", "wire/opencode-serve/error-reported"),
        ("wire/stream-json/message-started", "thinking/stream/said-once"),
        ("wire/stream-json/message-started", "wire/stream-json/block-type-agrees"),
        ("wire/stream-json/init-first", "thinking/stream/before-finish"),
        ("wire/stream-json/line-fields", "wire/stream-json/call-answered"),
        ("wire/codex-app-server/item-opened", "wire/codex-app-server/item-closed"),
        ("wire/codex-app-server/turn-first", "wire/codex-app-server/turn-ended"),
        ("wire/codex-app-server/reasoning-within-output", "thinking/stream/answer-counted"),
        ("wire/adk/carries", "wire/adk/result-asked"),
        ("wire/chat/finish-key", "wire/chat/finish-present"),
        ("wire/chat/finish-present", "wire/chat/usage-last"),
        ("scenario/ending", "wire/chat/empty-choices-last"),
        ("wire/chat/choice-fields", "wire/mistral/not-left-open"),
        ("wire/tgi/carries", "stripping/visible-text/no-markers"),
        ("wire/tgi/carries", "wire/tgi/whole-text-agrees"),
        ("wire/messages/event-typed", "wire/messages/answer-present"),
        ("wire/ui-message/reasoning-apart-from-text", "hop/thinking-apart"),
        ("wire/ui-message/call-fields", "wire/ui-message/output-of-call"),
        ("wire/chat/tool-index", "wire/chat/tool-identified"),
        ("wire/chat/tool-arguments-text", "wire/chat/tool-arguments-json"),
        ("wire/chat/delta-types", "wire/chat/finished-calls-there"),
        ("wire/cohere/start-once", "wire/cohere/call-json"),
        ("wire/messages/start-once", "thinking/stream/not-split"),
        ("wire/acp/messages-told-apart", "thinking/stream/not-split"),
        ("wire/acp/message-typed", "wire/acp/stop-reason-known"),
        ("wire/acp/load-replays", "wire/acp/silent-after-response"),
        ("wire/agui/run-ended", "wire/agui/silent-after-run"),
        ("wire/a2a/carries", "wire/a2a/chunk-begun"),
        ("wire/adk/whole-keeps-text", "wire/adk/fragment-says-something"),
        ("wire/stream-json/carries", "wire/stream-json/block-stated"),
        ("wire/stream-json/carries", "wire/stream-json/result-of-call"),
        ("wire/codex-exec/turn-ended", "wire/codex-exec/turn-last"),
        ("wire/sglang/carries", "wire/sglang/end-present"),
        ("wire/langchain-events/block-announced", "wire/langchain-events/blocks-finished"),
        ("wire/langchain-events/event-id-once", "wire/langchain-events/message-known"),
        ("wire/lmstudio/end-once", "wire/lmstudio/response-own-id"),
        ("wire/langgraph/last-comes", "wire/langgraph/state-keeps-sealed"),
        ("wire/harmony/nothing-between", "wire/harmony/begins-with-start"),
        ("wire/harmony/content-unmarked", "thinking/stream/unmarked"),
        ("wire/harmony/message-present", "wire/harmony/choice-text"),
        ("wire/harmony/stops", "wire/harmony/chunk-fields"),
        ("wire/responses/item-index-known", "wire/responses/item-index-contiguous"),
        ("wire/ollama/done-present", "wire/ollama/line-fields"),
        ("wire/gemini/partial-args-placed", "wire/calls/arguments-fit"),
        ("wire/interactions-steps/call-named", "wire/calls/tool-offered"),
    ],
)
def test_what_follows_from_another_fault_is_withdrawn(leader: str, follower: str) -> None:
    ledger = failing(follower, leader)
    withdraw_followers(ledger, "harness")
    assert ledger.rules_with(Verdict.FAIL) == [leader]
    alone = failing(follower)
    withdraw_followers(alone, "harness")
    assert alone.rules_with(Verdict.FAIL) == [follower]


def test_no_rule_follows_from_what_follows_from_it() -> None:
    """Else both would be withdrawn, and nothing would be found."""
    ids = [rule.id for rule in Rulebook.load().rules if rule.id.rpartition("/")[2] in FOLLOWING]
    leaders = {rule: {each for each in ids if each != rule and follows(rule, each)} for rule in ids}
    for rule in ids:
        above, waiting = set[str](), [*leaders[rule]]
        while waiting:
            leader = waiting.pop()
            if leader not in above:
                above.add(leader)
                waiting += leaders[leader]
        assert rule not in above


@pytest.mark.parametrize(
    ("edit", "replacement", "found"),
    [
        # Under another id the start has no end, and the end no start.
        (rb'("tool.execution_start".*?"toolCallId": ?)"[^"]+"', rb'\1"call_other"', set()),
        # Here the end is missing all the same.
        (
            rb'("tool.execution_start".*?"toolCallId": ?)"[^"]+"(.*\n).*execution_complete.*\n',
            rb'\1"call_other"\2',
            {"wire/copilot/tool-completed"},
        ),
    ],
)
def test_an_unrequested_tool_explains_only_halves_of_its_call(
    edit: bytes, replacement: bytes, found: set[str]
) -> None:
    recording = open_recording(cassettes() / "copilot.cli/copilot/tool-round.cassette.jsonl")
    body = next(iter(recording.exchanges)).body
    edited = re.sub(edit, replacement, body, count=1)
    assert edited != body
    findings = Checker("copilot.cli", profile="strict").check([edited]).findings
    assert {each.rule for each in findings} == {"wire/copilot/tool-requested", *found}
