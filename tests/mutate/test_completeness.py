"""A dialect counts as supported only where everything that rests on it is there."""

from __future__ import annotations

from typing import Final

import pytest

from conformance.core.errors import UsageError
from conformance.dialects import SUPPORTED
from conformance.mutate import completeness
from conformance.mutate.completeness import dialect_gaps

_RARE = "its edits look for {}, which occurs in no recording"
# What is known to be missing.
KNOWN: Final = {
    # Names that other servers give to events.
    "openai.responses": [
        _RARE.format("response.done"),
        _RARE.format("response.reasoning.done"),
        _RARE.format("response.reasoning_part.done"),
        _RARE.format("text in response.reasoning.delta"),
    ],
    # Rules of the form each say it, one per kind of part.
    "vercel.ui": ["no rule says what its events hold"],
}


@pytest.mark.parametrize("name", SUPPORTED)
def test_a_dialect_lacks_nothing_but_what_is_known(name: str) -> None:
    assert dialect_gaps(name) == KNOWN.get(name, [])


def test_what_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(completeness, "discover", lambda _folder: [])
    monkeypatch.setattr(completeness, "shipped_suites", list)
    found = dialect_gaps("cohere.v2")
    assert found[:3] == [
        "0 recordings keep every rule, and 5 have to",
        "no mutant is a recording of it",
        "no suite has rules of it",
    ]
    assert "its edits look for message-start, which occurs in no recording" in found


def test_a_dialect_that_nobody_knows_is_refused() -> None:
    with pytest.raises(UsageError):
        dialect_gaps("nobody.knows")
