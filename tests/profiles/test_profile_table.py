"""The page about profiles says what the files say."""

from __future__ import annotations

import pytest

from conformance.profiles.lookup import available
from tests.authoring.profile_table import PAGE, page


@pytest.mark.every_run
def test_page_is_written_from_the_files_of_today() -> None:
    told = "stale: python -m tests.authoring.profile_table"
    assert PAGE.read_text(encoding="utf-8") == page(), told


@pytest.mark.every_run
def test_every_system_has_its_row() -> None:
    text = page()
    for name, _, _ in available():
        assert name == "strict" or f"| `{name}` | " in text
