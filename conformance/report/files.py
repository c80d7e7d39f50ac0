"""Reports in their formats, and on disk: `FORMAT=FILE`, written whole or not at all."""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

from conformance.core.errors import Place, UsageError
from conformance.core.own_keys import without_own_key_bytes

if TYPE_CHECKING:  # `conformance --help` passes here and needs no engine
    from collections.abc import Callable

    from conformance.judging.result import Report

# Each is a module here with `render`; it is imported when its format is asked for.
FORMATS: Final = ("text", "json", "junit", "sarif", "github", "markdown", "html", "badge")


def renderer(name: str) -> Callable[..., str]:
    """What turns a report into one text of the format; UsageError if there is none of that name.

    It takes `verbose` and `colour`, and never raises on what a stream may hold.
    """
    if name not in FORMATS:
        raise UsageError(f"format must be one of {', '.join(FORMATS)}, got {name!r}")
    return cast("Callable[..., str]", import_module(f"conformance.report.{name}").render)


def render(report: Report, name: str, *, verbose: bool = False, colour: bool = False) -> str:
    """Give the report as text of the named format."""
    return renderer(name)(report, verbose=verbose, colour=colour)


def parse_output(text: str) -> tuple[str, Path]:
    """Read `FORMAT=FILE`; UsageError if it is neither that nor a known format."""
    name, file = split_output(text)
    renderer(name)
    return name, file


def split_output(text: str) -> tuple[str, Path]:
    """Take `FORMAT=FILE` apart, whatever the format; UsageError if it is not that."""
    name, equals, file = text.partition("=")
    if not equals or not file or file == "-":
        raise UsageError(
            f"-o must be FORMAT=FILE, got {text!r}", hint="--format chooses what goes to stdout"
        )
    return name, Path(file)


def write(report: Report, *outputs: str, verbose: bool = False, shown: str = "text") -> None:
    """Write each `FORMAT=FILE`. All are rendered before the first one is touched.

    `shown` is the format that goes to stdout: where it or an output is `github`, the step summary
    is written too. Raises UsageError where a file cannot be written.
    """
    asked = [parse_output(text) for text in outputs]
    texts = [render(report, name, verbose=verbose) for name, _ in asked]
    for (_, file), text in zip(asked, texts, strict=True):
        write_whole(file, text.encode("utf-8", "backslashreplace"))
    if "github" in (shown, *(name for name, _ in asked)):
        from conformance.report import github  # noqa: PLC0415  # only who asks for it needs it

        github.append_summary(report)


def write_whole(file: Path, data: bytes) -> None:
    """Replace the file in one step; a pipe or device is written as it is.

    Raises UsageError where the file cannot be written; then an older one is still whole. The
    user's own keys are in no file.
    """
    data = without_own_key_bytes(data)
    try:
        if file.exists() and not file.is_file():
            file.write_bytes(data)
            return
        target = file.resolve()  # a link stays a link
        draft = target.with_name(f".{target.name}.{os.getpid()}.draft")
        try:
            draft.write_bytes(data)
            draft.replace(target)
        finally:
            draft.unlink(missing_ok=True)
    except OSError as error:
        reason = error.strerror or str(error)
        raise UsageError(f"cannot be written: {reason}", place=Place(str(file))) from error
