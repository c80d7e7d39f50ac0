"""`conformance identify`: who sent a recorded stream, and how it speaks."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from conformance.cassette.recording import open_recording
from conformance.cassette.search import named_path
from conformance.cli.options import DialectOption, TextOrJsonOption, require_format
from conformance.cli.terminal import put, warn
from conformance.core.errors import Place, UsageError
from conformance.identify import draft
from conformance.judging.rulebook import Rulebook
from conformance.profiles.folders import named_well
from conformance.profiles.lookup import find
from conformance.recordings.choices import UnknownDialectError, choose_dialect
from conformance.recordings.identification import ExchangeIdentification, identify_exchange
from conformance.report.identity import identity_json, identity_text
from conformance.runs.project_schemas import schema_line


def identify_command(
    file: Annotated[Path, typer.Argument(help="A recording of any kind that check reads.")],
    dialect: DialectOption = None,
    write_profile: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Draft a profile from the first exchange into this file."
        ),
    ] = None,
    format_: TextOrJsonOption = "text",
) -> None:
    """Find out which system sent a recording, and its profile."""
    require_format(format_, "text", "json")
    if write_profile is not None:
        _check_target(write_profile)
    found = _identify_file(named_path(file), dialect)
    put(identity_text(found) if format_ == "text" else identity_json(found))
    if write_profile is not None:
        _write_draft(write_profile, found[0])


def _identify_file(file: Path, dialect: str | None) -> list[ExchangeIdentification]:
    recording = open_recording(file, dialect=dialect)
    if not recording.exchanges:
        raise UsageError("the recording holds no exchange", place=Place(str(file)))
    rulebook = Rulebook.load()
    stated = dialect or recording.header.dialect
    try:
        return [
            identify_exchange(
                recording, exchange, choose_dialect(exchange, exchange.dialect or stated), rulebook
            )
            for exchange in recording.exchanges
        ]
    except UnknownDialectError as err:
        err.place = err.place or Place(str(file))
        raise


def _check_target(path: Path) -> None:
    place = Place(str(path))
    if path.suffix not in (".yaml", ".yml") or not named_well(path.stem):
        raise UsageError(
            "a profile's file is <name>.yaml, of letters, digits, '.', '_', '-'", place=place
        )
    if path.stem == "strict":
        raise UsageError("strict is the profile that declares the knobs", place=place)
    if path.exists():
        raise UsageError("already exists, and is not overwritten", place=place)


def _write_draft(path: Path, found: ExchangeIdentification) -> None:
    identity = found.identity
    # A guess must not become the profile: what it permits would pass unnoticed.
    certain = identity.profile if identity.certainty == "certain" else None
    base = find(certain or "strict", identity.dialect)
    try:
        text = schema_line("profile", path) + draft(path.stem, identity, base)
        path.write_text(text, encoding="utf-8")
    except OSError as err:
        raise UsageError(f"cannot be written: {err.strerror}", place=Place(str(path))) from err
    warn(f"profile {path.stem} ({identity.dialect}) drafted into {path}, extends {base.name}")
