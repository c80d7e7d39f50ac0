"""The user's options for a run, and the meaning of their values."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Final

from conformance.cassette.redaction.known_secrets import SHORTEST_KEY
from conformance.cassette.redaction.own_keys import remember_keys, secrets_sent
from conformance.core.errors import UsageError
from conformance.dialects import APIS, ENDPOINTS
from conformance.rules.node import nearest
from conformance.scenarios import CAPABILITIES

API_WORDS: Final = " or ".join(", ".join(APIS).rsplit(", ", 1))
_HEADER: Final = re.compile(r"([A-Za-z0-9!#$%&'*+.^_`|~-]+):[ \t]*([\x20-\x7e\t]*)")
_HEADER_VARIABLE: Final = re.compile(
    r"([A-Za-z0-9!#$%&'*+.^_`|~-]+):[ \t]*([A-Za-z_][A-Za-z0-9_]*)"
)
_DURATION: Final = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,9})?)([smh]?)")
_UNITS: Final = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0}
_LONGEST_SOAK: Final = 7 * 24 * 3600.0
_SECRET: Final = frozenset({"authorization", "api-key", "x-api-key", "cookie", "x-goog-api-key"})


@dataclass(frozen=True, slots=True)
class RunOptions:
    """`dialects` empty: every API that the target has. `profile` None: identified, else strict.

    `without` names capabilities that the target lacks. `target` is its name-version, for reports
    and baselines. `max_tokens` bounds each answer; `patience` is the longest Retry-After, seconds.
    `soak` is how long the scenarios go on side by side after the first round, in seconds.
    """

    model: str
    dialects: tuple[str, ...] = ()
    profile: str | None = None
    folders: tuple[Path, ...] = ()
    without: frozenset[str] = frozenset()
    max_tokens: int = 2048
    jobs: int = 1
    repeat: int = 1
    soak: float | None = None
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
    streams_only: bool = False  # over a WebSocket

    def jobs_of_round(self, number: int) -> int:
        """Scenarios in parallel; before a soak, round 1 shows the answers without load."""
        return 1 if (self.repeat > 1 or self.soak) and number == 1 else self.jobs


def dialects_of(apis: Sequence[str]) -> tuple[str, ...]:
    """The dialects of the APIs that were named. Raises UsageError for another name."""
    for api in apis:
        if api not in APIS:
            raise UsageError(f"no API is called {api!r}", hint=f"one of {', '.join(APIS)}")
    return tuple(dict.fromkeys(APIS[api] for api in apis))


def parse_capabilities(names: Sequence[str]) -> frozenset[str]:
    """The capabilities that the target lacks. Raises UsageError for one that no scenario needs."""
    for name in names:
        if name not in CAPABILITIES:
            hint = nearest(name, CAPABILITIES) or f"one of {', '.join(CAPABILITIES)}"
            raise UsageError(f"--without {name!r} is no capability", hint=hint)
    return frozenset(names)


def parse_duration(text: str) -> float:
    """Seconds of `90`, `90s`, `2m` or `1.5h`. Raises UsageError for anything else."""
    match = _DURATION.fullmatch(text.strip())
    seconds = float(match[1]) * _UNITS[match[2]] if match else 0.0
    if not 0 < seconds <= _LONGEST_SOAK:
        raise UsageError(f"--soak {text!r} is no time", hint="90s, 2m or 1.5h, a week at most")
    return seconds


def parse_headers(lines: Sequence[str]) -> dict[str, str]:
    """Headers as given. Raises UsageError for lines that are not headers, and for credentials."""
    found: dict[str, str] = {}
    for line in lines:
        match = _HEADER.fullmatch(line)
        if match is None:
            raise UsageError("expected -H 'Name: value'")
        if match[1].lower() in _SECRET:
            message = f"-H {match[1]}: whoever lists processes sees it"
            raise UsageError(message, hint="name a variable: --api-key-env NAME")
        found[match[1]] = match[2].strip()
    remember_keys(chain.from_iterable(secrets_sent(*each) for each in found.items()))
    return found


def sent_headers(lines: Sequence[str], variables: Sequence[str]) -> dict[str, str]:
    """Headers as they were given, and those whose values are in variables. Raises UsageError."""
    return {**parse_headers(lines), **_variable_headers(variables)}


def _variable_headers(lines: Sequence[str]) -> dict[str, str]:
    """Headers of `NAME: VARIABLE`; a value that is kept in a variable counts as a secret."""
    found: dict[str, str] = {}
    for line in lines:
        match = _HEADER_VARIABLE.fullmatch(line)
        if match is None:
            raise UsageError("expected --header-env 'Name: VARIABLE'")
        value = os.environ.get(match[2], "").strip()
        if not value or not value.isascii() or not value.isprintable():
            raise UsageError(f"--header-env {match[1]}: ${match[2]} holds no value of a header")
        found[match[1]] = value
    remember_keys(value for value in found.values() if len(value) >= SHORTEST_KEY)
    return found


def credential_headers(variable: str | None, header: str | None) -> dict[str, dict[str, str]]:
    """Headers with the key, by dialect. Raises UsageError if the variable is not set."""
    if variable is None:
        return {}
    key = os.environ.get(variable, "").strip()
    if not key or not key.isascii() or not key.isprintable():
        raise UsageError(f"${variable} holds no key")
    remember_keys([key])
    return {name: endpoint.key_headers(key, header or "") for name, endpoint in ENDPOINTS.items()}
