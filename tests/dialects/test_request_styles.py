"""Styles of requests: what is added to a body, and what it said itself."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.dialects.requests import RequestStyle

STYLE = RequestStyle({"seed": 0, "options": {"temperature": 0, "seed": 0}}, {"limit": "most"})


@pytest.mark.parametrize(
    ("body", "styled"),
    [
        ({"limit": 7}, {"most": 7, "seed": 0, "options": {"temperature": 0, "seed": 0}}),
        (
            {"seed": 3, "options": {"seed": 5, "num_predict": 9}},
            {"seed": 3, "options": {"temperature": 0, "seed": 5, "num_predict": 9}},
        ),
        ({"options": None}, {"options": None, "seed": 0}),
        ({}, {}),
        (7, 7),
    ],
)
def test_what_a_body_says_itself_stays_one_level_deep(body: Any, styled: Any) -> None:
    assert STYLE.apply(body) == styled


def test_a_style_is_left_as_it_was() -> None:
    STYLE.apply({"options": {"num_predict": 9}})
    STYLE.apply({"m": 1})["options"] = {}
    assert STYLE.added["options"] == {"temperature": 0, "seed": 0}
