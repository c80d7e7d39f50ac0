"""Beside everything that is allowed the rule still bites: mutants that do not ship."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from conformance.recordings.check import check_paths
from conformance.rules.verdicts import Verdict
from tests.authoring.catalogue import good
from tests.authoring.draft import Draft, write
from tests.authoring.mutant import Mutant
from tests.authoring.mutant_rows import rows
from tests.authoring.stream_rows import read

# OpenCode states the costs of an answer after `[DONE]`.
(BILL,) = read("""
writers: [chat]
dialect: openai.chat
path: /v1/chat/completions
names: {SERVER: !Server {}}
streams:
  - name: opencode-go/bill
    profile: opencode-go
    asked: {model: think-1, messages: [{role: user, content: Why?}], stream: true}
    answer: [!answer* [$SERVER, reasoning_content, Backing winds come first., To the left.],
       !Message [{choices: [], cost: '0'}]]
""")
BESIDE = tuple(rows(Path(__file__).with_name("beside_allowances.yaml")))


@cache
def drafts() -> dict[str, Draft]:
    return {draft.name: draft for draft in (BILL, *good())}


def failed(path: Path) -> set[str]:
    verdicts = check_paths([path]).verdicts
    return {rule for rule, verdict in verdicts.items() if verdict is Verdict.FAIL}


@pytest.mark.parametrize("mutant", BESIDE, ids=lambda mutant: mutant.rule)
def test_rule_bites_next_to_what_is_allowed(mutant: Mutant, tmp_path: Path) -> None:
    assert failed(write(drafts()[mutant.base], tmp_path)) == set()
    assert failed(write(mutant.draft(drafts()), tmp_path)) == {mutant.rule, *mutant.also}
