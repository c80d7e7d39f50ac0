"""Rules compiled once for a dialect and a profile, then used for many streams.

A `Checker` never changes, so threads may share it. It pickles as its ingredients: the dialect by
name, the shipped suites by id, the profile and a user's suites as data. An unpickled checker needs
none of their files and judges by the rules as they were when the first one was made.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from conformance.core.errors import UsageError
from conformance.core.events import Exchange, Request, Response
from conformance.dialects import get
from conformance.dialects.base import Dialect
from conformance.judging.consequences import result_of_bytes
from conformance.judging.exchange_input import (
    GivenChunk,
    checked_ending,
    compression_left,
    given_chunks,
    given_exchange,
    with_clock,
)
from conformance.judging.fast.running import check_wire
from conformance.judging.result import StreamResult
from conformance.judging.rulebook import Rulebook
from conformance.judging.stream_check import BUDGET_MS, StreamCheck, stopped_result
from conformance.judging.suites import load_suites, shipped_suites
from conformance.judging.view import EventListener, JudgeSetting
from conformance.profiles.load import load_profile
from conformance.profiles.lookup import find
from conformance.profiles.profile import Profile
from conformance.rules.model import Suite
from conformance.rules.verdicts import Verdict

ProfileFinder = Callable[[str, str, tuple[Path, ...]], Profile]
StreamSample = float | Callable[[Request | None], bool]

YAML_SUFFIXES: Final = (".yaml", ".yml")


class _CheckerRecipe(Struct, frozen=True):
    """The ingredients of a checker: `suites` has ids of shipped suites, and a user's own as values.

    None means all shipped suites.
    """

    dialect: str
    profile: Profile
    named: bool
    suites: tuple[str | Suite, ...] | None
    rules: tuple[str, ...]


class Checker:
    """Judges streams of one dialect by one profile; threads may share it, and it can be pickled.

    `profile` is the name of a shipped profile, of one in `folders`, or a file; None means the
    strict one. `suites` are ids of shipped suites, or files and folders; `rules` are globs of rule
    ids. Raises UsageError for unknown names, SpecError for a broken file.
    """

    def __init__(
        self,
        dialect: str,
        profile: Path | str | None = None,
        *,
        suites: Sequence[str] = (),
        rules: Sequence[str] = (),
        folders: Sequence[Path] = (),
    ) -> None:
        name = None if profile is None else str(profile)
        chosen = choose_named_profile(name, get(dialect), tuple(folders))
        named_suites = _named_suites(suites) if suites else None
        recipe = _CheckerRecipe(dialect, chosen, name is not None, named_suites, tuple(rules))
        self._make(recipe)

    def check(
        self,
        chunks: Iterable[GivenChunk],
        *,
        request: Any = None,
        response: Response | Mapping[str, Any] | None = None,
        end: str = "eof",
        keep: bool = False,
    ) -> StreamResult:
        """Judges one response body as it arrives, in bounded memory.

        A chunk is bytes, or `(ms, bytes)` with the milliseconds since the chunk before (since the
        response head, for the first); the first chunk says whether there is a clock. `request` is
        the decoded JSON of the request, or a `Request`, which has method, path and headers too.
        `response` is a `Response`, or a mapping with `status` and `headers` (a mapping, or pairs).
        `end` says how the stream ended, in the words of a cassette. With `keep` the result has
        `events`. A body that is still compressed is UNTESTABLE. Raises UsageError for values of
        another shape.
        """
        how = checked_ending(end)
        first, made = given_chunks(chunks)
        exchange = with_clock(given_exchange(request, response), first[0].ms if first else None)
        if why := compression_left(b"".join(each.data for each in first)):
            return stopped_result(self._unjudged_result(), (), Verdict.UNTESTABLE, why)
        setting = replace(self._setting, keep=True) if keep else self._setting
        return result_of_bytes(check_wire(setting, exchange, made, how))

    def stream(
        self,
        *,
        request: Any = None,
        response: Response | Mapping[str, Any] | None = None,
        budget_ms: float = BUDGET_MS,
        sample: StreamSample = 1.0,
        listener: EventListener | None = None,
    ) -> StreamCheck:
        """Judges a stream while it passes, for use inside a proxy; values as those of `check`.

        `budget_ms` is how long judging may hold the bytes of this stream up in all: past it, the
        stream ends UNTESTABLE. `sample` is the share of streams that are judged, from 0 to 1, or
        says of a request whether its stream is: one that is not costs nothing, and its result
        says so. `listener` is given the events as they are judged, adjacent deltas may be joined.
        """
        exchange = given_exchange(request, response)
        chosen = _is_chosen(sample, exchange.request)
        self._unjudged_result()  # before anything goes wrong that this would need
        result = None if chosen else self._left_out_result()
        return StreamCheck(
            self._setting, exchange, budget_ms, self._unjudged_result, result, listener=listener
        )

    def __getstate__(self) -> _CheckerRecipe:
        return self._recipe

    def __setstate__(self, recipe: _CheckerRecipe) -> None:
        self._make(recipe)

    def __repr__(self) -> str:
        return f"Checker({self._recipe.dialect!r}, {self._recipe.profile.name!r})"

    def _make(self, recipe: _CheckerRecipe) -> None:
        rulebook = _recipe_rulebook(recipe)
        self._recipe = recipe
        self._setting = JudgeSetting(
            get(recipe.dialect),
            recipe.profile,
            rulebook.bound(recipe.profile),
            named=recipe.named,
            notes=rulebook.notes,
        )
        self._unjudged: StreamResult | None = None
        self._left_out: StreamResult | None = None

    # Two threads may work one of these out at once: both come to the same.

    def _unjudged_result(self) -> StreamResult:
        """The result of a stream of which nothing is known."""
        if self._unjudged is None:
            self._unjudged = check_wire(self._setting, Exchange(), (), "open").result
        return replace(self._unjudged, findings=())

    def _left_out_result(self) -> StreamResult:
        if self._left_out is None:
            why = "the stream was not chosen to be judged"
            of_nothing = self._unjudged_result()
            self._left_out = stopped_result(of_nothing, (), Verdict.UNTESTABLE, why)
        return self._left_out


def choose_named_profile(
    name: str | None, dialect: Dialect, folders: tuple[Path, ...], named: ProfileFinder = find
) -> Profile:
    """The profile that a user names, by its name or its file; the strict one for None."""
    if name is None or not name.endswith(YAML_SUFFIXES):
        return named(name or "strict", dialect.name, folders)
    profile = load_profile(name, folders)
    if profile.dialect != dialect.name:
        stated = f"profile {profile.name!r} is for {profile.dialect}"
        raise UsageError(f"{stated}, but the stream speaks {dialect.name}")
    return profile


def _named_suites(wanted: Sequence[str]) -> tuple[str | Suite, ...]:
    of_ours = set(map(id, shipped_suites()))
    return tuple(suite.id if id(suite) in of_ours else suite for suite in load_suites(wanted))


def _recipe_rulebook(recipe: _CheckerRecipe) -> Rulebook:
    suites = recipe.suites or ()
    ids = tuple(suite for suite in suites if isinstance(suite, str))
    if len(ids) == len(suites):
        return _shipped_rulebook(ids, recipe.rules)
    return Rulebook(_suites_of(suites), recipe.rules)


@lru_cache(maxsize=16)
def _shipped_rulebook(ids: tuple[str, ...], rules: tuple[str, ...]) -> Rulebook:
    """Shared by checkers of the same suites and rules, so that those are made ready once."""
    return Rulebook(_suites_of(ids), rules) if ids else Rulebook.load((), rules)


def _suites_of(suites: Iterable[str | Suite]) -> list[Suite]:
    shipped = {suite.id: suite for suite in shipped_suites()}
    return [shipped[each] if isinstance(each, str) else each for each in suites]


def _is_chosen(sample: StreamSample, request: Request | None) -> bool:
    if callable(sample):
        return sample(request)
    return sample >= 1 or random.random() < sample  # noqa: S311  # a sample keeps no secret
