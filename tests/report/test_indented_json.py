from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.report.indented_json import indented_json

TEXTS = st.text(max_size=4)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXTS
VALUES = st.recursive(
    SCALARS.filter(lambda value: value not in (float("inf"), float("-inf"))),
    lambda each: st.lists(each, max_size=3) | st.dictionaries(TEXTS, each, max_size=3),
    max_leaves=8,
)


@pytest.mark.slow
@given(
    st.dictionaries(
        TEXTS,
        VALUES | st.lists(st.dictionaries(TEXTS, VALUES, max_size=3), max_size=3),
        max_size=4,
    )
)
def test_pieces_are_what_the_standard_library_writes(value: dict[str, Any]) -> None:
    whole = json.dumps(value, indent=2) + "\n"
    assert "".join(indented_json(value)) == whole
    streamed = {n: iter(v) if isinstance(v, list) else v for n, v in value.items()}
    assert "".join(indented_json(streamed)) == whole


def test_lists_in_lists_are_written_value_by_value() -> None:
    def results() -> Iterator[dict[str, Any]]:
        yield {"places": iter([1, 2]), "more": iter(())}

    value = {"runs": iter([{"results": results(), "empty": {}}])}
    meant = {"runs": [{"results": [{"places": [1, 2], "more": []}], "empty": {}}]}
    pieces = list(indented_json(value))
    assert "".join(pieces) == json.dumps(meant, indent=2) + "\n"
    assert len(pieces) > 10


@pytest.mark.parametrize("text", ["\ud800", "\udc00 b", "\U0001f600", "\u2028\x00\x7f\\n"])
def test_any_string_is_written_as_the_standard_library_does(text: str) -> None:
    value = {"a": [{text: [text, 1.0, {}, []]}]}
    assert "".join(indented_json(value)) == json.dumps(value, indent=2) + "\n"


def test_what_json_cannot_hold_is_refused() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        list(indented_json({"a": float("nan")}))
