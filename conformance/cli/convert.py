"""`conformance convert`: a recording in another format, without its secrets."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final, Literal

import typer
from msgspec.structs import replace

from conformance.cassette import Redactor
from conformance.cassette.convert import as_cassette
from conformance.cassette.header import Cassette
from conformance.cassette.recording import open_recording
from conformance.cassette.redaction.own_keys import own_keys
from conformance.cassette.search import named_path
from conformance.cassette.source import plain_name
from conformance.cassette.write import write
from conformance.cli.options import DialectOption, ProfileOption
from conformance.cli.terminal import put, warn
from conformance.core.errors import Place, UsageError
from conformance.dialects import NAMES, SUPPORTED
from conformance.dialects.recognition import recognised_dialect
from conformance.profiles.lookup import find
from conformance.recordings.redaction import redact_evidence
from conformance.report.files import write_whole
from conformance.report.printable import visible
from conformance.report.wording import count
from conformance.rules.node import nearest

ToOption = Annotated[
    Literal["recording", "vectors"],
    typer.Option(help="vectors: cases for clients, as JSON files in the folder OUT."),
]


SealOption = Annotated[
    bool, typer.Option("--seal", help="State the chunks, bytes and hash of each response.")
]
ExchangeOption = Annotated[
    int | None, typer.Option(help="Exchange to write to an .sse file; default: the only one.")
]
NoRedactOption = Annotated[
    bool,
    typer.Option("--no-redact", help="Keep secrets and opaque data of another tool's recording."),
]
TokenizerOption = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Tokenizer for an IN of token ids: tokenizer.json, or a .tiktoken file.",
    ),
]
ForceOption = Annotated[bool, typer.Option("--force", help="Replace OUT if it exists.")]
TARGET_HELP: Final = "Ends in .cassette.jsonl, .cassette.jsonl.gz or .sse; or a folder."


def convert_command(  # noqa: PLR0917  # typer makes options of parameters
    source: Annotated[Path, typer.Argument(metavar="IN", help="A recording of any kind.")],
    target: Annotated[Path, typer.Argument(metavar="OUT", help=TARGET_HELP)],
    dialect: DialectOption = None,
    profile: ProfileOption = None,
    seal: SealOption = False,
    exchange: ExchangeOption = None,
    no_redact: NoRedactOption = False,
    to: ToOption = "recording",
    tokenizer: TokenizerOption = None,
    force: ForceOption = False,
) -> None:
    """Turn a recording into another format."""
    source = named_path(source)
    if to == "vectors":
        put(_write_vectors(source, target, dialect, profile))
        return
    _check_target(target, force=force)
    if dialect is not None and dialect not in NAMES:
        raise UsageError(f"there is no dialect {dialect!r}", hint=nearest(dialect, NAMES))
    cassette = as_cassette(
        source,
        dialect=dialect,
        profile=profile,
        redactor=Redactor() if own_keys() and not no_redact else None,
        clean=not no_redact,
        redacting=redact_evidence,
        tokenizer=tokenizer,
    )
    if profile is not None:
        _check_profile(profile, cassette)
    for note in cassette.notes:
        warn(f"note: {visible(note)}")
    if plain_name(target).endswith(".sse"):
        cassette = _only_exchange(cassette, exchange, source)
        write_whole(target, cassette.exchanges[0].body)
    else:
        write(target, cassette, seal=seal or None)
    put(_describe_cassette(target, cassette))


def _check_profile(profile: str, cassette: Cassette) -> None:
    """Raises UsageError where an exchange's API has no such profile: no check would take it."""
    for exchange in cassette.exchanges:
        dialect = exchange.dialect or cassette.header.dialect or recognised_dialect(exchange)
        if dialect is not None and dialect in SUPPORTED:
            find(profile, dialect)


def _check_target(target: Path, *, force: bool) -> None:
    if not plain_name(target).endswith((".cassette.jsonl", ".sse")):
        raise UsageError("expected a name in .cassette.jsonl or .sse", place=Place(str(target)))
    if target.exists() and not force:
        raise UsageError("already exists", place=Place(str(target)), hint="--force replaces it")


def _write_vectors(source: Path, folder: Path, dialect: str | None, profile: str | None) -> str:
    from conformance.targets.client.vectors import write_vectors  # noqa: PLC0415  # it is heavy

    recording = open_recording(source, dialect=dialect)
    if own_keys():
        recording = replace(recording, cassette=redact_evidence(recording.cassette, Redactor()))
    made = write_vectors(recording, folder, profile=profile)
    return "\n".join(visible(str(each)) for each in made)


def _only_exchange(cassette: Cassette, number: int | None, source: Path) -> Cassette:
    found = [each for each in cassette.exchanges if number in (None, each.number)]
    if len(found) != 1:
        numbers = ", ".join(str(each.number) for each in cassette.exchanges[:10])
        raise UsageError(
            f"an .sse file holds one exchange, {len(found)} fit",
            place=Place(str(source)),
            hint=f"--exchange chooses, there are: {numbers or 'none'}",
        )
    return replace(cassette, exchanges=tuple(found))


def _describe_cassette(target: Path, cassette: Cassette) -> str:
    chunks = [chunk for each in cassette.exchanges for chunk in each.chunks]
    size = sum(len(chunk.data) for chunk in chunks)
    replaced = sum(redaction.count for redaction in cassette.header.redactions)
    facts = (count(len(cassette.exchanges), "exchange"), count(len(chunks), "chunk"))
    return f"{visible(str(target))}: {', '.join(facts)}, {count(size, 'byte')}, {replaced} redacted"
