"""The arguments of each call are JSON by themselves, also where calls share an index."""

from __future__ import annotations

import pytest

import conformance
from conformance.rules.verdicts import Verdict
from tests.authoring.pieces import encoded
from tests.authoring.responses import Item, call, stream

JSON = "wire/responses-parts/arguments-json"
ANOTHER_ID = "wire/responses/item-id"
OSLO, ROME, CUT = '{"city":"Oslo"}', '{"city":"Rome"}', '{"city":"Ro'


@pytest.mark.parametrize(
    ("second", "arguments", "found"),
    [
        (Item(1, "fc_2"), ROME, {}),
        # Responses that were put one behind the other, and bridges that count no items.
        (Item(0, "fc_2"), ROME, {ANOTHER_ID: Verdict.FAIL}),
        (Item(0, "fc_2"), CUT, {ANOTHER_ID: Verdict.FAIL, JSON: Verdict.FAIL}),
        (Item(1, "fc_2"), CUT, {JSON: Verdict.FAIL}),
    ],
)
def test_calls_are_not_joined(second: Item, arguments: str, found: dict[str, Verdict]) -> None:
    events = [*call(Item(0, "fc_1"), "weather", OSLO), *call(second, "weather", arguments)]
    checker = conformance.Checker("openai.responses", rules=[JSON, ANOTHER_ID])
    report = checker.check(map(encoded, stream(events)))

    assert dict(report.verdicts) == {JSON: Verdict.PASS, ANOTHER_ID: Verdict.PASS, **found}
