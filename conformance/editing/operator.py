"""What a mutation operator is, and how its mutants of one recording are made.

Rule 1: an operator names the places where it can act and makes one edit per place.
Rule 2: of many places at most `most` are taken, evenly over the stream; the same seed always
        takes the same ones.
Rule 3: an edit that leaves the exchange as it was is no mutant.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final, Literal

from msgspec import Struct, field

from conformance.core.events import Exchange
from conformance.editing.layout import StreamLayout
from conformance.editing.stream import Stream

Outlook = Literal["kill", "pass", "either"]
"""`kill`: a MUST or SHOULD finding has to come. `pass`: nothing new may be found. `either`:
nothing on the wire distinguishes the mutant from a good stream; the operator says why."""

Sites = Callable[[Stream], Sequence[int]]
Edit = Callable[[Stream, int], Stream | None]

FAMILIES: Final = {
    "F": "framing bytes",
    "B": "boundaries and markers",
    "X": "lifecycle",
    "I": "ids, indices, sequence",
    "S": "signatures and opaque data",
    "U": "usage, finish, terminator",
    "N": "naming and harmless variation",
    "T": "tool calls",
    "E": "errors and cut streams",
    "P": "switches not honoured",
    "H": "history sent back",
    "C": "clients",
}


_OF_FRAMING: Final = "F"


class Operator(Struct, frozen=True):
    """One kind of edit. `reason` says why the outcome is open where `must` is `either`.

    `dialect` is the only one it is of; empty: it acts wherever it finds a place.
    """

    name: str
    says: str
    sites: Sites
    edit: Edit
    must: Outlook = "kill"
    reason: str = ""
    renumbers: bool = True
    most: int = 2
    dialect: str = ""

    @property
    def family(self) -> str:
        return self.name[0]


class OperatorTable(list[Operator]):
    """Operators, in the order in which a module states them."""

    def add(
        self,
        name: str,
        says: str,
        must: Outlook = "kill",
        reason: str = "",
        *,
        most: int = 2,
        renumbers: bool = True,
    ) -> Callable[[Sites, Edit], None]:
        """States an operator; where it acts and its edit are given to what this returns."""
        return lambda sites, edit: self.append(
            Operator(name, says, sites, edit, must, reason, renumbers, most)
        )

    def edit(
        self,
        name: str,
        sites: Sites,
        must: Outlook = "kill",
        reason: str = "",
        *,
        most: int = 2,
        renumbers: bool = True,
    ) -> Callable[[Edit], Edit]:
        """Makes a function the edit of an operator; its docstring says what the operator does."""

        def with_edit(edit: Edit) -> Edit:
            add = self.add(name, edit.__doc__ or "", must, reason, most=most, renumbers=renumbers)
            add(sites, edit)
            return edit

        return with_edit


class Mutation(Struct, frozen=True):
    """What a dialect gives to mutation: where its streams hold what, and operators of its own."""

    layout: StreamLayout = field(default_factory=StreamLayout)
    operators: tuple[Operator, ...] = ()


class Mutant(Struct, frozen=True):
    """One edited exchange; `site` is the place that the operator chose."""

    operator: str
    must: Outlook
    site: int
    exchange: Exchange

    @property
    def name(self) -> str:
        return f"{self.operator}.{self.site}"


def choose_sites(sites: Sequence[int], most: int, seed: int = 0) -> list[int]:
    """At most that many of the places, evenly; a seed shifts the choice."""
    if len(sites) <= most:
        return list(sites)
    step = len(sites) / most
    # The golden ratio spreads consecutive seeds as evenly as can be.
    shift = (seed * 0.618) % 1.0
    return [sites[int((n + shift) * step)] for n in range(most)]


def make_mutants(
    operator: Operator, stream: Stream, *, seed: int = 0, most: int | None = None
) -> Iterator[Mutant]:
    """The operator's mutants of one stream; none where it does not apply."""
    is_unframed = operator.family == _OF_FRAMING and not stream.framed
    if operator.dialect not in ("", stream.dialect) or is_unframed:
        return
    for site in choose_sites(operator.sites(stream), most or operator.most, seed):
        edited = operator.edit(stream, site)
        if edited is None:
            continue
        edited = edited.renumbered() if operator.renumbers else edited
        exchange = edited.result()
        if exchange != stream.exchange:
            yield Mutant(operator.name, operator.must, site, exchange)
