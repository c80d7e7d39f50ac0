"""What the forms share when they are read from YAML: events by name, paths, texts."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, TypeVar

from conformance.rules.alias import Alias
from conformance.rules.names import Names
from conformance.rules.node import Node
from conformance.rules.patterns import PatternError

C = TypeVar("C", bound=str)


def chosen(node: Node, choices: Collection[C]) -> C:
    """The one of `choices` that the node names."""
    name = node.one_of(choices)
    return next(choice for choice in choices if choice == name)


class FormReader:
    """Reads one rule's form; `used` gathers the events that the rule names."""

    def __init__(self, names: Names) -> None:
        self.names = names
        self.used: dict[str, Alias] = {}

    def named_events(self, node: Node | None) -> tuple[str, ...]:
        if node is None:
            return ()
        nodes = node.sequence() if node.kind == "sequence" else (node,)
        if not nodes:
            raise node.error("expected an event or a list of events, got an empty list")
        return tuple(self.use(each) for each in nodes)

    def use(self, node: Node) -> str:
        """The event that a node names."""
        alias = self.names.resolve(node)
        self.used[alias.name] = alias
        return alias.name

    def event_paths(self, over: Node, take: Node | None) -> Mapping[str, str]:
        """`over: {event: path}`, or `over: events` with `take: path`."""
        if over.kind == "mapping":
            entries = over.mapping()
            if not entries:
                raise over.error("expected a map from event to path, got an empty one")
            return {self.use(over.key(name)): path.string() for name, path in entries.items()}
        path = take.string() if take else ""
        return dict.fromkeys(self.named_events(over), path)


def read_texts(node: Node) -> Any:
    """A text, a list of texts, or a `$knob` where either may stand."""
    nodes = node.sequence() if node.kind == "sequence" else (node,)
    for each in nodes:
        each.string()
    return node.plain()


def must_compile(node: Node, attempt: Callable[[], object]) -> None:
    """Raises the fault of a pattern at the slice_ where it is written."""
    try:
        attempt()
    except PatternError as err:
        raise node.error(str(err)) from err
