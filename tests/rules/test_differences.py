"""Where two values part: the path, and what either side has there."""

from __future__ import annotations

from typing import Any, Final

import pytest

from conformance.rules.forms.differences import first_difference

THOUGHT: Final = {"type": "thinking.delta", "text": "So."}
SPOKEN: Final = {"type": "text.delta", "text": "Four."}
OVER: Final = {"type": "finish", "reason": "stop"}
SO: Final = '{"type": "thinking.delta", "text": "So."}'
DONE: Final = '{"type": "finish", "reason": "stop"}'


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ([], [THOUGHT], ("0", "nothing (elements: 0)", f"{SO} (elements: 1)")),
        ([SPOKEN, OVER], [SPOKEN], ("1", f"{DONE} (elements: 2)", "nothing (elements: 1)")),
        # What lacks at the beginning, or in the midst, is named, and not what moved to its place.
        (
            [SPOKEN, OVER],
            [THOUGHT, SPOKEN, OVER],
            ("0", "nothing (elements: 2)", f"{SO} (elements: 3)"),
        ),
        (
            [THOUGHT, THOUGHT, SPOKEN, OVER],
            [THOUGHT, SPOKEN, OVER],
            ("1", f"{SO} (elements: 4)", "nothing (elements: 3)"),
        ),
        # Of several only the first is named.
        ([OVER], [THOUGHT, SPOKEN, OVER], ("0", "nothing (elements: 1)", f"{SO} (elements: 3)")),
        # One is another, and one lacks: they part at the other one.
        (
            [THOUGHT, OVER],
            [SPOKEN, OVER, OVER],
            ("0.type (character 1)", "'thinking.delta'", "'text.delta'"),
        ),
        (
            {"summary": [{"text": "A."}]},
            {"summary": [{"text": "A."}, {"text": "B."}]},
            ("summary.1", "nothing (elements: 1)", '{"text": "B."} (elements: 2)'),
        ),
        (
            [{"parts": [1, 2]}],
            [{"parts": [2]}],
            ("0.parts.0", "1 (elements: 2)", "nothing (elements: 1)"),
        ),
        ({"a": 1}, {"a": 1, "b": 2}, ("b", "nothing", "2")),
        ("so be it", "so is it", ("text (character 3)", "'so be it'", "'so is it'")),
    ],
)
def test_difference_names_the_side(left: Any, right: Any, expected: tuple[str, str, str]) -> None:
    assert first_difference(left, right)[:3] == expected
