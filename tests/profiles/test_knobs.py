"""Declarations of knobs: what they allow, and mistakes where they stand."""

from __future__ import annotations

import pytest

from conformance.core.errors import SpecError
from conformance.profiles.knobs import Knob, declare
from conformance.rules.document import parse


def declared(text: str) -> Knob:
    return declare("k", parse(text, "k.yaml"))


CONSTANTS = "{value: once, says: s, values: [once, true, 2]}"

ALLOWED: tuple[tuple[str, str, object], ...] = (
    (CONSTANTS, "true", True),
    (CONSTANTS, "2", 2),
    ('{value: a, says: s, values: [a, "null"]}', '"null"', "null"),
    ("{value: [], says: s, values: {type: list, of: pair}}", "[[a, b]]", [["a", "b"]]),
    ("{value: [a], says: s, values: {type: list}}", "[]", []),
    ("{value: a, says: s, values: {type: string}}", "b", "b"),
    ("{value: 1, says: s, values: {type: integer}}", "7", 7),
    ("{value: 1, says: s, values: {type: number}}", "0.5", 0.5),
    ("{value: true, says: s, values: {type: boolean}}", "false", False),
    ('{value: ".*", says: s, values: {type: pattern}}', '"^gpt-5|o[134]"', "^gpt-5|o[134]"),
)


@pytest.mark.parametrize(("declaration", "value", "plain"), ALLOWED)
def test_allowed_value_is_read(declaration: str, value: str, plain: object) -> None:
    found = declared(declaration).read(parse(value, "p.yaml"))
    assert (found, type(found)) == (plain, type(plain))


REFUSED = (
    (CONSTANTS, "1", "knob 'k' is one of once, true, 2, got 1"),
    (CONSTANTS, '"true"', "knob 'k' is one of once, true, 2, got 'true' (did you mean 'true'?)"),
    (CONSTANTS, "[once]", "knob 'k' is one of once, true, 2, got ['once']"),
    ("{value: 1, says: s, values: {type: integer}}", "1.5", "expected an integer, got 1.5"),
    ("{value: 1, says: s, values: {type: number}}", "true", "expected a number, got true"),
    ("{value: a, says: s, values: {type: string}}", '""', "expected a string, got an empty one"),
    (
        '{value: ".*", says: s, values: {type: pattern}}',
        '"gpt-(5"',
        (
            "'gpt-(5' is no regular expression that runs in linear time: no look-around, "
            "no back-references"
        ),
    ),
)


@pytest.mark.parametrize(("declaration", "value", "message"), REFUSED)
def test_other_value_is_refused(declaration: str, value: str, message: str) -> None:
    with pytest.raises(SpecError) as caught:
        declared(declaration).read(parse(value, "p.yaml"))
    assert str(caught.value) == f"p.yaml:1:1: {message}"


WRONG = (
    ("{value: a, says: s, values: [b, c]}", "9: knob 'k' is one of b, c, got 'a'"),
    ("{value: a, says: s, values: [a]}", "29: a knob has at least two values"),
    ("{value: a, says: s, values: [a, a]}", "33: 'a' is listed twice"),
    ("{value: a, says: s, values: [a, null]}", "33: an allowed value is a string"),
    ("{value: a, says: s, values: [a, [b]]}", "33: an allowed value is a string"),
    ("{value: a, says: s, values: {type: text}}", "36: expected one of list, string"),
    ("{value: a, says: s, values: {type: string, of: pair}}", "44: only a list has 'of'"),
    ("{value: 1, says: s, values: {type: boolean}}", "9: expected true or false, got 1"),
    ("{value: a, values: [a, b]}", "1: key 'says' is missing"),
    ("{value: a, says: s, values: [a, b], because: c}", "37: unknown key 'because'"),
    ("{value: a, says: s, values: [a, b], side: us}", "43: expected one of server, client"),
)


@pytest.mark.parametrize(("text", "message"), WRONG)
def test_mistake_in_a_declaration(text: str, message: str) -> None:
    with pytest.raises(SpecError) as caught:
        declared(text)
    assert str(caught.value).startswith(f"k.yaml:1:{message}")
