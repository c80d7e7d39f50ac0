"""The eight forms as they are written in YAML, read into values of `model`."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from typing import Any, Final, Literal, TypeVar

from conformance.core.errors import SpecError
from conformance.rules import grammar
from conformance.rules.model import (
    Alias,
    Answer,
    Are,
    Compare,
    Each,
    Fold,
    Form,
    Gather,
    Grammar,
    Never,
    Overlap,
    Relation,
    Side,
    Stated,
    Timing,
    Values,
    With,
)
from conformance.rules.names import Names
from conformance.rules.node import Node
from conformance.rules.patterns import PatternError, probe, regex, schema_validator

ARE: Final[tuple[Are, ...]] = ("constant", "distinct", "contiguous", "rising")
WITH: Final[tuple[With, ...]] = ("concat", "list", "count", "sum", "json")
GATHER: Final[tuple[Gather, ...]] = ("concat", "sum", "count", "merged")
RELATIONS: Final[tuple[Relation, ...]] = ("equal", "contains", "greater")
C = TypeVar("C", bound=str)

VIEWS: Final[tuple[Literal["wire", "client"], ...]] = ("wire", "client")


def chosen(node: Node, choices: Collection[C]) -> C:
    """The one of `choices` that the node names."""
    name = node.one_of(choices)
    return next(choice for choice in choices if choice == name)


class FormReader:
    """Reads one rule's form; `used` gathers the events that the rule names."""

    def __init__(self, names: Names) -> None:
        self.names = names
        self.used: dict[str, Alias] = {}

    def read(self, rule: Node) -> Form:
        """The form of a rule; exactly one of FORMS must be there."""
        entries = rule.mapping()
        found = [name for name in FORMS if name in entries]
        if len(found) != 1:
            forms = ", ".join(FORMS)
            came = " and ".join(found) or "none"
            raise rule.error(f"a rule has exactly one form ({forms}), got {came}")
        return FORMS[found[0]](self, rule, entries[found[0]])

    def named(self, node: Node | None) -> tuple[str, ...]:
        """One event name or a list of them."""
        if node is None:
            return ()
        nodes = node.sequence() if node.kind == "sequence" else (node,)
        if not nodes:
            raise node.error("expected an event or a list of events, got an empty list")
        return tuple(self._use(each) for each in nodes)

    def _use(self, node: Node) -> str:
        alias = self.names.resolve(node)
        self.used[alias.name] = alias
        return alias.name

    def taken(self, over: Node, take: Node | None) -> Mapping[str, str]:
        """`over: {event: path}`, or `over: events` with `take: path`."""
        if over.kind == "mapping":
            entries = over.mapping()
            if not entries:
                raise over.error("expected a map from event to path, got an empty one")
            return {self._use(over.key(name)): path.string() for name, path in entries.items()}
        path = take.string() if take else ""
        return dict.fromkeys(self.named(over), path)

    # One method per form...

    def grammar(self, rule: Node, node: Node) -> Grammar:  # noqa: ARG002  # one signature for all
        text = node.string()
        try:
            root = grammar.parse(text)
        except grammar.GrammarError as err:
            raise _inside(node, err) from err
        for name in sorted(grammar.names(root)):
            self._use(_renamed(node, name))
        return Grammar(root, text)

    def never(self, rule: Node, node: Node) -> Never:
        return Never(self.named(node), self.named(rule.get("after")), self.named(rule.get("until")))

    def response(self, rule: Node, node: Node) -> Answer:  # noqa: ARG002  # one signature for all forms
        entries = node.mapping({"when", "then", "before", "opens"})
        then = self.named(node.required("then"))
        if "opens" in entries and "when" in entries:
            raise node.key("opens").error("opens stands for when: give one of them")
        return Answer(
            then,
            self.named(entries.get("when")),
            self.named(entries.get("before")),
            self.named(entries.get("opens")),
        )

    def values(self, rule: Node, node: Node) -> Values:  # noqa: ARG002  # as above
        entries = node.mapping({"of", "path", "are", "start"})
        of = node.required("of")
        path = entries.get("path")
        if path is None and of.kind != "mapping":
            raise node.error("key 'path' is missing")
        are = chosen(node.required("are"), ARE)
        start = _start(node, entries.get("start"), are)
        return Values(self.taken(of, path), are, start)

    def each(self, rule: Node, node: Node) -> Each:  # noqa: ARG002  # as above
        node.mapping({"of", "schema"})
        schema = node.required("schema")
        plain = schema.plain()
        _compiles(schema, lambda: probe(plain, schema_validator))
        return Each(self.named(node.required("of")), plain)

    def fold(self, rule: Node, node: Node) -> Fold:  # noqa: ARG002  # as above
        entries = node.mapping({"over", "take", "with", "order", "minus", "at", *_COMPARISONS})
        how = chosen(node.required("with"), WITH) if "with" in entries else "concat"
        self._one_comparison(node, entries, how)
        _one_use(node, entries, how)
        if how != "count" and node.required("over").kind != "mapping" and "take" not in entries:
            raise node.error("key 'take' is missing")
        return Fold(
            self.taken(node.required("over"), entries.get("take")),
            how,
            order=entries["order"].string() if "order" in entries else None,
            minus=_texts(entries["minus"]) if "minus" in entries else (),
            equals=self._stated(entries.get("equals")),
            contains=self._stated(entries.get("contains")),
            lacks=self._lacks(entries.get("lacks")),
            matches=_matches(entries.get("matches")),
            at_least=entries["at_least"].number() if "at_least" in entries else None,
            grows=entries["grows"].boolean() if "grows" in entries else None,
            at=self.named(entries.get("at")),
        )

    @staticmethod
    def _one_comparison(node: Node, entries: Mapping[str, Node], how: With) -> None:
        given = [name for name in _COMPARISONS if name in entries]
        if how == "json" and given:
            message = f"with json asks whether the text is JSON: {given[0]!r} does not go with it"
            raise node.key(given[0]).error(message)
        if len(given) + (how == "json" and not given) != 1:
            wanted = ", ".join(_COMPARISONS)
            raise node.error(f"a fold compares in exactly one way ({wanted}), got {len(given)}")
        if "grows" in given and entries["grows"].boolean():
            raise entries["grows"].error("expected false, got true")

    def _stated(self, node: Node | None) -> Stated | None:
        if node is None:
            return None
        node.mapping({"in", "path"})
        return Stated(self.named(node.required("in")), node.required("path").string())

    def _lacks(self, node: Node | None) -> Any:
        if node is None or node.kind != "mapping":
            return _texts(node) if node else None
        entries = node.mapping({"over", "take", "at_least"})
        paths = self.taken(node.required("over"), entries.get("take"))
        return Overlap(paths, node.required("at_least").integer())

    def timing(self, rule: Node, node: Node) -> Timing:  # noqa: ARG002  # as above
        entries = node.mapping({"of", "largest_gap", "start", "within"})
        if ("largest_gap" in entries) == ("within" in entries):
            raise node.error("timing has either largest_gap or within, in milliseconds")
        gap, within = entries.get("largest_gap"), entries.get("within")
        return Timing(
            self.named(node.required("of")),
            largest_gap=gap.number() if gap else None,
            start=self.named(entries.get("start")),
            within=within.number() if within else None,
        )

    def compare(self, rule: Node, node: Node) -> Compare:  # noqa: ARG002  # as above
        node.mapping({"left", "right", "are"})
        left, right = self._side(node.required("left")), self._side(node.required("right"))
        are = chosen(node.required("are"), RELATIONS)
        if left.how != right.how:
            raise node.error(f"sides that compare collect alike, got {left.how} and {right.how}")
        if left.how not in _COMPARABLE[are]:
            wanted = " or ".join(_COMPARABLE[are])
            raise node.required("are").error(f"{are} compares {wanted}, got {left.how}")
        return Compare(left, right, are)

    def _side(self, node: Node) -> Side:
        entries = node.mapping({"role", "hop", "view", "over", "take", "with"})
        how = chosen(entries["with"], GATHER) if "with" in entries else "concat"
        return Side(
            self.taken(node.required("over"), entries.get("take")),
            how,
            role=entries["role"].string() if "role" in entries else "",
            hop=entries["hop"].string() if "hop" in entries else "",
            view=chosen(entries["view"], VIEWS) if "view" in entries else "wire",
        )


