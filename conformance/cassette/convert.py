"""Any recording as a cassette, redacted unless stated otherwise."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from msgspec.structs import replace

from conformance.cassette.header import Cassette
from conformance.cassette.recording import open_recording
from conformance.cassette.redaction.redact import Redactor, redact
from conformance.cassette.token_ids import detokenized
from conformance.cassette.write import write


def convert(
    source: Path | str,
    target: Path | str,
    *,
    dialect: str | None = None,
    profile: str | None = None,
    redactor: Redactor | None = None,
    clean: bool = True,
    seal: bool | None = None,
) -> Cassette:
    """Writes `source` as a cassette and returns the cassette. Raises CassetteError.

    The content is that of `converted`. `seal` states chunks, bytes and hash at every end (None:
    as the source does). Source and target may be one file.
    """
    cassette = as_cassette(source, dialect=dialect, profile=profile, redactor=redactor, clean=clean)
    write(target, cassette, seal=seal)
    return cassette


def as_cassette(
    source: Path | str,
    *,
    dialect: str | None = None,
    profile: str | None = None,
    redactor: Redactor | None = None,
    clean: bool = True,
    redacting: Callable[[Cassette, Redactor | None], Cassette] = redact,
    tokenizer: Path | None = None,
) -> Cassette:
    """The recording as a cassette that states this dialect and profile. Raises CassetteError.

    With `clean`, secrets and opaque reasoning data of a foreign recording are replaced. A cassette
    was redacted when it was written: it is only by a `redactor` of one's own, since its stand-ins
    would change once more. `redacting` is what takes them out. With a `tokenizer`, the source is a
    file of token ids.
    """
    if tokenizer is not None:
        kind, found = "", detokenized(Path(source), tokenizer, dialect=dialect)
    else:
        recording = open_recording(source, dialect=dialect)
        kind, found = recording.kind, recording.kept or recording.cassette
    cassette = _stating_dialect(found, dialect, profile)
    if clean and (redactor is not None or kind != "cassette"):
        return redacting(cassette, redactor)
    return cassette


def _stating_dialect(cassette: Cassette, dialect: str | None, profile: str | None) -> Cassette:
    header = cassette.header
    header = replace(header, dialect=dialect or header.dialect, profile=profile or header.profile)
    exchanges = cassette.exchanges
    if dialect is not None:
        exchanges = tuple(replace(each, dialect=dialect) for each in exchanges)
    return replace(cassette, header=header, exchanges=exchanges)
