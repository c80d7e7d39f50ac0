"""Where a finding is, as programs that know a repository want it, and the command that shows it."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Final
from urllib.parse import quote

from conformance.judging.result import Finding, Report, StreamResult

_REPEATED: Final = ("--dialect", "--profile", "--suite", "--rules-as-of", "--upstream", "--trust")


def path_below(file: str, root: str | None = None) -> str | None:
    """The file's path below `root` (default: the working folder), with `/`; None if elsewhere."""
    try:
        path = Path(file).resolve().relative_to(Path(root or Path.cwd()).resolve())
    except (ValueError, OSError, RuntimeError):  # elsewhere, NUL in the name, a loop of links
        return None
    return path.as_posix()


def file_uri(file: str) -> tuple[str, bool]:
    """A URI reference for the file, and whether it is relative to the working folder."""
    path = path_below(file)
    if path is not None:
        return _quoted_path(path), True
    return f"file://{_quoted_path(Path(file).absolute().as_posix())}", False


def keeps_files(report: Report) -> bool:
    """Whether the files that the report names stay; those of a run that is not saved do not."""
    return report.call is None or report.call.kept


def _quoted_path(path: str) -> str:
    try:
        return quote(path, errors="surrogateescape")
    except UnicodeEncodeError:  # no file can have such a name
        return quote(path, errors="backslashreplace")


def repeated_call(report: Report) -> tuple[str, ...]:
    """The beginning of such a command; empty where no call of `check` made the report."""
    if report.call is None or report.call.command[1:2] != ("check",):
        return ()
    return ("conformance", "check", *_repeated_options(report.call.command[2:]))


def _repeated_options(given: tuple[str, ...]) -> Iterator[str]:
    for at, word in enumerate(given):
        name, sign, _ = word.partition("=")
        if name in _REPEATED:
            yield word
            if not sign and at + 1 < len(given):
                yield given[at + 1]


def recheck_command(call: tuple[str, ...], stream: StreamResult, finding: Finding) -> str:
    """`conformance check FILE --rule RULE`; empty where no file can be checked again."""
    if not call or not stream.file or stream.file == "-" or stream.file.startswith("/dev/"):
        return ""
    verb, options = call[:2], call[2:]
    return shlex.join((*verb, stream.file, "--rule", finding.rule, *options))
