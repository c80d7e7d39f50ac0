"""Mutants of one recording, judged and written as cassettes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from conformance.cassette import Cassette, write
from conformance.judging.rulebook import Rulebook
from conformance.mutate.bases import SUFFIX, Base
from conformance.mutate.client import client_mutants
from conformance.mutate.operator import Mutant, Operator, mutants

_KEYS: Final = ("base", "operator")


@dataclass(frozen=True, slots=True)
class Tried:
    """A mutant of a recording and the rules that fail on it and not on the recording."""

    mutant: Mutant
    exchange: int
    rules: tuple[str, ...]
    cassette: Cassette


def tried(base: Base, operators: Sequence[Operator], rulebook: Rulebook) -> Iterator[Tried]:
    """Every mutant that the operators make, and those of the client if one reported."""
    plain = base.judged(rulebook)
    for stream in base.streams():
        made = [mutant for each in operators for mutant in mutants(each, stream)]
        for mutant in (*made, *client_mutants(stream.exchange)):
            new = base.judged(rulebook, mutant.exchange).failing - plain.failing
            cassette = _cassette(base, mutant)
            yield Tried(mutant, stream.exchange.number, tuple(sorted(new)), cassette)


def _cassette(base: Base, mutant: Mutant) -> Cassette:
    """The mutant with a header that says what it was made of, and no verdict."""
    cassette = base.with_exchange(mutant.exchange)
    kept = {key: value for key, value in cassette.header.extra.items() if key not in _KEYS}
    extra = {**kept, "base": base.name, "operator": mutant.operator}
    return replace(cassette, header=replace(cassette.header, expect={}, extra=extra))


def save(one: Tried, folder: Path) -> Path:
    """Writes the mutant below the folder, sealed; returns its path."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{one.mutant.name}.{one.exchange}{SUFFIX}"
    write(path, one.cassette, seal=True)
    return path
