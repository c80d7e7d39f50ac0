"""Recordings of a run on disk: without secrets, and with what the run knew beforehand."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from conformance import __version__
from conformance.cassette import Cassette, Header, read, redact, write
from conformance.core.errors import Place, UsageError
from conformance.evidence.expectations import RUN
from conformance.runs.folder import SUFFIX, earlier
from conformance.runs.options import Options
from conformance.runs.secrecy import Secrecy
from conformance.runs.visit import Visited


class Keeper:
    """Writes one cassette per scenario and API below a folder, `<dialect>/<scenario>`."""

    def __init__(self, folder: Path, options: Options, *, kind: str = "server") -> None:
        self.folder = folder
        self.options = options
        self._kind = kind
        self._stale: tuple[Path, ...] = ()
        self.secrecy = Secrecy(options.secrets)

    def claim(self) -> None:
        """Takes the folder for this run alone; what an earlier one left goes with the first keep.

        Raises UsageError where something else is there.
        """
        self._stale = earlier(self.folder)

    def elsewhere(self, folder: Path) -> Keeper:
        """One that keeps in another folder what is not part of the run itself."""
        return Keeper(folder, self.options, kind=self._kind)

    def keep(self, visited: Visited, *, deterministic: bool, profile: str | None = None) -> Path:
        """Writes what came of a visit."""
        folder = self.folder / visited.visit.dialect
        path = folder / f"{visited.visit.name}{SUFFIX}"
        header = self._header(visited, profile or _of_recording(visited), deterministic)
        exchanges = tuple(map(self.secrecy.exchange, visited.exchanges))
        cassette = Cassette(header, exchanges, visited.clocks, sealed=True)
        try:
            for stale in self._stale:
                stale.unlink(missing_ok=True)
            self._stale = ()
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as err:
            reason = (err.strerror or str(err)).lower()
            raise UsageError(f"cannot be written: {reason}", place=Place(str(folder))) from err
        write(path, redact(cassette))
        return path

    def restate(self, path: Path, **changes: Any) -> None:
        """States in a recording what was found out later."""
        cassette = read(path)
        run = {**cassette.header.extra.get(RUN, {}), **changes}
        header = replace(cassette.header, extra={**cassette.header.extra, RUN: run})
        write(path, replace(cassette, header=header))

    def _header(self, visited: Visited, profile: str | None, deterministic: bool) -> Header:
        options = self.options
        name, _, version = options.target.partition("-")
        named = {"name": name, "version": version}
        # A file of the user's own leads nowhere for who opens the recording elsewhere.
        by_name = profile if profile and not profile.endswith((".yaml", ".yml")) else None
        run = {
            "target": self._kind,
            "deterministic": deterministic,
            "without": sorted(options.without),
            "steps": visited.stated,
        }
        if visited.visit.scenario.profile:
            run["upstream"] = visited.visit.scenario.profile
        return Header(
            origin="live",
            dialect=visited.visit.dialect,
            profile=by_name,
            recorder={"name": "reasoning-conformance", "version": __version__},
            recorded_at=datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
            target={key: value for key, value in named.items() if value},
            model={"name": options.model},
            extra={RUN: run},
        )


def _of_recording(visited: Visited) -> str | None:
    """What a recording is judged by that a gateway passes on in the API in which it was taken."""
    scenario = visited.visit.scenario
    spoken = {step.recorded.dialect for step in scenario.steps if step.recorded is not None}
    return scenario.profile or None if spoken == {visited.visit.dialect} else None
