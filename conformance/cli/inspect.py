"""`conformance inspect`: a recording as it came over the wire."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from msgspec.structs import replace

from conformance.cassette.header import Cassette
from conformance.cassette.inspect import inspect, inspect_connection, message_places
from conformance.cassette.recording import open_recording
from conformance.cassette.search import named_path
from conformance.cli.terminal import put
from conformance.core.errors import CassetteError, Place, UsageError
from conformance.core.events import Exchange
from conformance.core.excerpts import now_about
from conformance.recordings.linked_files import carried_answers
from conformance.report.redacted import without_secrets
from conformance.report.wording import carried_sentence


def inspect_command(
    file: Annotated[Path, typer.Argument(help="A recording of any kind that check reads.")],
    exchange: Annotated[
        int | None, typer.Option(help="Only the exchange with this number; default: all.")
    ] = None,
    full: Annotated[
        bool, typer.Option("--full", help="Show long lines whole; default: cut, with a count.")
    ] = False,
) -> None:
    """Show a recorded stream with times, chunks and event numbers."""
    recording = open_recording(named_path(file))
    if exchange is None and recording.kept is not None:
        _show_connections(recording.kept, full=full)
        return
    shown = [e for e in recording.exchanges if exchange in (None, e.number)]
    if not shown:
        what = "no exchange" if exchange is None else f"no exchange {exchange}"
        raise UsageError(f"has {what}", place=Place(str(file)))
    carried = carried_answers(recording)
    for one in shown:
        now_about(one.request)
        carries = carried_sentence(carried.get(one.number, ()))
        for line in inspect(_redacted_exchange(one), full=full, carries=carries):
            put(line)


def _show_connections(kept: Cassette, *, full: bool) -> None:
    """Shows whole WebSockets, message by message, and the exchanges outside them."""
    places = message_places(kept)
    for one in kept.exchanges:
        now_about(one.request)
        clean = _redacted_exchange(one)
        for line in inspect_connection(clean, places[one.number], full=full):
            put(line)


def _redacted_exchange(exchange: Exchange) -> Exchange:
    """The exchange with a body that is redacted as a whole; heads are as each line is."""
    try:
        clean = without_secrets(exchange)
    except CassetteError:  # it holds more than is remembered: each line is searched alone
        return exchange
    return replace(exchange, chunks=clean.chunks)
