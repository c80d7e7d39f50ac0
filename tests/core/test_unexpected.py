"""Exceptions that nobody expected: the refusal of one file, with the line of our code."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.core.errors import CassetteError, UsageError
from conformance.core.json_values import put_at
from conformance.core.unexpected import UnexpectedError, fault_of, refuse_unexpected

SECRET = "sk-proj-" + "a1B2" * 6


def test_the_error_names_file_and_line_of_code_and_quotes_nothing() -> None:
    with pytest.raises(UnexpectedError) as raised, refuse_unexpected("a.har"):
        raise ValueError(SECRET)
    message = str(raised.value)
    assert message.startswith("a.har: internal error: ValueError")
    assert "please report" in message
    assert SECRET not in message


def test_the_innermost_line_of_ours_is_named() -> None:
    expected = r"TypeError in conformance/core/json_values.py:\d+"
    with pytest.raises(UnexpectedError, match=expected), refuse_unexpected(Path("a.har")):
        put_at({}, 7, 1)  # type: ignore[arg-type]  # what no path is
    assert fault_of(KeyError(SECRET)) == "KeyError"


@pytest.mark.parametrize("error", [CassetteError("a"), UsageError("b")])
def test_what_is_raised_on_purpose_stays(error: Exception) -> None:
    with pytest.raises(type(error)) as raised, refuse_unexpected("a.har"):
        raise error
    assert raised.value is error


def test_who_asks_for_tracebacks_gets_the_exception(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONFORMANCE_DEBUG", "1")
    with pytest.raises(KeyError), refuse_unexpected("a.har"):
        raise KeyError("a")
