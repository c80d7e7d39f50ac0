"""What a dialect still lacks to be supported: everything that rests on it, looked for once.

Rule 1: a dialect has at least `FEWEST_BASES` good recordings, mutants, its own suite with a
table of what its events carry, and a strict profile.
Rule 2: one that is asked at an address has the form of its requests and a script of answers.
Rule 3: every type that its edits look for occurs in its recordings: else they never act.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from conformance.cassette import discover
from conformance.core import shipped
from conformance.core.json_values import text_at
from conformance.dialects import get
from conformance.dialects.base import Dialect
from conformance.editing.stream import Stream
from conformance.judging.suites import shipped_suites
from conformance.mutate.base_recordings import BaseRecording, open_base
from conformance.mutate.stream import mutation_of
from conformance.profiles.lookup import available
from conformance.rules.forms.carries import Carries
from conformance.rules.model import Rule

FEWEST_BASES: Final = 5


def dialect_gaps(name: str) -> list[str]:
    """What the dialect lacks, a sentence each. Raises UsageError for one that is not known."""
    dialect = get(name)
    bases = [base for base in _recordings(name) if _is_of(base, name)]
    return [
        *_recording_gaps(name, bases),
        *_rule_gaps(name),
        *_request_gaps(dialect),
        *_layout_gaps(name, bases),
    ]


def _recordings(folder: str) -> Iterator[BaseRecording]:
    """The shipped recordings below a folder that are no server's own: those keep every rule."""
    root = shipped.cassettes()
    held = root / folder
    every = (open_base(path, root) for path in (discover(held) if held.is_dir() else ()))
    return (each for each in every if not each.is_live)


def _is_of(base: BaseRecording, name: str) -> bool:
    exchanges = base.cassette.exchanges
    return (exchanges[0].dialect or base.cassette.header.dialect) == name


def _recording_gaps(name: str, bases: Sequence[BaseRecording]) -> Iterator[str]:
    if len(bases) < FEWEST_BASES:
        yield f"{len(bases)} recordings keep every rule, and {FEWEST_BASES} have to"
    if not any(_is_of(mutant, name) for mutant in _recordings("mutants")):
        yield "no mutant is a recording of it"
    if ("strict", name) not in {each[:2] for each in available()}:
        yield "no profile strict declares its knobs"


def _rule_gaps(name: str) -> Iterator[str]:
    rules: list[Rule] = [rule for suite in shipped_suites() for rule in suite.rules]
    mine = [rule for rule in rules if name in rule.dialects]
    if not mine:
        yield "no suite has rules of it"
    elif not any(isinstance(rule.form, Carries) for rule in mine):
        yield "no rule says what its events hold"


def _request_gaps(dialect: Dialect) -> Iterator[str]:
    if dialect.endpoint is None or dialect.is_application:
        return
    if dialect.request is None:
        yield "its requests have no form, so that no question can be put"
    if dialect.script is None:
        yield "no script writes its answers"


def _layout_gaps(name: str, bases: Sequence[BaseRecording]) -> Iterator[str]:
    layout = mutation_of(name).layout
    streams = [stream for base in bases for stream in base.streams() if stream.dialect == name]
    types = {piece.type for stream in streams for _, piece in stream.events()}
    texts = {kind for stream in streams for kind in _text_types(stream)}
    for kind in sorted({*layout.openings, *layout.starts, *layout.ends, *layout.terminals} - types):
        yield f"its edits look for {kind}, which occurs in no recording"
    for kind in sorted(layout.texts.keys() - texts):
        yield f"its edits look for text in {kind}, which occurs in no recording"


def _text_types(stream: Stream) -> Iterator[str]:
    """The types by which a layout shows deltas."""
    path = stream.layout.text_type
    for _, piece in stream.events():
        yield text_at(piece.payload, *path) if path else piece.type
