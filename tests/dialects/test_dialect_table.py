"""The table of dialects: what it counts, and a reason wherever it counts nothing."""

from __future__ import annotations

import pytest

from tests.authoring import dialect_table


@pytest.mark.slow
def test_page_is_current() -> None:
    found = dialect_table.counts(dialect_table.judged())
    text = "stale: python -m tests.authoring.dialect_table"
    assert dialect_table.PAGE.read_text(encoding="utf-8") == dialect_table.page(found), text
    empty = {
        (d, name) for d, cells in found.items() for name, number in cells.items() if not number
    }
    stated = {(d, name) for d, cells in dialect_table.reasons().items() for name in cells}
    assert stated == empty, "a reason for every cell that is empty, and for no other"


def test_a_rule_counts_in_every_column_that_names_it() -> None:
    (body,) = [each for each in dialect_table.columns() if each.framing]
    assert body.holds("wire/agui/run-ended")
    named = [each.name for each in dialect_table.columns() if each.holds("wire/agui/run-ended")]
    assert named == ["ends", "body"]
