"""Where the exchanges stand that are linked: in one recording, or in several."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct, field
from msgspec.structs import replace

from conformance.evidence.links.assignment import TurnLink


class ExchangePlaces(Struct, frozen=True):
    """Where exchanges stand: in `file` under their own numbers, or in `others` by their number.

    `carried` are the entries of each request whose answers are in the same file.
    """

    file: str
    others: Mapping[int, tuple[str, int]] = field(default_factory=dict)
    carried: Mapping[int, frozenset[int]] = field(default_factory=dict)

    def place(self, number: int) -> tuple[str, int]:
        """The file of an exchange, and its number there."""
        return self.others.get(number, (self.file, number))

    def name(self, number: int) -> str:
        """The number of an exchange, for a message; with its file where there are several."""
        file, own = self.place(number)
        return f"{own} of {Path(file).name}" if self.others else str(own)

    def apart(self, link: TurnLink, exchange: int) -> TurnLink | None:
        """The link with the answers of other files; None where the request's own has one."""
        file, _ = self.place(exchange)
        answers = tuple(each for each in link.answers if self.place(each.number)[0] != file)
        is_carried = not self.carried.get(exchange, frozenset()).isdisjoint(link.entries)
        return None if is_carried or not answers else replace(link, answers=answers)
