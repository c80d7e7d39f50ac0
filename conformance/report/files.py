"""Reports in their formats, and on disk: `FORMAT=FILE`, written whole or not at all.

They are made and written in pieces that end with a line or a value, so that a search per piece
misses nothing.
"""

from __future__ import annotations

import os
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final, cast

from conformance.core.errors import Place, UsageError
from conformance.core.new_files import create_file
from conformance.core.own_keys import without_own_key_bytes

if TYPE_CHECKING:  # `conformance --help` passes here and needs no engine
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from types import ModuleType

    from conformance.judging.result import Report

# Each is a module here with `render`, and with `pieces` where a report of it may be large; it is
# imported when its format is requested.
FORMATS: Final = ("text", "json", "junit", "sarif", "github", "markdown", "html", "badge")
_BUFFER: Final = 1 << 20


def renderer(name: str) -> Callable[..., str]:
    """The function that renders a report in a format. Raises UsageError for an unknown name.

    It takes `verbose` and `colour`, and never raises on the content of a stream.
    """
    return cast("Callable[..., str]", _format_module(name).render)


def _format_module(name: str) -> ModuleType:
    if name not in FORMATS:
        raise UsageError(f"format must be one of {', '.join(FORMATS)}, got {name!r}")
    return import_module(f"conformance.report.{name}")


def render(report: Report, name: str, *, verbose: bool = False, colour: bool = False) -> str:
    """Give the report as text of the named format."""
    return renderer(name)(report, verbose=verbose, colour=colour)


def render_pieces(report: Report, name: str, *, verbose: bool = False) -> Iterator[str]:
    module = _format_module(name)
    if hasattr(module, "pieces"):
        yield from module.pieces(report, verbose=verbose)
    else:
        yield module.render(report, verbose=verbose)


def parse_output(text: str) -> tuple[str, Path]:
    """Read `FORMAT=FILE`; UsageError if it is neither that nor a known format."""
    name, file = split_output(text)
    renderer(name)
    if not file.parent.is_dir():
        raise UsageError("cannot be written: no such folder", place=Place(str(file)))
    return name, file


def split_output(text: str) -> tuple[str, Path]:
    """Split `FORMAT=FILE`, with any format. Raises UsageError for other texts."""
    name, equals, file = text.partition("=")
    if not equals or not file or file == "-":
        raise UsageError(
            f"-o must be FORMAT=FILE, got {text!r}", hint="--format chooses what goes to stdout"
        )
    return name, Path(file)


def write(report: Report, *outputs: str, verbose: bool = False, shown: str = "text") -> None:
    """Write each `FORMAT=FILE`. All are rendered before the first one is replaced.

    `shown` is the format that goes to stdout: where it or an output is `github`, the step summary
    is written too. Raises UsageError where a file cannot be written.
    """
    wanted = [parse_output(text) for text in outputs]
    _write_all(
        [
            (file, map(_encoded_text, render_pieces(report, name, verbose=verbose)))
            for name, file in wanted
        ]
    )
    if "github" in (shown, *(name for name, _ in wanted)):
        from conformance.report import github  # noqa: PLC0415  # only who asks for it needs it

        github.append_summary(report)


def write_whole(file: Path, data: bytes) -> None:
    """Replace the file in one step; a pipe or device is written as it is.

    Raises UsageError where the file cannot be written; then an older one is still whole. The
    user's own keys are in no file.
    """
    _write_all([(file, [data])])


def _write_all(contents: Sequence[tuple[Path, Iterable[bytes]]]) -> None:
    """Replace files, after all of them have been written under other names."""
    drafts: list[_Draft] = []
    try:
        for number, (file, pieces) in enumerate(contents):
            with _naming_file(file):
                drafts.append(_Draft(file, pieces, number))
                drafts[-1].write()
        for draft in drafts:
            with _naming_file(draft.file):
                draft.replace_file()
    finally:
        for draft in drafts:
            draft.remove()


@contextmanager
def _naming_file(file: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        raise UsageError(f"cannot be written: {reason}", place=Place(str(file))) from error


class _Draft:
    """The new content of a file, in a file next to it until all is written; not for pipes."""

    def __init__(self, file: Path, pieces: Iterable[bytes], number: int) -> None:
        self.file = file
        self._pieces = pieces
        self._target = file.resolve()  # a link stays a link
        is_pipe = file.exists() and not file.is_file()
        name = f".{self._target.name}.{os.getpid()}.{number}.draft"
        self._path = None if is_pipe else self._target.with_name(name)

    def write(self) -> None:
        if self._path is not None:
            with create_file(self._path, in_place_of=self._target) as out:
                self._put_pieces(out)

    def replace_file(self) -> None:
        if self._path is None:
            with self.file.open("wb", _BUFFER) as out:
                self._put_pieces(out)
        else:
            self._path.replace(self._target)

    def remove(self) -> None:
        if self._path is not None:
            with suppress(OSError):
                self._path.unlink()

    def _put_pieces(self, out: IO[bytes]) -> None:
        for piece in self._pieces:
            out.write(without_own_key_bytes(piece))


def _encoded_text(text: str) -> bytes:
    return text.encode("utf-8", "backslashreplace")
