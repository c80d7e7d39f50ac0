"""`conformance profile`: what recordings say of the profiles that ship."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from conformance.cassette.recording import open_recording
from conformance.cassette.search import find_recordings
from conformance.cli.configured import ConfiguredCommand
from conformance.cli.failures import CONFORMS, NOTHING
from conformance.cli.options import DialectOption, ProfileOption
from conformance.cli.terminal import put, warn
from conformance.core.errors import CassetteError, UsageError
from conformance.judging.rulebook import Rulebook
from conformance.profiles.knobs import spell_value
from conformance.profiles.thin_evidence import ENOUGH
from conformance.recordings.choices import choose_dialect
from conformance.recordings.identification import identity_of
from conformance.recordings.refresh import IdentifiedStream, KnobNews, ProfileNews, profile_news
from conformance.report.printable import visible
from conformance.report.wording import count

profile_app = typer.Typer(add_completion=False, rich_markup_mode=None)


@profile_app.callback(invoke_without_command=True)
def profile_command(context: typer.Context) -> None:
    """Compare profiles with recordings: refresh."""
    if context.invoked_subcommand is None:
        put(context.get_help())


@profile_app.command("refresh", cls=ConfiguredCommand)
def refresh_command(
    paths: Annotated[
        list[str], typer.Argument(metavar="PATH...", help="Recordings, or folders of them.")
    ],
    dialect: DialectOption = None,
    profile: ProfileOption = None,
) -> None:
    """Propose knobs that at least eight streams of a system show and its profile lacks."""
    skipped: list[str] = []
    streams = list(_identified_streams(paths, dialect, skipped))
    for line in skipped:
        warn(f"skipped: {line}")
    found = profile_news(streams, profile)
    rulebook = Rulebook.load()
    for system in found:
        put("\n".join(_system_lines(system, rulebook)))
    nameless = len(streams) - sum(system.streams for system in found)
    if nameless:
        put(f"{count(nameless, 'stream')} named no system for certain (--profile says whose)")
    raise typer.Exit(CONFORMS if found else NOTHING)


def _identified_streams(
    paths: list[str], dialect: str | None, skipped: list[str]
) -> Iterator[IdentifiedStream]:
    for path in find_recordings(map(Path, paths)).recordings:
        try:
            recording = open_recording(path, dialect=dialect)
            day = (recording.header.recorded_at or "")[:10]
            stated = dialect or recording.header.dialect
            for exchange in recording.exchanges:
                spoken = choose_dialect(exchange, exchange.dialect or stated)
                yield IdentifiedStream(identity_of(recording, exchange, spoken), day)
        except (CassetteError, UsageError) as error:
            skipped.append(visible(f"{path}: {error}"))


def _system_lines(system: ProfileNews, rulebook: Rulebook) -> Iterator[str]:
    known = system.profile
    days = f", recorded {min(system.days)} to {max(system.days)}" if system.days else ""
    yield f"{known.name} ({known.dialect}): {count(system.streams, 'stream')}{days}"
    news = list(system.news(rulebook))
    for each in news:
        yield from _news_lines(each)
    if not news:
        few = f", fewer than {ENOUGH}" if system.streams < ENOUGH else ""
        yield f"  nothing new{few}"


def _news_lines(news: KnobNews) -> Iterator[str]:
    ships = f"ships {spell_value(news.claimed)}" + (f", seen: {news.seen}" if news.seen else "")
    shown = f"{news.knob}: {spell_value(news.shown)}"
    yield visible(f"  {shown}  ({news.streams} of {news.streams} streams; {ships})")
    for rule in news.rules:
        yield f"    would silence {rule}, on whose breach a named client breaks"
