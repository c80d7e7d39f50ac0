"""Edits that an official client shows less of, or refuses, and of which nothing is found."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from fnmatch import fnmatchcase
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, Final, NamedTuple

from conformance.editing.stream import Stream
from conformance.judging.checker import Checker
from conformance.mutate import BaseRecording, shipped_bases
from conformance.rules.verdicts import Level, Verdict
from tests.oracles.key_edits import KeyEdit, key_edits
from tests.oracles.shown import Reader, Shown, shown_by
from tests.tables import read_table

_PERMITTED: Final = Path(__file__).with_name("permitted.yaml")


class OfficialClient(NamedTuple):
    """One way in which users of a package read a dialect: `reader` is a module and a function.

    `sample` are the recordings, below the folder of the dialect, that every run of it reads.
    """

    dialect: str
    package: str
    reader: str
    sample: tuple[str, ...] = ()

    def load(self) -> Reader:
        module, name = self.reader.split(":")
        found: Reader = getattr(import_module(f"tests.oracles.{module}"), name)
        return found


class Permitted(NamedTuple):
    """Edits of keys that are legal: patterns of the path, the edits, and why with the source."""

    dialect: str
    path: str
    edits: tuple[str, ...]
    because: str

    def fits(self, dialect: str, kind: KeyEdit) -> bool:
        return (
            fnmatchcase(dialect, self.dialect)
            and fnmatchcase(kind.path, self.path)
            and kind.edit in self.edits
        )


class Found(NamedTuple):
    """A rule with what it says of a stream; one that was left open says nothing."""

    rule: str
    message: str = ""
    level: Level = Level.MAY


class Tried(NamedTuple):
    """An edit that a client read; `new` are the rules that found it, where anything was lost."""

    base: str
    kind: KeyEdit
    before: Shown
    after: Shown
    new: frozenset[str]

    @property
    def loses(self) -> bool:
        return self.before != self.after

    @property
    def is_silent(self) -> bool:
        return self.loses and not self.new


def is_permitted(dialect: str, kind: KeyEdit) -> bool:
    """Whether `permitted.yaml` says that the edit is legal."""
    return any(row.fits(dialect, kind) for row in permitted())


@cache
def permitted() -> tuple[Permitted, ...]:
    """What `permitted.yaml` says."""
    rows: list[dict[str, Any]] = read_table(_PERMITTED)
    return tuple(
        Permitted(row["dialect"], row["path"], tuple(row["edits"].split()), row["because"])
        for row in rows
    )


def lost_unseen(dialect: str, tried: Iterable[Tried]) -> list[str]:
    """What a client loses and nobody finds or permits, in words."""
    return [
        f"{each.base}: {each.kind} -> {each.after.raised or each.after.said}"
        for each in tried
        if each.is_silent and not is_permitted(dialect, each.kind)
    ]


def permitted_in_vain(dialect: str, tried: Iterable[Tried]) -> list[Permitted]:
    """What is permitted in a dialect, and no client loses unseen."""
    silent = [each.kind for each in tried if each.is_silent]
    rows = [row for row in permitted() if fnmatchcase(dialect, row.dialect)]
    return [row for row in rows if not any(row.fits(dialect, kind) for kind in silent)]


def tried_edits(dialect: str, reader: Reader, names: Collection[str] = ()) -> Iterator[Tried]:
    """Every kind of edit of each recording that the client reads; `names`: of these.

    What fails in the recording itself finds no edit; one that breaks a MUST is left out, as the
    rule would be silent about more.
    """
    checker = Checker(dialect, "strict")
    wanted = {f"{dialect}/{name}" for name in names}
    seen: set[tuple[str, KeyEdit]] = set()
    for base, stream in _streams(dialect):
        if wanted and base.name not in wanted:
            continue
        before = shown_by(reader, stream.body)
        plain = found_in(checker, stream)
        if before.raised or not before.said or any(each.level is Level.MUST for each in plain):
            continue
        for kind, edited in key_edits(stream):
            if (base.name, kind) in seen:
                continue
            seen.add((base.name, kind))
            after = shown_by(reader, edited.body)
            new = found_in(checker, edited) - plain if after != before else frozenset()
            yield Tried(base.name, kind, before, after, frozenset(each.rule for each in new))


def _streams(dialect: str) -> Iterator[tuple[BaseRecording, Stream]]:
    for base in _bases():
        for stream in base.streams() if base.name.startswith(f"{dialect}/") else ():
            if stream.dialect == dialect and not stream.is_body:
                yield base, stream


@cache
def _bases() -> tuple[BaseRecording, ...]:
    return tuple(base for base in shipped_bases() if not base.has_client)


def found_in(checker: Checker, stream: Stream) -> frozenset[Found]:
    """What fails of MUST and SHOULD, and the rules that were left open."""
    exchange = stream.exchange
    result = checker.check([stream.body], request=exchange.request, response=exchange.response)
    failed = (Found(each.rule, each.message, each.level) for each in result.findings)
    verdicts = result.verdicts.items()
    left_open = (Found(rule) for rule, what in verdicts if what is Verdict.INCONCLUSIVE)
    return frozenset((*(each for each in failed if each.level is not Level.MAY), *left_open))
