"""No rule passes without its subject, over real recordings."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.rules.test_subjects import check_subjects

# The index, and what is said of a recording beside it.
OTHER = ("INDEX.json", ".upstream_request.json", ".md")

pytestmark = pytest.mark.captures


@pytest.mark.slow
@pytest.mark.parametrize("profile", [None, "strict"])
def test_no_rule_passes_without_its_subject_on_captures(
    monkeypatch: pytest.MonkeyPatch, captures: Path, profile: str | None
) -> None:
    files = [
        path
        for path in sorted(captures.rglob("*"))
        if path.is_file() and not path.name.endswith(OTHER)
    ]
    assert check_subjects(monkeypatch, *files, profile=profile)
