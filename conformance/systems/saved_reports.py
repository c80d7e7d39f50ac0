"""A report in JSON that a run saved, read again in the form that the reader needs."""

from __future__ import annotations

from pathlib import Path
from typing import Final, TypeVar

import msgspec

from conformance.core.errors import Place, SpecError, UsageError
from conformance.core.regular_file import expect_regular

MAX_BYTES: Final = 256 * 1024 * 1024
_HINT: Final = "conformance check ... -o json=FILE writes one, conformance run too"


class SavedReport(msgspec.Struct, frozen=True):
    """What every report has; a reader adds the fields that it needs."""

    report: str


Form = TypeVar("Form", bound=SavedReport)


def read_saved_report(path: Path, form: type[Form]) -> Form:
    """UsageError: the file cannot be read; SpecError: it is no report of this version."""
    place = Place(str(path))
    try:
        expect_regular(path)
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as err:
        reason = getattr(err, "strerror", None) or str(err)
        raise UsageError(f"cannot read the report: {reason}", place=place) from err
    if len(data) > MAX_BYTES:
        raise SpecError(f"the report is larger than {MAX_BYTES:,} bytes", place=place)
    try:
        report = msgspec.json.decode(data, type=form)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as err:
        raise SpecError(f"no report in JSON: {err}", place=place, hint=_HINT) from err
    if report.report.partition(".")[0] != "1":
        raise SpecError(f"expected a report of version 1, got {report.report!r}", place=place)
    return report
