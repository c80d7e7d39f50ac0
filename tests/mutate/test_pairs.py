"""Two faults at once: each is named by a finding of its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import pytest

from conformance.core.shipped import cassettes
from conformance.editing.operator import make_mutants
from conformance.judging.rulebook import Rulebook
from conformance.mutate.base_recordings import BaseRecording, open_base
from conformance.mutate.catalogue import find_operators

# Base, then two operators, each with a rule that names its fault and how far on it acts.
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


@pytest.fixture(scope="module")
def rulebook() -> Rulebook:
    return Rulebook.load()


def failing_with(base: BaseRecording, rulebook: Rulebook, *operators: str) -> frozenset[str]:
    """The rules that fail where each operator has made an edit, one after the other."""
    recording: Any = base
    for name in operators:
        (operator,) = find_operators(name)
        streams = recording.streams()
        mutant = next(m for each in streams for m in make_mutants(operator, each))
        cassette = recording.with_exchange(mutant.exchange)
        recording = _of(recording, {"cassette": cassette})
    return recording.judge(rulebook).failing
