"""Options of the command line and of the configuration file, and which of them counts.

What counts: the command line, then pytest-recording's `--record-mode` (for the record mode), then
the test's marker, then the fixture `conformance_config`, then the configuration file, then the
project's `conformance.yaml`. Where `CI` is set and the command line names no record mode, it is
`none`.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from conformance.core.errors import ConformanceError, UsageError
from conformance.pytest_plugin.project_defaults import (
    changed_line,
    project_secrets,
    project_value,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pytest

ASGI: Final = "asgi:"
"""The prefix of MODULE:APP in the place of a URL."""
RECORD_MODES: Final = ("none", "once", "new_episodes", "all", "rewrite")
MARKER: Final = (
    "conformance(cassette=None, *, record, url, profile, dialect, timing, chunking, cut, stall,"
    " how, comments, crlf, repeat, ignore, match_headers, unused): how conformance_server replays"
    " or records for this test, and how conformance_trace judges."
)
_WORDS: Final = {"record": RECORD_MODES, "cases": ("quick", "full"), "unused": ("fail", "ignore")}
_MOST_JOBS: Final = 1024
_NUMBER: Final = re.compile(r"[0-9]{1,9}")
_NO: Final = frozenset({"", "0", "false", "no"})

# Name, metavar, help. Each is `--conformance-NAME` and `conformance_NAME` in the ini file.
_VALUES: Final = (
    ("url", "URL", "Server under test, or asgi:MODULE:APP; recordings are made of it."),
    ("client", "CMD", "Command that starts the adapter of the client under test."),
    ("cases", "EXTENT", "Replays to a client: quick (default), each recording once, or full."),
    ("jobs", "N", "Adapters of a client to run at the same time; default: 1."),
    ("record", "MODE", "none (default), once, new_episodes, all or rewrite."),
    ("timing", "HOW", "Replayed gaps: none (default), recorded or scale:F."),
    ("chunking", "HOW", "Replayed cuts: recorded (default), events, bytes:N or seed:N."),
    ("profile", "NAME", "Profile of the system; default: as recorded, else identified."),
    ("expected-failures", "FILE", "Baseline of known violations."),
)
_TRUST: Final = "trust"
_PASSED: Final = "pass"
_SECRET: Final = "secret"  # noqa: S105  # the name of an option
# Name, metavar, help; each may be given several times.
_LISTS: Final = (
    (_TRUST, "PATH", "Believe what recordings in this path state of themselves; repeatable."),
    (_PASSED, "NAME", "Environment variable to pass to a client; repeatable."),
    (_SECRET, "NAME", "Variable or request header whose value is a secret; repeatable."),
)
_FLAGS: Final = (
    ("strict", "A violated SHOULD fails, too."),
    ("require-exercised", "A rule that nothing exercised fails, too."),
)


def add_options(parser: pytest.Parser) -> None:
    """Declares options and ini keys."""
    group = parser.getgroup("conformance", "reasoning streams (conformance)")
    for name, metavar, text in _VALUES:
        key = _option_key(name)
        group.addoption(
            f"--conformance-{name}",
            dest=key,
            metavar=metavar,
            choices=_WORDS.get(name),
            help=text,
        )
        parser.addini(key, f"--conformance-{name}: {text}", default=None)
    for name, text in _FLAGS:
        key = _option_key(name)
        group.addoption(f"--conformance-{name}", dest=key, action="store_true", help=text)
        parser.addini(key, f"--conformance-{name}: {text}", type="bool", default=None)
    for name, metavar, text in _LISTS:
        key = _option_key(name)
        group.addoption(
            f"--conformance-{name}", dest=key, metavar=metavar, action="append", help=text
        )
        parser.addini(key, f"--conformance-{name}: {text}", type="linelist")
    parser.addini(
        "conformance_cassette_dir", "Folder of recordings next to a test file.", default="cassettes"
    )
    parser.addini(
        "conformance_unused",
        "What to do with a recorded exchange that no test asked for: fail or ignore.",
        default="fail",
    )


def refuse_wrong(config: pytest.Config) -> None:
    """Tells a mistake before the work. Raises pytest's UsageError."""
    import pytest  # noqa: PLC0415  # `assert_conforms` works without it

    try:
        _refuse_words(config)
        _remember_secrets(config)
    except ConformanceError as err:
        raise pytest.UsageError(str(err)) from err
    if option_value(config, "client") is not None and option_value(config, "url") is not None:
        raise pytest.UsageError("--conformance-client and --conformance-url do not go together")
    if option_value(config, "timing") is None and option_value(config, "chunking") is None:
        return
    from conformance.targets.replay import ReplayOptions  # noqa: PLC0415  # only where it is named

    try:
        ReplayOptions.parse(**{key: option_value(config, key) for key in ("timing", "chunking")})
    except UsageError as err:
        raise pytest.UsageError(f"--conformance-{err}") from err


