"""What the user asked of a run."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True)
class RunOptions:
    """`dialects` empty: every API that the target has. `profile` None: identified, else strict.

    `without` names capabilities that the target lacks. `target` is its name-version, for reports
    and baselines. `max_tokens` bounds each answer; `patience` is the longest Retry-After, seconds.
    """

    model: str
    dialects: tuple[str, ...] = ()
    profile: str | None = None
    folders: tuple[Path, ...] = ()
    without: frozenset[str] = frozenset()
    max_tokens: int = 2048
    jobs: int = 1
    repeat: int = 1
    confirm: int = 1
    max_requests: int | None = None
    rpm: float | None = None
    patience: float = 60.0
    save: Path | None = None
    target: str = ""
    suites: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()
    as_of: str | None = None
    secrets: dict[str, dict[str, str]] = field(default_factory=dict, repr=False)
