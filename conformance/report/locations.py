"""Where a finding stands, as programs that know a repository want it."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

from conformance.judging.result import Report


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