def _refuse_words(config: pytest.Config) -> None:
    for name, allowed in _WORDS.items():
        found = config.getini(_option_key(name))
        if found is not None and found not in allowed:
            expected = f"expected one of {', '.join(allowed)}"
            raise UsageError(f"{_option_key(name)}: {expected}, got {found!r}")
    job_count(config)
    if "@" in str(option_value(config, "url") or "").partition("//")[2].partition("/")[0]:
        # It would be in the head of every report, too.
        raise UsageError("--conformance-url: a URL with a password in it is refused")


def _remember_secrets(config: pytest.Config) -> None:
    """From here on no text that leaves this process holds a value that was named."""
    given = given_option(config, _SECRET) or ()
    names = [*given, *config.getini(_option_key(_SECRET)), *project_secrets(config)]
    if names:
        from conformance.cassette.redaction.own_keys import remember_named  # noqa: PLC0415  # rare

        remember_named(names)


def job_count(config: pytest.Config) -> int:
    """How many adapters run side by side. Raises UsageError for what is no such number."""
    found = str(option_value(config, "jobs") or 1)
    number = int(found) if _NUMBER.fullmatch(found) else 0
    if not 0 < number <= _MOST_JOBS:
        raise UsageError(
            f"--conformance-jobs: expected a number from 1 to {_MOST_JOBS}, got {found!r}"
        )
    return number


def given_option(config: pytest.Config, name: str) -> Any:
    """Return the value on the command line; None where there is none."""
    found = config.getoption(_option_key(name))
    return None if found is False else found


def option_value(config: pytest.Config, name: str) -> Any:
    """Return the value of the command line, else of pytest's or the project's configuration."""
    found = given_option(config, name)
    found = config.getini(_option_key(name)) if found is None else found
    return project_value(config, name) if found is None else found


def trusted(config: pytest.Config) -> tuple[Path, ...]:
    """Resolved paths of recordings that may excuse themselves, by all that names some.

    Raises UsageError for one that is not there, SpecError for a mistake in `conformance.yaml`.
    """
    from conformance.recordings.trust import (  # noqa: PLC0415  # it reads YAML
        configured_trust,
        trusted_paths,
    )

    given = trusted_paths(given_option(config, _TRUST) or (), config.invocation_params.dir)
    fixed = trusted_paths(config.getini(_option_key(_TRUST)), config.rootpath)
    return (*given, *fixed, *configured_trust(config.rootpath))


def passed_variables(config: pytest.Config) -> tuple[str, ...]:
    """Names of variables that a client gets, besides those that programs need."""
    given = given_option(config, _PASSED) or ()
    return (*given, *config.getini(_option_key(_PASSED)))


def display_path(path: Path, config: pytest.Config) -> Path:
    """The path from where pytest runs, if it lies below: a whole one shows others nothing."""
    full, here = path.resolve(), config.invocation_params.dir
    if here != Path.cwd() or not full.is_relative_to(here):
        return full
    return full.relative_to(here)


def record_mode(config: pytest.Config, layers: Mapping[str, Any]) -> str:
    """The record mode of one test; `layers` are its marker and `conformance_config`, merged.

    Raises UsageError for a mode that does not exist.
    """
    named = given_option(config, "record") or config.getoption("record_mode", None)
    if named is None and os.environ.get("CI", "").lower() not in _NO:
        return "none"
    mode = named or layers.get("record") or config.getini("conformance_record") or "none"
    if mode not in RECORD_MODES:
        raise UsageError(f"record: expected one of {', '.join(RECORD_MODES)}, got {mode!r}")
    return str(mode)


def report_header(config: pytest.Config) -> str | None:
    """One line for the head of the report; None where nothing was named for."""
    names = [name for name, _, _ in _VALUES] + [name for name, _ in _FLAGS]
    found = {name: option_value(config, name) for name in names}
    parts = [name if what is True else f"{name} {what}" for name, what in found.items() if what]
    parts += [line] if (line := changed_line(config)) else []
    return f"conformance: {', '.join(parts)}" if parts else None


def _option_key(name: str) -> str:
    return f"conformance_{name.replace('-', '_')}"