_COMPARABLE: Final[Mapping[Relation, tuple[Gather, ...]]] = {
    "equal": GATHER,
    "contains": ("concat", "merged"),
    "greater": ("sum", "count"),
}
_COMPARISONS: Final = ("equals", "contains", "lacks", "matches", "at_least", "grows")

FORMS: Final[Mapping[str, Callable[[FormReader, Node, Node], Form]]] = {
    "grammar": FormReader.grammar,
    "never": FormReader.never,
    "response": FormReader.response,
    "values": FormReader.values,
    "each": FormReader.each,
    "fold": FormReader.fold,
    "timing": FormReader.timing,
    "compare": FormReader.compare,
}


def _start(values: Node, node: Node | None, are: Are) -> Any:
    """Where a contiguous series begins: a number or a `$knob`."""
    if node is None:
        return None
    if are != "contiguous":
        raise values.key("start").error("only contiguous values have a start")
    return node.string() if str(node.value).startswith("$") else node.number()


def _texts(node: Node) -> Any:
    """A text, a list of texts, or a `$knob` where either may stand."""
    nodes = node.sequence() if node.kind == "sequence" else (node,)
    for each in nodes:
        each.string()
    return node.plain()


# Option of a fold -> what it goes with; elsewhere it would be ignored in silence.
_FITTING: Final[Mapping[str, tuple[str, ...]]] = {
    "at": ("json", "matches", "at_least"),
    "order": ("list",),
    "minus": ("list",),
}


def _one_use(fold: Node, entries: Mapping[str, Node], how: With) -> None:
    """Refuses options that the fold's comparison does not look at."""
    given = {how, *(name for name in _COMPARISONS if name in entries)}
    for option, fitting in _FITTING.items():
        if option in entries and given.isdisjoint(fitting):
            raise fold.key(option).error(f"{option!r} goes with {', '.join(fitting)} only")
    if "contains" in given and how not in ("concat", "list"):
        raise fold.key("contains").error(f"contains compares texts and lists, got {how}")
    if not {"lacks", "grows"}.isdisjoint(given) and how != "concat":
        raise fold.required("with").error(f"expected concat, got {how}")


def _matches(node: Node | None) -> str | None:
    if node is None:
        return None
    pattern = node.string()
    _compiles(node, lambda: regex(pattern))
    return pattern


def _compiles(node: Node, attempt: Callable[[], object]) -> None:
    try:
        attempt()
    except PatternError as err:
        raise node.error(str(err)) from err


def _inside(node: Node, err: grammar.GrammarError) -> SpecError:
    return node.source.error(node.line, node.column + node.quoted + err.column, str(err))


def _renamed(node: Node, name: str) -> Node:
    """A node for one name inside a grammar's text, at its own column."""
    found = re.search(rf"(?<![\w.\-\[]){re.escape(name)}(?![\w.\-\]])", str(node.value))
    at = found.start() if found else 0
    return Node("scalar", name, node.line, node.column + node.quoted + at, node.source)
