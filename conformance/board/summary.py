"""The summary of a saved run: what is committed, and what anybody may send.

Rule 1: it is a report in JSON made small: `report`, `groups` and `silenced` mean what they mean
there, `families` count the verdicts of its rules. `run`, `rules` and `recordings` say what was
judged, by what, from which bytes.
Rule 2: it comes from a stranger. Every text, list and number has a bound, a path stays below the
folder of the recordings, a link is http or https, and an unknown key is refused.
Rule 3: it has no word for its own verdict: that is counted, or found from the recordings again.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Final, Literal
from urllib.parse import urlsplit

import msgspec
from msgspec import Meta, Struct, field

from conformance.core.errors import Place, SpecError, UsageError
from conformance.rules.verdicts import Level, Verdict
from conformance.systems.saved_reports import SavedReport, read_saved_report

SUFFIX: Final = ".run.json"
MOST_BYTES: Final = 1024 * 1024
MOST_GROUPS: Final = 200
MOST_RECORDINGS: Final = 2000
KINDS: Final = ("server", "gateway", "client", "application")
_DIGEST: Final = r"^[0-9a-f]{64}$"
_NAME: Final = r"^[A-Za-z0-9][A-Za-z0-9._+-]*$"
# Rule 2: no empty name, no `..`, no hidden one, no drive, no backslash.
_FILE: Final = r"^(?:[A-Za-z0-9_][A-Za-z0-9._+-]*/){0,6}[A-Za-z0-9_][A-Za-z0-9._+-]*$"
_HOST: Final = re.compile(r"[A-Za-z0-9.-]+(?::[0-9]{1,5})?")
_HINT: Final = "conformance board FOLDER --add RUN writes one"

Name = Annotated[str, Meta(pattern=_NAME, max_length=64)]
Rule = Annotated[str, Meta(pattern=r"^[a-z0-9][a-z0-9/._-]*$", max_length=120)]
Text = Annotated[str, Meta(max_length=600)]
Day = Annotated[str, Meta(pattern=r"^2[0-9]{3}-[01][0-9]-[0-3][0-9]$")]
Digest = Annotated[str, Meta(pattern=_DIGEST)]
File = Annotated[str, Meta(pattern=_FILE, max_length=300)]
Number = Annotated[int, Meta(ge=0, le=10_000_000)]


class RunTarget(Struct, frozen=True, forbid_unknown_fields=True):
    """What was under test, and on which day."""

    kind: Literal["server", "gateway", "client", "application"]
    name: Name
    date: Day
    version: Annotated[str, Meta(pattern=r"^[A-Za-z0-9._+-]*$", max_length=64)] = ""


class JudgedBy(Struct, frozen=True, forbid_unknown_fields=True):
    """The version of the tool, a digest of rule files and profiles, and the profiles by name."""

    tool: Name
    sha256: Digest
    profiles: Annotated[tuple[Text, ...], Meta(max_length=64)]


class RecordingDigest(Struct, frozen=True, forbid_unknown_fields=True):
    """One file of evidence."""

    file: File
    sha256: Digest


class FirstPlace(Struct, frozen=True, forbid_unknown_fields=True):
    """Where a group of findings came first."""

    file: File
    exchange: Number
    line: Number
    finding: Text


class GroupSummary(Struct, frozen=True, forbid_unknown_fields=True):
    """Findings of one cause, as the report in JSON has them."""

    id: Text
    rule: Rule
    level: Level
    message: Text
    streams: Number
    judged: Number
    first: FirstPlace


class RunSummary(SavedReport, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One saved run. `silenced` are rules that hold by the recordings' own word, with whose.

    `link` is where the recordings lie for everybody, empty where they lie next to the summary.
    """

    run: RunTarget
    rules: JudgedBy
    recordings: Annotated[tuple[RecordingDigest, ...], Meta(max_length=MOST_RECORDINGS)]
    streams: Number
    families: Annotated[dict[Rule, dict[Verdict, Number]], Meta(max_length=64)]
    failed: Annotated[tuple[Rule, ...], Meta(max_length=MOST_RECORDINGS)]
    groups: Annotated[tuple[GroupSummary, ...], Meta(max_length=MOST_GROUPS)]
    silenced: Annotated[dict[Rule, Text], Meta(max_length=MOST_RECORDINGS)] = field(
        default_factory=dict
    )
    link: Annotated[str, Meta(max_length=500)] = ""


def read_summary(path: Path) -> RunSummary:
    """UsageError: it cannot be read; SpecError: it is no summary, or more than one may be."""
    place = Place(str(path))
    try:
        size = path.stat().st_size
    except (OSError, ValueError) as err:
        reason = getattr(err, "strerror", None) or str(err)
        raise UsageError(f"cannot read the summary: {reason}", place=place) from err
    if size > MOST_BYTES:
        raise SpecError(f"the summary is larger than {MOST_BYTES:,} bytes", place=place, hint=_HINT)
    summary = read_saved_report(path, RunSummary)
    expect_link(summary.link, place)
    return summary


def expect_link(link: str, place: Place | None = None) -> None:
    """Raises SpecError for what is no plain address of the web (rule 2)."""
    if not link:
        return
    try:
        parts = urlsplit(link)
        usable = parts.scheme in ("http", "https") and _HOST.fullmatch(parts.netloc)
    except ValueError:
        usable = None
    if not usable or not link.isascii() or not link.isprintable() or set(link) & set(" \"'<>\\"):
        raise SpecError(f"expected a link of http or https, got {link!r}", place=place)


def summary_bytes(summary: RunSummary) -> bytes:
    """The file as it is committed: one value a line, so that a change reads as one."""
    return msgspec.json.format(msgspec.json.encode(summary), indent=1) + b"\n"


def checked_summary(summary: RunSummary) -> RunSummary:
    """The summary as its reader would have it. Raises UsageError for what it would refuse."""
    try:
        return msgspec.json.decode(summary_bytes(summary), type=RunSummary)
    except msgspec.ValidationError as err:
        raise UsageError(f"the run fits into no summary: {err}") from err
