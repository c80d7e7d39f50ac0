"""Recordings of a run on disk: in a separate folder, without secrets."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from msgspec.structs import replace

from conformance import __version__
from conformance.cassette import Cassette, Header, Recording, read, write
from conformance.cassette.header import named_target
from conformance.cassette.redaction.own_keys import remember_keys
from conformance.core.errors import Place, UsageError
from conformance.core.excerpts import redacted
from conformance.dialects import APPLICATIONS, ENDPOINTS
from conformance.evidence.expectations import RUN
from conformance.judging.rulebook import Rulebook
from conformance.recordings.in_memory import InMemory
from conformance.recordings.redaction import redact_evidence
from conformance.runs.options import RunOptions
from conformance.runs.scenario_run import ScenarioOutcome

SUFFIX: Final = ".cassette.jsonl"
_MOST_FILES: Final = 100_000
_LONGEST_HEADER: Final = 1 << 20


class RunFolder:
    """Writes one cassette per scenario and API below a folder, `<dialect>/<scenario>`.

    Where the user saves nothing it writes nothing: redacting a file, and finding the rules that it
    can no longer be judged by, takes longer than judging the answers.
    """

    def __init__(
        self, path: Path, options: RunOptions, *, kind: str = "server", is_kept: bool = True
    ) -> None:
        self.path = path
        self.options = options
        self._kind = kind
        self._is_kept = is_kept and options.save is not None
        self._stale: tuple[Path, ...] = ()
        remember_keys(value for headers in options.secrets.values() for value in headers.values())
        self.clean_line = redacted

    @cached_property
    def _own_rules(self) -> Rulebook | None:
        given = self.options.suites, self.options.rules
        return Rulebook.load(*given) if any(given) else None

    def claim_alone(self) -> None:
        """Takes the folder for this run alone; what an earlier one left goes with the first write.

        Raises UsageError where something else is there.
        """
        self._stale = earlier_recordings(self.path)

    def unkept(self) -> RunFolder:
        """For recordings that are not part of the run."""
        return RunFolder(self.path, self.options, kind=self._kind, is_kept=False)

    def write_cassette(
        self, outcome: ScenarioOutcome, *, deterministic: bool, profile: str | None = None
    ) -> Recording:
        """Writes what may be kept; the recording as it came, which is in no file."""
        path = self.path / outcome.run.dialect / f"{outcome.run.name}{SUFFIX}"
        header = self._header_of(outcome, profile or _recorded_profile(outcome), deterministic)
        cassette = Cassette(header, tuple(outcome.exchanges), outcome.clocks, sealed=True)
        if not self._is_kept:
            return InMemory(path, "cassette", cassette)
        self._make_room(path.parent)
        write(path, redact_evidence(cassette, rulebook=self._own_rules))
        return Recording(path, "cassette", cassette)

    def _make_room(self, folder: Path) -> None:
        try:
            for stale in self._stale:
                stale.unlink(missing_ok=True)
            self._stale = ()
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as err:
            reason = (err.strerror or str(err)).lower()
            raise UsageError(f"cannot be written: {reason}", place=Place(str(folder))) from err

    def _header_of(
        self, outcome: ScenarioOutcome, profile: str | None, deterministic: bool
    ) -> Header:
        options = self.options
        # A file of the user's own leads nowhere for who opens the recording elsewhere.
        by_name = profile if profile and not profile.endswith((".yaml", ".yml")) else None
        run = {
            "target": self._kind,
            "deterministic": deterministic,
            "without": sorted(options.without),
            "jobs": options.jobs_of_round(outcome.run.round),
            "steps": outcome.step_facts,
        }
        if outcome.run.scenario.profile:
            run["upstream"] = outcome.run.scenario.profile
        return Header(
            origin="live",
            dialect=outcome.run.dialect,
            profile=by_name,
            recorder={"name": "reasoning-conformance", "version": __version__},
            recorded_at=datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
            target=named_target(options.target),
            model={"name": options.model},
            extra={RUN: run},
        )


def restate_run(evidence: Recording, **changes: Any) -> Recording:
    """Adds later knowledge to a recording, and to its file where it is in one."""
    if not isinstance(evidence, InMemory):
        write(evidence.path, _restated(read(evidence.path), changes))
    return replace(evidence, cassette=_restated(evidence.cassette, changes))


def _restated(cassette: Cassette, changes: Mapping[str, Any]) -> Cassette:
    run = {**cassette.header.extra.get(RUN, {}), **changes}
    header = replace(cassette.header, extra={**cassette.header.extra, RUN: run})
    return replace(cassette, header=header)


def _recorded_profile(outcome: ScenarioOutcome) -> str | None:
    """Return the profile of a recording that a gateway passes on in the API of its recording."""
    scenario = outcome.run.scenario
    spoken = {step.recorded.dialect for step in scenario.steps if step.recorded is not None}
    return scenario.profile or None if spoken == {outcome.run.dialect} else None


def earlier_recordings(folder: Path) -> tuple[Path, ...]:
    """Recordings of an earlier run below a folder. Raises UsageError where anything else is there.

    A folder that is not there, or empty, holds none.
    """
    try:
        found = [path for path in folder.rglob("*") if not path.is_dir() or path.is_symlink()]
        foreign = next((path for path in found if not _is_of_run(path, folder)), None)
    except OSError as err:
        reason = (err.strerror or str(err)).lower()
        raise UsageError(f"cannot be read: {reason}", place=Place(str(folder))) from err
    if foreign is not None or len(found) > _MOST_FILES:
        hint = "--save takes a folder that is empty, or holds an earlier run and nothing else"
        place = Place(str(foreign or folder))
        raise UsageError("is no recording of a run, and would be left over", place=place, hint=hint)
    return tuple(found)


def _is_of_run(path: Path, folder: Path) -> bool:
    if path.is_symlink() or not path.is_file() or not path.name.endswith(SUFFIX):
        return False
    if path.parent.parent != folder or path.parent.name not in (*ENDPOINTS, *APPLICATIONS):
        return False
    with path.open("rb") as file:
        line = file.readline(_LONGEST_HEADER)
    try:
        header = json.loads(line)
    except (ValueError, RecursionError):
        return False
    return isinstance(header, dict) and "cassette" in header and RUN in header
