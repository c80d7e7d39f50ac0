"""Streams that look odd and are allowed: they raise nothing, and the rules nearest to it hold.

No rule can fail on a permission. What could go wrong is a rule that forbids it by accident, so
each stream names those that would.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Final

import pytest

from conformance.core.shipped import cassettes
from conformance.judging.result import Report
from conformance.recordings.api import check_cassette
from conformance.rules.verdicts import Verdict
from tests.authoring.catalogue import good
from tests.authoring.draft import SUFFIX

PERMITTED: Final[Mapping[str, tuple[str, ...]]] = {
    "openai.responses/permits/permits-reasoning-without-text": (
        "wire/responses/item-closed",
        "wire/responses/output-agrees",
        "wire/responses/reasoning-before-message",
        "wire/responses/thinking-within-output",
    ),
    "openai.responses/permits/permits-thinking-not-shown": (
        "effort/responses/known",
        "wire/responses/output-agrees",
        "wire/responses/thinking-within-output",
    ),
    "openai.chat/permits/permits-thinking-not-shown": (
        "effort/chat/known",
        "wire/chat/finish-present",
        "wire/chat/thinking-within-output",
    ),
    "openai.chat/permits/permits-empty-deltas": (
        "stripping/visible-text/no-thinking-body",
        "thinking/stream/before-text",
        "wire/chat/delta-types",
        "wire/chat/one-thinking-field",
        "wire/chat/thinking-apart-from-text",
    ),
    "openai.responses/permits/permits-empty-deltas": (
        "wire/responses-parts/raw-agrees",
        "wire/responses-parts/raw-part-lifecycle",
        "wire/responses-parts/text-agrees",
        "wire/responses-parts/text-part-lifecycle",
    ),
    "openai.chat/permits/permits-text-between-tools": (
        "wire/chat/tool-arguments-json",
        "wire/chat/tool-index",
        "wire/chat/tool-named-once",
    ),
    "openai.responses/permits/permits-text-between-tools": (
        "wire/responses-parts/arguments-json",
        "wire/responses/item-index-contiguous",
        "wire/responses/items-serial",
        "wire/responses/reasoning-before-message",
    ),
    "openai.chat/permits/permits-interleaved-choices": (
        "thinking/stream/before-finish",
        "thinking/stream/before-text",
        "wire/chat/finish-once",
        "wire/chat/finish-present",
        "wire/chat/role-once",
    ),
    "openai.chat/permits/permits-comments": (
        "wire/chat/done-last",
        "wire/sse/data-is-json",
        "wire/sse/fields-known",
    ),
    "openai.responses/permits/permits-comments": (
        "wire/responses/created-first",
        "wire/responses/event-name-agrees",
        "wire/responses/sequence-from-zero",
        "wire/sse/fields-known",
    ),
    "openai.chat/permits/permits-unknown-events-and-keys": (
        "wire/chat/chunk-fields",
        "wire/chat/usage-last",
        "wire/sse/data-is-json",
    ),
    "openai.responses/permits/permits-unknown-events-and-keys": (
        "wire/responses/event-name-agrees",
        "wire/responses/item-done-last",
        "wire/responses/sequence-from-zero",
        "wire/responses/terminal-last",
    ),
}


@cache
def report(name: str) -> Report:
    return check_cassette(cassettes() / f"{name}{SUFFIX}")


def test_every_permission_that_is_written_is_listed() -> None:
    written = {draft.name for draft in good() if "permits-" in draft.name}
    assert written == PERMITTED.keys()


@pytest.mark.parametrize("name", PERMITTED)
def test_what_is_permitted_raises_nothing(name: str) -> None:
    found = report(name)
    assert [finding.message for finding in found.findings] == []
    assert found.exit_code(strict=True) == 0


@pytest.mark.parametrize(
    ("name", "rule"), [(name, rule) for name, rules in PERMITTED.items() for rule in rules]
)
def test_nearest_rule_looks_and_holds(name: str, rule: str) -> None:
    assert report(name).verdicts[rule] is Verdict.PASS


@pytest.mark.parametrize("name", [name for name in PERMITTED if "comments" in name])
def test_comments_stand_between_events_and_inside(name: str) -> None:
    body = next(draft.body() for draft in good() if draft.name == name)
    assert b"\n\n: keep-alive\n\n" in body
    assert b"}\n: still here\n\n" in body
