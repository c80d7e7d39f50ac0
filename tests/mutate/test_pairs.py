"""Two faults at once: each is named by a finding of its own."""

from __future__ import annotations

from typing import Final

import pytest
from msgspec.structs import replace

from conformance.core.shipped import cassettes
from conformance.editing.operator import make_mutants
from conformance.judging.rulebook import Rulebook
from conformance.mutate.base_recordings import SUFFIX, BaseRecording, open_base
from conformance.mutate.catalogue import find_operators
from conformance.recordings.in_memory import InMemory

# Base, then two operators, each with the rule that names its fault.
PAIRS: Final[tuple[tuple[str, tuple[str, str], tuple[str, str]], ...]] = (
    (
        "agui/agent/hops-tool-loop",
        ("X3-end-twice", "wire/agui/reasoning-over"),
        ("X22-empty-thought-shown", "hop/thinking-parts"),
    ),
    (
        "agui/agent/hops-tool-loop",
        ("S6-sealed-of-another", "wire/agui/sealed-owner"),
        ("X3-end-twice", "wire/agui/reasoning-over"),
    ),
    (
        "agui/agent/hops-signed",
        ("F13-broken-character", "wire/sse/utf8"),
        ("X22-empty-thought-shown", "hop/thinking-parts"),
    ),
    (
        "openai.responses/openai/resumed",
        ("U14-no-usage-details", "wire/responses-items/usage-details"),
        ("U6-total-off", "wire/responses-items/total-is-sum"),
    ),
)


def edited(base: BaseRecording, operator: str, rule: str, rulebook: Rulebook) -> BaseRecording:
    """The recording with the first edit of an operator that breaks the rule."""
    for stream in base.streams():
        for named in find_operators(operator):
            for mutant in make_mutants(named, stream):
                cassette = base.with_exchange(mutant.exchange)
                held = replace(base, recording=InMemory(base.recording.path, "cassette", cassette))
                if rule in held.judge(rulebook).failing:
                    return held
    raise AssertionError(f"no {operator} of {base.name} breaks {rule}")


@pytest.mark.parametrize(("name", "one", "other"), PAIRS)
def test_two_faults_are_two_findings(
    name: str, one: tuple[str, str], other: tuple[str, str]
) -> None:
    rulebook = Rulebook.load()
    base = open_base(cassettes() / f"{name}{SUFFIX}", cassettes())
    for (operator, rule), (_, absent) in ((one, other), (other, one)):
        assert absent not in edited(base, operator, rule, rulebook).judge(rulebook).failing
    both = edited(edited(base, *one, rulebook), *other, rulebook)
    assert {one[1], other[1]} <= both.judge(rulebook).failing
