"""Tables of typed events: what follows from one, and what every table of a dialect keeps to."""

from __future__ import annotations

import importlib
import pkgutil
from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

import pytest

import conformance.dialects
from conformance.core.reading import Reading
from conformance.dialects.event_table import EventTable

TABLE: Final = EventTable(
    openings=("begin",),
    starts=("block.start",),
    words={
        "thought": {"thinking": ("delta", "text")},
        "both": {"text": ("delta", "text"), "arguments": ("delta", "json")},
    },
    delta_type=("delta", "type"),
    text_ends={"block.delta": "block.end"},
    ends=("block.end",),
    finishes=("over",),
    others=("note",),
)


def tables_of_dialects() -> Iterator[Any]:
    found: dict[int, EventTable] = {}
    for module in pkgutil.walk_packages(conformance.dialects.__path__, "conformance.dialects."):
        for name, value in vars(importlib.import_module(module.name)).items():
            if isinstance(value, EventTable) and id(value) not in found:
                found[id(value)] = value
                yield pytest.param(value, id=f"{module.name.split('.')[2]}-{name}")


def test_types_are_all_that_the_table_names_once_each() -> None:
    assert TABLE.types == {*("begin", "block.start", "block.delta", "block.end", "over", "note")}


def test_bounds_have_the_names_of_wire_events() -> None:
    bounds = TABLE.bounds("x.")
    assert bounds.first == bounds.once == {"x.begin"}
    assert bounds.last == {"x.over"}


def test_a_layout_takes_what_no_table_has() -> None:
    layout = TABLE.layout(named_events=True, starts=("block.start",))
    assert layout.named_events
    assert layout.starts == ("block.start",)
    assert layout.ends == ("block.end", "over")
    assert TABLE.layout().starts == ("begin", "block.start")


@pytest.mark.parametrize(
    ("delta", "text"),
    [
        ({"type": "thought", "text": "a"}, "delta.text"),
        ({"type": "both", "json": "{"}, "delta.json"),
        ({"type": "both", "json": "{", "text": "a"}, None),  # one column would hide the other
        ({"type": "both", "text": ""}, None),
        ({"type": "both", "text": ["a"]}, None),
        ({"type": "other", "text": "a"}, None),
        ({"type": ["both"], "text": "a"}, None),
        ("thought", None),
    ],
)
def test_a_delta_with_one_text_has_a_column(delta: object, text: str | None) -> None:
    columns = TABLE.columns()({"type": "block.delta", "delta": delta}, Reading())
    assert (columns and columns.text) == text
    assert TABLE.columns()({"type": "note", "delta": delta}, Reading()) is None


def test_other_fields_stand_next_to_the_text_or_keep_it_alone() -> None:
    delta = {"type": "block.delta", "delta": {"type": "thought", "text": "a"}}
    timed = TABLE.columns(
        lambda fields: ("time",) if "time" in fields else None, {"block.delta": ""}
    )
    columns = timed({**delta, "time": 1}, Reading())
    assert columns is not None
    assert columns.paths == ("delta.text", "time")
    assert columns is timed({**delta, "time": 2}, Reading())
    assert timed(delta, Reading()) is None


@pytest.mark.parametrize("table", list(tables_of_dialects()))
def test_a_type_does_one_thing_and_texts_end_with_an_end(table: EventTable) -> None:
    stated = (*table.openings, *table.starts, *table.ends, *table.finishes, *table.others)
    assert [kind for kind, count in Counter(stated).items() if count > 1] == []
    assert not table.delta_events.intersection(stated)
    assert set(table.text_ends.values()) <= set(table.ends)
    assert set(table.text_ends) <= table.delta_events
