"""`conformance inspect`: a recording as it came over the wire."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from conformance.cassette.inspect import inspect
from conformance.cassette.recording import open_recording
from conformance.cassette.search import named_path
from conformance.cli.terminal import put
from conformance.core.errors import Place, UsageError


def inspect_command(
    file: Annotated[Path, typer.Argument(help="A recording of any kind that check reads.")],
    exchange: Annotated[
        int | None, typer.Option(help="Only the exchange of this number; default: all.")
    ] = None,
    full: Annotated[
        bool, typer.Option("--full", help="Long lines whole; default: clipped, with a count.")
    ] = False,
) -> None:
    """Show a recorded stream with times, chunk marks and event numbers."""
    recording = open_recording(named_path(file))
    shown = [e for e in recording.exchanges if exchange in (None, e.number)]
    if not shown:
        what = "no exchange" if exchange is None else f"no exchange {exchange}"
        raise UsageError(f"has {what}", place=Place(str(file)))
    for one in shown:
        for line in inspect(one, full=full):
            put(line)
