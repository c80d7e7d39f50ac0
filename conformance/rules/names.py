"""Resolves a name in a rule: to an alias of its suite, or to a type of the vocabulary."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from conformance.core.events import (
    SEMANTIC_EVENTS,
    TRANSPORT_EVENTS,
    TURN_EVENTS,
    Layer,
    Vocabulary,
)
from conformance.rules.alias import Alias
from conformance.rules.node import Node, nearest
from conformance.rules.patterns import CHOICES, REQUEST, PatternError, probe, references

LAYERS: Final[tuple[Layer, ...]] = ("transport", "wire", "semantic")


def pattern_at(node: Node) -> Any:
    """The pattern in a node of a rule or profile. Raises SpecError if it is not one."""
    pattern = node.plain()
    try:
        probe(pattern)
    except PatternError as err:
        raise node.error(str(err)) from err
    return pattern


class Names:
    """The names that a suite's rules may use. `vocabulary` is None for a neutral suite."""

    def __init__(self, vocabulary: Vocabulary | None) -> None:
        self.vocabulary = vocabulary
        self.aliases: dict[str, Alias] = {}

    def declare(self, name: str, node: Node) -> None:
        """Adds an alias from the suite's `events`."""
        self.aliases[name] = self._read_alias(name, node)

    def resolve(self, node: Node) -> Alias:
        """The alias that a name in a rule stands for."""
        name = node.string()
        found = self.aliases.get(name) or self.direct(name, node)
        if found is None:
            known = [*self.aliases, *SEMANTIC_EVENTS, *TRANSPORT_EVENTS, *self._wire_names()]
            raise node.error(f"unknown event {name!r}", hint=nearest(name, known))
        return found

    def direct(self, name: str, node: Node) -> Alias | None:
        """A type of the vocabulary used without an alias."""
        layers = self.layers_of(name)
        if len(layers) > 1:
            raise node.error(
                f"{name!r} is both a wire and a semantic type",
                hint=f"declare an alias: {{type: {name}, layer: wire}}",
            )
        return Alias(name, name, (), layers[0], node.place) if layers else None

    def layers_of(self, kind: str) -> tuple[Layer, ...]:
        """The layers in which a type occurs."""
        found: list[Layer] = []
        if kind in TRANSPORT_EVENTS:
            found.append("transport")
        if kind in self._wire_names():
            found.append("wire")
        if kind in SEMANTIC_EVENTS:
            found.append("semantic")
        return tuple(found)

    def _wire_names(self) -> frozenset[str]:
        return TURN_EVENTS | (self.vocabulary.wire if self.vocabulary else frozenset())

    def _read_alias(self, name: str, node: Node) -> Alias:
        if node.kind == "scalar":
            return Alias(
                name, node.string(), (), self._read_layer(node, node.string(), None), node.place
            )
        entries = node.mapping()
        kind = node.required("type")
        stated, words = entries.pop("layer", None), entries.pop("shown_as", None)
        entries.pop("type")
        layer = self._read_layer(kind, kind.plain(), stated)
        pairs = tuple((path, pattern_at(value)) for path, value in entries.items())
        shown_as = words.string() if words else ""
        return Alias(name, kind.plain(), pairs, layer, node.place, shown_as)

    def _read_layer(self, node: Node, kind: object, stated: Node | None) -> Layer:
        if isinstance(kind, Mapping):
            pattern_at(node)
            if any(name.startswith((REQUEST, CHOICES)) for name in references(kind)):
                # Which rules an event wakes is worked out once for all exchanges.
                raise node.error("a type cannot depend on the request")
            chosen = stated.one_of(LAYERS) if stated else "wire"
            return next(layer for layer in LAYERS if layer == chosen)
        found = {self._layer_of(each, stated) for each in _each_node(node)}
        if len(found) != 1:
            raise node.error("the types of one event belong to different layers")
        return found.pop()

    def _layer_of(self, node: Node, stated: Node | None) -> Layer:
        kind = node.string()
        layers = self.layers_of(kind)
        if not layers:
            known = [*SEMANTIC_EVENTS, *TRANSPORT_EVENTS, *self._wire_names()]
            raise node.error(f"unknown event type {kind!r}", hint=nearest(kind, known))
        if stated is not None:
            chosen = stated.one_of(layers)
            return next(layer for layer in layers if layer == chosen)
        if len(layers) > 1:
            raise node.error(
                f"{kind!r} is both a wire and a semantic type", hint="say layer: wire or semantic"
            )
        return layers[0]


def _each_node(node: Node) -> tuple[Node, ...]:
    return node.sequence() if node.kind == "sequence" else (node,)
