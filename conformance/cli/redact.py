"""`conformance redact`: recordings without their secrets, and a search for secrets in files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from conformance.cassette import Redactor
from conformance.cassette.read import read
from conformance.cassette.redaction.own_keys import own_keys
from conformance.cassette.redaction.rewrite import rewrite
from conformance.cassette.redaction.scan import scan
from conformance.cassette.source import plain_name
from conformance.cli.failures import CONFORMS, FINDINGS, NOTHING
from conformance.cli.options import KeyOption
from conformance.cli.terminal import put, warn
from conformance.core.errors import Place, UsageError
from conformance.recordings.redaction import redact_evidence
from conformance.report.printable import visible
from conformance.report.wording import count
from conformance.runs.options import credential_headers


def redact_command(  # typer makes options of parameters
    paths: Annotated[
        list[Path], typer.Argument(metavar="FILE...", help="Cassettes; with --scan, any files.")
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            metavar="OUT",
            help="File to write; default: change the recording itself.",
        ),
    ] = None,
    scan_only: Annotated[
        bool, typer.Option("--scan", help="Change nothing; exit 1 if a file holds a secret.")
    ] = False,
    keep_opaque: Annotated[
        bool, typer.Option("--keep-opaque", help="Keep signatures and encrypted content.")
    ] = False,
    api_key_env: KeyOption = None,
) -> None:
    """Remove secrets from recordings, or show where they are."""
    credential_headers(api_key_env, None)  # a key of one's own is looked for from now on
    if scan_only:
        raise typer.Exit(_scan_files(paths))
    if output is not None and len(paths) != 1:
        raise UsageError("-o takes one file", hint="without it, files are changed in place")
    for path in paths:
        if not plain_name(path).endswith(".cassette.jsonl"):
            raise UsageError(
                "expected a cassette", place=Place(str(path)), hint="convert redacts the others"
            )
        redactor = Redactor(opaque=not keep_opaque)
        cassette = read(path)
        if cassette.torn:
            warn(f"note: {visible(str(path))} is torn, and stays torn")
        clean = redact_evidence(cassette, redactor)
        rewrite(path, output or path, cassette, clean, redactor)
        replaced = sum(redaction.count for redaction in redactor.counts())
        put(f"{visible(str(output or path))}: {count(replaced, 'replacement')}")


def _scan_files(paths: list[Path]) -> int:
    found = files = 0
    for path in paths:
        for file in sorted(_files_below(path)):
            files += 1
            for one in scan(file, own_keys()):
                found += 1
                put(f"{visible(str(one.place))}: {one.rule}: {visible(one.hint)}")
    put(f"{count(found, 'secret')} in {count(files, 'file')}")
    if not files:
        return NOTHING
    return FINDINGS if found else CONFORMS


def _files_below(path: Path) -> list[Path]:
    if not path.exists():
        raise UsageError("there is no such file", place=Place(str(path)))
    return [each for each in path.rglob("*") if each.is_file()] if path.is_dir() else [path]
