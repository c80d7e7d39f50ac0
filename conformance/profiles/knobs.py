"""Knobs: the ways in which systems that speak one dialect are known to differ.

A dialect's `strict` profile declares every knob once: the strict value, what it is, and which
values are allowed. Allowed constants are in order, the strictest first and the most permissive
last, wherever they can be ordered.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, Literal

from msgspec import Struct
from msgspec.structs import replace

from conformance.core.errors import Place
from conformance.dialects.neutral_knobs import neutral_knobs
from conformance.rules.node import Node, nearest, shown
from conformance.rules.patterns import PatternError, regex

KnobSide = Literal["server", "client"]
SIDES: Final[tuple[KnobSide, ...]] = ("server", "client")


class Knob(Struct, frozen=True):
    """A declaration. `values` are the allowed constants, empty where `type` rules.

    `type` is `list`, `string`, `pattern`, `integer`, `number`, `boolean`, or empty for constants;
    `of` says what a list holds: `string`, or `pair` for two strings. A pattern is a regular
    expression. `side` says whose ways it is about, a server's or a client's.
    """

    name: str
    strict: Any
    says: str
    values: tuple[Any, ...]
    type: str
    of: str
    place: Place
    side: KnobSide = "server"

    def read(self, node: Node) -> Any:
        """Give the plain value at `node`; one that is not allowed is a `SpecError`."""
        if self.type:
            _TYPES[self.type](node, self.of)
            return node.plain()
        value = node.plain()
        if not any(type(value) is type(each) and value == each for each in self.values):
            allowed = [each if isinstance(each, str) else shown(each) for each in self.values]
            message = f"knob {self.name!r} is one of {', '.join(allowed)}, got {shown(value)}"
            hint = nearest(value, allowed) if isinstance(value, str) else ""
            raise node.error(message, hint=hint)
        return value


def declare(name: str, node: Node) -> Knob:
    """Read one declaration of a strict profile: `value`, `says`, `values`, maybe `side`.

    Without `value` it is that of all dialects, where they have such a knob.
    """
    node.mapping(known={"value", "says", "values", "side"})
    allowed = node.required("values")
    says = node.required("says").string()
    side = read_side(node) or "server"
    if allowed.kind == "sequence":
        knob = Knob(name, None, says, _read_constants(allowed), "", "", node.place, side)
    else:
        knob = Knob(name, None, says, (), *_read_type(allowed), node.place, side)
    if node.get("value") is None and name in neutral_knobs():
        return replace(knob, strict=neutral_knobs()[name])
    return replace(knob, strict=knob.read(node.required("value")))


def read_side(node: Node) -> KnobSide | None:
    """Give the `side` that a file states, None where it states none."""
    at = node.get("side")
    return next(side for side in SIDES if side == at.one_of(SIDES)) if at else None


def _read_constants(node: Node) -> tuple[Any, ...]:
    items = node.sequence()
    if len(items) < 2:
        raise node.error("a knob has at least two values")
    for number, item in enumerate(items):
        if item.kind != "scalar" or item.value is None:
            raise item.error("an allowed value is a string, a number, true or false")
        if any((item.value, item.quoted) == (each.value, each.quoted) for each in items[:number]):
            raise item.error(f"{shown(item.value)} is listed twice")
    return tuple(item.value for item in items)


def _read_type(node: Node) -> tuple[str, str]:
    node.mapping(known={"type", "of"})
    type_ = node.required("type").one_of(tuple(_TYPES))
    of = node.get("of")
    if of is None:
        return type_, "string" if type_ == "list" else ""
    if type_ != "list":
        raise node.key("of").error("only a list has 'of'")
    return type_, of.one_of(("string", "pair"))


def _check_list(node: Node, of: str) -> None:
    for item in node.sequence():
        if of == "string":
            item.string()
        elif len([part.string() for part in item.sequence()]) != 2:
            raise item.error(f"expected two strings, got {len(item.sequence())}")


def _check_pattern(node: Node, _of: str) -> None:
    try:
        regex(node.string())
    except PatternError as err:
        raise node.error(str(err)) from err


_TYPES: Final[Mapping[str, Callable[[Node, str], object]]] = {
    "list": _check_list,
    "string": lambda node, _: node.string(),
    "pattern": _check_pattern,
    "integer": lambda node, _: node.integer(),
    "number": lambda node, _: node.number(),
    "boolean": lambda node, _: node.boolean(),
}


def spell_value(value: Any) -> str:
    """A knob's value, or a pattern of values, as people write it."""
    if isinstance(value, list | tuple):
        return ", ".join(map(spell_value, value)) or "nothing"
    if isinstance(value, Mapping):
        return "; ".join(f"{key} {spell_value(each)}" for key, each in value.items())
    return str(value).lower() if value is None or isinstance(value, bool) else str(value)
